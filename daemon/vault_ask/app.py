"""The composition root: settings in, a working vault-ask out. The only file that picks implementations."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from threading import Event, Thread
from typing import Any, TypeVar, assert_never

import structlog

from vault_ask.answering.ask import AskVault, Generators
from vault_ask.answering.ports import Generator, Turn
from vault_ask.answering.searching import search_response
from vault_ask.errors import VaultAskError
from vault_ask.index.embedding import Embedder
from vault_ask.index.files import IndexFiles
from vault_ask.index.view import Index
from vault_ask.ingest.backlog import BacklogState
from vault_ask.ingest.follower import Follower
from vault_ask.ingest.progress import Progress, Snapshot
from vault_ask.ingest.status import Running, describe
from vault_ask.ingest.workshop import Tools, Workshop, open_writer, rebuilding
from vault_ask.notes.language import LanguageDetector
from vault_ask.notes.sensitivity import Rules
from vault_ask.providers.embedded import EmbeddedEmbedder
from vault_ask.providers.extractive import ExtractiveGenerator
from vault_ask.providers.litellm_models import LitellmGenerator
from vault_ask.retrieval.hits import Retrieved, S
from vault_ask.retrieval.retriever import Retriever
from vault_ask.scope import OpenScope, PrivateScope, Question, Scope, Sensitivity
from vault_ask.settings import Settings
from vault_ask.sources.filesystem import FolderSource
from vault_ask.sources.port import SourceState, VaultSource
from vault_ask.wire import AnswerEvent, GenerationStatus, SearchResponse, StatusResponse

log = structlog.get_logger()

T = TypeVar("T")

SEARCH_THREADS = 2
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
    return FolderSource(settings.vault, data=settings.data)


def make_rules(settings: Settings) -> Rules:
    """Compile the owner's sensitivity rules. Raises ConfigError for a pattern that cannot be read."""
    return Rules.compile(settings.sensitivity.personal_paths, settings.sensitivity.frontmatter_key)


def make_tools(settings: Settings, embedder: Embedder | None) -> Tools:
    """Put together what an index is made with."""
    return Tools(
        source=make_source(settings),
        embedder=embedder,
        rules=make_rules(settings),
        chunks=settings.chunks,
        centring=settings.embedding.centring,
    )


