"""Case 15: last week is the week before this one where its owner lives, and a note's day is not that of its file."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from cases.small_vaults import OPEN, PRIVATE, ask, indexed
from vault_ask.composition.library import Library

NOTES = {
    "Daily/2026-03-08.md": "Sunday: planted leeks\n",
    "Daily/2026-03-09.md": "Monday: fixed the pump\n",
    "Daily/2026-03-15.md": "Sunday: wrote the grant\n",
    "Daily/2026-03-16.md": "today: nothing yet\n",
    "Log.md": "---\ncreated: 2026-03-11\n---\nmidweek: met the auditor\n",
    "Old.md": "---\ncreated: 2024-01-02\n---\nold stuff\n",
}
NOW = datetime(2026, 3, 15, 23, 30, tzinfo=UTC)
"""A Sunday in UTC, and in Stockholm half an hour into Monday, 16 March."""
LAST_WEEK = {"Daily/2026-03-09.md", "Daily/2026-03-15.md", "Log.md"}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return indexed(tmp_path, NOTES, now=NOW, zone="Europe/Stockholm", changed=NOW.timestamp())


@pytest.mark.parametrize("question", ["What did I do last week?", "Vad gjorde jag förra veckan?"])
def test_last_week_is_read_in_the_owners_zone_and_only_its_notes_are_used(library: Library, question: str) -> None:
    answer = ask(library, question, PRIVATE)
    assert {citation.path for citation in answer.citations} <= LAST_WEEK
    found = library.retrieve(question, scope=PRIVATE)
    assert {hit.path for hit in found.hits[: len(LAST_WEEK)]} == LAST_WEEK
    assert "Old.md" not in {hit.path for hit in found.hits}


def test_the_range_that_was_used_is_told_with_the_answer(library: Library) -> None:
    understood = ask(library, "What did I do last week?", PRIVATE).understood
    assert understood
    assert understood.days
    assert (understood.days.first, understood.days.last) == ("2026-03-09", "2026-03-15")
    assert understood.days.words == "last week"


def test_a_month_does_not_find_a_note_whose_file_alone_is_of_it(library: Library) -> None:
    found = library.retrieve("anything from 2026-03?", scope=OPEN)
    paths = {hit.path for hit in found.hits}
    assert paths >= {"Daily/2026-03-08.md", "Daily/2026-03-16.md", "Log.md"}
    assert "Old.md" not in paths


def test_in_utc_it_would_be_the_week_before(tmp_path: Path) -> None:
    library = indexed(tmp_path, NOTES, now=NOW, zone="UTC", changed=NOW.timestamp())
    found = library.retrieve("What did I do last week?", scope=PRIVATE)
    assert found.hits[0].path == "Daily/2026-03-08.md"
