"""What reads: search and answers over the index in use."""

import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Literal

from vault_ask.answering.ask import AskVault
from vault_ask.answering.asked import AS_USUAL, Wishes
from vault_ask.answering.conversation import Turn
from vault_ask.answering.reading import Lines, Reading
from vault_ask.answering.searching import named_notes, search_response
from vault_ask.audit import AuditLog, Door, Record
from vault_ask.composition.models import Models
from vault_ask.composition.parts import globs_of, make_rules
from vault_ask.composition.searchers import Searchers
from vault_ask.composition.todays_rules import TodaysRules
from vault_ask.errors import ModelError, NoIndex
from vault_ask.index.embedding import Embedder, space_changed
from vault_ask.index.files import IndexFiles
from vault_ask.index.view import Index, VaultView
from vault_ask.ingest.backlog import BacklogState
from vault_ask.ingest.progress import Snapshot
from vault_ask.ingest.status import Running, describe
from vault_ask.notes.language import LanguageDetector
from vault_ask.retrieval.fusion import MODEL, Model
from vault_ask.retrieval.hits import Retrieved
from vault_ask.retrieval.retriever import NOW, Retriever
from vault_ask.scope import OpenScope, PrivateScope, Question, S, Scope, Sensitivity
from vault_ask.settings import Settings
from vault_ask.sources.port import SourceState
from vault_ask.wire import (
    AnswerEvent,
    GenerationStatus,
    NoteResponse,
    RelatedResponse,
    SearchResponse,
    StatusResponse,
)

Clock = Callable[[], datetime]


