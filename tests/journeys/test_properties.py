"""What notes say in their properties answers questions, end to end: indexed, found, quoted, cited at its line."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from journeys.houses import OPEN, House, ask, by_words, embedded, found, retrieved
from vault_ask.answering.reading import Lines
from vault_ask.composition.daemon import Daemon
from vault_ask.ingest import ingest as ingest_module

LOG = "---\nstatus: active\nkind: a log of walks, summer and winter\ntags: [log]\n---\n"
NOTES = {
    "Boiler.md": "---\ntags: [home]\ncreated: 2024-02-02\ndue: 2026-12-24\n---\nIt stands in the cellar.\n",
    "Books/The Dispossessed.md": (
        "---\nauthor: Ursula K. Le Guin\nyear: 1974\nrating: 5\nshelf: hall\n---\nA physicist visits the planet.\n"
    ),
    "Books/Good Omens.md": "---\nauthor:\n  - Terry Pratchett\n  - Neil Gaiman\n---\nAn angel and a demon.\n",
    "Projects/Shed.md": "---\nstatus: on-hold\ndueDate: 2026-05-01\n---\nA shed for bikes.\n",
    "Projects/Fence.md": "---\nstatus: on hold\n---\nPaint it green.\n",
    "Projects/Pond.md": "---\nstatus: onHold\n---\nA pond with reeds.\n",
    "Projects/Orchard.md": "---\nstatus: active\n---\nPlant apple trees.\n",
    "Car.md": "# Car\nnextInspection:: 2027-03-01\ngarage:: [[Olsson]]\nIt is blue. [plate:: ABC 123]\n",
    **{f"Log {n}.md": f"{LOG}A walk, number {n}, by the lake.\n" for n in range(20)},
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with House(tmp_path_factory.mktemp("house"), NOTES).daemon() as daemon:
        yield daemon


@pytest.mark.parametrize(
    ("question", "path", "quote", "lines"),
    [
        ("When is the boiler due?", "Boiler.md", "due: 2026-12-24", (4, 4)),
        ("Who is the author of The Dispossessed?", "Books/The Dispossessed.md", "author: Ursula K. Le Guin", (2, 2)),
        ("Good Omens author", "Books/Good Omens.md", "author:\n  - Terry Pratchett\n  - Neil Gaiman", (2, 4)),
        ("What is the due date of the shed?", "Projects/Shed.md", "dueDate: 2026-05-01", (3, 3)),
        ("Which garage has the car?", "Car.md", "garage:: [[Olsson]]", (3, 3)),
        ("What is the plate of the car?", "Car.md", "[plate:: ABC 123]", (4, 4)),
    ],
)
def test_a_property_is_quoted_as_it_stands_and_cited_at_its_lines(
    daemon: Daemon, question: str, path: str, quote: str, lines: tuple[int, int]
) -> None:
    answer = ask(daemon, question)
    cited = {(one.path, one.quote): (one.line_start, one.line_end) for one in answer.citations}
    assert cited.get((path, quote)) == lines


def test_of_properties_that_hold_no_word_of_the_question_one_is_quoted_at_most(daemon: Daemon) -> None:
    quotes = [one.quote for one in ask(daemon, "Who is the author of The Dispossessed?").citations]
    assert "author: Ursula K. Le Guin" in quotes
    assert len({"year: 1974", "rating: 5", "shelf: hall"}.intersection(quotes)) == 1


def test_a_value_is_found_whether_it_is_written_apart_with_a_hyphen_or_in_one(daemon: Daemon) -> None:
    assert set(found(daemon, "which projects are on hold?")[:3]) == {
        "Projects/Shed.md",
        "Projects/Fence.md",
        "Projects/Pond.md",
    }
    assert by_words(daemon, "due date")[0] == "Projects/Shed.md"


def test_notes_with_the_same_properties_are_hits_of_their_own(daemon: Daemon) -> None:
    hits = [hit for hit in retrieved(daemon, "Log status active", k=20).hits if hit.of_properties]
    assert len({hit.path for hit in hits}) > 10
    assert {hit.also for hit in hits} == {()}


def test_what_a_note_is_read_from_holds_its_properties(daemon: Daemon) -> None:
    given = daemon.reading.note("Boiler.md", Lines(4, 4), scope=OPEN)
    assert (given.text, given.line_start) == ("due: 2026-12-24", 4)


def test_an_index_of_before_gets_properties_and_embeds_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = House(tmp_path, NOTES)
    with monkeypatch.context() as before:
        before.setattr(ingest_module, "RECIPE", "5")
        before.setattr("vault_ask.notes.chunker.property_passages", lambda *_, **__: [])
        with house.daemon() as daemon:
            embedded(daemon)
            assert by_words(daemon, "Le Guin") == []
    house.embedder.embedded.clear()
    with house.daemon() as daemon:
        embedded(daemon)
        assert by_words(daemon, "Le Guin") == ["Books/The Dispossessed.md"]
    assert house.embedder.embedded
    assert not any("cellar" in text or "planet" in text for text in house.embedder.embedded)
