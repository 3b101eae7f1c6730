"""A note's own lines, and the notes near it, as they travel; with a record of what was handed out.

Of the frontmatter the index holds the properties that say something; its other lines come blank. Knows views and the
wire; nothing of HTTP.
"""

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, TypeVar

from vault_ask.audit import Door, Record
from vault_ask.errors import BadRequest, NoSuchNote, VaultAskError
from vault_ask.index.reading.notes import NoteView, Standing
from vault_ask.index.reading.text import Passage, StoredText
from vault_ask.index.view import VaultView
from vault_ask.retrieval.related import NO_SUCH_NOTE, Near, find_related
from vault_ask.scope import OpenScope, PrivateScope, S, Scope, Sensitivity
from vault_ask.wire import NoteResponse, NoteState, RelatedNote, RelatedResponse

R = TypeVar("R", NoteResponse, RelatedResponse)
AnyView = VaultView[OpenScope] | VaultView[PrivateScope]

MAX_LINE = 1_000_000_000
QUOTED_LINES = 3
_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
_LAST_SECOND = 253_402_300_799.0
"""That of the year 9999: a device may claim any time for a file."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Which lines are wanted, 1-based and inclusive; None for the first and the last there are."""

    first: int | None = None
    last: int | None = None


class Open(Protocol):
    """Opens the index at a scope."""

    def __call__(self, scope: S, /) -> AbstractContextManager[VaultView[S]]:
        """Open a view. Raises NoIndex, IndexFailed."""
        ...


class Reading:
    """Hands out notes and what is near them, in this thread, and records what it handed out."""

    def __init__(self, open_view: Open, record: Callable[[Record], None]) -> None:
        self._open = open_view
        self._record = record

    def note(self, path: str, lines: Lines, *, scope: Scope, door: Door = "rest") -> NoteResponse:
        """Give lines of a note, and how it stands. Raises NoSuchNote, BadRequest."""
        if lines.first and lines.last and lines.first > lines.last:
            raise BadRequest("`from` is a later line than `to`, so there is nothing between them. Exchange the two.")
        asked = _Asked("note", path, scope, door)
        # Whoever only looks how a note stands reads nothing of it.
        return self._recorded(
            asked, lambda view: note_response(view, path, lines), lambda found: [found.path] if found.text else []
        )

    def related(self, path: str, *, scope: Scope, k: int, door: Door = "rest") -> RelatedResponse:
        """Give the notes near a note. Raises NoSuchNote."""
        asked = _Asked("near", path, scope, door)
        return self._recorded(
            asked, lambda view: related_response(view, path, k), lambda found: [one.path for one in found.related]
        )

    def _recorded(self, asked: "_Asked", read: Callable[[Any], R], shown: Callable[[R], Iterable[str]]) -> R:
        started = time.monotonic()
        try:
            found = self._read(asked.scope, read)
        except VaultAskError as error:
            code = "no_such_note" if isinstance(error, NoSuchNote) else "failed"
            self._record(asked.record((), f"error:{code}", started))
            raise
        if notes := tuple(shown(found)):
            self._record(asked.record(notes, "done", started))
        return found

    def _read(self, scope: Scope, read: Callable[[Any], R]) -> R:
        match scope:
            case OpenScope():
                with self._open(scope) as view:
                    return read(view)
            case PrivateScope():
                with self._open(scope) as view:
                    return read(view)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked for, by which door."""

    action: Literal["note", "near"]
    path: str
    scope: Scope
    door: Door

    def record(self, notes: tuple[str, ...], outcome: str, started: float) -> Record:
        return Record(
            door=self.door,
            action=self.action,
            scope=self.scope,
            question=self.path,
            notes=notes,
            model=None,
            web=None,
            outcome=outcome,
            seconds=time.monotonic() - started,
        )


def note_response(view: AnyView, path: str, lines: Lines) -> NoteResponse:
    """Give lines of a note, as far as the index holds them. Raises NoSuchNote."""
    note = view.notes.note(path)
    if note is None:
        raise NoSuchNote(NO_SUCH_NOTE)
    held_first, held_last = view.text.extent(note.id)
    first = max(lines.first or held_first, held_first)
    last = min(lines.last or held_last, held_last)
    is_empty = first > last
    text = "" if is_empty else _text(note.path, view.text.held(note.id, first, last), first, last)
    return NoteResponse(
        path=note.path,
        title=note.title,
        personal=note.sensitivity is Sensitivity.PERSONAL,
        line_start=(lines.first or 1) if is_empty else first,
        line_end=(lines.last or lines.first or 1) if is_empty else last,
        line_count=held_last,
        text=text,
        index=_state(note, view.notes.standing(note)),
    )


def _text(path: str, texts: Iterable[StoredText], first: int, last: int) -> str:
    """Put chunks together again: lines between them were blank, and what repeats the chunk before is left out.

    But for those of the frontmatter, which may have said something that is no text.
    """
    # Of a canvas each line of a card is a chunk; a card's lines are one line of the file.
    between = " " if path.casefold().endswith(".canvas") else ""
    # Joined at the end alone: a canvas on one line has a chunk for each line of its cards.
    lines: defaultdict[int, list[str]] = defaultdict(list)
    for text in texts:
        begins = text.line_start + text.body.count("\n", 0, text.overlap)
        for number, line in enumerate(text.body[text.overlap :].split("\n"), start=begins):
            lines[number].append(line)
    return "\n".join(between.join(lines.get(number, ())) for number in range(first, last + 1))


def _state(note: NoteView, standing: Standing) -> NoteState:
    state: Literal["indexed", "words_only", "incomplete"] = "indexed"
    message = "It is found by its words and by its meaning."
    if standing.refused:
        message = (
            f"The embedder could not take {standing.refused} of its passages, which are found by their words alone."
        )
    if standing.waiting:
        state = "words_only"
        message = f"{standing.waiting} of its passages wait for their vectors and are found by their words until then."
    if standing.incomplete:
        state = "incomplete"
        message = "A newer version of it is not whole yet; the one before it is searched until then."
    return NoteState(state=state, indexed_at=note.indexed_at, modified_at=_moment(note.modified_at), message=message)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(min(max(seconds, 0.0), _LAST_SECOND), UTC).isoformat(timespec="seconds")


def related_response(view: VaultView[S], path: str, k: int) -> RelatedResponse:
    """Give the notes near a note. Raises NoSuchNote."""
    started = time.monotonic()
    found = find_related(view, path, k=k)
    return RelatedResponse(
        path=found.note.path,
        related=tuple(_related(near) for near in found.near),
        notices=found.notices,
        seconds=time.monotonic() - started,
    )


def _related(near: Near[Any]) -> RelatedNote:
    passage = near.passage
    skipped, quote = _few_lines(passage)
    return RelatedNote(
        path=passage.path,
        title=passage.title,
        personal=passage.sensitivity is Sensitivity.PERSONAL,
        score=near.score,
        because=near.because,
        heading=passage.heading_path[-1] if passage.heading_path else None,
        # Of a block further down the link would not lead to what is quoted.
        block=passage.block if passage.block and f"^{passage.block}" in quote else None,
        line_start=passage.line_start + skipped,
        line_end=passage.line_start + skipped + quote.count("\n"),
        quote=quote,
    )


def _few_lines(passage: Passage[Any]) -> tuple[int, str]:
    """Choose the first lines that say something, and tell how many come before them; headings are told already."""
    lines = passage.body.split("\n")
    telling = (number for number, line in enumerate(lines) if line.strip() and not _HEADING.match(line))
    first = next(telling, 0)
    return first, "\n".join(lines[first : first + QUOTED_LINES]).rstrip("\n")
