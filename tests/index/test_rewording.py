"""The word index is made anew where its terms are another recipe's: once, whole, and with nothing embedded."""

from pathlib import Path

import pytest
import structlog

from vault_ask.index import database, rewording
from vault_ask.index.terms import RECIPE, index_terms
from vault_ask.index.writer import IndexWriter
from vault_building import OPEN, Building, faults

NOTES = {
    "A.md": "The harvest begins\n",
    "Private/P.md": "canaryword\n",
    "Long.md": "a longer note\n\n" + "another paragraph. " * 400,
}


def old_terms(text: str, language: str) -> list[str]:
    """Cut a text as some former version did."""
    return [f"old{term}" for term in index_terms(text, language)]


@pytest.fixture
def stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Build an index as a version with another recipe left it."""
    with monkeypatch.context() as former:
        former.setattr(database, "index_terms", old_terms)
        former.setattr(rewording, "RECIPE", "a former one")
        building = Building(tmp_path)
        building.put(NOTES)
        building.close()
    return tmp_path


def counted(building: Building, word: str) -> int:
    with building.open(OPEN) as view:
        return view.words.document_frequency([word])[word]


def test_an_index_with_former_words_gets_todays_when_it_is_opened_for_writing(stale: Path) -> None:
    building = Building(stale)
    assert (counted(building, "harvest"), counted(building, "oldharvest")) == (1, 0)
    assert building.writer.meta("words") == RECIPE
    assert faults(building.writer) == []
    building.close()


def test_notes_can_be_changed_and_forgotten_afterwards(stale: Path) -> None:
    building = Building(stale)
    building.put({"A.md": "The sowing begins\n"}, gone=["Private/P.md"])
    assert (counted(building, "harvest"), counted(building, "sow"), counted(building, "canaryword")) == (0, 1, 0)
    assert faults(building.writer) == []
    building.close()


def test_it_is_done_once_and_told_without_a_word_of_the_notes(stale: Path) -> None:
    with structlog.testing.capture_logs() as first:
        IndexWriter(Building(stale).files.current).close()
    with structlog.testing.capture_logs() as second:
        IndexWriter(Building(stale).files.current).close()
    assert [line["passages"] for line in first if "passages" in line] == [7]
    assert not any("canaryword" in str(line) or "harvest" in str(line) for line in first)
    assert second == []


def test_a_renewal_that_is_broken_off_is_begun_again(stale: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_text: str, _language: str) -> list[str]:
        raise KeyboardInterrupt

    with monkeypatch.context() as breaking:
        breaking.setattr(database, "index_terms", broken)
        with pytest.raises(KeyboardInterrupt):
            Building(stale)
    building = Building(stale)
    assert counted(building, "harvest") == 1
    assert faults(building.writer) == []
    building.close()
