"""Filters and days as a scope sees them: which chunks fit."""

from collections.abc import Sequence

from vault_ask.index.chunk_state import ChunkState
from vault_ask.index.reading.reader import LISTED, Reader, listed
from vault_ask.index.within import Condition, Within


class Filters:
    """Which chunks in sight fit."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def holding(self, within: Within, k: int) -> list[int]:
        """List k chunks that fit, where there is nothing else to go by: the newest notes first.

        Notes of which no day is known come last, by the time of their files. Of each note the first chunk that fits
        comes before any second one; packed data never.
        """
        views = self._reader.views
        fits: Condition = within.condition(views)
        rows = self._reader.fetch(
            f"WITH fitting AS (SELECT c.id, c.note, row_number() OVER (PARTITION BY c.note ORDER BY c.ordinal) AS nth "
            f"FROM {views.chunks} AS c WHERE c.state <> {ChunkState.PACKED} AND {fits.sql}) "
            f"SELECT f.id FROM fitting AS f JOIN {views.notes} AS n ON n.id = f.note "
            "ORDER BY f.nth, n.day_last IS NULL, n.day_last DESC, n.mtime DESC, n.path LIMIT ?",
            (*fits.bound, k),
        )
        return [row[0] for row in rows]

    def has_any(self, within: Within) -> bool:
        """Say whether any chunk fits, packed data aside."""
        chunks = self._reader.views.chunks
        fits: Condition = within.condition(self._reader.views)
        one = f"SELECT 1 FROM {chunks} AS c WHERE c.state <> {ChunkState.PACKED} AND {fits.sql} LIMIT 1"
        return bool(self._reader.fetch(one, tuple(fits.bound)))

    def fitting(self, chunks: Sequence[int], within: Within) -> list[int]:
        """Keep of some chunks those that fit, in the order given."""
        fits: Condition = within.condition(self._reader.views)
        rows = self._reader.fetch(
            f"SELECT c.id FROM {self._reader.views.chunks} AS c WHERE c.id IN {LISTED} AND {fits.sql}",
            (listed(chunks), *fits.bound),
        )
        kept = {row[0] for row in rows}
        return [chunk for chunk in chunks if chunk in kept]
