import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_ask.notes.model import FrontmatterState, LinkKind, Note
from vault_ask.notes.parse import parse
from vault_ask.notes.sensitivity import Rules

RULES = Rules.compile(["Private/**"], "sensitivity")


def note(text: str | bytes, path: str = "N.md") -> Note:
    return parse(path, text if isinstance(text, bytes) else text.encode(), RULES)


def test_the_title_is_the_property_or_the_files_name() -> None:
    assert note("---\ntitle: 2026-05-02\n---\n# Other").title == "2026-05-02"
    assert note("# Heading\ntext", "Area/v1.2 release.md").title == "v1.2 release"
    assert note("---\ntitle: [a, b]\n---\n", "Guide #7 to knots!.md").title == "Guide #7 to knots!"


def test_tags_of_properties_and_text_come_together() -> None:
    assert note("---\ntags: [Work, food]\n---\n#work #åter/möte").tags == ("work", "food", "åter/möte")


def test_links_of_properties_and_text_know_their_lines() -> None:
    found = note("---\ntitle: x\nup: [[Parent]]\n---\n\ntext [[Kid]]").links
    assert [(link.kind, link.target, link.line) for link in found] == [
        (LinkKind.TOPIC, "Parent", 3),
        (LinkKind.WIKILINK, "Kid", 6),
    ]


def test_lines_are_those_of_the_file_with_frontmatter() -> None:
    parsed = note("\ufeff---\r\na: 1\r\n---\r\n# H\r\ntext\r\n")
    assert parsed.lines == ("---", "a: 1", "---", "# H", "text")
    assert (parsed.body_line, parsed.headings[0].line, parsed.body) == (4, 4, "# H\ntext")


def test_odd_line_separators_do_not_shift_the_lines() -> None:
    assert note("a\x0b\x0cb\u2028c\x85d\ne").lines == ("a\x0b\x0cb\u2028c\x85d", "e")


def test_an_unclosed_block_gives_no_title_and_no_tags() -> None:
    parsed = note("---\ntitle: x\ntags: [a]\ntext")
    assert (parsed.title, parsed.tags, parsed.frontmatter_state) == ("N", (), FrontmatterState.UNCLOSED)
    assert parsed.body_line == 1


def test_everything_odd_about_a_note_is_told() -> None:
    parsed = note(b"---\nsensitivity: maybe\n---\nSm\xf6rg\xe5s \x00")
    assert [problem.code for problem in parsed.problems] == ["not-utf8", "nul", "sensitivity-value"]


@pytest.mark.parametrize("path", ["a.MD", "x/A.Canvas", ".md", "x/ .md", "no suffix"])
def test_every_note_has_a_title(path: str) -> None:
    assert note("{}", path).title.strip()


@settings(deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["a.md", "a.canvas"]))
def test_any_bytes_are_a_note(content: bytes, path: str) -> None:
    parsed = note(content, path)
    "\n".join(parsed.lines).encode("utf-8")
    assert all(1 <= block.line_start <= block.line_end <= len(parsed.lines) for block in parsed.blocks)
