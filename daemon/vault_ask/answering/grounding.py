"""Checks an answer against its sources: which lines of the vault each of its citations rests on.

A quote's own lines are exact. For a model's `[n]` the quote is the sentence of excerpt n that shares most with what
was claimed before the marker, or the whole excerpt where none shares enough.
"""

import re
from collections.abc import Sequence

from vault_ask.answering.links import obsidian_url
from vault_ask.answering.page import Mark
from vault_ask.answering.ports import Quoted
from vault_ask.answering.regions import Span
from vault_ask.answering.sentences import sentences
from vault_ask.answering.statements import statements
from vault_ask.index.terms import terms
from vault_ask.retrieval.hits import Hit
from vault_ask.scope import S
from vault_ask.wire import Citation, Source

_SUPPORT = 0.3
"""Share of a claim's words that a sentence must hold to be shown as its ground; below, the whole passage is."""
_MARKERS = re.compile(r"(?:\s*\[\d{1,3}\])+")


def sources(hits: Sequence[Hit[S]], vault: str) -> tuple[Source, ...]:
    """List the hits as the sources of an answer, numbered as the context numbers them."""
    return tuple(
        Source(
            **citation(n, hit, Span(0, len(hit.body)), vault).model_dump(),
            score=hit.score,
            provenance=hit.provenance,
            also=hit.also,
            via=hit.via,
            personal=bool(hit.sensitivity),
        )
        for n, hit in enumerate(hits, 1)
    )


def ground(
    answer: str, marks: Sequence[Mark], quotes: Sequence[Quoted], hits: Sequence[Hit[S]], vault: str
) -> tuple[Citation, ...]:
    """Make a citation of every distinct place that the answer's marks and quotes point to, in their order.

    `answer` is the text as shown; `quotes` are given for an answer that is made of quotes.
    """
    placed = [(quote.n, Span(quote.start, quote.end)) for quote in quotes]
    placed += [(mark.n, _support(_claim(answer, mark.at), hits[mark.n - 1])) for mark in marks]
    return tuple(citation(n, hits[n - 1], span, vault) for n, span in dict.fromkeys(placed))


def citation(n: int, hit: Hit[S], span: Span, vault: str) -> Citation:
    """Point to the characters `span` of a hit: their lines, heading, block and address."""
    span = _whole_lines_inside(hit.body, span)
    block = _block_of(hit, span)
    # A chunk never mixes the text of two sections, so its heading path holds for every place in it.
    heading = hit.heading_path[-1] if hit.heading_path else None
    return Citation(
        n=n,
        path=hit.path,
        title=hit.title,
        heading=heading,
        heading_path=hit.heading_path,
        block=block,
        line_start=hit.line_start + hit.body.count("\n", 0, span.start),
        line_end=hit.line_start + hit.body.count("\n", 0, span.end),
        quote=span.of(hit.body),
        url=obsidian_url(vault, hit.path, heading=heading, block=block),
    )


def _whole_lines_inside(text: str, span: Span) -> Span:
    """Drop blank lines at the ends, so that the lines named are those with words."""
    quote = span.of(text)
    start = span.start + len(quote) - len(quote.lstrip("\n"))
    end = span.end - (len(quote) - len(quote.rstrip()))
    return Span(start, end) if start < end else span


def _block_of(hit: Hit[S], span: Span) -> str | None:
    """Give the hit's block id when it marks the paragraph that the span ends in."""
    end = hit.body.find("\n\n", span.end)
    paragraph = hit.body[span.start : end if end >= 0 else len(hit.body)]
    return (
        hit.block
        if hit.block and re.search(rf"(?:^|\s)\^{re.escape(hit.block)}\s*$", paragraph, re.MULTILINE)
        else None
    )


def _claim(answer: str, at: int) -> str:
    """Give the sentence that a marker stands behind."""
    before = _MARKERS.sub(lambda m: " " * len(m[0]), answer[:at].rpartition("\n\n")[2])
    spans = sentences(before)
    return spans[-1].of(before) if spans else ""


def _support(claim: str, hit: Hit[S]) -> Span:
    """Find the sentence of a hit that bears a claim best."""
    wanted = frozenset(terms(claim, hit.language))
    whole = Span(0, len(hit.body))
    if not wanted:
        return whole
    shares = [
        (len(wanted & frozenset(terms(s.of(hit.body), hit.language))) / len(wanted), s)
        for s in statements(hit.body, of_properties=hit.of_properties)
    ]
    share, best = max(shares, key=lambda found: found[0], default=(0.0, whole))
    return best if share >= _SUPPORT else whole
