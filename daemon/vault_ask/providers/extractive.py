"""The generator that needs no model: it quotes the sentences of the notes that answer, word for word.

Sentences are first ranked by the question's words in them and around them, then the best of those also by how close
their vector lies to the question's, which alone can tell when note and question are in different languages.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from vault_ask.answering.context import Excerpt
from vault_ask.answering.evidence import Prompt
from vault_ask.answering.ports import Piece, Quoted, Window
from vault_ask.answering.sayings import silence
from vault_ask.answering.sentences import LONGEST
from vault_ask.answering.standalone import asks
from vault_ask.answering.statements import key_of
from vault_ask.errors import ModelError
from vault_ask.index.embedding import Embedder, Refused
from vault_ask.index.terms import terms
from vault_ask.providers.extractive_choice import MOST_QUOTES, Candidate, fair_to_languages, name_of, within, worthy
from vault_ask.providers.extractive_unranked import is_wanted, listed, opening, said_in
from vault_ask.providers.extractive_words import Asked, asked_of
from vault_ask.retrieval.words import is_wordless

CANDIDATES = 16
"""Sentences that are embedded for one answer, beside one of each note that has none among them: at 5 to 10 ms each, all
they cost is a tenth of a second or two."""

SPOKEN_OF = 2
"""Where nothing of the note in question stands out, another note's sentence has to hold so many of the question's words
to be quoted: one alone (`summarise` in `summarise this note`) may well be what is to be done, and no subject."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What a sentence's score is the weighted sum of; each part lies between 0 and 1 but for the closeness."""

    words: float = 1.0
    """Share of the question's idf mass whose words stand in the sentence."""
    around: float = 0.25
    """The same for the sentence with its neighbours and the headings above."""
    below: float = 0.3
    """Taken from what the words of an outline's item above are worth: it says them itself."""
    passage: float = 0.5
    """The passage's score as a share of the best passage's."""
    closeness: float = 6.0
    """Cosine of question and sentence above the mean of the first candidates."""
    new: float = 0.15
    """Share of the sentence's words that the question does not hold: an answer says something."""
    asks: float = -0.3
    """For a sentence that ends in a question mark: it seldom answers one."""
    task: float = 1.0
    """For a task of the state that is asked for (`what is still open?`), against one of another state; times the
    score of the note's best passage as a share of the best one's, since every list has tasks that are open."""
    own: float = 0.5
    """For a sentence of the note in question, or of one that both it and the question name; another note's that holds
    more of the question's words still wins."""
    key: float = 1.0
    """For a property or an inline field, times the share of its key's words that the question asks for: who asks when
    something is `due` asks for that property before one with `service` in its value."""
    timely: float = 0.75
    """Times what the time that is asked for adds to the passage's score: who asks what was in April, or when something
    was last spoken of, is after a sentence of then."""


