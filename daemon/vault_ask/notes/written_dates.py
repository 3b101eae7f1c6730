"""Dates as people write them in the names of notes, in headings and in properties; text in, spans of days out.

A date that cannot be is none, and one that may mean two days is none either unless an order of day and month is given.
Digits may be of any script.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import regex

from vault_ask.notes.calendar import (
    FIRST_YEAR,
    LAST_YEAR,
    Days,
    common_month,
    common_year,
    day_of,
    is_within,
    iso_week_of,
    month_of,
    quarter_of,
    weekday_of,
    year_of,
)
from vault_ask.notes.date_names import all_names
from vault_ask.notes.fold import fold

DayOrder = Literal["day-first", "month-first"]
"""How 03/08/2026 is read: the 3rd of August, or March the 8th."""

_Match = Any  # regex types its matches, and mypy takes no generic alias of them
_Reading = Callable[[_Match, DayOrder | None], Days | None]

_LONGEST = 400
"""Characters of a text that is a date, or has one in it, at most: beyond it is prose."""
_FOUR_DIGITS = regex.compile(r"\d{4}")
_FIRST_MONTHS = 12
_YEAR = r"(?:19|20)\d\d"
_WEEK_WORDS = r"(?:W|KW|CW|Wk|Week|Woche|Vecka|Uke|Uge|Semaine|Semana|Settimana|Hafta|неделя|tydzień|viikko)"
# Of a name: its letters, and what a language puts between a day and a month ("8 de marzo", "8th of March").
_NAME = r"(?P<name>[^\W\d_][^\W\d_]{2,})\.?"
_OF = r"(?:(?:of|de|del|di|da|d|of the)(?:['’]|\s+))?"
_TIME = r"(?:[T_ ][0-2]\d:[0-5]\d(?::[0-5]\d)?)?"
# Of a word that goes on: Chinese, Japanese and Korean write the next one without a space.
_LETTER = r"[^\W\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
_GAP = r"[\s,\-_]+"
_DASHES = r"\u2010-\u2015\u2212"


def _iso(found: _Match, _order: DayOrder | None) -> Days | None:
    return day_of(int(found[1]), int(found[3]), int(found[4]))


def _compact(found: _Match, _order: DayOrder | None) -> Days | None:
    return day_of(int(found[1]), int(found[2]), int(found[3]))


def _dotted(found: _Match, _order: DayOrder | None) -> Days | None:
    return day_of(int(found[3]), int(found[2]), int(found[1]))


def _slashed(found: _Match, order: DayOrder | None) -> Days | None:
    first, second, year = int(found[1]), int(found[3]), int(found[4])
    if first > _FIRST_MONTHS or (second <= _FIRST_MONTHS and order == "day-first"):
        return day_of(year, second, first)
    if second > _FIRST_MONTHS or order == "month-first" or first == second:
        return day_of(year, first, second)
    return None


def _east_asian(found: _Match, _order: DayOrder | None) -> Days | None:
    year, month = int(found[1]), found[2]
    if month is None:
        return year_of(year)
    return day_of(year, int(month), int(found[3])) if found[3] else month_of(year, int(month))


def _week(found: _Match, _order: DayOrder | None) -> Days | None:
    return iso_week_of(int(found["year"]), int(found["week"]))


def _quarter(found: _Match, _order: DayOrder | None) -> Days | None:
    return quarter_of(int(found["year"]), int(found["quarter"]))


def _month(found: _Match, _order: DayOrder | None) -> Days | None:
    return month_of(int(found[1]), int(found[2]))


def _named_day(found: _Match, _order: DayOrder | None) -> Days | None:
    month = month_called(found["name"])
    return day_of(int(found["year"]), month, int(found["day"])) if month else None


def _named_month(found: _Match, _order: DayOrder | None) -> Days | None:
    month = month_called(found["name"])
    return month_of(int(found["year"]), month) if month else None


def _pattern(text: str) -> regex.Pattern[str]:
    return regex.compile(text, regex.IGNORECASE)


_SLASHED = _pattern(r"(?<!\d)(?<!\d[-/_ ])(\d{1,2})([-/_ ])(\d{1,2})\2(\d{4})(?!\d)(?!\2\d)")
_DAY_FORMS: tuple[tuple[regex.Pattern[str], _Reading], ...] = (
    (_pattern(rf"(?<!\d)(?<!\d[-./])(\d{{4}})([-/_ {_DASHES}])(\d{{1,2}})\2(\d{{1,2}}){_TIME}(?!\d)(?!\2\d)"), _iso),
    # With dots in full only: 2026.3.1 is the number of a version.
    (_pattern(r"(?<!\d)(?<!\d[-./])(\d{4})(\.)(\d\d)\.(\d\d)(?!\d)(?!\.\d)"), _iso),
    # As Hungarians and Koreans write it: 2026. 3. 8. or, where nothing else stands there, 2026.3.8. with the last dot.
    (_pattern(r"(?<!\d)(?<!\d[-./])(\d{4})(\.) (\d{1,2})\. (\d{1,2})(?!\d)(?!\.\d)"), _iso),
    (_pattern(r"^\s*(\d{4})(\.)(\d{1,2})\.(\d{1,2})\.\s*$"), _iso),
    # Also the beginning of a name that is a point in time: 202603081530.
    (_pattern(rf"(?<!\d)({_YEAR})(0[1-9]|1[0-2])([0-3]\d)(?:[T_ -]?[0-2]\d:?[0-5]\d(?::?[0-5]\d)?)?(?!\d)"), _compact),
    (_pattern(r"(?<!\d)(?<!\d\.)(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)(?!\.\d)"), _dotted),
    (_SLASHED, _slashed),
    (_pattern(r"(?<!\d)(\d{4})\s*[年년]\s*(?:(\d{1,2})\s*[月월]\s*(?:(\d{1,2})\s*[日号號일])?)?"), _east_asian),
    (_pattern(rf"(?<!\d)(?P<day>\d{{1,2}})[^\W\d_]{{0,2}}[.º]?{_GAP}{_OF}{_NAME}{_GAP}{_OF}(?P<year>\d{{4}})(?!\d)"),
     _named_day),
    (_pattern(rf"(?<!\w){_NAME}{_GAP}(?P<day>\d{{1,2}})(?:[^\W\d_]{{2}}|\.)?{_GAP}(?P<year>\d{{4}})(?!\d)"),
     _named_day),
    (_pattern(rf"(?<!\d)(?P<year>\d{{4}})\.?{_GAP}{_NAME}{_GAP}(?P<day>\d{{1,2}})(?!\d)"), _named_day),
)  # fmt: skip

_LONGER_FORMS: tuple[tuple[regex.Pattern[str], _Reading], ...] = (
    (_pattern(rf"(?<!\d)(?P<year>{_YEAR})[-_. ]{{0,3}}{_WEEK_WORDS}[-_. ]?(?P<week>\d{{1,2}})(?!\d)"), _week),
    (_pattern(rf"(?<!\w){_WEEK_WORDS}[-_. ]?(?P<week>\d{{1,2}})[-_,. ]+(?P<year>{_YEAR})(?!\d)"), _week),
    (_pattern(rf"(?:(?<!\d)(?P<year>{_YEAR})[-_.]?|^(?P<year>{_YEAR}) )Q(?P<quarter>[1-4])(?!\w)"), _quarter),
    (_pattern(rf"(?<!\w)Q(?P<quarter>[1-4])[-_. ]+(?P<year>{_YEAR})(?!\d)"), _quarter),
    # Only at the edge of a name: in the middle it is as likely a number of something else.
    (_pattern(rf"^({_YEAR})-(0[1-9]|1[0-2])(?![-.\w])"), _month),
    (_pattern(rf"(?<![-./\w])({_YEAR})-(0[1-9]|1[0-2])$"), _month),
    (_pattern(rf"(?<!\w){_NAME}{_GAP}{_OF}(?P<year>{_YEAR})(?!\d)(?![-/]\d)"), _named_month),
    (_pattern(rf"(?<!\d)(?<!\d[-/])(?P<year>{_YEAR})\.?{_GAP}{_NAME}(?!\w)"), _named_month),
)


_NUMERIC_FORMS = (
    *(form for form in _DAY_FORMS if form[1] is not _named_day),
    *(form for form in _LONGER_FORMS if form[1] in {_week, _quarter}),
    (_pattern(rf"(?<![-./\w])({_YEAR})-(0[1-9]|1[0-2])(?![-./]?{_LETTER})"), _month),
)


def read_date(text: str, *, order: DayOrder | None = None) -> Days | None:
    """Find the date that a name, a heading or a value tells, whole in itself.

    Of two days both: a trip from one to the other. A year only where it is the whole text.
    """
    text = text[:_LONGEST]
    if not _FOUR_DIGITS.search(text):
        return None
    days = [found for found in _read(text, _DAY_FORMS, order) if found]
    if days:
        last = days[-1] if days[-1][1] >= days[0][0] else days[0]
        return days[0][0], max(days[0][1], last[1])
    longer = next((found for found in _read(text, _LONGER_FORMS, order) if found), None)
    return longer or _whole_year(text)


def orders_in(text: str) -> set[DayOrder | None]:
    """Tell which order of day and month the dates in a text make clear; None among them for one that may mean both."""
    found: set[DayOrder | None] = set()
    for match in _SLASHED.finditer(text):
        first, second = int(match[1]), int(match[3])
        if first != second and min(first, second) in range(1, _FIRST_MONTHS + 1):
            found.add("day-first" if first > _FIRST_MONTHS else "month-first" if second > _FIRST_MONTHS else None)
    return found


def numeric_dates(text: str, *, order: DayOrder | None = None) -> list[tuple[int, int, Days]]:
    """Find the dates that a text tells in numbers, as (start, end, days), in order of their places."""
    if not _FOUR_DIGITS.search(text):
        return []
    found: list[tuple[int, int, Days]] = []
    for pattern, reading in _NUMERIC_FORMS:
        for match in pattern.finditer(text):
            days = reading(match, order)
            if days and _is_free(found, match.start(), match.end()):
                insort(found, (match.start(), match.end(), days))
    return found


def _is_free(taken: Sequence[tuple[int, int, Days]], start: int, end: int) -> bool:
    """Say whether a span lies between those of a list in order, which do not overlap."""
    at = bisect_left(taken, (start,))
    return (at == 0 or taken[at - 1][1] <= start) and (at == len(taken) or end <= taken[at][0])


def _read(
    text: str, forms: Sequence[tuple[regex.Pattern[str], _Reading]], order: DayOrder | None
) -> Iterator[Days | None]:
    """Read every form that stands in a text, in its order; the first form that finds something is the vault's."""
    for pattern, reading in forms:
        if readings := [reading(found, order) for found in pattern.finditer(text)]:
            yield from readings
            if any(readings):
                return


