"""A note's own lines, rebuilt from what is indexed; how it stands; and what of the notes near it is shown."""

import time
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes import HashEmbedder
from vault_ask.answering.reading import Lines, Reading, _text, note_response, related_response
from vault_ask.audit import Record
from vault_ask.errors import BadRequest, NoSuchNote
from vault_ask.index.reading.text import StoredText
from vault_ask.scope import OpenScope, PrivateScope
from vault_ask.settings.vault import ChunkSettings
from vault_ask.sources.walk import printable
from vault_ask.wire import NoteResponse
from vault_building import OPEN, PRIVATE, Building, made_by_hand

ALL = Lines()
SMALL = ChunkSettings(target_tokens=32, max_tokens=48, min_tokens=0, overlap_tokens=8)
PLOT = "---\ntags: [garden]\n---\n\n# Plot\n\nPotatoes and beans.\n\n\n## Yield\nIt gave 31 kg.\n"


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    made = Building(tmp_path, HashEmbedder(), chunks=SMALL)
    yield made
    made.close()


def read(building: Building, path: str, lines: Lines = ALL, scope: OpenScope | PrivateScope = PRIVATE) -> NoteResponse:
    with building.open(scope) as view:
        return note_response(view, path, lines)


# Lines


def test_a_note_is_given_from_below_its_frontmatter_to_its_end(building: Building) -> None:
    building.put({"Garden/Plot.md": PLOT})
    given = read(building, "Garden/Plot.md")
    assert given.text == "# Plot\n\nPotatoes and beans.\n\n\n## Yield\nIt gave 31 kg."
    assert (given.line_start, given.line_end, given.line_count) == (5, 11, 11)
    assert (given.path, given.title, given.personal) == ("Garden/Plot.md", "Plot", False)


@pytest.mark.parametrize(
    ("lines", "text", "where"),
    [
        (Lines(7, 7), "Potatoes and beans.", (7, 7)),
        (Lines(8, 10), "\n\n## Yield", (8, 10)),
        (Lines(1, 5), "# Plot", (5, 5)),
        (Lines(10, None), "## Yield\nIt gave 31 kg.", (10, 11)),
        (Lines(None, 6), "# Plot\n", (5, 6)),
        (Lines(11, 400), "It gave 31 kg.", (11, 11)),
        (Lines(1, 3), "", (1, 3)),
        (Lines(12, 20), "", (12, 20)),
        (Lines(1_000_000_000, None), "", (1_000_000_000, 1_000_000_000)),
    ],
)
def test_of_a_range_the_lines_are_given_that_there_are(
    building: Building, lines: Lines, text: str, where: tuple[int, int]
) -> None:
    building.put({"Plot.md": PLOT})
    given = read(building, "Plot.md", lines)
    assert (given.text, given.line_start, given.line_end, given.line_count) == (text, *where, 11)


def test_of_the_properties_the_lines_are_given_that_say_something(building: Building) -> None:
    text = "---\ntags: [home]\ndue: 2026-12-24\nid: 7\nstatus: open\nsensitivity: open\n---\n\nIt stands in the cellar."
    building.put({"Boiler.md": text})
    given = read(building, "Boiler.md")
    assert given.text == "due: 2026-12-24\n\nstatus: open\n\n\n\nIt stands in the cellar."
    assert (given.line_start, given.line_end, given.line_count) == (3, 9, 9)
    assert read(building, "Boiler.md", Lines(3, 3)).text == "due: 2026-12-24"
    assert read(building, "Boiler.md", Lines(6, 6)).text == ""


def test_a_canvas_on_one_line_is_put_together_in_one_go() -> None:
    count = 40_000
    texts = [StoredText(line_start=1, overlap=0, body="a line of a card " * 8) for _ in range(count)]
    started = time.process_time()
    text = _text("Board.canvas", texts, 1, 1)
    assert time.process_time() - started < 2
    assert len(text) == count * (len(texts[0].body) + 1) - 1


