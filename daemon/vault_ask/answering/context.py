"""What an answer is made from: the hits that fit the room there is, in reading order, numbered from 1.

Chooses by rank, lets the chosen grow into the room that is left, then orders by note. Knows nothing of models but how
many tokens they leave.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic

from vault_ask.answering.growth import grow
from vault_ask.index.reading.text import Piece
from vault_ask.retrieval.hits import Hit
from vault_ask.scope import S, Sensitivity

_BYTES_A_TOKEN = 3
"""A low estimate, so that tokens are counted too many rather than too few: English has 4 to 5 bytes a token, Turkish 3
to 4, and a character of Arabic or Chinese, 2 or 3 bytes, is seldom more than a token."""
_EXCERPT_FRAME = 40
"""Tokens for the number, path and headings around an excerpt, beside their text."""

MOST_GROWTH, ALL_GROWTH = 768, 1536
"""Tokens by which one excerpt grows at most, and all of them together.

Of 475 questions about three vaults the context then holds the answer, or all of its evidence, for 3 to 8 in a hundred
more. The same tokens in further hits bring half of that or less; without the second limit they double where sections
are long, and with them the time a small machine reads before its first word.
"""

LEAST_SHARE = 0.2
"""A hit with a smaller share of the best one's score has hardly a word of the question, and is no nearer than most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """One numbered passage of the context: `n` is what the model cites as `[n]`. `text` is verbatim note text.

    `in_question` tells that it is of the note that the question is about, `via` names the note that led to it,
    and `of_properties` tells that it is of a note's properties. `timely` is what the time that the question names, or
    the end of time that it asks for, adds to its score.
    """

    n: int
    path: str
    title: str
    heading_path: tuple[str, ...]
    text: str
    line_start: int
    line_end: int
    score: float
    language: str = "und"
    in_question: bool = False
    via: str | None = None
    of_properties: bool = False
    timely: float = 0.0


@dataclass(frozen=True)
class Context(Generic[S]):
    """The chosen hits; the hit at index i is cited as `[i + 1]`. `left_out` counts those that found no room."""

    hits: tuple[Hit[S], ...]
    left_out: int = 0

    @property
    def sensitivity(self) -> Sensitivity:
        """The highest level among the hits."""
        return max((hit.sensitivity for hit in self.hits), default=Sensitivity.OPEN)

    @cached_property
    def excerpts(self) -> tuple[Excerpt, ...]:
        """The hits as a generator sees them."""
        return tuple(_excerpt(n, hit) for n, hit in enumerate(self.hits, 1))


def outspoken(hits: tuple[Hit[S], ...]) -> tuple[Hit[S], ...]:
    """Leave out hits far behind the best one, which a small vault gives for want of others; the note in question stays.

    What a link of that note led to is measured by that note, since it is there for its sake. What is left out is no
    source either, so that it cannot be cited.
    """
    best = max((hit.score for hit in hits), default=0.0)
    own = max((hit.score for hit in hits if hit.in_question), default=best)
    return tuple(hit for hit in hits if hit.in_question or _keeps_up(hit, own if hit.via else best))


def _keeps_up(hit: Hit[S], best: float) -> bool:
    return best <= 0 or hit.score >= LEAST_SHARE * best


def assemble(hits: tuple[Hit[S], ...], *, room: int | None) -> Context[S]:
    """Take hits, best first, while they fit into `room` tokens (None: all), and put them in reading order.

    Notes stand in the order of their best hit, and the passages of a note in the order of its lines. A hit that does
    not fit is left out, and a smaller, lower one may still take its place. The best hit loses its last lines rather
    than its place; only when not even its first line fits is the context empty.

    Where room is left the excerpts grow over their sections, best first, and excerpts that touch become one. Without a
    limit nothing grows: whoever quotes single sentences quotes no better from more of them.
    """
    if room is None:
        return Context(_in_reading_order(hits))
    chosen: list[Hit[S]] = []
    for hit in hits:
        fitting = hit if excerpt_tokens(hit) <= room or chosen else _cut(hit, room)
        if fitting is not None and (cost := excerpt_tokens(fitting)) <= room:
            chosen.append(fitting)
            room -= cost
    return Context(
        _in_reading_order(grow(chosen, min(room, ALL_GROWTH), _cost, most=MOST_GROWTH)), len(hits) - len(chosen)
    )


def tokens(text: str) -> int:
    """Estimate how many tokens a text is for a model whose tokenizer is not at hand; rather too many."""
    return max(len(text.encode("utf-8", "replace")) // _BYTES_A_TOKEN, len(text.split())) + 1


def excerpt_tokens(hit: Hit[S]) -> int:
    """Estimate the tokens of a hit with what frames it in a prompt."""
    return max(hit.tokens, tokens(hit.body)) + tokens(" ".join((hit.path, *hit.heading_path))) + _EXCERPT_FRAME


def _cost(piece: Piece) -> int:
    return max(piece.tokens, tokens(piece.body))


def _cut(hit: Hit[S], room: int) -> Hit[S] | None:
    """Keep as many of a hit's first lines as fit; None when there is no room for one."""
    lines = hit.body.split("\n")
    for kept in range(len(lines) - 1, 0, -1):
        body = "\n".join(lines[:kept])
        share = len(body) / len(hit.body)
        cut = replace(hit, body=body, line_end=hit.line_start + kept - 1, tokens=int(hit.tokens * share) + 1, around=())
        if excerpt_tokens(cut) <= room:
            return cut
    return None


def _in_reading_order(hits: Sequence[Hit[S]]) -> tuple[Hit[S], ...]:
    notes = list(dict.fromkeys(hit.path for hit in hits))
    return tuple(sorted(hits, key=lambda hit: (notes.index(hit.path), hit.line_start)))


def _excerpt(n: int, hit: Hit[S]) -> Excerpt:
    return Excerpt(
        n=n,
        path=hit.path,
        title=hit.title,
        heading_path=hit.heading_path,
        text=hit.body,
        line_start=hit.line_start,
        line_end=hit.line_end,
        score=hit.score,
        language=hit.language,
        in_question=hit.in_question,
        via=hit.via,
        of_properties=hit.of_properties,
        timely=hit.trace.get("dated", 0.0) + hit.trace.get("timely", 0.0),
    )
