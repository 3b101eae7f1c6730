from typing import Any

import pytest

from vault_ask.errors import ConfigError
from vault_ask.notes.model import FrontmatterState, Note
from vault_ask.notes.parse import parse
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import Sensitivity

SPELLINGS = [
    "Private",
    "Private/",
    "/Private/",
    "Private/**",
    "Private\\",
    "./Private",
    "  Private/** ",
    "PRİVATE",
    "prıvate",
]


def personal(rules: Rules, path: str, resolved: str | None = None) -> bool:
    return rules.classify(path, resolved, {}, FrontmatterState.NONE) is Sensitivity.PERSONAL


def note(
    text: str,
    *,
    path: str = "N.md",
    paths: tuple[str, ...] = (),
    key: str = "sensitivity",
    **rules: Any,  # noqa: ANN401 - as Rules.compile takes them
) -> Note:
    return parse(path, text.encode(), Rules.compile(paths, key, **rules))


def tagged(pattern: str, *tags: str) -> bool:
    rules = Rules.compile((), "sensitivity", personal_tags=[pattern])
    return rules.classify("N.md", None, {}, FrontmatterState.NONE, tags) is Sensitivity.PERSONAL


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_of_a_folder_means_it_and_all_below_it(spelling: str) -> None:
    rules = Rules.compile([spelling], "sensitivity")
    paths = ["Private/a.md", "Private/deep/b.md", "private/d.md", "Privateer/c.md", "Work/Private/e.md"]
    assert [personal(rules, path) for path in paths] == [True, True, True, False, False]
    assert rules.matches("Private/a.md") == (spelling.strip(),)


def test_every_spelling_has_the_same_fingerprint_and_another_folder_has_another() -> None:
    assert len({Rules.compile([spelling], "sensitivity").fingerprint for spelling in SPELLINGS}) == 1
    others = [Rules.compile(["Private"], "x"), Rules.compile(["Work"], "sensitivity"), Rules.compile([], "sensitivity")]
    assert len({rules.fingerprint for rules in [*others, Rules.compile(["Private"], "sensitivity")]}) == 4


@pytest.mark.parametrize(
    "pattern", ["Pri[vate/**", "", "   ", "..", "../x", "a/../b", "{a,b", "a]b", "[z-a]x", "x" * 5000]
)
def test_a_pattern_that_cannot_be_read_stops_the_start(pattern: str) -> None:
    with pytest.raises(ConfigError, match="personal_paths"):
        Rules.compile([pattern], "sensitivity")


@pytest.mark.parametrize("pattern", ["**", "/", "./", "**/**"])
def test_the_whole_vault_may_be_personal(pattern: str) -> None:
    assert personal(Rules.compile([pattern], "sensitivity"), "Any/where.md")


def test_a_pattern_that_matches_nothing_matches_nothing() -> None:
    rules = Rules.compile(["Privat/**", "Private"], "sensitivity")
    assert rules.matches("Private/a.md") == ("Private",)


@pytest.mark.parametrize(
    ("pattern", "hits", "misses"),
    [
        (
            "**/Diary/*",
            ["Diary/a.md", "x/diary/a.md", "x/Diary/deep/a.md", ".h/Diary/.a.md"],
            ["Diary.md", "MyDiary/a.md"],
        ),
        ("Journal/20*", ["Journal/2024/a.md", "journal/20.md"], ["Journal/19/a.md", "x/Journal/20.md"]),
        ("{Health,Money}/**", ["health/a.md", "Money/b/c.md"], ["Healthy/a.md"]),
        ("[2020]/**", ["[2020]/a.md"], ["2020/a.md"]),
        ("Secret.md", ["secret.md"], ["x/Secret.md", "Secret.md.md"]),
        ("Private/a", ["Private/a.md", "private/A/b.md"], ["Private/a.md.md", "Private/ab.md", "a.md"]),
        ("Ärenden", ["A\u0308renden/a.md", "ärenden/a.md"], ["Arenden/a.md"]),
        ("Straße", ["STRASSE/a.md"], ["Strase/a.md"]),
        (
            "Private/Deep",
            ["Private /Deep\u00a0/a.md", " Private/deep/a.md"],
            ["Pri vate/Deep/a.md", "Private/De ep/a.md"],
        ),
    ],
)
def test_globs_are_anchored_and_compared_composed_and_without_case(
    pattern: str, hits: list[str], misses: list[str]
) -> None:
    rules = Rules.compile([pattern], "sensitivity")
    assert [path for path in hits if not personal(rules, path)] == []
    assert [path for path in misses if personal(rules, path)] == []


