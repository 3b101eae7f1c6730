import json
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_ask.notes.frontmatter import Frontmatter
from vault_ask.notes.frontmatter_block import read_frontmatter
from vault_ask.notes.model import FrontmatterState, LinkKind


def block(yaml: str) -> Frontmatter:
    return read_frontmatter(f"---\n{yaml}\n---\nbody".split("\n"))


def targets(front: Frontmatter) -> list[tuple[str, str | None, str | None]]:
    return [(link.target, link.heading, link.alias) for link in front.links]


def test_a_date_as_title_stays_the_text_that_was_written() -> None:
    front = block("tags: 2024\ntitle: 2026-05-02")
    assert (front.title, front.tags, front.body_line) == ("2026-05-02", ("2024",), 5)


def test_empty_properties_are_nothing() -> None:
    front = block("tags:\naliases:")
    assert (front.state, front.tags, front.aliases) == (FrontmatterState.READ, (), ())


def test_keys_compare_without_case_and_comma_texts_are_lists() -> None:
    front = block("tags: food, #travel\nAliases: Kim, K. Berg")
    assert (front.tags, front.aliases) == (("food", "travel"), ("Kim", "K. Berg"))


def test_an_alias_in_a_list_keeps_its_comma() -> None:
    assert block('aliases:\n  - "Berg, Kim"\n  - 1984').aliases == ("Berg, Kim", "1984")


def test_unquoted_wikilinks_are_recovered_from_nested_lists() -> None:
    front = block(
        'up: [[Parent]]\nrel:\n  - [[Kid]]\n  - "[[Kid two|second]]"\nby: [[Smith, John]]\nq: [[[A]], [[B#c|d]]]'
    )
    assert targets(front) == [
        ("Parent", None, None),
        ("Kid", None, None),
        ("Kid two", None, "second"),
        ("Smith, John", None, None),
        ("A", None, None),
        ("B", "c", "d"),
    ]
    assert [link.kind for link in front.links[:2]] == [LinkKind.TOPIC, LinkKind.WIKILINK]
    assert [link.line for link in front.links[:2]] == [2, 3]
    assert front.topics == ("Parent",)


def test_times_and_yes_stay_text_and_a_list_may_be_a_key() -> None:
    front = block("on: yes\nwhen: 12:30:45\n? [a, b]\n: x\ndone: true\nn: 007\nv: 1.10")
    assert front.values == {
        "on": "yes",
        "when": "12:30:45",
        '["a", "b"]': "x",
        "done": True,
        "n": "007",
        "v": "1.10",
    }


@pytest.mark.parametrize(
    ("yaml", "line", "values"),
    [
        ("title: Clinic: second visit\npersonal: true", 2, {"title": "Clinic: second visit", "personal": True}),
        ("personal: true\nowner: @sam", 3, {"personal": True, "owner": "@sam"}),
        ("title: Trip: north", 2, {"title": "Trip: north"}),
        ("a: 1\n\tb: 2\nc: 3", 3, {"a": 1, "c": 3}),
    ],
)
def test_a_block_that_is_not_yaml_is_told_line_by_line(yaml: str, line: int, values: dict[str, object]) -> None:
    front = block(yaml)
    assert front.state is FrontmatterState.UNREADABLE
    assert front.values == values
    assert [(problem.code, problem.line) for problem in front.problems] == [("frontmatter-unreadable", line)]


def test_an_impossible_date_is_only_text() -> None:
    front = block("personal: true\ndue: 2026-02-30")
    assert (front.state, front.values) == (FrontmatterState.READ, {"personal": True, "due": "2026-02-30"})


def test_a_key_written_twice_says_both() -> None:
    assert block("sensitivity: open\nsensitivity: personal").values == {"sensitivity": ["open", "personal"]}
    assert block("title: a\ntitle: a").values == {"title": "a"}


def test_a_block_without_an_end_is_body_and_its_keys_are_told() -> None:
    front = read_frontmatter(["---", "personal: true", "CANARY-D7 the block is never closed"])
    assert (front.state, front.body_line, front.values) == (FrontmatterState.UNCLOSED, 1, {"personal": True})


