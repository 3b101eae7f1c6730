"""From chunks that come into question to candidates with scores.

Knows how the arms' evidence is put together; knows nothing of links, copies and places.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Generic, Literal

from vault_ask.index.view import VaultView
from vault_ask.index.within import Within, having
from vault_ask.retrieval.arms import Gathered
from vault_ask.retrieval.candidates import Candidate
from vault_ask.retrieval.examining import Examiner, timed
from vault_ask.retrieval.fusion import Evidence, Model, Ranks, score_parts
from vault_ask.retrieval.hits import Provenance
from vault_ask.retrieval.query import Query
from vault_ask.scope import S

ON_SUBJECT = 0.6
"""Where the latest or first is asked for: the share of the best score from which a passage is on the subject."""

PHRASED = 10
"""So many of the best passages are read for phrases, which takes a tenth of a millisecond each."""

How = Literal["blend", "rrf", "vector", "text"]


class Scorer(Generic[S]):
    """Scores the candidates of one question."""

    def __init__(
        self, view: VaultView[S], examiner: Examiner[S], query: Query, gathered: Gathered, *, model: Model, how: How
    ) -> None:
        self._view: VaultView[S] = view
        self._examiner: Examiner[S] = examiner
        self._query: Query = query
        self._gathered: Gathered = gathered
        self._model: Model = model
        self._how: How = how
        self._near: list[int] = [chunk for chunk, _ in gathered.near]
        self._by_meaning: set[int] = {chunk for chunk, _ in (*gathered.near, *gathered.near_preferred)}
        self._by_words: set[int] = {chunk for chunk, _ in (*gathered.worded, *gathered.worded_preferred)}
        self._elsewhere: set[int] = {*gathered.around.chunks}
        self._elsewhere.update(chunk for chunk, _ in (*gathered.near_preferred, *gathered.worded_preferred))
        self.trust = 1.0

    def found(self) -> list[Candidate[S]]:
        """Score what the arms brought, and what is around the note in question."""
        chunks = self._examiner.read(self._gathered.chunks)
        evidence = {chunk: self._examiner.evidence(chunk) for chunk in chunks}
        self.trust = self._examiner.trust_in_words(evidence, self._near)
        return self._scored(self._phrased(self._timed(self._with_tasks(evidence))))

    def linked(self, chunks: Sequence[int]) -> list[Candidate[S]]:
        """Score chunks that only a link led to; to be called after the others. Phrases are not looked for in them.

        They are there for words that are still missing, and what holds a phrase was found by its words.
        """
        return self._scored({chunk: self._examiner.evidence(chunk) for chunk in chunks})

    def _timed(self, evidence: Mapping[int, Evidence]) -> dict[int, Evidence]:
        """Order in time what is on the subject; the newest note of all may be on another one."""
        order = self._query.when.order
        if order not in ("latest", "earliest"):
            return dict(evidence)
        scores = {chunk: self._model.score(known, self.trust) for chunk, known in evidence.items()}
        best = max(scores.values(), default=0.0)
        on_subject = {chunk: evidence[chunk] for chunk, score in scores.items() if score >= ON_SUBJECT * best}
        return {**evidence, **timed(on_subject, self._examiner.passages, order, until=self._query.until)}

    def _with_tasks(self, evidence: Mapping[int, Evidence]) -> Mapping[int, Evidence]:
        """Tell which passages hold a task in the state that is asked for."""
        if self._query.tasks is None:
            return evidence
        holding = set(self._view.filters.fitting(list(evidence), Within((having(self._query.tasks),))))
        return {chunk: replace(known, task=float(chunk in holding)) for chunk, known in evidence.items()}

    def _phrased(self, evidence: Mapping[int, Evidence]) -> dict[int, Evidence]:
        """Look for the question's phrases in the best passages; elsewhere they would change nothing."""
        if self._how != "blend":
            return dict(evidence)
        scores = {chunk: self._model.score(known, self.trust) for chunk, known in evidence.items()}
        best = sorted(scores, key=lambda chunk: -scores[chunk])[:PHRASED]
        return {**evidence, **{chunk: replace(evidence[chunk], phrase=self._examiner.phrase(chunk)) for chunk in best}}

    def _scored(self, evidence: Mapping[int, Evidence]) -> list[Candidate[S]]:
        parts = score_parts(evidence, self._ranks(evidence), self._how, self._model)
        return [
            Candidate(
                self._examiner.passages[chunk],
                parts[chunk],
                known,
                self._examiner.above_mean(chunk),
                self._provenance(chunk, known),
            )
            for chunk, known in evidence.items()
        ]

    def _ranks(self, evidence: Mapping[int, Evidence]) -> Ranks:
        """Rank what is around the note in question, or of the time, behind what the arms found in the whole vault."""
        others = [chunk for chunk in evidence if chunk in self._elsewhere]
        by_z = sorted((-(evidence[c].z or 0.0), c) for c in others if evidence[c].z is not None)
        near: list[int] = [chunk for _, chunk in by_z]
        worded: list[int] = sorted((c for c in others if evidence[c].bm25 > 0), key=lambda c: -evidence[c].bm25)
        first: list[int] = [chunk for chunk, _ in self._gathered.worded]
        return Ranks(list(dict.fromkeys((*self._near, *near))), list(dict.fromkeys((*first, *worded))), self.trust)

    def _provenance(self, chunk: int, evidence: Evidence) -> Provenance:
        found = _found_by(is_near=chunk in self._by_meaning, is_worded=chunk in self._by_words)
        if found:
            return found
        # Neither arm found it: it is of the note in question, or a link led there.
        if self._examiner.passages[chunk].path != self._gathered.around.path:
            return "expanded"
        return _found_by(is_near=evidence.z is not None, is_worded=evidence.bm25 > 0) or "text"


def _found_by(*, is_near: bool, is_worded: bool) -> Provenance | None:
    if is_near:
        return "both" if is_worded else "vector"
    return "text" if is_worded else None
