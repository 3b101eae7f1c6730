from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_ask.answering.citations import CitationFilter
from vault_ask.answering.context import Excerpt


def excerpt(n: int, path: str, *headings: str, title: str = "") -> Excerpt:
    return Excerpt(
        n=n,
        path=path,
        title=title or path.rpartition("/")[2].removesuffix(".md"),
        heading_path=headings,
        text="text",
        line_start=1,
        line_end=1,
        score=1.0,
    )


CONTEXT = (
    excerpt(1, "Housing/Rent.md", "Rent"),
    excerpt(2, "Housing/Rent.md", "Rent", "Deposit"),
    excerpt(3, "Guide #7 to knots!.md", title="Knots"),
)


def shown(*pieces: str) -> tuple[str, list[int], int]:
    citing = CitationFilter(CONTEXT)
    text = "".join(map(citing.feed, pieces)) + citing.close()
    assert all(text.startswith(f"[{mark.n}]", mark.at) for mark in citing.marks)
    return text, [mark.n for mark in citing.marks], citing.removed


@pytest.mark.parametrize(
    ("reply", "text", "cited", "removed"),
    [
        ("Rent is 9200 [1].", "Rent is 9200 [1].", [1], 0),
        ("Rent is 9200 [9].", "Rent is 9200.", [], 1),
        ("Rent [1, 9] and [2,3]", "Rent [1] and [2][3]", [1, 2, 3], 1),
        ("[^1] [^9] [source 2] [Source: 9] [Excerpt 3]", "[1] [2] [3]", [1, 2, 3], 2),
        ("[1-3] and [2–9]", "[1][2][3] and [2][3]", [1, 2, 3, 2, 3], 6),
        ("【1】【2†source】［9］", "[1][2]", [1, 2], 1),
        ("[١] 和 [２]", "[1] 和 [2]", [1, 2], 0),
        ("[0]", "", [], 1),
        ("[sic] [1984] [x] a [b c] [ ]", "[sic] [1984] [x] a [b c] [ ]", [], 0),
        ("an [ open bracket\nand [[ another", "an [ open bracket\nand [[ another", [], 0),
    ],
)
def test_a_marker_stays_where_its_excerpt_is_in_the_context(
    reply: str, text: str, cited: list[int], removed: int
) -> None:
    assert shown(reply) == (text, cited, removed)


@pytest.mark.parametrize(
    ("reply", "text", "cited", "removed"),
    [
        ("See [[Rent]].", "See [1].", [1], 0),
        ("See [[housing/RENT.md]].", "See [1].", [1], 0),
        ("See [[Rent|the note]].", "See the note [1].", [1], 0),
        (r"| [[Rent\|here]] |", "| here [1] |", [1], 0),
        ("See [[Rent#Deposit]].", "See [2].", [2], 0),
        ("See [[Rent#No such heading|here]].", "See here [1].", [1], 0),
        ("See ![[Rent]] and ![[Other]].", "See [1] and Other.", [1], 1),
        ("See [[Invented note]], [[Private/Loan|loan]].", "See Invented note, loan.", [], 2),
        ("See [[Elsewhere/Rent]].", "See Elsewhere/Rent.", [], 1),
        ("See [[Knots]].", "See [3].", [3], 0),
        ("[rent](Housing/Rent.md) [x](No%20note.md)", "rent [1] x", [1], 1),
        ("[rent](<Housing/Rent.md>)", "rent [1]", [1], 0),
        ("[1](Housing/Rent.md) [9](https://example.org)", "[1]", [1], 1),
        ("![a chart](https://evil.example/?d=9200) it is", "a chart it is", [], 0),
        ("![](//evil.example/p.png)9200 ![x](data:image/png;base64,AA)", "9200 x", [], 0),
        ("[site](https://example.org/a(b)c) ![i](x.png)", "[site](https://example.org/a(b)c) ![i](x.png)", [], 0),
        ("obsidian://open?vault=v&file=Housing%2FRent.", "Rent [1].", [1], 0),
        ("<obsidian://open?vault=v&file=Private%2FLoan>", "Loan", [], 1),
        ("[go](obsidian://open?vault=v&file=Rent%23Deposit)", "go [2]", [2], 0),
        ("[go](obsidian://open?vault=v&file=Loan) obs obsidian: x", "go obs obsidian: x", [], 1),
    ],
)
def test_a_link_becomes_a_citation_of_the_context_or_plain_words(
    reply: str, text: str, cited: list[int], removed: int
) -> None:
    assert shown(reply) == (text, cited, removed)


@pytest.mark.parametrize(
    "reply",
    [
        "Use `a[9]` and ``b ` [9]`` here",
        "So:\n```python\nx = a[9]  # [[Private/Loan]]\n```\n",
        "1. ~~~\n   a[9]\n   ~~~\n",
        "```\nnever closed [9]",
    ],
)
def test_code_is_left_alone(reply: str) -> None:
    assert shown(reply) == (reply, [], 0)


def test_what_follows_code_is_judged_again() -> None:
    assert shown("```\n[9]\n```\nand [9] `unclosed [9]\nnext [1]") == (
        "```\n[9]\n```\nand `unclosed\nnext [1]",
        [1],
        2,
    )


def test_plain_words_are_not_held_back() -> None:
    citing = CitationFilter(CONTEXT)
    assert citing.feed("Rent is") == "Rent is"
    assert citing.feed(" 9200 [") == " 9200"
    assert citing.feed("1") == ""
    assert citing.feed("], I think") == " [1], I think"


BRACKETS = "[ ] [[ ]] ( ) ! | # ` ``` ~~~ ^ < > 【 】"
WORDS = "1 9 12 , - Rent Deposit Other source word .md obsidian:// open?file= https://x.y"
REPLIES = st.lists(st.sampled_from([*BRACKETS.split(), *WORDS.split(), " ", "\n", "\n\n", "source "]), max_size=25).map(
    "".join
)


@given(REPLIES, st.lists(st.integers(0, 120), max_size=12))
def test_any_split_of_the_stream_shows_the_same(reply: str, cuts: list[int]) -> None:
    ends = sorted({min(cut, len(reply)) for cut in cuts} | {0, len(reply)})
    pieces = [reply[start:end] for start, end in pairwise(ends)]
    assert shown(*pieces) == shown(reply)
    assert shown(*reply) == shown(reply)


@given(REPLIES)
def test_no_marker_and_no_link_outside_the_context_is_ever_shown(reply: str) -> None:
    reply = reply.replace("`", "").replace("~", "")
    text, cited, _ = shown(reply)
    assert set(cited) <= {1, 2, 3}
    assert "[9]" not in text
    assert "[12]" not in text
    assert "[[Other]]" not in text


def test_a_long_unclosed_bracket_is_let_go_in_the_end() -> None:
    reply = "[[" + "word " * 400 + "[1]"
    assert shown(reply) == shown(*reply)
    assert shown(reply)[1] == [1]
