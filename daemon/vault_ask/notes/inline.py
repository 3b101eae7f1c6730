"""What stands inside one run of Markdown text: tags, links, block ids, and the words a reader sees."""

import re
from collections.abc import Iterable, Iterator, Sequence

from markdown_it.token import Token

from vault_ask.notes.links import markdown_link, tag_key, wikilink
from vault_ask.notes.model import Link, LinkKind

# A tag ends at white space and at all punctuation but - / _ ; emoji and letters of any script belong to it.
_TAG = re.compile(
    r"""(?<![^\s(\[{"'“‘«,;>|])\#([^\s\x00-\x2c.:-@\[-^`{-\x7f\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f"""
    r"""\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufffc]+)"""
)
_HEX = re.compile(r"[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8}", re.IGNORECASE)
_BLOCK_ID = re.compile(r"(?:^|(?<=\s))\^([\w-]+)\s*$")
_RAW_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n]{1,2000})\]\]")
_RAW_CODE = re.compile(r"`[^`\n]{1,1000}`|%%[^%]{0,1000}%%")
_OPAQUE = "￼"  # stands for code, math and links: no letter, no space, ends a tag
_SHORT_HEX = 4


def tags_in(token: Token) -> Iterator[str]:
    """The folded tags of an inline token, outside code, math, comments, HTML and the text of links."""
    text = _RAW_CODE.sub(_OPAQUE, token.content) if token.children is None or "unread" in token.meta else ""
    for found in _TAG.finditer(text or _scannable(token.children or ())):
        tag = tag_key(found[1])
        if not all(char.isdigit() or char == "/" for char in tag) and not _is_colour(tag):
            yield tag


def links_in(token: Token, first_line: int) -> Iterator[Link]:
    """The links of an inline token whose text starts at this line of the file."""
    if "unread" in token.meta:
        yield from _raw_links(token.content, first_line)
        return
    for child, text in _with_link_text(token.children or ()):
        line = first_line + token.content.count("\n", 0, child.meta.get("at", 0))
        if found := _link(child, text, line):
            yield found


def block_ids_in(token: Token, first_line: int) -> Iterator[tuple[str, int]]:
    """The ` ^ids` at the ends of lines, each with its line."""
    if "^" in token.content:
        for line, text in enumerate(token.content.split("\n"), first_line):
            if found := _BLOCK_ID.search(text):
                yield found[1], line


def visible_text(token: Token) -> str:
    """The words a reader sees: no markup, links by their alias."""
    if not token.children:
        return " ".join(token.content.split())
    return " ".join("".join(map(_visible, token.children)).split())


def _visible(token: Token) -> str:
    match token.type:
        case "softbreak" | "hardbreak":
            return " "
        case "wikilink":
            place, _, alias = token.content.replace("\\|", "|").partition("|")
            return alias.strip() or " > ".join(part.strip() for part in place.split("#") if part.strip())
        case "comment" | "html_inline":
            return ""
        case _:
            return token.content


def _scannable(children: Iterable[Token]) -> str:
    """The text where a tag may stand, everything else replaced by one opaque sign."""
    parts: list[str] = []
    depth = 0
    for child in children:
        depth += child.nesting if child.type.startswith("link_") else 0
        if child.type == "text":
            parts.append(_OPAQUE if depth else child.content)
        elif child.type in {"softbreak", "hardbreak"}:
            parts.append("\n")
        elif child.nesting == 0:
            parts.append(_OPAQUE)
    return "".join(parts)


def _is_colour(tag: str) -> bool:
    """Tell #ff8800 from #decade and #e2e: a colour has digits (two, if it is short) or says each letter twice."""
    if not _HEX.fullmatch(tag):
        return False
    digits = sum(map(str.isdigit, tag))
    doubled = len(set(tag)) == 1 or (len(tag) > _SHORT_HEX and tag[::2] == tag[1::2])
    return doubled or digits >= (2 if len(tag) <= _SHORT_HEX else 1)


def _with_link_text(children: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """Each token that may be a link, with the text that a Markdown link shows."""
    for at, child in enumerate(children):
        if child.type == "link_open":
            close = next((n for n in range(at + 1, len(children)) if children[n].type == "link_close"), len(children))
            yield child, "".join(map(_visible, children[at + 1 : close]))
        elif child.type in {"wikilink", "image"}:
            yield child, child.content


def _link(token: Token, text: str, line: int) -> Link | None:
    if token.type == "wikilink":
        return wikilink(token.content, LinkKind.EMBED if token.markup else LinkKind.WIKILINK, line)
    if token.type == "image":
        return markdown_link(str(token.attrGet("src") or ""), LinkKind.EMBED, line, alias=text or None)
    return markdown_link(str(token.attrGet("href") or ""), LinkKind.MARKDOWN, line, alias=text or None)


def _raw_links(content: str, first_line: int) -> Iterator[Link]:
    """Wikilinks of a text too long to be parsed, by their brackets alone."""
    for line, text in enumerate(content.split("\n"), first_line):
        for found in _RAW_WIKILINK.finditer(_RAW_CODE.sub(_OPAQUE, text)):
            if link := wikilink(found[2], LinkKind.EMBED if found[1] else LinkKind.WIKILINK, line):
                yield link
