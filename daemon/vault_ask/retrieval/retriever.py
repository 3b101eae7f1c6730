"""Finds the passages that answer a question: two arms, one fusion, a share a note; every hit with its trace.

Knows nothing of answers. Runs in a worker thread, on a view that decides what there is to be found.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import structlog

from vault_ask.errors import IndexDamaged, IndexFailed, ModelError
from vault_ask.index.embedding import Embedder, Vector
from vault_ask.index.view import Passage, VaultView
from vault_ask.notes.language import LanguageDetector
from vault_ask.retrieval.about import NOTHING, About, Found, Inside, look_around
from vault_ask.retrieval.candidates import Candidate, hit_of
from vault_ask.retrieval.fusion import Evidence, score_parts
from vault_ask.retrieval.hits import Provenance, Retrieved
from vault_ask.retrieval.nearness import ALIKE, AT_HAND, Asked, Nearness, measure_nearness
from vault_ask.retrieval.selection import is_broad, share_out
from vault_ask.retrieval.words import Words, is_wordless, read_words
from vault_ask.scope import OpenScope, PrivateScope
from vault_ask.settings import RetrievalSettings

log = structlog.get_logger()

S = TypeVar("S", OpenScope, PrivateScope)
Arm = Literal["hybrid", "vector", "text"]

BM25_REACH = 10
"""The word arm is read this many times deeper than it is used, to know the BM25 of what the vectors found."""

BEST = 3
"""How many of the best passages tell how close the vault comes to the question."""


@dataclass(frozen=True, slots=True)
class _Meaning:
    """The vector arm: the nearest chunks, and the question (None when the arm took no part)."""

    ranked: Found
    asked: Asked | None
    notice: str | None = None

    @property
    def question(self) -> Vector | None:
        """The question's centred vector."""
        return self.asked.centred if self.asked else None


