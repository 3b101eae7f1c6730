"""A note's days come from its name, its properties, its folders and its headings, never from what merely looks so."""

from collections.abc import Mapping
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_ask.notes.calendar import day_of, iso_week_of, month_of, months_of, quarter_of, week_around, year_of
from vault_ask.notes.days import Dating, heading_days, note_days, orders_told
from vault_ask.notes.model import FrontmatterState, Note
from vault_ask.notes.parse import parse
from vault_ask.notes.sensitivity import Rules
from vault_ask.notes.written_dates import numeric_dates, read_date, read_part
from vault_ask.scope import Sensitivity

STOCKHOLM = Dating(zone=ZoneInfo("Europe/Stockholm"))
RULES = Rules.compile((), "sensitivity")


def a_note(path: str, frontmatter: Mapping[str, object] | None = None, *, lines: tuple[str, ...] = ()) -> Note:
    state = FrontmatterState.READ if frontmatter else FrontmatterState.NONE
    return Note(
        path=path,
        title="",
        lines=lines,
        body_line=1,
        sensitivity=Sensitivity.OPEN,
        frontmatter=frontmatter or {},
        frontmatter_state=state,
    )


def told(path: str, frontmatter: Mapping[str, object] | None = None, dating: Dating = STOCKHOLM) -> str | None:
    """The days of a note, as `first` or `first..last`."""
    return shown(note_days(a_note(path, frontmatter), dating))


def shown(days: tuple[int, int] | None) -> str | None:
    if days is None:
        return None
    first, last = (date.fromordinal(day).isoformat() for day in days)
    return first if first == last else f"{first}..{last}"


@pytest.mark.parametrize(
    ("path", "days"),
    [
        ("2026-03-08.md", "2026-03-08"),
        ("Daily/20260308.md", "2026-03-08"),
        ("2026_03_08.md", "2026-03-08"),
        ("2026.03.08.md", "2026-03-08"),
        ("08.03.2026.md", "2026-03-08"),
        ("2026–03–08 walk.md", "2026-03-08"),
        ("2026-03-08–2026-03-12 trip.md", "2026-03-08..2026-03-12"),
        ("2026. 03. 08. terv.md", "2026-03-08"),
        ("2026. 3. 8.md", "2026-03-08"),
        ("25-08-2026.md", "2026-08-25"),
        ("Monday, 1 March 2026.md", "2026-03-01"),
        ("March 8th, 2026.md", "2026-03-08"),
        ("8. März 2026.md", "2026-03-08"),
        ("8 de marzo de 2026.md", "2026-03-08"),
        ("8. maaliskuuta 2026.md", "2026-03-08"),
        ("8 Mart 2026 Pazar.md", "2026-03-08"),
        ("1 марта 2026 г..md", "2026-03-01"),
        ("8 मार्च 2026.md", "2026-03-08"),
        ("٨ مارس ٢٠٢٦.md", "2026-03-08"),
        ("２０２６-０３-０８.md", "2026-03-08"),
        ("2026年3月8日.md", "2026-03-08"),
        ("2026년 3월 8일.md", "2026-03-08"),
        ("2026. március 8.md", "2026-03-08"),
        ("2026-03-08 Call with Bo.md", "2026-03-08"),
        ("Call with Bo 2026-03-08.md", "2026-03-08"),
        ("202603081530 zettel.md", "2026-03-08"),
        ("2026-03-08T10.30.md", "2026-03-08"),
        ("2026-03-08 to 2026-03-12 Rome.md", "2026-03-08..2026-03-12"),
        ("2026-W10.md", "2026-03-02..2026-03-08"),
        ("Week 10 2026.md", "2026-03-02..2026-03-08"),
        ("2026-03.md", "2026-03-01..2026-03-31"),
        ("2026-03 March.md", "2026-03-01..2026-03-31"),
        ("Budget 2026-03.md", "2026-03-01..2026-03-31"),
        ("March 2026.md", "2026-03-01..2026-03-31"),
        ("2026-Q1.md", "2026-01-01..2026-03-31"),
        ("2026.md", "2026-01-01..2026-12-31"),
    ],
)
def test_a_name_that_is_a_date_tells_the_days(path: str, days: str) -> None:
    assert told(path) == days


@pytest.mark.parametrize(
    ("path", "days"),
    [
        ("Daily/2026/03/08.md", "2026-03-08"),
        ("Journal/2026-03/08 Sunday.md", "2026-03-08"),
        ("Journal/2026/03-March/8th.md", "2026-03-08"),
        ("Journal/2026/March/8.md", "2026-03-08"),
        ("Journal/2026/03-08.md", "2026-03-08"),
        ("Journal/2026/W10.md", "2026-03-02..2026-03-08"),
        ("Journal/2026/W10/Tuesday.md", "2026-03-03"),
        ("Journal/2026/Q1.md", "2026-01-01..2026-03-31"),
        ("Journal/2026/03/Plans.md", "2026-03-01..2026-03-31"),
        ("Projects/2026/Tax.md", "2026-01-01..2026-12-31"),
    ],
)
def test_folders_tell_what_the_name_leaves_out(path: str, days: str) -> None:
    assert told(path) == days


