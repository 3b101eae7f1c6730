"""Vectors of notes that were just deleted, so that a rename whose two halves come far apart embeds nothing again.

In memory only, and of a bounded number: nothing of a deleted note stays in the file.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import apsw

from vault_ask.index.database import fetch
from vault_ask.index.embedding import Vector
from vault_ask.index.vectors import decode

MOST_VECTORS = 20_000
"""At 384 dimensions of float16 this is 15 MB."""


@dataclass(slots=True)
class _Note:
    by_embedding: dict[bytes, bytes] = field(default_factory=dict)
    by_text: dict[bytes, bytes] = field(default_factory=dict)


class Departed:
    """What was dropped last, by the hash of a note's bytes and the level at which it was seen."""

    def __init__(self, most: int = MOST_VECTORS) -> None:
        self._most = most
        self._count = 0
        self._notes: OrderedDict[tuple[bytes, int], _Note] = OrderedDict()

    def keep(self, db: apsw.Connection, note: int) -> None:
        """Keep the vectors of a note that is about to be deleted; one that was hidden for that is still an open one."""
        rows = fetch(
            db,
            "SELECT n.content_hash, CASE WHEN n.hidden AND n.marks = 0 THEN n.own_level OR n.bereft ELSE n.level END, "
            "c.embed_hash, c.text_hash, e.vector FROM notes AS n "
            "JOIN chunks AS c ON c.note = n.id JOIN embeddings AS e ON e.chunk = c.id WHERE n.id = ?",
            (note,),
        )
        if not rows:
            return
        place = rows[0][:2]
        self._forget(place)
        kept = self._notes[place] = _Note()
        for *_, embedded, text, vector in rows:
            kept.by_embedding[embedded] = kept.by_text[text] = vector
        self._count += len(kept.by_embedding)
        while self._count > self._most:
            self._forget(next(iter(self._notes)))

    def find_same(self, content_hash: bytes, embed_hash: bytes) -> Vector | None:
        """Find the vector of a passage under the same title, in a note with these bytes."""
        found = (note.by_embedding.get(embed_hash) for note in self._with(content_hash, most=1))
        return _first(found)

    def find_text(self, content_hash: bytes, text_hash: bytes, level: int) -> Vector | None:
        """Find the vector of a passage under any title, in a note with these bytes seen at a level or below."""
        found = (note.by_text.get(text_hash) for note in self._with(content_hash, most=level))
        return _first(found)

    def _with(self, content_hash: bytes, *, most: int) -> Iterator[_Note]:
        places = ((content_hash, level) for level in range(most + 1))
        return (self._notes[place] for place in places if place in self._notes)

    def _forget(self, place: tuple[bytes, int]) -> None:
        note = self._notes.pop(place, None)
        if note is not None:
            self._count -= len(note.by_embedding)


def _first(blobs: Iterable[bytes | None]) -> Vector | None:
    return next((decode(blob) for blob in blobs if blob is not None), None)
