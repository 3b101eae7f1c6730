"""Reads the questions that a vault is measured by: a list as one writes it in a note, or JSON lines.

A list has one question a line, with links to the notes that answer it; a heading names the kind of those below:

    ## Trips
    - When does the night train leave? [[Oslo]]
    - How long was the flat ours, and what did we pay? [[Rent]] [the sum](Flat/Deposit.md)

In JSON lines a question is an object with `question`, and where known `id`, `relevant` (names or paths of the notes),
`also_ok` (those that count as well), `answerable`, `kind`, `lang`, `answers`, and `asked_on`, the day on which it is as
if it were asked.
"""

import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from vault_ask.errors import BadRequest
from vault_ask.evaluation.linking import part_links

Asked = dict[str, Any]
"""A question: `id` and `question` are always there, lists of notes are lists."""

_MARKER = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[.\]\s+)?")
_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*\s*")
_JSON = re.compile(r"\s*(?:\[\s*)?\{")
"""How JSON begins, lines of it or an array; a link begins with two brackets."""
_FRONTMATTER = re.compile(r"---[ \t]*\n.*?\n---[ \t]*(?=\n|\Z)", re.DOTALL)


def read_questions(file: Path) -> list[Asked]:
    """Read a file of questions.

    Raises BadRequest naming the line that does not fit or an id that stands twice, and where there is no question.
    """
    text = _text(file)
    read = _json_lines if _JSON.match(text) else _list
    asked: dict[str, Asked] = {}
    for question in read(text, file.name):
        if question["id"] in asked:
            raise BadRequest(
                f"Two questions of {file.name} have the id {question['id']}, so their results could not be told apart. "
                "Give each an id of its own, or none."
            )
        asked[question["id"]] = question
    if not asked:
        raise BadRequest(
            f"{file.name} holds no question, so there is nothing to measure. Write one a line, with a link to the note "
            "that answers it: `- When does the night train leave? [[Oslo]]`."
        )
    return list(asked.values())


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise BadRequest(f"The questions in {file.name} cannot be read ({why}).") from None


def _json_lines(text: str, name: str) -> Iterator[Asked]:
    # Not splitlines: a question may hold a line separator of Unicode, and JSON lines end in \n alone.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield _question(line, number, name)


def _question(line: str, number: int, name: str) -> Asked:
    try:
        found = json.loads(line)
        asked: Asked = {"id": f"line-{number}", **found}
        if not (isinstance(asked["id"], str) and isinstance(asked["question"], str)):
            raise TypeError  # noqa: TRY301 - one sentence for every way a line can be wrong
        date.fromisoformat(asked.get("asked_on") or "2000-01-01")
        return asked | {key: _names(asked.get(key)) for key in ("relevant", "also_ok", "answers")}
    except (ValueError, KeyError, TypeError):
        raise BadRequest(
            f"Line {number} of {name} is no question: it should be a JSON object with `question`, a text, and where "
            "known `id`, `relevant`, a list of notes, `kind`, and `asked_on`, a day such as 2026-08-30."
        ) from None


def _names(value: object) -> list[str]:
    """Take one name as a list of one. Raises TypeError for what are no names."""
    if value is None:
        return []
    listed = [value] if isinstance(value, str) else value
    if not (isinstance(listed, list) and all(isinstance(one, str) for one in listed)):
        raise TypeError
    return listed


def _list(text: str, _name: str) -> Iterator[Asked]:
    kind: str | None = None
    hidden = _FRONTMATTER.match(text)
    for number, line in enumerate(_blanked(text, hidden.end() if hidden else 0).split("\n"), start=1):
        if heading := _HEADING.fullmatch(line.strip()):
            kind = heading[1]
            continue
        words, links = part_links(_MARKER.sub("", line, count=1))
        if question := " ".join(words.split()):
            yield {
                "id": f"line-{number}",
                "question": question,
                "relevant": links,
                "also_ok": [],
                "answers": [],
                "kind": kind,
            }


def _blanked(text: str, end: int) -> str:
    """Take out what stands before a place but for its lines, so that the rest keep their numbers."""
    return "\n" * text[:end].count("\n") + text[end:]
