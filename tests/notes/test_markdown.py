import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_ask.notes.markdown import Structure, parse_markdown
from vault_ask.notes.model import BlockKind, LinkKind


def read(text: str, *, is_drawing: bool = False) -> Structure:
    return parse_markdown(text.split("\n"), is_drawing=is_drawing)


def links(text: str) -> list[tuple[str, str, str | None, str | None, str | None]]:
    return [(link.kind.value, link.target, link.heading, link.block, link.alias) for link in read(text).links]


SETUP = (
    "# Setup\nintro alpha\n\n~~~sh\n# not a heading 1\n~~~\n\n````md\n```\n# not a heading 2\n```\n# not a heading 3\n"
    "````\n\n## C#\nsharp text\n\n---\n\nbetween the rules: kiwi\n\n---\n\n## Tail ##\nend text\n\n```python\n"
    "# unclosed fence, not a heading 4\nlast line mango\n"
)


def test_headings_are_not_found_in_fences_and_keep_a_final_sharp() -> None:
    assert [(h.level, h.text, h.line) for h in read(SETUP).headings] == [
        (1, "Setup", 1),
        (2, "C#", 15),
        (2, "Tail", 24),
    ]


def test_an_unclosed_fence_is_one_block_to_the_end() -> None:
    last = read(SETUP).blocks[-1]
    assert (last.kind, last.line_start, last.line_end) == (BlockKind.FENCE, 27, 29)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Setext *one*\n===\n", "Setext one"),
        ("## A [[x|y]] `c` **b** [l](u) <b>k</b> ![[pic.png]] %%no%% ##", "A y c b l k pic.png"),
        ("# [[Note#Part]]", "Note > Part"),
        ("### Åter \\#1", "Åter #1"),
        ("#\ttab", "tab"),
    ],
)
def test_a_heading_is_told_as_a_reader_sees_it(text: str, expected: str) -> None:
    assert [heading.text for heading in read(text).headings] == [expected]


@pytest.mark.parametrize(
    "text", ["> # q", "> [!note] # t\n> # q", "- # item", "    # code", "#tag", "%%\n# c\n%%", "<div>\n# h\n</div>"]
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    found = read(f"{text}\n\n# Real\n")
    assert [heading.text for heading in found.headings] == ["Real"]


def test_tags_are_nested_folded_and_not_found_in_code_links_or_comments() -> None:
    found = read(
        'Order #42 and `#ff8800` and <span style="color:#eeeeaa">x</span> and https://example.org/p#frag\n'
        "[part #2/5](https://example.org)\n```\n#codetag [[Ghost Code]]\n```\n%% #hidden [[Ghost Comment]] %%\n"
        "Inline `[[Ghost Inline]]`\nReal: #Work/Urgent #åter/möte [[Real]]\n"
    )
    assert found.tags == ("work/urgent", "åter/möte")
    assert [link.target for link in found.links] == ["Real"]


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#ff8800 #fff #00f #FFAA00 #aabbcc #decade #e2e #b2b", ("decade", "e2e", "b2b")),
        (
            "**#bold** (#paren) a#no \\#esc &#35;ent #snake_case_x #a-b. #end!",
            ("bold", "paren", "snake_case_x", "a-b", "end"),
        ),
        ("#2024 #2024-05 #2/5 #y2024 #家賃 #🍎 #İş/Toplantı", ("2024-05", "y2024", "家賃", "🍎", "iş/toplantı")),
        ("$#m$ $$a #b$$ <!-- #c --> x %% #d", ()),
        ("%% #no\n#no %% #yes\n\n$$\n#no\n$$ #too\n\n> %%\n> #no\n> %% #q %% #no %%", ("yes", "too", "q")),
        ("$$\n#no\n$$\n\n<!--\n#no\n-->\n\n%%\n#no\n\n#no\n%%\n#yes", ("yes",)),
        (
            "| a | #cell |\n|---|---|\n| #x/y/ | b |\n\n> #quote\n\n- #item\n  - #deep\n\n# Head #h",
            ("cell", "x/y", "quote", "item", "deep", "h"),
        ),
        ("costs $5 and #five is $6 more", ("five",)),
    ],
)
def test_tags_stand_where_obsidian_finds_them(text: str, tags: tuple[str, ...]) -> None:
    assert read(text).tags == tags


