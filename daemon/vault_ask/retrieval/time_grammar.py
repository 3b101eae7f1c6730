"""How times go together in a question: between two of them, since one, early in one, or one alone."""

from vault_ask.notes.calendar import Days
from vault_ask.retrieval.time_calendar import PIECES, piece
from vault_ask.retrieval.time_dates import Term
from vault_ask.retrieval.time_terms import Terms

_SIDES = ("since", "after", "until", "before")


class Grammar(Terms):
    """Reads the times that a question names."""

    def read(self) -> list[tuple[int, int, Days]]:
        """Find the times that are named, as (first atom, end, days), in order."""
        found, at = [], 0
        while at < len(self._atoms):
            # Most words and all signs begin nothing.
            named = self._named(at) if self._atoms[at].roles and not self._is(at, "sign") else None
            if named:
                found.append(named)
            at = named[1] if named else at + 1
        return found

    def _named(self, at: int) -> tuple[int, int, Days] | None:
        span = self._between(at) or self._open(at) or self._third(at)
        if span:
            return span
        term = self._introduced(at) or self._term(at)
        if term is None:
            return None
        span = self._joined(term, at) or self._opened_behind(term, at)
        if span:
            return span
        days = self._resolved(term) if term.is_sure and self._is_particular(term) else None
        return (at, term.end, days) if days else None

    def _between(self, at: int) -> tuple[int, int, Days] | None:
        """Read "between A and B" and "from A to B"."""
        for opening, joint in (("between", "and"), ("from", "to")):
            if self._is(at, opening):
                first = self._operand(at + 1)
                middle = self._skip(first.end, "little") if first else 0
                last = self._operand(middle + 1) if first and self._is(middle, joint) else None
                if first and last and (days := self._hull(first, last)):
                    return at, last.end, days
        return None

    def _joined(self, first: Term, at: int) -> tuple[int, int, Days] | None:
        """Read "March to May", "Monday – Wednesday" and "this week and last week"."""
        ahead = self._skip(first.end, "little")
        joint = next((place for place in (first.end, ahead) if self._is_any(place, ("to", "dash", "and"))), None)
        if joint is None:
            return None
        last = self._operand(joint + 1)
        # In "in March and April" the second name stands without what makes it one.
        if last is None or not _are_alike(first, last):
            return None
        between = self._skip(last.end, "little")
        is_between = self._is(between, "between behind")
        days = self._hull(first, last) if first.is_sure or is_between else None
        return (at, between + 1 if is_between else last.end, days) if days else None

    def _open(self, at: int) -> tuple[int, int, Days] | None:
        """Read "since A", "until A", "before A" and "after A"."""
        for side in _SIDES:
            # "Two days before" is a count from what follows.
            if self._is(at, side) and self._unit(at - 1) is None:
                begun = self._third(self._skip(at + 1, "little")) if side == "since" else None
                term = Term(at + 1, begun[1], begun[2]) if begun else self._operand(at + 1)
                days = self._to_one_side(term, side) if term else None
                if term and days:
                    return at, term.end, days
        return None

    def _opened_behind(self, term: Term, at: int) -> tuple[int, int, Days] | None:
        """Read what says "since" or "early" behind the time, as Finnish and Turkish do."""
        place = self._skip(term.end, "little")
        for side in (*_SIDES, *PIECES):
            if self._is(place, f"{side} behind"):
                whole = self._resolved(term)
                days = self._to_one_side(term, side) if side in _SIDES else whole and piece(whole, side)
                return (at, place + 1, days) if days else None
        return None

    def _third(self, at: int) -> tuple[int, int, Days] | None:
        """Read "early in May", "Anfang Mai", "the first half of last year"."""
        start = self._skip(at + 1, "little") if self._is(at, "on") else at
        which = next((which for which in PIECES if self._is(start, which)), None)
        behind = start + 2 if self._is(start + 1, "dash") else start + 1
        term = (self._operand(behind) or self._present(behind)) if which else None
        # "late Tuesday" is an hour.
        is_hour = term is not None and term.part is not None and term.part.kind in {"weekday", "date"}
        if which is None or term is None or is_hour or not self._is_particular(term):
            return None
        whole = self._resolved(term)
        return (at, term.end, piece(whole, which)) if whole else None

    def _present(self, at: int) -> Term | None:
        """Read "the year" in "the beginning of the year": this one."""
        place = self._skip(at, "little")
        unit = self._unit(place)
        days = self._calendar.unit(unit, 0) if unit and unit != "day" else None
        return Term(at, place + 1, days) if days else None

    def _to_one_side(self, term: Term, side: str) -> Days | None:
        days, today = self._resolved(term), self._calendar.today
        if days is None:
            return None
        match side:
            case "since":
                return (days[0], today) if days[0] <= today else None
            case "after":
                return (days[1] + 1, today) if days[1] < today else None
            case "until":
                return (self._earliest, days[1]) if days[1] >= self._earliest else None
            case _:
                return (self._earliest, days[0] - 1) if days[0] > self._earliest else None

    @property
    def _earliest(self) -> int:
        """Where what is before something begins: today, where the question looks ahead."""
        return self._calendar.today if self._calendar.coming else 1

    def _hull(self, first: Term, last: Term) -> Days | None:
        end = self._resolved(last)
        if end is None:
            return None
        start = first.days or (self._calendar.before(first.part, end[0]) if first.part else None)
        return (min(start[0], end[0]), max(start[1], end[1])) if start else None


def _are_alike(first: Term, last: Term) -> bool:
    """Say whether two times may be the ends of one: both whole, or names of one kind."""
    if first.part is None or last.part is None:
        return first.part is last.part
    return first.part.kind == last.part.kind
