"""Finds the passages that answer a question: two arms, one fusion, a cap a note; every hit with its trace.

Knows nothing of answers. Runs in a worker thread, on a view that decides what there is to be found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np
import structlog

from vault_ask.errors import IndexDamaged, IndexFailed, ModelError
from vault_ask.index.embedding import Embedder, Vector
from vault_ask.index.view import Passage, VaultView
from vault_ask.notes.language import LanguageDetector
from vault_ask.retrieval.fusion import Evidence, blend, confidence, reciprocal_rank_fusion
from vault_ask.retrieval.hits import Hit, Provenance, Retrieved
from vault_ask.retrieval.nearness import ALIKE, AT_HAND, Asked, Nearness, measure_nearness
from vault_ask.retrieval.selection import select
from vault_ask.retrieval.words import Words, is_wordless, read_words
from vault_ask.scope import OpenScope, PrivateScope
from vault_ask.settings import RetrievalSettings

log = structlog.get_logger()

S = TypeVar("S", OpenScope, PrivateScope)
Arm = Literal["hybrid", "vector", "text"]

BM25_REACH = 10
"""The word arm is read this many times deeper than it is used, to know the BM25 of what the vectors found."""

LONGEST_NOTE = 400
"""Chunks of the note in question that are looked at: about 100,000 words."""

BEST = 3
"""How many of the best passages tell how close the vault comes to the question."""


@dataclass(frozen=True, slots=True)
class _Meaning:
    """The vector arm: the nearest chunks, and the question (None when the arm took no part)."""

    ranked: list[tuple[int, float]]
    asked: Asked | None
    notice: str | None = None

    @property
    def question(self) -> Vector | None:
        """The question's centred vector."""
        return self.asked.centred if self.asked else None


@dataclass(frozen=True, slots=True)
class _Gathered:
    """What the arms brought: chunks by words with their BM25, chunks by meaning, and those of the note in question."""

    lexical: list[tuple[int, float]]
    meaning: _Meaning
    own: list[int]


@dataclass(frozen=True, slots=True)
class _Candidate(Generic[S]):
    passage: Passage[S]
    parts: Mapping[str, float]
    evidence: Evidence
    above_mean: float
    """Its cosine less the vault's mean cosine for this question; 0 without a vector."""
    provenance: Provenance

    @property
    def score(self) -> float:
        return sum(self.parts.values())


