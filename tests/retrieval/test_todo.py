"""Which tasks a question is after, in words."""

import pytest

from answering.passages import ScriptedRetrieve, ask, hit, vault_of
from fakes import ScriptedGenerator
from vault_ask.answering.prompts import messages
from vault_ask.index.within import Tasks
from vault_ask.notes.tasks import TaskState
from vault_ask.retrieval.todo import asked_state, asks_for_tasks_alone
from vault_ask.retrieval.words import helpers_of

OPEN, DONE = TaskState.OPEN, TaskState.DONE
ASKED = {
    "What is still open in the kitchen project?": OPEN,
    "Which todos are left?": OPEN,
    "What is not done yet?": OPEN,
    "Was muss ich noch erledigen?": OPEN,
    "Was ist nicht erledigt?": OPEN,
    "Vad har jag kvar att göra?": OPEN,
    "¿Qué queda pendiente?": OPEN,
    "Yapılacak neler var?": OPEN,
    "Что осталось сделать?": OPEN,
    "残りのタスクは?": OPEN,
    "还没做的事": OPEN,
    "What have I finished in March?": DONE,
    "Was ist schon erledigt?": DONE,
    "Vad är klart?": DONE,
    "已完成的任务": DONE,
    "完了したもの": DONE,
    "what do I still have to do?": OPEN,
    "what is still to be done in Lund?": OPEN,
    "what remains to be done?": OPEN,
    "was ist noch zu tun?": OPEN,
    "open todos": OPEN,
    "is the door still open?": None,
    "the shop is open on Sunday?": None,
    "What colour is the kitchen?": None,
    "What is open and what is done?": None,
    "": None,
}


@pytest.mark.parametrize("question", ASKED)
def test_a_question_tells_in_a_word_which_tasks_it_is_after(question: str) -> None:
    assert asked_state(question) is ASKED[question]


def test_a_generator_is_told_which_tasks_the_question_is_after() -> None:
    model = ScriptedGenerator("x [1]")
    plan = hit("Plan.md", "- [ ] paint\n- [x] order")
    for question in ("What is still open?", "plan? task-done:order -task-todo:x", "What colour?"):
        ask(vault_of(ScriptedRetrieve(plan), model), question)
    assert [prompt.tasks for prompt in model.prompts] == [(Tasks((OPEN,)),), (Tasks((DONE,), "order"),), ()]


def test_a_model_is_told_what_the_boxes_mean_where_there_are_some() -> None:
    model = ScriptedGenerator("x [1]")
    ask(vault_of(ScriptedRetrieve(hit("Plan.md", "- [ ] paint")), model), "What is still open?")
    ask(vault_of(ScriptedRetrieve(hit("Plan.md", "paint the wall")), model), "What is still open?")
    with_boxes, without = (messages(prompt)[0]["content"] for prompt in model.prompts)
    assert "`- [x]` one that is done" in with_boxes
    assert "`- [x]`" not in without


@pytest.mark.parametrize(
    "question", ["what is still open?", "what do I still have to do?", "open todos", "which tasks are done"]
)
def test_a_question_may_be_after_tasks_and_nothing_else(question: str) -> None:
    assert asks_for_tasks_alone(question, helpers_of("en"))


@pytest.mark.parametrize("question", ["what is still open in the kitchen project?", "what did I eat?"])
def test_a_question_with_a_subject_is_after_that(question: str) -> None:
    assert not asks_for_tasks_alone(question, helpers_of("en"))
