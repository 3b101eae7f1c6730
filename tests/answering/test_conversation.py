"""Which questions lean on the turn before, and what is then searched for."""

import pytest

from vault_ask.answering.conversation import Turn, leans, remember
from vault_ask.scope import OpenScope, PrivateScope, Question

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


def test_the_filters_of_earlier_turns_are_for_nobody() -> None:
    turns = (Turn(role="user", text="rent tag:#affair path:Lover/"), Turn(role="assistant", text="9200. tag:#told"))
    for scope in (OpenScope(web_allowed=True), PrivateScope()):
        talk = remember(turns, scope)
        assert talk.turns[0].text == "rent"
        assert talk.query("And how much of it?") == "rent\nAnd how much of it?"
    assert remember(turns, PrivateScope()).turns[1].text == "9200. tag:#told"


def test_a_question_with_filters_has_its_subject_and_leans_on_nothing() -> None:
    talk = remember((Turn(role="user", text="swim last week"),), PrivateScope())
    assert talk.query("what is still open? tag:#house") == "what is still open?"


def test_the_time_of_a_turn_is_for_it_and_for_the_next_one() -> None:
    turns = (Turn(role="user", text="swim last week"), Turn(role="user", text="and why?"))
    assert remember(turns[:1], PrivateScope()).query("and why?") == "swim last week\nand why?"
    assert remember(turns, PrivateScope()).query("and how?").split("\n") == ["swim", "and why?", "and how?"]


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("what did I eat last week?", "and the week before?"),
        ("what did I eat in April?", "what about May?"),
        ("was aß ich gestern?", "und letzte Woche?"),
        ("vad åt jag förra veckan?", "och veckan innan?"),
        ("上周我吃了什么", "那前一周呢？"),
    ],
)
def test_a_question_that_only_names_another_time_is_searched_with_the_turn_before(said: str, question: str) -> None:
    assert remember((Turn(role="user", text=said),), PrivateScope()).query(question) == f"{said}\n{question}"


def test_times_told_by_one_another_reach_back_to_the_one_that_stands_alone() -> None:
    said = ["Who is my landlord?", "what did I eat last week?", "and the week before?", "and the week before that?"]
    talk = remember([Turn(role="user", text=text) for text in said], PrivateScope())
    assert talk.query("and the day before?").split("\n") == [*said[1:], "and the day before?"]
    assert talk.query("and why?").split("\n") == [*said, "and why?"]


@pytest.mark.parametrize("question", ["What about April?", "and the week before?"])
def test_without_a_time_before_it_a_name_is_no_time(question: str) -> None:
    talk = remember((Turn(role="user", text="Who comes to dinner?"),), PrivateScope())
    assert talk.query(question) == question


@pytest.mark.parametrize("question", ["What did I do last week?", "What about the rent in May?", "and May's birthday?"])
def test_a_question_with_a_time_and_a_subject_stands_alone(question: str) -> None:
    talk = remember((Turn(role="user", text="what did I eat in April?"),), PrivateScope())
    assert talk.query(question) == question


@pytest.mark.parametrize(
    "typed",
    [
        'tag:#affair"',
        "(tag:#affair",
        "path:Private",
        "\u201ctag:#affair\u201d",
        "task-todo:*x",
        "tga:#affair",
        "[affair=Private]",
    ],
)
def test_what_was_meant_as_a_filter_is_kept_from_the_web(typed: str) -> None:
    asked = Question(f"the rent in Lund {typed}")
    told = remember((), OpenScope(web_allowed=True)).web_question(asked).text
    assert told.startswith("the rent in Lund")
    assert "affair" not in told
    assert "Private" not in told
    assert "todo" not in told


@pytest.mark.parametrize("sign", ["月", "し", "ที่", "a:", "[a:b] ", "and the week before\n"])
def test_a_long_turn_is_read_once(sign: str) -> None:
    talk = remember((Turn(role="user", text="swim last week"), Turn(role="user", text=sign * 20_000)), PrivateScope())
    assert talk.query("and how?").endswith("and how?")
    assert sign.strip() in talk.query(sign * 20_000)


def test_what_looks_like_a_filter_in_a_former_turn_is_for_nobody() -> None:
    talk = remember((Turn(role="user", text="What is the rent? tga:#affair [affair=x]"),), PrivateScope())
    assert talk.query("And how much of it?") == "What is the rent?\nAnd how much of it?"
