"""The steps from an empty file to today's schema: numbered functions, applied in order, remembered in user_version."""

from collections.abc import Callable
from importlib.resources import files

import apsw

from vault_ask.errors import ConfigError


def m001_create(connection: apsw.Connection) -> None:
    """Create every table but the vectors', whose width is not known yet."""
    connection.execute(files("vault_ask.index").joinpath("schema.sql").read_text(encoding="utf-8"))


MIGRATIONS: tuple[Callable[[apsw.Connection], None], ...] = (m001_create,)


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
