"""Single times among the words of a question: a turn beside a unit, a count, a date, a name of what comes round.

Languages differ in their words and in what comes first, hardly in what goes with what: "last week", "la semaine
dernière" and "上周" are a turn beside a unit. So one grammar reads all of them, and takes either order.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from vault_ask.notes.calendar import Days
from vault_ask.retrieval.time_dates import Dates, Term

TURNS = ("before last", "last", "this", "next")
FARTHEST_COUNT = 999
_BEFORE_TIMES = ("on", "on days", "on days ahead", "from")
_COUNTS = (
    ("number", "unit", "ago"),
    ("ago", "number", "unit"),
    *((turn, "number", "unit") for turn in ("last", "past", "next")),
    *(("number", turn, "unit") for turn in ("last", "past", "next")),
    *(("number", "unit", turn) for turn in ("last", "past", "next")),
    *(("unit", "number", turn) for turn in ("last", "past", "next")),
    ("ones", "ago"),
    ("ago", "ones"),
)
"""What stands in a row where units are counted."""


class Terms(Dates):
    """Reads single times among the atoms of one question, against a calendar."""

    def _introduced(self, at: int) -> Term | None:
        """Read "in April", "on the 6th of August", "im Jahr 2025": a preposition makes a time of what follows."""
        # Of "working on in April" the first belongs to the verb.
        if not self._is_any(at, _BEFORE_TIMES) or (self._is(at, "on days") and self._is(at + 1, "on")):
            return None
        if (self._is_of_plans(at) or self._is_of_plans(at - 1)) and not self._calendar.coming:
            return None
        start = self._skip(at, *_BEFORE_TIMES, "little")
        term = self._term(start) or self._year(start) or self._numbered_week(start) or self._day_alone(start)
        if term is None or not (term.is_sure or self._makes_sure(at, term)) or not self._is_particular(term):
            return None
        return Term(at, term.end, term.days, term.part)

    def _makes_sure(self, at: int, term: Term) -> bool:
        """Say whether a preposition makes a time of a name: "from April" may be her letter, "on march" a march.

        Of a month in figures any does: "from 12/2025".
        """
        if term.days is not None:
            return True
        is_of_days = term.part is None or term.part.kind in {"weekday", "date", "weekend", "feast"}
        return self._is(at, "on") or (self._is_any(at, ("on days", "on days ahead")) and is_of_days)

    def _operand(self, at: int) -> Term | None:
        """Read a time where one is expected, with or without a preposition or an article of its own."""
        start = self._skip(at, "on", "on days", "little")
        for place in dict.fromkeys((at, start)):
            term = self._term(place) or self._year(place)
            # "Until the fall" may be one of an empire.
            is_season = term is not None and term.part is not None and term.part.kind == "season"
            if term and not (is_season and self._atoms[term.first].is_strict):
                return Term(term.first, term.end, term.days, term.part)
        return None

    def _term(self, at: int) -> Term | None:
        """Read one time, with what narrows it: "Tuesday last week", "last year in April"."""
        term = self._simple(at)
        if term is None:
            return None
        ahead = self._skip(term.end, "little", "on", "on days", "comma")
        other = self._simple(ahead) if ahead < len(self._atoms) else None
        narrow = self._narrowed(term, other) if other else None
        return Term(term.first, other.end, narrow) if narrow and other else term

    def _narrowed(self, term: Term, other: Term) -> Days | None:
        part, whole = (term.part, other.days) if term.part else (other.part, term.days)
        if part is None or whole is None or self._is_from_to(term, other):
            return None
        return self._calendar.inside(part, whole)

    def _is_from_to(self, term: Term, other: Term) -> bool:
        return any(self._is(place, "to") for place in range(term.end, other.first))

    def _simple(self, at: int) -> Term | None:
        if at >= len(self._atoms):
            return None
        readings = (
            *(self._whole, self._counted, self._turned, self._week_of, self._days_of_month, self._dated, self._part),
            self._numbered_day,
        )
        return next((term for reading in readings if (term := reading(at))), None)

    def _counted(self, at: int) -> Term | None:
        """Read "3 days ago", "vor zwei Wochen", "the last 3 days", "3 derniers jours"; without a number one of them."""
        begins = self._atoms[at].roles
        for pattern in (pattern for pattern in _COUNTS if pattern[0] in begins):
            places = self._matched(at, pattern)
            if places and not ("ones" in pattern and self._is_any(places[-1] + 1, ("number", "year"))):
                roles = {role: self._atoms[place].roles for role, place in zip(pattern, places, strict=True)}
                days = self._count_meant(pattern, roles)
                return Term(at, places[-1] + 1, days) if days else None
        return None

    def _matched(self, at: int, pattern: Sequence[str]) -> list[int]:
        """Give the places of atoms with these roles in a row, little words between them allowed; none if it is not."""
        if not self._is(at, pattern[0]):
            return []
        places = [at]
        for role in pattern[1:]:
            behind = places[-1] + 1
            place = next((place for place in (behind, self._skip(behind, "little")) if self._is(place, role)), None)
            if place is None:
                return []
            places.append(place)
        return places

    def _count_meant(self, pattern: Sequence[str], roles: Mapping[str, Mapping[str, Any]]) -> Days | None:
        numbered = roles.get("number", {})
        count, unit = numbered.get("number", 1), roles["unit" if "unit" in roles else "ones"].get("unit")
        if unit is None or not 0 < count <= FARTHEST_COUNT:
            return None
        if "ago" in pattern:
            return self._calendar.unit(unit, -count)
        # "The last 3 weeks" and "the last 1 week", but not "the last one week".
        is_counted = count > 1 or "digits" in numbered
        return self._calendar.stretch(unit, -count if "next" in pattern else count) if is_counted else None

    def _turned(self, at: int) -> Term | None:
        """Read "last week", "la semaine dernière", "this April", "next Friday"."""
        for turned, thing in self._neighbours(at):
            # In "Tuesday last week" the turn is the week's.
            if turned > thing and self._is_any(turned + 1, ("unit", "part", "number")):
                continue
            turn = next((turn for turn in (*TURNS, "past") if self._is(turned, turn)), None)
            # "This may require a restart.", "is May coming?"
            is_verb = turn == "this" and not self._atoms[thing].is_capital
            if self._atoms[thing].is_strict and (is_verb or turned > thing):
                continue
            days = self._turn_meant(turn, self._atoms[thing].roles) if turn else None
            if days:
                return Term(at, max(turned, thing) + 1, days)
        return None

    def _neighbours(self, at: int) -> list[tuple[int, int]]:
        """Give (turn, thing) in both orders, with or without little words in between."""
        ahead = [place for place in dict.fromkeys((at + 1, self._skip(at + 1, "little"))) if place < len(self._atoms)]
        return [(at, place) for place in ahead] + [(place, at) for place in ahead]

    def _turn_meant(self, turn: str, roles: Mapping[str, Any]) -> Days | None:
        if "part" in roles and turn in TURNS:
            return self._calendar.turned(roles["part"], turn)
        unit = roles.get("unit")
        if unit is None or unit == "day":
            return None
        if turn == "past":
            return self._calendar.stretch(unit, 1)
        return self._calendar.unit(unit, TURNS.index(turn) - TURNS.index("this"))
