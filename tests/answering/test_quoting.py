"""How quotes are shown: as reading text, and code as it stands."""

import pytest

from vault_ask.answering.quoting import plain, quoted
from vault_ask.answering.regions import Span


def shown(text: str, piece: str) -> str:
    start = text.index(piece)
    return quoted(text, Span(start, start + len(piece)), 1)


@pytest.mark.parametrize(
    ("card", "reading"),
    [
        ("#cards\nCapital of Mongolia::Ulaanbaatar", "Capital of Mongolia: Ulaanbaatar"),
        ("#flashcards/geo\nCapital of Sweden:::Stockholm", "Capital of Sweden: Stockholm"),
        ("Capital of Norway :: Oslo", "Capital of Norway: Oslo"),
        ("rating:: 5 of 5", "rating: 5 of 5"),
        ("Huvudstad i Åland::Mariehamn, en stad på Fasta Å", "Huvudstad i Åland::Mariehamn, en stad på Fasta Å"),
        ("日本の首都::東京", "日本の首都: 東京"),
        ("Who painted Guernica?::Picasso", "Who painted Guernica? Picasso"),
        ("Use std::vector for that", "Use std::vector for that"),
        ("#cards\nUse `std::vector` for that", "Use `std::vector` for that"),
        ("the address fe80::1::2 of it", "the address fe80::1::2 of it"),
    ],
)
def test_the_sides_of_a_card_and_of_a_field_are_parted_and_code_is_not(card: str, reading: str) -> None:
    assert shown(card, card.rpartition("\n")[2]) == f"“{reading}” [1]"


@pytest.mark.parametrize(
    ("text", "piece", "reading"),
    [
        ("> [!warning]+ Boiler\n> Never twice.", "Boiler\n> Never twice.", "Boiler: Never twice."),
        ("> [!faq] Sauna free?\n> After nine.", "Sauna free?\n> After nine.", "Sauna free? After nine."),
        ("> Boiler\n> is old.", "Boiler\n> is old.", "Boiler is old."),
    ],
)
def test_the_title_of_a_callout_is_parted_from_its_text(text: str, piece: str, reading: str) -> None:
    assert shown(text, piece) == f"“{reading}” [1]"


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("Rent <b>900</b><br>a <u>month</u>, <mark>warm</mark>", "Rent 900 a month, warm"),
        ('<p align=center>The <span style="color: red">red</span> key</p>', "The red key"),
        ("<td>Router</td><td>Asus</td>", "Router Asus"),
        ("Write `a<br>b` for <BR/> a break", "Write `a<\u2060br>b` for a break"),
        ("10<sup>3</sup> of <s>old</s>", "10<\u2060sup>3<\u2060/sup> of <\u2060s>old<\u2060/s>"),
        ('<b onclick="x()">no</b> <<i>img src=x>', '<\u2060b onclick="x()">no <\u2060img src=x>'),
        (
            "(employer:: Northwind), [home phone:: 070] and (std::vector)",
            "employer: Northwind, home phone: 070 and (std::vector)",
        ),
    ],
)
def test_marks_of_html_and_of_fields_inside_a_sentence_are_not_shown_and_what_could_run_is_text(
    text: str, reading: str
) -> None:
    assert shown(text, text) == f"“{reading}” [1]"


def test_code_is_shown_in_a_fence_line_by_line_and_word_for_word() -> None:
    text = "So:\n```dataviewjs\nif [[ -f ==x== ]]; then\n  echo **y**\nfi\n```\n"
    piece = "if [[ -f ==x== ]]; then\n  echo **y**\nfi"
    assert shown(text, piece) == f"```\n{piece}\n```\n[1]"


def test_code_in_a_quote_is_shown_without_the_marks_of_the_quote() -> None:
    assert shown("> ```\n> one\n>   two\n> ```", "one\n>   two") == "```\none\n  two\n```\n[1]"


def test_code_cannot_close_its_own_fence() -> None:
    text = "~~~\n```\n[x](http://x.example)\n~~~"
    assert shown(text, "```\n[x](http://x.example)") == "````\n```\n[x](http://x.example)\n````\n[1]"


def test_a_comment_inside_of_a_sentence_is_not_shown() -> None:
    assert plain("Anna %%the lawyer%% pays.") == "Anna pays."
