"""The story of one answer: pick who words it, retrieve, decide on silence and the web, word, ground, record.

Knows no provider and no storage. Every decision about privacy is taken before anything is read; what comes after can
only narrow it.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol

from vault_ask.answering.asked import AS_USUAL, Asked, Consulted, Plan, Wishes, share_out
from vault_ask.answering.context import Context, assemble, outspoken, tokens
from vault_ask.answering.conversation import Turn, remember
from vault_ask.answering.coverage import DEFAULT, Thresholds, is_silent, is_thin
from vault_ask.answering.evidence import Selection, VaultOnly, WithWeb
from vault_ask.answering.grounding import ground, sources
from vault_ask.answering.mentions import missing_notice, unmet_mentions, unmet_notice
from vault_ask.answering.ports import Generator, WebSearch
from vault_ask.answering.prompts import page_tokens, selection_tokens, vault_rules, web_rules
from vault_ask.answering.quoting import plain
from vault_ask.answering.sayings import nothing_fits, silence
from vault_ask.answering.speaking import Speaker, broken_off, too_long
from vault_ask.answering.understood import understood
from vault_ask.answering.web import WebAsked, citable
from vault_ask.answering.wording import Wording
from vault_ask.audit import Door, Record
from vault_ask.errors import BadRequest, ModelError, VaultAskError
from vault_ask.index.within import Filter
from vault_ask.notes.tasks import hold_tasks
from vault_ask.retrieval.hits import Retrieved
from vault_ask.retrieval.words import is_wordless
from vault_ask.scope import OpenScope, PrivateScope, Question, S, Scope
from vault_ask.settings.models import ModelSettings
from vault_ask.wire import AnswerEvent, DeltaEvent, DoneEvent, GroundingEvent, SourcesEvent

_POINTERS = 3
_NAME_STAYS_HOME = "The web was not asked, because the question names a note that took no part in the answer."

_SELECTION_REFUSED = (
    "The selected words were not used: their note is personal, or not in the index yet. Include personal notes, with a "
    "model on your own machines, to ask about them."
)


class Retrieve(Protocol):
    """Finds the passages of a question in a scope, without blocking the event loop."""

    def __call__(
        self,
        question: str,
        *,
        scope: S,
        note: str | None,
        k: int | None,
        filters: tuple[Filter, ...],
        typed: str | None,
    ) -> Awaitable[Retrieved[S]]:
        """Retrieve; the filters are no longer in the question, of which `typed` is no note's. Raises VaultAskError."""
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
        self._personal_to_remote_model = personal_to_remote_model
        self._speaker = Speaker(
            timeout_seconds=settings.timeout_seconds, personal_to_remote_model=personal_to_remote_model
        )
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
        wishes: Wishes = AS_USUAL,
        door: Door = "rest",
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of an answer: sources, deltas, grounding, perhaps the web's part, done; or a last error.

        Closing the generator stops the model and the web search at once. Raises VaultAskError only before the first
        event, when retrieval fails or selected words may not be used; whatever goes wrong with the model after that is
        an ErrorEvent.
        """
        asked = Asked(question, history, wishes, door, self._clock(), scope)
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

    async def _events(self, asked: Asked) -> AsyncGenerator[AnswerEvent, None]:
        plan = await self._reached(self._plan(asked.scope))
        asked.scope = plan.scope
        # The branches keep apart, for the type checker too, what may stand beside the web.
        match plan.scope:
            case OpenScope():
                # Before they are searched for: a reranker may run elsewhere.
                if asked.wishes.selection is not None and asked.wishes.note is None:
                    raise BadRequest(_SELECTION_REFUSED)
                reading = await self._read(asked, plan.scope)
                _refuse_words_out_of_sight(reading)
                events = self._open(asked, plan, reading)
            case PrivateScope():
                events = self._from_vault(asked, plan, await self._read(asked, plan.scope))
        async with aclosing(events):
            async for event in events:
                yield event

    async def _read(self, asked: Asked, scope: S) -> Consulted[S]:
        """Find what the vault says in a scope."""
        talk = remember(asked.history, scope)
        query = talk.query(asked.question.text)
        selection = asked.wishes.selection
        selected = None if selection is None else Selection(selection, scope)
        # Selected words are a subject, so that the question leans on no earlier turn.
        words = query if selected is None else f"{asked.words}\n{selected.text}"
        found = await self._retrieve(
            words,
            scope=scope,
            note=asked.wishes.note,
            k=asked.wishes.k,
            filters=asked.filtered.filters,
            typed=None if selected is None else asked.words,
        )
        asked.reranker = found.given_to
        named = asked.words if isinstance(scope, OpenScope) else ""
        # The note in question may well be what the filters leave out.
        note = None if asked.filtered.filters else asked.wishes.note
        unmet = unmet_mentions(named, note, found.hits)
        says_nothing = not _speaks(found) if found.is_listing else is_silent(found, self._thresholds)
        return Consulted(talk, query, found, unmet, says_nothing, selected)

    async def _open(self, asked: Asked, plan: Plan, reading: Consulted[OpenScope]) -> AsyncGenerator[AnswerEvent, None]:
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

    def _begun(self, asked: Asked, plan: Plan, reading: Consulted[OpenScope]) -> tuple[WebAsked | None, Plan]:
        """Ask the web where the vault is thin, and what would be sent names no note that took no part.

        Such a name is the vault's, whether or not there is such a note, so it stays at home. Who narrows a question to
        some notes, of which there are none, did not ask others.
        """
        allowed = isinstance(plan.scope, OpenScope) and plan.scope.web_allowed and not reading.nothing_fits
        question = reading.talk.web_question(asked.question)
        if not allowed or is_wordless(question.text) or not is_thin(reading.found, self._thresholds):
            return None, plan
        web = self._web()
        if web is None:
            return None, plan
        if unmet_mentions(question.text, asked.wishes.note, reading.found.hits):
            return None, plan.telling(_NAME_STAYS_HOME)
        beside = Context(reading.found.hits)
        search = WebAsked(web, question, beside=beside, is_vault_silent=reading.is_silent)
        asked.web = search.use
        return search, plan

    async def _from_vault(self, asked: Asked, plan: Plan, reading: Consulted[S]) -> AsyncGenerator[AnswerEvent, None]:
        unmet = unmet_notice if isinstance(plan.scope, OpenScope) else missing_notice
        plan = plan.telling(*reading.found.notices, *map(unmet, reading.unmet))
        events = self._silence(asked, plan, reading) if reading.is_silent else self._worded(asked, plan, reading)
        async with aclosing(events):
            async for event in events:
                yield event

    def _plan(self, scope: Scope) -> Plan:
        """Choose the generator; where none may see personal notes, narrow the scope and say so."""
        configured, personal = self._generators.configured, self._generators.personal
        if isinstance(scope, OpenScope) or configured.is_local or self._personal_to_remote_model:
            return Plan(configured, scope)
        if personal is not None and personal.is_local:
            return Plan(personal, scope)
        notice = (
            f"Personal notes were left out: {configured.name} does not run on your machines. To ask them, set "
            "models.personal_generation to a local model or to extractive."
        )
        return Plan(configured, OpenScope(web_allowed=False), (notice,))

    async def _reached(self, plan: Plan) -> Plan:
        """Answer by quotes when nobody listens where the model should be; known before anything is shown."""
        try:
            await plan.generator.reach()
        except ModelError as error:
            notice = f"{error} Until then the answer is made of quotes."
            return replace(plan, generator=self._generators.extractive).telling(notice)
        return plan

    async def _silence(self, asked: Asked, plan: Plan, reading: Consulted[S]) -> AsyncGenerator[AnswerEvent, None]:
        """Say that the vault is silent, and point to the nearest notes."""
        found = reading.found
        yield self._sources(plan, reading, Context(found.hits), silent=True)
        language = asked.wishes.language or found.language
        titles = list(dict.fromkeys(hit.title for hit in found.hits))[:_POINTERS]
        said = nothing_fits(language) if reading.nothing_fits else silence(language, [plain(title) for title in titles])
        yield DeltaEvent(text=said)
        yield GroundingEvent(citations=(), removed=0, refused=True)
        yield DoneEvent(seconds=self._clock() - asked.started, finish="stop")

    async def _worded(self, asked: Asked, plan: Plan, reading: Consulted[S]) -> AsyncGenerator[AnswerEvent, None]:
        """Let the generator word the answer, show what may be shown of it, and ground it."""
        needed = tokens(
            vault_rules(
                asked.wishes.language,
                is_about_a_note=asked.wishes.note is not None,
                has_selection=reading.selected is not None,
                has_tasks=hold_tasks(hit.body for hit in reading.found.hits),
            )
        ) + selection_tokens(asked.wishes.selection)
        talk, room = share_out(plan.generator.window, asked.words, reading.talk, needed)
        context = assemble(outspoken(reading.found.hits), room=room)
        if not context.hits:
            yield too_long(plan.generator)
            return
        yield self._sources(plan, reading, context, silent=False)
        wording = Wording(context.excerpts)
        try:
            prompt = reading.prompt(asked, VaultOnly(context, talk, reading.selected))
            async with aclosing(self._speaker.shown(plan.generator, prompt, wording)) as shown:
                async for text in shown:
                    yield DeltaEvent(text=text)
        except VaultAskError as error:
            yield broken_off(error)
            return
        citations = ground(wording.text, wording.marks, wording.quotes, context.hits, self._vault_name())
        yield GroundingEvent(citations=citations, removed=wording.removed, refused=False)
        yield DoneEvent(seconds=self._clock() - asked.started, finish="length" if wording.cut_short else "stop")

    async def _from_web(
        self, asked: Asked, plan: Plan, reading: Consulted[OpenScope], search: WebAsked
    ) -> AsyncGenerator[AnswerEvent, None]:
        """List what the web gave, and let a model say what it adds; without a model the list speaks for itself."""
        yield await search.event()
        asked.web = search.use
        if not search.pages or plan.generator is self._generators.extractive:
            return
        rules = web_rules(asked.wishes.language, has_selection=reading.selected is not None)
        needed = tokens(rules) + page_tokens(search.pages) + selection_tokens(asked.wishes.selection)
        talk, room = share_out(plan.generator.window, asked.words, reading.talk, needed)
        hits = () if reading.is_silent else outspoken(reading.found.hits)
        evidence = WithWeb(assemble(hits, room=room), talk, search.pages, reading.selected)
        prompt = reading.prompt(asked, evidence)
        try:
            async with aclosing(self._speaker.shown(plan.generator, prompt, Wording(citable(search.pages)))) as shown:
                async for text in shown:
                    yield DeltaEvent(text=text, part="web")
        except VaultAskError as error:
            # The vault's part is whole and the pages are listed, so this is no broken answer.
            yield DeltaEvent(text=f"\n\n{error}", part="web")

    def _sources(self, plan: Plan, reading: Consulted[S], context: Context[S], *, silent: bool) -> SourcesEvent:
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
            understood=understood(reading.found.understood),
        )


def _speaks(found: Retrieved[S]) -> bool:
    """Tell whether there is any text among the hits, and not names alone."""
    return any(hit.body.strip() for hit in found.hits)


def _refuse_words_out_of_sight(reading: Consulted[OpenScope]) -> None:
    """Refuse selected words of a note that an open scope does not see, hidden or absent: nobody can tell what they are.

    Raises BadRequest. The model may be one that only open notes may reach.
    """
    if reading.selected is not None and not any(hit.in_question for hit in reading.found.hits):
        raise BadRequest(_SELECTION_REFUSED)