@dataclass(frozen=True, slots=True)
class _Gathered:
    """What the arms brought: chunks by words with their BM25, chunks by meaning, those around the note in question."""

    lexical: Found
    meaning: _Meaning
    about: About | None


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

        `note` is the path of the note the question is about: its passages come first and take up to half of the places,
        then those of its neighbours up to a quarter. An arm that cannot take part is told in `notices`, and the other
        one answers alone.
        """
        k = k or self._settings.top_k
        language = self._language(view, question)
        words = read_words(question, view, language)
        lexical, lexical_notice = self._lexical(view, words) if arm != "vector" else ([], None)
        meaning = self._meaning(view, question, language) if arm != "text" else _Meaning([], None)
        about = look_around(view, note, self._inside(view, words, meaning, arm))
        candidates = self._candidates(view, words, _Gathered(lexical, meaning, about), arm)
        ranked = sorted(candidates, key=lambda candidate: (-candidate.score, candidate.chunk))
        places = share_out(ranked, about, per_note=per_note or self._settings.per_note, k=k)
        return Retrieved(
            hits=tuple(hit_of(candidate, about.path if about else None) for candidate in places.all),
            language=language,
            idf=words.idf,
            closeness=1.0 if places.at_hand else max((c.above_mean for c in places.all[:BEST]), default=0.0),
            coverage=max((c.evidence.coverage for c in places.all[:BEST]), default=0.0),
            covered=max((c.evidence.coverage for c in candidates), default=0.0),
            nearness=AT_HAND if places.at_hand else self._nearness(view, meaning, candidates),
            chunks=view.tallies().chunks,
            notices=tuple(notice for notice in (meaning.notice, lexical_notice) if notice),
            is_broad=is_broad(ranked, about),
        )

    def _language(self, view: VaultView[S], question: str) -> str:
        found = self._languages.detect(question)
        if found != "und":
            return found
        spoken = view.tallies().by_language
        most: str = max(spoken, key=lambda language: spoken[language], default="und")
        return most

    def _lexical(
        self, view: VaultView[S], words: Words, notes: Sequence[str] | None = None
    ) -> tuple[Found, str | None]:
        if not words.query:
            return [], None
        try:
            return view.matching(words.query, self._settings.text_k * BM25_REACH, notes=notes), None
        except IndexDamaged:
            raise
        except IndexFailed as error:
            log.error("word search failed", sentence=str(error))
            return [], "The word index could not be searched, so these hits were found by meaning alone."

    def _inside(self, view: VaultView[S], words: Words, meaning: _Meaning, arm: Arm) -> Inside:
        """Search some notes alone as the whole vault is searched; an arm that takes no part finds nothing."""

        def nearest(notes: Sequence[str]) -> Found:
            asked = meaning.question
            return [] if asked is None else view.nearest(asked, self._settings.vector_k, notes=notes)

        def matching(notes: Sequence[str]) -> Found:
            return [] if arm == "vector" else self._lexical(view, words, notes)[0][: self._settings.text_k]

        return Inside(nearest, matching)

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

    def _nearness(self, view: VaultView[S], meaning: _Meaning, candidates: Sequence[Candidate[S]]) -> Nearness | None:
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

    def _candidates(self, view: VaultView[S], words: Words, gathered: _Gathered, arm: Arm) -> list[Candidate[S]]:
        meaning = gathered.meaning
        about: About = gathered.about or NOTHING
        by_words = dict(gathered.lexical) | dict(about.bm25)
        top_words: list[int] = [chunk for chunk, _ in gathered.lexical[: self._settings.text_k]]
        near: list[int] = [chunk for chunk, _ in meaning.ranked]
        wanted = list(dict.fromkeys((*near, *top_words, *about.chunks)))
        passages = view.passages(wanted)
        cosines = self._cosines(view, meaning, wanted, about.cosines)
        mean, deviation = view.centring().spread(meaning.question) if meaning.question is not None else (0.0, 1.0)
        evidence = {
            chunk: Evidence(
                z=(cosines[chunk] - mean) / deviation if chunk in cosines else None,
                bm25=by_words.get(chunk, 0.0),
                coverage=words.coverage(f"{passage.prelude}\n{passage.body}", passage.language),
            )
            for chunk, passage in passages.items()
        }
        ranks = _ranks(near, top_words, [chunk for chunk in about.chunks if chunk in evidence], evidence)
        parts = score_parts(evidence, *ranks, self._settings.fusion if arm == "hybrid" else arm)
        found = {chunk: _found_by(is_near=chunk in near, is_worded=chunk in top_words) for chunk in passages}
        return [
            Candidate(
                passage,
                parts[chunk],
                evidence[chunk],
                cosines.get(chunk, mean) - mean,
                found[chunk] or _looked_at(passage, evidence[chunk], about),
            )
            for chunk, passage in passages.items()
        ]

    @staticmethod
    def _cosines(
        view: VaultView[S], meaning: _Meaning, wanted: Sequence[int], known: Mapping[int, float]
    ) -> dict[int, float]:
        if meaning.question is None:
            return {}
        cosines = dict(meaning.ranked) | dict(known)
        missing = [chunk for chunk in wanted if chunk not in cosines]
        for chunk, vector in view.centred_vectors(missing).items():
            cosines[chunk] = float(np.dot(vector, meaning.question))
        return cosines


_NO_VECTORS = "Found by words alone: no passage has its vector yet. See `vault-ask status`."
_OTHER_SPACE = (
    "Found by words alone: the index holds vectors of another embedding model. Run `vault-ask index --rebuild` to "
    "search by meaning again."
)


def _found_by(*, is_near: bool, is_worded: bool) -> Provenance | None:
    if is_near:
        return "both" if is_worded else "vector"
    return "text" if is_worded else None


def _ranks(
    near: Sequence[int], worded: Sequence[int], around: Sequence[int], evidence: Mapping[int, Evidence]
) -> tuple[list[int], list[int]]:
    """Rank what is around the note in question behind what the arms found in the whole vault."""
    with_vector = sorted((c for c in around if evidence[c].z is not None), key=lambda c: -(evidence[c].z or 0.0))
    with_words = sorted((c for c in around if evidence[c].bm25 > 0), key=lambda c: -evidence[c].bm25)
    return list(dict.fromkeys((*near, *with_vector))), list(dict.fromkeys((*worded, *with_words)))


def _looked_at(passage: Passage[S], evidence: Evidence, about: About) -> Provenance:
    """Tell why a passage takes part that neither arm found: it is of the note in question, or a link led there."""
    if passage.path != about.path:
        return "expanded"
    return _found_by(is_near=evidence.z is not None, is_worded=evidence.bm25 > 0) or "text"