@pytest.mark.parametrize(
    "path",
    [
        "2026-02-31.md", "0000-01-01.md", "2026-13-01.md", "2026-W60.md", "Report of 2026 in short.md", "12345678.md",
        "Python 3.12.md", "v2026.3.1.md", "HA 2026.3.1. out.md", "v2026. 3 things.md",
        "CVE-2026-1234.md", "ISO 8601-2019.md", "C 2014 Q2 (Lovejoy).md", "Rent.md",
        "03-08-2026.md", "555-1234-2026.md", "Top 10.md", "Area 51/8.md",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_date_tells_nothing(path: str) -> None:
    assert told(path) is None
    assert told(f"2026-03-08 {path}") == "2026-03-08", "the day in front of it is told all the same"


def test_the_date_of_a_conflict_is_not_the_days_of_the_note() -> None:
    assert told("Insurance.sync-conflict-20261101-030405-ABC.md") is None
    assert told("Kitchen renovation (conflicted copy 2026-11-20).md") is None
    assert told("Kitchen renovation (conflicted copy 2026-11-20).md", {"date": "2026-03-08"}) == "2026-03-08"
    assert told("Daily/2026-03-08 (conflicted copy 2026-11-20).md") == "2026-03-08"
    assert told("8 Kasım 2026.sync-conflict-20261101-030405-ABC.md") == "2026-11-08"
    assert told("2026-03 (conflict)/08.md") == "2026-03-08"
    link = {"date": "[[Daily/2026-03-08 (conflicted copy 2026-11-20)]]"}
    assert told("Kitchen.md", link) == "2026-03-08"
    assert orders_told("25-08-2026 (conflict).md", {}, STOCKHOLM) == {"day-first"}
    assert orders_told("Kitchen (conflicted copy 25-08-2026).md", {}, STOCKHOLM) == set()
    assert orders_told("Trip.md", {"date": ["25/08/2026", "26/08/2026"]}, STOCKHOLM) == {"day-first"}


def test_day_and_month_are_not_guessed_but_where_the_vaults_order_is_known() -> None:
    assert told("03-08-2026.md") is None
    assert told("03-08-2026.md", dating=Dating(order="day-first")) == "2026-08-03"
    assert told("03-08-2026.md", dating=Dating(order="month-first")) == "2026-03-08"
    assert told("08-25-2026.md", dating=Dating(order="day-first")) == "2026-08-25"


@pytest.mark.parametrize(
    ("value", "days"),
    [
        ("2026-03-08", "2026-03-08"),
        ("2026-03-15T23:30:00Z", "2026-03-16"),
        ("2026-03-15T23:30:00.000-05:00", "2026-03-16"),
        ("2026-03-15 23:30", "2026-03-15"),
        ("[[2026-03-08]]", "2026-03-08"),
        ("2026.3.8.", "2026-03-08"),
        ("[[Daily/2026/03/08|Sunday]]", "2026-03-08"),
        ("Sunday, March 8th 2026", "2026-03-08"),
        ("8 mars 2026", "2026-03-08"),
        (20260308, "2026-03-08"),
        (1773012600000, "2026-03-09"),
        (1773012600, "2026-03-09"),
        (2026, "2026-01-01..2026-12-31"),
        (["2026-03-08", "2026-03-12"], "2026-03-08..2026-03-12"),
    ],
)
def test_properties_tell_days_in_every_form_they_are_written_in(value: object, days: str) -> None:
    assert told("Rent.md", {"created": value}) == days


@pytest.mark.parametrize("value", ["31.02.2026", "08/03/2026", "today", True, 12, 3.5, None, {}, [], "", 10**12 * 9999])
def test_a_value_that_is_no_date_leaves_the_next_property_to_tell(value: object) -> None:
    assert told("Rent.md", {"date": value, "created": "2026-03-08"}) == "2026-03-08"


@pytest.mark.parametrize(
    "key", ["created_at", "Created At", "createdAt", "Datum", "erstellt", "tarih", "作成日", "التاريخ"]
)
def test_properties_are_known_in_many_spellings_and_languages(key: str) -> None:
    assert told("Rent.md", {key: "2026-03-08"}) == "2026-03-08"


def test_a_property_that_tells_of_something_else_is_none() -> None:
    assert told("Rent.md", {"due": "2026-03-08", "modified": "2026-03-09"}) is None
    assert told("Rent.md", {"due": "2026-03-08"}, Dating(properties=("due",))) == "2026-03-08"


def test_a_name_that_is_a_day_wins_over_properties_and_they_over_folders_alone() -> None:
    assert told("Daily/2026-03-08.md", {"created": "2026-03-09"}) == "2026-03-08"
    assert told("Daily/2026/03/08.md", {"created": "2026-03-09"}) == "2026-03-08"
    assert told("Archive/2024/Rent.md", {"created": "2026-03-09"}) == "2026-03-09"
    assert told("Rent.md", {"created": "2026-03-09", "date": "2026-03-08"}) == "2026-03-08", "date comes before created"


def test_the_days_are_read_from_a_whole_note_and_its_inline_fields() -> None:
    bare = parse("Rent.md", b"# Rent\n\nIt says 2026-03-07 here.\n\n- **date**:: 2026-03-08\n", RULES)
    assert shown(note_days(bare, STOCKHOLM)) == "2026-03-08"
    shown_in_code = parse("Rent.md", b"```\ndate:: 2026-03-08\n```\n\ndate:: 2026-03-07\n", RULES)
    assert shown(note_days(shown_in_code, STOCKHOLM)) == "2026-03-07"
    unclosed = parse("Rent.md", b"---\ndate: 2026-03-08\n\n# Rent\n", RULES)
    assert note_days(unclosed, STOCKHOLM) is None, "a block that is never closed is text"


MARCH, WEEK, YEAR, DAY = month_of(2026, 3), iso_week_of(2026, 10), year_of(2026), day_of(2026, 3, 1)


@pytest.mark.parametrize(
    ("headings", "note", "days"),
    [
        (["2026-03-08"], None, "2026-03-08"),
        (["Log", "2026-03-08 – call with Bo"], DAY, "2026-03-08"),
        (["2026-03-08", "Morning"], None, "2026-03-08"),
        (["Tuesday 10 March"], YEAR, "2026-03-10"),
        (["10 March"], DAY, "2026-03-10"),
        (["10.3."], YEAR, "2026-03-10"),
        (["March", "8"], YEAR, "2026-03-08"),
        (["Sunday 8"], MARCH, "2026-03-08"),
        (["Tuesday"], WEEK, "2026-03-03"),
        (["[1.2.0] - 2026-03-08"], None, "2026-03-08"),
        (["Samstag, 7. März"], YEAR, "2026-03-07"),
    ],
)
def test_a_heading_that_is_a_date_tells_the_days_below_it(
    headings: list[str], note: tuple[int, int] | None, days: str
) -> None:
    assert shown(heading_days(headings, note, STOCKHOLM)) == days


@pytest.mark.parametrize(
    "heading", ["09:30", "9.30", "3", "1. Goals", "May we?", "Part 3", "3/10", "10-12", "Summary", "31 February", ""]
)
def test_a_heading_of_another_kind_leaves_the_notes_days(heading: str) -> None:
    assert heading_days([heading], YEAR, STOCKHOLM) == YEAR
    assert heading_days([heading], None, STOCKHOLM) is None


def test_a_heading_that_only_speaks_of_a_day_is_not_of_it() -> None:
    heading = "What we decided together after the meeting on 2026-03-08"
    assert heading_days([heading], MARCH, STOCKHOLM) == MARCH


@given(st.dates())
def test_every_day_is_read_back_from_the_ways_to_write_it(day: date) -> None:
    only = (day.toordinal(), day.toordinal())
    assert read_date(f"{day:%Y-%m-%d}".rjust(10, "0")) == only
    assert read_date(f"note of {day.isoformat()} on it") == only
    assert numeric_dates(f"on {day.isoformat()}?") == [(3, 13, only)]


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)))
def test_a_part_is_never_outside_the_span_it_is_a_part_of(day: date) -> None:
    month, week, year = month_of(day.year, day.month), week_around(day.toordinal()), year_of(day.year)
    assert month
    assert year
    only = (day.toordinal(), day.toordinal())
    assert read_part(str(day.day), month) == only
    assert read_part(f"{day.day} {day:%B}", year) in {only, month}
    assert read_part(f"{day:%A}", week) == only
    other = day + timedelta(days=400)
    assert read_part(f"{other.day} {other:%B}", month) in {None, only} or other.month == day.month


def test_prose_that_has_a_date_far_in_it_is_none() -> None:
    assert read_date("word " * 20 + "2026-03-08") is not None
    assert read_date("word " * 200 + "2026-03-08") is None


def test_spans_are_whole_and_in_order() -> None:
    assert shown(quarter_of(2026, 4)) == "2026-10-01..2026-12-31"
    assert shown(months_of(2025, 12, 3)) == "2025-12-01..2026-02-28"
    assert shown(year_of(9999)) == "9999-01-01..9999-12-31"
    assert (quarter_of(2026, 5), year_of(0), month_of(2026, 13), day_of(2026, 2, 29)) == (None, None, None, None)


@given(st.text(max_size=60), st.lists(st.text(max_size=20), max_size=3))
def test_no_text_breaks_the_reading(name: str, headings: list[str]) -> None:
    path = name.replace("/", " ") or "x"
    days = note_days(a_note(f"{path}.md", {"date": name, "created": [name]}), STOCKHOLM)
    assert days is None or days[0] <= days[1]
    heading_days(headings, days or YEAR, STOCKHOLM)
