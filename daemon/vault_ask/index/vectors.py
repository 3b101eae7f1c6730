"""The vectors' part of the index file: the raw vector of each chunk, the centred one that is searched, and the means.

Works on the writer's connection, inside the writer's transactions. The raw vector (float16) is the source; the centred
one (float32, in vec0) follows from it and the means, and is made anew when the means are.
"""

from collections.abc import Iterator, Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from vault_ask.index.chunk_state import ChunkState
from vault_ask.index.database import fetch, has_vectors
from vault_ask.index.embedding import EmbeddingSpace, Priors, Vector
from vault_ask.index.statistics import EVERYTHING, Centring, Mean, estimate, make_centring, unit

Place = tuple[int, int, str]
"""A chunk's id, level and language."""

BATCH = 2_048
GROWTH = 1.3
"""Means are estimated anew once the vault has this many times the vectors they were made from (or shrank so)."""

_RECIPE = "2"
"""Raised when the same means come to centre in another way, so that what is stored is centred anew."""

HOLES = 0.3
"""Share of the vector table's places that may be empty before it is made anew (shared measurement: occupancy 70 %)."""


def create(db: apsw.Connection, space: EmbeddingSpace) -> None:
    """Make the vector table for a space and remember the space."""
    _make_table(db, space.dimension)
    db.executemany(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)",
        [("space", space.fingerprint), ("model", space.model), ("dimension", str(space.dimension))],
    )


def keep_priors(db: apsw.Connection, priors: Priors) -> bool:
    """Store the means that ship with the model beside the vault's own; say whether they centre in another way now."""
    rows = sorted(
        (f"prior-{kind}:{language}", 0, _f32(vector))
        for kind, means in (("passage", priors.passages), ("question", priors.questions))
        for language, vector in means.items()
    )
    kept = fetch(db, "SELECT name, count, vector FROM statistics WHERE name LIKE 'prior-%' ORDER BY name")
    if rows == kept and fetch(db, "SELECT value FROM meta WHERE key = 'centred_by'") == [(_RECIPE,)]:
        return False
    db.execute("INSERT OR REPLACE INTO meta VALUES ('centred_by', ?)", (_RECIPE,))
    db.execute("DELETE FROM statistics WHERE name LIKE 'prior-%'")
    db.executemany("INSERT INTO statistics VALUES (?, ?, ?)", rows)
    return True


def put(db: apsw.Connection, centring: Centring, place: Place, vector: Vector) -> None:
    """Store a chunk's vector, in place where it has one: deleting and inserting would leave holes in vec0."""
    chunk, level, language = place
    centred = _f32(centring.centre_passages(vector[None, :], [language])[0])
    db.execute("INSERT OR REPLACE INTO embeddings VALUES (?, ?)", (chunk, vector.astype("<f2").tobytes()))
    if fetch(db, "SELECT 1 FROM chunks_vec WHERE id = ?", (chunk,)):
        db.execute("UPDATE chunks_vec SET embedding = ?, level = ? WHERE id = ?", (centred, level, chunk))
    else:
        db.execute("INSERT INTO chunks_vec (id, level, embedding) VALUES (?, ?, ?)", (chunk, level, centred))


def drop(db: apsw.Connection, chunk: int) -> None:
    """Remove a chunk's vector, if it has one."""
    if has_vectors(db):
        db.execute("DELETE FROM chunks_vec WHERE id = ?", (chunk,))
    db.execute("DELETE FROM embeddings WHERE chunk = ?", (chunk,))


def by_embedding(db: apsw.Connection, digest: bytes) -> Vector | None:
    """Find a stored vector by the hash of all that was embedded."""
    rows = fetch(
        db,
        "SELECT e.vector FROM chunks AS c JOIN embeddings AS e ON e.chunk = c.id "
        "WHERE c.embed_hash = ? AND c.state = 1 LIMIT 1",
        (digest,),
    )
    return decode(rows[0][0]) if rows else None


def decode(blob: bytes) -> Vector:
    """Read a stored raw vector; unit length again after the rounding of float16."""
    return unit(np.frombuffer(blob, "<f2").astype(np.float32))


def decode_all(blobs: Sequence[bytes]) -> NDArray[np.float32]:
    """Read stored raw vectors, at least one; shape (n, dimension)."""
    return unit(np.frombuffer(b"".join(blobs), "<f2").reshape(len(blobs), -1).astype(np.float32))


def load_centring(db: apsw.Connection) -> Centring:
    """Read the means of the last estimate. Works on any connection that may read `meta` and `statistics`."""
    values = dict(fetch(db, "SELECT key, value FROM meta WHERE key IN ('centring', 'dimension')"))
    if "dimension" not in values:
        return Centring({}, {})
    passages: dict[str, Vector] = {}
    questions: dict[str, Vector] = {}
    means: dict[str, Mean] = {}
    covariance = average = None
    known = 0
    for name, count, blob in fetch(db, "SELECT name, count, vector FROM statistics"):
        kind, _, language = name.partition(":")
        vector = np.frombuffer(blob, "<f4")
        if kind == "mean":
            means[language] = Mean(count, vector)
        elif kind == "prior-passage":
            passages[language] = vector
        elif kind == "prior-question":
            questions[language] = vector
        elif kind == "covariance":
            covariance = vector.reshape(int(values["dimension"]), -1)
        elif kind == "average":
            average, known = vector, count
    return make_centring(
        means,
        Priors(passages, questions),
        mode=values.get("centring", "auto"),
        covariance=covariance,
        average=average,
        count=known,
    )


