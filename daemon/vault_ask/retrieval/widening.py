"""Small to big: a small chunk is found best, and what stands around it in its section makes it understood.

Here is read what stands there, in the same view as the hit; how much of it an answer takes is decided where its room is
known (`answering.growth`).
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import takewhile

from vault_ask.index.reading.text import Piece
from vault_ask.index.view import VaultView
from vault_ask.index.within import Within
from vault_ask.retrieval.hits import Hit
from vault_ask.scope import S

REACH = 3
"""So many chunks before and after a hit come into question."""


def widen(view: VaultView[S], hits: Sequence[Hit[S]], within: Within) -> tuple[Hit[S], ...]:
    """Give hits the chunks around them, as far as their sections reach and they fit filters. Raises IndexFailed.

    Not of a canvas, whose chunks are lines of its cards: between them stands JSON.
    """
    found = view.text.pieces([hit.chunk_id for hit in hits if not hit.path.casefold().endswith(".canvas")], REACH)
    near = list(dict.fromkeys(piece.chunk for pieces in found.values() for piece in pieces))
    fits = frozenset(view.filters.fitting(near, within) if within else near)
    return tuple(replace(hit, around=section(found.get(hit.chunk_id, ()), hit.chunk_id, fits)) for hit in hits)


def section(pieces: Sequence[Piece], chunk: int, fits: AbstractSet[int]) -> tuple[Piece, ...]:
    """Keep of a note's consecutive chunks those of one section that fit, around one; none where that is not text."""
    at = next((place for place, piece in enumerate(pieces) if piece.chunk == chunk), None)
    if at is None or not pieces[at].is_text:
        return ()
    before, after = reversed(pieces[:at]), pieces[at + 1 :]
    kept_before = list(_of_the_section(pieces[at], before, fits))
    return (*reversed(kept_before), pieces[at], *_of_the_section(pieces[at], after, fits))


def joined(pieces: Sequence[Piece]) -> str:
    """Put consecutive chunks together as the note has them: what repeats is left out, and lines between were blank."""
    text, line = "", pieces[0].line_start
    for place, piece in enumerate(pieces):
        repeated = piece.overlap if place else 0
        begins = piece.line_start + piece.body.count("\n", 0, repeated)
        text += "\n" * (begins - line) + piece.body[repeated:]
        line = piece.line_start + piece.body.count("\n")
    return text


def _of_the_section(hit: Piece, others: Sequence[Piece] | Iterator[Piece], fits: AbstractSet[int]) -> Iterator[Piece]:
    return takewhile(
        lambda piece: piece.is_text and piece.heading_path == hit.heading_path and piece.chunk in fits, others
    )
