"""Chunks without a vector: which wait for one, and what is stored once the embedder has answered."""

from collections.abc import Mapping

import apsw

from vault_ask.index import vectors
from vault_ask.index.chunk_state import ChunkState
from vault_ask.index.database import fetch
from vault_ask.index.drafts import Waiting
from vault_ask.index.embedding import Vector


def waiting(db: apsw.Connection, limit: int) -> list[Waiting]:
    """Give chunks without a vector, those of the newest notes first, so that today's note is not last."""
    # Which they are is told by an index alone; text is read of those that are given.
    first = fetch(
        db,
        "SELECT c.id FROM chunks AS c JOIN notes AS n ON n.id = c.note "
        f"WHERE c.state = {ChunkState.WAITING} ORDER BY n.mtime DESC, c.note, c.ordinal LIMIT ?",
        (limit,),
    )
    rows = (fetch(db, "SELECT id, embed_hash, prelude, body FROM chunks WHERE id = ?", chunk)[0] for chunk in first)
    return [Waiting(chunk, digest, f"{prelude}\n{body}".strip()) for chunk, digest, prelude, body in rows]


def count_waiting(db: apsw.Connection) -> int:
    """Count the chunks that wait for a vector."""
    return int(fetch(db, f"SELECT count(*) FROM chunks WHERE state = {ChunkState.WAITING}")[0][0])


def count_waiting_notes(db: apsw.Connection) -> int:
    """Count the notes of which a chunk waits for a vector."""
    counted = f"SELECT count(DISTINCT note) FROM chunks WHERE state = {ChunkState.WAITING}"
    return int(fetch(db, counted)[0][0])


def store_vectors(db: apsw.Connection, made: Mapping[bytes, Vector], refused: frozenset[bytes]) -> None:
    """Give waiting chunks the vectors of their texts, and mark those the embedder refused."""
    centring = vectors.load_centring(db)
    of_text = f"embed_hash = ? AND state = {ChunkState.WAITING}"
    for digest, vector in made.items():
        for chunk, level, language in fetch(db, f"SELECT id, level, language FROM chunks WHERE {of_text}", (digest,)):
            vectors.put(db, centring, (chunk, level, language), vector)
            db.execute("UPDATE chunks SET state = ? WHERE id = ?", (ChunkState.EMBEDDED, chunk))
    db.executemany(f"UPDATE chunks SET state = {ChunkState.REFUSED} WHERE {of_text}", [(digest,) for digest in refused])
