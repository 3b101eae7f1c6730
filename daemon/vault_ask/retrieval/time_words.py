"""The words that name times, by language: tables of ours for the languages in data/when, dateparser's for others.

A table is a TOML file with these keys, each a list of words or phrases; `(a|b)` stands for either, `(|n)` for perhaps:

- ereyesterday, yesterday, today, tomorrow, overmorrow: single days
- day, week, month, year, quarter: what is counted
- weekend, spring ... winter, christmas, easter, newyear: what comes round
- months, weekdays, quarters: lists of 12, 7 and 4, other forms behind `|`; numbers: 1, 2, 3 ... the same way;
  dates: the days of a month as they are called beside its name ("am dritten April")
- last, this, next: before or behind what they turn; past: the same, up to today ("the past week");
  before last: the one before ("vorletzte Woche")
- ago: before or behind a count; ones: what stands beside it for one of them without a number ("неделю назад")
- early, mid, late: a third of what follows; first week, last week, first half, second half: what they say of it
- between ... and, from ... to, since, until, before, after
- on: what makes a bare name a time ("in April"); "on days": the same for days alone ("on Tuesday");
  "on days ahead": only where the question looks ahead ("plans for Tuesday")
- little: what may stand in between and tells nothing
- bare: kinds of names that are times without any of these, but for the `weak` ones; `strict` ones want even more
- every: what makes a name a habit; general: the same, wherever it stands ("usually"); told, told endings: words and
  endings that tell what was, without which a season is each one; future: what makes a name the coming one;
  ahead: the same, wherever the phrase stands and whatever else its words are
- latest, earliest, often: orders; closing: what is latest at the end of a question
- more: what opens a turn that says nothing but another time ("and", "what about"); earlier, later: before or behind
  what is beside the time of the turn before ("the week before"); following: phrases for it ("la veille" = "-1 day")
- dated: what makes a number the day of a month ("el día 3"); dated end: the same at the end of a sentence ("le 3")
- happened: what tells only that something was, beside the language's stop words but `content`
- other: what looks like one of the above and is not
- order: how 8/3/2026 is read, `day-first` or `month-first`; dotted: whether 8.3. is a day
- behind: keys whose words stand behind what they are about ("since" in Finnish)
- phrases: other phrases and what they are in English
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from vault_ask.notes.date_names import names_of
from vault_ask.notes.written_dates import DayOrder
from vault_ask.retrieval.helpers import helpers_of
from vault_ask.retrieval.time_calendar import DAY_NAMES, PARTS, PIECES, UNITS, Part
from vault_ask.retrieval.time_tokens import NON_LATIN, Phrase, Token, alternatives, spelled, tokens_of, without_accents

FLAGS = (
    *("last", "past", "this", "next", "ago", *PIECES, "between", "and", "from", "to", "since", "until"),
    *("before", "after", "on", "on days", "every", "little", "future", "latest", "earliest", "often", "ones"),
    *(
        "closing",
        "general",
        "before last",
        "on days ahead",
        "more",
        "earlier",
        "later",
        "told",
        "dated",
        "dated end",
        "dated behind",
    ),
)

_TELLING = frozenset({"relative", "part", "unit", "phrase", "step", "latest", "earliest", "often", "closing"})

Roles = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """What the words of one language mean for time: phrases to roles, and how long a phrase may be that starts so."""

    language: str
    roles: Mapping[Phrase, Roles]
    longest: Mapping[str, int]
    telling: frozenset[str]
    """The words of which one has to be there for a time or an order to be named, but by numbers."""
    bare: frozenset[str] = frozenset()
    weak: frozenset[Phrase] = frozenset()
    strict: frozenset[Phrase] = frozenset()
    is_dotted: bool = False
    order: DayOrder | None = None
    ahead: frozenset[Phrase] = frozenset()
    happened: frozenset[Phrase] = frozenset()
    content: frozenset[Phrase] = frozenset()
    told_endings: tuple[str, ...] = ()

    def looks_ahead(self, tokens: Sequence[Token]) -> bool:
        """Say whether a phrase among some tokens is one of plans."""
        text = f" {' '.join(token.text for token in tokens if any(map(str.isalnum, token.text)))} "
        return any(f" {' '.join(phrase)} " in text for phrase in self.ahead)

    def is_told(self, word: str) -> bool:
        """Say whether a word that means no time ends as verbs do that tell what was."""
        return len(word) >= _SHORTEST_VERB and word.endswith(self.told_endings)

    def match(self, tokens: Sequence[Token], at: int) -> tuple[int, Roles] | None:
        """Find the longest phrase that begins at a token: how many tokens it has, and its roles."""
        for length in range(self.longest.get(tokens[at].text, 0), 0, -1):
            roles = self.roles.get(tuple(token.text for token in tokens[at : at + length]))
            if roles is not None:
                return length, roles
        return None


@cache
def lexicon_of(language: str) -> Lexicon:
    """Give the words of a language; of one that nobody has a table for, none."""
    file = files("vault_ask.retrieval").joinpath("data", "when", f"{table_of(language)}.toml")
    if not file.is_file():
        return _Builder(language, {}).from_dateparser()
    return _Builder(language, tomllib.loads(file.read_text(encoding="utf-8"))).built()


def table_of(language: str) -> str:
    """Give the language whose table a language has: Norwegian has one for both of its forms."""
    return _SAME.get(language, language)


@cache
def languages_by_word() -> Mapping[str, frozenset[str]]:
    """Give, for each word by which a time may be known, the languages in which it may, English aside."""
    found: dict[str, set[str]] = {}
    for language in WRITTEN[1:]:
        for word in lexicon_of(language).telling:
            found.setdefault(word, set()).add(language)
    return {word: frozenset(languages) for word, languages in found.items()}


@cache
def is_only_a_day(word: str) -> bool:
    """Say whether a phrase means one day, and the same one, in whatever language knows it: "gestern", not "hier"."""
    phrase = tuple(token.text for token in tokens_of(word))
    meant = {name: lexicon_of(name).roles.get(phrase, {}).get("relative") for name in WRITTEN}
    days = {day for day in meant.values() if day is not None}
    return len(days) == 1 and not any(
        " ".join(phrase) in helpers_of(name) for name, day in meant.items() if day is None
    )


_SAME = {"nb": "no", "nn": "no"}
WRITTEN = (
    *("en", "de", "sv", "da", "no", "fi", "nl", "fr", "es", "pt", "it", "ru", "uk", "pl", "cs", "tr", "ar", "zh"),
    *("ja", "ko"),
)
"""The languages that have a table of ours."""


@dataclass(slots=True)
class _Builder:
    """Puts a lexicon together."""

    language: str
    table: Mapping[str, Any]
    roles: dict[Phrase, dict[str, Any]] = field(default_factory=dict)

    def built(self) -> Lexicon:
        table = self.table
        for name, offset in DAY_NAMES.items():
            self._say(table.get(name, ()), "relative", offset)
        for unit in UNITS:
            self._say(table.get(unit, ()), "unit", unit)
        for name, part in PARTS.items():
            self._say(table.get(name, ()), "part", part)
        for flag in FLAGS:
            role = f"{flag} behind" if flag in table.get("behind", ()) else flag
            self._say(table.get(flag, ()), role, value=True)
        for kind, names, start in (("month", "months", 1), ("weekday", "weekdays", 0), ("quarter", "quarters", 1)):
            for number, forms in enumerate(table.get(names, ()), start):
                self._say(alternatives(forms), "part", Part(kind, number))
        for key, role in (("numbers", "number"), ("dates", "day")):
            for number, forms in enumerate(table.get(key, ()), 1):
                self._say(alternatives(forms), role, number)
        self._say(table.get("other", ()), "other", value=True)
        for phrase, meaning in table.get("phrases", {}).items():
            self._say([phrase], "phrase" if meaning else "other", meaning or True, alone=True)
        self._steps()
        self._abbreviations()
        return self._finished()

    def from_dateparser(self) -> Lexicon:
        """Know what dateparser's table has: the names of months and days, yesterday, last week and their like."""
        names = names_of(self.language)
        for kind, named in (("month", names.months), ("weekday", names.weekdays)):
            for name, number in named.items():
                if len(name) > _LONGEST_ABBREVIATION or NON_LATIN.search(name):
                    self._say([name], "part", Part(kind, number))
        for meaning, phrases in names.relative.items():
            self._say([phrase for phrase in phrases if len(phrase) > _LONGEST_ABBREVIATION], "phrase", meaning)
        return self._finished()

    def _steps(self) -> None:
        for phrase, step in self.table.get("following", {}).items():
            count, unit = step.split()
            self._say([phrase], "step", (int(count), unit))

    def _abbreviations(self) -> None:
        """Know short names of months where a number stands beside them (8 Mar), as a role of their own."""
        for name, month in names_of(self.language).months.items():
            for phrase in spelled(name):
                self.roles.setdefault(phrase, {}).setdefault("short", month)

    def _say(self, phrases: Sequence[str], role: str, value: Any, *, alone: bool = False) -> None:  # noqa: ANN401 - as a role has it
        for written in phrases:
            for phrase in spelled(written):
                said = {} if alone else self.roles.get(phrase, {})
                # What was said first is meant: a table's own names come before abbreviations.
                self.roles[phrase] = {**said, role: said.get(role, value)}

    def _finished(self) -> Lexicon:
        for phrase in [phrase for phrase in self.roles if phrase]:
            bare = without_accents(phrase)
            # Typed without accents, as on a foreign keyboard, where that is no other word.
            if bare != phrase and sum(map(len, bare)) >= _SHORTEST_BARE and not NON_LATIN.search("".join(bare)):
                self.roles.setdefault(bare, self.roles[phrase])
        shared: dict[tuple[tuple[str, Any], ...], Roles] = {}
        same = {phrase: shared.setdefault(tuple(sorted(roles.items())), roles) for phrase, roles in self.roles.items()}
        longest: dict[str, int] = {}
        for phrase in self.roles:
            longest[phrase[0]] = max(longest.get(phrase[0], 0), len(phrase))
        return Lexicon(
            self.language,
            same,
            longest,
            frozenset(_most_telling(phrase) for phrase, roles in same.items() if not _TELLING.isdisjoint(roles)),
            bare=frozenset(self.table.get("bare", ())),
            weak=self._listed("weak"),
            strict=self._listed("strict"),
            is_dotted=bool(self.table.get("dotted", False)),
            order=self.table.get("order"),
            ahead=self._listed("ahead"),
            happened=self._listed("happened"),
            content=self._listed("content"),
            told_endings=tuple(self.table.get("told endings", ())),
        )

    def _listed(self, key: str) -> frozenset[Phrase]:
        return frozenset(phrase for written in self.table.get(key, ()) for phrase in spelled(written))


_LONGEST_ABBREVIATION = 3
_SHORTEST_BARE = 3
_SHORTEST_VERB = 4


def _most_telling(phrase: Phrase) -> str:
    """Give the longest word of a phrase, the last of several: `the day before yesterday` is known by its end."""
    return max(reversed(phrase), key=len)
