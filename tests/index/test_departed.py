"""Vectors of deleted notes are kept in memory for a while, by their bytes, and nothing of them stays in the file."""

from pathlib import Path

import numpy as np

from fakes import HashEmbedder
from vault_ask.index.writing.departed import Departed
from vault_building import OPEN, PRIVATE, Building

TEXT = "# Trees\nquince and medlar\n\n# Bees\nhoney and wax\n"


def test_note_that_comes_back_under_another_title_finds_its_vectors(building: Building, embedder: HashEmbedder) -> None:
    building.put({"Old.md": TEXT})
    before = building.vectors_of("Old.md")
    embedder.embedded.clear()
    building.put({}, gone=["Old.md"])
    building.put({"Area/New.md": TEXT})
    assert embedder.embedded == []
    assert building.vectors_of("Area/New.md") == before != []


def test_another_note_with_the_same_passage_does_not_profit(building: Building, embedder: HashEmbedder) -> None:
    building.put({"Old.md": TEXT})
    building.put({}, gone=["Old.md"])
    embedder.embedded.clear()
    building.put({"Other.md": TEXT + "and more\n"})
    assert embedder.embedded


def test_note_that_comes_back_personal_has_its_vectors_where_personal_ones_are(
    building: Building, embedder: HashEmbedder
) -> None:
    building.put({"Old.md": TEXT})
    building.put({}, gone=["Old.md"])
    embedder.embedded.clear()
    building.put({"Private/Old.md": TEXT})
    assert embedder.embedded == []
    wanted = np.zeros(64, np.float32)
    wanted[0] = 1
    with building.open(OPEN) as view:
        assert view.vectors.nearest(wanted, 9) == []
    with building.open(PRIVATE) as view:
        assert len(view.vectors.nearest(wanted, 9)) == len(view.chunks.of("Private/Old.md")) > 0


def test_nothing_of_a_deleted_note_stays_in_the_folder(building: Building, tmp_path: Path) -> None:
    building.put({"Canaryname.md": "canaryword here\n", "Else.md": "plain\n"})
    assert b"canaryword" in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    building.put({}, gone=["Canaryname.md"])
    assert b"canaryword" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_number_of_vectors_is_bounded_and_the_oldest_go_first(building: Building, embedder: HashEmbedder) -> None:
    building.writer._notes._departed = Departed(most=2)
    notes = {f"{number}.md": f"passage {number}\n" for number in range(4)}
    building.put(notes)
    for path in notes:
        building.put({}, gone=[path])
    assert building.writer._notes._departed._count == 2
    embedder.embedded.clear()
    building.put({f"back/{path}": text for path, text in notes.items()})
    assert sorted(text.rpartition(" ")[2] for text in embedder.embedded) == ["0", "1"]


def test_same_bytes_deleted_twice_count_once(building: Building) -> None:
    building.put({"a.md": "same\n", "b.md": "same\n"})
    building.put({}, gone=["a.md"])
    building.put({}, gone=["b.md"])
    assert building.writer._notes._departed._count == len(building.writer._notes._departed._notes) == 1


def test_note_without_vectors_leaves_nothing(tmp_path: Path) -> None:
    building = Building(tmp_path / "waiting")
    building.put({"a.md": "text\n"})
    building.writer.delete(["a.md"])
    assert building.writer._notes._departed.find_text(b"x", b"z", 1) is None
    assert building.writer._notes._departed._count == 0
    building.close()
