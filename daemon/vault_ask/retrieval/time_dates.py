"""Dates and names of what comes round among the words of a question: "6 August", "April 2025", "Q1", "in week 10"."""

from collections.abc import Sequence
from dataclasses import dataclass

from vault_ask.notes.calendar import Days
from vault_ask.retrieval.time_atoms import Atom, Atoms
from vault_ask.retrieval.time_calendar import PIECES, Calendar, Part

_BEFORE_YEARS = (*("on", "from", "to", "between", "and", "since", "until", "before", "after", "dash", *PIECES),)

_CAPITAL = frozenset({"en", "de", "tr"})
"""Languages that write months and days with a capital; in others it makes them a name of somebody."""


@dataclass(frozen=True, slots=True)
class Term:
    """A time that begins at one atom and ends before another: days, or a part whose year or week is not said."""

    first: int
    end: int
    days: Days | None = None
    part: Part | None = None
    is_sure: bool = True
    """Whether it is a time wherever it stands; else something beside it has to say so."""


class Dates(Atoms):
    """Reads dates among the atoms of one question, against a calendar. Names of `bare` kinds are times alone."""

    def __init__(self, atoms: Sequence[Atom], calendar: Calendar, bare: frozenset[str], language: str) -> None:
        super().__init__(atoms)
        self._language = language
        self._calendar = calendar
        self._bare = bare
        self._is_habit = any("general" in atom.roles for atom in atoms)
        self._tells = calendar.coming or any("told" in atom.roles for atom in atoms) or all(a.roles for a in atoms)

    def _is_particular(self, term: Term) -> bool:
        """Say whether one of what comes round is meant, and not each of them.

        A season is where the question tells what was or will be, or says nothing else: what is planted in summer is
        planted in every one. Where a word for a habit stands (usually, always), any name is of each.
        """
        return term.part is None or not (self._is_habit or (term.part.kind == "season" and not self._tells))

    def _whole(self, at: int) -> Term | None:
        """Read what is whole in one phrase: 2026-03-08, yesterday, i somras."""
        roles = self._atoms[at].roles
        if "days" in roles:
            return Term(at, at + 1, roles["days"], is_sure=not self._atoms[at].is_weak)
        if "relative" in roles:
            days = self._calendar.unit("day", roles["relative"])
            return Term(at, at + 1, days) if days else None
        return None

    def _week_of(self, at: int) -> Term | None:
        """Read "the week of March 2" and "the weekend of 2026-03-02"."""
        is_weekend = self._is_kind(at, "weekend")
        day_at = self._skip(at + 1, "little")
        if not (is_weekend or (self._unit(at) == "week" and day_at > at + 1)) or day_at >= len(self._atoms):
            return None
        term = self._whole(day_at) or self._dated(day_at)
        days = self._resolved(term) if term else None
        if term is None or days is None or days[0] != days[1]:
            return None
        around = self._calendar.weekend_of if is_weekend else self._calendar.week_of
        return Term(at, term.end, around(days[0]))

    def _dated(self, at: int) -> Term | None:
        """Read "6 August 2026", "August 6th", "le 6 août", after the name of the day if it is there."""
        if self._is_kind(at, "weekday"):
            ahead = self._skip(at + 1, "little", "comma")
            inner = self._dated(ahead) if ahead < len(self._atoms) and not self._is_kind(ahead, "weekday") else None
            return Term(at, inner.end, inner.days, inner.part, is_sure=inner.is_sure) if inner else None
        day_first = self._day_and_month(at, at, self._skip(at + 1, "little", "dot", "on"))
        return day_first or self._day_and_month(at, self._skip(at + 1, "little"), at)

    def _days_of_month(self, at: int) -> Term | None:
        """Read "3-5 March" and "3 to 5 March 2026"."""
        roles = self._atoms[at].roles
        if "day" not in roles or not self._is_any(at + 1, ("dash", "to", "and")):
            return None
        last = self._dated(at + 2) if self._is(at + 2, "day") else None
        end = self._resolved(last) if last else None
        first = end[0] - (self._atoms[at + 2].roles["day"] - roles["day"]) if end else 0
        if last is None or end is None or not 0 < first <= end[0]:
            return None
        return Term(at, last.end, (first, end[1]))

    def _day_and_month(self, at: int, day_at: int, month_at: int) -> Term | None:
        if max(day_at, month_at) >= len(self._atoms) or day_at == month_at:
            return None
        day, month = self._atoms[day_at].roles.get("day"), self._month(month_at)
        if day is None or month is None:
            return None
        end = max(day_at, month_at) + 1
        year, year_end = self._year_behind(end)
        part = Part("date", month, day)
        if year:
            days = self._calendar.of_year(part, year)
            return Term(at, year_end, days) if days else None
        is_at_the_end = end >= len(self._atoms) or self._is(end, "sign")
        sure = not self._atoms[month_at].is_strict or "ordinal" in self._atoms[day_at].roles
        sure = sure or (day_at > month_at and is_at_the_end)
        return Term(at, end, part=part, is_sure=sure) if self._calendar.meant(part) else None

    def _month(self, at: int) -> int | None:
        roles = self._atoms[at].roles
        part = roles.get("part")
        return part.number if part and part.kind == "month" else roles.get("short")

    def _part(self, at: int) -> Term | None:
        """Read a name that comes round, of a year if one is said: "April 2025", "spring of 2026", "Q1"."""
        atom = self._atoms[at]
        part, end = self._named_part(at)
        if part is None or (self._is(at - 1, "every") and not self._is_any(at - 1, ("to", "on"))):
            return self._year_of_part(at)
        year, year_end = self._year_behind(end)
        if year and (days := self._calendar.of_year(part, year)):
            return Term(at, year_end, days)
        # Short for a month it is only beside a number.
        is_short = "short" in atom.roles and "part" not in atom.roles
        # May's kitchen is a person's.
        if is_short or (atom.is_weak and atom.is_owner):
            return None
        is_for = self._is_of_plans(at - 1) and not self._calendar.coming
        is_other = atom.is_weak or is_for or self._is_a_name(atom, part)
        is_bare = part.kind in {"quarter", "date", *self._bare} and not is_other
        return Term(at, end, part=part, is_sure=is_bare)

    def _is_a_name(self, atom: Atom, part: Part) -> bool:
        """Say whether a bare name may be a person's, or what is baked at a feast, as nothing shows a time."""
        is_written_so = (
            atom.is_capital and self._language not in _CAPITAL and not all(each.roles for each in self._atoms)
        )
        return is_written_so or (part.kind == "feast" and not self._tells)

    def _is_of_plans(self, at: int) -> bool:
        """Say whether a preposition goes before a time only where the question looks ahead: "plans for Friday"."""
        return self._is(at, "on days ahead") and not self._is_any(at, ("on", "on days", "from"))

    def _named_part(self, at: int) -> tuple[Part | None, int]:
        """Give the part that is named, and where its name ends: "April", "Apr", "1. Quartal"."""
        roles = self._atoms[at].roles
        number = roles.get("day", 0) if "ordinal" in roles and self._unit(at + 1) == "quarter" else 0
        if 0 < number <= 4:  # noqa: PLR2004 - quarters of a year
            return Part("quarter", number), at + 2
        short = Part("month", roles["short"]) if "short" in roles else None
        return roles.get("part") or short, at + 1

    def _year_of_part(self, at: int) -> Term | None:
        """Read "2025 yazı", and "year 2025" in either order."""
        year, end = self._year_behind(at)
        begins_it = self._is(at, "year") or self._unit(at) == "year"
        if year is None or not begins_it or self._is(at + 2, "ago"):
            return None
        ahead = self._skip(end, "little")
        part = self._atoms[ahead].roles.get("part") if ahead < len(self._atoms) else None
        days = self._calendar.of_year(part, year) if part else None
        if days:
            return Term(at, ahead + 1, days)
        is_called_year = end - at > 1 or self._is(end, "on behind")
        whole = self._calendar.of_year(Part("year"), year) if is_called_year else None
        return Term(at, end + self._is(end, "on behind"), whole) if whole else None

    def _year_behind(self, at: int) -> tuple[int | None, int]:
        """Give the year that follows, and where it ends: "2025", ", 2025", "of the year 2025", "2025 году"."""
        place = self._skip(at, "little", "comma", "dot")
        place += self._unit(place) == "year" and self._is(place + 1, "year")
        year = self._atoms[place].roles.get("year") if place < len(self._atoms) else None
        return year, place + (2 if self._unit(place + 1) == "year" else 1)

    def _year(self, at: int) -> Term | None:
        """Read a year that something in front of it makes one; in "during the 2012 games" it tells of the games."""
        year = self._atoms[at].roles.get("near year") if 0 < at < len(self._atoms) else None
        is_introduced = self._is_any(at - 1, _BEFORE_YEARS)
        days = self._calendar.of_year(Part("year"), year) if year and is_introduced else None
        return Term(at, at + 1, days) if days else None

    def _numbered_week(self, at: int) -> Term | None:
        """Read "in week 10": the last one of that number."""
        if self._unit(at) != "week" or at + 1 >= len(self._atoms):
            return None
        number = self._atoms[at + 1].roles.get("digits")
        part = Part("week", number) if number else None
        year, year_end = self._year_behind(at + 2)
        if part and year:
            return Term(at, year_end, self._calendar.of_year(part, year))
        return Term(at, at + 2, part=part) if part and self._calendar.meant(part) else None

    def _day_alone(self, at: int) -> Term | None:
        """Read "on the 10th", with nothing behind it that it could be the tenth of."""
        if not self._is(at, "ordinal") or not self._ends(at + 1):
            return None
        part = Part("monthday", day=self._atoms[at].roles["day"])
        return Term(at, at + 1, part=part) if self._calendar.meant(part) else None

    def _numbered_day(self, at: int) -> Term | None:
        """Read "el día 3", "le 3" at the end, "3 числа"."""
        behind = self._is(at + 1, "dated behind")
        end = at + 2
        place = at if behind else at + 1
        is_dated = behind or self._is(at, "dated") or (self._is(at, "dated end") and self._ends(end))
        roles = self._atoms[place].roles if is_dated and place < len(self._atoms) else {}
        if "digits" not in roles or "day" not in roles:
            return None
        if not behind and (dated := self._dated(place)):
            return Term(at, dated.end, dated.days, dated.part, is_sure=dated.is_sure)
        part = Part("monthday", day=roles["day"])
        # "El día 3 del viaje" is one of a journey, "3日に一度" a habit.
        is_other = self._is_any(end, ("unit", "number", "part", *(() if behind else ("little",))))
        return Term(at, end, part=part) if not is_other and self._calendar.meant(part) else None

    def _ends(self, at: int) -> bool:
        """Say whether nothing follows that a number before it could count: in German that is a noun."""
        is_verb = self._language == "de" and at < len(self._atoms) and not self._atoms[at].is_capital
        return at >= len(self._atoms) or self._is(at, "sign") or is_verb

    def _resolved(self, term: Term) -> Days | None:
        return term.days or (self._calendar.meant(term.part) if term.part else None)
