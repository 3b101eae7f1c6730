"""A conflict copy that is personal by its original gives no vector, made under its title, to an open note."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes import HashEmbedder
from vault_building import OPEN, PRIVATE, Building

ORIGINAL, COPY = "Diary.md", "Diary (conflicted copy 2026-01-02).md"
TEXT = "quince and medlar stand behind the shed since the spring of the flood\n"


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def building(tmp_path: Path, embedder: HashEmbedder) -> Iterator[Building]:
    building = Building(tmp_path, embedder)
    building.put({ORIGINAL: f"---\nsensitivity: personal\n---\n{TEXT}"})
    building.put({COPY: TEXT})
    with building.open(PRIVATE) as view:
        assert view.notes.paths() == [COPY, ORIGINAL]
    with building.open(OPEN) as view:
        assert view.notes.paths() == []
    embedder.embedded.clear()
    yield building
    building.close()


def test_a_copy_on_its_way_out_gives_its_vector_to_no_open_note(building: Building, embedder: HashEmbedder) -> None:
    building.writer.hide([COPY])
    building.put({"Garden.md": TEXT})
    assert [text for text in embedder.embedded if "Garden" in text]


def test_a_copy_that_was_deleted_gives_its_vector_to_no_open_note(building: Building, embedder: HashEmbedder) -> None:
    building.put({}, gone=[COPY])
    building.put({"Garden.md": TEXT})
    assert [text for text in embedder.embedded if "Garden" in text]


def test_a_copy_that_is_renamed_among_personal_notes_is_embedded_by_nobody_again(
    building: Building, embedder: HashEmbedder
) -> None:
    building.put({}, gone=[COPY])
    building.put({"Private/Shed.md": TEXT})
    assert embedder.embedded == []