def test_links_of_every_form_reach_their_target() -> None:
    text = (
        "| what | where |\n|---|---|\n| x | [[Plan B\\|the plan]] |\n\n[a](Area/My%20Note.md) and "
        "[b](<Area/My Note.md>) and [c](My%20Note.md#Part%20two)\n[[Plan B#Goals|goals]] ![[Plan B]]\n"
        "[site](https://example.org/My%20Note.md) [[obsidian://open?file=x]]\n"
    )
    assert [(link.line, link.target) for link in read(text).links] == [
        (3, "Plan B"),
        (5, "Area/My Note.md"),
        (5, "Area/My Note.md"),
        (5, "My Note.md"),
        (6, "Plan B"),
        (6, "Plan B"),
    ]
    assert links(text)[0] == ("wikilink", "Plan B", None, None, "the plan")
    assert links(text)[3] == ("markdown", "My Note.md", "Part two", None, "c")
    assert links(text)[4:] == [("wikilink", "Plan B", "Goals", None, "goals"), ("embed", "Plan B", None, None, None)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[#Heading]]", ("wikilink", "", "Heading", None, None)),
        ("[[n#^block]]", ("wikilink", "n", None, "block", None)),
        ("[[x^2]]", ("wikilink", "x^2", None, None, None)),  # Obsidian parts a link at # alone
        ("[[x^2#^b]]", ("wikilink", "x^2", None, "b", None)),
        ("![[a/b.md#h|100]]", ("embed", "a/b.md", "h", None, "100")),
        ("[x](<50% plan & co.md>)", ("markdown", "50% plan & co.md", None, None, "x")),
        ("[y](100%25.md#^b1)", ("markdown", "100%.md", None, "b1", "y")),
        ("[y](a%23b.md)", ("markdown", "a#b.md", None, None, "y")),
        ("![alt](pic.png)", ("embed", "pic.png", None, None, "alt")),
        ("[see][r]\n\n[r]: Ref%20Note.md", ("markdown", "Ref Note.md", None, None, "see")),
        ("> [!tip] [[In callout]]", ("wikilink", "In callout", None, None, None)),
        ("[^1]: [[Footnote]]", ("wikilink", "Footnote", None, None, None)),
    ],
)
def test_a_link_is_parted_into_target_place_and_alias(text: str, expected: tuple[str, ...]) -> None:
    assert links(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "[a](javascript:x) [[javascript:alert(1)]]",
        "[a](obsidian://open?file=x)",
        "<https://x.y/#z>",
        "[m](mailto:a@b.c)",
        "`[[a]]`",
        "```\n[[a]]\n```",
        "    [[a]]",
        "%% [[a]] %%",
        "%%\n[[a]]\n\n[[b]]\n%%",
        "$[[a]]$",
        "<!-- [[a]] -->",
        "[[]] [[ ]] []() [[a\nb]]",
        "\\[[a]]",
        "[d](data:text/html,x)",
        "%% never closed [[a]]",
        "[u](//host/x)",
    ],
)
def test_what_is_no_link_to_a_note_makes_no_edge(text: str) -> None:
    assert [target for _, target, *_ in links(f"[[Real]]\n\n{text}")] == ["Real"]


def test_links_know_their_line_in_a_long_paragraph() -> None:
    found = read("one `x\ny` [[A]]\n**b\nc** [d](D.md)\n\n> q\n> [[Q]]\n\n- i\n  - [[I]]")
    assert [(link.target, link.line) for link in found.links] == [("A", 2), ("D.md", 4), ("Q", 7), ("I", 10)]


def test_block_ids_are_found_at_line_ends_and_not_in_code() -> None:
    found = read(
        "text ^end\n\n- item ^i1\n- two\n\n| a |\n|---|\n| b |\n\n^tab-1\n\n```\ncode ^no\n```\nx^2\nagain ^end"
    )
    assert found.block_ids == {"end": 1, "i1": 3, "tab-1": 10}


def test_list_items_are_blocks_with_all_that_is_in_them() -> None:
    found = read("- one\n  - in\n\n    para\n- two\n\n1. a\n2. b")
    spans = [(block.kind, block.line_start, block.line_end) for block in found.blocks]
    assert spans == [(BlockKind.LIST_ITEM, a, b) for a, b in ((1, 4), (5, 5), (7, 7), (8, 8))]


