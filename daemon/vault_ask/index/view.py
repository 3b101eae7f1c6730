"""What can be read of the index under a scope: THE GATE, and the only SQL that returns text.

A `VaultView[S]` lives for one question, in one thread, inside one read transaction: everything it gives comes from one
state of the index. It is opened at a scope and every query goes through that scope's views, so that a note above the
ceiling is simply not there.
"""

import json
import threading
import unicodedata
import weakref
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import apsw
import numpy as np
from numpy.typing import NDArray

from vault_ask.errors import NoIndex
from vault_ask.index import vectors
from vault_ask.index.database import Views, connect_reader, connect_statistics, fetch, translated
from vault_ask.index.embedding import Vector
from vault_ask.index.files import IndexFiles
from vault_ask.index.links import look_up
from vault_ask.index.statistics import Centring
from vault_ask.index.terms import LANGUAGE_MARK
from vault_ask.index.within import Condition, Within
from vault_ask.notes.fold import fold, storable
from vault_ask.notes.frontmatter import Frontmatter
from vault_ask.notes.links import link_key
from vault_ask.notes.model import LinkKind
from vault_ask.scope import OpenScope, PrivateScope, Sensitivity

S = TypeVar("S", OpenScope, PrivateScope)

MANY_TERMS = 1_000

_LISTED = "(SELECT value FROM json_each(?))"

