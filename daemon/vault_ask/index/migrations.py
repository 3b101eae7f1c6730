"""The steps from an empty file to today's schema: numbered functions, applied in order, remembered in user_version."""

from collections.abc import Callable
from importlib.resources import files

import apsw

from vault_ask.errors import ConfigError
from vault_ask.index import facets
from vault_ask.notes.copies import original_of


def m001_create(connection: apsw.Connection) -> None:
    """Create every table but the vectors', whose width is not known yet."""
    connection.execute(files("vault_ask.index").joinpath("schema.sql").read_text(encoding="utf-8"))


def m002_remember_the_source(connection: apsw.Connection) -> None:
    """Keep what a source wants kept, what it could not take as it is, and what losing versions say of a note.

    `others` is what `reclassify` needs of the versions that lost a conflict: [[path, frontmatter, state], ...].
    """
    connection.execute(
        "ALTER TABLE notes ADD COLUMN others TEXT NOT NULL DEFAULT '[]';"
        "CREATE TABLE source_memory (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
        "CREATE TABLE troubles (path TEXT NOT NULL, code TEXT NOT NULL, reason TEXT NOT NULL);"
    )


def m003_remember_copies(connection: apsw.Connection) -> None:
    """Keep what each note is a conflict copy of, and apart from its `level` what that rests on (see copies.py).

    `own_level` is what the note is by itself; `bereft` is 1 for a copy whose personal original is gone, `hidden` for a
    note that is about to go; `family` is the original's folded path, `marks` how many times over this is a copy of it.
    """
    connection.execute(
        "ALTER TABLE notes ADD COLUMN own_level INTEGER NOT NULL DEFAULT 1;"
        "ALTER TABLE notes ADD COLUMN bereft INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE notes ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;"
        "ALTER TABLE notes ADD COLUMN family TEXT NOT NULL DEFAULT '';"
        "ALTER TABLE notes ADD COLUMN marks INTEGER NOT NULL DEFAULT 0;"
        "UPDATE notes SET own_level = level;"
        "CREATE INDEX notes_by_family ON notes (family);"
    )
    paths = connection.execute("SELECT id, path FROM notes").fetchall()
    connection.executemany(
        "UPDATE notes SET family = ?, marks = ? WHERE id = ?", [(*original_of(str(path)), note) for note, path in paths]
    )


def m004_tally_by_level(connection: apsw.Connection) -> None:
    """Count chunks by level, so that a reader is told of those in sight alone."""
    connection.execute(
        "DROP TRIGGER tally_inserted; DROP TRIGGER tally_deleted; DROP TRIGGER tally_moved; DROP TABLE tallies;"
        "CREATE TABLE tallies (language TEXT NOT NULL, level INTEGER NOT NULL, chunks INTEGER NOT NULL,"
        " PRIMARY KEY (language, level)) WITHOUT ROWID;"
        "INSERT INTO tallies SELECT language, level, count(*) FROM chunks GROUP BY language, level;"
        f"CREATE TRIGGER tally_inserted AFTER INSERT ON chunks BEGIN {_TALLY_NEW} END;"
        f"CREATE TRIGGER tally_deleted AFTER DELETE ON chunks BEGIN {_UNTALLY_OLD} END;"
        "CREATE TRIGGER tally_moved AFTER UPDATE OF language, level ON chunks "
        "WHEN old.language <> new.language OR old.level <> new.level "
        f"BEGIN {_UNTALLY_OLD} {_TALLY_NEW} END;"
    )


def m005_keep_the_overlap(connection: apsw.Connection) -> None:
    """Keep how much of each chunk repeats the one before it, so that chunks rebuild the note to the letter.

    0 until a note is read again, which a new recipe of the ingest sees to.
    """
    connection.execute("ALTER TABLE chunks ADD COLUMN overlap INTEGER NOT NULL DEFAULT 0")


def m006_keep_the_days(connection: apsw.Connection) -> None:
    """Keep the days that notes and chunks are of, as ordinals of `datetime.date`, first and last; NULL where unknown.

    Unknown until a note is read again, which a new recipe of the ingest sees to.
    """
    for table in ("notes", "chunks"):
        connection.execute(
            f"ALTER TABLE {table} ADD COLUMN day_first INTEGER; ALTER TABLE {table} ADD COLUMN day_last INTEGER"
        )
    # Most chunks are of no day at all: an index of those that are is small.
    connection.execute("CREATE INDEX chunks_by_day ON chunks (day_first, day_last) WHERE day_first IS NOT NULL")


def m007_keep_what_narrows(connection: apsw.Connection) -> None:
    """Keep folded paths, properties and tasks as rows that a filter finds.

    To look through the properties of 100,000 notes as JSON takes 160 ms, by their rows 36. Tasks are kept once a note
    is read again, which a new recipe of the ingest sees to.
    """
    connection.execute(facets.CREATE)
    facets.keep_stored(connection)


def m008_see_chunks_without_reading_them(connection: apsw.Connection) -> None:
    """Keep apart what the ceiling looks at of each chunk that a search by words matches: their text is long."""
    connection.execute("CREATE INDEX chunks_seen ON chunks (id, level, state)")


def m009_order_what_waits(connection: apsw.Connection) -> None:
    """Keep in the index of waiting chunks what orders them.

    By their state, which is one for all, SQLite looked through everything that waits for each text that was embedded.
    """
    connection.execute(
        "DROP INDEX chunks_waiting; CREATE INDEX chunks_waiting ON chunks (note, ordinal) WHERE state = 0"
    )


_TALLY_NEW = (
    "INSERT INTO tallies VALUES (new.language, new.level, 1) "
    "ON CONFLICT (language, level) DO UPDATE SET chunks = chunks + 1;"
)
_UNTALLY_OLD = "UPDATE tallies SET chunks = chunks - 1 WHERE language = old.language AND level = old.level;"

MIGRATIONS: tuple[Callable[[apsw.Connection], None], ...] = (
    m001_create,
    m002_remember_the_source,
    m003_remember_copies,
    m004_tally_by_level,
    m005_keep_the_overlap,
    m006_keep_the_days,
    m007_keep_what_narrows,
    m008_see_chunks_without_reading_them,
    m009_order_what_waits,
)

SCHEMA = len(MIGRATIONS)
"""The version of the schema that this vault-ask knows."""


def migrate(connection: apsw.Connection) -> None:
    """Bring the file to the newest schema, each step in a transaction of its own.

    Raises ConfigError when the file was written by a newer version.
    """
    version = connection.pragma("user_version")
    if version > len(MIGRATIONS):
        raise ConfigError(
            f"The index was written by a newer vault-ask (schema {version}, this one knows {len(MIGRATIONS)}). "
            "Update vault-ask, or move the data folder away to build a new index."
        )
    for number, step in enumerate(MIGRATIONS[version:], start=version + 1):
        connection.execute("BEGIN IMMEDIATE")
        try:
            step(connection)
            connection.pragma("user_version", number)
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")
