"""What stands around a hit: as far as its section and its note reach, word for word, and only what its scope sees."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from answering.passages import hit
from fakes import HashEmbedder
from vault_ask.index.reading.text import Piece
from vault_ask.index.within import Within
from vault_ask.retrieval.filters import read_filters
from vault_ask.retrieval.hits import Hit
from vault_ask.retrieval.widening import REACH, joined, section, widen
from vault_ask.settings.vault import ChunkSettings
from vault_building import OPEN, PRIVATE, Building

ANYTHING = Within()
SMALL = ChunkSettings(target_tokens=32, max_tokens=48, min_tokens=0, overlap_tokens=8)


def paragraph(word: str, words: int = 30) -> str:
    return " ".join(f"{word}{n}" for n in range(words))


NOTE = "\n".join(
    [
        "# Rent",
        "",
        paragraph("before"),
        "",
        "",
        "The rent is 9200.",
        paragraph("after"),
        "",
        paragraph("later"),
        "",
        "# Deposit",
        "",
        paragraph("deposit"),
        "",
    ]
)


@pytest.fixture
def built(tmp_path: Path) -> Iterator[Building]:
    building = Building(tmp_path, HashEmbedder(dimension=384), chunks=SMALL)
    building.put({"Rent.md": NOTE, "Flat.md": NOTE, "Private/Loan.md": "# Rent\n\n" + NOTE})
    yield building
    building.close()


def found(building: Building, words: str, *, path: str = "Rent.md", within: Within = ANYTHING) -> Hit:
    """The passage of a note that holds some words, widened."""
    with building.open(OPEN) as view:
        passages = view.text.passages(view.chunks.of(path))
        passage = next(one for one in passages.values() if words in one.body)
        made: Hit = replace(hit(path, passage.body, line_start=passage.line_start), chunk_id=passage.chunk)
        return widen(view, [made], within)[0]


def test_a_hit_is_given_its_section_and_nothing_of_the_next(built: Building) -> None:
    widened = found(built, "before3 before4")
    assert joined(widened.around).startswith("# Rent\n\nbefore0")
    assert joined(widened.around).endswith("later29")
    assert widened.body in joined(widened.around)
    assert "deposit" not in joined(widened.around)


def test_what_is_put_together_is_the_notes_own_lines(built: Building) -> None:
    around = found(built, "The rent is 9200").around
    assert len(around) > 1
    lines = NOTE.split("\n")
    assert joined(around) == "\n".join(lines[around[0].line_start - 1 : around[-1].line_end])


def test_it_reaches_only_so_far(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder(dimension=384), chunks=SMALL)
    building.put({"Long.md": "\n\n".join(paragraph(f"part{chr(97 + n)}") for n in range(12))})
    around = found(building, "partf3 partf4", path="Long.md").around
    assert len(around) == 2 * REACH + 1
    assert "partf3" in around[REACH].body
    building.close()


def test_a_hidden_note_is_around_nothing(built: Building) -> None:
    with built.open(PRIVATE) as view:
        personal = view.chunks.of("Private/Loan.md")
        assert view.text.pieces(personal[:1], REACH)[personal[0]]
    with built.open(OPEN) as view:
        mine = view.chunks.of("Rent.md")[0]
        seen = view.text.pieces([personal[0], mine], REACH)
        assert seen[personal[0]] == []
        assert {piece.chunk for piece in seen[mine]} <= set(view.chunks.of("Rent.md"))


def test_packed_data_ends_a_section(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder(dimension=384), chunks=SMALL)
    packed = f"![](data:image/png;base64,{'iVBORw0KGgoAAAANSUhEUgAA' * 60})"
    building.put({"Drawn.md": f"{paragraph('first')}\n\n{packed}\n\n{paragraph('second')}\n\n{paragraph('third')}"})
    around = found(building, "second3 second4", path="Drawn.md").around
    text = joined(around)
    assert "second29" in text
    assert "third29" in text
    assert "first" not in text
    assert "iVBOR" not in text
    building.close()


def test_what_does_not_fit_the_filters_is_around_nothing(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder(dimension=384), chunks=SMALL)
    todo, done = (f"- [{mark}] {paragraph(word, 24)}" for mark, word in ((" ", "call"), ("x", "paid")))
    building.put({"Jobs.md": f"{paragraph('plain')}\n\n{todo}\n\n- [ ] {paragraph('mail', 24)}\n\n{done}"})
    everything = joined(found(building, "call3 call4", path="Jobs.md").around)
    assert "plain3" in everything
    assert "paid3" in everything
    filters = read_filters("task-todo:").filters
    narrowed = joined(found(building, "call3 call4", path="Jobs.md", within=Within(filters)).around)
    assert "mail23" in narrowed
    assert "plain3" not in narrowed
    assert "paid3" not in narrowed
    building.close()


def test_nothing_is_around_a_line_of_a_canvas(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder(dimension=384), chunks=SMALL)
    cards = ", ".join(f'{{"id": "{n}", "type": "text", "text": "{paragraph(f"card{n}x")}"}}' for n in range(3))
    building.put({"Board.canvas": f'{{"nodes": [{cards}], "edges": []}}', "Plain.md": NOTE})
    assert found(building, "card1x3", path="Board.canvas").around == ()
    assert found(building, "before3", path="Plain.md").around
    building.close()


def piece(chunk: int, body: str, line: int, *, overlap: int = 0, heading: str = "[]", is_text: bool = True) -> Piece:
    return Piece(
        chunk=chunk,
        ordinal=chunk,
        heading_path=heading,
        block=None,
        body=body,
        overlap=overlap,
        line_start=line,
        line_end=line + body.count("\n"),
        tokens=len(body.split()),
        is_text=is_text,
    )


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ([piece(1, "one", 1)], "one"),
        ([piece(1, "one", 1), piece(2, "two", 2)], "one\ntwo"),
        ([piece(1, "one", 1), piece(2, "two", 4)], "one\n\n\ntwo"),
        ([piece(1, "one two ", 1), piece(2, "two three", 1, overlap=4)], "one two three"),
        ([piece(1, "a\nb\nc", 1), piece(2, "b\nc\nd", 2, overlap=4)], "a\nb\nc\nd"),
        ([piece(1, "tail of one", 3, overlap=8), piece(2, "two", 4)], "tail of one\ntwo"),
    ],
    ids=["one alone", "next line", "blank lines", "inside a line", "whole lines repeated", "the first keeps its own"],
)
def test_nothing_is_repeated_and_no_line_is_lost(pieces: list[Piece], text: str) -> None:
    assert joined(pieces) == text


def test_a_section_is_consecutive() -> None:
    a, b = '["A"]', '["B"]'
    pieces = [piece(1, "x", 1, heading=a), piece(2, "x", 2, heading=b), piece(3, "x", 3, heading=a)]
    assert [one.chunk for one in section(pieces, 3, {1, 2, 3})] == [3]
    assert [one.chunk for one in section([*pieces[:1], piece(2, "y", 2, heading=a)], 1, {1, 2})] == [1, 2]
    assert section(pieces, 99, {1}) == ()
    assert section([piece(1, "x", 1, is_text=False)], 1, {1}) == ()
