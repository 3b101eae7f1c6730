"""How a note becomes rows, and how its rows go: the note, its chunks, words and vectors, its names and its edges."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

import apsw

from vault_ask.index import facets, vectors
from vault_ask.index.chunk_state import ChunkState
from vault_ask.index.database import fetch
from vault_ask.index.drafts import Draft, Found, embedding_text, stored_claims
from vault_ask.index.embedding import Vector
from vault_ask.index.links import links_of, rename
from vault_ask.index.writing import copies
from vault_ask.index.writing.departed import Departed
from vault_ask.index.writing.kept import now
from vault_ask.index.writing.reuse import stored_vector
from vault_ask.notes.copies import original_of
from vault_ask.notes.links import link_key
from vault_ask.notes.model import Chunk, Note
from vault_ask.notes.tasks import tasks

_NOTE = (
    "path", "family", "marks", "resolved_path", "title", "level", "own_level", "language", "content_hash", "revision",
    "mtime", "size", "frontmatter", "frontmatter_state", "others", "aliases", "problems", "indexed_at", "day_first",
    "day_last",
)  # fmt: skip
_CHUNK = (
    "note", "ordinal", "stable_id", "level", "language", "state", "heading_path", "block", "prelude", "body",
    "line_start", "line_end", "overlap", "tokens", "embed_hash", "text_hash", "day_first", "day_last",
)  # fmt: skip
_ANEW = ", ".join(f"{column} = excluded.{column}" for column in _NOTE if column != "path")
_PUT_NOTE = (
    f"INSERT INTO notes ({', '.join(_NOTE)}) VALUES ({', '.join('?' * len(_NOTE))}) "
    f"ON CONFLICT (path) DO UPDATE SET {_ANEW}, hidden = 0"
)
_CHUNK_COLUMNS, _CHUNK_MARKS = ", ".join(_CHUNK), ", ".join("?" * len(_CHUNK))
_ADD_CHUNK = f"INSERT INTO chunks ({_CHUNK_COLUMNS}) VALUES ({_CHUNK_MARKS})"
_CHANGE_CHUNK = f"UPDATE chunks SET ({_CHUNK_COLUMNS}) = ({_CHUNK_MARKS}) WHERE id = ?"


class NoteRows:
    """The rows of notes. Remembers the vectors of those that went last, for a rename that comes in two halves."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._departed = Departed()

    def put(self, draft: Draft, made: Mapping[bytes, Vector], refused: frozenset[bytes]) -> None:
        """Store a note in place of its former self; vectors as `IndexWriter.replace` says."""
        note = self._put_note(draft)
        self._put_chunks(note, draft, made, refused)
        self._db.execute("DELETE FROM edges WHERE src = ?", (note,))
        self._db.executemany(
            "INSERT INTO edges (src, kind, target, key, heading, block, alias, line) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(note, *row) for row in links_of(draft.note)],
        )

    def forget(self, paths: Iterable[str]) -> None:
        """Remove the notes at some paths, with all that is kept of them."""
        departures = [gone for path in paths for gone in self._forget(path)]
        # Only now is it known which copies are there still.
        for gone in dict.fromkeys(departures):
            copies.bereave(self._db, gone)

    def without_vector(self, drafts: Sequence[Draft]) -> dict[bytes, str]:
        """Give the texts of drafts, by embedding hash, of which no vector is stored yet."""
        missing: dict[bytes, str] = {}
        for draft in drafts:
            for chunk in draft.chunks:
                found = Found(chunk, {}, frozenset())
                if chunk.embeddable and stored_vector(self._db, self._departed, draft, found) is None:
                    missing[found.embed_hash] = embedding_text(chunk)
        return missing

    def _put_note(self, draft: Draft) -> int:
        note = draft.note
        values = (
            note.path, *original_of(note.path), draft.resolved_path, note.title, int(note.sensitivity),
            int(note.sensitivity), note.language, draft.content_hash, draft.revision, draft.mtime, draft.size,
            json.dumps(note.frontmatter, ensure_ascii=False), note.frontmatter_state, stored_claims(draft.others),
            json.dumps(note.aliases, ensure_ascii=False),
            json.dumps([(p.code, p.message, p.line) for p in note.problems], ensure_ascii=False), now(),
            *(note.days or (None, None)),
        )  # fmt: skip
        self._db.execute(_PUT_NOTE, values)
        row = int(fetch(self._db, "SELECT id FROM notes WHERE path = ?", (note.path,))[0][0])
        facets.keep_note(self._db, row, note)
        names = {(link_key(note.path), 0), *((link_key(alias), 1) for alias in note.aliases)}
        rename(self._db, row, {name for name in names if name[0]})
        return row

    def _put_chunks(self, note: int, draft: Draft, made: Mapping[bytes, Vector], refused: frozenset[bytes]) -> None:
        """Reuse row ids, so that vectors are updated in place: vec0 never gets the space of a deleted row back."""
        placed, spare = self._places(note, draft)
        held = list(tasks(draft.note))
        centring = vectors.load_centring(self._db)
        for chunk, same in placed:
            found = Found(chunk, made, refused)
            row = same if same is not None else next(spare, None)
            vector = found.vector
            if vector is None and chunk.embeddable:
                vector = stored_vector(self._db, self._departed, draft, found)
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

    def _places(self, note: int, draft: Draft) -> tuple[list[tuple[Chunk, int | None]], Iterator[int]]:
        """Pair chunks with the rows of those that were the same, and give the rows that are left over."""
        stored = fetch(self._db, "SELECT stable_id, id FROM chunks WHERE note = ? ORDER BY ordinal", (note,))
        rows = dict(stored)
        placed = [(chunk, rows.pop(chunk.id, None)) for chunk in draft.chunks]
        taken = {row for _, row in placed}
        return placed, iter([row for _, row in stored if row not in taken])

    def _put_chunk(self, row: int | None, note: int, parent: Note, found: Found, state: ChunkState) -> int:
        chunk = found.chunk
        values = (
            note, chunk.ordinal, chunk.id, int(parent.sensitivity), parent.language, int(state),
            json.dumps(chunk.heading_path, ensure_ascii=False), chunk.block, chunk.prelude, chunk.body,
            chunk.line_start, chunk.line_end, chunk.overlap, chunk.tokens, found.embed_hash, found.text_hash,
            *(chunk.days or (None, None)),
        )  # fmt: skip
        if row is None:
            self._db.execute(_ADD_CHUNK, values)
            return int(self._db.last_insert_rowid())
        self._db.execute(_CHANGE_CHUNK, (*values, row))
        return row

    def _forget(self, path: str) -> Iterator[copies.Departure]:
        for (note,) in fetch(self._db, "SELECT id FROM notes WHERE path = ?", (path,)):
            yield from copies.departure(self._db, note)
            self._departed.keep(self._db, note)
            for (row,) in fetch(self._db, "SELECT id FROM chunks WHERE note = ?", (note,)):
                self._drop_chunk(row)
            rename(self._db, note, set())
            self._db.execute("DELETE FROM notes WHERE id = ?", (note,))

    def _drop_chunk(self, row: int) -> None:
        vectors.drop(self._db, row)
        self._db.execute("DELETE FROM chunks WHERE id = ?", (row,))
