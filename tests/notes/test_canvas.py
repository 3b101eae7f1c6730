import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_ask.notes.chunker import chunk
from vault_ask.notes.model import Chunk, LinkKind, Note
from vault_ask.notes.parse import parse
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import Sensitivity
from vault_ask.settings.vault import ChunkSettings

RULES = Rules.compile(["Private/**"], "sensitivity")


def canvas(text: str, path: str = "Projects/Kitchen board.canvas") -> Note:
    return parse(path, text.encode(), RULES)


def chunks(note: Note) -> list[Chunk]:
    return chunk(note, count=lambda text: len(text) // 4 + 1, options=ChunkSettings())


# One line a node, as Obsidian writes it.
BOARD = r"""{
	"nodes":[
		{"id":"g","type":"group","x":0,"label":"Decided"},
		{"id":"t","type":"text","text":"## Worktop\nOiled, \"28 mm\". See [[Birch|wood]] #kitchen\n\tIn M\u00e4rz."},
		{"id":"f","type":"file","file":"Projects/Kitchen.md","subpath":"#Decisions"},
		{"id":"b","type":"file","file":"Notes/B.md","subpath":"#^b1"},
		{"id":"u","type":"link","url":"https://example.org/"}
	],
	"edges":[{"id":"e","fromNode":"t","toNode":"u","label":"ordered here"}]
}
"""


def test_each_line_of_a_card_is_quoted_exactly_as_the_file_has_it() -> None:
    note = canvas(BOARD)
    made = chunks(note)
    assert [(one.body, one.heading_path, one.line_start) for one in made] == [
        ("Decided", (), 3),
        ("## Worktop", ("Worktop",), 4),
        (r"Oiled, \"28 mm\". See [[Birch|wood]] #kitchen", ("Worktop",), 4),
        (r"In M\u00e4rz.", ("Worktop",), 4),
        ("ordered here", (), 9),
    ]
    assert all(one.body in note.lines[one.line_start - 1] for one in made)


def test_an_escaped_backslash_before_an_n_is_no_line_break() -> None:
    made = chunks(canvas(r'{"nodes":[{"type":"text","text":"C:\\new\\table\nnext"}]}'))
    assert [one.body for one in made] == [r"C:\\new\\table", "next"]


def test_words_hidden_by_escapes_are_found_through_the_prelude() -> None:
    assert "In März." in chunks(canvas(BOARD))[3].prelude


def test_a_canvas_links_to_the_notes_it_shows_and_names() -> None:
    note = canvas(BOARD)
    assert [(link.kind, link.target, link.heading, link.block, link.line) for link in note.links] == [
        (LinkKind.WIKILINK, "Birch", None, None, 4),
        (LinkKind.EMBED, "Projects/Kitchen.md", "Decisions", None, 5),
        (LinkKind.EMBED, "Notes/B.md", None, "b1", 6),
    ]
    assert (note.title, note.tags, note.problems) == ("Kitchen board", ("kitchen",), ())


@pytest.mark.parametrize(
    "text", ["{not json", "[1, 2]", '"a"', "{" * 100_000, "[" * 100_000, "words of a broken board"]
)
def test_a_broken_canvas_is_plain_text_with_a_problem(text: str) -> None:
    note = canvas(text)
    assert [problem.code for problem in note.problems] == ["canvas-unreadable"]
    assert chunks(note)[-1].body


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"nodes":null}',
        '{"nodes":[1,[],{"text":3,"file":4}],"edges":{}}',
        '{"nodes":[{"text":"\\ud800\\n"}]}',
    ],
)
def test_an_odd_canvas_is_no_error_and_is_found_by_its_title(text: str) -> None:
    note = canvas(text)
    assert note.problems == ()
    assert "Kitchen board" in chunks(note)[0].prelude
    "".join(one.prelude for one in chunks(note)).encode("utf-8")


def test_a_canvas_is_personal_by_its_path() -> None:
    assert canvas(BOARD, "Private/x.canvas").sensitivity is Sensitivity.PERSONAL


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ('{"sensitivity": "personal", "tags": ["a/B"], "aliases": "Wall"}', Sensitivity.PERSONAL),
        ('{"Sensitivity": ["open"], "tags": "a/b", "aliases": ["Wall"]}', Sensitivity.PERSONAL),
        ('{"sensitivity": "open", "tags": ["a/b"], "aliases": ["Wall", {"x": []}], "n": NaN}', Sensitivity.OPEN),
    ],
)
def test_what_a_plugin_keeps_as_properties_of_a_canvas_counts(said: str, level: Sensitivity) -> None:
    note = canvas(f'{{"nodes":[],"edges":[],"metadata":{{"version":"1.0","frontmatter":{said}}}}}')
    assert (note.sensitivity, note.tags, note.aliases) == (level, ("a/b",), ("Wall",))
    json.dumps(note.frontmatter, allow_nan=False)


@pytest.mark.parametrize("metadata", ["null", "[]", '{"frontmatter": 1}', '{"frontmatter": {"\\ud800": "\\ud800"}}'])
def test_odd_metadata_of_a_canvas_is_no_error(metadata: str) -> None:
    note = canvas(f'{{"nodes":[{{"type":"text","text":"larch"}}],"metadata":{metadata}}}')
    assert [one.body for one in chunks(note)] == ["larch"]
    json.dumps(note.frontmatter, ensure_ascii=False).encode()


CARDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from(list('\n\t\\"/ ')), max_size=40)


@settings(deadline=None)
@given(st.lists(CARDS, max_size=5), st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_every_card_is_kept_and_verbatim(cards: list[str], ascii_only: bool, indent: int | str | None) -> None:  # noqa: FBT001  # drawn by hypothesis
    data = {"nodes": [{"id": "x", "text": card} for card in cards], "edges": []}
    text = json.dumps(data, ensure_ascii=ascii_only, indent=indent)
    note = parse("c.canvas", text.encode("utf-8", "surrogatepass"), RULES)
    made = [one for one in chunks(note) if one.body]
    assert all(one.body in "\n".join(note.lines[one.line_start - 1 : one.line_end]) for one in made)
    shown = "\n".join(json.loads(f'"{one.body}"', strict=False) for one in made)
    assert "".join(shown.split()) == "".join("\n".join(cards).split())
