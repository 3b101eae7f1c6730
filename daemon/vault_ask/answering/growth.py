"""How excerpts grow over their sections where a model has room: best hits first, and those that touch become one.

What is read stays verbatim and in the lines it names. No hit loses its place to another's growth.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from vault_ask.index.reading.text import Piece
from vault_ask.retrieval.hits import Hit
from vault_ask.retrieval.widening import joined
from vault_ask.scope import S

AFTER, BEFORE = 1, -1


@dataclass(slots=True)
class _Growing(Generic[S]):
    """A hit of some rank, and which of the chunks around it, `first` up to `end`, its excerpt has by now."""

    rank: int
    hit: Hit[S]
    first: int
    end: int

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The chunks of the excerpt; none for a hit of which nothing but its own text is known."""
        return self.hit.around[self.first : self.end]

    def beside(self, way: int) -> Piece | None:
        """The chunk that comes next, after or before; None where the section is at its end."""
        at = self.end if way == AFTER else self.first - 1
        return self.hit.around[at] if 0 <= at < len(self.hit.around) else None

    def take(self, way: int) -> None:
        """Grow by that chunk."""
        self.end += way == AFTER
        self.first -= way == BEFORE

    def is_followed_by(self, other: "_Growing[S]") -> bool:
        """Say whether the other excerpt begins where this one ends, in the same section."""
        last, first = self.pieces[-1], other.pieces[0]
        is_next = self.hit.path == other.hit.path and last.ordinal + 1 == first.ordinal
        return is_next and last.heading_path == first.heading_path


def grow(hits: Sequence[Hit[S]], room: int, cost: Callable[[Piece], int], *, most: int) -> list[Hit[S]]:
    """Let the excerpts of hits, best first, grow into `room` tokens; one of them gains `most` at most.

    `cost` gives the tokens of a chunk. The order stays; of hits that touch the best one remains, with the text of all.
    """
    growing = [_begun(rank, hit) for rank, hit in enumerate(hits)]
    taken = {(one.hit.path, piece.ordinal) for one in growing for piece in one.pieces}
    for one in growing:
        room -= _grow(one, taken, cost, min(most, room))
    return [hit for _, hit in sorted(map(_grown, _together(growing)), key=lambda ranked: ranked[0])]


def _begun(rank: int, hit: Hit[S]) -> _Growing[S]:
    own = [at for at, piece in enumerate(hit.around) if piece.chunk == hit.chunk_id]
    return _Growing(rank, hit, own[0], own[0] + 1) if own else _Growing(rank, hit, 0, 0)


def _grow(one: _Growing[S], taken: set[tuple[str, int]], cost: Callable[[Piece], int], room: int) -> int:
    """Take chunks after and before by turns, up to another excerpt, the section's end or the room's; tell the cost."""
    gained, ways = 0, [AFTER, BEFORE]
    while ways:
        way = ways.pop(0)
        piece = one.beside(way) if one.pieces else None
        if piece is None or (one.hit.path, piece.ordinal) in taken or gained + cost(piece) > room:
            continue
        one.take(way)
        taken.add((one.hit.path, piece.ordinal))
        gained += cost(piece)
        ways.append(way)
    return gained


def _together(growing: Sequence[_Growing[S]]) -> list[list[_Growing[S]]]:
    """Group excerpts that follow one another without a gap."""
    alone = [[one] for one in growing if not one.pieces]
    groups: list[list[_Growing[S]]] = []
    for one in sorted((one for one in growing if one.pieces), key=lambda one: (one.hit.path, one.pieces[0].ordinal)):
        if groups and groups[-1][-1].is_followed_by(one):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups + alone


def _grown(group: Sequence[_Growing[S]]) -> tuple[int, Hit[S]]:
    """Make one hit of a group, with its best rank."""
    best = min(group, key=lambda one: one.rank)
    pieces: list[Piece] = [piece for one in group for piece in one.pieces]
    if len(pieces) <= 1:
        return best.rank, best.hit
    blocks = (best.hit.block, *(piece.block for piece in pieces))
    hit = replace(
        best.hit,
        block=next(filter(None, blocks), None),
        body=joined(pieces),
        line_start=pieces[0].line_start,
        line_end=pieces[-1].line_end,
        tokens=sum(piece.tokens for piece in pieces),
    )
    return best.rank, hit