def test_a_base64_line_is_apart_from_the_text_around_it() -> None:
    found = read("diagram below\n![](data:image/png;base64," + "iVBORw0KGgo" * 5000 + ")\ncaption: blue heron")
    assert [(block.line_start, block.embeddable) for block in found.blocks] == [(1, True), (2, False), (3, True)]


def test_a_bare_run_of_base64_is_no_text_and_a_long_address_is() -> None:
    found = read("QUJDREVG" * 40 + "\n\n" + "https://example.org/" + "long-path.of/words?q=" * 30)
    assert [block.embeddable for block in found.blocks] == [False, True]


def test_wrapped_base64_is_no_text() -> None:
    found = read(
        "key:\n\n" + ("QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2\n" * 4) + "QUJD==\n\nafter"
    )
    assert [block.embeddable for block in found.blocks] == [True, False, True]


def test_drawings_are_no_text() -> None:
    packed = read("# Text\nwords\n%%\n## Drawing\n```compressed-json\nN4KAk\n\nabc\n```\n%%\n")
    assert [(block.line_start, block.embeddable) for block in packed.blocks] == [(1, True), (2, True), (3, False)]
    fence = "```json\n{}\n```"
    assert [block.embeddable for block in read(fence, is_drawing=True).blocks + read(fence).blocks] == [False, True]


@pytest.mark.parametrize(
    "text", ["เตาเผา" * 700, "家賃交渉" * 900, "ひらがな" * 900, "한국어" * 900, "long words " * 900]
)
def test_text_of_scripts_without_spaces_stays_text(text: str) -> None:
    assert [block.embeddable for block in read(text).blocks] == [True]


def covers_every_line_once(text: str) -> bool:
    lines = text.split("\n")
    covered = [at for block in read(text).blocks for at in range(block.line_start, block.line_end + 1)]
    wanted = {at for at, line in enumerate(lines, 1) if line.strip()}
    return covered == sorted(set(covered)) and wanted <= set(covered)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "# h",
                "## h ##",
                "text",
                "",
                "",
                "- i",
                "  - j",
                "    k",
                "1. n",
                "> q",
                "> # q",
                "```",
                "~~~",
                "|a|b|",
                "|-|-|",
                "---",
                "===",
                "%%",
                "$$",
                "<div>",
                "<!--",
                "-->",
                "[a]: b",
                "[^1]: f",
                "\tcode",
                "[[x]] #t ^id",
                "%% c %% d",
                "   ",
                "> - - a",
                "\x0b",
                "\u2028",
            ]
        ),
        max_size=25,
    )
)
def test_blocks_cover_every_line_that_is_not_blank_exactly_once(lines: list[str]) -> None:
    assert covers_every_line_once("\n".join(lines))


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from(list("#[]()!|`~$%^<>-*_=&\\ \n\taé1")), max_size=120))
def test_any_signs_are_read_without_error(text: str) -> None:
    assert covers_every_line_once(text)


@pytest.mark.parametrize(
    "text",
    [
        ">" * 5000 + " a",
        "- " * 5000,
        "[" * 300_000,
        "![[" * 100_000,
        "<!-- " * 60_000,
        "[a](" * 60_000,
        "$5 " * 100_000,
        "- a\n" * 100_000,
        "# a\n" * 10_000,
        "a" * 1_000_000,
        "`a ``b " * 50_000,
        "\n".join(" " * n + "- a" for n in range(700)),
        "$$a\n\n" * 20_000,
        "%%a\nb\n" * 20_000,
        "[a [b](c\n\n" * 5_000,
        "**a _b " * 60_000,
        "|a" * 100_000,
    ],
)
def test_no_input_takes_long_or_too_deep(text: str) -> None:
    start = time.process_time()
    assert read(text).blocks
    assert time.process_time() - start < 10


def test_a_note_too_large_for_the_parser_keeps_headings_links_and_tags() -> None:
    found = read("# Big\n```\n# no\n```\n" + "line [[Here]] #tag\n" * 61_000 + "\n## End\nlast ^fin\n")
    assert [problem.code for problem in found.problems] == ["markdown-too-large"]
    assert [heading.text for heading in found.headings] == ["Big", "End"]
    assert (found.tags, len(found.links), found.block_ids) == (("tag",), 61_000, {"fin": 61_007})
    assert found.links[0].line == 5
    assert found.links[0].kind is LinkKind.WIKILINK
