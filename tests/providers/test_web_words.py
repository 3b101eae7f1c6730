import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_ask.providers.web_words import MOST_CHARACTERS, MOST_WORDS, cut_at_word, words_for_web
from vault_ask.scope import Question


@pytest.mark.parametrize(
    ("typed", "sent"),
    [
        ("  What do\n herons\t eat? ", "What do herons eat?"),
        ("Who won the cup in 1958?\nAnd when?", "Who won the cup in 1958? And when?"),
        ("Is [[Private/Therapy log]] still right?", "Is Therapy log still right?"),
        ("See [[Work/Plan.md|the plan]] and ![[A/B#Costs]]", "See the plan and B"),
        ("[[#Costs]] of [a kiln](http://nas.local/x)", "Costs of a kiln"),
        ("# Heading with **bold**, `code`, ~~old~~ and ==new==", "Heading with bold , code , old and new"),
        ("#project/alpha in C# and C++", "project/alpha in C# and C++"),
        ("!g secret !!wiki more wow!", "g secret wiki more wow!"),
        ("<b>x</b> {y} | z", "b x /b y z"),
        ("hid\u200bden \u202eback\u202c \U000e0041tag bro\ud800ken \x00nul", "hidden back tag broken nul"),
        ("می‌خواهم بدانم", "می‌خواهم بدانم"),
        ("猫は何を食べますか", "猫は何を食べますか"),
        ("[[]] ** \u200b", ""),
    ],
)
def test_what_is_sent_are_the_words_that_were_typed(typed: str, sent: str) -> None:
    assert words_for_web(Question(typed)) == sent


def test_a_long_question_is_cut_at_a_word() -> None:
    assert words_for_web(Question("heronish " * 45)) == "heronish " * 43 + "heronish"
    assert words_for_web(Question("a " * 500)) == ("a " * MOST_WORDS).strip()
    assert words_for_web(Question("字" * 500)) == "字" * MOST_CHARACTERS


@given(st.text(max_size=700))
def test_any_question_can_be_sent(typed: str) -> None:
    words = words_for_web(Question(typed))
    words.encode()
    assert len(words) <= MOST_CHARACTERS
    assert len(words.split()) <= MOST_WORDS
    assert words == " ".join(words.split())


@given(st.text(max_size=60), st.integers(min_value=2, max_value=40))
def test_what_is_cut_is_the_beginning_of_the_line(line: str, most: int) -> None:
    cut = cut_at_word(line, most, ending="…")
    assert len(cut) <= most
    assert line.startswith(cut.removesuffix("…").rstrip()) or cut == line