def test_the_stricter_of_a_path_and_what_it_links_to_counts() -> None:
    rules = Rules.compile(["Private/**"], "sensitivity")
    assert personal(rules, "Work/alias.md", "Private/a.md")
    assert personal(rules, "Private/alias.md", "Work/a.md")
    assert not personal(rules, "Work/alias.md", "Work/a.md")


@pytest.mark.parametrize("value", ["open", " Open ", '"OPEN"'])
def test_the_notes_own_key_opens_it_wherever_it_lies(value: str) -> None:
    opened = note(f"---\nSensitivity: {value}\n---\nx", path="Private/a.md", paths=("Private",))
    assert (opened.sensitivity, opened.problems) == (Sensitivity.OPEN, ())


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        ("personal", []),
        ("true", []),
        ("PERSONAL", []),
        ('"true"', []),
        ("false", ["sensitivity-value"]),
        ("", ["sensitivity-value"]),
        ("no", ["sensitivity-value"]),
        ("[open]", ["sensitivity-value"]),
        ("{open: open}", ["sensitivity-value"]),
        ("0", ["sensitivity-value"]),
        ("open #really", ["sensitivity-value"]),
        ("opne", ["sensitivity-value"]),
        ("~", ["sensitivity-value"]),
        ("1", ["sensitivity-value"]),
        ("0.0", ["sensitivity-value"]),
        ("[]", ["sensitivity-value"]),
        ("[open, personal]", ["sensitivity-value"]),
        ("2026-01-02", ["sensitivity-value"]),
        ("open, personal", ["sensitivity-value"]),
    ],
)
def test_any_other_value_of_the_key_makes_the_note_personal(value: str, codes: list[str]) -> None:
    closed = note(f"---\ntitle: t\nsensitivity: {value}\n---\nx")
    assert closed.sensitivity is Sensitivity.PERSONAL
    assert [(problem.code, problem.line) for problem in closed.problems] == [(code, 3) for code in codes]


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: Clinic: second visit\npersonal: true\n---\nCANARY-A7\n",
        "---\npersonal: true\ndue: 2026-02-30\n---\nCANARY-B7 loan\n",
        "---\npersonal: true\nowner: @sam\n---\nCANARY-C7 salary\n",
        "---\npersonal: true\nCANARY-D7 the block is never closed\n",
        "---\ntitle: Trip: north\n---\nplain open text lingon\n",
        "---\npersonal: open\npersonal: true\n---\nx",
        "---\nPersonal: open\npersonal: true\n---\nx",
        "---\npersonal: open\nx: no end\n",
        "---\r\npersonal: true\r\n---\r\nx",
        "\ufeff---\npersonal: true\n---\nx",
        "--- \npersonal: true\n---\t\nx",
        "---\n'personal': true\n---\nx",
        "---\n  personal: true\nno end",
        "---\nbase: &b {personal: true}\n<<: *b\n---\nx",
    ],
)
def test_frontmatter_that_cannot_be_trusted_is_personal(text: str) -> None:
    assert note(text, key="personal").sensitivity is Sensitivity.PERSONAL


@pytest.mark.parametrize(
    "text",
    [
        "personal: true\n",
        "---\n\nA rule, then text.\n",
        "---\nmeta:\n  personal: true\n---\n",
        "\n---\na: rule, then text\n---\n",
        "text\n\n---\npersonal: true\n---\n",
    ],
)
def test_the_key_counts_only_where_obsidian_reads_it(text: str) -> None:
    assert note(text, key="personal").sensitivity is Sensitivity.OPEN


