"""A generator at work: it is given what it may see, has to go on speaking, and is stopped at once with its reader.

What goes wrong with it becomes the event that ends an answer; what it said before stays.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from vault_ask.answering.evidence import Prompt
from vault_ask.answering.ports import Generator, Piece
from vault_ask.answering.wording import Wording
from vault_ask.errors import ModelBusy, ModelError, ModelRefused, ModelUnreachable, VaultAskError
from vault_ask.scope import may_leave
from vault_ask.wire import ErrorEvent


class Speaker:
    """Lets generators word prompts."""

    def __init__(self, *, timeout_seconds: float, personal_to_remote_model: bool) -> None:
        self._timeout_seconds = timeout_seconds
        self._personal_to_remote_model = personal_to_remote_model

    async def shown(self, generator: Generator, prompt: Prompt, wording: Wording) -> AsyncGenerator[str, None]:
        """Let a generator word a prompt, and give what may be shown of it. Raises VaultAskError."""
        self._refuse_what_must_not_leave(prompt, generator)
        async with aclosing(self._timely(generator, prompt)) as pieces:
            async for piece in pieces:
                if text := wording.add(piece):
                    yield text
        if text := wording.close():
            yield text

    async def _timely(self, generator: Generator, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """Pass the pieces on, unless the next one takes too long."""
        seconds = self._timeout_seconds
        async with aclosing(generator.stream(prompt)) as pieces:
            while True:
                try:
                    async with asyncio.timeout(seconds):
                        piece = await anext(pieces, None)
                except TimeoutError:
                    raise ModelUnreachable(
                        f"{generator.name} said nothing for {seconds:g} seconds, so the answer ends here. Try again, "
                        "or raise models.timeout_seconds."
                    ) from None
                if piece is None:
                    return
                yield piece

    def _refuse_what_must_not_leave(self, prompt: Prompt, generator: Generator) -> None:
        """Hold the last door: the plan has seen to this already, and a mistake there must not cost anything."""
        allowed = may_leave(
            prompt.sensitivity,
            to_local_model=generator.is_local,
            personal_to_remote_model=self._personal_to_remote_model,
        )
        if not allowed:
            raise ModelRefused(
                f"{generator.name} does not run on your machines, so it was not given personal notes. Ask without them."
            )


def too_long(generator: Generator) -> ErrorEvent:
    """End an answer whose question leaves no room for a note."""
    message = (
        f"The question is too long: beside it {generator.name} has no room left for any note. Ask a shorter question, "
        "or raise models.context_tokens."
    )
    return ErrorEvent(code="question_too_long", message=message, retry=False)


def broken_off(error: VaultAskError) -> ErrorEvent:
    """End an answer that a generator could not finish."""
    match error:
        case ModelBusy():
            code, retry = "model_busy", True
        case ModelUnreachable():
            code, retry = "model_unreachable", True
        case ModelRefused():
            code, retry = "model_refused", False
        case ModelError():
            code, retry = "model_failed", True
        case _:
            code, retry = "failed", False
    return ErrorEvent(code=code, message=str(error), retry=retry)
