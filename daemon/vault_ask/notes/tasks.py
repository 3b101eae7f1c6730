"""The tasks of a note: list items with a box, and whether what they ask for is still to be done.

`[x]` is done and `[-]` is cancelled; any other mark (`[ ]`, `[/]`, `[>]`, `[!]`, ...) is of a task that is still open,
as the makers of task plugins and themes have it. Logseq's words in capitals (`- TODO pay rent`) stand for a box.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from vault_ask.notes.model import Note
from vault_ask.notes.properties import as_words
from vault_ask.notes.text_lines import text_lines

_MARK = (
    r"(?:\[(?P<box>[^\]\n])\]"
    r"|(?P<word>TODO|DOING|NOW|LATER|WAITING|WAIT|IN-PROGRESS|DONE|CANCELED|CANCELLED):?)"
)
TASK = re.compile(rf"[\s>]*(?:(?:[-*+]|\d{{1,9}}[.)])\s+)+{_MARK}(?:\s+(?P<said>.*))?$")
"""A line with a task: its mark, and its words. A list may be nested, numbered, or in a quote."""
_BOXED = re.compile(rf"{_MARK}\s+(?P<said>.*)", re.DOTALL)


class TaskState(StrEnum):
    """What became of a task."""

    OPEN = "open"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Task:
    """A task in a line of a file, with its folded words."""

    line: int
    state: TaskState
    words: str


def task_in(text: str, line: int = 1) -> Task | None:
    """Read a line with a task; None for any other line."""
    return _read(TASK.match(text), line)


def boxed(sentence: str) -> Task | None:
    """Read a task without what stands before its box, as a sentence of a passage begins."""
    return _read(_BOXED.match(sentence), 1)


def without_box(sentence: str) -> str:
    """Give the words of such a task, which its box is none of; any other sentence as it is."""
    found = _BOXED.match(sentence)
    return found["said"] if found else sentence


def tasks_in(text: str) -> Iterator[Task]:
    """Give the tasks in the lines of a text that is read by its signs alone; lines count from 1."""
    found = (task_in(line, number) for number, line in enumerate(text.split("\n"), 1))
    return (task for task in found if task is not None)


def hold_tasks(texts: Iterable[str]) -> bool:
    """Say whether there is a task in one of some texts."""
    return any(True for text in texts for _ in tasks_in(text))


def _read(found: re.Match[str] | None, line: int) -> Task | None:
    return Task(line, _state(found["box"] or found["word"]), as_words(found["said"] or "")) if found else None


def _state(mark: str) -> TaskState:
    match mark:
        case "x" | "X" | "DONE":
            return TaskState.DONE
        case "-" | "CANCELED" | "CANCELLED":
            return TaskState.CANCELLED
        case _:
            return TaskState.OPEN


def tasks(note: Note) -> Iterator[Task]:
    """Give the tasks of a note in order; what a code block shows is none."""
    found = (task_in(text, line) for line, text in text_lines(note))
    return (task for task in found if task is not None)
