"""The composition root: settings in, a working vault-ask out. The only file that picks implementations."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from threading import Barrier, Lock, Thread
from typing import Any, Literal, TypeVar, assert_never

import structlog

from vault_ask.answering.ask import AskVault, Generators
from vault_ask.answering.asked import AS_USUAL, Wishes
from vault_ask.answering.conversation import Turn
from vault_ask.answering.coverage import thresholds_for
from vault_ask.answering.ports import Generator, WebSearch
from vault_ask.answering.reading import Lines, Reading
from vault_ask.answering.searching import search_response
from vault_ask.audit import AuditLog, Door, Record
from vault_ask.bulletin import Bulletin
from vault_ask.errors import ConfigError, IndexBusy, IndexDamaged, ModelError, NoIndex, VaultAskError
from vault_ask.index.embedding import Embedder, space_changed
from vault_ask.index.files import IndexFiles
from vault_ask.index.view import Index, VaultView
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.backlog import BacklogState
from vault_ask.ingest.ingest import reclassify
from vault_ask.ingest.keeper import Keeper
from vault_ask.ingest.progress import Snapshot
from vault_ask.ingest.status import Running, Work, describe, index_event, versions
from vault_ask.ingest.workshop import Tools
from vault_ask.news import Editions, News, told
from vault_ask.notes.days import DATE_PROPERTIES, Dating
from vault_ask.notes.language import LanguageDetector
from vault_ask.notes.sensitivity import Rules
from vault_ask.providers.embedded import EmbeddedEmbedder
from vault_ask.providers.extractive import ExtractiveGenerator
from vault_ask.providers.litellm_models import LitellmGenerator
from vault_ask.providers.litellm_reranker import make_reranker
from vault_ask.providers.web import make_web
from vault_ask.retrieval.fusion import MODEL, Model
from vault_ask.retrieval.hits import Retrieved, S
from vault_ask.retrieval.rerank import Reranking
from vault_ask.retrieval.retriever import NOW, Retriever
from vault_ask.retrieval.when import load_words
from vault_ask.scope import OpenScope, PrivateScope, Question, Scope, Sensitivity
from vault_ask.settings import Settings
from vault_ask.sources.filesystem import FolderSource
from vault_ask.sources.port import SourceState, VaultSource
from vault_ask.wire import (
    AnswerEvent,
    GenerationStatus,
    IndexEvent,
    NoteResponse,
    NotesEvent,
    RelatedResponse,
    RerankerStatus,
    SearchResponse,
    StatusResponse,
    WebStatus,
)

log = structlog.get_logger()

T = TypeVar("T")

Clock = Callable[[], datetime]

SEARCH_THREADS = 2
CLOSE_SECONDS = 4.0
NOT_READ_YET = "The vault cannot be read just now and has not been since the start; `vault-ask status` says why."
OFFER_SECONDS = 60.0
"""How long a look for a running Ollama is believed."""


def make_embedder(settings: Settings, tell: Callable[[str], None] | None = None) -> Embedder:
    """Pick the embedder that the settings name."""
    match settings.embedding.provider:
        case "embedded":
            return EmbeddedEmbedder(settings.embedding, settings.data / "models", progress=tell)
        case "ollama":
            # Late, here and below: Ollama's client costs a quarter of a second, which only its users should pay.
            from vault_ask.providers.ollama import OllamaEmbedder  # noqa: PLC0415

            return OllamaEmbedder(settings.embedding)
        case other:
            assert_never(other)


def make_source(settings: Settings) -> VaultSource:
    """Pick the source of notes. Raises ConfigError when no vault is named or the data folder lies inside it."""
    vault = settings.vault
    if vault.source == "folder" or vault.couchdb.url is None:
        return FolderSource(vault, data=settings.data)
    # Late: cryptography and the HTTP client are for those who use them.
    from vault_ask.sources.couchdb import CouchSource  # noqa: PLC0415

    if vault.source == "couchdb" or vault.path is None:
        return CouchSource(vault)
    from vault_ask.sources.choosing import AutoSource  # noqa: PLC0415

    return AutoSource(partial(CouchSource, vault), FolderSource(vault, data=settings.data))


def make_rules(settings: Settings) -> Rules:
    """Compile the owner's sensitivity rules. Raises ConfigError for a pattern that cannot be read."""
    said = settings.sensitivity
    default = Sensitivity[said.default.upper()]
    return Rules.compile(said.personal_paths, said.frontmatter_key, personal_tags=said.personal_tags, default=default)


def make_dating(settings: Settings) -> Dating:
    """Tell how dates are read in this vault."""
    named = settings.time.properties
    return Dating(zone=settings.time.tzinfo, properties=DATE_PROPERTIES if named is None else named)