def _whole_year(text: str) -> Days | None:
    bare = text.strip()
    # Four letters of a number may be fewer digits in other scripts' punctuation; int() takes any digits.
    is_year = len(bare) == 4 and bare.isdecimal() and FIRST_YEAR <= int(bare) <= LAST_YEAR  # noqa: PLR2004 - digits
    return year_of(int(bare)) if is_year else None


_WORDS = regex.compile(r"\p{L}[\p{L}\p{M}]*|\p{N}+")
_LITTLE_WORDS = frozenset(
    {
        *("st", "nd", "rd", "th", "er", "re", "e", "ste", "a", "o", "го", "日", "号", "일"),
        *("the", "of", "de", "den", "der", "le", "el", "il", "d", "día", "dia", "day", "am", "q"),
    }
)
"""What stands beside the number of a day, and tells nothing."""
_WEEK = regex.compile(_WEEK_WORDS, regex.IGNORECASE)
_QUARTER = regex.compile(r"Q[1-4]", regex.IGNORECASE)


def read_part(text: str, within: Days, *, in_path: bool = False) -> Days | None:
    """Find the part of a known span that a name or a heading tells where it tells nothing else.

    `08`, `8th` or `Sunday 8` in a month, `Tuesday 10 March` or `10.3.` in a year, `W10`, `Q1` or `March` in a year,
    `Tuesday` in a week; in a path also `03` and `03-10` in a year, which as headings may be numbers of anything. None
    where the words tell anything else, or a day outside the span.
    """
    told = _told_in(text) if len(text) <= _LONGEST else None
    found = _part(told, within, in_path=in_path) if told else None
    return found if found and is_within(found, within) else None


