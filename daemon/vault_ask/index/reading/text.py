"""The text of chunks as a scope sees it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic

from vault_ask.index.chunk_state import ChunkState
from vault_ask.index.reading.reader import LISTED, Reader, listed
from vault_ask.notes.model import PROPERTIES
from vault_ask.scope import S, Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage(Generic[S]):
    """A chunk with the note it belongs to, as seen under a scope. `body` is exactly the text of its lines."""

    chunk: int
    note: int
    path: str
    title: str
    heading_path: tuple[str, ...]
    block: str | None
    prelude: str
    body: str
    line_start: int
    line_end: int
    tokens: int
    language: str
    sensitivity: Sensitivity
    days: tuple[int, int] | None = None
    """The first and the last day it is of, as ordinals of `datetime.date`; None where nothing tells."""
    of_properties: bool = False
    """Whether it is of the note's properties; a line of them that says nothing is blank in `body`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A chunk among those of its note: its place there, its text and lines.

    Its first `overlap` characters repeat the chunk before. `is_text` is False for packed data.
    """

    chunk: int
    ordinal: int
    heading_path: str
    block: str | None
    body: str
    overlap: int
    line_start: int
    line_end: int
    tokens: int
    is_text: bool


@dataclass(frozen=True, slots=True)
class StoredText:
    """The text of a chunk and the line it begins in; its first `overlap` characters repeat the chunk before."""

    body: str
    overlap: int
    line_start: int


class Text(Generic[S]):
    """The text in sight."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def passages(self, chunks: Sequence[int]) -> dict[int, Passage[S]]:
        """Read chunks by id; an id that is not visible is left out."""
        views = self._reader.views
        rows = self._reader.fetch(
            "SELECT c.id, c.note, n.path, n.title, c.heading_path, c.block, c.prelude, c.body, c.line_start, "
            f"c.line_end, c.tokens, c.language, c.level, c.day_first, c.day_last, c.ordinal FROM {views.chunks} AS c "
            f"JOIN {views.notes} AS n ON n.id = c.note WHERE c.id IN {LISTED}",
            (listed(chunks),),
        )
        return {row[0]: _passage(row) for row in rows}

    def pieces(self, chunks: Sequence[int], reach: int) -> dict[int, list[Piece]]:
        """Give each chunk with up to `reach` on either side in its note, in order; none for one that is hidden."""
        views = self._reader.views
        rows = self._reader.fetch(
            "SELECT o.id, c.id, c.ordinal, c.heading_path, c.block, c.body, c.overlap, c.line_start, c.line_end, "
            f"c.tokens, c.state FROM {views.chunks} AS o JOIN {views.chunks} AS c ON c.note = o.note "
            f"WHERE o.id IN ({', '.join('?' * len(chunks))}) "
            "AND c.ordinal BETWEEN o.ordinal - ? AND o.ordinal + ? ORDER BY c.ordinal",
            (*chunks, reach, reach),
        )
        found: dict[int, list[Piece]] = {chunk: [] for chunk in chunks}
        for around, *row in rows:
            found[around].append(_piece(row))
        return found

    def extent(self, note: int) -> tuple[int, int]:
        """Give the first and the last line that is held of a note; (1, 0) where it has no text."""
        chunks = self._reader.views.chunks
        rows = self._reader.fetch(
            f"SELECT min(line_start), max(line_end) FROM {chunks} WHERE note = ? AND body <> ''", (note,)
        )
        first, last = rows[0]
        return (1, 0) if first is None else (first, last)

    def held(self, note: int, first: int, last: int) -> list[StoredText]:
        """Give what is held of some lines of a note, packed data too, in order."""
        rows = self._reader.fetch(
            f"SELECT body, overlap, line_start FROM {self._reader.views.chunks} "
            "WHERE note = ? AND line_end >= ? AND line_start <= ? ORDER BY ordinal",
            (note, first, last),
        )
        return [StoredText(*row) for row in rows]


def _piece(row: Sequence[Any]) -> Piece:
    chunk, ordinal, heading_path, block, body, overlap, start, end, tokens, state = row
    return Piece(
        chunk=chunk,
        ordinal=ordinal,
        heading_path=heading_path,
        block=block,
        body=body,
        overlap=overlap,
        line_start=start,
        line_end=end,
        tokens=tokens,
        is_text=state != ChunkState.PACKED,
    )


def _passage(row: tuple[Any, ...]) -> Passage[S]:
    chunk, note, path, title, heading_path, block, prelude, body, start, end = row[:10]
    tokens, language, level, first_day, last_day, ordinal = row[10:]
    return Passage(
        chunk=chunk,
        note=note,
        path=path,
        title=title,
        heading_path=tuple(json.loads(heading_path)),
        block=block,
        prelude=prelude,
        body=body,
        line_start=start,
        line_end=end,
        tokens=tokens,
        language=language,
        sensitivity=Sensitivity(level),
        days=None if first_day is None else (first_day, last_day),
        of_properties=ordinal >= PROPERTIES,
    )
