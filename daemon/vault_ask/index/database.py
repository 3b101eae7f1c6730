"""Connections to the index: how one is opened, what a reader is allowed to touch, and what is done with a damaged file.

A reader carries TEMP views that hold only rows at or below its ceiling, and an authorizer that refuses whatever is
read outside them. The views' names end in a random suffix, because SQLite reports a view to the authorizer only by
its name and a common table expression could borrow a known one. This guards against our own mistakes, not against
hostile SQL: nobody sends us SQL.
"""

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import sqlite_vec

from vault_ask.errors import ConfigError, IndexDamaged, IndexFailed
from vault_ask.index.files import make_private
from vault_ask.index.migrations import SCHEMA, migrate
from vault_ask.index.rewording import renew_words
from vault_ask.index.terms import index_terms, split_mark
from vault_ask.scope import Sensitivity
from vault_ask.sources.walk import printable

BUSY_MILLISECONDS = 30_000
READER_CACHE_KIB = 2_048
STATISTICS_CACHE_KIB = 512

# A file that ends before what its own header or journal says it holds: somebody cut it, or its file system lost a part.
# https://sqlite.org/rescode.html#ioerr_short_read
_CUT_SHORT = frozenset({apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_CORRUPTFS})

# Tables that hold figures of the whole vault and no text of any note; and a list that is bound as one value, since
# SQLite binds no more than so many.
_OPEN_TABLES = frozenset({"meta", "statistics", "tallies", "sqlite_master", "sqlite_schema", "json_each"})
# What FTS5 and vec0 read by themselves while they answer for a view.
_SHADOW_PREFIXES = ("chunks_fts_", "chunks_vec_")
# fts5vocab opens its index by selecting the hidden column of the FTS5 table.
_VOCABULARY_READS = frozenset({("chunks_fts", "chunks_fts")})
_REFUSED_FUNCTIONS = frozenset({"snippet", "highlight", "load_extension", "writefile", "readfile", "edit"})

_OLDER = (
    "The index is of an older vault-ask and cannot be read yet. Run `vault-ask index`, or restart the daemon: either "
    "brings it up to date, and nothing is embedded again."
)


@dataclass(frozen=True, slots=True)
class Views:
    """The names of the views of one reader connection."""

    notes: str
    chunks: str
    words: str
    holders: str
    vectors: str | None
    embeddings: str
    edges: str
    names: str
    tags: str
    properties: str
    tasks: str
    troubles: str
    incomplete: str


