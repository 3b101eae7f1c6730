"""Writes the index: replace a note, forget one, reclassify, resolve links, keep vectors and their means.

Every public method is one transaction, begun IMMEDIATE, so that a kill at any moment leaves whole notes; what it does
to the rows stands in `writing`. The writer embeds nothing: vectors are handed in, keyed by the hash of the text they
were made from, or the chunk waits for its own. The caller holds the data folder's lock; threads may share a writer,
each call has it for itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

import apsw

from vault_ask.errors import EmbeddingSpaceChanged
from vault_ask.index import vectors
from vault_ask.index.chunk_state import ChunkState
from vault_ask.index.database import BUSY_MILLISECONDS, connect_writer, fetch, translated
from vault_ask.index.drafts import Claim, Draft, OtherClaim, Waiting, stored_claims
from vault_ask.index.embedding import EmbeddingSpace, Priors, Vector, space_changed
from vault_ask.index.links import resolve
from vault_ask.index.reading.notes import Known
from vault_ask.index.writing import copies, kept, known, waiting
from vault_ask.index.writing.notes import NoteRows
from vault_ask.notes.copies import original_of
from vault_ask.notes.model import FrontmatterState
from vault_ask.scope import Sensitivity

CHECKPOINT_MILLISECONDS = 250
"""How long a checkpoint waits for readers, each of which reads for one question; it is tried again at the next one."""


class IndexWriter:
    """The one writer of an index file."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises IndexDamaged, ConfigError."""
        self._path = path
        with translated():
            self._db = connect_writer(path)
        # The follower and the backlog share this connection; each takes it for one transaction.
        self._lock = RLock()
        self._notes = NoteRows(self._db)

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
        with self._reading():
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
        with self._reading() as db:
            return known.known(db)

    def known_of(self, paths: Sequence[str]) -> dict[str, Known]:
        """Give what is known of some paths."""
        with self._reading() as db:
            return known.known_of(db, paths)

    def claims(self) -> list[Claim]:
        """Give what each note's sensitivity was decided from."""
        with self._reading() as db:
            return known.claims(db)

    def dated_in_slashes(self) -> list[tuple[str, Mapping[str, object], Sensitivity]]:
        """Give the notes whose name or properties hold what may be a date such as 03-08-2026, with their properties."""
        with self._reading() as db:
            return known.dated_in_slashes(db)

    def count_chunks(self) -> int:
        """Count all chunks."""
        return int(self._fetch("SELECT count(*) FROM chunks")[0][0])

    def count_problem_notes(self) -> int:
        """Count the notes in which something should be mended."""
        to_mend = f"problems <> '[]' OR id IN (SELECT note FROM chunks WHERE state = {ChunkState.REFUSED})"
        return int(self._fetch(f"SELECT count(*) FROM notes WHERE {to_mend}")[0][0])

    # What is kept beside notes

    def meta(self, key: str) -> str | None:
        """Read a value that was kept by `set_meta`."""
        with self._reading() as db:
            return kept.meta(db, key)

    def set_meta(self, **values: str) -> None:
        """Keep values under their names."""
        with self._transaction() as db:
            kept.set_meta(db, values)

    def memory(self) -> dict[str, str]:
        """Give everything that the source asked to have kept."""
        with self._reading() as db:
            return kept.memory(db)

    def remember(self, values: Mapping[str, str | None]) -> None:
        """Keep values for the source; None forgets one."""
        with self._transaction() as db:
            kept.remember(db, values)

    def keep_troubles(self, troubles: Iterable[tuple[str, str, str]]) -> None:
        """Keep what the source could not take as it is, as (path, code, reason), in place of what was kept before."""
        with self._transaction() as db:
            kept.keep_troubles(db, troubles)

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
        with self._transaction() as db:
            self._notes.forget(gone)
            if gone:
                kept.note_change(db)
            kept.replace_memory(db, memory)
            kept.keep_troubles(db, troubles)
            kept.set_meta(db, meta)
        if gone:
            self.checkpoint()

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
        with self._transaction() as db:
            for draft in drafts:
                self._notes.put(draft, made, refused)
            self._notes.forget(gone)
            copies.settle(db, (original_of(draft.note.path)[0] for draft in drafts))
            if drafts or gone:
                kept.note_change(db)
            kept.remember(db, remember or {})
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
        with self._transaction() as db:
            db.executemany(
                "UPDATE notes SET own_level = ? WHERE id = ?", [(int(level), note) for note, level in levels.items()]
            )
            moved = [copies.family_of(db, note) for note in levels]
            return copies.settle(db, (*moved, *copies.families(db)))

    def close_note(self, path: str) -> None:
        """Make a note personal at once, before its new text is ready to be stored; it stays so until it is stored anew.

        Neither changed rules nor its former text coming back may be taken for that. Its conflict copies go with it.
        """
        unread = stored_claims([OtherClaim(path=path, frontmatter={}, state=FrontmatterState.UNREADABLE)])
        with self._transaction() as db:
            db.execute("UPDATE notes SET own_level = 1, content_hash = x'', others = ? WHERE path = ?", (unread, path))
            copies.settle(db, [original_of(path)[0]])

    def hide(self, paths: Iterable[str]) -> None:
        """Make notes personal that are about to be deleted."""
        paths = tuple(paths)
        with self._transaction() as db:
            db.executemany("UPDATE notes SET hidden = 1 WHERE path = ?", [(path,) for path in paths])
            copies.settle(db, (original_of(path)[0] for path in paths))

    def touch(self, versions: Mapping[str, tuple[str, float]]) -> None:
        """Note new revisions and times, in seconds since 1970, of notes whose bytes did not change."""
        with self._transaction() as db:
            db.executemany(
                "UPDATE notes SET revision = ?, mtime = ? WHERE path = ?",
                [(revision, mtime, path) for path, (revision, mtime) in versions.items()],
            )

    def resolve_links(self) -> None:
        """Point every edge whose names may have changed since the last call at the note it means now."""
        with self._transaction() as db:
            resolve(db)

    def optimize(self) -> None:
        """Merge the word index, close the holes among the vectors and refresh the planner's figures.

        For idle time, and after a first index.
        """
        with self._transaction() as db:
            db.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize')")
            vectors.compact(db)
        self._db.pragma("optimize")

    # Vectors

    def use_space(self, space: EmbeddingSpace, priors: Priors, centring: str) -> None:
        """Bind the index to an embedding space on first use; later only the same one is accepted.

        Raises EmbeddingSpaceChanged, naming the command that builds a new index.
        """
        bound = self.meta("space")
        if bound is not None and bound != space.fingerprint:
            raise EmbeddingSpaceChanged(space_changed(self.meta("model") or "another model", space))
        with self._transaction() as db:
            if bound is None:
                vectors.create(db, space)
            changed = vectors.keep_priors(db, priors)
            if changed or kept.meta(db, "centring") != centring:
                kept.set_meta(db, {"centring": centring})
                vectors.recentre(db)

    def waiting(self, limit: int) -> list[Waiting]:
        """Give chunks without a vector, those of the newest notes first, so that today's note is not last."""
        with self._reading() as db:
            return waiting.waiting(db, limit)

    def count_waiting(self) -> int:
        """Count the chunks that wait for a vector."""
        with self._reading() as db:
            return waiting.count_waiting(db)

    def count_waiting_notes(self) -> int:
        """Count the notes of which a chunk waits for a vector."""
        with self._reading() as db:
            return waiting.count_waiting_notes(db)

    def without_vector(self, drafts: Sequence[Draft]) -> dict[bytes, str]:
        """Give the texts of drafts, by embedding hash, of which no vector is stored yet."""
        with self._reading():
            return self._notes.without_vector(drafts)

    def store_vectors(self, made: Mapping[bytes, Vector], refused: frozenset[bytes]) -> None:
        """Give waiting chunks the vectors of their texts, and mark those the embedder refused."""
        with self._transaction() as db:
            waiting.store_vectors(db, made, refused)

    def refresh_statistics(self, *, force: bool = False) -> bool:
        """Estimate means and spread anew when the vault has grown or changed enough; say whether it was done."""
        with self._transaction() as db:
            return vectors.refresh(db, force=force)

    # How each has the connection for itself

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        with self._reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back by itself after some errors, such as a full disk.
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        with self._lock, translated():
            yield self._db

    def _fetch(self, sql: str) -> list[tuple[Any, ...]]:
        with self._reading() as db:
            return fetch(db, sql)