PACKED, REFUSED = 2, 3
"""States of a chunk: no text, such as a base64 image, and refused by the embedder; as ChunkState of the writer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage(Generic[S]):
    """A chunk with the note it belongs to, as seen under a scope. `body` is exactly the text of its lines."""

    chunk: int
    note: int
    path: str
    title: str
    heading_path: tuple[str, ...]
    block: str | None
    prelude: str
    body: str
    line_start: int
    line_end: int
    tokens: int
    language: str
    sensitivity: Sensitivity
    days: tuple[int, int] | None = None
    """The first and the last day it is of, as ordinals of `datetime.date`; None where nothing tells."""


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


@dataclass(frozen=True, slots=True)
class StoredText:
    """The text of a chunk and the line it begins in; its first `overlap` characters repeat the chunk before."""

    body: str
    overlap: int
    line_start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A chunk among those of its note: its place there, its text and lines.

    Its first `overlap` characters repeat the chunk before. `is_text` is False for packed data.
    """

    chunk: int
    ordinal: int
    heading_path: str
    block: str | None
    body: str
    overlap: int
    line_start: int
    line_end: int
    tokens: int
    is_text: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the index knows of a note that a listing is compared with."""

    path: str
    revision: str
    content_hash: bytes
    sensitivity: Sensitivity

    @property
    def is_closed(self) -> bool:
        """Whether it was made personal until it is stored anew."""
        return not self.content_hash


@dataclass(frozen=True, slots=True)
class EdgeView:
    """A link as stored: `source` and `target_path` are vault paths; no path where the target is absent or hidden."""

    source: str
    kind: str
    target: str
    target_path: str | None
    heading: str | None
    block: str | None
    alias: str | None
    line: int


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


@dataclass(frozen=True, slots=True)
class Tallies:
    """Chunks in sight by language."""

    by_language: Mapping[str, int]

    @property
    def chunks(self) -> int:
        """All chunks."""
        return sum(self.by_language.values())


class VaultView(Generic[S]):
    """The notes that a scope may see, at one moment."""

    def __init__(self, scope: S, reader: "_Reader") -> None:
        self.scope: S = scope
        self._db = reader.connection
        self._views = reader.views
        self._statistics = reader.statistics
        self._reader = reader
        self._centring: Centring | None = None

    @property
    def space(self) -> str | None:
        """The fingerprint of the stored vectors' space; None while there are no vectors."""
        return vectors.describe(self._statistics).get("space") if self._views.vectors else None

    @property
    def rules(self) -> str | None:
        """The fingerprint of the sensitivity rules that the stored levels follow."""
        rows = fetch(self._statistics, "SELECT value FROM meta WHERE key = 'rules'")
        return rows[0][0] if rows else None

    @property
    def vault_name(self) -> str | None:
        """The vault's name as the source last told it."""
        rows = fetch(self._statistics, "SELECT value FROM meta WHERE key = 'vault_name'")
        return rows[0][0] if rows else None

    @property
    def source_kind(self) -> str | None:
        """What kind of source the index was last brought in line with."""
        rows = fetch(self._statistics, "SELECT value FROM meta WHERE key = 'source_kind'")
        return rows[0][0] if rows else None

    @property
    def model(self) -> str | None:
        """The name of the model that made the stored vectors; None while there are none."""
        return vectors.describe(self._statistics).get("model")

    @property
    def dimension(self) -> int | None:
        """The dimension of the stored vectors; None while there are none."""
        found = vectors.describe(self._statistics).get("dimension")
        return int(found) if found else None

    def centring(self) -> Centring:
        """Give the means and the spread of the vault's vectors; read once, since a view is of one moment."""
        if self._centring is None:
            self._centring = self._reader.centring()
        return self._centring

    def tallies(self) -> Tallies:
        """Count the chunks in sight by language."""
        return self._tallied("level <= ?")

    def document_frequency(self, terms: Collection[str], *, enough: int | None = None) -> dict[str, int]:
        """Count, for each term, the chunks in sight that hold it; where `enough` do, counting may stop there.

        A word that hidden notes alone hold counts as no word of the vault: else an answer's silence, or the parts of a
        score, would tell of it.
        """
        whole = self._document_frequency(terms)
        hidden = self._tallied("level > ?").chunks
        if not hidden:
            return whole
        return {term: self._in_sight(term, count, hidden, enough) for term, count in whole.items()}

    def _tallied(self, which: str) -> Tallies:
        rows = fetch(
            self._statistics,
            f"SELECT language, sum(chunks) FROM tallies WHERE {which} AND chunks > 0 GROUP BY language",
            (int(self.scope.ceiling),),
        )
        return Tallies(dict(rows))

    def _in_sight(self, term: str, whole: int, hidden: int, enough: int | None) -> int:
        """Count the chunks in sight that hold a term, of which the whole vault has so many."""
        if not whole:
            return 0
        if enough is not None and whole - hidden >= enough:
            return enough
        limit = -1 if enough is None else enough
        counted = f"SELECT count(*) FROM (SELECT 1 FROM {self._views.holders} WHERE query MATCH ? LIMIT ?)"
        rows = fetch(self._db, counted, (f'"und{LANGUAGE_MARK}{term}"', limit))
        return int(rows[0][0])

    def _document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        found = dict.fromkeys(terms, 0)
        remaining = iter(tuple(found))
        # A whole text may be asked for, and SQLite binds no more than so many values at once.
        while some := tuple(islice(remaining, MANY_TERMS)):
            marks = ", ".join("?" * len(some))
            found.update(fetch(self._statistics, f"SELECT term, doc FROM chunk_terms WHERE term IN ({marks})", some))
        return found

    def nearest(
        self, vector: Vector, k: int, *, notes: Sequence[str] | None = None, within: Within | None = None
    ) -> list[tuple[int, float]]:
        """Find the k chunks nearest to a centred unit vector, as (chunk, cosine), nearest first.

        With `notes` among the chunks of these notes alone, with `within` among those that fit: what is left out is so
        before the nearest are counted.
        """
        if self._views.vectors is None:
            return []
        among: Condition = self._among("id", notes, within)
        rows = fetch(
            self._db,
            f"SELECT id, distance FROM {self._views.vectors} "
            f"WHERE embedding MATCH ? AND k = ? {among.sql} ORDER BY distance",
            (np.ascontiguousarray(vector, dtype="<f4").tobytes(), k, *among.bound),
        )
        # vec0 gives the Euclidean distance; between unit vectors d*d = 2 - 2*cos.
        return [(chunk, 1.0 - distance * distance / 2.0) for chunk, distance in rows]

    def matching(
        self, query: str, k: int, *, notes: Sequence[str] | None = None, within: Within | None = None
    ) -> list[tuple[int, float]]:
        """Find the k best chunks for an FTS5 query, as (chunk, -bm25), best first, among the same as `nearest`.

        `query` is made by retrieval from quoted words only. Sorted by bm25(), which is 1.3 to 2.7 times faster than
        by `rank`. Raises IndexFailed.
        """
        # The + keeps SQLite from asking FTS5 once for each chunk of the notes: 58 ms against 1 for a note of 1,000.
        among: Condition = self._among("+id", notes, within)
        with translated():
            rows = fetch(
                self._db,
                f"SELECT id, score FROM {self._views.words} WHERE query MATCH ? {among.sql} ORDER BY score LIMIT ?",
                (query, *among.bound, k),
            )
        return [(chunk, -score) for chunk, score in rows]

    def holding(self, within: Within, k: int) -> list[int]:
        """List k chunks that fit, where there is nothing else to go by: the newest notes first.

        Notes of which no day is known come last, by the time of their files. Of each note the first chunk that fits
        comes before any second one; packed data never.
        """
        fits: Condition = within.condition(self._views)
        rows = fetch(
            self._db,
            f"WITH fitting AS (SELECT c.id, c.note, row_number() OVER (PARTITION BY c.note ORDER BY c.ordinal) AS nth "
            f"FROM {self._views.chunks} AS c WHERE c.state <> {PACKED} AND {fits.sql}) "
            f"SELECT f.id FROM fitting AS f JOIN {self._views.notes} AS n ON n.id = f.note "
            "ORDER BY f.nth, n.day_last IS NULL, n.day_last DESC, n.mtime DESC, n.path LIMIT ?",
            (*fits.bound, k),
        )
        return [row[0] for row in rows]

    def has_any(self, within: Within) -> bool:
        """Say whether any chunk fits, packed data aside."""
        fits: Condition = within.condition(self._views)
        one = f"SELECT 1 FROM {self._views.chunks} AS c WHERE c.state <> {PACKED} AND {fits.sql} LIMIT 1"
        return bool(fetch(self._db, one, tuple(fits.bound)))

    def fitting(self, chunks: Sequence[int], within: Within) -> list[int]:
        """Keep of some chunks those that fit, in the order given."""
        fits: Condition = within.condition(self._views)
        rows = fetch(
            self._db,
            f"SELECT c.id FROM {self._views.chunks} AS c WHERE c.id IN {_LISTED} AND {fits.sql}",
            (_listed(chunks), *fits.bound),
        )
        kept = {row[0] for row in rows}
        return [chunk for chunk in chunks if chunk in kept]

    def _among(self, column: str, notes: Sequence[str] | None, within: Within | None) -> Condition:
        """Narrow a search of chunks to those of some notes and to those that fit; to none where there are no notes."""
        if notes is None and not within:
            return Condition("")
        fits: Condition = (within or Within()).condition(self._views)
        # In one list: vec0 takes no second one.
        chunks = f"SELECT c.id FROM {self._views.chunks} AS c WHERE {fits.sql}"
        if notes is None:
            return Condition(f"AND {column} IN ({chunks})", fits.bound)
        of_notes = f"c.note IN (SELECT id FROM {self._views.notes} WHERE path IN {_LISTED})"
        return Condition(f"AND {column} IN ({chunks} AND {of_notes})", (*fits.bound, _listed(notes)))

    def passages(self, chunks: Sequence[int]) -> dict[int, Passage[S]]:
        """Read chunks by id; an id that is not visible is left out."""
        rows = fetch(
            self._db,
            "SELECT c.id, c.note, n.path, n.title, c.heading_path, c.block, c.prelude, c.body, c.line_start, "
            f"c.line_end, c.tokens, c.language, c.level, c.day_first, c.day_last FROM {self._views.chunks} AS c "
            f"JOIN {self._views.notes} AS n ON n.id = c.note WHERE c.id IN {_LISTED}",
            (_listed(chunks),),
        )
        return {row[0]: _passage(row) for row in rows}

    def pieces(self, chunks: Sequence[int], reach: int) -> dict[int, list[Piece]]:
        """Give each chunk with up to `reach` on either side in its note, in order; none for one that is hidden."""
        rows = fetch(
            self._db,
            "SELECT o.id, c.id, c.ordinal, c.heading_path, c.block, c.body, c.overlap, c.line_start, c.line_end, "
            f"c.tokens, c.state FROM {self._views.chunks} AS o JOIN {self._views.chunks} AS c ON c.note = o.note "
            f"WHERE o.id IN ({', '.join('?' * len(chunks))}) "
            "AND c.ordinal BETWEEN o.ordinal - ? AND o.ordinal + ? ORDER BY c.ordinal",
            (*chunks, reach, reach),
        )
        found: dict[int, list[Piece]] = {chunk: [] for chunk in chunks}
        for around, *row in rows:
            found[around].append(_piece(row))
        return found

    def centred_vectors(self, chunks: Sequence[int]) -> dict[int, Vector]:
        """Read the centred unit vectors of chunks; those without one, or not visible, are left out."""
        if self._views.vectors is None or not chunks:
            return {}
        # From the raw vectors, all at once: to ask vec0 for each of them costs ten times as much, and for a list of
        # ids it scans all of its rows.
        rows = fetch(
            self._db,
            f"SELECT e.chunk, e.vector, c.language FROM {self._views.embeddings} AS e "
            f"JOIN {self._views.chunks} AS c ON c.id = e.chunk WHERE e.chunk IN {_LISTED}",
            (_listed(chunks),),
        )
        if not rows:
            return {}
        raw = vectors.decode_all([blob for _, blob, _ in rows])
        centred = self.centring().centre_passages(raw, [language for _, _, language in rows])
        return {row[0]: vector for row, vector in zip(rows, centred, strict=True)}

    def matched(self, query: str, chunks: Sequence[int]) -> set[int]:
        """Tell which of some chunks fit an FTS5 query, made as for `matching`."""
        # The + as there.
        rows = fetch(
            self._db,
            f"SELECT id FROM {self._views.words} WHERE query MATCH ? AND +id IN {_LISTED}",
            (query, _listed(chunks)),
        )
        return {row[0] for row in rows}

    def chunks_at(self, paths: Collection[str]) -> dict[str, list[int]]:
        """List the chunks of notes in order, by path, but for packed data; without notes that are not visible."""
        rows = fetch(
            self._db,
            f"SELECT n.path, c.id FROM {self._views.notes} AS n JOIN {self._views.chunks} AS c ON c.note = n.id "
            f"WHERE n.path IN {_LISTED} AND c.state <> ? ORDER BY n.path, c.ordinal",
            (_listed(paths), PACKED),
        )
        found: dict[str, list[int]] = {}
        for path, chunk in rows:
            found.setdefault(path, []).append(chunk)
        return found

    def chunks_of(self, path: str) -> list[int]:
        """List the chunks of a note in order, but for packed data; empty when the note is absent or not visible."""
        rows = fetch(
            self._db,
            f"SELECT c.id FROM {self._views.chunks} AS c JOIN {self._views.notes} AS n ON n.id = c.note "
            "WHERE n.path = ? AND c.state <> ? ORDER BY c.ordinal",
            (path, PACKED),
        )
        return [row[0] for row in rows]

    def find(self, path: str) -> str | None:
        """Give the path of the note that a caller means, whatever its case, Unicode form or slashes around it.

        None for a note that is absent or not visible.
        """
        wanted = path.strip().strip("/")
        found = self.note(wanted) or self.note(f"{wanted}.md")
        return found.path if found else None

    def sections_of(self, path: str) -> list[int]:
        """List the chunks of a note that begin it or come under another heading than the one before, in order."""
        rows = fetch(
            self._db,
            f"SELECT c.id, c.heading_path FROM {self._views.chunks} AS c JOIN {self._views.notes} AS n "
            "ON n.id = c.note WHERE n.path = ? AND c.state <> ? ORDER BY c.ordinal",
            (path, PACKED),
        )
        return [chunk for at, (chunk, heading) in enumerate(rows) if at == 0 or heading != rows[at - 1][1]]

    def note(self, path: str) -> NoteView | None:
        """Find a note by its path, else the only one whose path differs in case or Unicode form alone."""
        path = storable(path)
        for spelled in dict.fromkeys((path, unicodedata.normalize("NFC", path))):
            if rows := self._notes_at("n.path = ?", spelled):
                return rows[0]
        named = f"n.id IN (SELECT note FROM {self._views.names} WHERE key = ? AND alias = 0)"
        alike = [note for note in self._notes_at(named, link_key(path)) if fold(note.path) == fold(path)]
        return alike[0] if len(alike) == 1 else None

    def extent(self, note: int) -> tuple[int, int]:
        """Give the first and the last line that is held of a note; (1, 0) where it has no text."""
        rows = fetch(
            self._db,
            f"SELECT min(line_start), max(line_end) FROM {self._views.chunks} WHERE note = ? AND body <> ''",
            (note,),
        )
        first, last = rows[0]
        return (1, 0) if first is None else (first, last)

    def texts(self, note: int, first: int, last: int) -> list[StoredText]:
        """Give what is held of some lines of a note, packed data too, in order."""
        rows = fetch(
            self._db,
            f"SELECT body, overlap, line_start FROM {self._views.chunks} "
            "WHERE note = ? AND line_end >= ? AND line_start <= ? ORDER BY ordinal",
            (note, first, last),
        )
        return [StoredText(*row) for row in rows]

    def standing(self, note: NoteView) -> Standing:
        """Tell how far a note is."""
        states = f"SELECT count(*) FILTER (WHERE state = 0), count(*) FILTER (WHERE state = {REFUSED})"
        waiting, refused = fetch(self._db, f"{states} FROM {self._views.chunks} WHERE note = ?", (note.id,))[0]
        newer = fetch(self._db, f"SELECT 1 FROM {self._views.incomplete} WHERE path = ? LIMIT 1", (note.path,))
        return Standing(waiting, refused, bool(newer))

    def versions(self) -> dict[str, int]:
        """Give a number for each visible note, by path: another one once another version of it is indexed."""
        rows = fetch(self._db, f"SELECT path, content_hash, mtime, level FROM {self._views.notes}")
        return {path: hash((content, mtime, level)) for path, content, mtime, level in rows}

    def centred_vectors_of(self, note: int) -> NDArray[np.float32]:
        """Give the centred unit vectors of a note's chunks, as far as they have one; shape (n, dimension)."""
        chunks = f"{self._views.chunks} AS c JOIN {self._views.embeddings} AS e ON e.chunk = c.id"
        rows = fetch(self._db, f"SELECT e.vector, c.language FROM {chunks} WHERE c.note = ? ORDER BY c.id", (note,))
        if not rows:
            return np.zeros((0, self.dimension or 0), np.float32)
        # From the raw vectors: to ask vec0 for each of them costs ten times as much.
        raw = vectors.decode_all([blob for blob, _ in rows])
        return self.centring().centre_passages(raw, [language for _, language in rows])

    def nearest_besides(self, vector: Vector, k: int, notes: Collection[str]) -> list[tuple[int, float]]:
        """Find the k chunks nearest to a centred unit vector in all but some notes, as (chunk, cosine), nearest first.

        Those notes are left out before the nearest are counted.
        """
        if self._views.vectors is None:
            return []
        others = f"SELECT c.id FROM {self._views.chunks} AS c JOIN {self._views.notes} AS n ON n.id = c.note"
        rows = fetch(
            self._db,
            f"SELECT id, distance FROM {self._views.vectors} WHERE embedding MATCH ? AND k = ? "
            f"AND id IN ({others} WHERE n.path NOT IN {_LISTED}) ORDER BY distance",
            (np.ascontiguousarray(vector, dtype="<f4").tobytes(), k, _listed(notes)),
        )
        return [(chunk, 1.0 - distance * distance / 2.0) for chunk, distance in rows]

    def passage_at(self, path: str, line: int) -> int | None:
        """Give the chunk that a line of a note is in, or the next one, or the last; packed data never."""
        rows = fetch(
            self._db,
            f"SELECT c.id, c.line_end FROM {self._views.chunks} AS c JOIN {self._views.notes} AS n ON n.id = c.note "
            "WHERE n.path = ? AND c.state <> ? ORDER BY c.ordinal",
            (path, PACKED),
        )
        return next((chunk for chunk, last in rows if last >= line), rows[-1][0] if rows else None)

    def paths_of(self, chunks: Sequence[int]) -> dict[int, str]:
        """Give the paths of the notes that chunks are of; an id that is not visible is left out."""
        rows = fetch(
            self._db,
            f"SELECT c.id, n.path FROM {self._views.chunks} AS c JOIN {self._views.notes} AS n ON n.id = c.note "
            f"WHERE c.id IN {_LISTED}",
            (_listed(chunks),),
        )
        return dict(rows)

    def edges_from(self, *paths: str) -> list[EdgeView]:
        """List the links of notes, of each in order."""
        return self._edges(f"s.path IN {_LISTED}", paths)

    def edges_to(self, *paths: str) -> list[EdgeView]:
        """List the links that mean one of some notes: of each note that has some to one, the first of each kind."""
        first: dict[tuple[str, str, str], EdgeView] = {}
        # By its names, of which there is an index: a link means a note by one of them.
        named = f"SELECT a.key FROM {self._views.names} AS a JOIN {self._views.notes} AS n ON n.id = a.note"
        for edge in self._edges(f"e.kind <> 'tag' AND e.key IN ({named} WHERE n.path IN {_LISTED})", paths):
            if edge.target_path in paths:
                first.setdefault((edge.source, edge.kind, edge.target_path), edge)
        return list(first.values())

    def degrees(self, paths: Collection[str]) -> dict[str, int]:
        """Count the links of notes and those that may mean them by one of their names, by path."""
        edges, names = self._views.edges, self._views.names
        rows = fetch(
            self._db,
            f"SELECT n.path, (SELECT count(*) FROM {edges} AS e WHERE e.src = n.id AND e.kind <> 'tag') + "
            f"(SELECT count(*) FROM {names} AS a JOIN {edges} AS e ON e.key = a.key AND e.kind <> 'tag' "
            f"WHERE a.note = n.id) FROM {self._views.notes} AS n WHERE n.path IN {_LISTED}",
            (_listed(paths),),
        )
        return dict(rows)

    def mates(self, notes: Collection[int], rare: int) -> list[tuple[int, str]]:
        """Pair notes with the paths of others that share a tag or a named topic which at most `rare` notes have."""
        edges = self._views.edges
        holders = f"SELECT 1 FROM {edges} AS h WHERE h.key = mine.key AND h.kind = mine.kind LIMIT ?"
        return fetch(
            self._db,
            f"SELECT DISTINCT mine.src, n.path FROM {edges} AS mine JOIN {edges} AS other "
            "ON other.key = mine.key AND other.kind = mine.kind AND other.src <> mine.src "
            f"JOIN {self._views.notes} AS n ON n.id = other.src "
            f"WHERE mine.src IN {_LISTED} AND mine.kind IN ('tag', 'topic') "
            f"AND (SELECT count(*) FROM ({holders})) <= ? ORDER BY n.path",
            (_listed(notes), rare + 1, rare),
        )

    def link_shares(self, paths: Collection[str], *, least: int) -> dict[str, tuple[int, int]]:
        """Give how many links notes have and how many tokens of text, by path, of those with at least so many links."""
        rows = fetch(
            self._db,
            f"SELECT n.path, (SELECT count(*) FROM {self._views.edges} AS e WHERE e.src = n.id AND e.kind <> 'tag') "
            f"AS links, (SELECT sum(c.tokens) FROM {self._views.chunks} AS c WHERE c.note = n.id) "
            f"FROM {self._views.notes} AS n WHERE n.path IN {_LISTED} AND links >= ?",
            (_listed(paths), least),
        )
        return {path: (links, tokens or 0) for path, links, tokens in rows}

    def tagged(self, tag: str) -> list[str]:
        """List the paths of notes with a tag (folded, without `#`) or one nested below it."""
        rows = fetch(
            self._db,
            f"SELECT DISTINCT n.path FROM {self._views.edges} AS e JOIN {self._views.notes} AS n ON n.id = e.src "
            "WHERE e.kind = 'tag' AND (e.key = ? OR substr(e.key, 1, length(?) + 1) = ? || '/') ORDER BY n.path",
            (tag, tag, tag),
        )
        return [row[0] for row in rows]

    def known(self) -> dict[str, Known]:
        """Give what a listing is compared with, of every visible note by path."""
        rows = fetch(self._db, f"SELECT path, revision, content_hash, level FROM {self._views.notes}")
        return {
            path: Known(path=path, revision=revision, content_hash=content, sensitivity=Sensitivity(level))
            for path, revision, content, level in rows
        }

    def paths(self) -> list[str]:
        """List every visible note."""
        rows = fetch(self._db, f"SELECT path FROM {self._views.notes} ORDER BY path")
        return [row[0] for row in rows]

    def resolved_paths(self) -> list[tuple[str, str]]:
        """List (path, the path its links led to) of every visible note."""
        return fetch(self._db, f"SELECT path, resolved_path FROM {self._views.notes} ORDER BY path")

    def tags(self) -> dict[str, tuple[str, ...]]:
        """Give the folded tags of visible notes that have some, by path, also those in a block that is never closed."""
        found: dict[str, list[str]] = {}
        edges, notes = self._views.edges, self._views.notes
        rows = fetch(
            self._db, f"SELECT n.path, e.key FROM {edges} AS e JOIN {notes} AS n ON n.id = e.src WHERE e.kind = 'tag'"
        )
        for path, tag in rows:
            found.setdefault(path, []).append(tag)
        # Such a block is text, and its tags are no edges.
        rows = fetch(self._db, f"SELECT path, frontmatter FROM {notes} WHERE frontmatter_state = 'unclosed'")
        for path, block in rows:
            found.setdefault(path, []).extend(Frontmatter(values=json.loads(block)).tags)
        return {path: tuple(tags) for path, tags in found.items() if tags}

    def counts(self) -> Counts:
        """Count what is visible."""
        notes, last = fetch(self._db, f"SELECT count(*), max(indexed_at) FROM {self._views.notes}")[0]
        chunks, waiting = fetch(
            self._db, f"SELECT count(*), count(DISTINCT CASE WHEN state = 0 THEN note END) FROM {self._views.chunks}"
        )[0]
        return Counts(notes, chunks, waiting, max(filter(None, (last, self._last_change())), default=None))

    def _last_change(self) -> str | None:
        """Give when anything was stored or forgotten: of every note, so to a view of every note only."""
        if self.scope.ceiling is not Sensitivity.PERSONAL:
            return None
        rows = fetch(self._statistics, "SELECT value FROM meta WHERE key = 'changed_at'")
        return rows[0][0] if rows else None

    def problems(self) -> list[NoteProblemView]:
        """List what should be mended in visible notes."""
        rows = fetch(self._db, f"SELECT path, problems FROM {self._views.notes} WHERE problems <> '[]' ORDER BY path")
        return [NoteProblemView(path, *problem) for path, listed in rows for problem in json.loads(listed)]

    def troubles(self) -> list[StoredTrouble]:
        """List what the source could not take as it is, by path; nothing under an open ceiling."""
        rows = fetch(self._db, f"SELECT path, code, reason FROM {self._views.troubles} ORDER BY path, code")
        return [StoredTrouble(*row) for row in rows]

    def without_vector(self) -> list[tuple[str, int]]:
        """Tell in which visible notes the embedder refused passages, and how many: they are found by words alone."""
        return fetch(
            self._db,
            f"SELECT n.path, count(*) FROM {self._views.chunks} AS c JOIN {self._views.notes} AS n ON n.id = c.note "
            "WHERE c.state = ? GROUP BY n.path ORDER BY n.path",
            (REFUSED,),
        )

    def _notes_at(self, condition: str, value: str) -> list[NoteView]:
        rows = fetch(
            self._db,
            f"SELECT n.id, n.path, n.title, n.level, n.indexed_at, n.mtime FROM {self._views.notes} AS n "
            f"WHERE {condition} ORDER BY n.path",
            (value,),
        )
        return [
            NoteView(
                id=note, path=path, title=title, sensitivity=Sensitivity(level), indexed_at=indexed, modified_at=mtime
            )
            for note, path, title, level, indexed, mtime in rows
        ]

    def _edges(self, condition: str, paths: Sequence[str]) -> list[EdgeView]:
        # A link that leads nowhere in sight is looked up again where a note in sight has its name.
        has_namesake = f"d.id IS NULL AND EXISTS (SELECT 1 FROM {self._views.names} AS a WHERE a.key = e.key)"
        rows = fetch(
            self._db,
            "SELECT s.path, e.kind, e.target, d.path, e.heading, e.block, e.alias, e.line, "
            f"CASE WHEN {has_namesake} THEN e.key END FROM {self._views.edges} AS e "
            f"JOIN {self._views.notes} AS s ON s.id = e.src LEFT JOIN {self._views.notes} AS d ON d.id = e.dst "
            f"WHERE {condition} ORDER BY s.path, e.line, e.id",
            (_listed(paths),),
        )
        hidden = self._tallied("level > ?").chunks
        return [self._meant_in_sight(EdgeView(*row), key if hidden else None) for *row, key in rows]

    def _meant_in_sight(self, edge: EdgeView, key: str | None) -> EdgeView:
        """Let a link mean what it would mean if there were no hidden notes: one of them may be what its name leads to.

        Else a link that leads nowhere, though a note in sight has its name, would tell that there is another one.
        """
        if key is None or edge.kind == LinkKind.TAG:
            return edge
        found = look_up(self._db, edge.source, edge.target, key, names=self._views.names, notes=self._views.notes)
        return replace(edge, target_path=found[1]) if found else edge