def test_keys_below_a_heading_are_not_those_of_an_unclosed_block() -> None:
    front = read_frontmatter(["---", "a: 1", "", "b: 2", "# Head", "personal: true"])
    assert front.values == {"a": 1, "b": 2}


def test_what_a_block_without_a_clear_end_perhaps_says_is_kept_apart_for_the_rules() -> None:
    front = read_frontmatter(["---", "a: 1", "tags: [x]", "", "# Head", "a: 2", "tags:", "  - y", "text", "- no: item"])
    assert front.values == {"a": 1, "tags": ["x"]}
    assert front.perhaps == {"a": ["1", "2"], "tags": ["[x]", "", "y"], "no": "item"}
    assert (front.tags, Frontmatter(values=front.claims).tags) == (("x",), ("x", "y"))


@pytest.mark.parametrize("line", ["a" * 3_000_000, " " * 3_000_000 + ":", '"' * 3_000_000 + ":", "a " * 99 + "x:\n"])
def test_no_line_takes_long_to_look_at_for_a_key(line: str) -> None:
    lines = ["---", *(line * (20_000 if line.endswith("\n") else 1)).split("\n")]
    began = perf_counter()
    read_frontmatter(lines)
    read_frontmatter(["", *lines])
    assert perf_counter() - began < 8


def test_text_between_two_rules_is_not_lost_as_frontmatter() -> None:
    front = block("just text")
    assert (front.state, front.body_line) == (FrontmatterState.UNREADABLE, 1)


@pytest.mark.parametrize("first", ["----", " ---", "--- a", "", "# ---"])
def test_a_block_starts_with_three_dashes_on_the_first_line_only(first: str) -> None:
    front = read_frontmatter([first, "a: 1", "---"])
    assert front.state in {FrontmatterState.NONE, FrontmatterState.UNCLOSED}
    assert front.body_line == 1


def test_a_bomb_of_anchors_is_refused_quickly() -> None:
    rows = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"]
    rows += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    front = block("\n".join(["personal: true", *rows]))
    assert front.state is FrontmatterState.UNREADABLE
    assert front.values["personal"] is True
    assert len(json.dumps(front.values)) < 100_000


@pytest.mark.parametrize(
    "yaml",
    [
        "x: " + "[" * 50_000,
        "a: &a [*a]",
        "k: v\n" * 100_000,
        "a: 1\n...\n---\nb: 2",
        "- a",
        't: "\\ud800\\0"',
        "\x01",
        "!!python/object/apply:os.system [x]",
        "? ? ? a",
        "a: *nope",
        "%YAML 9.9",
        "<<: [1]",
        "a" * 2_000_000,
        "{a: b",
        "n: " + "9" * 5_000,
        "f: 1e99999",
        "d: 0000-00-00",
        "? {a: b}\n: c",
        "\t",
        "#",
        "[[x]]: y",
    ],
)
def test_no_block_raises_and_every_value_can_be_stored(yaml: str) -> None:
    front = block(yaml)
    stored = json.dumps(front.values, ensure_ascii=False, allow_nan=False)
    assert "\x00" not in stored
    stored.encode("utf-8")
    assert front.title is None
    assert isinstance(front.links, tuple)


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from(list("ab:-#[]{}\"'|>&*!%@`,? \n\t~1.")), max_size=80))
def test_any_signs_in_a_block_give_storable_values(yaml: str) -> None:
    front = block(yaml)
    json.dumps(front.values, allow_nan=False)
    assert front.body_line >= 1
    assert all(isinstance(tag, str) and tag for tag in front.tags)


def test_a_hash_word_without_space_is_part_of_the_text_and_a_comment_is_not() -> None:
    front = block("title: Plan #1 here\nn: 1 # comment")
    assert front.values == {"title": "Plan #1 here", "n": 1}


@pytest.mark.parametrize(
    ("yaml", "title"),
    [
        ("title: One\ntitle: Two", "One"),
        ("title: [One, Two]", None),
        ("title:\ntitle: Two", "Two"),
        ("title: []", None),
    ],
)
def test_of_several_titles_the_first_is_the_notes(yaml: str, title: str | None) -> None:
    assert read_frontmatter(["---", *yaml.split("\n"), "---"]).title == title
