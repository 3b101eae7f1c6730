"""What the HTTP doors need from the rest: a question in, events out. They know nothing of how it is answered."""

from collections.abc import AsyncGenerator
from typing import Protocol

from vault_ask.answering.asked import Wishes
from vault_ask.answering.conversation import Turn
from vault_ask.answering.reading import Lines
from vault_ask.scope import Question, Scope, Sensitivity
from vault_ask.wire import (
    AnswerEvent,
    IndexEvent,
    NoteResponse,
    NotesEvent,
    RelatedResponse,
    SearchResponse,
    StatusResponse,
)


class Doors(Protocol):
    """The house behind the doors; `composition` implements it."""

    @property
    def vault_name(self) -> str:
        """The vault's name, for a page's title."""
        ...

    def answer(
        self, question: Question, *, scope: Scope, history: tuple[Turn, ...], wishes: Wishes
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield `sources` first, then the text, its grounding and `done`.

        A failure is raised as a VaultAskError or yielded as an ErrorEvent. Closing the generator, or cancelling the
        task that iterates it, stops the work behind it. It is closed at `done` or an ErrorEvent: what must be written
        down about an answer is written before.
        """
        ...

    async def search(self, query: str, *, scope: Scope, k: int, arm: str) -> SearchResponse:
        """Find passages without wording an answer: at most `k`, best first, by `hybrid`, `vector` or `text`."""
        ...

    async def status(self, ceiling: Sensitivity) -> StatusResponse:
        """Tell how the daemon is doing, counted as a reader with this ceiling would see it."""
        ...

    async def note(self, path: str, lines: Lines, *, scope: Scope) -> NoteResponse:
        """Give lines of a note. Raises NoSuchNote where it is absent or not visible, BadRequest."""
        ...

    async def related(self, path: str, *, scope: Scope, k: int) -> RelatedResponse:
        """Give at most `k` notes near a note. Raises NoSuchNote where it is absent or not visible."""
        ...

    def events(self, ceiling: Sensitivity, *, notes: Scope) -> AsyncGenerator[IndexEvent | NotesEvent, None]:
        """Yield the state of the index at once, and again whenever what this ceiling sees of it changed; never ends.

        Between them, which of the notes in a scope changed since the first of these. A reader who is slow gets the
        newest state next, not those in between, and all the notes that changed. Raises a VaultAskError.
        """
        ...
