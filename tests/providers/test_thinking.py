import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_ask.providers.thinking import ThoughtFilter


def reply(*pieces: str) -> str:
    thoughts = ThoughtFilter()
    return "".join(map(thoughts.feed, pieces)) + thoughts.close()


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("<think>hm</think>\n\nRent", "Rent"),
        ("\n <THINKING>a < b</THINKING>Rent", "Rent"),
        ("<think>one</think> <think>two</think>Rent", "Rent"),
        ("<think>never ended", ""),
        ("Rent", "Rent"),
        ("<thin ice", "<thin ice"),
        ("In HTML, <think>this</think> stays", "In HTML, <think>this</think> stays"),
        ("", ""),
    ],
)
def test_only_a_thought_at_the_start_is_taken_out(said: str, shown: str) -> None:
    assert reply(said) == shown
    assert reply(*said) == shown


@given(st.lists(st.sampled_from(["<think>", "</think>", "<", ">", "think", "/", "a", " ", "\n"]), max_size=12))
def test_any_split_gives_the_same_reply(pieces: list[str]) -> None:
    said = "".join(pieces)
    assert reply(*pieces) == reply(said) == reply(*said)