class Index:
    """Opens views of the index in use, with one reader a ceiling and thread."""

    def __init__(self, files: IndexFiles) -> None:
        self._files = files
        self._local = threading.local()

    @contextmanager
    def open(self, scope: S) -> Iterator[VaultView[S]]:
        """Open a view at a scope, inside one read transaction.

        Raises NoIndex while there is no index file, and IndexFailed or IndexDamaged here or while the view is read.
        """
        with translated():
            reader = self._reader(scope.ceiling)
            with reader.transaction():
                yield VaultView(scope, reader)

    def close(self) -> None:
        """Close this thread's readers; the last one of all takes the journal files with it."""
        for reader in self._local.__dict__.pop("readers", {}).values():
            reader.close()

    def _reader(self, ceiling: Sensitivity) -> "_Reader":
        readers: dict[Sensitivity, _Reader] = self._local.__dict__.setdefault("readers", {})
        reader = readers.get(ceiling)
        current = self._files.current
        if reader is not None and (reader.path != current or reader.outdated()):
            reader.close()
            reader = None
        if reader is None:
            reader = readers[ceiling] = self._opened(ceiling)
        return reader

    def _opened(self, ceiling: Sensitivity) -> "_Reader":
        """Open the file in use; where a rebuild took its place just now, the one that is in use then."""
        current = self._files.current
        try:
            if current.exists():
                return _Reader(current, ceiling)
        except apsw.Error:
            if self._files.current == current:
                raise
        if self._files.current != current:
            return self._opened(ceiling)
        raise NoIndex(f"There is no index in {self._files.data} yet. Run `vault-ask index` first.")


