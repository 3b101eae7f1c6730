"""Vectors that need not be made again, since they were made from the same text: of the same words, or before a rename.

The title stands in front of what is embedded, so a vector that comes with a note from another path still tells of that
path. Hence it never goes from a note to one that more people see, nor where the passage is shorter than what stands in
front of it and the vector would mostly be the former title's.
"""

import apsw

from vault_ask.index import vectors
from vault_ask.index.database import fetch
from vault_ask.index.drafts import Draft, Found
from vault_ask.index.embedding import Vector
from vault_ask.index.writing.departed import Departed


def stored_vector(db: apsw.Connection, departed: Departed, draft: Draft, found: Found) -> Vector | None:
    """Find a vector made from this text before, here, at the path a renamed note had, or just before it was deleted."""
    made = vectors.by_embedding(db, found.embed_hash)
    if made is None and _is_mostly_text(found):
        made = _of_renamed(db, draft, found.text_hash)
    if made is None:
        made = departed.find_same(draft.content_hash, found.embed_hash)
    if made is None and _is_mostly_text(found):
        made = departed.find_text(draft.content_hash, found.text_hash, int(draft.note.sensitivity))
    return made


def _is_mostly_text(found: Found) -> bool:
    return len(found.chunk.body) >= len(found.chunk.prelude)


def _of_renamed(db: apsw.Connection, draft: Draft, text_hash: bytes) -> Vector | None:
    """Find the vector at another path with the same bytes, as a renamed note has until the old path goes.

    What is `hidden` is open by itself and on its way out; a conflict copy may be personal by what it is a copy of.
    """
    rows = fetch(
        db,
        "SELECT e.vector FROM notes AS n JOIN chunks AS c ON c.note = n.id JOIN embeddings AS e ON e.chunk = c.id "
        "WHERE n.content_hash = ? AND n.path <> ? AND c.text_hash = ? AND c.state = 1 "
        "AND (n.level <= ? OR (n.hidden AND NOT n.own_level AND NOT n.bereft AND n.marks = 0)) LIMIT 1",
        (draft.content_hash, draft.note.path, text_hash, int(draft.note.sensitivity)),
    )
    return vectors.decode(rows[0][0]) if rows else None
