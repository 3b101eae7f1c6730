"""The running whole: reads as a library, follows the vault, and owns the data folder while it runs."""

import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Thread
from typing import Any

import structlog

from vault_ask.bulletin import Bulletin
from vault_ask.composition.library import Clock, Library
from vault_ask.composition.parts import globs_of, make_tools
from vault_ask.errors import IndexDamaged, VaultAskError
from vault_ask.index.embedding import Embedder
from vault_ask.index.view import VaultView
from vault_ask.ingest.keeper import Keeper
from vault_ask.ingest.status import Work, describe, index_event, versions
from vault_ask.news import Editions, News, told
from vault_ask.providers.embedded import EmbeddedEmbedder
from vault_ask.retrieval.hits import Retrieved
from vault_ask.retrieval.retriever import NOW
from vault_ask.retrieval.when import load_words
from vault_ask.scope import OpenScope, S, Scope, Sensitivity
from vault_ask.settings import Settings
from vault_ask.sources.port import SourceState
from vault_ask.wire import IndexEvent, NotesEvent, StatusResponse

log = structlog.get_logger()

NOT_READ_YET = (
    "The vault cannot be read just now and has not been since the start. Why, and what to do, stands in the status: "
    "above the questions of /chat and of the plugin, and at /api/status."
)
OFFER_SECONDS = 60.0
"""How long a look for a running Ollama is believed."""


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
        self.models.check_web()
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
            self.models.warm()
        except VaultAskError as error:
            log.warning("warming up failed", sentence=str(error))

    def _look_for_models(self) -> None:
        self._found_models = self.models.offered()

    async def status(self, ceiling: Sensitivity) -> StatusResponse:
        """Tell how the daemon is doing, as a reader with this ceiling sees it."""
        return await self._searchers.run(partial(self.describe, ceiling))

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
        return await self._searchers.run(partial(self._news_now, ceiling, seen))

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
            return describe(self.index, self._tools.rules, running, ceiling, globs_of(self.settings))

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
