"""Which lines of a frontmatter become text that answers, and how they are cut."""

import time

import pytest

from vault_ask.notes.chunker import chunk
from vault_ask.notes.model import PROPERTIES, Chunk, FrontmatterState
from vault_ask.notes.parse import parse
from vault_ask.notes.sensitivity import Rules
from vault_ask.settings.vault import ChunkSettings

RULES = Rules.compile([], "sensitivity")


def count(text: str) -> int:
    return (len(text.encode()) + 2) // 3


def properties(text: str | bytes, path: str = "Home/Boiler.md", rules: Rules = RULES) -> list[Chunk]:
    """The chunks that a note's properties make."""
    note = parse(path, text if isinstance(text, bytes) else text.encode(), rules)
    made = chunk(note, count=count, options=ChunkSettings())
    return [one for one in made if one.ordinal >= PROPERTIES]


def said(block: str, **how: str) -> str | None:
    """The text that a block between two rules makes; None for none."""
    found = properties(f"---\n{block}\n---\nIt stands in the cellar.\n", **how)
    assert len(found) <= 1
    return found[0].body if found else None


def test_what_a_note_says_in_its_properties_is_one_passage_in_its_own_lines() -> None:
    text = '---\ntags: [home]\ndue: 2026-12-24\nserviced-by: "[[Acme]]"\n---\nIt stands in the cellar.\n'
    (found,) = properties(text)
    assert found.body == 'due: 2026-12-24\nserviced-by: "[[Acme]]"'
    assert (found.line_start, found.line_end, found.heading_path) == (3, 4, ())
    assert found.prelude == "Boiler\nHome\nhome"
    assert found.tokens == count("due: 2026-12-24") + count('serviced-by: "[[Acme]]"')


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("# Anna Lind\nA friend.\n## Work\nAt Acme.\n", "Anna Lind"),
        ("A friend.\n\n# Anna Lind\n", "Anna Lind"),
        ("# Anna Lind\n# Bo Ek\n", ""),
        ("## Work\n# Anna Lind\n", ""),
        ("## Anna Lind\n", ""),
        ("# Boiler\n", ""),
        ("#\ntext\n", ""),
        ("# Monday, 17 August 2026\n", ""),
        ("# 2026-08-17\n", ""),
        ("# Lunch with Anna, 17 August 2026\n", "Lunch with Anna, 17 August 2026"),
        ("# April\n", "April"),
    ],
)
def test_properties_are_those_of_what_the_one_main_heading_names(body: str, named: str) -> None:
    (found,) = properties(f"---\nphone: 112 358\n---\n{body}")
    assert found.prelude == "\n".join(filter(None, ("Boiler", "Home", named)))
    assert (found.heading_path, found.body) == ((), "phone: 112 358")


def test_lines_that_say_nothing_are_blank_between_those_that_do() -> None:
    text = "---\nstatus: open\ncreated: 2024-01-01\nid: 77\ndue: 2026-12-24\n---\nText.\n"
    (found,) = properties(text)
    assert found.body == "status: open\n\n\ndue: 2026-12-24"
    assert (found.line_start, found.line_end) == (2, 5)


@pytest.mark.parametrize(
    "key",
    [
        *("tags", "Tag", "aliases", "alias", "title", "cssclasses", "publish", "permalink", "id", "uid", "UUID", "up"),
        *("created", "Created At", "date_created", "createdAt", "modified", "last-modified", "updated", "erstellt am"),
        *("skapad", "создано", "创建时间", "excalidraw-plugin", "excalidraw-link-prefix", "kanban-plugin", "lang"),
        *("linter-yaml-title-alias", "banner_x", "obsidianUIMode", "some-other-plugin"),
    ],
)
def test_what_editors_plugins_and_publishers_read_says_nothing(key: str) -> None:
    assert said(f"{key}: parsed") is None
    assert said(f"{key}: parsed\nstatus: open") == "status: open"


@pytest.mark.parametrize(
    "value", ["", " ", "null", "~", '""', "[]", "{}", "[null, '']", "\n  -\n  - ''", '"-"', "# later"]
)
def test_a_property_without_a_value_says_nothing(value: str) -> None:
    assert said(f"due: {value}\nstatus: open") == "status: open"


@pytest.mark.parametrize(
    "entry",
    [
        "due: 2026-12-24",
        "rating: 5",
        "paid: false",
        "stars: ⭐⭐⭐",
        'quote: "Never: again"',
        "single: 'it''s'",
        "owner: [[Mira Holt]]",
        'owner: "[[People/Mira Holt|Mira]]"',
        "people: [Ann, Bo]",
        "people:\n  - Ann\n  - Bo",
        "people:\n- Ann\n- Bo",
        "people: [Ann,\n  Bo]",
        "address:\n  street: Long Road 5\n  city:\n    name: Uppsala",
        "summary: |\n  First line.\n\n  # no comment\n  Last line.",
        "summary: >-\n  Folded\n  text.",
        "Fälligkeit: morgen",
        "締め切り: 明日",
        "срок: завтра",
        "due date: 2026-12-24",
        '"due": "2026-12-24"',
        "due: 2026-12-24 # or so",
        "date: 2026-03-08",
    ],
)
def test_what_says_something_is_verbatim(entry: str) -> None:
    text = said(f"# a comment\n{entry}\n\n# another\ntags: [x]")
    assert text == entry