def make_reranking(settings: Settings) -> Reranking | None:
    """Put together what looks at the best passages again; None where the settings name no reranker."""
    reranker = make_reranker(settings.rerank, settings.models.local_hosts)
    return Reranking(reranker, settings.rerank) if reranker else None


def make_tools(settings: Settings, embedder: Embedder | None) -> Tools:
    """Put together what an index is made with."""
    return Tools(
        source=make_source(settings),
        embedder=embedder,
        rules=make_rules(settings),
        chunks=settings.chunks,
        centring=settings.embedding.centring,
        dating=make_dating(settings),
        make_source=partial(make_source, settings),
    )


class Library:
    """What reads: search and answers over the index in use. Needs no lock, so it works beside a running daemon."""

    def __init__(
        self, settings: Settings, embedder: Embedder | None, *, model: Model = MODEL, clock: Clock = NOW
    ) -> None:
        self.settings = settings
        self.files = IndexFiles(settings.data)
        self.index = Index(self.files)
        self.embedder = embedder
        self.reranking = make_reranking(settings)
        self.retriever = Retriever(
            embedder=embedder,
            languages=LanguageDetector(),
            settings=settings.retrieval,
            graph=settings.graph,
            topics=settings.topics,
            time=settings.time,
            reranking=self.reranking,
            model=model,
            clock=clock,
        )
        self.audit = AuditLog(settings.data / "audit", settings.audit)
        self.reading = Reading(self.open_view, record=self._keep_record)
        self._searchers = ThreadPoolExecutor(SEARCH_THREADS, thread_name_prefix="search")
        self._closed = False
        self._rules_kept = False
        self._keeping_rules = Lock()
        self._told_name: str | None = None

    def close(self) -> None:
        """End the search threads, each of which closes the connections it read through, and close this thread's.

        A search that waits for a slow model is left behind.
        """
        if not self._closed:
            self._closed = True
            together = Barrier(SEARCH_THREADS, timeout=CLOSE_SECONDS)
            wait([self._searchers.submit(self._close_readers, together) for _ in range(SEARCH_THREADS)], CLOSE_SECONDS)
            self._searchers.shutdown(wait=False)
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
    def generators(self) -> Generators:
        """Who words the answers."""
        models = self.settings.models
        extractive = ExtractiveGenerator(embedder=self.embedder, answer_chars=models.answer_chars)
        return Generators(
            configured=self._generator(models.generation, extractive),
            personal=self._generator(models.personal_generation, extractive) if models.personal_generation else None,
            extractive=extractive,
        )

    @cached_property
    def asking(self) -> AskVault:
        """The answering core."""
        return AskVault(
            retrieve=self._retrieve_in_thread,
            generators=self.generators,
            vault_name=lambda: self.vault_name,
            settings=self.settings.models,
            personal_to_remote_model=self.settings.sensitivity.personal_to_remote_model,
            thresholds=thresholds_for(self._embedding_model(), self.settings.web.thin_below),
            web=lambda: self.web,
            record=self._keep_record,
        )

    def retrieve(self, question: str, *, scope: S, **how: Any) -> Retrieved[S]:  # noqa: ANN401 - passed through
        """Retrieve in this thread, under a scope; `how` is as in Retriever.retrieve. Raises NoIndex."""
        if how.get("arm", "hybrid") == "hybrid":
            self._ready_reranker()
        with self.open_view(scope) as view:
            self._told_name = view.vault_name
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
            self._check_web()
        return self.asking.answer(question, scope=scope, history=history, wishes=wishes, door=door)

    async def search(self, query: str, *, scope: Scope, k: int, arm: str, door: Door = "rest") -> SearchResponse:
        """Search in a worker thread."""
        return await self._in_thread(partial(self.search_now, query, scope=scope, k=k, arm=arm, door=door))

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
                    notes=tuple(dict.fromkeys(hit.path for hit in hits)),
                    model=None,
                    web=None,
                    outcome="error:failed" if found is None else "done" if hits else "silent",
                    seconds=time.monotonic() - started,
                    reranker=next(iter(given_to), None),
                )
            )

    async def note(self, path: str, lines: Lines, *, scope: Scope) -> NoteResponse:
        """Read lines of a note in a worker thread."""
        return await self._in_thread(partial(self.reading.note, path, lines, scope=scope))

    async def related(self, path: str, *, scope: Scope, k: int) -> RelatedResponse:
        """Find the notes near a note in a worker thread."""
        return await self._in_thread(partial(self.reading.related, path, scope=scope, k=k))

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
            kind: Literal["folder", "couchdb"] = "couchdb" if view.source_kind == "couchdb" else "folder"
        message = "This command only looked at the index; /api/status of a running daemon knows more."
        state = SourceState("unfollowed", message, kind=kind)
        backlog = BacklogState(rebuild_needed=self._rebuild_needed())
        return describe(self.index, make_rules(self.settings), self._running(source=state, backlog=backlog), ceiling)

    def _learn_name(self) -> None:
        with suppress(NoIndex), self.index.open(OpenScope(web_allowed=False)) as view:
            self._told_name = view.vault_name

    def _rebuild_needed(self) -> str | None:
        """Tell that the stored vectors are of another model than the configured one, if that one can be asked."""
        with self.index.open(OpenScope(web_allowed=False)) as view, suppress(ModelError):
            if self.embedder and view.space and view.space != self.embedder.space.fingerprint:
                return space_changed(view.model or "another model", self.embedder.space)
        return None

    def _keep_rules(self) -> None:
        """Apply rules that changed since the last index run, before anything is read by the former ones.

        Raises IndexBusy when a daemon that still knows the former rules owns the data folder.
        """
        with self._keeping_rules:
            if self._rules_kept or not self.files.current.exists():
                return
            rules = make_rules(self.settings)
            with self.index.open(OpenScope(web_allowed=False)) as view:
                stored = view.rules
            if stored != rules.fingerprint:
                self._reclassify(rules)
            self._rules_kept = True

    def _reclassify(self, rules: Rules) -> None:
        try:
            with self.files.owned():
                writer = IndexWriter(self.files.current)
                try:
                    reclassify(writer, rules)
                finally:
                    writer.close()
        except IndexBusy:
            raise IndexBusy(
                "The rules of what is personal have changed, and the running daemon still holds the former ones, so "
                "nothing was answered. Restart the daemon, or start this command with its settings."
            ) from None

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
        web, trouble = self._web_status()
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
            reranker=self._reranker_status(),
            warnings=(*warnings, *trouble, *filter(None, [self.audit.trouble])),
        )

    @cached_property
    def web(self) -> WebSearch | None:
        """The web search; None while the web is off. Raises KeyNotSet when the chosen provider's key is missing."""
        return make_web(self.settings)

    def _embedding_model(self) -> str:
        """Name the model that really embeds, since what was measured of one holds for no other."""
        with suppress(ModelError):
            if self.embedder is not None:
                return self.embedder.space.model
        return self.settings.embedding.model

    def _check_web(self) -> None:
        _ = self.web

    def _web_status(self) -> tuple[WebStatus, tuple[str, ...]]:
        """Tell how the web stands, and what keeps it from working."""
        off = WebStatus(enabled=False, provider=None, keeps_question_home=False)
        try:
            web = self.web
        except ConfigError as error:
            return off, (str(error),)
        if web is None:
            return off, ()
        return WebStatus(enabled=True, provider=web.name, keeps_question_home=web.keeps_question_home), ()

    def _generation(self) -> GenerationStatus:
        configured = self.generators.configured
        return GenerationStatus(generator=configured.name, local=configured.is_local, offered=self._offered())

    def _ready_reranker(self) -> None:
        """Load what the reranker needs, which has no time for that once it is asked. May take seconds."""
        if self.reranking is not None:
            self.reranking.reranker.warm()

    def _reranker_status(self) -> RerankerStatus | None:
        if self.reranking is None:
            return None
        reranker = self.reranking.reranker
        return RerankerStatus(name=reranker.name, local=reranker.is_local)

    def _offered(self) -> tuple[str, ...]:
        """Name the chat models of an Ollama that runs where embedding.ollama_url says; it may take a second to ask."""
        from vault_ask.providers.ollama import running_chat_models  # noqa: PLC0415

        return tuple(f"ollama_chat/{name}" for name in running_chat_models(self.settings.embedding.ollama_url))

    async def _retrieve_in_thread(
        self,
        question: str,
        *,
        scope: S,
        **how: Any,  # noqa: ANN401 - passed through
    ) -> Retrieved[S]:
        return await self._in_thread(partial(self.retrieve, question, scope=scope, **how))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._searchers, work)

    def _close_readers(self, together: Barrier) -> None:
        # Nobody leaves before all have come, so that each thread runs this once.
        together.wait()
        self.index.close()

    def _generator(self, name: str, extractive: ExtractiveGenerator) -> Generator:
        return extractive if name == "extractive" else LitellmGenerator(self.settings.models, name)


