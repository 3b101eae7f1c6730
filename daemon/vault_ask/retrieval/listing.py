"""Answers to a question that says nothing beyond its filters and its time: whatever fits, spread over what there is."""

from collections.abc import Mapping, Sequence
from itertools import chain

from vault_ask.index.view import Passage, VaultView
from vault_ask.retrieval.about import evenly
from vault_ask.retrieval.candidates import Candidate, hit_of
from vault_ask.retrieval.fusion import RRF_K, Evidence
from vault_ask.retrieval.hits import Retrieved, S
from vault_ask.retrieval.nearness import AT_HAND
from vault_ask.retrieval.query import Query
from vault_ask.retrieval.widening import widen

MOST = 400
"""Passages that are looked at; of a time with more, the last ones."""


def listing(view: VaultView[S], query: Query, *, k: int) -> Retrieved[S]:
    """Give at most k passages that fit: of a time in its order, else the newest first."""
    chunks = view.holding(query.dated or query.within, MOST)
    passages: Mapping[int, Passage[S]] = view.passages(chunks)
    chosen = _chosen([passages[chunk] for chunk in chunks if chunk in passages], query, k)
    known = Evidence(z=None, bm25=0.0, coverage=0.0)
    hits = [
        hit_of(Candidate(passage, {"listed": 1.0 / (RRF_K + rank)}, known, 0.0, "text"), None)
        for rank, passage in enumerate(chosen, start=1)
    ]
    return Retrieved(
        hits=widen(view, hits),
        language=query.language,
        idf=query.words.idf,
        closeness=1.0 if hits else 0.0,
        coverage=0.0,
        nearness=AT_HAND if hits else None,
        chunks=view.tallies().chunks,
        understood=query.understood,
        is_listing=True,
    )


def _chosen(passages: Sequence[Passage[S]], query: Query, k: int) -> list[Passage[S]]:
    """Choose the newest, or of a time passages from all over it: of each note one before any second one."""
    if query.dated is None or query.when.order == "latest":
        return list(passages[:k])
    first = list({passage.note: passage for passage in reversed(passages)}.values())
    first = sorted(first, key=_when)
    if query.when.order == "earliest":
        return first[:k]
    seconds = [passage for passage in passages if passage not in first]
    spread = evenly(first, k) if len(first) > k else list(chain(first, seconds))[:k]
    return sorted(spread, key=_when)


def _when(passage: Passage[S]) -> tuple[tuple[int, int], str, int]:
    return passage.days or (0, 0), passage.path, passage.line_start
