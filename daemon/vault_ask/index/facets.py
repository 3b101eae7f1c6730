"""What notes and passages are narrowed by, kept as rows: the properties of a note, the tasks of a passage."""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence

import apsw

from vault_ask.notes.fold import fold
from vault_ask.notes.model import Chunk, FrontmatterState, Note
from vault_ask.notes.parse import CANVAS
from vault_ask.notes.properties import properties
from vault_ask.notes.tasks import Task, tasks_in

CREATE = (
    "ALTER TABLE notes ADD COLUMN place TEXT NOT NULL DEFAULT '';"
    # `words` has a blank at both ends, so that a run of whole words is found in it.
    # A filter looks through these, which are a small part of a note and of an edge.
    "CREATE INDEX notes_by_place ON notes (level, place);"
    "CREATE INDEX edges_by_tag ON edges (key, src) WHERE kind = 'tag';"
    "CREATE TABLE properties (note INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE, key TEXT NOT NULL,"
    " words TEXT NOT NULL, number REAL);"
    "CREATE INDEX properties_by_key ON properties (key, words, number, note);"
    "CREATE INDEX properties_by_note ON properties (note);"
    "CREATE TABLE tasks (chunk INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE, state TEXT NOT NULL,"
    " words TEXT NOT NULL);"
    "CREATE INDEX tasks_by_chunk ON tasks (chunk);"
    # All that a filter asks of a chunk, or every chunk's text is read.
    "DROP INDEX chunks_by_note;"
    "CREATE INDEX chunks_by_note ON chunks (note, level, state, ordinal, day_first, day_last);"
)
"""Schema of what is kept here; `place` is a note's folded path."""


def keep_note(db: apsw.Connection, row: int, note: Note) -> None:
    """Keep the folded path and the properties of a note, in place of the former ones."""
    is_text = note.frontmatter_state is FrontmatterState.UNCLOSED
    _keep(db, row, note.path, {} if is_text else note.frontmatter)


def keep_stored(db: apsw.Connection) -> None:
    """Keep the same of every note that is stored already."""
    stored = db.execute("SELECT id, path, frontmatter, frontmatter_state FROM notes").fetchall()
    for row, path, frontmatter, state in stored:
        is_text = state == FrontmatterState.UNCLOSED
        _keep(db, int(str(row)), str(path), {} if is_text else json.loads(str(frontmatter)))


def keep_tasks(db: apsw.Connection, chunk: int, held: Iterable[Task]) -> None:
    """Keep the tasks that a chunk holds, in place of the former ones."""
    db.execute("DELETE FROM tasks WHERE chunk = ?", (chunk,))
    db.executemany("INSERT INTO tasks VALUES (?, ?, ?)", [(chunk, task.state, f" {task.words} ") for task in held])


def held_in(chunk: Chunk, note: Note, of_note: Sequence[Task]) -> list[Task]:
    """Give those of a note's tasks, in order, that are in a chunk; of a canvas, whose lines are JSON, its card's."""
    if note.path.lower().endswith(CANVAS):
        return list(tasks_in(chunk.body))
    first = bisect_left(of_note, chunk.line_start, key=_line)
    return list(of_note[first : bisect_right(of_note, chunk.line_end, lo=first, key=_line)])


def _line(task: Task) -> int:
    return task.line


def _keep(db: apsw.Connection, row: int, path: str, frontmatter: Mapping[str, object]) -> None:
    db.execute("UPDATE notes SET place = ? WHERE id = ?", (fold(path), row))
    db.execute("DELETE FROM properties WHERE note = ?", (row,))
    db.executemany(
        "INSERT INTO properties VALUES (?, ?, ?, ?)",
        [(row, said.key, f" {said.words} " if said.words else "", said.number) for said in properties(frontmatter)],
    )
