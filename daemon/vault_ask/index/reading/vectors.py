"""The vectors as a scope sees them: which chunks are near, and where chunks lie."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from vault_ask.index.embedding import Vector
from vault_ask.index.reading.reader import LISTED, Reader, Rows, listed
from vault_ask.index.statistics import Centring
from vault_ask.index.vectors import decode_all
from vault_ask.index.within import Condition, Within
from vault_ask.notes.model import PROPERTIES

MOST_NEAR = 4096
"""vec0 refuses to look for more neighbours than this at a time."""


class Vectors:
    """What the vectors of the chunks in sight tell."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._centring: Centring | None = None

    @property
    def space(self) -> str | None:
        """The fingerprint of the stored vectors' space; None while there are no vectors."""
        return self._reader.space().get("space") if self._reader.views.vectors else None

    @property
    def model(self) -> str | None:
        """The name of the model that made the stored vectors; None while there are none."""
        return self._reader.space().get("model")

    @property
    def dimension(self) -> int | None:
        """The dimension of the stored vectors; None while there are none."""
        found = self._reader.space().get("dimension")
        return int(found) if found else None

    def centring(self) -> Centring:
        """Give the means and the spread of the vault's vectors; read once, since a view is of one moment."""
        if self._centring is None:
            self._centring = self._reader.centring()
        return self._centring

    def nearest(
        self, vector: Vector, k: int, *, notes: Sequence[str] | None = None, within: Within | None = None
    ) -> list[tuple[int, float]]:
        """Find the k chunks nearest to a centred unit vector, MOST_NEAR at most, as (chunk, cosine), nearest first.

        With `notes` among the chunks of these notes alone, with `within` among those that fit: what is left out is so
        before the nearest are counted.
        """
        return self._nearest(vector, k, self._reader.among("id", notes, within))

    def nearest_besides(self, vector: Vector, k: int, notes: Collection[str]) -> list[tuple[int, float]]:
        """Find the k chunks nearest to a centred unit vector in all but some notes, as (chunk, cosine), nearest first.

        Those notes are left out before the nearest are counted.
        """
        views = self._reader.views
        others = f"SELECT c.id FROM {views.chunks} AS c JOIN {views.notes} AS n ON n.id = c.note"
        besides = Condition(f"AND id IN ({others} WHERE n.path NOT IN {LISTED})", (listed(notes),))
        return self._nearest(vector, k, besides)

    def centred(self, chunks: Sequence[int]) -> dict[int, Vector]:
        """Read the centred unit vectors of chunks; those without one, or not visible, are left out."""
        if self._reader.views.vectors is None or not chunks:
            return {}
        rows = self._stored(f"e.chunk IN {LISTED}", listed(chunks))
        return {row[0]: vector for row, vector in zip(rows, self._centred(rows), strict=True)} if rows else {}

    def centred_of(self, note: int) -> NDArray[np.float32]:
        """Give the centred unit vectors of a note's chunks, as far as they have one; shape (n, dimension).

        Of its properties only where nothing else has one: notes with the same status are not about the same.
        """
        of_text = self._stored(f"c.note = ? AND c.ordinal < {PROPERTIES} ORDER BY c.id", note)
        rows = of_text or self._stored("c.note = ? ORDER BY c.id", note)
        return self._centred(rows) if rows else np.zeros((0, self.dimension or 0), np.float32)

    def _nearest(self, vector: Vector, k: int, among: Condition) -> list[tuple[int, float]]:
        if self._reader.views.vectors is None:
            return []
        rows = self._reader.fetch(
            f"SELECT id, distance FROM {self._reader.views.vectors} "
            f"WHERE embedding MATCH ? AND k = ? {among.sql} ORDER BY distance",
            (np.ascontiguousarray(vector, dtype="<f4").tobytes(), min(k, MOST_NEAR), *among.bound),
        )
        # vec0 gives the Euclidean distance; between unit vectors d*d = 2 - 2*cos.
        return [(chunk, 1.0 - distance * distance / 2.0) for chunk, distance in rows]

    def _stored(self, condition: str, value: str | int) -> Rows:
        """Read raw vectors, as (chunk, vector, language).

        All at once: to ask vec0 for each of them costs ten times as much, and for a list of ids it scans all its rows.
        """
        views = self._reader.views
        return self._reader.fetch(
            f"SELECT e.chunk, e.vector, c.language FROM {views.embeddings} AS e "
            f"JOIN {views.chunks} AS c ON c.id = e.chunk WHERE {condition}",
            (value,),
        )

    def _centred(self, rows: Rows) -> NDArray[np.float32]:
        raw = decode_all([blob for _, blob, _ in rows])
        return self.centring().centre_passages(raw, [language for _, _, language in rows])
