"""The ports of answering: to whatever words an answer, and to whoever searches the web."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from vault_ask.answering.context import Context
from vault_ask.answering.evidence import Prompt, WebPage
from vault_ask.scope import OpenScope, Question


@dataclass(frozen=True, slots=True)
class Quoted:
    """A piece of an answer that is note text: the characters `start..end` of excerpt `n`, word for word."""

    n: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CutShort:
    """The last piece of an answer for which the model had no room left."""


Piece = str | Quoted | CutShort


@dataclass(frozen=True, slots=True)
class Window:
    """How many tokens surely reach a model, of which `reply` are kept for its answer.

    `assured` is False when the size is a guess that the reader should know of.
    """

    tokens: int
    reply: int
    assured: bool = True


class Generator(Protocol):
    """Words an answer to a prompt, citing excerpts as `[n]`, as a stream of pieces."""

    @property
    def name(self) -> str:
        """What to call it on a status page, e.g. `extractive` or `ollama_chat/qwen3:4b`."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether text given to it stays on the owner's machines."""
        ...

    @property
    def window(self) -> Window | None:
        """The room its prompts must fit in; None when it has no limit."""
        ...

    async def reach(self) -> None:
        """Find out, within a second or so, whether the model can be asked; where that cannot be told, just return.

        Raises ModelUnreachable when nobody listens, ModelRefused when whoever listens must not be told.
        """
        ...

    def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """Yield the pieces of the answer. Closing the generator stops the work behind it at once.

        Raises ModelUnreachable, ModelBusy, ModelRefused; also after some pieces have been yielded.
        """
        ...


class WebSearch(Protocol):
    """Searches the web for the user's own words."""

    @property
    def name(self) -> str:
        """What to call it beside its results, e.g. `DuckDuckGo`."""
        ...

    @property
    def keeps_question_home(self) -> bool:
        """Whether the question is sent to a server of the owner's own, and not to the provider of a service."""
        ...

    async def search(self, question: Question, *, beside: Context[OpenScope]) -> tuple[WebPage, ...]:
        """Find a few pages, best first; none is a fine answer. The question is all that is sent.

        `beside` is what the pages will share an answer with. It is not read: it is there because a context that
        holds personal notes cannot be passed. Closing or cancelling the call ends its connections. Raises WebFailed.
        """
        ...
