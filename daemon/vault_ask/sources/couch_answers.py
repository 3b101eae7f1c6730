"""What CouchDB answers, as values, whatever strangers have written into it. Sends nothing and refuses nothing.

Answers are those of https://docs.couchdb.org/en/stable/api/ and of express-pouchdb. A row that is none is left out; a
document is passed on as it is, which may be any JSON object.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_DEEPEST = 100
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_LONGEST_NUMBER = 300
_LONGEST_LINE = 16 * 2**20


@dataclass(frozen=True, slots=True)
class DatabaseInfo:
    """What a database says of itself; a field that is missing or odd is empty. Sequences are opaque."""

    name: str
    update_seq: str
    instance_start_time: str
    purge_seq: str
    doc_count: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row of `_changes` or `_all_docs` (there `seq` is empty). `doc` only where it was asked for."""

    id: str
    seq: str
    revision: str | None
    deleted: bool
    doc: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class ChangesPage:
    """Some changes, where they end, and how many are left; `pending` is None where the server does not tell."""

    rows: list[Row]
    last_seq: str
    pending: int | None


def parsed(text: str) -> Any:  # noqa: ANN401 - any JSON
    """Parse JSON that strangers wrote: numbers of any length, nested to any depth. Raises ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        return json.loads(_shallow(text), parse_int=_number)
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError):
            raise
        return json.loads(text, parse_int=_number)


def sequence(value: object) -> str:
    """Give a sequence as text that can be sent back: it is opaque, a number for PouchDB, a list for BigCouch."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def count(value: object) -> int | None:
    """Give a count if it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def change_row(row: object) -> Row | None:
    """Read a row of `_changes`; None for what is none."""
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        return None
    changes = row.get("changes")
    first = changes[0] if isinstance(changes, list) and changes else None
    revision = first.get("rev") if isinstance(first, dict) else None
    return _row(row, sequence(row.get("seq")), revision, deleted=row.get("deleted") is True)


def listed_row(row: object) -> Row | None:
    """Read a row of `_all_docs`; None for what is none, such as a key that was not found."""
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        return None
    value = row.get("value")
    value = value if isinstance(value, dict) else {}
    return _row(row, "", value.get("rev"), deleted=value.get("deleted") is True)


def read_rows(rows: object, read: Any) -> list[Row]:  # noqa: ANN401 - one of the two above
    """Read all rows of an answer, leaving out what is none."""
    return [row for row in map(read, rows) if row] if isinstance(rows, list) else []


def lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Cut a stream into lines, wherever its pieces are cut; an empty line is yielded as such, a last half one too.

    Raises ValueError for a line that is longer than any row.
    """
    rest: list[bytes] = []
    held = 0
    for piece in pieces:
        first, *others = piece.split(b"\n")
        rest.append(first)
        held += len(first)
        for other in others:
            yield b"".join(rest)
            rest, held = [other], len(other)
        if held > _LONGEST_LINE:
            raise ValueError("a line of the feed does not end")
    if any(rest):
        yield b"".join(rest)


def _row(row: dict[str, Any], seq: str, revision: object, *, deleted: bool) -> Row:
    doc = row.get("doc")
    return Row(
        row["id"], seq, revision if isinstance(revision, str) else None, deleted, doc if isinstance(doc, dict) else None
    )


def _shallow(text: str) -> str:
    """Write null for what is nested too deep for the parser."""
    kept: list[str] = []
    depth = copied = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        if found[0] in "[{":
            depth += 1
            if depth == _DEEPEST:
                kept += [text[copied : found.start()], "null"]
        elif found[0] in "]}":
            depth -= 1
            if depth == _DEEPEST - 1:
                copied = found.end()
    return "".join([*kept, text[copied:]])


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_NUMBER else float(digits)
