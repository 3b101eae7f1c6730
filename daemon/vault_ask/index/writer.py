"""Writes the index: replace a note, forget one, reclassify, resolve links, keep vectors and their means.

Every public method is one transaction, begun IMMEDIATE, so that a kill at any moment leaves whole notes. The writer
embeds nothing: vectors are handed in, keyed by the hash of the text they were made from, or the chunk waits for its
own. The caller holds the data folder's lock; threads may share a writer, each call has it for itself.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any

import apsw

from vault_ask.errors import EmbeddingSpaceChanged
from vault_ask.index import copies, facets, vectors
from vault_ask.index.database import BUSY_MILLISECONDS, connect_writer, fetch, has_vectors, translated
from vault_ask.index.departed import Departed
from vault_ask.index.drafts import (
    ChunkState,
    Claim,
    Draft,
    Found,
    OtherClaim,
    Waiting,
    embedding_text,
    other_claims,
    stored_claims,
)
from vault_ask.index.embedding import EmbeddingSpace, Priors, Vector, space_changed
from vault_ask.index.links import links_of, rename, resolve
from vault_ask.index.view import Known
from vault_ask.notes.copies import original_of
from vault_ask.notes.links import link_key
from vault_ask.notes.model import Chunk, FrontmatterState, Note
from vault_ask.notes.tasks import tasks
from vault_ask.scope import Sensitivity


class IndexWriter:
    """The one writer of an index file."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises IndexDamaged, ConfigError."""
        self._path = path
        with translated():
            self._db = connect_writer(path)
        # The follower and the backlog share this connection; each takes it for one transaction.
        self._lock = RLock()
        self._departed = Departed()

    @property
    def path(self) -> Path:
        """The index file."""
        return self._path

    def close(self) -> None:
        """Write the journal back into the file, so that deleted bytes are gone from both, and close."""
        try:
            self.checkpoint()
        finally:
            self._db.close()

    def abandon(self) -> None:
        """Close a file that is damaged, without touching it again."""
        self._db.close(force=True)

    def checkpoint(self) -> None:
        """Move the journal into the file and cut it, as far as readers allow. Raises IndexDamaged, IndexFailed."""
        with self._lock, translated():
            self._db.set_busy_timeout(CHECKPOINT_MILLISECONDS)
            try:
                self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:
                self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            finally:
                self._db.set_busy_timeout(BUSY_MILLISECONDS)

    def damage(self) -> str | None:
        """Run SQLite's quick check; give its first complaint, or None when the file is sound."""
        found: str = self._fetch("PRAGMA quick_check(1)")[0][0]
        return None if found == "ok" else found

    # What is known

    def known(self) -> dict[str, Known]:
        """Give every note of the index by path, for comparison with a listing."""
        return {row[0]: _known(row) for row in self._fetch(_KNOWN)}

    def known_of(self, paths: Sequence[str]) -> dict[str, Known]:
        """Give what is known of some paths."""
        if len(paths) > MANY_PATHS:
            everything = self.known()
            return {path: everything[path] for path in paths if path in everything}
        marks = ", ".join("?" * len(paths))
        rows = self._fetch(f"{_KNOWN} WHERE path IN ({marks})", tuple(paths))
        return {row[0]: _known(row) for row in rows}

    def claims(self) -> list[Claim]:
        """Give what each note's sensitivity was decided from."""
        tags: dict[int, list[str]] = {}
        for note, tag in self._fetch("SELECT src, key FROM edges WHERE kind = 'tag' ORDER BY id"):
            tags.setdefault(note, []).append(tag)
        rows = self._fetch(
            "SELECT id, path, resolved_path, frontmatter, frontmatter_state, others, own_level FROM notes"
        )
        return [
            Claim(
                id=note,
                path=path,
                resolved_path=resolved,
                frontmatter=json.loads(frontmatter),
                state=FrontmatterState(state),
                tags=tuple(tags.get(note, ())),
                others=other_claims(others),
                sensitivity=Sensitivity(level),
            )
            for note, path, resolved, frontmatter, state, others, level in rows
        ]

    def dated_in_slashes(self) -> list[tuple[str, Mapping[str, object], Sensitivity]]:
        """Give the notes whose name or properties hold what may be a date such as 03-08-2026, with their properties."""
        rows = self._fetch(
            f"SELECT path, frontmatter, level FROM notes WHERE path GLOB '{_IN_SLASHES}' "
            f"OR frontmatter GLOB '{_IN_SLASHES}'"
        )
        return [(path, json.loads(frontmatter), Sensitivity(level)) for path, frontmatter, level in rows]

    def has_content(self, content_hash: bytes, *, besides: str) -> bool:
        """Say whether another note has the same bytes, as a renamed note does until its old path goes."""
        rows = self._fetch("SELECT 1 FROM notes WHERE content_hash = ? AND path <> ?", (content_hash, besides))
        return bool(rows)

    def meta(self, key: str) -> str | None:
        """Read a value that was kept by `set_meta`."""
        rows = self._fetch("SELECT value FROM meta WHERE key = ?", (key,))
        return rows[0][0] if rows else None

    def set_meta(self, **values: str) -> None:
        """Keep values under their names."""
        with self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    def memory(self) -> dict[str, str]:
        """Give everything that the source asked to have kept."""
        return dict(self._fetch("SELECT key, value FROM source_memory"))

    def remember(self, values: Mapping[str, str | None]) -> None:
        """Keep values for the source; None forgets one."""
        with self._transaction():
            self._remember(values)

    def conclude(
        self,
        gone: Iterable[str],
        *,
        memory: Mapping[str, str],
        troubles: Iterable[tuple[str, str, str]],
        meta: Mapping[str, str],
    ) -> None:
        """End a sweep: forget notes, and keep the source's memory (in place of the former), its troubles and `meta`."""
        gone = tuple(gone)
        with self._transaction():
            self._delete_all(gone)
            if gone:
                self._note_change()
            self._forget_memory_outside(memory)
            self._remember(memory)
            self._keep_troubles(troubles)
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())
        if gone:
            self.checkpoint()

    def keep_troubles(self, troubles: Iterable[tuple[str, str, str]]) -> None:
        """Keep what the source could not take as it is, as (path, code, reason), in place of what was kept before."""
        with self._transaction():
            self._keep_troubles(troubles)

    # The embedding space

    def use_space(self, space: EmbeddingSpace, priors: Priors, centring: str) -> None:
        """Bind the index to an embedding space on first use; later only the same one is accepted.

        Raises EmbeddingSpaceChanged, naming the command that builds a new index.
        """
        kept = self.meta("space")
        if kept is not None and kept != space.fingerprint:
            raise EmbeddingSpaceChanged(space_changed(self.meta("model") or "another model", space))
        with self._transaction():
            if kept is None:
                vectors.create(self._db, space)
            changed = vectors.keep_priors(self._db, priors)
            if changed or self.meta("centring") != centring:
                self._db.execute("INSERT OR REPLACE INTO meta VALUES ('centring', ?)", (centring,))
                vectors.recentre(self._db)

    # Notes

    def replace(
        self,
        drafts: Sequence[Draft],
        made: Mapping[bytes, Vector],
        *,
        refused: frozenset[bytes] = frozenset(),
        gone: Iterable[str] = (),
        remember: Mapping[str, str | None] | None = None,
    ) -> None:
        """Store notes, each in place of its former self, then forget those at the paths that are `gone`.

        `made` maps embedding hashes to unit vectors. Chunks whose text is unchanged keep their vectors, also under a
        new path; a chunk with no vector anywhere waits for one. `remember` is kept for the source.
        """
        gone = tuple(gone)
        with self._transaction():
            for draft in drafts:
                self._replace(draft, made, refused)
            self._delete_all(gone)
            self._settle(original_of(draft.note.path)[0] for draft in drafts)
            if drafts or gone:
                self._note_change()
            self._remember(remember or {})
        if gone:
            self.checkpoint()

    def delete(self, paths: Iterable[str]) -> None:
        """Forget notes: their text, words, vectors, names and links. Links to them become unresolved.

        Their bytes leave the file with the transaction, and the journal with the checkpoint behind it.
        """
        self.replace((), {}, gone=paths)

    def reclassify(self, levels: Mapping[int, Sensitivity]) -> int:
        """Move notes, by id, to another level, with their conflict copies, all chunks and all vectors.

        Nothing is embedded again. Gives the number of notes that readers find at another level now.
        """
        with self._transaction():
            self._db.executemany(
                "UPDATE notes SET own_level = ? WHERE id = ?", [(int(level), note) for note, level in levels.items()]
            )
            moved = [self._family_of(note) for note in levels]
            return self._settle((*moved, *copies.families(self._db)))

    def close_note(self, path: str) -> None:
        """Make a note personal at once, before its new text is ready to be stored; it stays so until it is stored anew.

        Neither changed rules nor its former text coming back may be taken for that. Its conflict copies go with it.
        """
        unread = stored_claims([OtherClaim(path=path, frontmatter={}, state=FrontmatterState.UNREADABLE)])
        with self._transaction():
            self._db.execute(
                "UPDATE notes SET own_level = 1, content_hash = x'', others = ? WHERE path = ?", (unread, path)
            )
            self._settle([original_of(path)[0]])

    def hide(self, paths: Iterable[str]) -> None:
        """Make notes personal that are about to be deleted."""
        paths = tuple(paths)
        with self._transaction():
            self._db.executemany("UPDATE notes SET hidden = 1 WHERE path = ?", [(path,) for path in paths])
            self._settle(original_of(path)[0] for path in paths)

    def touch(self, revisions: Mapping[str, str]) -> None:
        """Note new revisions of notes whose bytes did not change."""
        with self._transaction():
            self._db.executemany(
                "UPDATE notes SET revision = ? WHERE path = ?", [(rev, path) for path, rev in revisions.items()]
            )

    def resolve_links(self) -> None:
        """Point every edge whose names may have changed since the last call at the note it means now."""
        with self._transaction():
            resolve(self._db)

    def optimize(self) -> None:
        """Merge the word index, close the holes among the vectors and refresh the planner's figures.

        For idle time, and after a first index.
        """
        with self._transaction():
            self._db.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')")
            vectors.compact(self._db)
        self._db.pragma("optimize")

    # Vectors

    def waiting(self, limit: int) -> list[Waiting]:
        """Give chunks without a vector, those of the newest notes first, so that today's note is not last."""
        rows = self._fetch(
            "SELECT c.id, c.embed_hash, c.prelude, c.body FROM chunks AS c JOIN notes AS n ON n.id = c.note "
            "WHERE c.state = 0 ORDER BY n.mtime DESC, c.note, c.ordinal LIMIT ?",
            (limit,),
        )
        return [Waiting(chunk, digest, f"{prelude}\n{body}".strip()) for chunk, digest, prelude, body in rows]

    def count_waiting(self) -> tuple[int, int]:
        """Count the chunks that wait for a vector, and the notes they are in."""
        row = self._fetch("SELECT count(*), count(DISTINCT note) FROM chunks WHERE state = 0")[0]
        return int(row[0]), int(row[1])

    def count_chunks(self) -> int:
        """Count all chunks."""
        return int(self._fetch("SELECT count(*) FROM chunks")[0][0])

    def count_problem_notes(self) -> int:
        """Count the notes in which something should be mended."""
        return int(
            self._fetch(
                "SELECT count(*) FROM notes WHERE problems <> '[]' OR id IN (SELECT note FROM chunks WHERE state = 3)"
            )[0][0]
        )

    def without_vector(self, drafts: Sequence[Draft]) -> dict[bytes, str]:
        """Give the texts of drafts, by embedding hash, of which no vector is stored yet."""
        missing: dict[bytes, str] = {}
        with self._lock, translated():
            for draft in drafts:
                for chunk in draft.chunks:
                    found = Found(chunk, {}, frozenset())
                    if chunk.embeddable and self._stored_vector(found.embed_hash, found.text_hash, draft) is None:
                        missing[found.embed_hash] = embedding_text(chunk)
        return missing

    def store_vectors(self, made: Mapping[bytes, Vector], refused: frozenset[bytes]) -> None:
        """Give waiting chunks the vectors of their texts, and mark those the embedder refused."""
        with self._transaction():
            centring = vectors.load_centring(self._db)
            for digest, vector in made.items():
                rows = self._fetch(
                    "SELECT id, level, language FROM chunks WHERE embed_hash = ? AND state = 0", (digest,)
                )
                for chunk, level, language in rows:
                    vectors.put(self._db, centring, (chunk, level, language), vector)
                    self._db.execute("UPDATE chunks SET state = 1 WHERE id = ?", (chunk,))
            self._db.executemany(
                "UPDATE chunks SET state = 3 WHERE embed_hash = ? AND state = 0", [(digest,) for digest in refused]
            )

    def refresh_statistics(self, *, force: bool = False) -> bool:
        """Estimate means and spread anew when the vault has grown or changed enough; say whether it was done."""
        with self._transaction():
            return vectors.refresh(self._db, force=force)

    # Inside a transaction

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock, translated():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back by itself after some errors, such as a full disk.
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def _fetch(self, sql: str, bindings: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        with self._lock, translated():
            return fetch(self._db, sql, bindings)

    def _note_change(self) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES ('changed_at', ?)", (_now(),))

    def _remember(self, values: Mapping[str, str | None]) -> None:
        forgotten = [(key,) for key, value in values.items() if value is None]
        kept = [(key, value) for key, value in values.items() if value is not None]
        self._db.executemany("DELETE FROM source_memory WHERE key = ?", forgotten)
        self._db.executemany(
            "INSERT INTO source_memory VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value "
            "WHERE value <> excluded.value",
            kept,
        )

    def _forget_memory_outside(self, memory: Mapping[str, str]) -> None:
        kept = (key for (key,) in self._fetch("SELECT key FROM source_memory"))
        self._db.executemany(
            "DELETE FROM source_memory WHERE key = ?", [(key,) for key in list(kept) if key not in memory]
        )

    def _keep_troubles(self, troubles: Iterable[tuple[str, str, str]]) -> None:
        self._db.execute("DELETE FROM troubles")
        self._db.executemany("INSERT INTO troubles VALUES (?, ?, ?)", list(troubles))

    def _replace(self, draft: Draft, made: Mapping[bytes, Vector], refused: frozenset[bytes]) -> None:
        note = self._upsert_note(draft)
        self._replace_chunks(note, draft, made, refused)
        self._db.execute("DELETE FROM edges WHERE src = ?", (note,))
        self._db.executemany(
            "INSERT INTO edges (src, kind, target, key, heading, block, alias, line) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(note, *row) for row in links_of(draft.note)],
        )

    def _upsert_note(self, draft: Draft) -> int:
        note = draft.note
        self._db.execute(
            "INSERT INTO notes (path, family, marks, resolved_path, title, level, own_level, language, content_hash, "
            "revision, mtime, size, frontmatter, frontmatter_state, others, aliases, problems, indexed_at, day_first, "
            "day_last) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (path) DO UPDATE SET "
            "family = excluded.family, marks = excluded.marks, own_level = excluded.own_level, hidden = 0, "
            "resolved_path = excluded.resolved_path, title = excluded.title, level = excluded.level, "
            "language = excluded.language, content_hash = excluded.content_hash, revision = excluded.revision, "
            "mtime = excluded.mtime, size = excluded.size, frontmatter = excluded.frontmatter, "
            "frontmatter_state = excluded.frontmatter_state, others = excluded.others, aliases = excluded.aliases, "
            "problems = excluded.problems, indexed_at = excluded.indexed_at, day_first = excluded.day_first, "
            "day_last = excluded.day_last",
            (
                note.path, *original_of(note.path), draft.resolved_path, note.title, int(note.sensitivity),
                int(note.sensitivity), note.language, draft.content_hash, draft.revision, draft.mtime, draft.size,
                json.dumps(note.frontmatter, ensure_ascii=False), note.frontmatter_state, stored_claims(draft.others),
                json.dumps(note.aliases, ensure_ascii=False),
                json.dumps([(p.code, p.message, p.line) for p in note.problems], ensure_ascii=False), _now(),
                *(note.days or (None, None)),
            ),
        )  # fmt: skip
        row = self._fetch("SELECT id FROM notes WHERE path = ?", (note.path,))[0][0]
        facets.keep_note(self._db, int(row), note)
        names = {(link_key(note.path), 0), *((link_key(alias), 1) for alias in note.aliases)}
        rename(self._db, row, {name for name in names if name[0]})
        return int(row)

    def _replace_chunks(self, note: int, draft: Draft, made: Mapping[bytes, Vector], refused: frozenset[bytes]) -> None:
        """Reuse row ids, so that vectors are updated in place: vec0 never gets the space of a deleted row back."""
        free = dict(self._db.execute("SELECT id, stable_id FROM chunks WHERE note = ? ORDER BY ordinal", (note,)))
        by_stable_id = {stable: row for row, stable in free.items()}
        placed: list[tuple[Chunk, int | None]] = []
        for chunk in draft.chunks:
            row = by_stable_id.pop(chunk.id, None)
            if row is not None:
                del free[row]
            placed.append((chunk, row))
        spare = iter(list(free))
        held = list(tasks(draft.note))
        centring = vectors.load_centring(self._db)
        for chunk, same in placed:
            found = Found(chunk, made, refused)
            row = same if same is not None else next(spare, None)
            vector = found.vector
            if vector is None and chunk.embeddable:
                vector = self._stored_vector(found.embed_hash, found.text_hash, draft)
            state = found.state if vector is None else ChunkState.EMBEDDED
            row = self._put_chunk(row, note, draft.note, found, state)
            facets.keep_tasks(self._db, row, facets.held_in(chunk, draft.note, held))
            if vector is not None:
                place = (row, int(draft.note.sensitivity), draft.note.language)
                vectors.put(self._db, centring, place, vector)
            else:
                vectors.drop(self._db, row)
        for row in spare:
            self._drop_chunk(row)

    def _put_chunk(self, row: int | None, note: int, parent: Note, found: Found, state: ChunkState) -> int:
        chunk = found.chunk
        values = (
            note, chunk.ordinal, chunk.id, int(parent.sensitivity), parent.language, int(state),
            json.dumps(chunk.heading_path, ensure_ascii=False), chunk.block, chunk.prelude, chunk.body,
            chunk.line_start, chunk.line_end, chunk.overlap, chunk.tokens, found.embed_hash, found.text_hash,
            *(chunk.days or (None, None)),
        )  # fmt: skip
        if row is None:
            self._db.execute(f"INSERT INTO chunks ({_COLUMNS}) VALUES ({_MARKS})", values)
            return int(self._db.last_insert_rowid())
        self._db.execute(f"UPDATE chunks SET ({_COLUMNS}) = ({_MARKS}) WHERE id = ?", (*values, row))
        return row

    def _stored_vector(self, embed_hash: bytes, text_digest: bytes, draft: Draft) -> Vector | None:
        """Find a vector made from this text before, here or at the path a renamed note had."""
        found = vectors.by_hash(self._db, "embed_hash", embed_hash)
        if found is None and self._is_rename(draft):
            found = vectors.by_hash(self._db, "text_hash", text_digest)
        return found if found is not None else self._departed.find(draft.content_hash, embed_hash, text_digest)

    def _is_rename(self, draft: Draft) -> bool:
        return self.has_content(draft.content_hash, besides=draft.note.path)

    def _family_of(self, note: int) -> str:
        return str(self._fetch("SELECT family FROM notes WHERE id = ?", (note,))[0][0])

    def _settle(self, families: Iterable[str]) -> int:
        """Give every note of some families the level it has to have; give the number of notes moved."""
        moved = 0
        for family in dict.fromkeys(families):
            for note, level in copies.unsettled(self._db, family):
                self._set_level(note, level)
                moved += 1
        return moved

    def _set_level(self, note: int, level: int) -> None:
        self._db.execute("UPDATE notes SET level = ? WHERE id = ?", (level, note))
        self._db.execute("UPDATE chunks SET level = ? WHERE note = ?", (level, note))
        if has_vectors(self._db):
            self._db.execute(
                "UPDATE chunks_vec SET level = ? WHERE id IN (SELECT id FROM chunks WHERE note = ? AND state = 1)",
                (level, note),
            )

    def _delete_all(self, paths: Iterable[str]) -> None:
        departures = [gone for path in paths for gone in self._delete(path)]
        # Only now is it known which copies are there still.
        for gone in dict.fromkeys(departures):
            copies.bereave(self._db, gone)

    def _delete(self, path: str) -> Iterator[copies.Departure]:
        for (note,) in self._fetch("SELECT id FROM notes WHERE path = ?", (path,)):
            yield from copies.departure(self._db, note)
            self._departed.keep(self._db, note)
            for (row,) in self._fetch("SELECT id FROM chunks WHERE note = ?", (note,)):
                self._drop_chunk(row)
            rename(self._db, note, set())
            self._db.execute("DELETE FROM notes WHERE id = ?", (note,))

    def _drop_chunk(self, row: int) -> None:
        vectors.drop(self._db, row)
        self._db.execute("DELETE FROM chunks WHERE id = ?", (row,))


MANY_PATHS = 500

CHECKPOINT_MILLISECONDS = 250
"""How long a checkpoint waits for readers, each of which reads for one question; it is tried again at the next one."""

_IN_SLASHES = "*[0-9][-/_ ][0-9]*[-/_ ][0-9][0-9][0-9][0-9]*"

_KNOWN = "SELECT path, revision, content_hash, level FROM notes"


def _known(row: tuple[Any, ...]) -> Known:
    path, revision, content, level = row
    return Known(path=path, revision=revision, content_hash=content, sensitivity=Sensitivity(level))


_COLUMNS = (
    "note, ordinal, stable_id, level, language, state, heading_path, block, prelude, body, line_start, line_end, "
    "overlap, tokens, embed_hash, text_hash, day_first, day_last"
)
_MARKS = ", ".join("?" * 18)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
