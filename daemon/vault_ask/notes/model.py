"""The values that a note is made of. Frozen, and free of any idea of storage.

Lines are 1-based and inclusive, counted in the file as it lies in the vault, frontmatter included. A note's text has
its line ends normalised to LF (CRLF and a lone CR are line ends, as in Obsidian's editor) and no byte order mark.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from vault_ask.scope import Sensitivity


class LinkKind(StrEnum):
    """Why one note points at another."""

    WIKILINK = "wikilink"
    EMBED = "embed"
    MARKDOWN = "markdown"
    TOPIC = "topic"
    TAG = "tag"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A link as written, before it is resolved against the vault.

    `target` is the link path as a person would say it: no heading, no alias, no percent signs, no table escape; for a
    tag the folded tag name without `#`; empty for a link to a place in the same note.
    """

    kind: LinkKind
    target: str
    heading: str | None = None
    block: str | None = None
    alias: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """An ATX or setext heading outside fences, callouts and quotes."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something the owner should know about a note; the note is indexed all the same."""

    code: str
    message: str
    line: int | None = None


class FrontmatterState(StrEnum):
    """How the YAML block at the top of a note fared."""

    NONE = "none"
    READ = "read"
    UNREADABLE = "unreadable"
    UNCLOSED = "unclosed"


class BlockKind(StrEnum):
    """What a block of lines is, as far as splitting cares."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    FENCE = "fence"
    TABLE = "table"
    LIST_ITEM = "list_item"
    QUOTE = "quote"
    HTML = "html"
    RULE = "rule"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A run of lines that belongs together.

    Blocks are in order, do not overlap, and cover every non-blank line of the body.
    """

    kind: BlockKind
    line_start: int
    line_end: int
    embeddable: bool = True
    """False for what no reader would call text: base64 images, compressed drawings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One note, parsed. `lines[i]` is line i + 1 of the file; the body starts at `body_line`."""

    path: str
    title: str
    lines: tuple[str, ...]
    body_line: int
    sensitivity: Sensitivity
    frontmatter: Mapping[str, Any] = field(default_factory=dict)
    """JSON-ready values under their keys as written; of a broken block, the keys that could be told."""
    frontmatter_state: FrontmatterState = FrontmatterState.NONE
    property_lines: tuple[tuple[int, int], ...] = ()
    """The first and the last line of each property that says something that may be asked for."""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    headings: tuple[Heading, ...] = ()
    blocks: tuple[Block, ...] = ()
    block_ids: Mapping[str, int] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    problems: tuple[Problem, ...] = ()
    language: str = "und"
    days: tuple[int, int] | None = None
    """The first and the last day the note is of, as ordinals of `datetime.date`; None where nothing tells."""

    @property
    def body(self) -> str:
        """The text below the frontmatter."""
        return "\n".join(self.lines[self.body_line - 1 :])


PROPERTIES = 1_000_000
"""The place of a note's properties among its chunks: behind every passage of its text, and next to none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A passage of a note: exactly the lines `line_start..line_end`, or a piece of one over-long line.

    `id` is stable: the same note text at the same path gives the same ids. `prelude` is embedded and searched with
    the body and never shown. `block` is the id of the first block-id marker inside, without `^`. Of the properties,
    whose `ordinal` is PROPERTIES or more, a line that says nothing is blank in the body.
    """

    id: str
    ordinal: int
    heading_path: tuple[str, ...]
    prelude: str
    body: str
    line_start: int
    line_end: int
    tokens: int
    block: str | None = None
    embeddable: bool = True
    overlap: int = 0
    """Characters at the start of `body` that repeat the end of the previous chunk (only after a hard split)."""
    days: tuple[int, int] | None = None
    """The days of the nearest heading above that is a date, else the note's; None where nothing tells."""
