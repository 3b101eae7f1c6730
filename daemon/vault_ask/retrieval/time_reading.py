"""One question read in one language: its phrases and numbers as atoms, the time and the order that they name."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Literal

import regex

from vault_ask.notes.calendar import FIRST_YEAR, LAST_YEAR, Days
from vault_ask.notes.written_dates import numeric_dates
from vault_ask.retrieval.time_atoms import Atom
from vault_ask.retrieval.time_calendar import Calendar, Part
from vault_ask.retrieval.time_grammar import Grammar
from vault_ask.retrieval.time_tokens import NON_LATIN, Token, tokens_of
from vault_ask.retrieval.time_words import Lexicon, lexicon_of

Order = Literal["latest", "earliest", "often"]
ORDERS: tuple[Order, ...] = ("latest", "earliest", "often")
Named = tuple[int, int, Days]
"""From which character of a question to which a time is named, and which days it is."""

_YEARS_BACK, _YEARS_AHEAD = 40, 10
"""Four digits this near to today may be a year."""
_DAYS_OF_MONTH = 31
_SIGNS = {",": "comma", ".": "dot", "-": "dash", "–": "dash", "—": "dash", "〜": "dash", "~": "dash"}

_GENITIVE = regex.compile(r"['’]s\b")
_GLUE = regex.compile(r"(?:[\p{Latin}/#$€£_.]|\p{Latin}-)$")
_APOSTROPHE = "'’"
_MORE = regex.compile(r"[\p{Latin}%]")
_CAPITALISED = regex.compile(r" (\p{Lu}\p{L}+)")
_QUARTER = regex.compile(r"(?<!\w)(?<!\d )Q([1-4])(?!\w)")
_WEEK = regex.compile(r"(?<!\w)W(\d{1,2})(?!\w)")
_ORDINAL = regex.compile(r"(?<!\w)(\d{1,2})(?:st|nd|rd|th|er|º|ª|:e|-?го|\.)(?!\w)", regex.IGNORECASE)
_EAST_ASIAN = regex.compile(r"(?<!\d)(\d{1,2})\s?[月월](?:\s?(\d{1,2})\s?[日号號일])?(?:份)?")
_DOTTED = regex.compile(r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.(?!\s?\d)")

_CORES = frozenset({"days", "relative", "unit", "part", "short", "year", "ordinal"})
"""What an atom has to be for a time to be named by it, or by what stands beside it."""


class Reading:
    """A question read in one language.

    One that is guessed, beside the question's `own` ones, has to show itself by words that these do not know.
    """

    def __init__(
        self, text: str, tokens: Sequence[Token], lexicon: Lexicon, calendar: Calendar, own: Sequence[Lexicon] = ()
    ) -> None:
        self._lexicon = lexicon
        self._own = own
        self._text = text
        self._tokens = tokens
        self._calendar = calendar
        self._atoms = self._read_atoms(text, tokens)

    @property
    def order(self) -> Order | None:
        """Which of the notes are wanted."""
        start, end, _ = self.named or (0, 0, None)
        # In "the latest week" it is the week's.
        free = [atom for atom in self._atoms if not (start <= atom.start and atom.end <= end)]
        wanted = (atom for atom in free if self._shows(atom.start, atom.end))
        order = next((order for atom in wanted for order in ORDERS if order in atom.roles), None)
        return order or ("latest" if free and self._closes(free) else None)

    def _closes(self, atoms: Sequence[Atom]) -> bool:
        """Say whether a question ends in what makes it one for the latest: "who did I meet last?"."""
        said = [atom for atom in self._atoms if "sign" not in atom.roles]
        is_other = any("other" in atom.roles for atom in said)
        return len(said) > 1 and said[-1] in atoms and "closing" in said[-1].roles and not is_other

    @cached_property
    def named(self) -> Named | None:
        """Give the time that is named, as (start, end, days) in characters; of several the shortest, else the first."""
        coming = any("future" in atom.roles for atom in self._atoms) or self._lexicon.looks_ahead(self._tokens)
        calendar = Calendar(self._calendar.today, self._calendar.week_start, coming=coming)
        if not any(_CORES & atom.roles.keys() for atom in self._atoms):
            return None
        found = [self._placed(*named) for named in Grammar(self._atoms, calendar, self._lexicon.bare).read()]
        found = [named for named in found if self._shows(named[0], named[1])]
        return min(found, key=lambda named: named[2][1] - named[2][0], default=None) or self._lone()

    def _placed(self, first: int, end: int, days: Days) -> Named:
        # An article before it is of no use without it.
        while first > 0 and self._is_article(self._atoms[first - 1]):
            first -= 1
        last = self._atoms[end - 1].end
        genitive = _GENITIVE.match(self._text, last)
        return self._atoms[first].start, genitive.end() if genitive else last, days

    def _is_article(self, atom: Atom) -> bool:
        return "little" in atom.roles and (atom.start == 0 or self._text[atom.start - 1] not in _APOSTROPHE)

    def _lone(self) -> Named | None:
        """A year, day or week in numbers that is all there is to the question."""
        said = [atom for atom in self._atoms if "sign" not in atom.roles]
        roles: Mapping[str, Any] = said[0].roles if len(said) == 1 else {}
        part = roles.get("part")
        if "near year" in roles:
            days = self._calendar.of_year(Part("year"), roles["near year"])
        else:
            days = self._calendar.meant(part) if part and part.kind in {"date", "week"} else None
        return (said[0].start, said[0].end, days) if days else None

    def _shows(self, start: int, end: int) -> bool:
        """Say whether words are plainly of this language: two that its own have not, or one in another script."""
        if not self._own or NON_LATIN.search(self._text[start:end]):
            return True
        inside = [token.text for token in self._tokens if start <= token.start and token.end <= end]
        return sum(word.isalpha() and not any(word in own.longest for own in self._own) for word in inside) > 1

    def _read_atoms(self, text: str, tokens: Sequence[Token]) -> list[Atom]:
        numbers = self._numbers(text)
        atoms: list[Atom] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            number = numbers.get(token.start)
            if number is not None:
                atoms.append(number)
                at = next((place for place in range(at, len(tokens)) if tokens[place].start >= number.end), len(tokens))
                continue
            length, roles = self._lexicon.match(tokens, at) or (1, {})
            atoms.append(self._atom(tokens[at : at + length], roles))
            at += length
        return atoms

    def _atom(self, tokens: Sequence[Token], roles: Mapping[str, Any]) -> Atom:
        phrase = tuple(token.text for token in tokens)
        if ("relative" in roles and self._is_name(tokens[0])) or (_is_month(roles) and self._begins_name(tokens[-1])):
            roles = {"other": True}
        if "phrase" in roles:
            days = _in_english(roles["phrase"], self._calendar)
            roles = {"days": days} if days else {}
        return Atom(
            roles or self._roles_of_number(tokens[0]) or _roles_of_sign(phrase[0]),
            tokens[0].start,
            tokens[-1].end,
            is_weak=phrase in self._lexicon.weak,
            is_strict=phrase in self._lexicon.strict,
            is_capital=self._text[tokens[0].start].isupper(),
            is_owner=_GENITIVE.match(self._text, tokens[-1].end) is not None,
        )

    def _roles_of_number(self, token: Token) -> dict[str, Any]:
        """A number that is part of another word is none: C/2014, 3D, #5."""
        is_part = self._is_glued(token.start) or _MORE.match(self._text, token.end)
        return {} if is_part else _roles_of_number(token.text, self._calendar)

    def _is_glued(self, start: int) -> bool:
        return bool(start and _GLUE.search(self._text, max(0, start - 2), start))

    def _begins_name(self, token: Token) -> bool:
        """Say whether a name goes on behind a month, as in July Creek; German writes every noun like that."""
        found = _CAPITALISED.match(self._text, token.end)
        return found is not None and self._lexicon.language != "de" and not found[1].isupper()

    def _is_name(self, token: Token) -> bool:
        """Say whether a word for a day is written as a name in the middle of a sentence, as in the title of a song."""
        before = self._text[: token.start].rstrip()
        return bool(before and before[-1].isalnum() and self._text[token.start].isupper() and not self._text.isupper())

    def _numbers(self, text: str) -> dict[int, Atom]:
        """Give what is written in numbers, by the character where it begins: dates, ordinals, 3月."""
        if not any(map(str.isdecimal, text)):
            return {}
        dates = numeric_dates(text, order=self._lexicon.order)
        found = {start: Atom({"days": days}, start, end) for start, end, days in dates}
        taken = [(atom.start, atom.end) for atom in found.values()]
        for match, roles in self._parts_in_numbers(text):
            if all(match.end() <= start or end <= match.start() for start, end in taken):
                is_weak = bool(roles.pop("weak", False))
                found.setdefault(match.start(), Atom(roles, match.start(), match.end(), is_weak=is_weak))
        return found

    def _parts_in_numbers(self, text: str) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Give the matches of what is a part of a date only, with its roles, where there is such a part."""
        for match in _QUARTER.finditer(text):
            yield match, {"part": Part("quarter", int(match[1]))}
        for match in _EAST_ASIAN.finditer(text):
            part = Part("date", int(match[1]), int(match[2])) if match[2] else Part("month", int(match[1]))
            if self._calendar.meant(part):
                yield match, {"part": part}
        for match in _WEEK.finditer(text):
            if self._calendar.meant(part := Part("week", int(match[1]))):
                yield match, {"part": part, "weak": True}
        is_dotted = self._lexicon.is_dotted or _DOTTED.fullmatch(text.strip())
        for match in _DOTTED.finditer(text) if is_dotted else ():
            part = Part("date", int(match[2]), int(match[1]))
            if self._calendar.meant(part):
                yield match, {"part": part, "weak": True}
        for match in _ORDINAL.finditer(text):
            yield match, {"day": int(match[1]), "ordinal": True}


def _is_month(roles: Mapping[str, Any]) -> bool:
    return "part" in roles and roles["part"].kind == "month"


def _roles_of_number(text: str, calendar: Calendar) -> dict[str, Any]:
    if not text.isdecimal():
        return {}
    number = int(text[:9])
    roles: dict[str, Any] = {"number": number, "digits": number}
    if number <= _DAYS_OF_MONTH:
        roles["day"] = number
    year = calendar.date.year
    if len(text) == 4 and FIRST_YEAR - 900 <= number <= LAST_YEAR:  # noqa: PLR2004 - digits of a year
        is_near = year - _YEARS_BACK <= number <= year + _YEARS_AHEAD
        roles = {"year": number, "near year": number} if is_near else {"year": number}
    return roles


def _roles_of_sign(text: str) -> dict[str, Any]:
    is_sign = not any(map(str.isalnum, text))
    return {"sign": True, _SIGNS.get(text, "stop"): True} if is_sign else {}


@lru_cache(maxsize=256)
def _in_english(phrase: str, calendar: Calendar) -> Days | None:
    named = Reading(phrase, tokens_of(phrase), lexicon_of("en"), calendar).named
    return named[2] if named else None