@pytest.mark.parametrize(
    "text",
    [
        "\n---\npersonal: true\n---\nx\n",
        " ---\npersonal: true\n---\nx\n",
        "----\npersonal: true\n----\nx\n",
        "--- # mine\npersonal: true\n---\nx\n",
        "---yaml\npersonal: true\n---\nx\n",
        "\u200b---\nPersonal: true\nnever closed\n",
    ],
)
def test_a_block_at_the_wrong_place_that_names_the_key_is_personal_and_told(text: str) -> None:
    found = note(text, key="personal")
    assert found.sensitivity is Sensitivity.PERSONAL
    assert [problem.code for problem in found.problems] == ["frontmatter-misplaced"]
    assert "\n".join(found.lines) == text.rstrip("\n")
    assert (found.body_line, found.tags) == (1, ())


NO_CLEAR_END = [
    "---\n# about me\nKEY\n\ntext\n",
    "---\n# about me\nKEY\n----\ntext\n",
    "---\n# about me\nKEY\n...\ntext\n",
    "---\na: 1\n...\nKEY\ntext\n",
    "---\n## about me\n\n### more\n\nKEY\n",
    "---\ntitle: t\n\n# about me\nKEY\n",
    "---\ntitle: t\n\nA sentence.\n\nKEY\n",
    "\n---\n# about me\nKEY\n---\ntext\n",
    "\n---\n\n# about me\n\nKEY\n",
    "—-\nKEY\n—-\ntext\n",
    "--\nKEY\n",
    "--- me\nKEY\n---\ntext\n",
    "---\n" + "line: of many\n" * 600 + "KEY\n",
    "---\n" + "".join(f"line {n}: of many\n" for n in range(3_000)) + "KEY\n",
    "---\n" + "prose\n\n" * 600 + "KEY\n",
    "\n---\n" + "prose\n\n" * 600 + "KEY\n",
]


@pytest.mark.parametrize(
    "said", ["personal: yes", "Personal:yes", "personal：yes", '- "personal" : yes', "\u200bpersonal: x"]
)
@pytest.mark.parametrize("text", NO_CLEAR_END)
def test_a_block_without_a_clear_end_is_read_on_for_the_key_and_told(text: str, said: str) -> None:
    found = note(text.replace("KEY", said), key="personal")
    assert found.sensitivity is Sensitivity.PERSONAL
    assert found.problems[0].code in {"frontmatter-unclosed", "frontmatter-misplaced", "frontmatter-unclear"}
    assert note(text.replace("KEY", "other: yes"), key="personal").sensitivity is Sensitivity.OPEN


@pytest.mark.parametrize("said", ["tags: secret", "tags: [a, secret]", "tag: a, #secret # x", "tags:\n- a\n- secret"])
@pytest.mark.parametrize("text", NO_CLEAR_END)
def test_a_block_without_a_clear_end_is_read_on_for_tags(text: str, said: str) -> None:
    rules = Rules.compile((), "sensitivity", personal_tags=["secret"])
    found = parse("N.md", text.replace("KEY", said).encode(), rules)
    assert found.sensitivity is Sensitivity.PERSONAL
    # So does whoever comes later with other rules, and reads only what is kept.
    kept = ("N.md", None, found.frontmatter, found.frontmatter_state, found.tags)
    assert rules.classify(*kept) is Sensitivity.PERSONAL
    assert Rules.compile((), "sensitivity", personal_tags=["other"]).classify(*kept) is Sensitivity.OPEN


@pytest.mark.parametrize(
    "text",
    [
        "---\n# Personal\n\nA rule, a heading, and text: personal matters.\n",
        "---\nOf personal matters: none.\n\n## Not personal: this\n",
        "---\n\nIs it personal? https://example.org/personal: no.\n",
        "---\n# personal: true\n",
        "— he said, personal:\npersonal: true\n",
    ],
)
def test_a_rule_and_prose_stay_open_until_they_name_the_key_as_a_key(text: str) -> None:
    assert note(text, key="personal").sensitivity is Sensitivity.OPEN
    named = "---\n" + text.removeprefix("---\n") + "\npersonal: true\n"
    assert note(named, key="personal").sensitivity is Sensitivity.PERSONAL


