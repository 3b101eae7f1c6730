"""What a question's words may be (with marks, in parts, helpers of their language) rests on what is in sight alone."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from vault_ask.retrieval.words import Words, read_words
from vault_building import OPEN, PRIVATE, Building

NOTES = {
    "Open/father.md": "Min far byggde huset av timmer och trä",
    "Open/lease.md": "Ett avtal om huset skrevs i april",
    "Open/river.md": "Den stora floden rinner genom dalen",
}
PERSONAL = {
    "Private/sheep.md": "Vi har tre får på ängen",
    "Private/rent.md": "Hyran höjs i juni och hyror är dyra",
    **{f"Private/more{n}.md": "Det är som det är och var finns den" for n in range(60)},
}
QUESTIONS = ["Har vi några får?", "hyresavtal", "flodresan", "Var är den stora floden?", "bostadsavtal"]


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    building = Building(tmp_path, language="sv")
    building.put(NOTES)
    yield building
    building.close()


def read(building: Building, question: str) -> tuple[Words, str, dict[str, str]]:
    with building.open(OPEN) as view:
        words = read_words(question, view, "sv")
    return words, words.query, words.queries


@pytest.mark.parametrize("question", QUESTIONS)
def test_words_are_read_as_if_hidden_notes_did_not_exist(building: Building, question: str) -> None:
    before = read(building, question)
    building.put(PERSONAL)
    assert read(building, question) == before
    with building.open(PRIVATE) as view:
        assert read_words(question, view, "sv") != before[0]


def test_a_hidden_word_with_marks_does_not_hide_an_open_one_without(building: Building) -> None:
    def found() -> list[str]:
        with building.open(OPEN) as view:
            return [hit.path for hit in building.retriever().retrieve(view, "får", arm="text").hits]

    assert found() == ["Open/father.md"]
    building.put(PERSONAL)
    assert found() == ["Open/father.md"]
    with building.open(PRIVATE) as view:
        hits = building.retriever().retrieve(view, "får", arm="text").hits
    assert [hit.path for hit in hits] == ["Private/sheep.md"]
