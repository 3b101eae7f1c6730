"""Finds the passages that answer a question: two arms, one score, one hop along links, a share a note.

Every hit comes with the parts of its score. Knows nothing of answers. Runs in a worker thread, on a view that decides
what there is to be found.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Generic

from vault_ask.index.embedding import Embedder
from vault_ask.index.view import VaultView
from vault_ask.index.within import Filter
from vault_ask.notes.fold import fold_loosely
from vault_ask.notes.language import LanguageDetector
from vault_ask.notes.patterns import path_pattern
from vault_ask.retrieval.about import About
from vault_ask.retrieval.arms import Arm, Arms, Gathered
from vault_ask.retrieval.candidates import Candidate, hit_of
from vault_ask.retrieval.examining import Examiner
from vault_ask.retrieval.expansion import Expansion
from vault_ask.retrieval.folding import fold_copies
from vault_ask.retrieval.fusion import MODEL, Model
from vault_ask.retrieval.hits import Retrieved
from vault_ask.retrieval.listing import listing
from vault_ask.retrieval.nearness import ALIKE, AT_HAND, Nearness, measure_nearness
from vault_ask.retrieval.query import Query, QueryReader
from vault_ask.retrieval.rerank import Reranked, Reranking
from vault_ask.retrieval.scoring import Scorer
from vault_ask.retrieval.selection import Places, is_broad, share_out
from vault_ask.retrieval.widening import widen
from vault_ask.retrieval.words import is_wordless
from vault_ask.scope import S
from vault_ask.settings.retrieval import GraphSettings, RetrievalSettings
from vault_ask.settings.vault import TimeSettings, TopicSettings

NOW: Callable[[], datetime] = partial(datetime.now, UTC)

BEST = 3
"""How many of the best passages tell how close the vault comes to the question."""


DEEPER = 10
"""How many times more is looked at where copies of few passages took all of it."""


@dataclass(frozen=True, slots=True)
class _LookedAt(Generic[S]):
    """What was gathered and found for a question, and all of it in order with copies folded."""

    gathered: Gathered
    examiner: Examiner[S]
    found: list[Candidate[S]]
    ranked: list[Candidate[S]]
    has_copies: bool


class Retriever:
    """Retrieves under one configuration; safe to use from several threads, each with its own view."""

    def __init__(
        self,
        *,
        embedder: Embedder | None,
        languages: LanguageDetector,
        settings: RetrievalSettings,
        graph: GraphSettings | None = None,
        topics: TopicSettings | None = None,
        time: TimeSettings | None = None,
        reranking: Reranking | None = None,
        model: Model = MODEL,
        clock: Callable[[], datetime] = NOW,
    ) -> None:
        self._embedder = embedder
        self._settings = settings
        self._graph = graph or GraphSettings()
        self._topics = [path_pattern(path, "topics.paths") for path in (topics or TopicSettings()).paths]
        self.queries = QueryReader(languages, time or TimeSettings(), clock)
        self._reranking = reranking
        self._model = model

    def retrieve(
        self,
        view: VaultView[S],
        question: str,
        *,
        k: int | None = None,
        per_note: int | None = None,
        arm: Arm = "hybrid",
        note: str | None = None,
        filters: tuple[Filter, ...] | None = None,
        typed: str | None = None,
    ) -> Retrieved[S]:
        """Find the passages of a view that answer a question, best first.

        `note` is the path of the note the question is about: its passages come first and take up to half of the places,
        then those of its neighbours up to a quarter. An arm that cannot take part is told in `notices`, and the other
        one answers alone. `filters` narrow the vault before anything is ranked; None where they are in the question
        still, which is then read for them. `typed` is what somebody typed of a question that goes on in a note's words.
        """
        k = k or self._settings.top_k
        query: Query = self.queries.read(view, question, filters, typed=typed)
        if query.lists and (note is None or query.within):
            return listing(view, query, k=k)
        looked_at = self._look(view, query, k, arm, note)
        if len(looked_at.ranked) < k and looked_at.has_copies:
            # Copies of one passage were all that was nearest; what stands behind them is further away.
            reach = max(k, self._settings.vector_k, self._settings.text_k) * DEEPER
            looked_at = self._look(view, query, reach, arm, note)
        gathered: Gathered = looked_at.gathered
        found: list[Candidate[S]] = looked_at.found
        # A note that is named and not in sight: selected words of it may be in the question, and nobody can tell whose.
        reranks = arm == "hybrid" and (note is None or gathered.about is not None)
        looked = self._look_again(view, query, looked_at.ranked) if reranks else Reranked(looked_at.ranked)
        places = self._places(looked.ranked, gathered.about, query, per_note=per_note, k=k)
        about = gathered.about.path if gathered.about else None
        return Retrieved(
            hits=widen(view, [hit_of(candidate, about) for candidate in places.all], query.within),
            language=query.language,
            idf=query.words.idf,
            closeness=1.0 if places.at_hand else max((c.above_mean for c in places.all[:BEST]), default=0.0),
            coverage=max((c.evidence.coverage for c in places.all[:BEST]), default=0.0),
            covered=max((c.evidence.coverage for c in found), default=0.0),
            nearness=AT_HAND if places.at_hand else self._nearness(view, gathered, looked_at.examiner, found),
            chunks=view.words.tallies().chunks,
            notices=tuple(notice for notice in (*query.notices, *gathered.notices, looked.notice) if notice),
            is_broad=is_broad(looked.ranked, gathered.about),
            given_to=looked.given_to,
            understood=query.understood,
        )

    def _look(self, view: VaultView[S], query: Query, k: int, arm: Arm, note: str | None) -> "_LookedAt[S]":
        """Gather, score, follow links and fold copies."""
        gathered: Gathered = self._gathered(view, query, k, arm, note)
        examiner: Examiner[S] = Examiner(
            view, query.words, gathered.asked, bm25=gathered.bm25, cosines=gathered.cosines, days=query.days
        )
        how = self._settings.fusion if arm == "hybrid" else arm
        scorer: Scorer[S] = Scorer(view, examiner, query, gathered, model=self._model, how=how)
        found: list[Candidate[S]] = scorer.found()
        # What is around a note in question takes part already; from there no link leads further.
        follows = arm == "hybrid" and gathered.about is None
        expanded: Sequence[Candidate[S]] = self._expanded(view, query, examiner, scorer, found) if follows else found
        ordered = sorted(expanded, key=lambda candidate: (-candidate.score, candidate.chunk))
        ranked = fold_copies(ordered, stays=gathered.about.path if gathered.about else None)
        return _LookedAt(gathered, examiner, found, ranked, has_copies=len(ranked) < len(expanded))

    def _gathered(self, view: VaultView[S], query: Query, k: int, arm: Arm, note: str | None) -> Gathered:
        vector_k, text_k = max(self._settings.vector_k, k), max(self._settings.text_k, k)
        return Arms(view, query, self._embedder, arm, vector_k=vector_k, text_k=text_k).gather(note)

    def _expanded(
        self,
        view: VaultView[S],
        query: Query,
        examiner: Examiner[S],
        scorer: Scorer[S],
        found: Sequence[Candidate[S]],
    ) -> Sequence[Candidate[S]]:
        """Follow the links of the best notes, as the settings have it; ranks alone are no odds that could be shared."""
        if not self._graph.enabled or self._settings.fusion != "blend":
            return found
        return Expansion(
            view,
            examiner,
            self._model,
            scorer.linked,
            query,
            is_topic=self._is_topic,
        ).expand(found)

    def _is_topic(self, path: str) -> bool:
        folded = fold_loosely(path)
        return any(pattern.matches(folded) for pattern in self._topics)

    def _look_again(self, view: VaultView[S], query: Query, ranked: list[Candidate[S]]) -> Reranked[S]:
        """Have the best candidates put in order by a model that reads them, where there is one."""
        if self._reranking is None or is_wordless(query.text):
            return Reranked(ranked)
        return self._reranking.rerank(query.text, ranked, view.scope)

    def _places(
        self, ranked: Sequence[Candidate[S]], about: About | None, query: Query, *, per_note: int | None, k: int
    ) -> Places[S]:
        share = self._settings.per_note
        if query.when.order == "often":
            # What happened often may stand in one log.
            share = k
        elif query.within or query.tasks or _is_one_day(query.days):
            # What is looked for in few notes, or in lists of them, has more than usual in each.
            share = max(share, k // 2)
        expanded = int(self._graph.places * k / self._settings.top_k + 0.5)
        return share_out(ranked, about, per_note=per_note or share, k=k, expanded=expanded)

    def _nearness(
        self, view: VaultView[S], gathered: Gathered, examiner: Examiner[S], found: Sequence[Candidate[S]]
    ) -> Nearness | None:
        """Measure by meaning; where the passage with most of the question's words has no vector yet, words decide."""
        evidence = [candidate.evidence for candidate in found]
        best = max(evidence, key=lambda known: (known.coverage, known.z is not None), default=None)
        if self._embedder is None or gathered.asked is None or best is None or (best.coverage and best.z is None):
            return None
        nearest = view.vectors.centred([chunk for chunk, _ in gathered.near[:ALIKE] if chunk in examiner.passages])
        return measure_nearness(
            gathered.asked,
            [
                (nearest[chunk], examiner.passages[chunk].language)
                for chunk, _ in gathered.near[:ALIKE]
                if chunk in nearest
            ],
            deviations=max(known.z or 0.0 for known in evidence),
            centring=view.vectors.centring(),
            priors=self._embedder.priors(),
        )


def _is_one_day(days: tuple[int, int] | None) -> bool:
    return days is not None and days[0] == days[1]
