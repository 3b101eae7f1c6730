"""What is known of the passages that one question looks at; each is read once, whoever asks for it.

Knows vectors, words and days, and nothing of scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Generic

from vault_ask.index.reading.text import Passage
from vault_ask.index.terms import terms
from vault_ask.index.view import VaultView
from vault_ask.retrieval.fusion import Evidence, confidence
from vault_ask.retrieval.nearness import Asked
from vault_ask.retrieval.when import Order
from vault_ask.retrieval.words import Words
from vault_ask.scope import S

NEAREST = 10
"""Of so many passages nearest in meaning it is asked which are in the question's language."""

CLOSE = 2
"""Terms within which a word follows another one: a variant of it, or a short word, may stand between."""


class Examiner(Generic[S]):
    """Looks at chunks for one question: reads passages and vectors, and tells what speaks for each."""

    def __init__(
        self,
        view: VaultView[S],
        words: Words,
        asked: Asked | None,
        *,
        bm25: Mapping[int, float],
        cosines: Mapping[int, float],
        days: tuple[int, int] | None = None,
    ) -> None:
        self.passages: dict[int, Passage[S]] = {}
        self._view: VaultView[S] = view
        self._words = words
        self._asked = asked
        self._bm25 = bm25
        self._cosines = dict(cosines)
        self._days = days
        self._held: dict[int, set[str]] = {}
        self._mass = words.mass
        self._weights: dict[str, dict[str, float]] = {}
        self._spread = (0.0, 1.0) if asked is None else view.vectors.centring().spread(asked.centred)

    def read(self, chunks: Sequence[int]) -> list[int]:
        """Read chunks whole; gives those of them that are there."""
        fresh = [chunk for chunk in chunks if chunk not in self.passages]
        if fresh:
            self.passages.update(self._view.text.passages(fresh))
            self.measure(fresh)
        return [chunk for chunk in chunks if chunk in self.passages]

    def measure(self, chunks: Sequence[int]) -> None:
        """Learn how near chunks are and which words they hold, without their text."""
        fresh = [chunk for chunk in chunks if chunk not in self._held]
        if not fresh:
            return
        self._held.update({chunk: set() for chunk in fresh})
        for word, query in self._words.queries.items():
            for chunk in self._view.words.matched(query, fresh):
                self._held[chunk].add(word)
        if self._asked is not None:
            unknown = [chunk for chunk in fresh if chunk not in self._cosines]
            for chunk, vector in self._view.vectors.centred(unknown).items():
                self._cosines[chunk] = float(vector @ self._asked.centred)

    def held(self, chunk: int) -> set[str]:
        """Give the words of the question that a chunk holds, of those that count."""
        return self._held[chunk]

    def share(self, words: set[str], language: str) -> float:
        """Give the share of the question's idf mass that words have in a text of a language."""
        weights = self._weights.get(language)
        if weights is None:
            trusted = {word: idf * self._words.trust(word, language) for word, idf in self._words.idf.items()}
            weights = self._weights[language] = trusted
        return sum(weights[word] for word in words) / self._mass if self._mass else 0.0

    def z(self, chunk: int) -> float | None:
        """Tell how many standard deviations a chunk lies above the vault's mean for this question."""
        mean, deviation = self._spread
        return (self._cosines[chunk] - mean) / deviation if chunk in self._cosines else None

    def above_mean(self, chunk: int) -> float:
        """Give the cosine of a chunk less the vault's mean; 0 without a vector."""
        return self._cosines.get(chunk, self._spread[0]) - self._spread[0]

    def bm25(self, chunk: int) -> float:
        """Give the BM25 of a chunk, 0 where no word matches."""
        return self._bm25.get(chunk, 0.0)

    def evidence(self, chunk: int) -> Evidence:
        """Tell all that speaks for a chunk that was read."""
        passage = self.passages[chunk]
        return Evidence(
            z=self.z(chunk),
            bm25=self.bm25(chunk),
            coverage=self.share(self._held[chunk], passage.language),
            dated=float(self._is_of_the_days(passage)),
        )

    def trust_in_words(self, evidence: Mapping[int, Evidence], near: Sequence[int]) -> float:
        """Say how far the word arm is to be trusted for this question (see fusion.confidence)."""
        best = max((known.coverage for known in evidence.values()), default=0.0)
        languages = [self.passages[chunk].language for chunk in near[:NEAREST] if chunk in self.passages]
        own = sum(language in (self._words.language, "und") for language in languages)
        meet = any(evidence[chunk].coverage == best for chunk in near if chunk in evidence)
        return confidence(best, own / len(languages) if languages else 1.0, meet=meet)

    def phrase(self, chunk: int) -> float:
        """Give the share of the idf mass whose words follow each other as they do in the question, or nearly."""
        held = self._held[chunk]
        wanted = [(one, other) for one, other in self._pairs if one in held and other in held]
        if not wanted:
            return 0.0
        passage = self.passages[chunk]
        places: dict[str, list[int]] = {}
        for place, term in enumerate(terms(passage.body, passage.language)):
            places.setdefault(term, []).append(place)
        idf = self._words.idf
        found = sum((idf[one] + idf[other]) / 2 for one, other in wanted if self._follow(one, other, places))
        return found / self._mass

    @cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        idf = self._words.idf
        return [(one, other) for one, other in pairwise(self._words.terms) if idf[one] > 0 and idf[other] > 0]

    def _follow(self, one: str, other: str, places: Mapping[str, list[int]]) -> bool:
        first = (place for term in self._words.terms[one] for place in places.get(term, ()))
        after = {place for term in self._words.terms[other] for place in places.get(term, ())}
        return any(after.intersection(range(place + 1, place + 1 + CLOSE)) for place in first)

    def _is_of_the_days(self, passage: Passage[S]) -> bool:
        if self._days is None or passage.days is None:
            return False
        return passage.days[0] <= self._days[1] and self._days[0] <= passage.days[1]


def timed(
    evidence: Mapping[int, Evidence], passages: Mapping[int, Passage[S]], order: Order | None, *, until: int
) -> Mapping[int, Evidence]:
    """Tell of each of some dated passages how far it is towards the end of time that is asked for, among them.

    The latest is looked for up to the day `until`; what is later counts only where nothing else has a day.
    """
    if order not in ("latest", "earliest"):
        return evidence
    dated = {chunk: days for chunk in evidence if (days := passages[chunk].days) is not None}
    has_begun = {chunk: min(last, until) for chunk, (first, last) in dated.items() if first <= until}
    counted = has_begun if order == "latest" and has_begun else {chunk: last for chunk, (_, last) in dated.items()}
    in_order = sorted(set(counted.values()))
    if len(in_order) < 2 and len(counted) == len(dated):  # noqa: PLR2004 - one day is neither late nor early
        return evidence
    place = {day: at / max(1, len(in_order) - 1) for at, day in enumerate(in_order)}

    def towards(chunk: int) -> float:
        if chunk not in counted:
            return 0.0
        # One day alone among planned ones is the latest.
        at = place[counted[chunk]] if len(place) > 1 else 1.0
        return at if order == "latest" else 1.0 - at

    return {chunk: replace(known, timely=towards(chunk)) for chunk, known in evidence.items()}
