"""One question read in one language: its phrases and numbers as atoms, the time and the order that they name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any, Literal

import regex

from vault_ask.notes.calendar import FIRST_YEAR, LAST_YEAR, Days
from vault_ask.retrieval.time_atoms import Atom
from vault_ask.retrieval.time_calendar import Calendar, Part
from vault_ask.retrieval.time_following import Following
from vault_ask.retrieval.time_grammar import Grammar
from vault_ask.retrieval.time_numbers import numbers_in
from vault_ask.retrieval.time_tokens import NON_LATIN, Token, tokens_of
from vault_ask.retrieval.time_words import Lexicon, is_only_a_day, lexicon_of

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

_CORES = frozenset(
    {"days", "relative", "unit", "part", "short", "year", "ordinal", "dated", "dated end", "dated behind"}
)
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
        wanted = ((atom, order) for atom in free for order in ORDERS if order in atom.roles)
        order = next((order for atom, order in wanted if self._shows(atom.start, atom.end)), None)
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
        calendar = replace(self._calendar, coming=coming)
        if not any(_CORES & atom.roles.keys() for atom in self._atoms):
            return None
        grammar = Grammar(self._atoms, calendar, self._lexicon.bare, self._lexicon.language)
        found = [self._placed(*named) for named in grammar.read()]
        found = [named for named in found if self._shows(named[0], named[1])]
        return min(found, key=lambda named: named[2][1] - named[2][0], default=None) or self._lone()

    def follows(self, before: Days, year: int | None) -> Named | None:
        """Give the time that a turn names after one that named `before`, and `year` in numbers; None where alone."""
        found = Following(self._atoms, self._calendar, self._lexicon.bare, self._lexicon.language).read(before, year)
        if found:
            # All of it was looked at, so that all of it may show the language.
            return self._placed(*found) if self._shows(0, len(self._text)) else None
        return self.named if self.named and self._is_all(self.named) else None

    def _is_all(self, named: Named) -> bool:
        start, end, _ = named
        beside = (atom for atom in self._atoms if not (start <= atom.start and atom.end <= end))
        return all(not {"more", "sign", "little"}.isdisjoint(atom.roles) for atom in beside)

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
        """A year, day, month or week in numbers, or a word for a day, that is all there is to the question."""
        said = [atom for atom in self._atoms if "sign" not in atom.roles]
        days = self._alone(said) if said else None
        return (said[0].start, said[-1].end, days) if days else None

    def _alone(self, said: Sequence[Atom]) -> Days | None:
        if len(said) == 2:  # noqa: PLR2004 - as "week 51"
            return self._week_alone(*said)
        roles: Mapping[str, Any] = said[0].roles if len(said) == 1 else {}
        if "near year" in roles:
            return self._calendar.of_year(Part("year"), roles["near year"])
        if "relative" in roles:
            is_plain = is_only_a_day(self._text[said[0].start : said[0].end])
            return self._calendar.unit("day", roles["relative"]) if is_plain else None
        part = roles.get("part")
        is_meant = part is not None and part.kind in {"date", "week"}
        return self._calendar.meant(part) if part and is_meant else roles.get("days")

    def _week_alone(self, first: Atom, last: Atom) -> Days | None:
        """Read "week 51", "KW 51" and "51. hafta"; "51 weeks" are so many."""
        week = next((one for one in (first, last) if one.roles.get("unit") == "week"), None)
        number = first.roles.get("day") if week is last and "ordinal" in first.roles else last.roles.get("digits")
        return self._calendar.meant(Part("week", number)) if week and number else None

    def _shows(self, start: int, end: int) -> bool:
        """Say whether words are plainly of this language: two that its own have not, or one in another script."""
        if not self._own or NON_LATIN.search(self._text[start:end]):
            return True
        inside = [token.text for token in self._tokens if start <= token.start and token.end <= end]
        return sum(word.isalpha() and not any(word in own.longest for own in self._own) for word in inside) > 1

    def _read_atoms(self, text: str, tokens: Sequence[Token]) -> list[Atom]:
        numbers = numbers_in(text, self._lexicon, self._calendar)
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
        if not roles and self._lexicon.is_told(tokens[0].text):
            roles = {"told": True}
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
