"""Answers to a question that says nothing beyond its filters and its time: whatever fits, spread over what there is."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from vault_ask.index.reading.text import Passage
from vault_ask.index.view import VaultView
from vault_ask.retrieval.about import evenly
from vault_ask.retrieval.candidates import Candidate, hit_of
from vault_ask.retrieval.folding import fold_copies
from vault_ask.retrieval.fusion import RRF_K, Evidence
from vault_ask.retrieval.hits import Retrieved
from vault_ask.retrieval.nearness import AT_HAND
from vault_ask.retrieval.query import Query
from vault_ask.retrieval.widening import widen
from vault_ask.scope import S

MOST = 400
"""Passages that are looked at; of a time with more, the last ones."""

_NOTHING_KNOWN = Evidence(z=None, bm25=0.0, coverage=0.0)


def listing(view: VaultView[S], query: Query, *, k: int) -> Retrieved[S]:
    """Give at most k passages that fit: of a time in its order, else the newest first."""
    chunks = view.filters.holding(query.preferred or query.within, MOST)
    passages: Mapping[int, Passage[S]] = view.text.passages(chunks)
    looked_at = [_candidate(passages[chunk], 0.0) for chunk in chunks if chunk in passages]
    folded = fold_copies(looked_at)
    chosen = _chosen(folded, query, k)
    hits = [
        hit_of(replace(one, parts={"listed": 1.0 / (RRF_K + rank)}), None) for rank, one in enumerate(chosen, start=1)
    ]
    return Retrieved(
        hits=widen(view, hits, query.within),
        language=query.language,
        idf=query.words.idf,
        closeness=1.0 if hits else 0.0,
        coverage=0.0,
        nearness=AT_HAND if hits else None,
        chunks=view.words.tallies().chunks,
        understood=query.understood,
        notices=tuple(filter(None, (*query.notices, _left_out(folded, chosen, most=len(chunks) == MOST)))),
        is_listing=True,
    )


def _candidate(passage: Passage[S], score: float) -> Candidate[S]:
    return Candidate(passage, {"listed": score}, _NOTHING_KNOWN, 0.0, "text")


def _chosen(found: Sequence[Candidate[S]], query: Query, k: int) -> list[Candidate[S]]:
    """Choose the newest, or of a time passages from all over it: of each note one before any second one."""
    if query.when.order == "latest":
        # A sort keeps the order of what it does not tell apart: what is planned comes behind all else.
        return sorted(found, key=lambda one: _is_planned(one, query.until))[:k]
    if query.days is None and query.when.order != "earliest":
        return list(found[:k])
    first = sorted({one.passage.note: one for one in reversed(found)}.values(), key=_when)
    if query.when.order == "earliest":
        return [one for one in first if one.passage.days][:k]
    taken = {one.chunk for one in first}
    seconds = [one for one in found if one.chunk not in taken]
    spread = evenly(first, k) if len(first) > k else list(chain(first, seconds))[:k]
    return sorted(spread, key=_when)


def _when(one: Candidate[S]) -> tuple[tuple[int, int], str, int]:
    return one.passage.days or (0, 0), one.passage.path, one.passage.line_start


def _is_planned(one: Candidate[S], until: int) -> bool:
    return one.passage.days is not None and one.passage.days[0] > until


def _left_out(found: Sequence[Candidate[S]], chosen: Sequence[Candidate[S]], *, most: bool) -> str | None:
    """Say how many notes fit, where not all of them are listed."""
    notes, shown = ({one.passage.note for one in some} for some in (found, chosen))
    if notes == shown:
        return None
    return f"{len(shown)} of {'more than ' if most else ''}{len(notes)} notes that fit are listed."
