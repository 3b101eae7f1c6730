"""Which questions lean on the turn before, and what is then searched for."""

import pytest

from vault_ask.answering.conversation import Turn, leans, remember
from vault_ask.scope import OpenScope, PrivateScope

MEDICINE = (Turn(role="user", text="What medicine do I take?"), Turn(role="assistant", text="CANARYDRUG [1]"))


@pytest.mark.parametrize(
    "question", ["And how much of it?", "Varför då?", "och när var det", "那是什么？", "Und warum?"]
)
def test_a_question_of_common_words_is_searched_with_the_turn_before(question: str) -> None:
    assert leans(question)
    talk = remember(MEDICINE, PrivateScope())
    assert talk.query(question) == f"What medicine do I take?\n{question}"


@pytest.mark.parametrize(
    "question", ["What is my salary?", "Is it safe with grapefruit?", "家賃は？", "Pump pressure?"]
)
def test_a_short_question_with_a_subject_of_its_own_stands_alone(question: str) -> None:
    assert remember(MEDICINE, PrivateScope()).query(question) == question


def test_an_open_scope_remembers_the_users_turns_only() -> None:
    talk = remember(MEDICINE, OpenScope(web_allowed=False))
    assert [turn.role for turn in talk.turns] == ["user"]
    assert "CANARYDRUG" not in talk.query("And how much of it?")


def test_without_a_turn_before_a_leaning_question_is_searched_as_it_is() -> None:
    assert remember((), PrivateScope()).query("And how much?") == "And how much?"