def test_a_note_without_text_has_no_lines_and_a_state(building: Building) -> None:
    building.put({"Empty.md": "---\ntags: [work]\n---\n", "Blank.md": ""})
    for path in ("Empty.md", "Blank.md"):
        given = read(building, path)
        assert (given.text, given.line_start, given.line_end, given.line_count) == ("", 1, 1, 0)
        assert given.index.state == "indexed"


_WORDS = ("rent", "barn", "möte", "家賃交渉", "עברית", "🧑‍🌾", "aaaa", "a.", "C++", "ha", "。", "|", "٣")
_LINES = st.one_of(
    st.just(""),
    st.sampled_from(("# Part", "## Part", "---", "```", "> quoted", "- item", "| a | b |", "    code", "%%c%%")),
    st.lists(st.sampled_from(_WORDS), min_size=1, max_size=12).map(" ".join),
    st.builds(lambda word, times, between: between.join([word] * times), st.sampled_from(_WORDS), st.integers(20, 150),
              st.sampled_from((" ", "", "  "))),
)  # fmt: skip
_HEADS = st.sampled_from(("", "", "---\ntags: [work]\n---\n", "---\nnever: closed\n"))


@pytest.fixture(scope="module")
def reused(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    made = Building(tmp_path_factory.mktemp("index"), chunks=SMALL)
    yield made
    made.close()


@given(head=_HEADS, lines=st.lists(_LINES, max_size=14))
@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_chunks_rebuild_every_line_of_a_note_to_the_letter(reused: Building, head: str, lines: list[str]) -> None:
    text = head + "\n".join(lines)
    draft = reused.draft("Note.md", text)
    reused.store([draft])
    given = read(reused, "Note.md")
    written = ["", *text.split("\n")]
    if given.line_count:
        numbered = list(enumerate(given.text.split("\n"), start=given.line_start))
        # Of the properties, lines that say nothing come blank.
        first = draft.note.body_line
        assert all(line == written[number] for number, line in numbered if number >= first or line)
        assert numbered[-1][0] == given.line_end
    held = range(given.line_start, given.line_count + 1)
    assert [written[n] for n in range(draft.note.body_line, len(written)) if n not in held and written[n].strip()] == []


def test_packed_data_is_text_of_the_note_too(building: Building) -> None:
    packed = f"![](data:image/png;base64,{'iVBORw0KGgo' * 200})"
    building.put({"Picture.md": f"# Trip\n\nBefore {packed} and after.\n\nThe end.\n"})
    assert read(building, "Picture.md", Lines(3, 3)).text == f"Before {packed} and after."


def test_of_a_canvas_the_lines_of_its_cards_are_given(building: Building) -> None:
    canvas = '{"nodes":[\n{"id":"a","type":"text","text":"rent\\nand barn","x":0,"y":0}\n],"edges":[]}'
    building.put({"Board.canvas": canvas})
    given = read(building, "Board.canvas")
    assert (given.text, given.line_start, given.line_end) == ("rent and barn", 2, 2)


# Paths

NAMES = ("Åsa/Möte.md", "家賃/交渉.md", "עברית.md", "A # b? 100%.md", "a\\b.md", "Trip [1].md", "🧑‍🌾.md", "Ist İ.md")


@pytest.mark.parametrize("path", NAMES)
def test_a_note_is_found_in_any_case_and_unicode_form(building: Building, path: str) -> None:
    building.put({path: "rent\n", "Other.md": "barn\n"})
    for spelled in (path, unicodedata.normalize("NFD", path), path.upper(), path.lower()):
        assert read(building, spelled).path == path


def test_of_two_names_that_differ_in_case_alone_each_is_found_as_it_is_written_and_neither_otherwise(
    building: Building,
) -> None:
    building.put({"Rent.md": "one\n", "rent.md": "two\n"})
    assert (read(building, "Rent.md").text, read(building, "rent.md").text) == ("one", "two")
    with pytest.raises(NoSuchNote):
        read(building, "RENT.md")


def test_a_hidden_note_of_the_same_name_does_not_make_a_spelling_unclear(building: Building) -> None:
    building.store([made_by_hand("Rent.md", "one"), made_by_hand("rent.md", "two", personal=True)])
    assert read(building, "RENT.md", scope=OPEN).text == "one"
    with pytest.raises(NoSuchNote):
        read(building, "RENT.md")


@pytest.mark.parametrize("path", ["Nothing.md", "Plot", "lot.md", "/Plot.md", "Deep/Plot.md", "", " ", "Plot.md/", "%"])
def test_what_is_no_path_of_a_note_finds_none(building: Building, path: str) -> None:
    building.put({"Plot.md": PLOT})
    assert read(building, "Plot.md").title == "Plot"
    with pytest.raises(NoSuchNote):
        read(building, path)


def test_a_hidden_note_and_one_that_never_was_are_refused_in_the_same_words(building: Building) -> None:
    building.put({"Private/Diary.md": "A quarrel.\n", "Open.md": "rent\n"})
    assert read(building, "Private/Diary.md").text == "A quarrel."
    said = set()
    for path in ("Private/Diary.md", "private/diary.MD", "Private/Nothing.md", "Nothing.md"):
        with building.open(OPEN) as view:
            for refused in (lambda view=view, path=path: note_response(view, path, ALL),
                            lambda view=view, path=path: related_response(view, path, 8)):  # fmt: skip
                with pytest.raises(NoSuchNote) as error:
                    refused()
                said.add(str(error.value))
    assert len(said) == 1


# State


def test_a_note_waits_for_its_vectors_until_all_of_them_are_made(building: Building) -> None:
    building.writer.replace([building.draft("Plot.md", PLOT)], {})
    waiting = read(building, "Plot.md").index
    assert (waiting.state, waiting.message) == (
        "words_only",
        "2 of its passages wait for their vectors and are found by their words until then.",
    )
    made, refused = building.embed({one.embed_hash: one.text for one in building.writer.waiting(10)})
    building.writer.store_vectors(made, refused)
    done = read(building, "Plot.md").index
    assert (done.state, done.message) == ("indexed", "It is found by its words and by its meaning.")


def test_passages_that_the_embedder_refused_are_told_and_are_no_waiting(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder(refuses=["beans"]))
    building.put({"Plot.md": PLOT})
    state = read(building, "Plot.md").index
    building.close()
    assert state.state == "indexed"
    assert state.message.startswith("The embedder could not take 1 of its passages")


def test_of_a_note_in_sight_it_is_told_that_a_newer_version_is_not_whole_and_of_no_other(building: Building) -> None:
    building.put({"Plot.md": PLOT, "Other.md": "rent\n", "Private/Diary.md": "A quarrel.\n"})
    troubles = [(path, "incomplete", "3 of 5 pieces lack") for path in ("Plot.md", "Private/Diary.md", "New.md")]
    building.writer.keep_troubles([*troubles, ("Other.md", "conflict", "a device wrote it too")])
    state = read(building, "Plot.md", scope=OPEN).index
    assert (state.state, "pieces" in state.message) == ("incomplete", False)
    assert read(building, "Other.md", scope=OPEN).index.state == "indexed"
    with building.open(PRIVATE) as view:
        hidden = view.notes.note("Private/Diary.md")
        assert hidden is not None
        assert view.notes.standing(hidden).incomplete
    with building.open(OPEN) as view:
        assert not view.notes.standing(hidden).incomplete
        assert view.notes.standing(hidden).waiting == 0


@pytest.mark.parametrize("path", ["می‌خواهم.md", "🧑‍🌾.md", "Möte.md", "\u202bעברית.md"])
def test_that_a_newer_version_is_not_whole_is_told_of_a_note_of_any_name(building: Building, path: str) -> None:
    building.put({path: PLOT, "Other.md": PLOT})
    building.writer.keep_troubles([(printable(path), "incomplete", "3 of 5 pieces lack")])
    assert [read(building, name, scope=OPEN).index.state for name in (path, "Other.md")] == ["incomplete", "indexed"]


@pytest.mark.parametrize("mtime", [-5.0, 0.0, 1e18, float("inf")])
def test_a_time_that_no_calendar_has_is_no_failure(building: Building, mtime: float) -> None:
    building.store([replace(building.draft("Plot.md", PLOT), mtime=mtime)])
    assert read(building, "Plot.md").index.modified_at in {"1970-01-01T00:00:00+00:00", "9999-12-31T23:59:59+00:00"}


# Near notes


def test_a_near_note_shows_the_first_lines_that_say_something(building: Building) -> None:
    building.put({
        "Plot.md": "Potatoes and beans in [[Shed]].\n",
        "Shed.md": "---\ntags: [x]\n---\n# Shed\n\n## Tools\n\nFor potatoes\nand beans\na spade\nand a fork. ^fork\n",
    })  # fmt: skip
    with building.open(OPEN) as view:
        near = related_response(view, "plot.md", 8).related[0]
    assert (near.path, near.title, near.heading, near.personal) == ("Shed.md", "Shed", "Tools", False)
    assert (near.quote, near.line_start, near.line_end) == ("For potatoes\nand beans\na spade", 8, 10)
    assert near.block is None
    assert near.because == ("link", "meaning")


def test_a_block_is_named_where_it_is_among_the_lines_shown(building: Building) -> None:
    building.put({"Plot.md": "[[Shed]]\n", "Shed.md": "#tools in the shed ^tools\n"})
    with building.open(OPEN) as view:
        near = related_response(view, "Plot.md", 8).related[0]
    assert (near.block, near.quote) == ("tools", "#tools in the shed ^tools")


# The record


class Recorded:
    """A reading of a building, and what it recorded."""

    def __init__(self, building: Building) -> None:
        self.records: list[Record] = []
        self.reading = Reading(building.open, self.records.append)

    @property
    def said(self) -> list[tuple[str, str, tuple[str, ...], str]]:
        return [(one.action, one.question, one.notes, one.outcome) for one in self.records]


def test_text_that_is_handed_out_is_recorded_with_the_path_and_the_scope(building: Building) -> None:
    building.put({"Plot.md": "[[Shed]]\n", "Shed.md": "A spade.\n", "Private/Diary.md": "A quarrel.\n"})
    recorded = Recorded(building)
    recorded.reading.note("plot.MD", ALL, scope=OPEN)
    recorded.reading.related("Plot.md", scope=OPEN, k=8)
    recorded.reading.note("Private/Diary.md", ALL, scope=PRIVATE)
    assert recorded.said == [
        ("note", "plot.MD", ("Plot.md",), "done"),
        ("near", "Plot.md", ("Shed.md",), "done"),
        ("note", "Private/Diary.md", ("Private/Diary.md",), "done"),
    ]
    assert [record.scope for record in recorded.records] == [OPEN, OPEN, PRIVATE]


def test_a_note_that_is_not_there_is_recorded_and_a_look_at_a_state_alone_is_not(building: Building) -> None:
    building.put({"Plot.md": PLOT, "Private/Diary.md": "A quarrel.\n"})
    recorded = Recorded(building)
    assert recorded.reading.note("Plot.md", Lines(1_000_000_000), scope=OPEN).index.state == "indexed"
    for path in ("Private/Diary.md", "Nothing.md"):
        with pytest.raises(NoSuchNote):
            recorded.reading.note(path, ALL, scope=OPEN)
        with pytest.raises(NoSuchNote):
            recorded.reading.related(path, scope=OPEN, k=8)
    assert recorded.said == [
        (action, path, (), "error:no_such_note")
        for path in ("Private/Diary.md", "Nothing.md")
        for action in ("note", "near")
    ]


def test_a_range_that_ends_before_it_begins_is_refused_whatever_the_path(building: Building) -> None:
    recorded = Recorded(building)
    with pytest.raises(BadRequest, match="`from` is a later line than `to`"):
        recorded.reading.note("Nothing.md", Lines(9, 3), scope=OPEN)
    assert recorded.records == []