def refresh(db: apsw.Connection, *, force: bool) -> bool:
    """Estimate the means anew when enough has changed, and centre every vector by them. Say whether it was done."""
    if not has_vectors(db):
        return False
    # By an index of the chunks: to count the vectors themselves reads every page of them.
    count = fetch(db, f"SELECT count(*) FROM chunks WHERE state = {ChunkState.EMBEDDED}")[0][0]
    rows = fetch(db, "SELECT count FROM statistics WHERE name = ?", (f"mean:{EVERYTHING}",))
    before = rows[0][0] if rows else 0
    if count == 0 or (not force and before / GROWTH < count < before * GROWTH):
        return False
    dimension = int(fetch(db, "SELECT value FROM meta WHERE key = 'dimension'")[0][0])
    means = estimate(_raw_batches(db), dimension)
    db.execute("DELETE FROM statistics WHERE name LIKE 'mean:%'")
    db.executemany(
        "INSERT INTO statistics VALUES (?, ?, ?)",
        [(f"mean:{language}", mean.count, _f32(mean.vector)) for language, mean in means.items()],
    )
    recentre(db)
    return True


def recentre(db: apsw.Connection) -> None:
    """Make every centred vector anew from its raw one, and the covariance of all of them."""
    if not has_vectors(db):
        return
    centring = load_centring(db)
    products: NDArray[np.float64] | float = 0.0
    total: NDArray[np.float64] | float = 0.0
    count = 0
    for ids, vectors, languages in _raw_rows(db):
        centred = centring.centre_passages(vectors, languages)
        db.executemany(
            "UPDATE chunks_vec SET embedding = ? WHERE id = ?",
            [(_f32(vector), chunk) for chunk, vector in zip(ids, centred, strict=True)],
        )
        wide = centred.astype(np.float64)
        products = products + wide.T @ wide
        total = total + wide.sum(axis=0)
        count += len(ids)
    if count:
        mean = np.asarray(total) / count
        covariance = np.asarray(products) / count - np.outer(mean, mean)
        db.executemany(
            "INSERT OR REPLACE INTO statistics VALUES (?, ?, ?)",
            [("covariance:*", count, _f32(covariance.ravel())), ("average:*", count, _f32(mean))],
        )


def compact(db: apsw.Connection) -> bool:
    """Make the vector table anew where deleted rows left too many holes; say whether it was done.

    vec0 fills holes only in its newest block of 1,024 places, and reads the emptiest block whole.
    """
    if not has_vectors(db):
        return False
    counts = "SELECT count(*), (SELECT coalesce(sum(size), 0) FROM chunks_vec_chunks) FROM chunks_vec_rowids"
    live, places = fetch(db, counts)[0]
    if places - live < max(HOLES * places, BATCH):
        return False
    centring = load_centring(db)
    db.execute("DROP TABLE chunks_vec")
    _make_table(db, int(describe(db)["dimension"]))
    for ids, vectors, languages in _raw_rows(db):
        centred = centring.centre_passages(vectors, languages)
        db.executemany(
            "INSERT INTO chunks_vec (id, level, embedding) SELECT id, level, ? FROM chunks WHERE id = ?",
            [(_f32(vector), chunk) for chunk, vector in zip(ids, centred, strict=True)],
        )
    return True


def describe(db: apsw.Connection) -> dict[str, str]:
    """Give the stored space's `model`, `dimension` and `space` fingerprint, as far as it is known."""
    rows = fetch(db, "SELECT key, value FROM meta WHERE key IN ('space', 'model', 'dimension')")
    return dict(rows)


def _make_table(db: apsw.Connection, dimension: int) -> None:
    db.execute(
        "CREATE VIRTUAL TABLE chunks_vec USING vec0 "
        f"(id INTEGER PRIMARY KEY, level INTEGER, embedding float[{int(dimension)}])"
    )


def _raw_batches(db: apsw.Connection) -> Iterator[tuple[NDArray[np.float32], list[str]]]:
    return ((vectors, languages) for _, vectors, languages in _raw_rows(db))


def _raw_rows(db: apsw.Connection) -> Iterator[tuple[list[int], NDArray[np.float32], list[str]]]:
    last = 0
    while rows := fetch(
        db,
        "SELECT e.chunk, e.vector, c.language FROM embeddings AS e JOIN chunks AS c ON c.id = e.chunk "
        "WHERE e.chunk > ? ORDER BY e.chunk LIMIT ?",
        (last, BATCH),
    ):
        last = rows[-1][0]
        yield [row[0] for row in rows], decode_all([row[1] for row in rows]), [row[2] for row in rows]


def _f32(vector: NDArray[np.floating]) -> bytes:
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()
