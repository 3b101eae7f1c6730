"""Statements as a reader takes them in who sees nothing else: a question with its answer, a table's row with its head.

What is quoted stays one verbatim piece of the text. A question is quoted together with what answers it, or left out
where marks stand between them; how a statement reads is what its words and its vector are taken from.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from vault_ask.answering.regions import Span, fenced, inside
from vault_ask.answering.sentences import LONGEST, units
from vault_ask.answering.statements import alone, bare, statements
from vault_ask.answering.tables import read_row

_HEADING = re.compile(r"^[ \t]*(?:>[ \t]?)*#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)
_ITEM = re.compile(r"([ \t]*)(?:>[ \t]?)*(?:[-*+•]|\d{1,9}[.)])[ \t]")
_CALLOUT = re.compile(r"[ \t]*>[ \t]*\[!\w")
_OPEN_BETWEEN = re.compile(r"[\s>]*")
_FRAME = " \t\n>"
_LIST_MARK_BETWEEN = re.compile(r"[\s>]*(?:[-*+•]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?")


@dataclass(frozen=True, slots=True)
class Statement:
    """A piece of a text that can be quoted, and how it reads where nothing stands around it.

    `above` is what the reading begins with and the piece has not: the item of an outline that it is indented under.
    """

    span: Span
    reading: str
    above: str = ""


def asks(sentence: str) -> bool:
    """Say whether a text ends as a question, in any script."""
    return sentence.rstrip("\"'”’»)*_ ").endswith(("?", "？", "؟", "՞"))


def standalone(text: str, title: str, longest: int = LONGEST, *, of_properties: bool) -> list[Statement]:
    """List the statements of a passage in order; none is longer than `longest` characters."""
    if of_properties:
        return [
            Statement(span, alone(span.of(text), title, of_properties=True))
            for span in statements(text, longest, of_properties=True)
        ]
    return _Reader(text, title, list(_with_code_whole(text, longest)), longest).read()


def _with_code_whole(text: str, longest: int) -> Iterator[list[Span]]:
    """Give the units of a text, the code of a fence as one, or as few as fit: a line of code means little alone."""
    code = fenced(text)
    for fence, inner in groupby(units(text, longest), lambda unit: inside(unit[0].start, code)):
        if fence is None:
            yield from inner
        else:
            yield from ([part] for part in _parts(text, fence, [line for unit in inner for line in unit], longest))


def _parts(text: str, fence: Span, lines: Sequence[Span], longest: int) -> Iterator[Span]:
    """Take as many lines at once as fit; all of them with the brackets around, which are no words."""
    inner = fence.of(text)
    start = fence.start + len(inner) - len(inner.lstrip(_FRAME))
    end = fence.start + len(inner.rstrip(_FRAME))
    if end - start <= longest:
        yield Span(start, end)
        return
    part = lines[0]
    for line in lines[1:]:
        if line.end - part.start <= longest:
            part = Span(part.start, line.end)
        else:
            yield part
            part = line
    yield part


class _Reader:
    """Goes through the units of one text, each a list of sentences."""

    def __init__(self, text: str, title: str, found: Sequence[Sequence[Span]], longest: int) -> None:
        self._text = text
        self._title = title
        self._units = found
        self._longest = longest
        self._sentences = [(unit, span) for unit, spans in enumerate(found) for span in spans]
        self._above = list(self._items_above())

    def read(self) -> list[Statement]:
        """Take sentence by sentence, and several where they belong together."""
        read: list[Statement] = []
        at = 0
        while at < len(self._sentences):
            statement, taken = self._statement(at)
            read.append(statement)
            at += taken
        return read

    def _statement(self, at: int) -> tuple[Statement, int]:
        """Give the statement that begins with a sentence, and how many sentences it takes up."""
        span = self._sentences[at][1]
        if self._opens(at) and (answers := self._answers(at)):
            return self._together(span, answers), 1 + len(answers)
        if (heading := self._question_above(at)) is not None:
            answers = self._fitting(span.start, self._units[self._sentences[at][0]])
            whole = Span(span.start, answers[-1].end)
            return Statement(whole, f"{heading} {whole.of(self._text)}"), len(answers)
        return self._alone(at), 1

    def _alone(self, at: int) -> Statement:
        """Read a sentence; in an outline behind the item that it is indented under, which tells what it is about."""
        unit, span = self._sentences[at]
        if row := read_row(self._text, span):
            return Statement(span, row)
        words = alone(span.of(self._text), self._title, of_properties=False)
        owner = self._above[unit]
        above = f"{bare(owner.of(self._text))} " if owner else ""
        return Statement(span, above + words, above)

    def _opens(self, at: int) -> bool:
        """Say whether a sentence waits for the next: it asks, is a line that ends in a colon, or a callout's title."""
        unit, span = self._sentences[at]
        words = span.of(self._text)
        is_line = len(self._units[unit]) == 1
        return asks(words) or (is_line and (words.endswith((":", "：")) or self._is_title(span)))

    def _is_title(self, span: Span) -> bool:
        return bool(_CALLOUT.match(self._text, self._text.rfind("\n", 0, span.start) + 1))

    def _together(self, question: Span, answers: Sequence[Span]) -> Statement:
        """Join a question and its answer where nothing but blanks or a list's marks lies between them."""
        answer = Span(answers[0].start, answers[-1].end)
        between = self._text[question.end : answer.start]
        is_joined = _OPEN_BETWEEN.fullmatch(between) or _LIST_MARK_BETWEEN.fullmatch(between)
        span = Span(question.start, answer.end) if is_joined else answer
        return Statement(span, f"{question.of(self._text)} {answer.of(self._text)}")

    def _answers(self, at: int) -> Sequence[Span]:
        """Give the sentences behind a question that answer it.

        A question that is a unit by itself is answered by the next one, and by the list that this begins; one inside a
        unit by the next sentence; one at the end of a unit by a line right below it, as in a talk.
        """
        unit, question = self._sentences[at]
        if question != self._units[unit][-1]:
            following = self._sentences[at + 1][1]
            return [] if asks(following.of(self._text)) else self._fitting(question.start, [following])
        if unit + 1 == len(self._units) or not self._goes_on(question, self._units[unit + 1][0]):
            return []
        below = self._units[unit + 1]
        if len(self._units[unit]) > 1:
            return self._fitting(question.start, below[:1]) if self._is_next_line(question, below[0]) else []
        if self._is_title(question) and not asks(question.of(self._text)):
            return self._fitting(question.start, below[:1])
        return self._fitting(question.start, [*below, *self._items_behind(unit + 1)])

    def _goes_on(self, question: Span, below: Span) -> bool:
        """Say whether what stands below a question may answer it: no heading, question or neighbour in its list."""
        between = self._text[question.end : below.start]
        if _HEADING.search(between) or asks(below.of(self._text)):
            return False
        here, there = self._item(question), self._item(below)
        return here is None or there is None or there > here

    def _is_next_line(self, question: Span, below: Span) -> bool:
        return self._text.count("\n", question.end, below.start) == 1

    def _item(self, span: Span) -> int | None:
        """Tell how far the list item that a sentence stands in is indented; None outside of lists."""
        found = _ITEM.match(self._text, self._text.rfind("\n", 0, span.start) + 1)
        return len(found[1]) if found else None

    def _items_above(self) -> Iterator[Span | None]:
        """Give for each unit the last sentence of the item that it is indented below; None outside of such lists."""
        open_items: list[tuple[int, Span]] = []
        for spans in self._units:
            item = self._item(spans[0])
            open_items = [one for one in open_items if item is not None and one[0] < item]
            yield open_items[-1][1] if open_items else None
            if item is not None:
                open_items.append((item, spans[-1]))

    def _items_behind(self, unit: int) -> list[Span]:
        """Give the sentences of the items behind an item, up to the end of its list."""
        margin = self._item(self._units[unit][0])
        behind: list[Span] = []
        for spans in self._units[unit + 1 :]:
            item = self._item(spans[0])
            if margin is None or item is None or item < margin:
                break
            behind.extend(spans)
        return behind

    def _fitting(self, start: int, sentences: Sequence[Span]) -> list[Span]:
        """Take as many as lie within the longest statement that begins at `start`."""
        return [one for one in sentences if one.end - start <= self._longest]

    def _question_above(self, at: int) -> str | None:
        """Give the heading right above the unit that a sentence begins, where it asks something."""
        unit, span = self._sentences[at]
        if span != self._units[unit][0]:
            return None
        begin = self._units[unit - 1][-1].end if unit else 0
        above = _HEADING.findall(self._text, begin, span.start)
        return above[-1] if above and asks(above[-1]) else None