def is_only_a_date(text: str) -> bool:
    """Say whether a text with a number in it is (a part of) a date and says nothing else: `Monday, 8 March 2026`."""
    told = _told_in(text) if len(text) <= _LONGEST else None
    return told is not None and bool(told.numbers)


@dataclass(slots=True)
class _Told:
    """The words of a text that is nothing but (a part of) a date; numbers as they are written."""

    text: str
    numbers: list[str] = field(default_factory=list)
    months: list[int] = field(default_factory=list)
    weekdays: list[int] = field(default_factory=list)
    is_week: bool = False


def _told_in(text: str) -> _Told | None:
    told = _Told(text)
    for word in _WORDS.findall(fold(text)):
        if word.isdecimal():
            told.numbers.append(word)
        elif month := month_called(word):
            told.months.append(month)
        elif (weekday := all_names().weekdays.get(word)) is not None:
            told.weekdays.append(weekday)
        elif _WEEK.fullmatch(word):
            told.is_week = True
        elif word not in _LITTLE_WORDS:
            return None
    return told


def _part(told: _Told, within: Days, *, in_path: bool) -> Days | None:  # noqa: C901, PLR0911 - a form a line
    year, month = common_year(within), common_month(within)
    numbers = [int(number) for number in told.numbers if len(number) <= 2]  # noqa: PLR2004 - digits of a day
    if len(numbers) < len(told.numbers):
        return None
    match numbers, told.months:
        case [number], [] if year and told.is_week:
            return iso_week_of(year, number)
        case [number], [] if year and _QUARTER.fullmatch(told.text.strip()):
            return quarter_of(year, number)
        case [day], [] if month and within == month_of(*month):
            return day_of(*month, day)
        case [number], [] if year and in_path and not told.weekdays and within == year_of(year):
            return month_of(year, number) if number <= _FIRST_MONTHS else None
        case [first, second], [] if year and told.text.rstrip().endswith(".") and ":" not in told.text:
            return day_of(year, second, first)
        case [first, second], [] if year and in_path:
            return day_of(year, first, second)
        case [], [name] if year:
            return month_of(year, name)
        case [number], [name] if year:
            return _numbered_month(told, year, name, number)
        case [], [] if len(told.weekdays) == 1:
            return _weekday_in(within, told.weekdays[0])
        case _:
            return None


def _numbered_month(told: _Told, year: int, name: int, number: int) -> Days | None:
    """Read `03 March` as the month, as folders are called, and `8 March` or `3 March` as a day."""
    is_number_of_month = number == name and len(told.numbers[0]) == 2 and not told.weekdays  # noqa: PLR2004 - as 03
    return month_of(year, name) if is_number_of_month else day_of(year, name, number)


def _weekday_in(within: Days, weekday: int) -> Days | None:
    """Give the one day of a week that is a Monday, say."""
    first = within[0] + (weekday - weekday_of(within[0])) % 7
    return (first, first) if within[1] - within[0] == 6 else None  # noqa: PLR2004 - seven days


def month_called(name: str) -> int | None:
    """Give the number of the month that has this name in any language; None where languages disagree."""
    return all_names().months.get(fold(name))
