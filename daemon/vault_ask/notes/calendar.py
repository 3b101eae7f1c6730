"""Spans of days: what a year, a week or a part of one covers, and which part of it a word means.

A span is (first, last), both ordinals of `datetime.date` and inclusive: proleptic Gregorian, years 1 to 9999.
"""

from calendar import monthrange
from datetime import date
from enum import IntEnum

Days = tuple[int, int]

FIRST_YEAR, LAST_YEAR = 1900, 2100
"""Four digits that stand alone are believed to be a year from here to here."""


class Weekday(IntEnum):
    """A day of the week, as `date.weekday()` counts."""

    MONDAY = 0
    TUESDAY = 1
    WEDNESDAY = 2
    THURSDAY = 3
    FRIDAY = 4
    SATURDAY = 5
    SUNDAY = 6


def day_of(year: int, month: int, day: int) -> Days | None:
    """Give one day; None where there is no such day, as the 31st of February or any of the year 0."""
    try:
        ordinal = date(year, month, day).toordinal()
    except ValueError:
        return None
    return ordinal, ordinal


def month_of(year: int, month: int) -> Days | None:
    """Give a month."""
    first = day_of(year, month, 1)
    return (first[0], first[0] + monthrange(year, month)[1] - 1) if first else None


def months_of(year: int, month: int, count: int) -> Days | None:
    """Give several months in a row, which may end in the next year."""
    last_year, last_month = year_and_month(year * 12 + month - 1 + count - 1)
    first, last = month_of(year, month), month_of(last_year, last_month)
    return (first[0], last[1]) if first and last else None


def year_and_month(months: int) -> tuple[int, int]:
    """Part a number of months (twelve a year, January is 0) into year and month."""
    return months // 12, months % 12 + 1


def quarter_of(year: int, quarter: int) -> Days | None:
    """Give a quarter, 1 to 4."""
    return months_of(year, 3 * quarter - 2, 3) if 1 <= quarter <= 4 else None  # noqa: PLR2004 - quarters of a year


def year_of(year: int) -> Days | None:
    """Give a year."""
    return months_of(year, 1, 12)


def iso_week_of(year: int, week: int) -> Days | None:
    """Give a week as ISO 8601 numbers it: Monday to Sunday, week 1 is the one with the first Thursday."""
    try:
        first = date.fromisocalendar(year, week, 1).toordinal()
    except ValueError:
        return None
    return first, min(first + 6, date.max.toordinal())


def week_around(ordinal: int, starts: Weekday = Weekday.MONDAY) -> Days:
    """Give the week that a day is in."""
    first = ordinal - (weekday_of(ordinal) - starts) % 7
    return first, first + 6


def weekday_of(ordinal: int) -> Weekday:
    """Give the day of the week: 1 January of the year 1 was a Monday."""
    return Weekday((ordinal - 1) % 7)


def is_within(part: Days, whole: Days) -> bool:
    """Say whether every day of one span is one of another."""
    return whole[0] <= part[0] and part[1] <= whole[1]


def common_year(days: Days) -> int | None:
    """Give the year that all days are of, if it is one."""
    first, last = date.fromordinal(days[0]).year, date.fromordinal(days[1]).year
    return first if first == last else None


def common_month(days: Days) -> tuple[int, int] | None:
    """Give the (year, month) that all days are of, if it is one."""
    first, last = date.fromordinal(days[0]), date.fromordinal(days[1])
    return (first.year, first.month) if (first.year, first.month) == (last.year, last.month) else None