class ExtractiveGenerator:
    """Answers by quotes. `embedder` may be None, or fail: then words alone decide."""

    def __init__(self, *, embedder: Embedder | None, answer_chars: int = 700, weights: Weights | None = None) -> None:
        self._embedder = embedder
        self._answer_chars = answer_chars
        self._weights = weights or Weights()

    @property
    def name(self) -> str:
        """The name that settings and status give it."""
        return "extractive"

    @property
    def is_local(self) -> bool:
        """It runs inside the daemon."""
        return True

    @property
    def window(self) -> Window | None:
        """It has no limit of its own."""
        return None

    async def reach(self) -> None:
        """It is always there."""

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """Yield the quotes, the best first, at most `answer_chars` characters together; words where there are none."""
        quotes = await asyncio.to_thread(self.quotes, prompt)
        for quote in quotes:
            yield quote
        if not quotes:
            yield silence(prompt.answer_in or prompt.language, [])

    def quotes(self, prompt: Prompt) -> list[Quoted]:
        """Choose the quotes; what `stream` yields, for a caller that waits anyway."""
        if prompt.is_listing:
            fitting = within(listed(prompt, min(LONGEST, self._answer_chars)), self._answer_chars)
            return [Quoted(c.excerpt.n, c.span.start, c.span.end) for c in fitting] or opening(
                prompt, self._answer_chars
            )
        asked = asked_of(prompt)
        chosen = worthy(self._by_closeness(prompt, self._by_words(prompt, asked)), asked)
        if prompt.is_broad:
            chosen = _beginnings_and(chosen, prompt, min(LONGEST, self._answer_chars))
        quoted = [Quoted(c.excerpt.n, c.span.start, c.span.end) for c in within(chosen, self._answer_chars)]
        return quoted or opening(prompt, self._answer_chars)

    def _by_words(self, prompt: Prompt, asked: Asked) -> list[Candidate]:
        best = max((e.score for e in prompt.excerpts), default=0.0)
        shares: dict[str, float] = {}
        for excerpt in prompt.excerpts:
            shares[excerpt.path] = max(shares.get(excerpt.path, 0.0), _share(excerpt, best))
        named = _named_by_note_and_question(prompt, asked)
        found: list[Candidate] = []
        for excerpt in prompt.excerpts:
            is_meant = excerpt.in_question or excerpt.path in named
            prior = self._weights.passage * _share(excerpt, best)
            prior += self._weights.own if is_meant else 0.0
            prior += self._weights.timely * excerpt.timely if prompt.is_of_a_time else 0.0
            least = SPOKEN_OF if prompt.is_broad and not is_meant else 0
            of_tasks = self._weights.task * shares[excerpt.path]
            found.extend(
                _as_task(one, of_tasks * is_wanted(one.text, prompt.tasks))
                for one in self._of_excerpt(asked, excerpt, prior, least)
            )
        if self._embedder is not None:
            found = fair_to_languages(found, prompt.language)
        return sorted(found, key=lambda c: -c.score)

    def _of_excerpt(self, asked: Asked, excerpt: Excerpt, prior: float, least: int) -> Iterable[Candidate]:
        """Give the statements of an excerpt that hold at least so many of the question's words."""
        said = said_in(excerpt, min(LONGEST, self._answer_chars))
        bags = [frozenset(terms(statement.reading, excerpt.language)) for statement in said]
        title = frozenset(terms(excerpt.title, excerpt.language))
        above = title.union(terms(" ".join(excerpt.heading_path), excerpt.language))
        # The name of whose property it is says nothing new.
        repeats = [asked.is_repeated_in(bag - above if excerpt.of_properties else bag) for bag in bags]
        for place, (statement, bag) in enumerate(zip(said, bags, strict=True)):
            is_question = asks(statement.reading)
            if asked.count_in(bag) < least:
                continue
            if repeats[place] and (is_question or not (all(repeats) or asked.is_searched_for(bag))):
                continue
            for_key = self._weights.key * asked.share_asked_for(_key(statement.span.of(excerpt.text), excerpt))
            if for_key:
                # What a property or a field tells, it tells of its note.
                bag |= title  # noqa: PLW2901 # the words it is weighed by
            around = bag.union(above, *bags[max(0, place - 1) : place + 2])
            words = self._weights.words * asked.share_in(bag)
            if statement.above:
                own = frozenset(terms(statement.reading.removeprefix(statement.above), excerpt.language))
                words -= self._weights.words * self._weights.below * (asked.share_in(bag) - asked.share_in(own))
            more = self._weights.around * asked.share_in(around) + self._weights.new * asked.news_in(bag)
            if is_question:
                more += self._weights.asks
            yield Candidate(
                excerpt,
                statement,
                words,
                prior + words + more + for_key,
                held=asked.held_in(bag | title),
                titled=asked.held_in(title),
                is_telling=asked.count_in(bag) > 0 or excerpt.timely > 0,
                for_key=for_key,
            )

    def _by_closeness(self, prompt: Prompt, ranked: list[Candidate]) -> list[Candidate]:
        """Add the vectors' say to the best scores, and to that of each note's best; without any, leave them be."""
        question = prompt.query or prompt.question
        if self._embedder is None or not ranked or is_wordless(question):
            return ranked
        near, others = _each_note_in(ranked, CANDIDATES)
        try:
            asked = self._embedder.embed_query(question)
            vectors = self._embedder.embed_passages([c.statement.reading for c in near])
        except ModelError:
            return ranked
        cosines = [None if isinstance(v, Refused) else float(np.dot(asked, v)) for v in vectors]
        known = [c for c in cosines[:CANDIDATES] if c is not None]
        mean = sum(known) / len(known) if known else 0.0
        weight = self._weights.closeness
        closer = [
            replace(c, score=c.score + weight * ((mean if cosine is None else cosine) - mean))
            for c, cosine in zip(near, cosines, strict=True)
        ]
        return sorted(closer, key=lambda c: -c.score) + others


def _each_note_in(ranked: Sequence[Candidate], most: int) -> tuple[list[Candidate], list[Candidate]]:
    """Part the first candidates, and behind them the best one of each note that is not among them, from the rest."""
    first, rest = list(ranked[:most]), ranked[most:]
    notes = {candidate.excerpt.path for candidate in first}
    more: dict[str, Candidate] = {}
    for candidate in rest:
        if candidate.excerpt.path not in notes:
            more.setdefault(candidate.excerpt.path, candidate)
    added = list(more.values())
    return first + added, [candidate for candidate in rest if candidate not in added]


def _as_task(candidate: Candidate, worth: float) -> Candidate:
    """Add what a task of the state that is asked for, or of another, is worth; it is a task of what its note is on."""
    if not worth:
        return candidate
    named = replace(candidate.statement, reading=f"{candidate.excerpt.title}: {candidate.statement.reading}")
    return replace(candidate, score=candidate.score + worth, statement=named)


def _key(statement: str, excerpt: Excerpt) -> frozenset[str]:
    return frozenset(terms(key_of(statement, of_properties=excerpt.of_properties), excerpt.language))


def _named_by_note_and_question(prompt: Prompt, asked: Asked) -> frozenset[str]:
    """Give the notes that the question names and the note in question names or links to: it is about these as well."""
    own = [excerpt for excerpt in prompt.excerpts if excerpt.in_question]
    paths = {excerpt.path for excerpt in own}
    said = frozenset(term for excerpt in own for term in terms(excerpt.text, excerpt.language))
    named: set[str] = set()
    for excerpt in prompt.excerpts if own else ():
        title = name_of(excerpt)
        if title and title <= asked.terms and (title <= said or excerpt.via in paths):
            named.add(excerpt.path)
    return frozenset(named)


def _beginnings_and(ranked: list[Candidate], prompt: Prompt, longest: int) -> list[Candidate]:
    """Take by turns how a passage of the note in question begins, and the best sentences, as many as are quoted.

    A question about a note as a whole is near to no sentence of it; what it is about is told where it begins.
    """
    own = ((e, said_in(e, longest)) for e in prompt.excerpts if e.in_question and not e.of_properties)
    beginnings = [Candidate(excerpt, said[0], 0.0, 0.0) for excerpt, said in own if said]
    is_elsewhere = ranked and not ranked[0].excerpt.in_question
    turns = (ranked, beginnings) if is_elsewhere else (beginnings, ranked)
    by_turns = (one for pair in zip_longest(*turns) for one in pair if one is not None)
    return list({(one.excerpt.n, one.span): one for one in by_turns}.values())[:MOST_QUOTES]


def _share(excerpt: Excerpt, best: float) -> float:
    return max(excerpt.score, 0.0) / best if best > 0 else 0.0
