"""Which tasks a question is after, in words."""

from pathlib import Path

import pytest

from answering.passages import ScriptedRetrieve, ask, hit, vault_of
from cases.small_vaults import ask as answer_to
from cases.small_vaults import indexed
from fakes import ScriptedGenerator
from vault_ask.answering.prompts import messages
from vault_ask.index.within import Tasks
from vault_ask.notes.tasks import TaskState
from vault_ask.retrieval.helpers import helpers_of
from vault_ask.retrieval.todo import asked_state, asks_for_tasks_alone

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


def test_a_polite_question_is_after_the_same_tasks() -> None:
    model = ScriptedGenerator("x [1]")
    plan = hit("Plan.md", "- [ ] paint\n- [x] order")
    ask(vault_of(ScriptedRetrieve(plan), model), "Can you tell me what is still open?")
    ask(vault_of(ScriptedRetrieve(plan), model), "Is the door still open?")
    assert [prompt.tasks for prompt in model.prompts] == [(Tasks((OPEN,)),), ()]


def test_a_polite_question_lists_what_is_open(tmp_path: Path) -> None:
    library = indexed(tmp_path, {"N.md": "- [ ] call Anna\n- [x] buy milk\n", "M.md": "It is open.\n"})
    for question in ("What is still open?", "Can you tell me what is still open?"):
        assert [c.quote for c in answer_to(library, question).citations] == ["[ ] call Anna"]


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


OWED = (
    "What do I still have to pack for Norway?",
    "what have I not packed yet?",
    "What haven't I packed yet?",
    "which bills have I not paid yet?",
    "what do we still need to decide?",
    "What must I still buy for the party?",
    "what have I yet to pack?",
    "What is still to pack?",
    "what have I not yet packed?",
    "Who do I still need to call?",
    "Was muss ich noch packen?",
    "Was muss ich für Norwegen noch einpacken?",
    "Was habe ich noch nicht gepackt?",
    "Was habe ich noch einzupacken?",
    "Welche Rechnungen habe ich noch nicht bezahlt?",
    "Was ist noch zu packen?",
    "Vad måste jag fortfarande packa?",
    "Vad har jag inte packat än?",
    "Vad har jag ännu inte packat?",
    "Hvad skal jeg stadig pakke?",
    "Hvad har jeg ikke pakket endnu?",
    "Hva har jeg ikke pakket ennå?",
    "Hva må jeg fortsatt pakke?",
    "Wat moet ik nog inpakken?",
    "Wat heb ik nog niet ingepakt?",
    "Que dois-je encore emballer ?",
    "Qu'est-ce que je n'ai pas encore emballé ?",
    "¿Qué tengo que empacar todavía?",
    "¿Qué no he empacado todavía?",
    "¿Qué todavía no he empacado?",
    "O que ainda tenho de empacotar?",
    "O que ainda não empacotei?",
    "Cosa devo ancora mettere in valigia?",
    "Cosa non ho ancora messo in valigia?",
    "Что мне ещё нужно упаковать?",
    "Что я ещё не упаковал?",
    "Що мені ще треба спакувати?",
    "Що я ще не спакувала?",
    "Co jeszcze muszę spakować?",
    "Czego jeszcze nie spakowałem?",
    "Co ještě musím sbalit?",
    "Co jsem ještě nesbalil?",
    "Neyi henüz paketlemedim?",
    "Daha ne paketlemem gerekiyor?",
    "Mitä minun pitää vielä pakata?",
    "Mitä en ole vielä pakannut?",
    "Mit kell még becsomagolnom?",
    "Mit nem csomagoltam még be?",
    "ما الذي لم أحزمه بعد؟",
    "מה עוד לא ארזתי?",
    "מה עוד צריך לארוז?",
    "还需要带什么？",
    "还有什么没打包？",
    "まだ荷造りしていないものは？",
    "아직 챙기지 않은 것은?",
)
NOT_OWED = (
    "What do I still have of the old furniture?",
    "Do I still have to pay the rent?",
    "Have I not packed the tent yet?",
    "Why have I not heard from Anna yet?",
    "Muss ich noch die Miete zahlen?",
    "Warum habe ich noch nicht bezahlt?",
    "What is not yet known about dark matter?",
    "Was habe ich noch von den alten Möbeln?",
    "Was weiß ich noch über Anna?",
    "Vad har jag fortfarande av de gamla möblerna?",
    "Wat heb ik nog van de oude meubels?",
    "¿Qué tengo todavía de los muebles viejos?",
    "Que sais-je encore de lui ?",
    "Dois-je encore payer le loyer ?",
    "What did I still remember of the trip?",
    "Was muss ich noch wissen?",
    "What did Ada still want?",
    "Which plants have I packed?",
)
"""What nobody owes, or is asked for with yes, no or a reason."""


@pytest.mark.parametrize("question", OWED)
def test_what_is_still_to_be_done_is_asked_for_by_any_deed(question: str) -> None:
    assert asked_state(question) is OPEN


@pytest.mark.parametrize("question", NOT_OWED)
def test_what_is_still_there_and_whether_one_thing_is_done_are_no_tasks(question: str) -> None:
    assert asked_state(question) is None


def test_a_deed_that_is_named_is_a_subject() -> None:
    assert not asks_for_tasks_alone("what do I still have to pack?", helpers_of("en"))
    assert asks_for_tasks_alone("what do I still have to do?", helpers_of("en"))


@pytest.mark.parametrize("question", ["What do I still have to pack for Norway?", "what have I not packed yet?"])
def test_what_is_still_to_be_done_is_quoted_before_what_is_done(tmp_path: Path, question: str) -> None:
    packing = "## Packing for Norway\n- tent\n- [x] sleeping bag\n- [ ] head torch\n- [ ] matches\n"
    library = indexed(tmp_path, {"Pack.md": packing})
    answer = answer_to(library, question)
    library.close()
    assert set(answer.answer.split("\n\n")[:2]) == {"“[ ] head torch” [1]", "“[ ] matches” [1]"}


def test_tasks_of_an_outline_are_found_by_the_words_that_stand_for_a_box(tmp_path: Path) -> None:
    notes = {
        "journals/2026_03_02.md": "- rained\n- TODO transfer money for the class trip\n",
        "journals/2026_03_03.md": "- DONE cancel the gym\n",
        "journals/2026_03_04.md": "- the bakery opens at seven\n",
    }
    library = indexed(tmp_path, notes)
    answer = answer_to(library, "open todos")
    library.close()
    assert answer.answer == "“TODO transfer money for the class trip” [1]"
