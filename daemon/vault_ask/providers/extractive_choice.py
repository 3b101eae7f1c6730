"""Which sentences make up an answer by quotes: the best one, then those that hold what it leaves open.

A question about two notes (`the rent of the flat I saw in Oslo`) has its second half answered by a sentence that is
seldom near to the whole of it. Such a sentence is known by the words of the question it adds, and by its note: one that
a quote names or links to.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from vault_ask.answering.context import Excerpt
from vault_ask.answering.regions import Span
from vault_ask.answering.standalone import Statement
from vault_ask.index.terms import terms
from vault_ask.providers.extractive_words import Asked
from vault_ask.retrieval.helpers import helpers_of

MOST_QUOTES = 5
WORTH_QUOTING = 0.5
"""A further quote needs this share of the best one's score. On the multilingual pack five such quotes hold the answer
in .93 of the questions where 700 characters of anything hold it in .955, in half the text (docs/measurements.md)."""

ADDED = 2.0
"""What a sentence of another note gains for all of the question's weight, as a share, that no quote holds yet."""
LEAST_ADDED, ADDED_WORDS = 0.1, 2
"""It has to add so much, in so many telling words: one alone stands in many a note by chance."""

LED_TO = 0.6
"""What a sentence gains whose note a quote leads to, by a link or by its name, as a share of the best one's score."""
ANSWERED = 0.85
"""Where the quotes hold this share of the question's weight, nobody need be led on."""

_QUALIFIER = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")
"""What tells two notes of one name apart: `Oslo (city)`."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement of an excerpt, what the question's words in it are worth, and how well it seems to answer.

    `held` are the words of the question that stand in it or in the title of its note, `titled` those in the title.
    `is_telling` says whether one that tells passages apart stands in it, or its note is of the time that is asked for.
    `for_key` is what its score has from being a property or a field whose key the question names.
    """

    excerpt: Excerpt
    statement: Statement
    words: float
    score: float
    held: frozenset[str] = frozenset()
    titled: frozenset[str] = frozenset()
    is_telling: bool = False
    for_key: float = 0.0

    @property
    def span(self) -> Span:
        """Where it stands in the excerpt."""
        return self.statement.span

    @property
    def text(self) -> str:
        """What would be quoted, verbatim."""
        return self.span.of(self.excerpt.text)

    @property
    def language(self) -> str:
        """That of its note."""
        return self.excerpt.language

    @property
    def is_idle(self) -> bool:
        """Whether it is a property without a word of the question, as `author: …` is where it is asked who wrote it."""
        return self.excerpt.of_properties and self.held <= self.titled and not self.for_key

    @property
    def only_dates(self) -> bool:
        """Whether it is a property that has nothing of the question but figures, as `date: 2026-05-06` has the year."""
        return self.excerpt.of_properties and bool(self.held) and not self.for_key and all(map(str.isdigit, self.held))


def fair_to_languages(found: Sequence[Candidate], asked_in: str) -> list[Candidate]:
    """Let words decide among sentences of one language only.

    A note in another language than the question's cannot hold its words; against the notes that can it would never
    win. Measured on the multilingual pack: 6 points more cross-language answers, none lost in the same language.
    """
    best: dict[str, float] = {}
    for candidate in found:
        language = _language(candidate, asked_in)
        best[language] = max(best.get(language, 0.0), candidate.words)
    return [replace(c, score=c.score - best[_language(c, asked_in)]) for c in found]


def _language(candidate: Candidate, asked_in: str) -> str:
    return asked_in if candidate.excerpt.language == "und" else candidate.excerpt.language


def worthy(ranked: Sequence[Candidate], asked: Asked) -> list[Candidate]:
    """Choose the candidates to quote, in order: the best, then what is worth most beside those chosen before it."""
    if not ranked:
        return []
    ranked = _idle_last(_sparing(ranked))
    # A date is an answer where it is the best one, and beside another it only says the question's year again.
    ranked = [ranked[0], *(one for one in ranked[1:] if not one.only_dates)]
    choice = _Choice(asked, ranked[0])
    # A key alone puts nothing else beside the point.
    least = WORTH_QUOTING * (ranked[0].score - ranked[0].for_key)
    left = list(ranked[1:])
    while left and len(choice.taken) < MOST_QUOTES:
        further = max(left, key=choice.worth)
        if choice.worth(further) < least:
            break
        left.remove(further)
        choice.take(further)
    return choice.taken


