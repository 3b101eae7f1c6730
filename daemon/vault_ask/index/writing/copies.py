"""Levels of notes that are conflict copies of one another: a copy is at least as personal as what it is a copy of.

A family is a note and its copies, by their names (notes/copies.py). Works on the writer's connection, inside its
transactions: whatever is stored, reclassified or forgotten, its family is settled before anybody can read it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import apsw

from vault_ask.index.database import fetch, has_vectors


@dataclass(frozen=True, slots=True)
class _Member:
    note: int
    marks: int
    own: bool
    hidden: bool
    level: int


@dataclass(frozen=True, slots=True)
class Departure:
    """A note that was forgotten although, or because, it was personal."""

    family: str
    marks: int


def departure(db: apsw.Connection, note: int) -> Iterator[Departure]:
    """Give what has to be known of a personal note that is about to be forgotten; nothing of an open one."""
    rows = fetch(db, "SELECT family, marks FROM notes WHERE id = ? AND (own_level OR bereft)", (note,))
    return (Departure(*row) for row in rows)


def bereave(db: apsw.Connection, gone: Departure) -> None:
    """Keep copies personal that were so because of a note that is gone.

    Nobody can tell any more what other rules would have made of it, so they stay so until they go themselves.
    """
    members = _members(db, gone.family)
    opened = [one.note for one in members if one.marks > gone.marks and not _is_personal(one, members)]
    db.executemany("UPDATE notes SET bereft = 1 WHERE id = ?", [(note,) for note in opened])


def settle(db: apsw.Connection, families: Iterable[str]) -> int:
    """Give every note of some families the level it has to have; give the number of notes moved."""
    moved = 0
    for family in dict.fromkeys(families):
        for note, level in _unsettled(db, family):
            _set_level(db, note, level)
            moved += 1
    return moved


def family_of(db: apsw.Connection, note: int) -> str:
    """Name the family of a note."""
    return str(fetch(db, "SELECT family FROM notes WHERE id = ?", (note,))[0][0])


def families(db: apsw.Connection) -> list[str]:
    """Name all families of more than one note."""
    return [row[0] for row in fetch(db, "SELECT family FROM notes GROUP BY family HAVING count(*) > 1")]


def _unsettled(db: apsw.Connection, family: str) -> Iterator[tuple[int, int]]:
    """Give the notes of a family whose level is not what it has to be, each with that level."""
    members = _members(db, family)
    levels = ((one, int(one.hidden or _is_personal(one, members))) for one in members)
    return ((one.note, level) for one, level in levels if level != one.level)


def _set_level(db: apsw.Connection, note: int, level: int) -> None:
    db.execute("UPDATE notes SET level = ? WHERE id = ?", (level, note))
    db.execute("UPDATE chunks SET level = ? WHERE note = ?", (level, note))
    if has_vectors(db):
        # One by one: for a list of ids vec0 goes through all of its rows.
        embedded = fetch(db, "SELECT id FROM chunks WHERE note = ? AND state = 1", (note,))
        db.executemany("UPDATE chunks_vec SET level = ? WHERE id = ?", [(level, chunk) for (chunk,) in embedded])


def _members(db: apsw.Connection, family: str) -> list[_Member]:
    rows = fetch(
        db, "SELECT id, marks, own_level OR bereft, hidden, level FROM notes WHERE family = ? ORDER BY id", (family,)
    )
    return [_Member(note, marks, bool(own), bool(hidden), level) for note, marks, own, hidden, level in rows]


def _is_personal(one: _Member, members: Iterable[_Member]) -> bool:
    """Tell whether a note is personal, or anything that it may be a copy of: whatever has fewer marks."""
    return one.own or any(other.own for other in members if other.marks < one.marks)
