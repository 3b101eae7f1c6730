"""Dates in numbers among other words: each once, in order, however many there are."""

from datetime import date

import pytest

from vault_ask.notes.written_dates import numeric_dates


def test_what_two_forms_could_read_is_one_date_and_the_first_forms() -> None:
    text = "2026-Q1 2025"
    assert [(text[start:end], date.fromordinal(days[0])) for start, end, days in numeric_dates(text)] == [
        ("2026-Q1", date(2026, 1, 1))
    ]


def test_dates_come_in_the_order_of_their_places_whatever_their_forms() -> None:
    text = "W10 2026, 2026-03-08, 2025年4月, 08.03.2026, 2026-03"
    found = [text[start:end] for start, end, _ in numeric_dates(text)]
    assert found == ["W10 2026", "2026-03-08", "2025年4月", "08.03.2026", "2026-03"]


@pytest.mark.parametrize("written", ["2026-03-08 ", "8.3.2026 ", "2026-03 "])
def test_a_text_of_nothing_but_dates_is_read_once(written: str) -> None:
    assert len(numeric_dates(written * 5_000)) == 5_000


def test_a_month_may_stand_before_a_script_without_spaces_and_in_no_other_word() -> None:
    assert [end - start for start, end, _ in numeric_dates("2026-03的笔记")] == [7]
    assert numeric_dates("2026-03rd") == []
    assert numeric_dates("2026-03-x") == []
