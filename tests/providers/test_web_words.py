import time

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
        ("!!!", ""),
        ("¿?…", ""),
        ("½?", "½?"),
        ("Is Private/Divorce (2024).md still right?", "Is Divorce (2024) still right?"),
        ("Is Personal/Family matters/Divorce (2024).md#Costs right?", "Is Divorce (2024)#Costs right?"),
        ('Is "My Private/Old/Divorce.MD" right?', 'Is "Divorce" right?'),
        ("`My Private/map.canvas`, (Private/x.png) or /home/me/a.pdf", "map , (x) or a"),
        (r"C:\Users\me\Private\Divorce.md and notes.md", "Divorce and notes.md"),
        ("私人/離婚.mdについて", "離婚について"),
        ("See https://example.org/a/b.pdf and Private/x.pdf", "See https://example.org/a/b.pdf and x"),
        ("Read www.example.org/a/b.html or example.md5", "Read www.example.org/a/b.html or example.md5"),
        ('He said "yes" about Private/x.md', 'He said "yes" about x'),
        ("见「My Private/x.md」", "见「x」"),
        ("TCP/IP and/or HTTP/2?", "TCP/IP and/or HTTP/2?"),
        ("What is obsidian://open?vault=Home&file=Private%2FDivorce about?", "What is about?"),
        ("<obsidian:open?file=Private> postgres://me:secret@nas/db why", "why"),
        ("Is obsidian: the stone heavy?", "Is obsidian: the stone heavy?"),
        ("Is [this](Private/Divorce (2024).md) or [that](<My Private/x.md>) right?", "Is this or that right?"),
        ("![](Private/x.png) [Private/y.md](obsidian://open?file=y) z", "y z"),
        ("Is [[Private/Therapy log right?", "Is Therapy log right?"),
    ],
)
def test_what_is_sent_are_the_words_that_were_typed(typed: str, sent: str) -> None:
    assert words_for_web(Question(typed)) == sent


def test_the_question_stays_and_the_turns_before_it_are_cut_at_a_word() -> None:
    asked = "And how much of it does the bird eat?"
    by_length = words_for_web(Question(f"{'heronish ' * 60}\n{asked}"))
    assert by_length == "heronish " * 40 + asked
    by_words = words_for_web(Question(f"{'a ' * 200}\n{asked}"))
    assert by_words == "a " * (MOST_WORDS - 9) + asked
    without_spaces = words_for_web(Question(f"{'字' * 500}\n{'語' * 150}?"))
    assert without_spaces == "字" * (MOST_CHARACTERS - 152) + " " + "語" * 150 + "?"


def test_a_long_question_is_cut_at_a_word() -> None:
    assert words_for_web(Question("heronish " * 45)) == "heronish " * 43 + "heronish"
    assert words_for_web(Question("e\u0301" * 250)) == ("e\u0301" * 200)
    assert words_for_web(Question("x" + "e\u0301" * 200 + "y")) == "e\u0301" * 199 + "y"
    assert words_for_web(Question("a " * 500)) == ("a " * MOST_WORDS).strip()
    assert words_for_web(Question("字" * 500)) == "字" * MOST_CHARACTERS


@given(st.text(max_size=700))
def test_any_question_can_be_sent(typed: str) -> None:
    words = words_for_web(Question(typed))
    words.encode()
    assert len(words) <= MOST_CHARACTERS
    assert len(words.split()) <= MOST_WORDS
    assert words == " ".join(words.split())


NOISE = st.lists(
    st.sampled_from([*'a./\\ "`[]()<>|!#:字\u0301\u200d', ".md", "obsidian:", "](", "https://", "\n"]), max_size=30
).map("".join)


@given(NOISE)
def test_no_folder_of_a_path_is_left(noise: str) -> None:
    sent = words_for_web(Question(f"{noise}\nIs Secretfolder/Other/Divorce.md right? {noise}"))
    assert "Secretfolder" not in sent
    assert "Divorce" in sent


def test_a_long_question_is_read_quickly() -> None:
    began = time.monotonic()
    for hostile in ("a/", "/", ".md", "a/b.md ", "[](", "[[", "obsidian:", "a+", '"', "http", "https://", "www.", "x"):
        words_for_web(Question(hostile * (100_000 // len(hostile))))
    assert time.monotonic() - began < 5


@given(st.text(max_size=60), st.integers(min_value=2, max_value=40))
def test_what_is_cut_is_the_beginning_of_the_line(line: str, most: int) -> None:
    cut = cut_at_word(line, most, ending="…")
    assert len(cut) <= most
    assert line.startswith(cut.removesuffix("…").rstrip()) or cut == line
