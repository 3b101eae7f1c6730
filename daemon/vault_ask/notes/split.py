"""How one block that is over the limit is cut: at the best boundary near the size wanted, in linear time."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vault_ask.notes.blobs import blob_spans
from vault_ask.notes.model import BlockKind

_SENTENCE = re.compile(r"[.!?…؟۔।॥]+[\"'”’»)\]*_]*\s+|[。！？]+[」』”’）]*\s*|\n[ \t]*\n\s*")
_LINE = re.compile(r"\n")
_SPACE = re.compile(r"\s+")
_BY_LINES = frozenset({BlockKind.FENCE, BlockKind.TABLE, BlockKind.LIST_ITEM})
_JOINERS = frozenset("\u200d\ufe0f\u0e33\u0eb3")  # what follows or is one of these belongs to the character before
_FIRST_GUESS = 3.0  # characters a token


@dataclass(frozen=True, slots=True)
class Piece:
    """The half-open span of text that is new, where its overlap with the piece before starts, and its tokens."""

    start: int
    end: int
    tokens: int
    overlap_start: int
    embeddable: bool = True


@dataclass(frozen=True, slots=True)
class Sizes:
    """Sizes in tokens: of a piece, at most, and of what is repeated."""

    target: int
    most: int
    overlap: int


def cut(  # noqa: PLR0917
    text: str, start: int, end: int, kind: BlockKind, sizes: Sizes, count: Callable[[str], int]
) -> Iterator[Piece]:
    """Cut the block `text[start:end]` into pieces that cover it; each fits `sizes.most` whatever the script."""
    per_token = _FIRST_GUESS
    at = start
    while at < end:
        lead = _overlap_start(text, start, at, int(sizes.overlap * per_token), kind)
        stop = _stop(text, at, end, int(sizes.target * per_token) - (at - lead), kind)
        tokens = count(text[lead:stop])
        while tokens > sizes.most and stop - at > 1:
            shrunk = max(1, int((stop - at) * sizes.target / tokens))
            lead = at if shrunk <= at - lead else lead  # the overlap alone must never fill a piece
            stop = _stop(text, at, end, min(shrunk, stop - at - 1), kind)
            tokens = count(text[lead:stop])
        if text[at:stop].strip():
            yield Piece(at, stop, tokens, lead)
        per_token = min(max((stop - lead) / max(tokens, 1), 0.25), 64.0)
        at = stop


def parted(text: str, start: int, end: int) -> list[tuple[int, int, bool]]:
    """Part a block into spans of text (True) and of packed data inside a line (False)."""
    spans: list[tuple[int, int, bool]] = []
    at, line_start = start, start
    while line_start < end:
        line_end = text.find("\n", line_start, end)
        line_end = end if line_end < 0 else line_end
        for first, last in blob_spans(text[line_start:line_end]):
            if text[at : line_start + first].strip():
                spans.append((at, line_start + first, True))
            spans.append((line_start + first, line_start + last, False))
            at = line_start + last
        line_start = line_end + 1
    if text[at:end].strip():
        spans.append((at, end, True))
    return spans


def _stop(text: str, at: int, end: int, size: int, kind: BlockKind) -> int:
    """Where to cut: the last good boundary in the second half of the size wanted, else on a whole character."""
    size = max(size, 1)
    if at + size >= end:
        return end
    low, high = at + (size + 1) // 2, at + size
    for boundary in (_LINE, _SENTENCE, _SPACE) if kind in _BY_LINES else (_SENTENCE, _LINE, _SPACE):
        last = None
        for found in boundary.finditer(text, low, high):
            last = found.end()
        if last is not None and last > at:
            return last
    return _whole_character(text, at, high)


def _overlap_start(text: str, start: int, at: int, size: int, kind: BlockKind) -> int:
    """Where the repeated text starts: at a line or word near the size wanted, never before the block."""
    if at == start or size <= 0:
        return at
    low = max(start, at - size)
    by_lines = kind in _BY_LINES and text[at - 1] == "\n"
    found = (_LINE if by_lines else _SPACE).search(text, low, at) if low > start else None
    if found and found.end() < at:
        return found.end()
    return at if by_lines else _whole_character(text, start, low)


def _whole_character(text: str, floor: int, at: int) -> int:
    """Step back until no combining sign, joiner or variation stands at the cut."""
    back = at
    while back > floor + 1 and at - back < 16 and _continues(text, back):  # noqa: PLR2004  # longer piles are noise
        back -= 1
    return back if back > floor and not _continues(text, back) else at


def _continues(text: str, at: int) -> bool:
    char = text[at]
    return char in _JOINERS or text[at - 1] == "\u200d" or unicodedata.category(char) in {"Mn", "Mc", "Me"}