class _Reader:
    """A thread's connections at one ceiling."""

    def __init__(self, path: Path, ceiling: Sensitivity) -> None:
        self.path = path
        self.connection, self.views = connect_reader(path, ceiling)
        self.statistics = connect_statistics(path)
        self._centring: tuple[int, Centring] | None = None
        # A connection with a tokenizer of ours is never collected, so a thread that ends would leak its readers.
        self.close = weakref.finalize(self, _close_all, self.connection, self.statistics)

    def centring(self) -> Centring:
        """Give the means and the spread, which are half a megabyte, as they are in the transaction that is open."""
        version = self.statistics.pragma("data_version")
        if self._centring is None or self._centring[0] != version:
            self._centring = (version, vectors.load_centring(self.statistics))
        return self._centring[1]

    def outdated(self) -> bool:
        """Tell whether the vector table appeared after the views were made."""
        return self.views.vectors is None and bool(vectors.describe(self.statistics))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        both = (self.connection, self.statistics)
        try:
            for connection in both:
                connection.execute("BEGIN")
                # A transaction's state is that of its first read. Both begin here, so that means and vectors fit.
                fetch(connection, "SELECT 1 FROM meta LIMIT 1")
            yield
        finally:
            for connection in both:
                with suppress(apsw.SQLError):
                    connection.execute("COMMIT")