def connect_writer(path: Path) -> apsw.Connection:
    """Open the index for writing, creating it or bringing schema and words up to date. The caller holds the data lock.

    Raises ConfigError when the file was made by a newer vault-ask or the vector extension cannot be loaded, and
    apsw.CorruptError or apsw.NotADBError when the file is damaged.
    """
    make_private(path)
    connection = _connect(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    connection.pragma("journal_mode", "WAL")
    connection.pragma("synchronous", "NORMAL")
    connection.pragma("secure_delete", "ON")
    connection.pragma("foreign_keys", "ON")
    connection.pragma("recursive_triggers", "ON")
    migrate(connection)
    renew_words(connection)
    return connection


def connect_reader(path: Path, ceiling: Sensitivity) -> tuple[apsw.Connection, Views]:
    """Open the index for reading up to a ceiling; whatever lies outside the views of the ceiling is refused.

    Raises apsw.CantOpenError when there is no index yet, and IndexFailed for one of an older vault-ask.
    """
    connection = _connect(path, apsw.SQLITE_OPEN_READWRITE)
    if connection.pragma("user_version") < SCHEMA:
        connection.close()
        raise IndexFailed(_OLDER)
    connection.pragma("cache_size", -READER_CACHE_KIB)
    views = _create_views(connection, ceiling)
    connection.pragma("query_only", "ON")
    allowed = frozenset(name for name in (getattr(views, field) for field in Views.__slots__) if name)
    connection.authorizer = _Authorizer(_OPEN_TABLES, views=allowed)
    return connection, views


def connect_statistics(path: Path) -> apsw.Connection:
    """Open the index for figures of the whole vault: document frequencies, tallies, means. No text can be read."""
    connection = _connect(path, apsw.SQLITE_OPEN_READWRITE)
    connection.pragma("cache_size", -STATISTICS_CACHE_KIB)
    connection.pragma("query_only", "ON")
    connection.authorizer = _Authorizer(_OPEN_TABLES | {"chunk_terms"}, own_reads=_VOCABULARY_READS)
    return connection


def fetch(connection: apsw.Connection, sql: str, bindings: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Run a query to its end: a KNN cursor that is left open blocks checkpoints."""
    try:
        return connection.execute(sql, bindings).fetchall()
    except UnicodeDecodeError:
        # Damage inside a text, which no check of SQLite's sees. The text itself must not reach a message.
        raise apsw.FormatError("stored text is not UTF-8") from None


@contextmanager
def translated() -> Iterator[None]:
    """Turn SQLite's errors into ours. Raises IndexDamaged, IndexFailed."""
    try:
        yield
    except apsw.FullError as error:
        raise IndexFailed("The disk of the data folder is full, so nothing more can be indexed. Make room.") from error
    except apsw.Error as error:
        if _tells_of_damage(error):
            raise IndexDamaged(
                "The index file is damaged. The vault is untouched: restart vault-ask, or run `vault-ask index`, and "
                "the damaged file is set aside and a new index built."
            ) from error
        raise IndexFailed(
            f"The index could not be used ({type(error).__name__}). If this repeats, run `vault-ask index --rebuild`."
        ) from error


def _tells_of_damage(error: apsw.Error) -> bool:
    # Only errors that SQLite itself raised carry its extended code.
    return isinstance(error, apsw.CorruptError | apsw.NotADBError) or getattr(error, "extendedresult", 0) in _CUT_SHORT


def has_vectors(connection: apsw.Connection) -> bool:
    """Say whether the vector table exists; it is made once the embedding space is known."""
    return bool(fetch(connection, "SELECT 1 FROM sqlite_master WHERE name = 'chunks_vec'"))


def _connect(path: Path, flags: int) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=flags)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.enable_load_extension(True)  # noqa: FBT003 - apsw takes it by position only
    try:
        connection.load_extension(sqlite_vec.loadable_path())
    except apsw.ExtensionLoadingError as error:
        raise ConfigError(
            f"The vector extension sqlite-vec could not be loaded ({error}), so nothing can be searched by meaning. "
            "Install the version named in requirements.lock for this kind of machine."
        ) from error
    connection.enable_load_extension(False)  # noqa: FBT003 - apsw takes it by position only
    # Read first: apsw reports a damaged file as a missing FTS5 when it registers a tokenizer.
    fetch(connection, "SELECT 1 FROM sqlite_master LIMIT 1")
    connection.register_fts5_tokenizer("vaultask", _make_tokenizer)
    connection.create_scalar_function("printable", _printable, 1, deterministic=True)
    return connection


def _make_tokenizer(_connection: apsw.Connection, _arguments: list[str]) -> "apsw.Tokenizer":
    def tokenize(text: bytes, flags: int, _locale: str | None) -> Iterable[str]:
        language, rest = split_mark(text.decode("utf-8", "replace"))
        if flags & apsw.FTS5_TOKENIZE_QUERY:
            # A query is made of terms as they are stored. Cut again, a pair of characters would be a phrase of its
            # two characters and itself, which stands in no text.
            return (rest,)
        # Offsets are left out: quotes are cut by us from the note's own lines, never by FTS5.
        return index_terms(rest, language)

    return tokenize


def _printable(*path: "apsw.SQLiteValue") -> str:
    return printable(str(path[0]))


def _create_views(connection: apsw.Connection, ceiling: Sensitivity) -> Views:
    suffix = secrets.token_hex(8)
    top = int(ceiling)
    bodies = {
        "notes": f"SELECT * FROM main.notes WHERE level <= {top}",
        "chunks": f"SELECT * FROM main.chunks WHERE level <= {top}",
        # The hidden columns are named so that MATCH passes through the view to FTS5.
        "words": (
            "SELECT f.rowid AS id, f.chunks_fts AS query, f.rank AS rank, bm25(f.chunks_fts, {prelude}, 1.0) AS score "
            # State 2 is packed data: nothing of it is to be read, so its title must not find it either.
            f"FROM main.chunks_fts AS f JOIN main.chunks AS c INDEXED BY chunks_seen ON c.id = f.rowid "
            f"WHERE c.level <= {top} AND c.state <> 2"
        ).replace("{prelude}", str(PRELUDE_WEIGHT)),
        # Every chunk that holds a word, packed ones too, as fts5vocab counts them.
        "holders": (
            "SELECT f.chunks_fts AS query FROM main.chunks_fts AS f JOIN main.chunks AS c ON c.id = f.rowid "
            f"WHERE c.level <= {top}"
        ),
        "embeddings": (
            "SELECT e.chunk AS chunk, e.vector AS vector FROM main.embeddings AS e "
            f"JOIN main.chunks AS c ON c.id = e.chunk WHERE c.level <= {top}"
        ),
        # Joined, here and below: with IN, SQLite lists every visible note before it looks one up.
        "edges": (
            "SELECT e.id, e.src, d.id AS dst, e.kind, e.target, e.key, e.heading, e.block, e.alias, e.line "
            "FROM main.edges AS e JOIN main.notes AS s ON s.id = e.src "
            f"LEFT JOIN main.notes AS d ON d.id = e.dst AND d.level <= {top} WHERE s.level <= {top}"
        ),
        "names": (
            "SELECT a.key, a.note, a.alias FROM main.names AS a JOIN main.notes AS n ON n.id = a.note "
            f"WHERE n.level <= {top}"
        ),
        "tags": (
            "SELECT e.key, e.src AS note FROM main.edges AS e JOIN main.notes AS n ON n.id = e.src "
            f"WHERE e.kind = 'tag' AND n.level <= {top}"
        ),
        "properties": (
            "SELECT p.note, p.key, p.words, p.number FROM main.properties AS p "
            f"JOIN main.notes AS n ON n.id = p.note WHERE n.level <= {top}"
        ),
        "tasks": (
            "SELECT t.chunk, t.state, t.words FROM main.tasks AS t "
            f"JOIN main.chunks AS c ON c.id = t.chunk WHERE c.level <= {top}"
        ),
        # Nobody can tell how personal a file is that could not be read.
        "troubles": f"SELECT * FROM main.troubles WHERE {int(Sensitivity.PERSONAL)} <= {top}",
        # Of a note in sight its reader may know that a newer version is on its way, and nothing of what that is.
        # Troubles are told under names that can be printed, which a name with a joiner in it is not (Persian, emoji).
        "incomplete": (
            "SELECT n.path FROM main.notes AS n JOIN main.troubles AS t ON t.path = printable(n.path) "
            f"WHERE t.code = 'incomplete' AND n.level <= {top}"
        ),
    }
    if has_vectors(connection):
        # distance and k are hidden columns of vec0; named here, MATCH and k pass through, and the level is a metadata
        # column that vec0 applies before k.
        bodies["vectors"] = f"SELECT id, level, embedding, distance, k FROM main.chunks_vec WHERE level <= {top}"
    for name, body in bodies.items():
        connection.execute(f"CREATE TEMP VIEW {name}_{suffix} AS {body}")
    return Views(
        notes=f"notes_{suffix}",
        chunks=f"chunks_{suffix}",
        words=f"words_{suffix}",
        holders=f"holders_{suffix}",
        vectors=f"vectors_{suffix}" if "vectors" in bodies else None,
        embeddings=f"embeddings_{suffix}",
        edges=f"edges_{suffix}",
        names=f"names_{suffix}",
        tags=f"tags_{suffix}",
        properties=f"properties_{suffix}",
        tasks=f"tasks_{suffix}",
        troubles=f"troubles_{suffix}",
        incomplete=f"incomplete_{suffix}",
    )


PRELUDE_WEIGHT = 2.0
"""BM25 weight of title, aliases, headings and topics against the body; on the packs 1 and 2 are as good."""


class _Authorizer:
    """Allows reads of named tables, reads that come through our views, and what virtual tables read for themselves."""

    def __init__(
        self,
        tables: frozenset[str],
        *,
        views: frozenset[str] = frozenset(),
        own_reads: frozenset[tuple[str, str]] = frozenset(),
    ) -> None:
        self._tables = tables | views
        self._views = views
        self._own_reads = own_reads

    def __call__(
        self, operation: int, first: str | None, second: str | None, _database: str | None, through: str | None
    ) -> int:
        match operation:
            case apsw.SQLITE_SELECT | apsw.SQLITE_TRANSACTION | apsw.SQLITE_RECURSIVE:
                allowed = True
            case apsw.SQLITE_READ:
                allowed = self._may_read(first or "", second or "", through)
            case apsw.SQLITE_FUNCTION:
                allowed = (second or "").lower() not in _REFUSED_FUNCTIONS
            case apsw.SQLITE_PRAGMA:
                # FTS5 asks for data_version by itself to know whether its cached structure is stale.
                allowed = first == "data_version" and second is None
            case _:
                allowed = False
        return apsw.SQLITE_OK if allowed else apsw.SQLITE_DENY

    def _may_read(self, table: str, column: str, through: str | None) -> bool:
        return (
            through in self._views
            or table in self._tables
            or table.startswith(_SHADOW_PREFIXES)
            or (table, column) in self._own_reads
        )
