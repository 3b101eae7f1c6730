"""How the index stands as a scope sees it: what it holds and since when, what should be mended, what it was made by."""

import json
from dataclasses import dataclass
from typing import cast

from vault_ask.index.chunk_state import ChunkState
from vault_ask.index.reading.reader import Reader
from vault_ask.notes.written_dates import DayOrder
from vault_ask.scope import Sensitivity


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is to see."""

    notes: int
    chunks: int
    waiting_notes: int
    last_indexed: str | None


@dataclass(frozen=True, slots=True)
class NoteProblemView:
    """Something to mend in a note."""

    path: str
    code: str
    message: str
    line: int | None


@dataclass(frozen=True, slots=True)
class StoredTrouble:
    """A file that the source could not take as it is, in the source's own code and words."""

    path: str
    code: str
    reason: str


class State:
    """How the index stands, as far as the notes in sight tell."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @property
    def rules(self) -> str | None:
        """The fingerprint of the sensitivity rules that the stored levels follow."""
        return self._reader.meta("rules")

    @property
    def vault_name(self) -> str | None:
        """The vault's name as the source last told it."""
        return self._reader.meta("vault_name")

    @property
    def source_kind(self) -> str | None:
        """What kind of source the index was last brought in line with."""
        return self._reader.meta("source_kind")

    @property
    def day_order(self) -> DayOrder | None:
        """How dates such as 03/08/2026 are read: open notes alone settle it, so that it tells of no other."""
        return cast("DayOrder | None", self._reader.meta("day_order") or None)

    def counts(self) -> Counts:
        """Count what is visible."""
        views = self._reader.views
        notes, last = self._reader.fetch(f"SELECT count(*), max(indexed_at) FROM {views.notes}")[0]
        chunks, waiting = self._reader.fetch(
            f"SELECT count(*), count(DISTINCT CASE WHEN state = ? THEN note END) FROM {views.chunks}",
            (ChunkState.WAITING,),
        )[0]
        return Counts(notes, chunks, waiting, max(filter(None, (last, self._last_change())), default=None))

    def _last_change(self) -> str | None:
        """Give when anything was stored or forgotten: of every note, so to a view of every note only."""
        if self._reader.ceiling is not Sensitivity.PERSONAL:
            return None
        return self._reader.meta("changed_at")

    def problems(self) -> list[NoteProblemView]:
        """List what should be mended in visible notes."""
        notes = self._reader.views.notes
        rows = self._reader.fetch(f"SELECT path, problems FROM {notes} WHERE problems <> '[]' ORDER BY path")
        return [NoteProblemView(path, *problem) for path, listed in rows for problem in json.loads(listed)]

    def troubles(self) -> list[StoredTrouble]:
        """List what the source could not take as it is, by path; nothing under an open ceiling."""
        troubles = self._reader.views.troubles
        rows = self._reader.fetch(f"SELECT path, code, reason FROM {troubles} ORDER BY path, code")
        return [StoredTrouble(*row) for row in rows]

    def without_vector(self) -> list[tuple[str, int]]:
        """Tell in which visible notes the embedder refused passages, and how many: they are found by words alone."""
        views = self._reader.views
        return self._reader.fetch(
            f"SELECT n.path, count(*) FROM {views.chunks} AS c JOIN {views.notes} AS n ON n.id = c.note "
            "WHERE c.state = ? GROUP BY n.path ORDER BY n.path",
            (ChunkState.REFUSED,),
        )