def test_text_below_a_rule_is_no_problem_unless_it_speaks_of_sensitivity() -> None:
    text = "---\n# Meeting\n\nPlace: personal\n"
    assert note(text, key="personal").problems == ()
    assert [found.code for found in note(text, key="place").problems] == ["frontmatter-unclear"]


def test_a_misplaced_block_that_says_nothing_of_sensitivity_is_text_and_no_problem() -> None:
    found = note("\n---\ntags: [a]\n---\nx\n", key="personal")
    assert (found.sensitivity, found.problems, found.tags) == (Sensitivity.OPEN, (), ())


def test_a_utf16_notes_key_is_read() -> None:
    content = "---\npersonal: true\n---\nx".encode("utf-16")
    assert parse("a.md", content, Rules.compile([], "personal")).sensitivity is Sensitivity.PERSONAL


# Tags


@pytest.mark.parametrize(
    ("pattern", "hits", "misses"),
    [
        ("#private", ["private", "Private", "private/x", "PRIVATE/x/y"], ["privateer", "x/private", "privat"]),
        ("private", ["#private", "private/"], ["private-x", "private_x"]),
        ("##Work/Secret/", ["work/secret", "work//secret", "work/secret/x"], ["work", "work/secrets", "secret"]),
        ("work/secret/**", ["work/secret", "work/secret/x"], ["work"]),
        ("diary/*", ["diary/2026", "diary/2026/01"], ["diary", "diaries/x"]),
        ("**/secret", ["secret", "work/secret", "a/b/secret/c"], ["work/secrets"]),
        ("{health,money}", ["health", "Money/debt"], ["healthy"]),
        ("20[0-9][0-9]", ["2024", "2024/x"], ["20"]),
        ("*", ["anything", "any/thing"], []),
        ("**", ["anything", "any/thing"], []),
        ("gizli", ["GİZLİ", "gızlı"], ["gizl"]),
        ("Ära", ["a\u0308ra", "ÄRA/x"], ["ara"]),
        ("🔒", ["🔒", "🔒/x"], ["🔑"]),
        ("[draft]", ["[draft]", "d"], ["draft"]),
    ],
)
def test_tags_are_matched_with_those_nested_in_them_without_case(
    pattern: str, hits: list[str], misses: list[str]
) -> None:
    assert [tag for tag in hits if not tagged(pattern, tag)] == []
    assert [tag for tag in misses if tagged(pattern, tag)] == []
    assert not tagged(pattern)


@pytest.mark.parametrize(
    "pattern", ["", " ", "#", "# ", "/", "#/", "a b", "a\tb", "{a", "a]", "[z-a]", "../x", "x" * 2000]
)
def test_a_tag_that_cannot_be_read_stops_the_start(pattern: str) -> None:
    with pytest.raises(ConfigError, match="personal_tags"):
        Rules.compile((), "sensitivity", personal_tags=[pattern])


@pytest.mark.parametrize(
    "text",
    [
        "a thought #Secret/plan\n",
        "---\ntags: [x, secret]\n---\n",
        "---\ntags: x, #secret\n---\n",
        "---\nTag: secret\n---\n",
        "---\ntags: secret\nthe block has no end\n",
        "\n---\ntags: [secret]\n---\nbelow a blank line\n",
        "---\nby: @sam\ntags: [secret]\n---\nunreadable anyway\n",
    ],
)
def test_a_personal_tag_counts_wherever_it_stands(text: str) -> None:
    assert note(text, personal_tags=["secret"]).sensitivity is Sensitivity.PERSONAL
    assert note(text.replace("@", ""), personal_tags=["secrets"]).sensitivity is Sensitivity.OPEN


def test_a_misplaced_block_with_a_personal_tag_is_told() -> None:
    text = "\n---\ntags: [secret]\n---\nx\n"
    assert [problem.code for problem in note(text, personal_tags=["secret"]).problems] == ["frontmatter-misplaced"]
    assert note(text, personal_tags=["other"]).problems == ()


