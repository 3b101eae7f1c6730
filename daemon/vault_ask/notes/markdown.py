"""Markdown to structure: headings, tags, links, block ids and blocks, each with its lines.

CommonMark with tables and Obsidian's additions, by markdown-it-py. Never fails and never hangs: what is too large or
too tangled to parse is cut at blank lines instead.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from markdown_it.token import Token

from vault_ask.notes.blobs import blob_lines
from vault_ask.notes.inline import block_ids_in, links_in, tags_in, visible_text
from vault_ask.notes.model import Block, BlockKind, Heading, Link, Problem
from vault_ask.notes.obsidian_syntax import obsidian_markdown

_KINDS = {
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    "comment_block": BlockKind.PARAGRAPH,
    "fence": BlockKind.FENCE,
    "code_block": BlockKind.FENCE,
    "math_block": BlockKind.FENCE,
    "table_open": BlockKind.TABLE,
    "list_item_open": BlockKind.LIST_ITEM,
    "blockquote_open": BlockKind.QUOTE,
    "html_block": BlockKind.HTML,
    "hr": BlockKind.RULE,
}
# The parser takes about 1 us a character and, where every line is a block, 70 us a line: 6 s at the most.
_LARGEST, _MOST_LINES = 6_000_000, 60_000
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_PACKED_FENCE = re.compile(r"[\s>]*(?:`{3,}|~{3,})\s*compressed-json\b")
_JSON_FENCE = re.compile(r"[\s>]*(?:`{3,}|~{3,})\s*(?:compressed-)?json\b")
_MD = obsidian_markdown()


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """What Markdown text is made of; lines are of the file."""

    headings: tuple[Heading, ...] = ()
    blocks: tuple[Block, ...] = ()
    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    block_ids: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


def parse_markdown(lines: Sequence[str], *, body_line: int = 1, is_drawing: bool = False) -> Structure:
    """Read the body that starts at `body_line`. `is_drawing` tells that JSON fences hold a drawing's data."""
    body = lines[body_line - 1 :]
    text = "\n".join(body)
    if len(text) > _LARGEST or len(body) > _MOST_LINES:
        return _plain(body, body_line, is_drawing=is_drawing)
    try:
        tokens = _MD.parse(text)
    except RecursionError:
        return _plain(body, body_line, is_drawing=is_drawing)
    inlines = [(token, token.map[0]) for token in tokens if token.type == "inline" and token.map]
    return Structure(
        headings=tuple(_headings(tokens, body_line)),
        blocks=_blocks(_spans(tokens), body, body_line, is_drawing=is_drawing),
        tags=tuple(dict.fromkeys(tag for token, _ in inlines for tag in tags_in(token))),
        links=tuple(link for token, line in inlines for link in links_in(token, body_line + line)),
        block_ids=_block_ids(inlines, body_line),
    )


def _block_ids(inlines: Iterable[tuple[Token, int]], body_line: int) -> dict[str, int]:
    """Each id with its line; the first wins, as in Obsidian."""
    found: dict[str, int] = {}
    for token, line in inlines:
        for name, at in block_ids_in(token, body_line + line):
            found.setdefault(name, at)
    return found


def _headings(tokens: Sequence[Token], body_line: int) -> Iterator[Heading]:
    """Headings at the top level only: those in quotes, callouts and lists are not the note's own."""
    for token, inside in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            yield Heading(level=int(token.tag[1]), text=visible_text(inside), line=body_line + token.map[0])


_Span = tuple[BlockKind, int, int]
"""A kind of block and its half-open 0-based lines within the body."""


def _blocks(spans: Iterable[_Span], body: Sequence[str], body_line: int, *, is_drawing: bool) -> tuple[Block, ...]:
    blobs = blob_lines(body)
    packed = _JSON_FENCE if is_drawing else _PACKED_FENCE
    return tuple(block for span in _filled(spans, body) for block in _cut(span, body, body_line, blobs, packed))


