"""What can be quoted alone: a question with its answer, a line with what it announces, a row with its head."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_ask.answering.sentences import LONGEST, sentences
from vault_ask.answering.standalone import standalone


def said(text: str, longest: int = LONGEST) -> list[str]:
    return [one.span.of(text) for one in standalone(text, "Title", longest, of_properties=False)]


def readings(text: str) -> list[str]:
    return [one.reading for one in standalone(text, "Title", of_properties=False)]


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        # A question stands with what answers it, whoever asks, in any script.
        ("Which filter does it take? Type B12. It is old.", ["Which filter does it take? Type B12.", "It is old."]),
        ("Q: When was it?\nA: In 1648. In May.", ["Q: When was it?\nA: In 1648. In May."]),
        ("**F:** När köptes den?\n**S:** I maj.", ["**F:** När köptes den?\n**S:** I maj."]),
        ("قلت: متى وقع؟\nفي مايو.", ["قلت: متى وقع؟\nفي مايو."]),
        ("咖啡机怎么清洗？\n用醋煮一次。", ["咖啡机怎么清洗？\n用醋煮一次。"]),
        ("Who pays?\n\nAnna does. Bo helps.\n\nMore.", ["Who pays?\n\nAnna does. Bo helps.", "More."]),
        ("What to pack?\n- tent\n- stove\n\nMore.", ["What to pack?\n- tent\n- stove", "More."]),
        ("- Who pays?\n  - Anna\n- Who cooks?\n  - Bo", ["Who pays?\n  - Anna", "Who cooks?\n  - Bo"]),
        ("> [!faq] Sauna free?\n> After nine. Book it.", ["Sauna free?\n> After nine. Book it."]),
        ("**Bo:** Hi. When?\n**Li:** At six.\n**Bo:** Ok.", ["**Bo:** Hi.", "When?\n**Li:** At six.", "**Bo:** Ok."]),
        # So does a heading that asks, which is shown beside the quote; and one that does not leaves sentences alone.
        ("## How is it cleaned?\n\nBoil it. Rinse it.\n\nMore. It is.", ["Boil it. Rinse it.", "More.", "It is."]),
        ("## Cleaning\n\nBoil it. Rinse it.", ["Boil it.", "Rinse it."]),
        # A question without an answer stays alone.
        ("Who pays?\n\n## Later\n\nIt rained.", ["Who pays?", "It rained."]),
        ("Who pays? Who cooks?", ["Who pays?", "Who cooks?"]),
        ("Who pays?\n\nWho cooks?\nBo does.", ["Who pays?", "Who cooks?\nBo does."]),
        ("- Shall we move?\n- Buy milk", ["Shall we move?", "Buy milk"]),
        ("It rained. Who pays?\n\nOn Monday we met.", ["It rained.", "Who pays?", "On Monday we met."]),
        # A line that announces something stands with it, a callout's title with its first sentence.
        ("You need:\n\n- flour\n- salt\n\nMore.", ["You need:\n\n- flour\n- salt", "More."]),
        ("> [!warning] Boiler\n> Never twice. It is old.", ["Boiler\n> Never twice.", "It is old."]),
        # Marks that are no text are not quoted: then the answer stands alone.
        ("How is it restarted?\n\n```sh\nrestart it\nlog it\n```", ["restart it\nlog it"]),
        # Code is quoted whole, with the brackets around it.
        ("Before. So.\n```js\n{\n  run(1)\n\n}\n```\nAfter.", ["Before.", "So.", "{\n  run(1)\n\n}", "After."]),
        ("> ```\n> one it\n> two it\n> ```\n> After.", ["one it\n> two it", "After."]),
        ("```\none\n```\n```\ntwo\n```", ["one", "two"]),
        ("What is it?\n?\nA cycle.", ["A cycle."]),
        ("#cards #two\n\nCapital::Oslo", ["Capital::Oslo"]),
    ],
)  # fmt: skip
def test_what_belongs_together_is_one_statement(text: str, statements: list[str]) -> None:
    assert said(text) == statements


def test_code_that_is_too_long_is_quoted_in_as_few_parts_as_fit() -> None:
    lines = [f"run step {number}" for number in range(9)]
    quoted = said("```\n" + "\n".join(lines) + "\n```", longest=40)
    assert quoted == ["\n".join(lines[at : at + 3]) for at in (0, 3, 6)]


def test_an_answer_that_is_quoted_alone_reads_with_its_question() -> None:
    assert readings("How is it restarted?\n\n```sh\nrestart it\n```") == ["How is it restarted? restart it"]
    assert readings("## How is it cleaned?\n\nBoil it.") == ["How is it cleaned? Boil it."]


def test_an_answer_that_is_too_long_is_taken_as_far_as_it_fits() -> None:
    text = "Who pays?\nAnna does. " + "Bo helps her with it. " * 5
    assert said(text, 45)[0] == "Who pays?\nAnna does. Bo helps her with it."
    assert said("Who pays?\n" + "X" * 60, 40)[0] == "Who pays?"
    assert said("## Who pays?\n\nAnna does it. Bo helps her. Li does not. Cy waits.", 30) == [
        "Anna does it. Bo helps her.",
        "Li does not.",
        "Cy waits.",
    ]


def test_a_row_reads_with_the_head_of_its_table_and_is_quoted_as_it_stands() -> None:
    text = "| Zone | Price | |\n| --- | ---: | --- |\n| Harbour | 450 | a |\n| Town | | b |\n\nPaid in May."
    assert said(text) == ["| Harbour | 450 | a |", "| Town | | b |", "Paid in May."]
    assert readings(text) == ["Zone: Harbour, Price: 450, a", "Zone: Town, b", "Paid in May."]


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("> | A | B |\n> |---|---|\n> | 1 | 2 |", "A: 1, B: 2"),
        ("A | B\n--|--\n1 | 2", "A: 1, B: 2"),
        ("| A | B |\n|---|---|\n| x \\| y | 2 |", "A: x \\| y, B: 2"),
        ("| 1 | 2 |", "| 1 | 2 |"),
        ("It is 1 | 2 here.", "It is 1 | 2 here."),
    ],
)
def test_tables_are_told_from_bars(text: str, reading: str) -> None:
    assert readings(text)[-1] == reading


def test_an_item_of_an_outline_reads_behind_the_one_above_it_and_is_quoted_alone() -> None:
    outline = (
        "- Flat in Lund\n\t- [ ] rent:: 1280\n\t- Old stairs. Dark.\n\t\t- since 1920\n- Flat in Ystad\n\nIt rained."
    )
    found = standalone(outline, "Title", of_properties=False)
    assert [(one.span.of(outline), one.reading, one.above) for one in found] == [
        ("Flat in Lund", "Flat in Lund", ""),
        ("[ ] rent:: 1280", "Flat in Lund rent:: 1280", "Flat in Lund "),
        ("Old stairs.", "Flat in Lund Old stairs.", "Flat in Lund "),
        ("Dark.", "Flat in Lund Dark.", "Flat in Lund "),
        ("since 1920", "Dark. since 1920", "Dark. "),
        ("Flat in Ystad", "Flat in Ystad", ""),
        ("It rained.", "It rained.", ""),
    ]


PIECES = st.sampled_from(
    [
        "Who pays?",
        "Anna.",
        "You need:",
        "\n",
        "\n\n",
        "- ",
        "## ",
        "> ",
        "[!faq] ",
        "```\n",
        " ",
        "| a | b |",
        "|--|--|",
        "?",
    ]
)


@given(st.lists(PIECES, max_size=25).map("".join), st.integers(10, 60))
def test_whatever_the_text_nothing_is_quoted_twice_or_lost_but_questions(text: str, longest: int) -> None:
    spans = [one.span for one in standalone(text, "Title", longest, of_properties=False)]
    assert all(0 < span.end - span.start <= longest for span in spans)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    openings = ("?", ":", "pays?\n?")
    for sentence in sentences(text, longest):
        is_held = any(span.start <= sentence.start and sentence.end <= span.end for span in spans)
        assert is_held or sentence.of(text).endswith(openings) or "[!" in text
