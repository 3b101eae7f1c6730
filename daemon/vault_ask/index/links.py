"""Edges between notes, and whom they mean: names are looked up when a vault changes, not when it is asked."""

import json
from collections.abc import Iterator

import apsw

from vault_ask.index.database import fetch
from vault_ask.notes.links import choose, folded_name, link_key, tag_key
from vault_ask.notes.model import LinkKind, Note

EdgeRow = tuple[str, str, str, str | None, str | None, str | None, int]


def links_of(note: Note) -> Iterator[EdgeRow]:
    """Give a note's edges as rows (kind, target, key, heading, block, alias, line); a tag is an edge to itself."""
    for link in note.links:
        if link.target:
            yield link.kind, link.target, link_key(link.target), link.heading, link.block, link.alias, link.line
    for tag in note.tags:
        yield LinkKind.TAG, tag, tag_key(tag), None, None, None, 0


def rename(db: apsw.Connection, note: int, names: set[tuple[str, int]]) -> None:
    """Set what a note may be called, as (key, 1 for an alias else 0); links by a name that came or went are due."""
    former = {(key, alias) for key, alias in db.execute("SELECT key, alias FROM names WHERE note = ?", (note,))}
    db.executemany(
        "DELETE FROM names WHERE note = ? AND key = ? AND alias = ?", [(note, *name) for name in former - names]
    )
    db.executemany("INSERT INTO names (note, key, alias) VALUES (?, ?, ?)", [(note, *name) for name in names - former])
    db.executemany("UPDATE edges SET resolved = 0 WHERE key = ?", [(key,) for key, _ in former ^ names])


def resolve(db: apsw.Connection) -> None:
    """Point each link that is due at the note it means among those there are now."""
    meant: dict[tuple[str, str, str], int | None] = {}
    due = fetch(
        db,
        "SELECT e.id, n.path, e.target, e.key FROM edges AS e JOIN notes AS n ON n.id = e.src "
        "WHERE e.resolved = 0 AND e.kind <> 'tag'",
    )
    for _, source, target, key in due:
        if (source, target, key) not in meant:
            found = look_up(db, source, target, key)
            meant[source, target, key] = found[0] if found else None
    db.executemany(
        "UPDATE edges SET dst = ?, resolved = 1 WHERE id = ?",
        [(meant[source, target, key], edge) for edge, source, target, key in due],
    )


def look_up(
    db: apsw.Connection, source: str, target: str, key: str, *, names: str = "names", notes: str = "notes"
) -> tuple[int, str] | None:
    """Find id and path of the note that a link means, among those of two tables or of a reader's views of them."""
    rows = fetch(
        db,
        f"SELECT n.path, a.note, a.alias, n.aliases FROM {names} AS a JOIN {notes} AS n ON n.id = a.note "
        "WHERE a.key = ? ORDER BY n.path",
        (key,),
    )
    ids = {path: note for path, note, _, _ in rows}
    chosen = choose(target, source, [path for path, _, alias, _ in rows if not alias])
    # An alias is meant whole: a link to a path does not find a note that merely has its last part as an alias.
    chosen = chosen or _by_alias([path for path, _, alias, listed in rows if alias and _holds(listed, target)])
    return (ids[chosen], chosen) if chosen else None


def _holds(aliases: str, target: str) -> bool:
    wanted = folded_name(target.strip()).removesuffix(".md")
    return wanted in {folded_name(alias.strip()) for alias in json.loads(aliases)}


def _by_alias(paths: list[str]) -> str | None:
    """Prefer the note nearest to the root where several claim one alias."""
    return min(paths, key=lambda path: (path.count("/"), len(path), path), default=None)