@pytest.mark.parametrize("text", ["`#secret`\n", "x#secret\n", "%%#secret%%\n", "[a](b#secret)\n", "secret\n"])
def test_what_is_no_tag_in_obsidian_is_none_here(text: str) -> None:
    assert note(text, personal_tags=["secret"]).sensitivity is Sensitivity.OPEN
    assert note(f"{text}\n#secret", personal_tags=["secret"]).sensitivity is Sensitivity.PERSONAL


def test_the_notes_own_key_wins_over_a_tag_and_the_default() -> None:
    rules = {"personal_tags": ["secret"], "default": Sensitivity.PERSONAL}
    opened = note("---\nsensitivity: open\ntags: [secret]\n---\n#secret", path="P/a.md", paths=("P",), **rules)
    assert opened.sensitivity is Sensitivity.OPEN
    assert note("---\nsensitivity: personal\n---\n").sensitivity is Sensitivity.PERSONAL


def test_tags_that_nobody_can_tell_count_as_personal_ones_where_any_are() -> None:
    unknown = ("N.md", None, {"x": 1}, FrontmatterState.READ, None)
    assert Rules.compile((), "sensitivity", personal_tags=["a"]).classify(*unknown) is Sensitivity.PERSONAL
    assert Rules.compile(["P"], "sensitivity").classify(*unknown) is Sensitivity.OPEN


def test_a_cards_tag_makes_a_canvas_personal() -> None:
    canvas = b'{"nodes": [{"id": "1", "type": "text", "text": "a #secret card"}], "edges": []}'
    rules = Rules.compile((), "sensitivity", personal_tags=["secret"])
    assert parse("Board.canvas", canvas, rules).sensitivity is Sensitivity.PERSONAL
    assert parse("Board.canvas", canvas.replace(b"#", b""), rules).sensitivity is Sensitivity.OPEN


# The default


def test_what_nothing_speaks_of_is_as_the_default_says() -> None:
    for default in Sensitivity:
        assert note("plain", default=default).sensitivity is default
        assert note("---\nnever closed", default=default).sensitivity is default
        assert note("---\nsensitivity: open\n---\n", default=default).sensitivity is Sensitivity.OPEN
        assert note("---\nx: [\n---\n", default=default).sensitivity is Sensitivity.PERSONAL


def test_the_fingerprint_changes_exactly_when_the_meaning_may() -> None:
    def of(paths: list[str], tags: list[str], default: Sensitivity = Sensitivity.OPEN) -> str:
        return Rules.compile(paths, "sensitivity", personal_tags=tags, default=default).fingerprint

    assert of(["a", "B/"], ["x", "#Y"]) == of(["b", "A/**"], ["y/", "#x", "X"])
    closed = of([], [], Sensitivity.PERSONAL)
    assert of(["a"], ["x"], Sensitivity.PERSONAL) == closed
    different = [of([], []), of(["a"], []), of([], ["a"]), of(["a"], ["a"]), of(["a"], ["b"]), closed]
    assert len({*different, Rules.compile((), "other").fingerprint}) == 7


# Conflict copies, by their names


def test_a_pattern_holds_for_conflict_copies_of_what_it_means() -> None:
    rules = Rules.compile(["Secret.md", "Diary/**"], "sensitivity")
    for path in ("Secret (conflict 2026-01-02).md", "Diary (Ann's conflicted copy 2026-01-02)/a.md"):
        assert personal(rules, path)
    assert not personal(rules, "Secret (draft).md")


