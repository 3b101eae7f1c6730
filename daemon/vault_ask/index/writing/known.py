"""What is stored of notes, for whoever compares or classifies them anew: read past the gate, and told to nobody."""

import json
from collections.abc import Mapping, Sequence

import apsw

from vault_ask.index.database import fetch
from vault_ask.index.drafts import Claim, other_claims
from vault_ask.index.reading.notes import KNOWN, Known, known_from
from vault_ask.notes.model import FrontmatterState
from vault_ask.scope import Sensitivity

MANY_PATHS = 500

_IN_SLASHES = "*[0-9][-/_ ][0-9]*[-/_ ][0-9][0-9][0-9][0-9]*"


def known(db: apsw.Connection) -> dict[str, Known]:
    """Give what is known of every note, by path."""
    return {row[0]: known_from(row) for row in fetch(db, f"SELECT {KNOWN} FROM notes")}


def known_of(db: apsw.Connection, paths: Sequence[str]) -> dict[str, Known]:
    """Give what is known of some paths."""
    if len(paths) > MANY_PATHS:
        everything = known(db)
        return {path: everything[path] for path in paths if path in everything}
    marks = ", ".join("?" * len(paths))
    rows = fetch(db, f"SELECT {KNOWN} FROM notes WHERE path IN ({marks})", tuple(paths))
    return {row[0]: known_from(row) for row in rows}


def claims(db: apsw.Connection) -> list[Claim]:
    """Give what each note's sensitivity was decided from."""
    tags: dict[int, list[str]] = {}
    for note, tag in fetch(db, "SELECT src, key FROM edges WHERE kind = 'tag' ORDER BY id"):
        tags.setdefault(note, []).append(tag)
    rows = fetch(db, "SELECT id, path, resolved_path, frontmatter, frontmatter_state, others, own_level FROM notes")
    return [
        Claim(
            id=note,
            path=path,
            resolved_path=resolved,
            frontmatter=json.loads(frontmatter),
            state=FrontmatterState(state),
            tags=tuple(tags.get(note, ())),
            others=other_claims(others),
            sensitivity=Sensitivity(level),
        )
        for note, path, resolved, frontmatter, state, others, level in rows
    ]


def dated_in_slashes(db: apsw.Connection) -> list[tuple[str, Mapping[str, object], Sensitivity]]:
    """Give the notes whose name or properties hold what may be a date such as 03-08-2026, with their properties."""
    rows = fetch(
        db,
        f"SELECT path, frontmatter, level FROM notes WHERE path GLOB '{_IN_SLASHES}' "
        f"OR frontmatter GLOB '{_IN_SLASHES}'",
    )
    return [(path, json.loads(frontmatter), Sensitivity(level)) for path, frontmatter, level in rows]
