"""The story of one answer: pick who words it, retrieve, decide on silence and the web, word, ground, record.

Knows no provider and no storage. Every decision about privacy is taken before anything is read; what comes after can
only narrow it.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Generic, Protocol

from vault_ask.answering.context import Context, assemble, speaking, tokens
from vault_ask.answering.conversation import Conversation, Turn, remember
from vault_ask.answering.coverage import DEFAULT, Thresholds, is_silent, is_thin
from vault_ask.answering.evidence import Evidence, Prompt, VaultOnly, WithWeb
from vault_ask.answering.grounding import ground, sources
from vault_ask.answering.mentions import unmet_mentions
from vault_ask.answering.ports import Generator, Piece, WebSearch, Window
from vault_ask.answering.prompts import RULES, WEB_RULES, page_tokens
from vault_ask.answering.sayings import silence
from vault_ask.answering.web import WebAsked, citable
from vault_ask.answering.wording import Wording, plain
from vault_ask.audit import Door, Record, WebUse
from vault_ask.errors import ModelBusy, ModelError, ModelRefused, ModelUnreachable, VaultAskError
from vault_ask.retrieval.hits import Retrieved, S
from vault_ask.retrieval.words import is_wordless
from vault_ask.scope import OpenScope, PrivateScope, Question, Scope, may_leave
from vault_ask.settings import ModelSettings
from vault_ask.wire import AnswerEvent, DeltaEvent, DoneEvent, ErrorEvent, GroundingEvent, SourcesEvent

_POINTERS = 3
_HISTORY_SHARE = 4
"""The history takes at most one part in so many of the room that rules and question leave."""
_NAME_STAYS_HOME = "The web was not asked, because the question names a note that took no part in the answer."
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
        web: Callable[[], WebSearch | None] = lambda: None,
        record: Callable[[Record], None] = lambda _record: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._retrieve = retrieve
        self._generators = generators
        self._vault_name = vault_name
        self._settings = settings
        self._personal_to_remote_model = personal_to_remote_model
        self._thresholds = thresholds
        self._web = web
        self._record = record
        self._clock = clock

    async def answer(
        self,
        question: Question,
        *,
        scope: Scope,
        history: tuple[Turn, ...] = (),
        note: str | None = None,
        door: Door = "rest",
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of an answer: sources, deltas, grounding, perhaps the web's part, done; or a last error.

        Closing the generator stops the model and the web search at once. Raises VaultAskError only before the first
        event, when retrieval fails; whatever goes wrong with the model after that is an ErrorEvent.
        """
        asked = _Asked(question, history, note, door, self._clock(), scope)
        try:
            async with aclosing(self._events(asked)) as events:
                async for event in events:
                    asked.see(event)
                    yield event
        except VaultAskError:
            asked.outcome = "error:failed"
            raise
        except Exception:
            asked.outcome = "error:unexpected"
            raise
        finally:
            self._record(asked.record(self._clock()))

    async def _events(self, asked: "_Asked") -> AsyncGenerator[AnswerEvent, None]:
        plan = await self._reached(self._plan(asked.scope))
        asked.scope = plan.scope
        # The branches keep apart, for the type checker too, what may stand beside the web.
        match plan.scope:
            case OpenScope():
                events = self._open(asked, plan, await self._read(asked, plan.scope))
            case PrivateScope():
                events = self._from_vault(asked, plan, await self._read(asked, plan.scope))
        async with aclosing(events):
            async for event in events:
                yield event

    async def _read(self, asked: "_Asked", scope: S) -> "_Reading[S]":
        """Find what the vault says in a scope."""
        talk = remember(asked.history, scope)
        query = talk.query(asked.question.text)
        found = await self._retrieve(query, scope=scope, note=asked.note)
        unmet = () if isinstance(scope, PrivateScope) else unmet_mentions(asked.question.text, asked.note, found.hits)
        return _Reading(talk, query, found, unmet, is_silent=is_silent(found, self._thresholds))

    async def _open(
        self, asked: "_Asked", plan: "_Plan", reading: "_Reading[OpenScope]"
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Answer from open notes, and from the web where it may help; it is searched while the vault's part is worded.

        The search begins before anything is shown, and its part comes last, so that nobody waits for it.
        """
        search, plan = self._begun(asked, plan, reading)
        try:
            async with aclosing(self._from_vault(asked, plan, reading)) as events:
                async for event in events:
                    if search is not None and isinstance(event, DoneEvent):
                        async with aclosing(self._from_web(asked, plan, reading, search)) as more:
                            async for late in more:
                                yield late
                        yield event.model_copy(update={"seconds": self._clock() - asked.started})
                    else:
                        yield event
        finally:
            if search is not None:
                await search.close()

    def _begun(self, asked: "_Asked", plan: "_Plan", reading: "_Reading[OpenScope]") -> tuple[WebAsked | None, "_Plan"]:
        """Ask the web where the vault is thin, and what would be sent names no note that took no part.

        Such a name is the vault's, whether or not there is such a note, so it stays at home.
        """
        allowed = isinstance(plan.scope, OpenScope) and plan.scope.web_allowed
        question = reading.talk.web_question(asked.question)
        if not allowed or is_wordless(question.text) or not is_thin(reading.found, self._thresholds):
            return None, plan
        web = self._web()
        if web is None:
            return None, plan
        if unmet_mentions(question.text, asked.note, reading.found.hits):
            return None, plan.telling(_NAME_STAYS_HOME)
        beside = Context(reading.found.hits)
        search = WebAsked(web, question, beside=beside, is_vault_silent=reading.is_silent)
        asked.web = search.use
        return search, plan

    async def _from_vault(
        self, asked: "_Asked", plan: "_Plan", reading: "_Reading[S]"
    ) -> AsyncGenerator[AnswerEvent, None]:
        plan = plan.telling(*reading.found.notices, *map(_unmet, reading.unmet))
        events = self._silence(asked, plan, reading) if reading.is_silent else self._worded(asked, plan, reading)
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

    async def _silence(
        self, asked: "_Asked", plan: "_Plan", reading: "_Reading[S]"
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Say that the vault is silent, and point to the nearest notes."""
        found = reading.found
        yield self._sources(plan, Context(found.hits), silent=True)
        titles = list(dict.fromkeys(hit.title for hit in found.hits))[:_POINTERS]
        yield DeltaEvent(text=silence(found.language, [plain(title) for title in titles]))
        yield GroundingEvent(citations=(), removed=0, refused=True)
        yield DoneEvent(seconds=self._clock() - asked.started, finish="stop")

    async def _worded(
        self, asked: "_Asked", plan: "_Plan", reading: "_Reading[S]"
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Let the generator word the answer, show what may be shown of it, and ground it."""
        question = asked.question.text
        talk, room = _share_out(plan.generator.window, question, reading.talk, tokens(RULES))
        context = assemble(speaking(reading.found.hits, asked.note), room=room)
        if not context.hits:
            yield _too_long(plan.generator)
            return
        yield self._sources(plan, context, silent=False)
        wording = Wording(context.excerpts)
        try:
            prompt = reading.prompt(question, VaultOnly(context, talk))
            async with aclosing(self._shown(plan.generator, prompt, wording)) as shown:
                async for text in shown:
                    yield DeltaEvent(text=text)
        except VaultAskError as error:
            yield _error(error)
            return
        citations = ground(wording.text, wording.marks, wording.quotes, context.hits, self._vault_name())
        yield GroundingEvent(citations=citations, removed=wording.removed, refused=False)
        yield DoneEvent(seconds=self._clock() - asked.started, finish="length" if wording.cut_short else "stop")

    async def _from_web(
        self, asked: "_Asked", plan: "_Plan", reading: "_Reading[OpenScope]", search: WebAsked
    ) -> AsyncGenerator[AnswerEvent, None]:
        """List what the web gave, and let a model say what it adds; without a model the list speaks for itself."""
        yield await search.event()
        asked.web = search.use
        if not search.pages or plan.generator is self._generators.extractive:
            return
        question = asked.question.text
        needed = tokens(WEB_RULES) + page_tokens(search.pages)
        talk, room = _share_out(plan.generator.window, question, reading.talk, needed)
        hits = () if reading.is_silent else speaking(reading.found.hits, asked.note)
        prompt = reading.prompt(question, WithWeb(assemble(hits, room=room), talk, search.pages))
        try:
            async with aclosing(self._shown(plan.generator, prompt, Wording(citable(search.pages)))) as shown:
                async for text in shown:
                    yield DeltaEvent(text=text, part="web")
        except VaultAskError as error:
            # The vault's part is whole and the pages are listed, so this is no broken answer.
            yield DeltaEvent(text=f"\n\n{error}", part="web")

    async def _shown(self, generator: Generator, prompt: Prompt, wording: Wording) -> AsyncGenerator[str, None]:
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


@dataclass(slots=True)
class _Asked:
    """What came in, and what has become of it so far."""

    question: Question
    history: tuple[Turn, ...]
    note: str | None
    door: Door
    started: float
    scope: Scope
    web: WebUse | None = None
    shown: SourcesEvent | None = None
    outcome: str = "stopped"

    def see(self, event: AnswerEvent) -> None:
        """Keep what the record tells."""
        match event:
            case SourcesEvent():
                self.shown = event
            case DoneEvent():
                self.outcome = "silent" if self.shown is not None and self.shown.silent else "done"
            case ErrorEvent():
                self.outcome = f"error:{event.code}"

    def record(self, now: float) -> Record:
        """Tell what the record keeps of it."""
        sources_shown = self.shown.sources if self.shown else ()
        return Record(
            door=self.door,
            action="ask",
            scope=self.scope,
            question=self.question.text,
            notes=tuple(dict.fromkeys(source.path for source in sources_shown)),
            model=self.shown.generator if self.shown else None,
            web=self.web,
            outcome=self.outcome,
            seconds=now - self.started,
        )


@dataclass(frozen=True)
class _Reading(Generic[S]):
    """What the vault says: the conversation and query it was searched with, the hits, and what was named in vain."""

    talk: Conversation[S]
    query: str
    found: Retrieved[S]
    unmet: tuple[str, ...]
    is_silent: bool

    def prompt(self, question: str, evidence: Evidence) -> Prompt:
        """Put a prompt together."""
        return Prompt(
            question=question,
            language=self.found.language,
            evidence=evidence,
            query=self.query,
            idf=self.found.idf,
        )


@dataclass(frozen=True, slots=True)
class _Plan:
    """Who words this answer, in which scope, and what the reader must be told."""

    generator: Generator
    scope: Scope
    notices: tuple[str, ...] = ()

    def telling(self, *notices: str) -> "_Plan":
        """Add notices, each once."""
        return replace(self, notices=tuple(dict.fromkeys((*self.notices, *notices))))


def _share_out(
    window: Window | None, question: str, talk: Conversation[S], taken: int
) -> tuple[Conversation[S], int | None]:
    """Divide a window: `taken` tokens, question and reply come first, then some history; the rest is for excerpts."""
    if window is None:
        return talk, None
    left = window.tokens - window.reply - taken - tokens(question) - _MARGIN
    kept = talk.within(left // _HISTORY_SHARE)
    return kept, left - sum(tokens(turn.text) for turn in kept.turns)


def _unmet(name: str) -> str:
    """Tell of a note that was named and took no part; in words that fit a hidden note and a missing one alike."""
    return (
        f"Nothing from “{name}” was used. If it is a personal note, ask again with personal notes included, which "
        "keeps the web out."
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
