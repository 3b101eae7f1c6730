"""The notes as a scope sees them: which there are, and what is kept of each beside its text."""

import json
import unicodedata
from dataclasses import dataclass
from typing import Any

from vault_ask.index.chunk_state import ChunkState
from vault_ask.index.reading.reader import Reader
from vault_ask.notes.fold import fold, storable
from vault_ask.notes.frontmatter import Frontmatter
from vault_ask.notes.links import link_key
from vault_ask.scope import Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteView:
    """A note as it stands in the index: when it was stored, and when its file was last changed (since 1970)."""

    id: int
    path: str
    title: str
    sensitivity: Sensitivity
    indexed_at: str
    modified_at: float


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a note is: passages that wait for a vector or were refused one; whether a newer version is not whole."""

    waiting: int
    refused: int
    incomplete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the index knows of a note that a listing is compared with."""

    path: str
    revision: str
    content_hash: bytes
    sensitivity: Sensitivity
    hidden: bool = False
    """Whether it was about to be deleted when it was last seen."""

    @property
    def is_closed(self) -> bool:
        """Whether it was made personal until it is stored anew."""
        return self.hidden or not self.content_hash


KNOWN = "path, revision, content_hash, level, hidden"
"""The columns that are known of a note."""


def known_from(row: tuple[Any, ...]) -> Known:
    """Give what is known of a note from its row of these columns."""
    path, revision, content, level, hidden = row
    return Known(
        path=path, revision=revision, content_hash=content, sensitivity=Sensitivity(level), hidden=bool(hidden)
    )


class Notes:
    """The notes in sight."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def paths(self) -> list[str]:
        """List every visible note."""
        rows = self._reader.fetch(f"SELECT path FROM {self._reader.views.notes} ORDER BY path")
        return [row[0] for row in rows]

    def note(self, path: str) -> NoteView | None:
        """Find a note by its path, else the only one whose path differs in case or Unicode form alone."""
        path = storable(path)
        for spelled in dict.fromkeys((path, unicodedata.normalize("NFC", path))):
            if rows := self._where("n.path = ?", spelled):
                return rows[0]
        named = f"n.id IN (SELECT note FROM {self._reader.views.names} WHERE key = ? AND alias = 0)"
        alike = [note for note in self._where(named, link_key(path)) if fold(note.path) == fold(path)]
        return alike[0] if len(alike) == 1 else None

    def find(self, path: str) -> str | None:
        """Give the path of the note that a caller means, whatever its case, Unicode form or slashes around it.

        None for a note that is absent or not visible.
        """
        wanted = path.strip().strip("/")
        found = self.note(wanted) or self.note(f"{wanted}.md")
        return found.path if found else None

    def standing(self, note: NoteView) -> Standing:
        """Tell how far a note is."""
        views = self._reader.views
        waiting, refused = self._reader.fetch(
            "SELECT count(*) FILTER (WHERE state = ?), count(*) FILTER (WHERE state = ?) "
            f"FROM {views.chunks} WHERE note = ?",
            (ChunkState.WAITING, ChunkState.REFUSED, note.id),
        )[0]
        newer = self._reader.fetch(f"SELECT 1 FROM {views.incomplete} WHERE path = ? LIMIT 1", (note.path,))
        return Standing(waiting, refused, bool(newer))

    def versions(self) -> dict[str, int]:
        """Give a number for each visible note, by path: another one once another version of it is indexed."""
        rows = self._reader.fetch(f"SELECT path, content_hash, mtime, level FROM {self._reader.views.notes}")
        return {path: hash((content, mtime, level)) for path, content, mtime, level in rows}

    def known(self) -> dict[str, Known]:
        """Give what a listing is compared with, of every visible note by path."""
        rows = self._reader.fetch(f"SELECT {KNOWN} FROM {self._reader.views.notes}")
        return {row[0]: known_from(row) for row in rows}

    def resolved_paths(self) -> list[tuple[str, str]]:
        """List (path, the path its links led to) of every visible note."""
        return self._reader.fetch(f"SELECT path, resolved_path FROM {self._reader.views.notes} ORDER BY path")

    def tags(self) -> dict[str, tuple[str, ...]]:
        """Give the folded tags of visible notes that have some, by path, also those in a block that is never closed."""
        found: dict[str, list[str]] = {}
        edges, notes = self._reader.views.edges, self._reader.views.notes
        rows = self._reader.fetch(
            f"SELECT n.path, e.key FROM {edges} AS e JOIN {notes} AS n ON n.id = e.src WHERE e.kind = 'tag'"
        )
        for path, tag in rows:
            found.setdefault(path, []).append(tag)
        # Such a block is text, and its tags are no edges.
        rows = self._reader.fetch(f"SELECT path, frontmatter FROM {notes} WHERE frontmatter_state = 'unclosed'")
        for path, block in rows:
            found.setdefault(path, []).extend(Frontmatter(values=json.loads(block)).tags)
        return {path: tuple(tags) for path, tags in found.items() if tags}

    def _where(self, condition: str, value: str) -> list[NoteView]:
        rows = self._reader.fetch(
            f"SELECT n.id, n.path, n.title, n.level, n.indexed_at, n.mtime FROM {self._reader.views.notes} AS n "
            f"WHERE {condition} ORDER BY n.path",
            (value,),
        )
        return [
            NoteView(
                id=note, path=path, title=title, sensitivity=Sensitivity(level), indexed_at=indexed, modified_at=mtime
            )
            for note, path, title, level, indexed, mtime in rows
        ]
