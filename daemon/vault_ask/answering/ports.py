"""The port to whatever words an answer, and what it is given to word it from."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from vault_ask.scope import Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """One numbered passage of the context: `n` is what the model cites as `[n]`. `text` is verbatim note text."""

    n: int
    path: str
    title: str
    heading_path: tuple[str, ...]
    text: str
    line_start: int
    line_end: int
    score: float
    language: str = "und"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An earlier turn of the conversation; `role` is `user` or `assistant`."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """All that a generator may know. `sensitivity` is the highest level among the excerpts and turns.

    `query` is what was searched for: the question, with the earlier turns it leans on. `idf` maps the words of the
    query, as `index.terms.query_words` names them, to their inverse document frequency in the vault.
    """

    question: str
    language: str
    excerpts: tuple[Excerpt, ...]
    history: tuple[Turn, ...] = ()
    sensitivity: Sensitivity = Sensitivity.OPEN
    query: str = ""
    idf: Mapping[str, float] = field(default_factory=dict)


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
