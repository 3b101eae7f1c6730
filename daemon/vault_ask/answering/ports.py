"""The port to whatever words an answer, and what it is given to word it from."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
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
    """All that a generator may know. `sensitivity` is the highest level among the excerpts and turns."""

    question: str
    language: str
    excerpts: tuple[Excerpt, ...]
    history: tuple[Turn, ...] = ()
    sensitivity: Sensitivity = Sensitivity.OPEN


class Generator(Protocol):
    """Words an answer to a prompt, citing excerpts as `[n]`, as a stream of pieces of text."""

    @property
    def name(self) -> str:
        """What to call it on a status page, e.g. `extractive` or `ollama_chat/qwen3:4b`."""
        ...

    @property
    def is_local(self) -> bool:
        """Whether text given to it stays on the owner's machines."""
        ...

    def stream(self, prompt: Prompt) -> AsyncIterator[str]:
        """Yield pieces of the answer. Closing the iterator stops the work behind it at once.

        Raises ModelUnreachable, ModelBusy, ModelRefused; also after some pieces have been yielded.
        """
        ...