def _listed(values: Collection[object]) -> str:
    """Bind a list as one value: SQLite binds no more than so many."""
    return json.dumps(list(values), ensure_ascii=False)


def _close_all(*connections: apsw.Connection) -> None:
    for connection in connections:
        connection.close()


def _piece(row: Sequence[Any]) -> Piece:
    chunk, ordinal, heading_path, block, body, overlap, start, end, tokens, state = row
    return Piece(
        chunk=chunk,
        ordinal=ordinal,
        heading_path=heading_path,
        block=block,
        body=body,
        overlap=overlap,
        line_start=start,
        line_end=end,
        tokens=tokens,
        is_text=state != PACKED,
    )


def _passage(row: tuple[Any, ...]) -> Passage[S]:
    chunk, note, path, title, heading_path, block, prelude, body, start, end, tokens, language, level, *days = row
    return Passage(
        chunk=chunk,
        note=note,
        path=path,
        title=title,
        heading_path=tuple(json.loads(heading_path)),
        block=block,
        prelude=prelude,
        body=body,
        line_start=start,
        line_end=end,
        tokens=tokens,
        language=language,
        sensitivity=Sensitivity(level),
        days=None if days[0] is None else (days[0], days[1]),
    )


__all__ = [
    "Counts",
    "EdgeView",
    "Index",
    "Known",
    "NoteProblemView",
    "NoteView",
    "Passage",
    "Piece",
    "Standing",
    "StoredText",
    "StoredTrouble",
    "Tallies",
    "VaultView",
    "Views",
]
