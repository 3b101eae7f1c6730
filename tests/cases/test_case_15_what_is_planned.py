"""Case 15: the latest is of today or before, whatever is planned; and days are read as the vault writes them."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from cases.small_vaults import OPEN, PRIVATE, indexed

NOW = datetime(2026, 3, 16, 12, tzinfo=UTC)
PUMPS = {
    "a.md": "---\ncreated: 2026-03-20\n---\nThe pump is serviced.\n",
    "b.md": "---\ncreated: 2026-03-14\n---\nThe pump was noisy.\n",
    "c.md": "---\ncreated: 2026-03-01\n---\nThe pump was bought.\n",
}


def found(folder: Path, notes: dict[str, str], question: str, scope: object = OPEN) -> list[str]:
    library = indexed(folder, notes, now=NOW, zone="UTC", personal_paths=["Private/"])
    paths = [hit.path for hit in library.retrieve(question, scope=scope).hits]
    library.close()
    return paths


@pytest.mark.parametrize("question", ["my latest note", "recently", "lately", "what did I write recently?"])
def test_a_list_of_the_latest_ends_today_and_what_is_planned_is_behind(tmp_path: Path, question: str) -> None:
    assert found(tmp_path, PUMPS, question) == ["b.md", "c.md", "a.md"]


@pytest.mark.parametrize("question", ["the latest about the pump", "what did I note about the pump lately?"])
def test_the_latest_on_a_subject_is_no_plan(tmp_path: Path, question: str) -> None:
    paths = found(tmp_path, PUMPS, question)
    assert paths[0] == "b.md"
    assert "a.md" in paths


def test_the_first_is_the_first_and_the_next_is_ahead(tmp_path: Path) -> None:
    assert found(tmp_path, PUMPS, "my first note")[0] == "c.md"
    assert found(tmp_path / "next", PUMPS, "what is on next Friday?")[0] == "a.md"
    week = {**PUMPS, "e.md": "---\ncreated: 2026-03-16\n---\nThe pump is quiet.\n"}
    assert found(tmp_path / "named", week, "latest note of this week")[:2] == ["a.md", "e.md"]


def test_where_all_is_planned_the_last_of_it_is_the_latest(tmp_path: Path) -> None:
    plans = {"a.md": PUMPS["a.md"], "d.md": "---\ncreated: 2026-04-20\n---\nThe pump is replaced.\n"}
    assert found(tmp_path, plans, "my latest note") == ["d.md", "a.md"]


ORDERED = {
    "17-12-2025.md": "leeks\n",
    "05-12-2025.md": "beans\n",
    "12-05-2025.md": "peas\n",
}


def test_a_question_writes_days_as_the_vault_does(tmp_path: Path) -> None:
    library = indexed(tmp_path, ORDERED, now=NOW, zone="UTC")
    retrieved = library.retrieve("what did I write on 05-12-2025?", scope=OPEN)
    library.close()
    assert [hit.path for hit in retrieved.hits] == ["05-12-2025.md"]
    assert retrieved.understood
    assert retrieved.understood.days == (date(2025, 12, 5).toordinal(),) * 2


def test_what_a_hidden_note_makes_clear_of_days_is_clear_to_nobody(tmp_path: Path) -> None:
    hidden = {"Private/17-12-2025.md": "leeks\n", **{path: text for path, text in ORDERED.items() if path[0] != "1"}}
    library = indexed(tmp_path, hidden, now=NOW, zone="UTC", personal_paths=["Private/"])
    for scope in (OPEN, PRIVATE):
        retrieved = library.retrieve("what did I write on 05-12-2025? and on 17-12-2025?", scope=scope)
        assert retrieved.understood
        assert retrieved.understood.days_words == "on 17-12-2025"
    library.close()
