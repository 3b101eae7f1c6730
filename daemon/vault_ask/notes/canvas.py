"""JSON Canvas to structure, and where in the file the words of its cards stand.

A card's text lies in one JSON string with escapes, so no passage of several lines is verbatim in the file. A canvas
is therefore cut at escaped line breaks and tabs: each line of a card is a passage of its own, quoted exactly as the
file has it; where other escapes are left in it, the prelude carries the decoded words, so that they are found.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite

from vault_ask.notes.fold import storable
from vault_ask.notes.markdown import Structure, parse_markdown
from vault_ask.notes.model import Block, BlockKind, Heading, Link, LinkKind, Problem

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|[{}\[\]:,]', re.DOTALL)
_BREAK = re.compile(r"\\[nrt]")
_ESCAPE = re.compile(r"\\")
_SHOWN = frozenset({("nodes", "text"), ("nodes", "label"), ("edges", "label")})
_ITEM_DEPTH = 3  # the root, its list of nodes or edges, one of them


@dataclass(frozen=True, slots=True)
class CanvasText:
    """A line of a card or a label: its half-open span in the file's text, and the headings above it in its card.

    `decoded` is empty where the span reads as it is.
    """

    start: int
    end: int
    heading_path: tuple[str, ...]
    decoded: str


@dataclass(frozen=True, slots=True)
class _String:
    """A JSON string of a node or edge: in which list, under which key, the span between its quotes, and its line."""

    owner: str
    key: str
    start: int
    end: int
    line: int


def parse_canvas(lines: Sequence[str]) -> Structure:
    """Read a canvas: wikilinks and tags of its cards, the notes it shows. A broken one is plain text with a Problem."""
    text = "\n".join(lines)
    blocks = tuple(
        Block(kind=BlockKind.PARAGRAPH, line_start=at, line_end=at) for at, line in enumerate(lines, 1) if line.strip()
    )
    if not text.strip():
        return Structure()
    data = _loaded(text)
    if data is None:
        message = (
            "The canvas is not valid JSON, so it was indexed as plain text. Open it in Obsidian and save it again."
        )
        return Structure(blocks=blocks, problems=(Problem(code="canvas-unreadable", message=message),))
    cards = [(found.line, _decode(text, found)) for found in _strings(text, _SHOWN)]
    inside = [(line, parse_markdown(card.split("\n"))) for line, card in cards]
    links = [replace(link, line=line) for line, card in inside for link in card.links]
    return Structure(
        blocks=blocks,
        tags=tuple(dict.fromkeys(tag for _, card in inside for tag in card.tags)),
        links=(*links, *_files(data, text)),
        block_ids={},
    )


def canvas_properties(lines: Sequence[str]) -> dict[str, object]:
    """The properties of a canvas: plugins keep what a note has in its frontmatter under `metadata.frontmatter`.

    Texts, numbers and lists of them; what lies deeper says nothing that is asked for.
    """
    data = _loaded("\n".join(lines))
    metadata = data.get("metadata") if data else None
    written = metadata.get("frontmatter") if isinstance(metadata, dict) else None
    return {storable(key): _plain(value) for key, value in written.items()} if isinstance(written, dict) else {}


def _plain(value: object) -> object:
    match value:
        case str():
            return storable(value)
        case list():
            return [_plain(item) for item in value if not isinstance(item, list | dict)]
        case dict():
            return None
        case float() if not isfinite(value):
            return None
        case _:
            return value


def canvas_texts(path: str, text: str) -> list[CanvasText] | None:
    """Where the words of a canvas stand; None when this is no canvas, or no readable one."""
    if not path.lower().endswith(".canvas") or not text.strip() or _loaded(text) is None:
        return None
    return [line for found in _strings(text, _SHOWN) for line in _card_lines(text, found)]


def _loaded(text: str) -> dict[str, object] | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _strings(text: str, wanted: frozenset[tuple[str, str]]) -> Iterator[_String]:
    """Find the wanted strings of nodes and edges with their places, which the json module does not tell."""
    keys: list[str] = []
    key, after_colon = "", False
    line, counted = 1, 0
    for token in _TOKEN.finditer(text):
        match token[0]:
            case "{" | "[":
                keys.append(key)
                key, after_colon = "", False
            case "}" | "]":
                key, after_colon = keys.pop(), False
            case ":":
                after_colon = True
            case ",":
                after_colon = False
            case _ if after_colon and len(keys) == _ITEM_DEPTH and (keys[1], key) in wanted:
                line, counted = line + text.count("\n", counted, token.start()), token.start()
                yield _String(keys[1], key, token.start(1), token.end(1), line)
            case _ if not after_colon:
                key = token[1]


def _decode(text: str, found: _String) -> str:
    decoded = json.loads(f'"{text[found.start : found.end]}"', strict=False)
    return storable(str(decoded).replace("\r\n", "\n").replace("\r", "\n"))


def _card_lines(text: str, found: _String) -> Iterator[CanvasText]:
    """The lines of one card, with the headings they stand under."""
    headings = parse_markdown(_decode(text, found).split("\n")).headings if found.key == "text" else ()
    line = 1
    start = found.start
    for end, stop, breaks in _breaks(text, found):
        if text[start:end].strip():
            raw = text[start:end]
            decoded = _decode(text, replace(found, start=start, end=end)) if _ESCAPE.search(raw) else ""
            yield CanvasText(start, end, _path_at(headings, line), decoded)
        line += breaks
        start = stop


def _breaks(text: str, found: _String) -> Iterator[tuple[int, int, int]]:
    """Where each piece ends, where the next starts, and 1 if that is a new line; an escaped backslash is no break."""
    at = found.start
    while (at := text.find("\\", at, found.end)) >= 0:
        if escape := _BREAK.match(text, at, found.end):
            yield at, escape.end(), 1 if escape[0] == "\\n" else 0
        at += 2
    yield found.end, found.end, 0


def _path_at(headings: Sequence[Heading], line: int) -> tuple[str, ...]:
    path: list[Heading] = []
    for heading in headings:
        if heading.line <= line:
            path = [*(above for above in path if above.level < heading.level), heading]
    return tuple(heading.text for heading in path if heading.text)


def _files(data: dict[str, object], text: str) -> Iterator[Link]:
    """The notes that a canvas shows, as embeds, on the line of their node's path."""
    nodes = data.get("nodes")
    places = iter(_strings(text, frozenset({("nodes", "file")})))
    for node in nodes if isinstance(nodes, list) else []:
        if not isinstance(node, dict) or not isinstance(node.get("file"), str):
            continue
        place = next(places, None)
        line = place.line if place else 1
        heading, block = _subpath(node.get("subpath"))
        target = storable(node["file"]).strip()
        if target:
            yield Link(kind=LinkKind.EMBED, target=target, heading=heading, block=block, line=line)


def _subpath(subpath: object) -> tuple[str | None, str | None]:
    """A heading, or a block id when the part after # starts with ^."""
    part = storable(subpath).removeprefix("#").strip() if isinstance(subpath, str) else ""
    return (None, part[1:] or None) if part.startswith("^") else (part or None, None)