class Retriever:
    """Retrieves under one configuration; safe to use from several threads, each with its own view."""

    def __init__(self, *, embedder: Embedder | None, languages: LanguageDetector, settings: RetrievalSettings) -> None:
        self._embedder = embedder
        self._languages = languages
        self._settings = settings

    def retrieve(
        self,
        view: VaultView[S],
        question: str,
        *,
        k: int | None = None,
        per_note: int | None = None,
        arm: Arm = "hybrid",
        note: str | None = None,
    ) -> Retrieved[S]:
        """Find the passages of a view that answer a question, best first.

        `note` is the path of the note the question is about: its best passages come first and take up to half of the
        places. An arm that cannot take part is told in `notices`, and the other one answers alone.
        """
        k = k or self._settings.top_k
        language = self._language(view, question)
        words = read_words(question, view, language)
        lexical, lexical_notice = self._lexical(view, words) if arm != "vector" else ([], None)
        meaning = self._meaning(view, question, language) if arm != "text" else _Meaning([], None)
        own = view.chunks_of(note)[:LONGEST_NOTE] if note else []
        candidates = self._candidates(view, words, _Gathered(lexical, meaning, own), arm)
        ranked = sorted(candidates, key=lambda candidate: (-candidate.score, candidate.passage.chunk))
        asked_of = set(own)
        first = [candidate for candidate in ranked if candidate.passage.chunk in asked_of][: -(-k // 2)]
        others = [candidate for candidate in ranked if candidate.passage.path != note]
        chosen = first + select(
            others,
            note_of=lambda candidate: candidate.passage.note,
            per_note=per_note or self._settings.per_note,
            k=k - len(first),
        )
        return Retrieved(
            hits=tuple(_hit(candidate) for candidate in chosen),
            language=language,
            idf=words.idf,
            closeness=1.0 if first else max((c.above_mean for c in chosen[:BEST]), default=0.0),
            coverage=max((c.evidence.coverage for c in chosen[:BEST]), default=0.0),
            covered=max((c.evidence.coverage for c in candidates), default=0.0),
            nearness=AT_HAND if first else self._nearness(view, meaning, candidates),
            chunks=view.tallies().chunks,
            notices=tuple(notice for notice in (meaning.notice, lexical_notice) if notice),
        )

    def _language(self, view: VaultView[S], question: str) -> str:
        found = self._languages.detect(question)
        if found != "und":
            return found
        spoken = view.tallies().by_language
        most: str = max(spoken, key=lambda language: spoken[language], default="und")
        return most

    def _lexical(self, view: VaultView[S], words: Words) -> tuple[list[tuple[int, float]], str | None]:
        if not words.query:
            return [], None
        try:
            return view.matching(words.query, self._settings.text_k * BM25_REACH), None
        except IndexDamaged:
            raise
        except IndexFailed as error:
            log.error("word search failed", sentence=str(error))
            return [], "The word index could not be searched, so these hits were found by meaning alone."

    def _meaning(self, view: VaultView[S], question: str, language: str) -> _Meaning:
        if self._embedder is None or is_wordless(question):
            return _Meaning([], None)
        if view.space is None:
            return _Meaning([], None, _NO_VECTORS)
        try:
            if view.space != self._embedder.space.fingerprint:
                return _Meaning([], None, _OTHER_SPACE)
            raw = self._embedder.embed_query(question)
        except ModelError as error:
            return _Meaning([], None, f"Found by words alone: {error}")
        centred = view.centring().centre_question(raw, language)
        return _Meaning(view.nearest(centred, self._settings.vector_k), Asked(raw, centred, language))

    def _nearness(self, view: VaultView[S], meaning: _Meaning, candidates: Sequence[_Candidate[S]]) -> Nearness | None:
        """Measure by meaning; where the passage with most of the question's words has no vector yet, words decide."""
        evidence = [candidate.evidence for candidate in candidates]
        best = max(evidence, key=lambda known: (known.coverage, known.z is not None), default=None)
        if self._embedder is None or meaning.asked is None or best is None or (best.coverage and best.z is None):
            return None
        languages = {candidate.passage.chunk: candidate.passage.language for candidate in candidates}
        nearest = [chunk for chunk, _ in meaning.ranked[:ALIKE] if chunk in languages]
        vectors = view.centred_vectors(nearest)
        return measure_nearness(
            meaning.asked,
            [(vectors[chunk], languages[chunk]) for chunk in nearest if chunk in vectors],
            deviations=max(known.z or 0.0 for known in evidence),
            centring=view.centring(),
            priors=self._embedder.priors(),
        )

    def _candidates(self, view: VaultView[S], words: Words, gathered: _Gathered, arm: Arm) -> list[_Candidate[S]]:
        lexical, meaning = gathered.lexical, gathered.meaning
        by_words = dict(lexical)
        top_words: list[int] = [chunk for chunk, _ in lexical[: self._settings.text_k]]
        near: list[int] = [chunk for chunk, _ in meaning.ranked]
        wanted = list(dict.fromkeys((*near, *top_words, *gathered.own)))
        passages = view.passages(wanted)
        cosines = self._cosines(view, meaning, wanted)
        mean, deviation = view.centring().spread(meaning.question) if meaning.question is not None else (0.0, 1.0)
        evidence = {
            chunk: Evidence(
                z=(cosines[chunk] - mean) / deviation if chunk in cosines else None,
                bm25=by_words.get(chunk, 0.0),
                coverage=words.coverage(f"{passage.prelude}\n{passage.body}", passage.language),
            )
            for chunk, passage in passages.items()
        }
        parts = self._parts(evidence, near, top_words, arm)
        return [
            _Candidate(
                passage,
                parts[chunk],
                evidence[chunk],
                cosines.get(chunk, mean) - mean,
                _provenance(chunk, near, top_words),
            )
            for chunk, passage in passages.items()
        ]

    def _parts(
        self, evidence: Mapping[int, Evidence], near: Sequence[int], top_words: Sequence[int], arm: Arm
    ) -> dict[int, Mapping[str, float]]:
        """Give the parts of each candidate's score, by the configured fusion or the one arm that was asked for."""
        if arm == "vector":
            return {chunk: {"vector": -np.inf if known.z is None else known.z} for chunk, known in evidence.items()}
        if arm == "text":
            return {chunk: {"bm25": known.bm25} for chunk, known in evidence.items()}
        if self._settings.fusion == "rrf":
            ranked = reciprocal_rank_fusion({"vector": near, "bm25": top_words})
            return {chunk: ranked.get(chunk, {}) for chunk in evidence}
        words = confidence(max((known.coverage for known in evidence.values()), default=0.0))
        return {chunk: blend(known, words) for chunk, known in evidence.items()}

    @staticmethod
    def _cosines(view: VaultView[S], meaning: _Meaning, wanted: Sequence[int]) -> dict[int, float]:
        if meaning.question is None:
            return {}
        cosines = dict(meaning.ranked)
        missing = [chunk for chunk in wanted if chunk not in cosines]
        for chunk, vector in view.centred_vectors(missing).items():
            cosines[chunk] = float(np.dot(vector, meaning.question))
        return cosines


_NO_VECTORS = "Found by words alone: no passage has its vector yet. See `vault-ask status`."
_OTHER_SPACE = (
    "Found by words alone: the index holds vectors of another embedding model. Run `vault-ask index --rebuild` to "
    "search by meaning again."
)


def _provenance(chunk: int, near: Sequence[int], top_words: Sequence[int]) -> Provenance:
    if chunk in near:
        return "both" if chunk in top_words else "vector"
    return "text"


def _hit(candidate: _Candidate[S]) -> Hit[S]:
    passage = candidate.passage
    return Hit(
        chunk_id=passage.chunk,
        path=passage.path,
        title=passage.title,
        heading_path=passage.heading_path,
        block=passage.block,
        body=passage.body,
        line_start=passage.line_start,
        line_end=passage.line_end,
        tokens=passage.tokens,
        language=passage.language,
        sensitivity=passage.sensitivity,
        score=candidate.score,
        provenance=candidate.provenance,
        trace=dict(candidate.parts),
    )
