"""Which lines of a note are tasks, and what became of them."""

import pytest

from vault_ask.notes.parse import parse
from vault_ask.notes.sensitivity import Rules
from vault_ask.notes.tasks import Task, TaskState, boxed, hold_tasks, task_in, tasks, without_box

RULES = Rules.compile([], "sensitivity")
OPEN, DONE, CANCELLED = TaskState.OPEN, TaskState.DONE, TaskState.CANCELLED
LINES = {
    "- [ ] Call the landlord": Task(1, OPEN, "call the landlord"),
    "* [x] pay **rent**!": Task(1, DONE, "pay **rent**"),
    "+ [X] done": Task(1, DONE, "done"),
    "\t- [/] half done": Task(1, OPEN, "half done"),
    "- [>] moved": Task(1, OPEN, "moved"),
    "- [-] given up": Task(1, CANCELLED, "given up"),
    "12. [ ] numbered": Task(1, OPEN, "numbered"),
    "3) [x] numbered": Task(1, DONE, "numbered"),
    "> > - [ ] quoted": Task(1, OPEN, "quoted"),
    "- 1. [ ] nested in one line": Task(1, OPEN, "nested in one line"),
    "- [ ]": Task(1, OPEN, ""),
    "- [ ] ΣΊΣΥΦΟΣ ÅRE": Task(1, OPEN, "σίσυφοσ åre"),
    "- TODO Call the landlord": Task(1, OPEN, "call the landlord"),
    "\t- DONE: pay rent": Task(1, DONE, "pay rent"),
    "* CANCELLED the gym": Task(1, CANCELLED, "the gym"),
    "- IN-PROGRESS paint": Task(1, OPEN, "paint"),
    "- NOW": Task(1, OPEN, ""),
    "- TODOS of May": None,
    "- Now we paint": None,
    "TODO no list": None,
    "- [x](address) a link": None,
    "- [ab] no box": None,
    "[ ] no list": None,
    "text - [ ] inside": None,
    "-[ ] no blank": None,
    "- []": None,
    "": None,
}


@pytest.mark.parametrize("line", LINES)
def test_a_list_item_with_a_box_or_a_word_for_one_is_a_task(line: str) -> None:
    assert task_in(line) == LINES[line]


def test_tasks_are_told_with_their_lines_and_those_in_code_are_none() -> None:
    text = (
        "---\nx: 1\n---\n- [ ] one\n    - [x] two\n\n```\n- [ ] code\n```\n- item\n  ```\n  - [ ] inner code\n  ```\n"
        "  - [ ] three\n\n    - [ ] not code, of the list\n\npara\n\n        - [ ] code by its indent\n> - [-] four\n"
    )
    found = list(tasks(parse("n.md", text.encode(), RULES)))
    assert [(task.line, task.state, task.words) for task in found] == [
        *((4, OPEN, "one"), (5, DONE, "two"), (14, OPEN, "three"), (16, OPEN, "not code of the list")),
        (21, CANCELLED, "four"),
    ]


def test_a_sentence_tells_its_state_by_the_box_it_begins_with() -> None:
    assert boxed("[x] pay rent") == Task(1, DONE, "pay rent")
    assert boxed("DONE pay rent") == Task(1, DONE, "pay rent")
    assert without_box("LATER pay rent") == "pay rent"
    assert boxed("pay [x] rent") is boxed("[1]") is None
    assert without_box("[/] see [1] there") == "see [1] there"
    assert without_box("see [1] there") == "see [1] there"


def test_a_text_of_signs_is_looked_at_in_no_time() -> None:
    assert not hold_tasks(["- " * 100_000, "> " * 100_000, " " * 100_000, "1. " * 50_000])
    assert hold_tasks(["- " * 1_000 + "[ ] deep"])
