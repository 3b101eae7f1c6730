"""A second look at the best candidates, by a model that reads the question and a passage together.

It is asked for one thing, an order, and given little time for it. Whatever goes wrong with it, the order of fusion
stands, and the reader is told in a sentence. What a model that runs elsewhere may be given is decided by type: a
shortlist keeps the scope its passages were found under, and no remote reranker takes one that may hold personal notes.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from threading import BoundedSemaphore, Thread
from typing import Generic, Literal, Protocol

import structlog

from vault_ask.errors import ModelBusy, ModelError, ModelRefused, ModelUnreachable
from vault_ask.index.reading.text import Passage
from vault_ask.retrieval.candidates import Candidate
from vault_ask.scope import OpenScope, PrivateScope, S
from vault_ask.settings.retrieval import RerankSettings

log = structlog.get_logger()

AT_ONCE = 2
"""Calls that may be under way, late ones among them: as many as there are searches at a time."""

MOST_CHARACTERS = 4_000
"""Of a longer passage the beginning: rerankers read 512 to 8,192 tokens, and their servers refuse more, or are slow."""


@dataclass(frozen=True, slots=True)
class Shortlist(Generic[S]):
    """The passages that a reranker is to put in order, best first so far, in the scope they were found under."""

    passages: tuple[Passage[S], ...]

    @property
    def texts(self) -> list[str]:
        """What it reads of each of them: title, headings and text, as a generator would be shown them."""
        return [_text(passage) for passage in self.passages]


class RemoteReranker(Protocol):
    """Scores open passages, on machines of somebody else's."""

    @property
    def name(self) -> str:
        """What to call it on a status page, e.g. `cohere/rerank-v3.5`."""
        ...

    @property
    def is_local(self) -> Literal[False]:
        """Whether text given to it stays on the owner's machines: no."""
        ...

    def warm(self) -> None:
        """Do now what the first call would wait for; may take seconds."""
        ...

    def score(self, question: str, shortlist: Shortlist[OpenScope]) -> list[float]:
        """Give each passage a score, in the order of the shortlist: the higher, the more it answers the question.

        Scores of one call compare with each other and with nothing else. Raises ModelError.
        """
        ...


class LocalReranker(Protocol):
    """The same on the owner's machines, where personal passages may be scored too."""

    @property
    def name(self) -> str:
        """What to call it on a status page, e.g. `infinity/BAAI/bge-reranker-v2-m3`."""
        ...

    @property
    def is_local(self) -> Literal[True]:
        """Whether text given to it stays on the owner's machines: yes."""
        ...

    def warm(self) -> None:
        """Do now what the first call would wait for; may take seconds."""
        ...

    def score(self, question: str, shortlist: Shortlist[OpenScope] | Shortlist[PrivateScope]) -> list[float]:
        """Give each passage a score, in the order of the shortlist, as a remote one does. Raises ModelError.

        ModelRefused, and nothing sent, where the machine turns out not to be the owner's.
        """
        ...


Reranker = RemoteReranker | LocalReranker


@dataclass(frozen=True, slots=True)
class Reranked(Generic[S]):
    """All candidates, best first; where they are not reranked although they should be, a notice says why.

    `given_to` names the reranker if it was given passages, whatever became of them.
    """

    ranked: list[Candidate[S]]
    notice: str | None = None
    given_to: str | None = None


class Reranking:
    """Reranks under one configuration; safe to use from several threads."""

    def __init__(self, reranker: Reranker, settings: RerankSettings) -> None:
        self.reranker = reranker
        self._candidates = settings.candidates
        self._seconds = settings.timeout_seconds
        self._places = BoundedSemaphore(AT_ONCE)

    def rerank(self, question: str, ranked: Sequence[Candidate[S]], scope: S) -> Reranked[S]:
        """Put the best of some ranked candidates in the reranker's order; the others follow as they were.

        `ranked` is best first. The result is in order and needs no sorting. Blocks for `rerank.timeout_seconds` at
        most; raises nothing.
        """
        reranker = self.reranker
        best: Sequence[Candidate[S]] = ranked[: self._candidates]
        if len(best) <= 1:
            return Reranked(list(ranked))
        if not reranker.is_local and isinstance(scope, PrivateScope):
            return Reranked(list(ranked), _personal(reranker.name))
        shortlist: Shortlist[S] = Shortlist(tuple(candidate.passage for candidate in best))
        try:
            scores: list[float] = self._in_time(partial(reranker.score, question, shortlist))
            _check(scores, len(best), reranker.name)
        except _NotAsked as refusal:
            return Reranked(list(ranked), f"Not reranked: {refusal}")
        except ModelError as error:
            return Reranked(list(ranked), f"Not reranked: {error}", reranker.name)
        return Reranked(reordered(best, scores) + list(ranked[len(best) :]), given_to=reranker.name)

    def _in_time(self, work: Callable[[], list[float]]) -> list[float]:
        """Wait for a call as long as there is time; one that is late goes on alone, and its place with it.

        In a thread of its own that nobody waits for at the end, as they would for an executor's. Raises ModelError.
        """
        if not self._places.acquire(blocking=False):
            raise _NotAsked(
                f"{self.reranker.name} is still busy with earlier questions. Ask again in a while, or look at its "
                "server."
            )
        answer: Future[list[float]] = Future()
        Thread(target=self._call, args=(work, answer), name="rerank", daemon=True).start()
        try:
            return answer.result(self._seconds)
        except TimeoutError:
            raise ModelUnreachable(
                f"{self.reranker.name} did not answer within {self._seconds:g} seconds. Look at its server, or raise "
                "rerank.timeout_seconds."
            ) from None

    def _call(self, work: Callable[[], list[float]], answer: "Future[list[float]]") -> None:
        try:
            answer.set_result(work())
        except ModelError as error:
            answer.set_exception(error)
        except Exception as error:  # noqa: BLE001 # a search must not fail for what is only an option
            log.error("reranking failed", kind=type(error).__name__)
            answer.set_exception(ModelRefused(f"{self.reranker.name} failed in an unforeseen way; the log names it."))
        finally:
            self._places.release()


class _NotAsked(ModelBusy):
    """Nothing was sent."""


def reordered(candidates: Sequence[Candidate[S]], scores: Sequence[float]) -> list[Candidate[S]]:
    """Put candidates in the order of a reranker's scores; where those are equal, they stay as they were.

    Each takes the score of the place it comes to, so that scores mean what they meant before, whatever scale the
    reranker has. What that gives or takes is its part `rerank`.
    """
    order = sorted(range(len(candidates)), key=lambda at: -scores[at])
    places = sorted((candidate.score for candidate in candidates), reverse=True)
    return [_placed(candidates[at], score) for at, score in zip(order, places, strict=True)]


def _placed(candidate: Candidate[S], score: float) -> Candidate[S]:
    return replace(candidate, parts={**candidate.parts, "rerank": score - candidate.score})


def _check(scores: Sequence[float], count: int, name: str) -> None:
    """Refuse what cannot be an order. Raises ModelRefused."""
    if len(scores) != count or not all(map(math.isfinite, scores)):
        raise ModelRefused(
            f"{name} did not give every passage a score. Check that rerank.model is a reranking model and fits its "
            "server."
        )


def _personal(name: str) -> str:
    return (
        f"Not reranked: {name} does not run on your machines, so it is given no personal notes. Ask without them, or "
        "name a reranker of your own in rerank.model."
    )


def _text(passage: Passage[S]) -> str:
    place = " > ".join(dict.fromkeys((passage.title, *filter(None, passage.heading_path))))
    return f"{place}\n\n{passage.body}".strip()[:MOST_CHARACTERS]
