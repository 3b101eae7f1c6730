"""A note's properties among its chunks: found and read like any other, and no part of what its text is about."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fakes import HashEmbedder
from vault_building import OPEN, Building

NOTES = {
    "Barn.md": "---\nstatus: open\nowner: Mira\n---\n# Roof\nIt leaks.\n\n# Floor\nIt is dry.\n",
    "Card.md": "---\nstatus: open\nowner: Bo\n---\n",
    "Map.md": "---\nsummary: "
    + "a long word or two " * 20
    + "\n---\n"
    + " ".join(f"[[N{n}]]" for n in range(6))
    + "\n",
}


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    building = Building(tmp_path, HashEmbedder(dimension=64))
    building.put(NOTES)
    yield building
    building.close()


def test_properties_are_a_chunk_behind_those_of_the_text(building: Building) -> None:
    with building.open(OPEN) as view:
        all_of_it, text = view.chunks.of("Barn.md"), view.chunks.of_text("Barn.md")
        passages = view.text.passages(all_of_it)
    assert [passages[one].of_properties for one in all_of_it] == [False] * len(text) + [True]
    assert passages[all_of_it[-1]].body == "status: open\nowner: Mira"
    assert all_of_it[:-1] == text


def test_properties_are_no_section_of_the_text_and_the_whole_of_a_note_without_one(building: Building) -> None:
    with building.open(OPEN) as view:
        assert view.chunks.sections_of("Barn.md") == view.chunks.of_text("Barn.md")
        assert view.chunks.sections_of("Card.md") == view.chunks.of_text("Card.md") == view.chunks.of("Card.md")
        assert len(view.chunks.of("Card.md")) == 1


def test_what_a_note_is_about_is_told_by_its_text_where_it_has_some(building: Building) -> None:
    with building.open(OPEN) as view:
        notes = {path: view.notes.note(path) for path in NOTES}
        assert all(notes.values())
        of_text = view.vectors.centred(view.chunks.of_text("Barn.md"))
        assert np.allclose(view.vectors.centred_of(notes["Barn.md"].id), list(of_text.values()))
        assert view.vectors.centred_of(notes["Card.md"].id).shape[0] == 1


def test_a_map_of_content_stays_one_whatever_its_properties_say(building: Building) -> None:
    with building.open(OPEN) as view:
        links, tokens = view.links.shares(["Map.md"], least=5)["Map.md"]
    assert (links, tokens < 40) == (6, True)


def test_no_excerpt_grows_into_the_properties_or_out_of_them(building: Building) -> None:
    with building.open(OPEN) as view:
        chunks = view.chunks.of("Barn.md")
        pieces = view.text.pieces(chunks, 3)
    assert {piece.chunk for piece in pieces[chunks[0]]} == set(chunks[:-1])
    assert [piece.chunk for piece in pieces[chunks[-1]]] == [chunks[-1]]
