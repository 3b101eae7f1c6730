"""Where a passage of Markdown is no text: Obsidian's comments, which no reader sees, and the lines inside of fences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import regex


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start..end` of a text, the end excluded; never blank, without blanks at either end."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Give the characters of the text that this span covers."""
        return text[self.start : self.end]


_COMMENT = "%%"
_SIGN = regex.compile(r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^\n]*|(?P<code>`[^`\n]{1,1000}`)|%%", regex.MULTILINE)
_LINE_MARKS = " \t>"


def comments(text: str) -> list[Span]:
    """List the comments of a text in order, with their marks; what looks like one in code is none.

    One that begins a line goes on to the next mark, any other no further than its paragraph; where it is not closed, it
    hides the rest of these, as in Obsidian.
    """
    return [span for span, is_code in _regions(text) if not is_code] if _COMMENT in text else []


def fenced(text: str) -> list[Span]:
    """List what stands between the lines of each fence, in order; a fence that is not closed goes on to the end."""
    return [span for span, is_code in _regions(text) if is_code] if "```" in text or "~~~" in text else []


def without_comments(text: str) -> str:
    """Give a text as Obsidian shows it to a reader, who sees no comments."""
    kept, at = [], 0
    for comment in comments(text):
        before = text[at : comment.start]
        kept.append(before)
        # Of the blanks on both sides one is enough.
        is_apart = not before or before[-1].isspace()
        at = comment.end + (is_apart and text[comment.end : comment.end + 1] == " ")
    return "".join([*kept, text[at:]])


def inside(place: int, regions: Sequence[Span]) -> Span | None:
    """Find the region that a place of the text is in."""
    return next((region for region in regions if region.start <= place < region.end), None)


def _regions(text: str) -> Iterator[tuple[Span, bool]]:
    """Give comments and the insides of fences in order, and whether each is a fence's."""
    at = 0
    while sign := _SIGN.search(text, at):
        at = sign.end()
        if run := sign["fence"]:
            close = regex.compile(rf"^[ \t>]*{run}", regex.MULTILINE).search(text, at)
            yield Span(at, close.start() if close else len(text)), True
            at = _end_of_line(text, close.start()) if close else len(text)
        elif not sign["code"]:
            at = _end_of_comment(text, sign.start())
            yield Span(sign.start(), at), False


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


def _end_of_comment(text: str, start: int) -> int:
    is_block = not text[text.rfind("\n", 0, start) + 1 : start].strip(_LINE_MARKS)
    paragraph = -1 if is_block else text.find("\n\n", start)
    last = paragraph if paragraph >= 0 else len(text)
    close = text.find(_COMMENT, start + len(_COMMENT), last)
    return close + len(_COMMENT) if close >= 0 else last