class Library:
    """What reads: search and answers over the index in use. Needs no lock, so it works beside a running daemon."""

    def __init__(self, settings: Settings, embedder: Embedder | None) -> None:
        self.settings = settings
        self.files = IndexFiles(settings.data)
        self.index = Index(self.files)
        self.embedder = embedder
        self.retriever = Retriever(embedder=embedder, languages=LanguageDetector(), settings=settings.retrieval)
        self._searchers = ThreadPoolExecutor(SEARCH_THREADS, thread_name_prefix="search")
        self._offered: tuple[float, tuple[str, ...]] = (-OFFER_SECONDS, ())

    @property
    def vault_name(self) -> str:
        """The vault's name in obsidian:// links."""
        path = self.settings.vault.path
        return self.settings.vault.name or (path.resolve().name if path else "vault")

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
            vault_name=self.vault_name,
            settings=self.settings.models,
            personal_to_remote_model=self.settings.sensitivity.personal_to_remote_model,
        )

    def retrieve(self, question: str, *, scope: S, **how: Any) -> Retrieved[S]:  # noqa: ANN401 - passed through
        """Retrieve in this thread, under a scope; `how` is as in Retriever.retrieve. Raises NoIndex."""
        with self.index.open(scope) as view:
            return self.retriever.retrieve(view, question, **how)

    def answer(
        self, question: Question, *, scope: Scope, history: tuple[Turn, ...] = (), note: str | None = None
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Answer a question as a stream of events."""
        return self.asking.answer(question, scope=scope, history=history, note=note)

    async def search(self, query: str, *, scope: Scope, k: int, arm: str) -> SearchResponse:
        """Search in a worker thread."""
        return await self._in_thread(partial(self.search_now, query, scope=scope, k=k, arm=arm))

    def search_now(self, query: str, *, scope: Scope, k: int, arm: str) -> SearchResponse:
        """Search in this thread."""
        match scope:
            case OpenScope():
                return search_response(partial(self.retrieve, query, scope=scope, k=k, arm=arm), self.vault_name)
            case PrivateScope():
                return search_response(partial(self.retrieve, query, scope=scope, k=k, arm=arm), self.vault_name)

    def describe(self, ceiling: Sensitivity) -> StatusResponse:
        """Describe the index as a command sees it that runs beside the daemon, or without one."""
        state = SourceState("unfollowed", "This command only looked at the index; a running daemon knows more.")
        return describe(self.index, make_rules(self.settings), self._running(source=state), ceiling)

    def _running(
        self,
        *,
        source: SourceState,
        progress: Snapshot | None = None,
        backlog: BacklogState | None = None,
        retry_in: float | None = None,
        warnings: tuple[str, ...] = (),
    ) -> Running:
        return Running(
            vault_name=self.vault_name,
            source=source,
            progress=progress or Snapshot(),
            backlog=backlog or BacklogState(),
            retry_in=retry_in,
            model=self.settings.embedding.model,
            generation=self._generation(),
            warnings=warnings,
        )

    def _generation(self) -> GenerationStatus:
        from vault_ask.providers.ollama import running_chat_models  # noqa: PLC0415

        configured = self.generators.configured
        when, offered = self._offered
        if time.monotonic() - when > OFFER_SECONDS:
            offered = tuple(f"ollama_chat/{name}" for name in running_chat_models(self.settings.embedding.ollama_url))
            self._offered = (time.monotonic(), offered)
        return GenerationStatus(generator=configured.name, local=configured.is_local, offered=offered)

    async def _retrieve_in_thread(self, question: str, *, scope: S, note: str | None = None) -> Retrieved[S]:
        return await self._in_thread(partial(self.retrieve, question, scope=scope, note=note))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._searchers, work)

    def _generator(self, name: str, extractive: ExtractiveGenerator) -> Generator:
        return extractive if name == "extractive" else LitellmGenerator(self.settings.models, name)


class Daemon(Library):
    """The running whole: reads as a library, follows the vault, and owns the data folder while it runs."""

    def __init__(self, settings: Settings, embedder: Embedder) -> None:
        super().__init__(settings, embedder)
        self._tools = make_tools(settings, embedder)
        self._progress = Progress()
        self._stop = Event()
        self._owned = ExitStack()
        self._warning: str | None = None
        self._rebuilder: Thread | None = None

    def start(self, *, rebuild: bool = False) -> None:
        """Own the data folder and begin to follow the vault. Raises IndexBusy, ConfigError."""
        self._owned.enter_context(self.files.owned())
        self._open()
        if rebuild:
            self._rebuilder = Thread(target=self._rebuild, name="rebuild", daemon=True)
            self._rebuilder.start()

    def stop(self) -> None:
        """Stop following, store what is being stored, and give the data folder back."""
        self._stop.set()
        if self._rebuilder is not None:
            self._rebuilder.join()
        self._close()
        self._owned.close()

    async def status(self, ceiling: Sensitivity) -> StatusResponse:
        """Tell how the daemon is doing, as a reader with this ceiling sees it."""
        return await self._in_thread(partial(self.describe, ceiling))

    def retrieve(self, question: str, *, scope: S, **how: Any) -> Retrieved[S]:  # noqa: ANN401 - passed through
        """Retrieve as a library does, and say so while the index is still being built."""
        found: Retrieved[S] = super().retrieve(question, scope=scope, **how)
        snapshot = self._progress.snapshot
        if snapshot.phase != "indexing" or self._follower.caught_up:
            return found
        notice = (
            f"The vault is still being indexed ({snapshot.done} of {snapshot.total} notes); ask again later for more."
        )
        return replace(found, notices=(*found.notices, notice))

    def describe(self, ceiling: Sensitivity) -> StatusResponse:
        """Describe the running daemon."""
        backlog = self._workshop.backlog
        trouble = self._follower.trouble
        return describe(
            self.index,
            self._tools.rules,
            self._running(
                source=SourceState("waiting", trouble) if trouble else self._tools.source.state(),
                progress=self._progress.snapshot,
                backlog=backlog.state,
                retry_in=backlog.seconds_until_retry(),
                warnings=(self._warning,) if self._warning else (),
            ),
            ceiling,
        )

    def _open(self) -> None:
        writer, warning = open_writer(self.files)
        self._warning = warning or self._warning
        self._workshop = Workshop(writer, self._tools, self._progress)
        self._workshop.ingest.reclassify()
        self._follower = Follower(self._workshop, on_damage=self._renew)
        self._follower.start()

    def _close(self) -> None:
        self._follower.stop()
        self._workshop.writer.close()

    def _renew(self) -> None:
        """Begin anew after the index was found damaged while in use; runs in the follower's last breath."""
        self._workshop.writer.abandon()
        if not self._stop.is_set():
            self._open()

    def _rebuild(self) -> None:
        """Build a new index beside the one that serves and is followed; catch up once more and change over."""
        progress = Progress()
        try:
            with rebuilding(self.files) as writer:
                fresh = Workshop(writer, self._tools, progress)
                fresh.backlog.bind()
                fresh.bring_up_to_date(self._stop)
                self._refuse_if_stopping()
                self._close()
                fresh.bring_up_to_date(self._stop)
            self._open()
        except _Interrupted:
            log.info("rebuild interrupted; it goes on at the next start with --rebuild")
        except VaultAskError as error:
            self._warning = f"The rebuild stopped: {error}"
            log.warning("rebuild stopped", sentence=str(error))

    def _refuse_if_stopping(self) -> None:
        if self._stop.is_set():
            raise _Interrupted


class _Interrupted(Exception):
    """The daemon is stopping in the middle of a rebuild."""