class Daemon(Library):
    """The running whole: reads as a library, follows the vault, and owns the data folder while it runs."""

    def __init__(self, settings: Settings, embedder: Embedder, *, clock: Clock = NOW) -> None:
        super().__init__(settings, embedder, clock=clock)
        self._tools = make_tools(settings, embedder)
        self._keeper = Keeper(self.files, self._tools, changed=self._publish)
        pairs = [(ceiling, seen) for ceiling in Sensitivity for seen in Sensitivity]
        self._editions = {pair: Editions() for pair in pairs}
        self._bulletins = {pair: Bulletin(partial(self._news, *pair)) for pair in pairs}
        self._looked = -OFFER_SECONDS
        self._found_models: tuple[str, ...] = ()

    def start(self, *, rebuild: bool = False) -> None:
        """Own the data folder and begin to follow the vault. Raises IndexBusy, ConfigError, KeyNotSet."""
        self._check_web()
        self._keeper.start(rebuild=rebuild)
        self._learn_name()
        self._offered()
        Thread(target=self._warm, name="warm", daemon=True).start()

    def stop(self) -> None:
        """Stop following, store what is being stored, and give the data folder and all threads back."""
        self._keeper.stop()
        self.close()

    def _offered(self) -> tuple[str, ...]:
        """Give what the last look found, and look again in the background when that is long ago."""
        if time.monotonic() - self._looked > OFFER_SECONDS:
            self._looked = time.monotonic()
            Thread(target=self._look_for_models, name="offers", daemon=True).start()
        return self._found_models

    def _warm(self) -> None:
        """Load what the first question would have to wait for."""
        try:
            load_words()
            if isinstance(self.embedder, EmbeddedEmbedder):
                self.embedder.warm()
            for generator in (self.generators.configured, self.generators.personal):
                if isinstance(generator, LitellmGenerator):
                    generator.warm()
            super()._ready_reranker()
        except VaultAskError as error:
            log.warning("warming up failed", sentence=str(error))

    def _look_for_models(self) -> None:
        self._found_models = super()._offered()

    async def status(self, ceiling: Sensitivity) -> StatusResponse:
        """Tell how the daemon is doing, as a reader with this ceiling sees it."""
        return await self._in_thread(partial(self.describe, ceiling))

    def events(self, ceiling: Sensitivity, *, notes: Scope) -> AsyncGenerator[IndexEvent | NotesEvent, None]:
        """Tell the state of the index, as a reader with this ceiling sees it: at once, and whenever it changed.

        Also the notes of a scope that changed since the first of these.
        """
        kind = ceiling, notes.ceiling
        return told(self._bulletins[kind].follow(), self._editions[kind])

    def _publish(self) -> None:
        for bulletin in self._bulletins.values():
            bulletin.publish()

    async def _news(self, ceiling: Sensitivity, seen: Sensitivity) -> News:
        return await self._in_thread(partial(self._news_now, ceiling, seen))

    def _news_now(self, ceiling: Sensitivity, seen: Sensitivity) -> News:
        keeper = self._keeper
        work = Work(source=self._source_state(), progress=keeper.progress, caught_up=keeper.caught_up)
        with self._suspecting():
            notes = self._editions[ceiling, seen].take(versions(self.index, seen))
            return News(index_event(self.index, work, ceiling), notes)

    def _source_state(self) -> SourceState:
        state, trouble = self._tools.source.state(), self._keeper.trouble
        return replace(state, mode="waiting", message=trouble) if trouble else state

    def retrieve(self, question: str, *, scope: S, **how: Any) -> Retrieved[S]:  # noqa: ANN401 - passed through
        """Retrieve as a library does, and say so while the index is still being built."""
        found: Retrieved[S] = super().retrieve(question, scope=scope, **how)
        snapshot = self._keeper.following
        if not found.hits and not self._keeper.caught_up and self._source_state().mode == "waiting":
            return replace(found, notices=(*found.notices, NOT_READ_YET))
        if snapshot.phase != "indexing" or not snapshot.total or self._keeper.caught_up:
            return found
        # The figures count every note.
        figures = "" if isinstance(scope, OpenScope) else f" ({snapshot.done} of {snapshot.total} notes)"
        notice = f"The vault is still being indexed{figures}; ask again later for more."
        return replace(found, notices=(*found.notices, notice))

    @contextmanager
    def open_view(self, scope: S) -> Iterator[VaultView[S]]:
        """Open the index in this thread, and have it checked where it cannot be read."""
        with self._suspecting(), super().open_view(scope) as view:
            yield view

    def describe(self, ceiling: Sensitivity) -> StatusResponse:
        """Describe the running daemon."""
        keeper = self._keeper
        running = self._running(
            source=self._source_state(),
            progress=keeper.progress,
            caught_up=keeper.caught_up,
            backlog=keeper.backlog,
            retry_in=keeper.retry_in,
            warnings=(keeper.warning,) if keeper.warning else (),
        )
        with self._suspecting():
            return describe(self.index, self._tools.rules, running, ceiling)

    @contextmanager
    def _suspecting(self) -> Iterator[None]:
        """Have an index that cannot be read checked, so that the asker need not restart anything."""
        try:
            yield
        except IndexDamaged:
            self._keeper.suspect()
            raise

    def _ready_reranker(self) -> None:
        """Nothing to do: it is made ready from the start, and no question waits for that."""

    def _keep_rules(self) -> None:
        """Nothing to do: the rules were applied when the index was opened for writing."""