def test_json_in_braces_is_read_as_yaml_reads_it() -> None:
    assert said("{due: 2026-12-24, status: open}") == "{due: 2026-12-24, status: open}"
    lines = '{\n  "due": "2026-12-24",\n  "id": 7,\n  "status": "open"\n}'
    assert said(lines) == '  "due": "2026-12-24",\n\n  "status": "open"'


def test_an_entry_ends_where_the_next_one_begins_whichever_says_nothing() -> None:
    assert said("tags:\n  - a\n  - b\npeople:\n  - Ann\ncreated:\n  by: Bo\ndue: x") == "people:\n  - Ann\n\n\ndue: x"


def test_a_key_that_stands_twice_is_read_twice() -> None:
    assert said("due: one\ntags: [x]\ndue: two") == "due: one\n\ndue: two"


@pytest.mark.parametrize("ends", ["\r\n", "\r", "\n"])
def test_a_mark_and_foreign_line_ends_move_no_line(ends: str) -> None:
    text = "---\nstatus: open\nid: 1\ndue: x\n---\nText.\n".replace("\n", ends)
    (found,) = properties(b"\xef\xbb\xbf" + text.encode())
    assert (found.body, found.line_start, found.line_end) == ("status: open\n\ndue: x", 2, 4)


@pytest.mark.parametrize(
    "secret",
    [
        "sensitivity: open",
        "Sensitivity: personal",
        '"sensitivity": personal',
        "sensitivity:\n  - personal",
        "{due: x, sensitivity: personal}",
        "  sensitivity: personal",
        "notes:\n  sensitivity: personal",
    ],
)
def test_the_key_that_decides_who_may_see_a_note_is_no_text(secret: str) -> None:
    block = f"{secret}\nstatus: open" if not secret.startswith(" ") else f"status: open\nx: [\n{secret}"
    text = said(block)
    assert text == "status: open"


def test_the_key_is_whatever_the_settings_call_it() -> None:
    theirs = Rules.compile([], "wer darf")
    (found,) = properties("---\nwer darf: alle\nsensitivity: low\n---\n", rules=theirs)
    assert found.body == "sensitivity: low"


def test_an_unreadable_block_gives_what_can_be_told_and_its_note_is_personal() -> None:
    text = "---\nstatus: open\nbad: [\ndue: 2026-12-24\nsensitivity: open\n---\nText.\n"
    note = parse("A.md", text.encode(), RULES)
    assert note.frontmatter_state is FrontmatterState.UNREADABLE
    assert note.sensitivity.word == "personal"
    (found,) = properties(text)
    assert found.body == "status: open\n\ndue: 2026-12-24"


@pytest.mark.parametrize("text", ["---\ndue: x\n# never closed\n", "\n---\ndue: x\n---\n", "due: x\n", "---\n---\nx"])
def test_a_block_that_is_text_is_not_said_twice(text: str) -> None:
    assert properties(text) == []


def test_a_canvas_has_no_properties() -> None:
    assert properties('{"nodes": [{"type": "text", "text": "---\\ndue: x\\n---"}]}', path="Plan.canvas") == []


def test_a_note_of_nothing_but_properties_is_these() -> None:
    note = parse("Boiler.md", b"---\nalias: Heater\ndue: x\n---\n", RULES)
    (only,) = chunk(note, count=count, options=ChunkSettings())
    assert (only.body, only.prelude, only.line_start) == ("due: x", "Boiler (Heater)", 3)


@pytest.mark.parametrize(
    "long", ["data:image/png;base64," + "iVBORw0KGgo" * 40, "word " * 400, "'" + "x" * 500_000 + "'"]
)
def test_packed_data_and_pages_of_text_are_left_out(long: str) -> None:
    assert said(f"cover: {long}\nstatus: open") == "status: open"


def test_words_that_are_written_in_one_are_found_by_their_parts() -> None:
    (found,) = properties("---\ndueDate: x\nstatus: onHold\nsite: https://a.example/someThing\n---\n")
    assert found.prelude.split("\n")[-1] == "due Date, on Hold"
    assert found.body.startswith("dueDate: x\nstatus: onHold\n")


def test_a_block_of_thousands_of_lines_is_cut_and_ends() -> None:
    text = "---\n" + "".join(f"key{n}: some value of it {n}\n" for n in range(5_000)) + "---\nText.\n"
    start = time.process_time()
    found = properties(text)
    assert time.process_time() - start < 10
    assert [one.ordinal for one in found] == [PROPERTIES, PROPERTIES + 1, PROPERTIES + 2, PROPERTIES + 3]
    assert found[0].body.startswith("key0: some value of it 0\n")
    assert all(one.tokens <= ChunkSettings().target_tokens for one in found)
    assert [one.line_start for one in found[1:]] == [one.line_end + 1 for one in found[:-1]]


def test_the_same_properties_have_the_same_ids_and_no_passage_of_the_text_has_them() -> None:
    text = "---\ndue: x\n---\ndue: x\n"
    note = parse("A.md", text.encode(), RULES)
    first, again = (chunk(note, count=count, options=ChunkSettings()) for _ in range(2))
    assert [one.body for one in first] == ["due: x", "due: x"]
    assert len({one.id for one in first}) == 2
    assert [one.id for one in first] == [one.id for one in again]
