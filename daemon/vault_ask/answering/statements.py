"""What can be quoted of a passage: the sentences of a text, the entries of properties."""

from collections.abc import Iterator

import regex

from vault_ask.answering.regions import Span, without_comments
from vault_ask.answering.sentences import FIELD, LONGEST, sentences
from vault_ask.notes.properties import parted
from vault_ask.notes.tasks import without_box

_KEY = regex.compile(FIELD)


def statements(text: str, longest: int = LONGEST, *, of_properties: bool) -> list[Span]:
    """List them in order. They do not overlap, and none is longer than `longest` characters."""
    return list(_entries(text, longest)) if of_properties else sentences(text, longest)


def alone(statement: str, title: str, *, of_properties: bool) -> str:
    """Give a statement as it is read by itself: a task without its box, a property with the name of whose it is."""
    return f"{title}: {parted(statement)}" if of_properties else bare(statement)


def bare(sentence: str) -> str:
    """Give the words of a sentence without a task's box and without comments."""
    return without_box(without_comments(sentence))


def key_of(statement: str, *, of_properties: bool) -> str:
    """Give the key of a property, or of an inline field that a sentence opens with (`lead:: Yusuf`); else nothing."""
    is_keyed = of_properties or _KEY.match(statement)
    return parted(statement.partition(":")[0]) if is_keyed else ""


def _entries(text: str, longest: int) -> Iterator[Span]:
    """Give each property with the list, the text or the properties below it; of one that is too long its sentences."""
    for entry in _lines_of_entries(text):
        if entry.end - entry.start <= longest:
            yield entry
        else:
            parts = sentences(entry.of(text), longest)
            yield from (Span(entry.start + part.start, entry.start + part.end) for part in parts)


def _lines_of_entries(text: str) -> Iterator[Span]:
    """Begin an entry at each line that is indented no further than the first one; a list may be as far to the left."""
    margin = len(text) - len(text.lstrip())
    at, first, last = 0, 0, 0
    for line in text.split("\n"):
        words = line.strip()
        begins = len(line) - len(line.lstrip()) <= margin and not words.startswith("- ")
        if words and begins and last:
            yield Span(first, last)
        if words:
            first = at + line.index(words) if begins or not last else first
            last = at + line.index(words) + len(words)
        at += len(line) + 1
    if last:
        yield Span(first, last)