def _spans(tokens: Iterable[Token]) -> Iterator[_Span]:
    """The kind and half-open 0-based lines of each top-level block and of each item of a top-level list."""
    for token in tokens:
        kind = _KINDS.get(token.type)
        depth = 1 if kind is BlockKind.LIST_ITEM else 0
        if kind and token.map and token.level == depth:
            yield kind, token.map[0], token.map[1]


def _filled(spans: Iterable[_Span], body: Sequence[str]) -> Iterator[_Span]:
    """The spans without blank ends, in order and apart, and paragraphs of the lines no token tells of.

    Such lines are definitions of links, and what lies deeper than the parser goes.
    """
    done = 0
    for kind, start, end in spans:
        yield from _runs(body, done, start)
        first, last = max(start, done), end
        while last > first and not body[last - 1].strip():
            last -= 1
        while first < last and not body[first].strip():
            first += 1
        if first < last:
            yield kind, first, last
        done = max(done, end)
    yield from _runs(body, done, len(body))


def _runs(body: Sequence[str], start: int, end: int) -> Iterator[_Span]:
    """Runs of non-blank lines as paragraphs."""
    first = start
    for line in range(start, end + 1):
        if line == end or not body[line].strip():
            if first < line:
                yield BlockKind.PARAGRAPH, first, line
            first = line + 1


def _cut(
    span: _Span, body: Sequence[str], body_line: int, blobs: frozenset[int], packed: re.Pattern[str]
) -> Iterator[Block]:
    """Part a block where packed data begins and ends; a fence of packed data is packed as a whole."""
    kind, start, end = span
    is_packed = any(line.startswith(("`", "~", " ", ">")) and packed.match(line) for line in body[start:end])
    edges = [start, *(at for at in range(start + 1, end) if (at in blobs) != (at - 1 in blobs)), end]
    for first, last in [(start, end)] if is_packed else pairwise(edges):
        yield Block(
            kind=kind,
            line_start=body_line + first,
            line_end=body_line + last - 1,
            embeddable=not (is_packed or first in blobs),
        )


def _plain(body: Sequence[str], body_line: int, *, is_drawing: bool) -> Structure:
    """Read lines without a parser: headings, fences and paragraphs, tags and links by their signs alone."""
    spans = list(_plain_spans(body))
    inlines = [_plain_inline(body, span) for span in spans if span[0] is not BlockKind.FENCE]
    problem = Problem(
        code="markdown-too-large",
        message="The note is too large or too deeply nested to be read as Markdown, so it was read line by line.",
        line=body_line,
    )
    return Structure(
        headings=tuple(_plain_headings(body, spans, body_line)),
        blocks=_blocks(spans, body, body_line, is_drawing=is_drawing),
        tags=tuple(dict.fromkeys(tag for token, _ in inlines for tag in tags_in(token))),
        links=tuple(link for token, line in inlines for link in links_in(token, body_line + line)),
        block_ids=_block_ids(inlines, body_line),
        problems=(problem,),
    )


def _plain_spans(body: Sequence[str]) -> Iterator[_Span]:
    first, fence = 0, ""
    for at, line in enumerate(body):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                yield BlockKind.FENCE, first, at + 1
                first, fence = at + 1, ""
        elif mark or _ATX.match(line[:1000]):
            yield from _runs(body, first, at)
            first, fence = at, mark[1] if mark else ""
            if not mark:
                yield BlockKind.HEADING, at, at + 1
                first = at + 1
    yield from [(BlockKind.FENCE, first, len(body))] if fence else _runs(body, first, len(body))


def _plain_inline(body: Sequence[str], span: _Span) -> tuple[Token, int]:
    return Token("inline", "", 0, content="\n".join(body[span[1] : span[2]]), meta={"unread": True}), span[1]


def _plain_headings(body: Sequence[str], spans: Iterable[_Span], body_line: int) -> Iterator[Heading]:
    for kind, start, _ in spans:
        if kind is BlockKind.HEADING and (found := _ATX.match(body[start][:1000])):
            yield Heading(level=len(found[1]), text=found[2].strip(), line=body_line + start)
