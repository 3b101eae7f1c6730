"""What a renderer of Markdown makes of an answer as it is shown, as far as it takes to tell code from words.

Outside of code a word joiner (U+2060) parts the signs that make HTML, pictures, links and their definitions.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise

import regex

HOLD = 400
"""Characters that are waited for at most before what looks like a link, a marker or code is taken for plain text."""
_JOINER = "\u2060"
PARTED = rf"\g<0>{_JOINER}"
LIVE = regex.compile(r"<(?=[A-Za-z/!?])|[!\[](?=\[)|\](?=[(:])")
"""The first of two signs that together begin HTML, a picture, a wikilink, a link's destination or its definition."""
_CLOSED_TICKS = regex.compile(r"[^`\\|]*(?:`[^`\\|]+`[^`\\|]*)*")
_SHORTEST_FENCE = 3
_INDENTED_CODE = 4
"""Columns of indentation that make code of a line, in CommonMark; a fence or a list item has fewer."""
_CONTAINERS = regex.compile(r"(?:[ \t>]|(?:[-*+]|[0-9]{1,9}[.)])[ \t])*")
_ITEM_START = regex.compile(r"( *)(?:[-*+]|([0-9]{1,9})[.)]) {1,4}")
_LIKE_AN_ITEM = regex.compile(r"[ \t]*(?:>|(?:[-*+]|[0-9]{1,9}[.)])(?:\s|$))")
_RULE = regex.compile(r"[ \t]*(?:[-*_][ \t]*)+")


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation of excerpt `n` in the shown text; `at` is where its `[n]` begins."""

    n: int
    at: int


class Kind(Enum):
    """What a text is. Only words may be parted inside."""

    WORDS = auto()
    LINK = auto()
    CODE = auto()
    QUOTE = auto()


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of the next `length` characters. `marks` are relative to `text`."""

    length: int
    text: str
    marks: tuple[Mark, ...] = ()
    removed: int = 0
    kind: Kind = Kind.WORDS


class End(Enum):
    """Where a fence ends, seen from the beginning of one of its lines."""

    LATER = auto()
    HERE = auto()
    BEFORE = auto()
    UNCERTAIN = auto()


@dataclass(frozen=True, slots=True)
class Fence:
    """An open fence: its backticks or tildes, and the least and the most columns that what it stands in is indented."""

    run: str
    low: int
    high: int

    def end_at(self, line: str, *, settled: bool) -> End | None:
        """Tell what a line does to the fence; None when more of it must be seen."""
        bare = line.strip(" \t")
        if not bare:
            return End.LATER if settled else None
        column = _column(line)
        if column < self.high:
            return End.BEFORE if column < self.low else End.UNCERTAIN
        if bare.strip(self.run[0]):
            return End.LATER
        if not settled:
            return None
        if len(bare) < len(self.run) or column >= self.high + _INDENTED_CODE:
            return End.LATER
        return End.HERE if column < self.low + _INDENTED_CODE and len(line) < HOLD else End.UNCERTAIN


