"""What the parts of a calendar mean today: last week, the April that is meant, the third of a month that is early."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from dateutil.easter import easter

from vault_ask.notes.calendar import (
    Days,
    Weekday,
    common_year,
    day_of,
    is_within,
    iso_week_of,
    month_of,
    months_of,
    quarter_of,
    week_around,
    year_and_month,
    year_of,
)
from vault_ask.notes.written_dates import DayOrder

UNITS = ("day", "week", "month", "quarter", "year")
PIECES = ("first week", "last week", "first half", "second half", "early", "mid", "late")
DAY_NAMES: Mapping[str, int] = {"ereyesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1, "overmorrow": 2}

_FEWEST_FOR_THIRDS = 7
_EASTER, _NEW_YEAR = 1, 2


@dataclass(frozen=True, slots=True)
class Part:
    """What comes round: every year a month, season, quarter, day of a month or feast; every week a day or its end."""

    kind: str
    number: int = 0
    day: int = 0

    @property
    def is_weekly(self) -> bool:
        """Whether it comes round every week."""
        return self.kind in {"weekday", "weekend"}


PARTS: Mapping[str, Part] = {
    "weekend": Part("weekend"),
    "spring": Part("season", 1),
    "summer": Part("season", 2),
    "autumn": Part("season", 3),
    "winter": Part("season", 0),
    "christmas": Part("feast", 0),
    "easter": Part("feast", 1),
    "newyear": Part("feast", 2),
}


@dataclass(frozen=True, slots=True)
class Calendar:
    """The calendar of who asks today: `coming` where the question looks ahead, `order` how 3/8/2026 is read."""

    today: int
    week_start: Weekday
    coming: bool = False
    order: DayOrder | None = None

    @property
    def date(self) -> date:
        """Today."""
        return date.fromordinal(self.today)

    def unit(self, unit: str, offset: int) -> Days | None:
        """Give a whole day, week, month, quarter or year, so many from the one that is now."""
        now = self.date
        match unit:
            case "day":
                return self._days_away(offset)
            case "week":
                return self._week_away(offset)
            case "month":
                return month_of(*year_and_month(now.year * 12 + now.month - 1 + offset))
            case "quarter":
                quarters = now.year * 4 + (now.month - 1) // 3 + offset
                return quarter_of(quarters // 4, quarters % 4 + 1)
            case _:
                return year_of(now.year + offset)

    def stretch(self, unit: str, count: int) -> Days | None:
        """Give the days from so many units before today (after it where negative) up to today."""
        now = self.date
        months = {"month": 1, "quarter": 3, "year": 12}.get(unit)
        if months is None:
            days = count * (7 if unit == "week" else 1)
            # Of days that are over today is one.
            other = self._days_away(1 - days if days > 0 else -days)
        else:
            year, month = year_and_month(now.year * 12 + now.month - 1 - months * count)
            whole = month_of(year, month)
            other = (whole[0] + min(now.day - 1, whole[1] - whole[0]),) * 2 if whole else None
        return (min(other[0], self.today), max(other[0], self.today)) if other else None

    def week_of(self, day: int) -> Days:
        """Give the week that a day is in."""
        first, last = week_around(day, self.week_start)
        return max(1, first), min(last, date.max.toordinal())

    def weekend_of(self, day: int) -> Days:
        """Give the weekend that is nearest to a day."""
        found = [days for days in self._occurrences(PARTS["weekend"], day) if days[1] <= date.max.toordinal()]
        return min(found, key=lambda days: (max(days[0] - day, day - days[1], 0), -days[0]))

    def meant(self, part: Part) -> Days | None:
        """Give the one that is meant where nothing else is said: the last that has begun, or of a plan the next."""
        if self.coming:
            return min((days for days in self._occurrences(part) if days[1] >= self.today), default=None)
        return max((days for days in self._occurrences(part) if days[0] <= self.today), default=None)

    def turned(self, part: Part, turn: str) -> Days | None:
        """Give the last that is over, the one before, the next that has not begun, or that of this week or year."""
        found = self._occurrences(part)
        if turn == "before last":
            return next(iter(sorted((days for days in found if days[1] < self.today), reverse=True)[1:]), None)
        if turn == "last":
            return max((days for days in found if days[1] < self.today), default=None)
        if turn == "next":
            return min((days for days in found if days[0] > self.today), default=None)
        now = [days for days in found if days[0] <= self.today <= days[1]]
        period = self.unit("week" if part.is_weekly else "year", 0)
        return now[0] if now else next((days for days in found if period and period[0] <= days[0] <= period[1]), None)

    def before(self, part: Part, end: int) -> Days | None:
        """Give the last one that begins no later than a day, as of two names between which something lies."""
        return max((days for days in self._occurrences(part, end) if days[0] <= end), default=None)

    def inside(self, part: Part, whole: Days) -> Days | None:
        """Give the first one inside a span: the Tuesday of a week, the April of a year."""
        found = self._occurrences(part, whole[0])
        if part.kind == "weekend":
            # Where the week begins on a Sunday, its weekend reaches into the next.
            return min((days for days in found if whole[0] <= days[0] <= whole[1]), default=None)
        return min((days for days in found if is_within(days, whole)), default=None)

    def beside(self, part: Part, days: Days, *, later: bool) -> Days | None:
        """Give the nearest one before some days, or after them, as of the Friday before a feast."""
        if later:
            return min((one for one in self._occurrences(part, days[1]) if one[0] > days[1]), default=None)
        return max((one for one in self._occurrences(part, days[0]) if one[1] < days[0]), default=None)

    def of_year(self, part: Part, year: int) -> Days | None:  # noqa: PLR0911 - a table, a kind a line
        """Give the one of a year. A winter is of the year that it ends in."""
        match part.kind:
            case "month":
                return month_of(year, part.number)
            case "date":
                return day_of(year, part.number, part.day)
            case "quarter":
                return quarter_of(year, part.number)
            case "season":
                return months_of(year, 3 * part.number, 3) if part.number else months_of(year - 1, 12, 3)
            case "feast":
                return _feast(part.number, year)
            case "week":
                return iso_week_of(year, part.number)
            case "year":
                return year_of(year)
            case _:
                return None

    def _occurrences(self, part: Part, around: int | None = None) -> list[Days]:
        near = self.today if around is None else around
        if part.is_weekly:
            first = week_around(near, self.week_start)[0]
            return [self._of_week(part, first + 7 * week) for week in range(-3, 6) if first + 7 * week > 0]
        if part.kind == "monthday":
            now = date.fromordinal(near)
            months = (year_and_month(now.year * 12 + now.month - 1 + away) for away in range(-3, 4))
            return [days for month in months if (days := day_of(*month, part.day))]
        year = date.fromordinal(near).year
        # A 29th of February comes once in four years, or in eight.
        years = range(max(1, year - 8), min(9999, year + 8) + 1)
        return [days for one in years if (days := self.of_year(part, one))]

    def _of_week(self, part: Part, first: int) -> Days:
        if part.kind == "weekday":
            day = first + (part.number - self.week_start) % 7
            return day, day
        # Where the week begins on a Saturday, its end is Friday and that Saturday.
        opens = Weekday.FRIDAY if self.week_start is Weekday.SATURDAY else Weekday.SATURDAY
        day = first + (opens - self.week_start) % 7
        return day, day + 1

    def _days_away(self, days: int) -> Days | None:
        day = self.today + days
        return (day, day) if 1 <= day <= date.max.toordinal() else None

    def _week_away(self, weeks: int) -> Days | None:
        first = week_around(self.today, self.week_start)[0] + 7 * weeks
        return (first, first + 6) if 1 <= first <= date.max.toordinal() - 6 else None


def piece(days: Days, which: str) -> Days:
    """Give the half, the week at an end, or the early, middle or late third of a span; a third of few days whole."""
    first, last = days
    length = last - first + 1
    match which:
        case "first week":
            return first, min(first + 6, last)
        case "last week":
            return max(first, last - 6), last
        case "first half":
            return first, _middle(days)
        case "second half":
            return min(_middle(days) + 1, last), last
        case _:
            return _third(days, which, length)


def _middle(days: Days) -> int:
    """Give the last day of the first half: of a year the end of June."""
    first, last = days
    year = common_year(days)
    half = months_of(year, 1, 6) if year and days == year_of(year) else None
    return half[1] if half else first + max(last - first + 1, 2) // 2 - 1


def _third(days: Days, which: str, length: int) -> Days:
    first, last = days
    if length < _FEWEST_FOR_THIRDS:
        return days
    one = length // 3
    match which:
        case "early":
            return first, first + one - 1
        case "mid":
            return first + one, last - one
        case _:
            return last - one + 1, last


def _feast(number: int, year: int) -> Days | None:
    if number == _NEW_YEAR:
        # Of the year that begins.
        first = day_of(year, 1, 1)
        return (first[0] - 1, first[0]) if first and first[0] > 1 else None
    if number == _EASTER:
        sunday = easter(year).toordinal() if 1583 <= year <= 4099 else None  # noqa: PLR2004 - of the Gregorian rule
        return (sunday - 2, sunday + 1) if sunday else None
    eve = day_of(year, 12, 24)
    return (eve[0], eve[0] + 2) if eve else None
