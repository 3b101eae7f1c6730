"""What a turn says of time where it follows one that named some: "and the week before?", "what about May?".

A turn that says nothing else ("and on Monday?") names its time more freely than a question does, and inside the time of
the turn before where it fits there: after a question about 2024, "and in May?" is of that year.
"""

from datetime import date

from vault_ask.notes.calendar import Days, common_year, month_of, year_and_month
from vault_ask.retrieval.time_calendar import PARTS, Calendar
from vault_ask.retrieval.time_dates import Term
from vault_ask.retrieval.time_terms import FARTHEST_COUNT, Terms

_SIDES = {"earlier": -1, "later": 1}
_STEPS = tuple(
    (side, pattern)
    for side in _SIDES
    for pattern in (("number", "unit", side), (side, "number", "unit"), ("unit", side), (side, "unit"))
)
_TURNS = tuple((side, pattern) for side in _SIDES for pattern in (("part", side), (side, "part")))
_IDLE = ("more", "sign")
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


class Following(Terms):
    """Reads a time that is told by the one of the turn before."""

    def read(self, before: Days, year: int | None) -> tuple[int, int, Days] | None:
        """Find the time that is meant after `before`, as (first atom, end, days); `year` is the one that it named."""
        return self.step(before) or self._alone(before, year)

    def step(self, before: Days) -> tuple[int, int, Days] | None:
        """Find "the week before", "two days later" or "the Friday after that" at the end of a sentence."""
        for at in range(len(self._atoms)):
            found = self._phrase(at, before) or self._counted_step(at, before) or self._turned_step(at, before)
            if found and self._is_idle(found[0]):
                return at, *found
        return None

    def _alone(self, before: Days, year: int | None) -> tuple[int, int, Days] | None:
        """Read a turn that is a time and nothing else, as a name that no preposition has to make one."""
        at = self._skip(0, *_IDLE)
        if at >= len(self._atoms):
            return None
        term = self._introduced(at) or self._operand(at) or self._freely(at)
        days = self._inside(term, before, year) if term and self._is_idle(term.end) else None
        return (at, term.end, days) if term and days else None

    def _freely(self, at: int) -> Term | None:
        roles = self._atoms[at].roles
        if "near year" in roles:
            whole = self._calendar.unit("year", roles["near year"] - self._calendar.date.year)
            return Term(at, at + 1, whole)
        return Term(at, at + 1, part=roles["part"]) if "part" in roles else self._day_alone(at)

    def _inside(self, term: Term, before: Days, year: int | None) -> Days | None:
        if term.part is None or term.days:
            return term.days
        inside = self._calendar.inside(term.part, before)
        if inside and inside != before:
            return inside
        return (self._calendar.of_year(term.part, year) if year else None) or self._resolved(term)

    def _phrase(self, at: int, before: Days) -> tuple[int, Days] | None:
        """Read what is whole in one phrase: la veille, im Vorjahr, 前一天."""
        step = self._atoms[at].roles.get("step")
        days = self._beside(step[1], step[0], before) if step else None
        return (at + 1, days) if days else None

    def _counted_step(self, at: int, before: Days) -> tuple[int, Days] | None:
        for side, pattern in _STEPS:
            places = self._matched(at, pattern)
            if not places:
                continue
            roles = {role: self._atoms[place].roles for role, place in zip(pattern, places, strict=True)}
            count = roles["number"]["number"] if "number" in roles else 0
            unit = roles["unit"]["unit"]
            by = _SIDES[side]
            if count <= FARTHEST_COUNT:
                days = self._far(unit, by * count, before) if count else self._beside(unit, by, before)
                return (places[-1] + 1, days) if days else None
        return None

    def _turned_step(self, at: int, before: Days) -> tuple[int, Days] | None:
        for side, pattern in _TURNS:
            places = self._matched(at, pattern)
            part = self._atoms[places[pattern.index("part")]].roles["part"] if places else None
            days = self._calendar.beside(part, before, later=side == "later") if part else None
            if days:
                return places[-1] + 1, days
        return None

    def _beside(self, unit: str, by: int, before: Days) -> Days | None:
        """Give the whole unit before or after some days; of what is shorter than a year, the same one year away."""
        if unit in PARTS:
            return self._calendar.beside(PARTS[unit], before, later=by > 0)
        if unit == "year" and common_year(before) and before[1] - before[0] < self._days_of_year(before) - 1:
            return _moved(before, 12 * by)
        end = before[0] if by < 0 else before[1]
        return Calendar(end, self._calendar.week_start).unit(unit, by)

    def _far(self, unit: str, by: int, before: Days) -> Days | None:
        """Move days by so many units: "two weeks later" is as long as they are."""
        if unit in _MONTHS:
            return _moved(before, by * _MONTHS[unit])
        days = by * (7 if unit == "week" else 1)
        first, last = (Calendar(day, self._calendar.week_start).unit("day", days) for day in before)
        return (first[0], last[1]) if first and last else None

    def _days_of_year(self, days: Days) -> int:
        whole = Calendar(days[0], self._calendar.week_start).unit("year", 0)
        return whole[1] - whole[0] + 1 if whole else 0

    def _is_idle(self, at: int) -> bool:
        """Say whether nothing follows but signs and words that open or close such a turn."""
        return all(self._is_any(place, (*_IDLE, "little")) for place in range(at, len(self._atoms)))


def _moved(days: Days, months: int) -> Days | None:
    """Move a span by months; what ends with a month ends with one."""
    ends = []
    for at, day in enumerate(days):
        now = date.fromordinal(day)
        whole = month_of(*year_and_month(now.year * 12 + now.month - 1 + months))
        if whole is None:
            return None
        closes = at == 1 and date.fromordinal(min(day + 1, date.max.toordinal())).month != now.month
        ends.append(whole[1] if closes else min(whole[0] + now.day - 1, whole[1]))
    return ends[0], ends[1]
