"""A thread's connections to the index at one ceiling, and how a query is put to them."""

import json
import weakref
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from vault_ask.index import vectors
from vault_ask.index.database import connect_reader, connect_statistics, fetch
from vault_ask.index.statistics import Centring
from vault_ask.index.within import Condition, Within
from vault_ask.scope import Sensitivity

Rows = list[tuple[Any, ...]]

LISTED = "(SELECT value FROM json_each(?))"
"""A list that is bound as one value, made by `listed`: SQLite binds no more than so many."""


def listed(values: Collection[object]) -> str:
    """Bind a list as one value."""
    return json.dumps(list(values), ensure_ascii=False)


class Reader:
    """Two connections: one sees rows at or below the ceiling, the other figures of the whole vault and no text.

    Both are read inside one transaction, so that everything read fits together.
    """

    def __init__(self, path: Path, ceiling: Sensitivity) -> None:
        self.path = path
        self.ceiling = ceiling
        self.connection, self.views = connect_reader(path, ceiling)
        self._statistics = connect_statistics(path)
        self._centring: tuple[int, Centring] | None = None
        # A connection with a tokenizer of ours is never collected, so a thread that ends would leak its readers.
        self.close = weakref.finalize(self, _close_all, self.connection, self._statistics)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the state of the index still."""
        both = (self.connection, self._statistics)
        try:
            for connection in both:
                connection.execute("BEGIN")
                # A transaction's state is that of its first read. Both begin here, so that means and vectors fit.
                fetch(connection, "SELECT 1 FROM meta LIMIT 1")
            yield
        finally:
            for connection in both:
                with suppress(apsw.SQLError):
                    connection.execute("COMMIT")

    def outdated(self) -> bool:
        """Tell whether the vector table appeared after the views were made."""
        return self.views.vectors is None and bool(self.space())

    def fetch(self, sql: str, bound: tuple[Any, ...] = ()) -> Rows:
        """Run a query over the views of the ceiling."""
        return fetch(self.connection, sql, bound)

    def figures(self, sql: str, bound: tuple[Any, ...] = ()) -> Rows:
        """Run a query for figures of the whole vault."""
        return fetch(self._statistics, sql, bound)

    def meta(self, key: str) -> str | None:
        """Read what the index keeps of itself under a name."""
        rows = self.figures("SELECT value FROM meta WHERE key = ?", (key,))
        return rows[0][0] if rows else None

    def space(self) -> dict[str, str]:
        """Describe the stored vectors' space; empty while there are none."""
        return vectors.describe(self._statistics)

    def centring(self) -> Centring:
        """Give the means and the spread, which are half a megabyte, as they are in the transaction that is open."""
        version = self._statistics.pragma("data_version")
        if self._centring is None or self._centring[0] != version:
            self._centring = (version, vectors.load_centring(self._statistics))
        return self._centring[1]

    def count_hidden(self) -> int:
        """Count the chunks above the ceiling; never told, but where there are none, nothing has to be hidden."""
        return int(self.figures("SELECT total(chunks) FROM tallies WHERE level > ?", (int(self.ceiling),))[0][0])

    def among(self, column: str, notes: Sequence[str] | None, within: Within | None) -> Condition:
        """Narrow a search of chunks to those of some notes and to those that fit; to none where there are no notes."""
        if notes is None and not within:
            return Condition("")
        fits: Condition = (within or Within()).condition(self.views)
        # In one list: vec0 takes no second one.
        chunks = f"SELECT c.id FROM {self.views.chunks} AS c WHERE {fits.sql}"
        if notes is None:
            return Condition(f"AND {column} IN ({chunks})", fits.bound)
        of_notes = f"c.note IN (SELECT id FROM {self.views.notes} WHERE path IN {LISTED})"
        return Condition(f"AND {column} IN ({chunks} AND {of_notes})", (*fits.bound, listed(notes)))


def _close_all(*connections: apsw.Connection) -> None:
    for connection in connections:
        connection.close()