@pytest.mark.parametrize(
    "text",
    [
        "---\npermalink: a\n---\n\n---\nsensitivity: personal\n---\nx\n",
        "---\npermalink: a\n---\n---\nx: y\n---\n---\nsensitivity: personal\n---\nx\n",
        "---\nsensitivity: open\n---\n---\nsensitivity: personal\n---\nx\n",
        "---\nsensitivity: personal\n---\n---\nsensitivity: open\n---\nx\n",
        "<<<<<<< HEAD\n---\ntitle: a\n---\n=======\n---\nsensitivity: personal\n---\n>>>>>>> other\nx\n",
        "# Title\n---\nsensitivity: personal\n---\nx\n",
        "%% made by a template %%\n---\nsensitivity: personal\n---\nx\n",
        "![[banner.jpg]]\n---\nsensitivity: personal\n---\nx\n",
        "[[Home]] | [[Index]]\n\n---\nsensitivity: personal\n---\nx\n",
        "<%* await move() %>\n---\nsensitivity: personal\n---\nx\n",
        "#diary #2026/may\n---\nsensitivity: personal\n---\nx\n",
        "title: a\nsensitivity: personal\n---\nx\n",
        "\ntags:\n  - a\n\u200bsensitivity: personal\n---\nx\n",
        "---\ntitle: a\n---\nsensitivity: personal\n---\nx\n",
        '+++\ntitle = "a"\nsensitivity = "personal"\n+++\nx\n',
        "+++\nsensitivity: personal\n+++\nx\n",
        "---\nsensitivity:: personal\n---\nx\n",
        "\u200e---\nsensitivity: personal\n---\nx\n",
        "---\nsensi\u200btivity: personal\n---\nx\n",
        "---\nｓｅｎｓｉｔｉｖｉｔｙ: personal\n---\nx\n",
        "---\na: &a\n  sensitivity: personal\n<<: [*a]\n---\nx\n",
    ],
    ids=["second", "third", "opened-above", "opened-below", "conflict", "heading", "comment", "banner", "way-home",
         "template", "tags", "no-first-rule", "no-first-rule-below-blank", "rule-inside", "toml", "pluses",
         "two-colons", "unseen", "unseen-key", "wide", "merged"],
)  # fmt: skip
def test_a_key_in_any_block_at_the_top_makes_a_note_personal(text: str) -> None:
    assert note(text).sensitivity is Sensitivity.PERSONAL
    assert note(text.replace("tivity", "x").replace("ｔｙ", "x")).sensitivity is Sensitivity.OPEN


def test_a_further_block_opens_nothing() -> None:
    text = "---\npermalink: a\n---\n---\nsensitivity: open\n---\nx\n"
    found = note(text, paths=("P",), path="P/a.md")
    assert found.sensitivity is Sensitivity.PERSONAL
    assert [problem.code for problem in found.problems] == ["frontmatter-misplaced"]
    assert note(text.replace("open", "personal").replace("sensitivity", "x"), paths=("P",)).problems == ()


def test_a_personal_tag_in_a_further_block_counts() -> None:
    text = "---\ntitle: a\n---\n---\ntags: [secret]\n---\nx\n"
    assert note(text, personal_tags=["secret"]).sensitivity is Sensitivity.PERSONAL
    assert note(text, personal_tags=["other"]).sensitivity is Sensitivity.OPEN


def test_text_between_rules_below_the_frontmatter_is_text_and_no_property() -> None:
    found = note("---\ntitle: a\nsensitivity: open\n---\n---\nWarning: hot\ndate: 2020-01-01\n---\nx\n")
    assert (found.sensitivity, found.problems) == (Sensitivity.OPEN, ())
    assert dict(found.frontmatter) == {"title": "a", "sensitivity": "open"}


def test_a_word_that_only_looks_like_open_opens_nothing() -> None:
    assert note("---\nsensitivity: ｏｐｅｎ\n---\nx\n").sensitivity is Sensitivity.PERSONAL
    assert note("---\nsensitivity: Open\n---\nx\n").sensitivity is Sensitivity.OPEN


@pytest.mark.parametrize(
    "text",
    [
        "Of late: the sea\n\nprose\n---\npersonal: true\n---\nx\n",
        "Of late: the sea\nand prose\npersonal: true\n---\nx\n",
        "See [[Home]] first.\n---\npersonal: true\n---\nx\n",
        "personal: true\nnever closed\n",
    ],
)
def test_a_block_whose_first_rule_was_lost_holds_entries_alone(text: str) -> None:
    assert note(text, key="personal").sensitivity is Sensitivity.OPEN
    assert note("personal: true\n---\nx\n", key="personal").sensitivity is Sensitivity.PERSONAL