class Library:
    """What reads: search and answers over the index in use. Needs no lock, so it works beside a running daemon."""

    def __init__(
        self, settings: Settings, embedder: Embedder | None, *, model: Model = MODEL, clock: Clock = NOW
    ) -> None:
        self.settings = settings
        self.files = IndexFiles(settings.data)
        self.index = Index(self.files)
        self.embedder = embedder
        self.models = Models(settings, embedder)
        self.retriever = Retriever(
            embedder=embedder,
            languages=LanguageDetector(),
            settings=settings.retrieval,
            graph=settings.graph,
            topics=settings.topics,
            time=settings.time,
            reranking=self.models.reranking,
            model=model,
            clock=clock,
        )
        self.audit = AuditLog(settings.data / "audit", settings.audit)
        self.reading = Reading(self.open_view, record=self._keep_record)
        self._searchers = Searchers(self.index)
        self._rules = TodaysRules(settings, self.files, self.index)
        self._closed = False
        self._told_name: str | None = None

    def close(self) -> None:
        """End the search threads, each of which closes the connections it read through, and close this thread's.

        A search that waits for a slow model is left behind.
        """
        if not self._closed:
            self._closed = True
            self._searchers.close()
            # After the searches, which write their own records.
            self.audit.close()
        self.index.close()

    @property
    def vault_name(self) -> str:
        """The vault's name in obsidian:// links: as configured, as its source told it, or as its place is called."""
        vault = self.settings.vault
        named = vault.name or self._told_name or (vault.path.resolve().name if vault.path else None)
        return named or vault.couchdb.database or "vault"

    @cached_property
    def asking(self) -> AskVault:
        """The answering core."""
        return AskVault(
            retrieve=self._retrieve_in_thread,
            generators=self.models.generators,
            vault_name=lambda: self.vault_name,
            settings=self.settings.models,
            personal_to_remote_model=self.settings.sensitivity.personal_to_remote_model,
            thresholds=self.models.thresholds(),
            web=lambda: self.models.web,
            record=self._keep_record,
        )

    def retrieve(self, question: str, *, scope: S, **how: Any) -> Retrieved[S]:  # noqa: ANN401 - passed through
        """Retrieve in this thread, under a scope; `how` is as in Retriever.retrieve. Raises NoIndex."""
        if how.get("arm", "hybrid") == "hybrid":
            self._ready_reranker()
        with self.open_view(scope) as view:
            self._told_name = view.state.vault_name
            return self.retriever.retrieve(view, question, **how)

    def answer(
        self,
        question: Question,
        *,
        scope: Scope,
        history: tuple[Turn, ...] = (),
        wishes: Wishes = AS_USUAL,
        door: Door = "rest",
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Answer a question as a stream of events, and record it.

        Raises KeyNotSet when the scope allows the web and the chosen provider's key is missing.
        """
        if isinstance(scope, OpenScope) and scope.web_allowed:
            self.models.check_web()
        return self.asking.answer(question, scope=scope, history=history, wishes=wishes, door=door)

    async def search(self, query: str, *, scope: Scope, k: int, arm: str, door: Door = "rest") -> SearchResponse:
        """Search in a worker thread."""
        return await self._searchers.run(partial(self.search_now, query, scope=scope, k=k, arm=arm, door=door))

    def search_now(self, query: str, *, scope: Scope, k: int, arm: str, door: Door = "rest") -> SearchResponse:
        """Search in this thread, and record it."""
        started, found = time.monotonic(), None
        given_to: list[str] = []
        try:
            found = self._searched(query, given_to, scope=scope, k=k, arm=arm)
            return found
        finally:
            hits = found.hits if found else ()
            self._keep_record(
                Record(
                    door=door,
                    action="search",
                    scope=scope,
                    question=query,
                    notes=named_notes(hits),
                    model=None,
                    web=None,
                    outcome="error:failed" if found is None else "done" if hits else "silent",
                    seconds=time.monotonic() - started,
                    reranker=next(iter(given_to), None),
                )
            )

    async def note(self, path: str, lines: Lines, *, scope: Scope) -> NoteResponse:
        """Read lines of a note in a worker thread."""
        return await self._searchers.run(partial(self.reading.note, path, lines, scope=scope))

    async def related(self, path: str, *, scope: Scope, k: int) -> RelatedResponse:
        """Find the notes near a note in a worker thread."""
        return await self._searchers.run(partial(self.reading.related, path, scope=scope, k=k))

    @contextmanager
    def open_view(self, scope: S) -> Iterator[VaultView[S]]:
        """Open the index in this thread, as it is under today's rules. Raises NoIndex, IndexFailed."""
        self._keep_rules()
        with self.index.open(scope) as view:
            yield view

    def _keep_record(self, record: Record) -> None:
        """Record what was done. A folder without an index is none of ours: it may be the vault, named by mistake."""
        if self.files.current.exists():
            self.audit.write(record)

    def _searched(self, query: str, given_to: list[str], *, scope: Scope, k: int, arm: str) -> SearchResponse:
        """Search; `given_to` takes the name of whoever was given passages."""
        match scope:
            case OpenScope():
                return search_response(
                    partial(self._retrieved, query, given_to, scope=scope, k=k, arm=arm), lambda: self.vault_name
                )
            case PrivateScope():
                return search_response(
                    partial(self._retrieved, query, given_to, scope=scope, k=k, arm=arm), lambda: self.vault_name
                )

    def _retrieved(self, query: str, given_to: list[str], *, scope: S, k: int, arm: str) -> Retrieved[S]:
        found: Retrieved[S] = self.retrieve(query, scope=scope, k=k, arm=arm)
        given_to += filter(None, [found.given_to])
        return found

    def describe(self, ceiling: Sensitivity) -> StatusResponse:
        """Describe the index as a command sees it that runs beside the daemon, or without one."""
        with self.index.open(OpenScope(web_allowed=False)) as view:
            kind: Literal["folder", "couchdb"] = "couchdb" if view.state.source_kind == "couchdb" else "folder"
        message = "This command only looked at the index; /api/status of a running daemon knows more."
        state = SourceState("unfollowed", message, kind=kind)
        backlog = BacklogState(rebuild_needed=self._rebuild_needed())
        running = self._running(source=state, backlog=backlog)
        return describe(self.index, make_rules(self.settings), running, ceiling, globs_of(self.settings))

    def _learn_name(self) -> None:
        with suppress(NoIndex), self.index.open(OpenScope(web_allowed=False)) as view:
            self._told_name = view.state.vault_name

    def _rebuild_needed(self) -> str | None:
        """Tell that the stored vectors are of another model than the configured one, if that one can be asked."""
        with self.index.open(OpenScope(web_allowed=False)) as view, suppress(ModelError):
            if self.embedder and view.vectors.space and view.vectors.space != self.embedder.space.fingerprint:
                return space_changed(view.vectors.model or "another model", self.embedder.space)
        return None

    def _running(
        self,
        *,
        source: SourceState,
        progress: Snapshot | None = None,
        caught_up: bool = True,
        backlog: BacklogState | None = None,
        retry_in: float | None = None,
        warnings: tuple[str, ...] = (),
    ) -> Running:
        self._learn_name()
        web, trouble = self.models.web_status()
        return Running(
            vault_name=self.vault_name,
            source=source,
            progress=progress or Snapshot(),
            caught_up=caught_up,
            backlog=backlog or BacklogState(),
            retry_in=retry_in,
            model=self.settings.embedding.model,
            generation=self._generation(),
            web=web,
            reranker=self.models.reranker_status(),
            warnings=(*warnings, *trouble, *filter(None, [self.audit.trouble])),
        )

    def _generation(self) -> GenerationStatus:
        configured = self.models.generators.configured
        return GenerationStatus(generator=configured.name, local=configured.is_local, offered=self._offered())

    def _offered(self) -> tuple[str, ...]:
        return self.models.offered()

    def _ready_reranker(self) -> None:
        self.models.ready_reranker()

    def _keep_rules(self) -> None:
        """Raise IndexBusy when a daemon that still knows former rules owns the data folder."""
        self._rules.apply()

    async def _retrieve_in_thread(
        self,
        question: str,
        *,
        scope: S,
        **how: Any,  # noqa: ANN401 - passed through
    ) -> Retrieved[S]:
        return await self._searchers.run(partial(self.retrieve, question, scope=scope, **how))