class Page:
    """What a renderer of Markdown makes of the text shown so far: just as much as tells code from words for certain.

    The rules are CommonMark's. Where it takes more than is kept here to tell whether a fence begins or ends, no fence
    is seen from there on: what stands in it is parted and judged like words, and words are never taken for code.
    """

    def __init__(self) -> None:
        self.line = ""
        """The beginning of the line that is being shown."""
        self.fence: Fence | None = None
        self._item = 0
        """The column at which the text of the list item begins that the line is in; 0 where that is not known."""
        self._last = ""
        self._is_lost = False
        self._is_stray = False
        """Whether this paragraph has backticks that opened nothing here: a later line may close them elsewhere."""
        self._is_after_blank = True

    def add(self, taken: Taken) -> tuple[str, Sequence[Mark]]:
        """Give the text as it is shown behind what was shown before, and where its marks are."""
        whole, start = self._last + taken.text, len(self._last)
        places = [] if self.fence else self._live(whole, inside=taken.kind is Kind.WORDS)
        bounds = [0, *places, len(whole)]
        text = _JOINER.join(whole[a:b] for a, b in pairwise(bounds))[start:]
        marks = tuple(Mark(mark.n, mark.at + bisect_right(places, mark.at + start)) for mark in taken.marks)
        self._follow(text)
        if not self.fence and "`" in text:
            self._is_stray |= not self._is_settled(taken)
        self._last = text[-1:] or self._last
        return text, marks

    def end_of_fence(self) -> str:
        """Close an open fence and give what closes it."""
        if not (fence := self.fence):
            return ""
        self.leave_fence(is_certain=True)
        return ("\n" if self.line else "") + " " * fence.high + fence.run + "\n"

    def may_open_code(self) -> bool:
        """Whether backticks here open code, if others close it on this line."""
        return not self._is_stray and self._last != "\\"

    def may_open_fence(self, run: str) -> bool:
        """Whether these signs may open a fence where they stand."""
        is_first = _CONTAINERS.fullmatch(self.line) is not None
        return is_first and len(run) >= _SHORTEST_FENCE and not self._is_lost

    def open_fence(self, run: str, *, is_certain: bool) -> bool:
        """Open a fence behind `line`; tell whether it is certain that it is one."""
        columns = self._columns_of_fence() if is_certain else None
        if columns is None:
            self._is_lost = True
            return False
        low, high = columns
        self.fence = Fence(run, low, high)
        self._item = low if low == high else 0
        self._is_stray = self._is_after_blank = False
        return True

    def leave_fence(self, *, is_certain: bool) -> None:
        """Be out of the fence."""
        self.fence = None
        self._is_lost |= not is_certain

    def _live(self, whole: str, *, inside: bool) -> list[int]:
        """Find where to part: everywhere, or only where the new text meets the last sign before it."""
        start = len(self._last)
        places = [found.end() for found in LIVE.finditer(whole) if inside or found.end() == start]
        return [start, *places] if start and whole.startswith("``", start - 1) else places

    def _is_settled(self, taken: Taken) -> bool:
        """Tell whether the backticks of a text close all that they open; in a table a `|` would part them."""
        if taken.kind is Kind.CODE:
            return "|" not in taken.text
        return taken.kind is not Kind.QUOTE and _CLOSED_TICKS.fullmatch(self._last + taken.text) is not None

    def _follow(self, text: str) -> None:
        *ended, line = (self.line + text).split("\n")
        self.line = line[:HOLD]
        if not self.fence:
            for each in ended:
                self._end_line(each[:HOLD])

    def _end_line(self, line: str) -> None:
        """Know which list item the next line may belong to, and whether a paragraph goes on."""
        if not line.strip(" \t"):
            self._is_stray, self._is_after_blank = False, True
            return
        found = _ITEM_START.match(line)
        if found and self._is_item(found):
            text = line[found.end() :]
            is_simple = text[:1].strip() and not _LIKE_AN_ITEM.match(text) and not _RULE.fullmatch(line)
            self._item = found.end() if is_simple else 0
        elif _column(line) < self._item or _LIKE_AN_ITEM.match(line):
            self._item = 0
        self._is_after_blank = False

    def _is_item(self, found: "regex.Match[str]") -> bool:
        """Tell whether this surely begins a list item: it may be code, or go on with a paragraph."""
        column, number = len(found[1]), found[2]
        is_code = column >= _INDENTED_CODE and not self._is_in_item(column)
        return not is_code and (not number or int(number) == 1 or self._is_after_blank or column < self._item)

    def _is_in_item(self, column: int) -> bool:
        return 0 < self._item <= column < self._item + _INDENTED_CODE

    def _columns_of_fence(self) -> tuple[int, int] | None:
        """Give the least and the most that the text around a fence behind `line` is indented; None where unknown."""
        column, found = len(self.line), _ITEM_START.fullmatch(self.line)
        if found:
            return (column, column) if self._is_item(found) else None
        if self.line.strip(" "):
            return None
        if self._is_in_item(column):
            return self._item, self._item
        return (0, column) if column < _INDENTED_CODE else None


def _column(line: str) -> int:
    """Count the columns before the first sign of a line, tabs counted as Markdown does."""
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(_INDENTED_CODE))
