"""Vectors of notes that were just deleted, so that a rename whose two halves come far apart embeds nothing again.

In memory only, and of a bounded number: nothing of a deleted note stays in the file.
"""

from collections import OrderedDict
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
    """What was dropped last, by the hash of a note's bytes."""

    def __init__(self, most: int = MOST_VECTORS) -> None:
        self._most = most
        self._count = 0
        self._notes: OrderedDict[bytes, _Note] = OrderedDict()

    def keep(self, db: apsw.Connection, note: int) -> None:
        """Keep the vectors of a note that is about to be deleted."""
        rows = fetch(
            db,
            "SELECT n.content_hash, c.embed_hash, c.text_hash, e.vector FROM notes AS n "
            "JOIN chunks AS c ON c.note = n.id JOIN embeddings AS e ON e.chunk = c.id WHERE n.id = ?",
            (note,),
        )
        if not rows:
            return
        self._forget(rows[0][0])
        kept = self._notes[rows[0][0]] = _Note()
        for _, embedded, text, vector in rows:
            kept.by_embedding[embedded] = kept.by_text[text] = vector
        self._count += len(kept.by_embedding)
        while self._count > self._most:
            self._forget(next(iter(self._notes)))

    def find(self, content_hash: bytes, embed_hash: bytes, text_hash: bytes) -> Vector | None:
        """Find the vector of a passage of a note with these bytes; under another title its text alone decides."""
        note = self._notes.get(content_hash)
        if note is None:
            return None
        blob = note.by_embedding.get(embed_hash) or note.by_text.get(text_hash)
        return decode(blob) if blob is not None else None

    def _forget(self, content_hash: bytes) -> None:
        note = self._notes.pop(content_hash, None)
        if note is not None:
            self._count -= len(note.by_embedding)
