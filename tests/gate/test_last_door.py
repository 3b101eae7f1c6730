"""The last door before a model: whatever the plan was, only the owner's model is given personal text."""

from dataclasses import replace

import pytest

from answering.passages import PRIVATE, ScriptedRetrieve, ask, end_of, hit, text_of, vault_of
from fakes import ScriptedGenerator
from vault_ask.answering.conversation import Turn
from vault_ask.scope import Sensitivity
from vault_ask.wire import DoneEvent, ErrorEvent

FOOD = hit("Food.md", "Grapefruit season starts in January")
HEALTH = hit("Private/Health.md", "I take CANARYDRUG 20 mg every morning", sensitivity=Sensitivity.PERSONAL)
ANSWERED = (Turn(role="user", text="What medicine do I take?"), Turn(role="assistant", text="CANARYDRUG [1]"))


class MovingGenerator(ScriptedGenerator):
    """A model that is the owner's while the answer is planned, and is not when it is to be worded."""

    async def reach(self) -> None:
        self._is_local = False


@pytest.mark.parametrize(
    ("hits", "history"),
    [((HEALTH, FOOD), ()), ((FOOD,), ANSWERED), ((HEALTH,), ANSWERED)],
    ids=["personal notes", "a conversation about them", "both"],
)
def test_a_model_that_moved_since_the_plan_is_given_nothing_personal(
    hits: tuple[object, ...], history: tuple[Turn, ...]
) -> None:
    model = MovingGenerator("From January [1].")
    events = ask(vault_of(ScriptedRetrieve(*hits), model), "When is grapefruit in season?", PRIVATE, history)
    assert model.prompts == []
    assert isinstance(end_of(events), ErrorEvent)
    assert "was not given personal notes" in end_of(events).message
    assert text_of(events) == ""


def test_a_model_that_moved_since_the_plan_is_given_no_selected_words() -> None:
    model, note = MovingGenerator("From January [1]."), replace(FOOD, in_question=True)
    words = {"note": "Food.md", "selection": "I take CANARYDRUG"}
    events = ask(vault_of(ScriptedRetrieve(note), model), "Is that wise?", PRIVATE, **words)
    assert model.prompts == []
    assert "was not given personal notes" in end_of(events).message


def test_a_model_that_moved_since_the_plan_is_given_open_notes() -> None:
    model = MovingGenerator("From January [1].")
    events = ask(vault_of(ScriptedRetrieve(FOOD), model), "When is grapefruit in season?", PRIVATE)
    assert isinstance(end_of(events), DoneEvent)
    assert "Grapefruit season" in repr(model.prompts)


def test_an_owner_who_lets_personal_notes_leave_is_obeyed_at_the_last_door_too() -> None:
    model = MovingGenerator("20 mg [1].")
    ask(vault_of(ScriptedRetrieve(HEALTH), model, to_remote=True), "What medicine do I take?", PRIVATE)
    assert "CANARYDRUG" in repr(model.prompts)