def _sparing(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Keep of a note's idle properties the best one: it may be the answer, the others are beside the point."""
    best: dict[str, Candidate] = {}
    for candidate in ranked:
        if candidate.is_idle:
            best.setdefault(candidate.excerpt.path, candidate)
    return [one for one in ranked if not one.is_idle or one is best[one.excerpt.path]]


def _idle_last(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Put idle properties behind what a note in their language says on the question; vectors alone speak for them."""
    spoken = {one.language for one in ranked if one.is_telling and not one.excerpt.of_properties}
    behind = [one for one in ranked if one.is_idle and (one.language in spoken or one.language == "und")]
    if not spoken or not behind:
        return list(ranked)
    last = max(at for at, one in enumerate(ranked) if one.is_telling and not one.excerpt.of_properties)
    first = [one for one in ranked[: last + 1] if one not in behind]
    return [*first, *(one for one in ranked if one not in first)]


class _Choice:
    """What is chosen so far, and what another candidate would be worth beside it."""

    def __init__(self, asked: Asked, best: Candidate) -> None:
        self._asked = asked
        self._language = best.language
        self._held = best.held
        self._leading = [best]
        self._notes = {best.excerpt.path}
        self.taken = [best]

    def worth(self, candidate: Candidate) -> float:
        """Give a candidate's score, and what it adds where it is of a note that is not quoted yet."""
        if candidate.excerpt.path in self._notes:
            return candidate.score
        return candidate.score + self._added(candidate) + self._led_to(candidate)

    def take(self, candidate: Candidate) -> None:
        """Choose a candidate; one that holds what was open may lead on to the next."""
        if self.worth(candidate) > candidate.score:
            self._leading.append(candidate)
        self.taken.append(candidate)
        self._held |= candidate.held
        self._notes.add(candidate.excerpt.path)

    def _added(self, candidate: Candidate) -> float:
        """Weigh the words it adds; in another language than the best quote's they are there by chance."""
        new = candidate.held - self._held
        share = self._asked.weight_of(new)
        if share < LEAST_ADDED or candidate.language not in (self._language, "und"):
            return 0.0
        is_telling = len(new & self._asked.telling) >= ADDED_WORDS or new & candidate.titled & self._asked.names
        return ADDED * share if is_telling else 0.0

    def _led_to(self, candidate: Candidate) -> float:
        if self._asked.weight_of(self._held) > ANSWERED:
            return 0.0
        is_led_to = any(_leads(quote, candidate.excerpt) for quote in self._leading)
        return LED_TO * self.taken[0].score if is_led_to else 0.0


def _leads(quote: Candidate, excerpt: Excerpt) -> bool:
    """Say whether a quote's note was what led to an excerpt, or its sentence names the excerpt's note."""
    if excerpt.via == quote.excerpt.path:
        return True
    name = name_of(excerpt, quote.language)
    return bool(name) and name <= _bag(quote.text, quote.language)


def name_of(excerpt: Excerpt, language: str | None = None) -> frozenset[str]:
    """Give the telling terms of an excerpt's title, in its own language or another."""
    language = language or excerpt.language
    return _bag(_QUALIFIER.sub("", excerpt.title), language) - _helpers(language)


@lru_cache(maxsize=256)
def _bag(text: str, language: str) -> frozenset[str]:
    return frozenset(terms(text, language))


@lru_cache(maxsize=16)
def _helpers(language: str) -> frozenset[str]:
    return _bag(" ".join(sorted(helpers_of(language))), language)


def within(chosen: Iterable[Candidate], room: int) -> list[Candidate]:
    """Take those that fit into the room, none of them twice."""
    taken: list[Candidate] = []
    said: set[str] = set()
    for candidate in chosen:
        text = " ".join(candidate.text.casefold().split())
        if len(candidate.text) <= room and text not in said:
            taken.append(candidate)
            said.add(text)
            room -= len(candidate.text)
    return taken
