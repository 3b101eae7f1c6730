"""Which chunks stand where in which notes, as a scope sees them; packed data is never among them."""

from collections.abc import Collection, Sequence

from vault_ask.index.chunk_state import ChunkState
from vault_ask.index.reading.reader import LISTED, Reader, Rows, listed
from vault_ask.notes.model import PROPERTIES


class Chunks:
    """The chunks in sight by their places."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def of(self, path: str) -> list[int]:
        """List the chunks of a note in order; empty when the note is absent or not visible."""
        return [chunk for chunk, _ in self._in_order("c.line_end", path)]

    def of_text(self, path: str) -> list[int]:
        """List those that are of the note's text; of a note that has properties and nothing else, of these."""
        rows = self._in_order("c.ordinal", path)
        return [chunk for chunk, ordinal in rows if ordinal < PROPERTIES] or [chunk for chunk, _ in rows]

    def by_path(self, paths: Collection[str]) -> dict[str, list[int]]:
        """List the chunks of notes in order, by path; without notes that are not visible."""
        views = self._reader.views
        rows = self._reader.fetch(
            f"SELECT n.path, c.id FROM {views.notes} AS n JOIN {views.chunks} AS c ON c.note = n.id "
            f"WHERE n.path IN {LISTED} AND c.state <> ? ORDER BY n.path, c.ordinal",
            (listed(paths), ChunkState.PACKED),
        )
        found: dict[str, list[int]] = {}
        for path, chunk in rows:
            found.setdefault(path, []).append(chunk)
        return found

    def sections_of(self, path: str) -> list[int]:
        """List the chunks of a note's text that begin it or come under another heading than the one before."""
        text = set(self.of_text(path))
        rows = [row for row in self._in_order("c.heading_path", path) if row[0] in text]
        return [chunk for at, (chunk, heading) in enumerate(rows) if at == 0 or heading != rows[at - 1][1]]

    def at_line(self, path: str, line: int) -> int | None:
        """Give the chunk that a line of a note is in, or the next one, or the last."""
        rows = self._in_order("c.line_end", path)
        return next((chunk for chunk, last in rows if last >= line), rows[-1][0] if rows else None)

    def paths_of(self, chunks: Sequence[int]) -> dict[int, str]:
        """Give the paths of the notes that chunks are of; an id that is not visible is left out."""
        views = self._reader.views
        rows = self._reader.fetch(
            f"SELECT c.id, n.path FROM {views.chunks} AS c JOIN {views.notes} AS n ON n.id = c.note "
            f"WHERE c.id IN {LISTED}",
            (listed(chunks),),
        )
        return dict(rows)

    def _in_order(self, what: str, path: str) -> Rows:
        """Read the chunks of a note as (chunk, what is asked of it)."""
        views = self._reader.views
        return self._reader.fetch(
            f"SELECT c.id, {what} FROM {views.chunks} AS c JOIN {views.notes} AS n ON n.id = c.note "
            "WHERE n.path = ? AND c.state <> ? ORDER BY c.ordinal",
            (path, ChunkState.PACKED),
        )
