"""The steps from an empty file to today's schema: numbered functions, applied in order, remembered in user_version."""

from collections.abc import Callable
from importlib.resources import files

import apsw

from vault_ask.errors import ConfigError


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


MIGRATIONS: tuple[Callable[[apsw.Connection], None], ...] = (m001_create, m002_remember_the_source)


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
