"""Hits as they travel: a search without an answer, and the sources of one."""

import time
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from vault_ask.answering.links import obsidian_url
from vault_ask.answering.understood import understood
from vault_ask.retrieval.hits import Hit, Retrieved
from vault_ask.scope import Sensitivity
from vault_ask.wire import SearchHit, SearchResponse, Source


def search_response(retrieve: Callable[[], Retrieved[Any]], vault_name: Callable[[], str]) -> SearchResponse:
    """Run a retrieval and word its hits for the wire; the vault's name is asked for after it: the index tells it."""
    started = time.monotonic()
    retrieved = retrieve()
    name = vault_name()
    return SearchResponse(
        hits=tuple(_search_hit(n, hit, name) for n, hit in enumerate(retrieved.hits, start=1)),
        notices=retrieved.notices,
        understood=understood(retrieved.understood),
        seconds=time.monotonic() - started,
    )


def named_notes(shown: Iterable[Source]) -> tuple[str, ...]:
    """List the notes that sources or hits name, each once: theirs, those of the same text, those that led there."""
    named = ((one.path, *one.also, *filter(None, [one.via])) for one in shown)
    return tuple(dict.fromkeys(chain.from_iterable(named)))


def _search_hit(n: int, hit: Hit[Any], vault_name: str) -> SearchHit:
    heading = hit.heading_path[-1] if hit.heading_path else None
    return SearchHit(
        n=n,
        path=hit.path,
        title=hit.title,
        heading=heading,
        heading_path=hit.heading_path,
        block=hit.block,
        line_start=hit.line_start,
        line_end=hit.line_end,
        quote=hit.body,
        url=obsidian_url(vault_name, hit.path, heading=heading, block=hit.block),
        score=hit.score,
        provenance=hit.provenance,
        via=hit.via,
        also=hit.also,
        personal=hit.sensitivity is Sensitivity.PERSONAL,
        trace=dict(hit.trace),
    )
