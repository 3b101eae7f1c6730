"""Which quote comes first where a question asks what was then: one of then, before another with the words for it."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from cases.small_vaults import ask, indexed
from vault_ask.retrieval.hits import Understanding

NOW = datetime(2026, 5, 22, 12, tzinfo=UTC)
NOTES = {
    "journal/2026-05-01.md": "Rode to Worpswede and back.\n",
    "journal/2026-05-07.md": "What we did is what the first of May is for, we said.\n",
    "journal/2026-03-02.md": "The ferry to Anholt was slow, we said of it.\n",
    "journal/2026-04-09.md": "The ferry to Anholt was quick, Bo said of it.\n",
}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What did we do on the first of May?", "Rode to Worpswede and back."),
        ("When did we first take the ferry to Anholt?", "The ferry to Anholt was slow, we said of it."),
        ("When did we last take the ferry to Anholt?", "The ferry to Anholt was quick, Bo said of it."),
    ],
)
def test_what_is_of_the_time_that_is_asked_for_is_quoted_first(tmp_path: Path, question: str, first: str) -> None:
    library = indexed(tmp_path, NOTES, now=NOW, zone="UTC")
    answer = ask(library, question)
    library.close()
    assert answer.citations[0].quote == first


@pytest.mark.parametrize(
    ("last", "is_near"), [(date(2026, 3, 1), True), (date(2026, 5, 31), True), (date(2026, 12, 31), False)]
)
def test_a_year_is_as_often_what_a_fact_is_of(last: date, *, is_near: bool) -> None:
    days = (date(2026, 3, 1).toordinal(), last.toordinal())
    assert Understanding(text="what was then?", days=days).is_of_a_time is is_near
    assert Understanding(text="what was last?", days=days, order="latest").is_of_a_time
    assert not Understanding(text="how often?", order="often").is_of_a_time
