"""Keeps the index of one data folder while a daemon runs: opened sound, followed, begun anew, rebuilt beside itself.

One thing at a time changes which file is written: opening, renewing a damaged file, or a rebuild with its change-over.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from threading import Event, Lock, Thread

import structlog

from vault_ask.errors import ModelError, VaultAskError
from vault_ask.index.embedding import EmbeddingSpace
from vault_ask.index.files import IndexFiles
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.backlog import BacklogState
from vault_ask.ingest.follower import Follower
from vault_ask.ingest.progress import Progress, Snapshot
from vault_ask.ingest.workshop import Tools, Workshop, begin_anew, complaint_of, is_unfinished, open_writer, rebuilding

log = structlog.get_logger()

STOP_SECONDS = 4.0
"""How long a stop waits for a slow model before it leaves it behind; nothing that is stored depends on it."""

EMBEDDER_RETRY_SECONDS = 5.0


class Keeper:
    """Owns the data folder between `start` and `stop`, and keeps its index in line with the vault."""

    def __init__(self, files: IndexFiles, tools: Tools, changed: Callable[[], None] = lambda: None) -> None:
        """Prepare; `changed` is called, from any thread and often, when what this tells may have changed."""
        self._files = files
        self._tools = tools
        self._changed = changed
        self._following = Progress(lambda _snapshot: changed())
        self._rebuilding: Progress | None = None
        self._changing = Lock()
        self._stop = Event()
        self._owned = ExitStack()
        self._warning: str | None = None
        self._helpers: list[Thread] = []
        self._workshop: Workshop | None = None
        self._follower: Follower | None = None

    def start(self, *, rebuild: bool) -> None:
        """Own the data folder and begin to follow; go on with a rebuild that was interrupted.

        Raises IndexBusy, ConfigError, IndexFailed; then nothing is owned.
        """
        with ExitStack() as owned:
            owned.enter_context(self._files.owned())
            with self._changing:
                self._open(*open_writer(self._files))
            self._owned = owned.pop_all()
        if rebuild or self._files.building.exists():
            self._run("rebuild", partial(self._rebuild, asked=rebuild))

    def stop(self) -> None:
        """Stop following and rebuilding, store what is being stored, and give the data folder back."""
        self._stop.set()
        deadline = time.monotonic() + STOP_SECONDS
        if self._changing.acquire(timeout=STOP_SECONDS):
            try:
                self._close()
            finally:
                self._changing.release()
        elif self._follower is not None:
            self._follower.stop(0)
        for helper in self._helpers:
            helper.join(max(0.0, deadline - time.monotonic()))
        self._owned.close()

    @property
    def trouble(self) -> str | None:
        """Why the vault cannot be followed just now; None while all is well."""
        return self._follower.trouble if self._follower else None

    @property
    def caught_up(self) -> bool:
        """Whether the index in use has been compared with the whole vault since the start."""
        return self._follower is not None and self._follower.caught_up

    @property
    def warning(self) -> str | None:
        """What the owner should know of the index file."""
        return self._warning

    @property
    def backlog(self) -> BacklogState:
        """How the embedder is doing."""
        return self._workshop.backlog.state if self._workshop else BacklogState()

    @property
    def retry_in(self) -> float | None:
        """Seconds until the embedder is tried again; None while it is not away."""
        return self._workshop.backlog.seconds_until_retry() if self._workshop else None

    @property
    def following(self) -> Snapshot:
        """How far the index in use is."""
        return self._following.snapshot

    @property
    def progress(self) -> Snapshot:
        """How far the work is, a rebuild before all else."""
        if self._rebuilding is not None:
            return replace(self._rebuilding.snapshot, phase="rebuilding")
        return self.following

    def suspect(self) -> None:
        """Have the index checked, because a reader found it damaged; it is begun anew if it is."""
        if self._workshop is not None:
            self._run("renew", partial(self._renew, self._workshop, certain=False))

    # Run while `_changing` is held

    def _open(self, writer: IndexWriter, warning: str | None) -> None:
        self._warning = warning or self._warning
        workshop = Workshop(writer, self._tools, self._following)
        workshop.ingest.reclassify()
        self._workshop = workshop
        on_damage = partial(self._run, "renew", partial(self._renew, workshop, certain=True))
        self._follower = Follower(workshop, on_damage=on_damage, changed=self._changed)
        self._follower.start()

    def _open_or_tell(self, opened: Callable[[], tuple[IndexWriter, str | None]]) -> None:
        try:
            self._open(*opened())
        except (VaultAskError, OSError) as error:
            self._warning = f"The vault is not followed any more, because no index could be opened: {error}"
            log.error("no index", error=type(error).__name__)

    def _close(self) -> None:
        workshop, follower = self._workshop, self._follower
        self._workshop = None
        if follower is not None and workshop is not None:
            follower.stop(STOP_SECONDS)
            workshop.close()

    def _complete(self, fresh: Workshop) -> None:
        """Bring a new index up to date and to its last vector, however long the embedder is away meanwhile."""
        fresh.backlog.bind()
        fresh.ingest.recall()
        while True:
            fresh.ingest.sweep(self._stop)
            done = fresh.backlog.drain(self._stop)
            self._refuse_if_stopping()
            if done:
                fresh.writer.optimize()
                return
            self._stop.wait(fresh.backlog.seconds_until_retry())

    # Threads of their own

    def _run(self, name: str, work: partial[None]) -> None:
        helper = Thread(target=work, name=name, daemon=True)
        self._helpers = [*(old for old in self._helpers if old.is_alive()), helper]
        helper.start()

    def _renew(self, damaged: Workshop, *, certain: bool) -> None:
        """Set a damaged index aside and begin anew, unless that was done already."""
        with self._changing:
            if self._stop.is_set() or self._workshop is not damaged or self._follower is None:
                return
            complaint = "found in use" if certain else complaint_of(damaged.writer)
            if complaint is None:
                return
            self._follower.stop(STOP_SECONDS)
            damaged.writer.abandon()
            self._open_or_tell(lambda: begin_anew(self._files, complaint))

    def _rebuild(self, *, asked: bool) -> None:
        """Build a new index beside the one that serves and is followed, and change over once it is whole."""
        with self._changing:
            self._rebuilding = Progress(lambda _snapshot: self._changed())
            try:
                self._rebuild_beside(self._rebuilding, asked=asked)
            except _Interrupted:
                log.info("rebuild interrupted; it goes on at the next start")
            except VaultAskError as error:
                self._warning = f"The rebuild stopped: {error}"
                log.warning("rebuild stopped", sentence=str(error))
            finally:
                self._rebuilding = None
                self._changed()
                if self._workshop is None and not self._stop.is_set():
                    self._open_or_tell(lambda: open_writer(self._files))

    def _rebuild_beside(self, progress: Progress, *, asked: bool) -> None:
        space = self._space(progress)
        if not (asked or is_unfinished(self._files, space)):
            return
        with rebuilding(self._files, space) as writer:
            fresh = Workshop(writer, self._tools.afresh(), progress)
            self._complete(fresh)
            self._close()
            # What was written since the last look goes in by its words. Where the vault is away now, the old index
            # stays: it knows what became personal meanwhile.
            fresh.ingest.sweep(self._stop)
            self._refuse_if_stopping()

    def _space(self, progress: Progress) -> EmbeddingSpace | None:
        """Ask the embedder for its space until it answers."""
        while self._tools.embedder is not None:
            self._refuse_if_stopping()
            try:
                return self._tools.embedder.space
            except ModelError as error:
                progress.passages.rest("waiting", str(error))
                self._stop.wait(EMBEDDER_RETRY_SECONDS)
        return None

    def _refuse_if_stopping(self) -> None:
        if self._stop.is_set():
            raise _Interrupted


class _Interrupted(Exception):
    """The daemon is stopping in the middle of a rebuild."""
