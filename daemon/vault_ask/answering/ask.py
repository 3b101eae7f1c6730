"""The story of one answer: pick who words it, retrieve, assemble, decide on silence, stream, ground.

Knows no provider and no storage. Every decision about privacy is taken before anything is read; what comes after can
only narrow it.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol

from vault_ask.answering.context import Context, assemble, speaking, tokens
from vault_ask.answering.conversation import Conversation, remember, unmet_mentions
from vault_ask.answering.coverage import DEFAULT, Thresholds, is_silent
from vault_ask.answering.grounding import ground, sources
from vault_ask.answering.ports import Generator, Piece, Prompt, Turn, Window
from vault_ask.answering.prompts import RULES
from vault_ask.answering.sayings import silence
from vault_ask.answering.wording import Wording, plain
from vault_ask.errors import ModelBusy, ModelError, ModelRefused, ModelUnreachable, VaultAskError
from vault_ask.retrieval.hits import Retrieved, S
from vault_ask.scope import OpenScope, PrivateScope, Question, Scope, Sensitivity, may_leave
from vault_ask.settings import ModelSettings
from vault_ask.wire import AnswerEvent, DeltaEvent, DoneEvent, ErrorEvent, GroundingEvent, SourcesEvent

_POINTERS = 3
_HISTORY_SHARE = 4
"""The history takes at most one part in so many of the room that rules and question leave."""
_MARGIN = 64
"""Tokens a chat template puts around the messages."""


class Retrieve(Protocol):
    """Finds the passages of a question in a scope, without blocking the event loop."""

    def __call__(self, question: str, *, scope: S, note: str | None) -> Awaitable[Retrieved[S]]:
        """Retrieve. Raises VaultAskError."""
        ...


@dataclass(frozen=True, slots=True)
class Generators:
    """Who can word an answer: as configured, for personal notes where that is another, and always by quotes."""

    configured: Generator
    personal: Generator | None
    extractive: Generator


class AskVault:
    """Answers questions from a vault."""

    def __init__(
        self,
        *,
        retrieve: Retrieve,
        generators: Generators,
        vault_name: Callable[[], str],
        settings: ModelSettings,
        personal_to_remote_model: bool,
        thresholds: Thresholds = DEFAULT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._retrieve = retrieve
        self._generators = generators
        self._vault_name = vault_name
        self._settings = settings
        self._personal_to_remote_model = personal_to_remote_model
        self._thresholds = thresholds
        self._clock = clock

    async def answer(
        self, question: Question, *, scope: Scope, history: tuple[Turn, ...] = (), note: str | None = None
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of an answer: sources, deltas, grounding, done; or an error as the last one.

        Closing the generator stops the model at once. Raises VaultAskError only before the first event, when
        retrieval fails; whatever goes wrong with the model after that is an ErrorEvent.
        """
        asked = _Asked(question, history, note, self._clock())
        plan = await self._reached(self._plan(scope))
        # The two branches read alike: they keep apart, for the type checker, what may stand beside the web.
        match plan.scope:
            case OpenScope():
                events = self._events(asked, plan, plan.scope)
            case PrivateScope():
                events = self._events(asked, plan, plan.scope)
        async with aclosing(events):
            async for event in events:
                yield event

    async def _events(self, asked: "_Asked", plan: "_Plan", scope: S) -> AsyncGenerator[AnswerEvent, None]:
        talk = remember(asked.history, scope)
        query = talk.query(asked.question.text)
        found = await self._retrieve(query, scope=scope, note=asked.note)
        plan = plan.telling(*found.notices, *_unmet(asked, scope, found))
        silent = is_silent(found, self._thresholds)
        events = self._silence(asked, plan, found) if silent else self._worded(asked, plan, talk, query, found)
        async with aclosing(events):
            async for event in events:
                yield event

    def _plan(self, scope: Scope) -> "_Plan":
        """Choose the generator; where none may see personal notes, narrow the scope and say so."""
        configured, personal = self._generators.configured, self._generators.personal
        if isinstance(scope, OpenScope) or configured.is_local or self._personal_to_remote_model:
            return _Plan(configured, scope)
        if personal is not None and personal.is_local:
            return _Plan(personal, scope)
        notice = (
            f"Personal notes were left out: {configured.name} does not run on your machines. To ask them, set "
            "models.personal_generation to a local model or to extractive."
        )
        return _Plan(configured, OpenScope(web_allowed=False), (notice,))

    async def _reached(self, plan: "_Plan") -> "_Plan":
        """Answer by quotes when nobody listens where the model should be; known before anything is shown."""
        try:
            await plan.generator.reach()
        except ModelError as error:
            notice = f"{error} Until then the answer is made of quotes."
            return replace(plan, generator=self._generators.extractive).telling(notice)
        return plan

    async def _silence(self, asked: "_Asked", plan: "_Plan", found: Retrieved[S]) -> AsyncGenerator[AnswerEvent, None]:
        """Say that the vault is silent, and point to the nearest notes."""
        yield self._sources(plan, Context(found.hits), silent=True)
        titles = list(dict.fromkeys(hit.title for hit in found.hits))[:_POINTERS]
        yield DeltaEvent(text=silence(found.language, [plain(title) for title in titles]))
        yield GroundingEvent(citations=(), removed=0, refused=True)
        yield DoneEvent(seconds=self._clock() - asked.started, finish="stop")

    async def _worded(
        self, asked: "_Asked", plan: "_Plan", talk: Conversation, query: str, found: Retrieved[S]
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Let the generator word the answer, show what may be shown of it, and ground it."""
        turns, room = _share_out(plan.generator.window, asked.question.text, talk)
        context = assemble(speaking(found.hits, asked.note), room=room)
        if not context.hits:
            yield _too_long(plan.generator)
            return
        prompt = Prompt(
            question=asked.question.text,
            language=found.language,
            excerpts=context.excerpts,
            history=turns,
            sensitivity=max(context.sensitivity, _sensitivity(turns)),
            query=query,
            idf=found.idf,
        )
        yield self._sources(plan, context, silent=False)
        wording = Wording(context.excerpts)
        try:
            self._refuse_what_must_not_leave(prompt, plan.generator)
            async with aclosing(self._timely(plan.generator, prompt)) as pieces:
                async for piece in pieces:
                    if shown := wording.add(piece):
                        yield DeltaEvent(text=shown)
            if shown := wording.close():
                yield DeltaEvent(text=shown)
        except VaultAskError as error:
            yield _error(error)
            return
        citations = ground(wording.text, wording.marks, wording.quotes, context.hits, self._vault_name())
        yield GroundingEvent(citations=citations, removed=wording.removed, refused=False)
        yield DoneEvent(seconds=self._clock() - asked.started, finish="length" if wording.cut_short else "stop")

    async def _timely(self, generator: Generator, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """Pass the pieces on, unless the next one takes too long."""
        seconds = self._settings.timeout_seconds
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

    def _sources(self, plan: "_Plan", context: Context[S], *, silent: bool) -> SourcesEvent:
        window = plan.generator.window
        if window is not None and not window.assured and not silent:
            plan = plan.telling(
                f"How much {plan.generator.name} can read at once is unknown; {window.tokens} tokens are assumed. Set "
                "models.context_tokens to what its server is started with."
            )
        return SourcesEvent(
            sources=sources(context.hits, self._vault_name()),
            silent=silent,
            personal_included=isinstance(plan.scope, PrivateScope),
            generator=plan.generator.name,
            notices=plan.notices,
        )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What came in, and when."""

    question: Question
    history: tuple[Turn, ...]
    note: str | None
    started: float


@dataclass(frozen=True, slots=True)
class _Plan:
    """Who words this answer, in which scope, and what the reader must be told."""

    generator: Generator
    scope: Scope
    notices: tuple[str, ...] = ()

    def telling(self, *notices: str) -> "_Plan":
        """Add notices, each once."""
        return replace(self, notices=tuple(dict.fromkeys((*self.notices, *notices))))


def _share_out(window: Window | None, question: str, talk: Conversation) -> tuple[tuple[Turn, ...], int | None]:
    """Divide a window: rules, question and reply come first, then some history; the rest is for excerpts."""
    if window is None:
        return talk.turns, None
    left = window.tokens - window.reply - tokens(RULES) - tokens(question) - _MARGIN
    turns = talk.within(left // _HISTORY_SHARE)
    return turns, left - sum(tokens(turn.text) for turn in turns)


def _sensitivity(turns: tuple[Turn, ...]) -> Sensitivity:
    """An earlier answer may quote any note that its scope could see."""
    return Sensitivity.PERSONAL if any(turn.role == "assistant" for turn in turns) else Sensitivity.OPEN


def _unmet(asked: _Asked, scope: Scope, found: Retrieved[S]) -> tuple[str, ...]:
    """Tell of notes that were named and took no part; in words that fit a hidden note and a missing one alike."""
    if isinstance(scope, PrivateScope):
        return ()
    return tuple(
        f"Nothing from “{name}” was used. If it is a personal note, ask again with personal notes included, which "
        "keeps the web out."
        for name in unmet_mentions(asked.question.text, asked.note, found.hits)
    )


def _too_long(generator: Generator) -> ErrorEvent:
    message = (
        f"The question is too long: beside it {generator.name} has no room left for any note. Ask a shorter question, "
        "or raise models.context_tokens."
    )
    return ErrorEvent(code="question_too_long", message=message, retry=False)


def _error(error: VaultAskError) -> ErrorEvent:
    match error:
        case ModelBusy():
            code = "model_busy"
        case ModelUnreachable():
            code = "model_unreachable"
        case ModelRefused():
            code = "model_refused"
        case _:
            code = "failed"
    return ErrorEvent(code=code, message=str(error), retry=isinstance(error, ModelBusy | ModelUnreachable))
