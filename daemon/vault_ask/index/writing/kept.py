"""What the index keeps beside notes: values under names, the source's memory, and what the source could not take."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import apsw

from vault_ask.index.database import fetch


def meta(db: apsw.Connection, key: str) -> str | None:
    """Read a value."""
    rows = fetch(db, "SELECT value FROM meta WHERE key = ?", (key,))
    return rows[0][0] if rows else None


def set_meta(db: apsw.Connection, values: Mapping[str, str]) -> None:
    """Keep values under their names."""
    db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())


def note_change(db: apsw.Connection) -> None:
    """Keep that something was stored or forgotten now."""
    set_meta(db, {"changed_at": now()})


def memory(db: apsw.Connection) -> dict[str, str]:
    """Give everything that the source asked to have kept."""
    return dict(fetch(db, "SELECT key, value FROM source_memory"))


def remember(db: apsw.Connection, values: Mapping[str, str | None]) -> None:
    """Keep values for the source; None forgets one."""
    forgotten = [(key,) for key, value in values.items() if value is None]
    kept = [(key, value) for key, value in values.items() if value is not None]
    db.executemany("DELETE FROM source_memory WHERE key = ?", forgotten)
    db.executemany(
        "INSERT INTO source_memory VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value "
        "WHERE value <> excluded.value",
        kept,
    )


def replace_memory(db: apsw.Connection, values: Mapping[str, str]) -> None:
    """Keep values for the source in place of all the former ones."""
    remember(db, {**dict.fromkeys(memory(db)), **values})


def keep_troubles(db: apsw.Connection, troubles: Iterable[tuple[str, str, str]]) -> None:
    """Keep what the source could not take as it is, as (path, code, reason), in place of what was kept before."""
    db.execute("DELETE FROM troubles")
    db.executemany("INSERT INTO troubles VALUES (?, ?, ?)", list(troubles))


def now() -> str:
    """Give the time as it is stored."""
    return datetime.now(UTC).isoformat(timespec="seconds")
