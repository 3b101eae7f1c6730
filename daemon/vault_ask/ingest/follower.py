"""The background work of a running daemon: follow the vault, embed what waits, compare everything now and then.

Two threads. One writes: it takes changes as they settle and stores them. The other embeds the backlog, so that a slow
model never holds up a note. Both survive whatever a note, a source or a model does; only `stop` ends them.
"""

import random
import time
from collections.abc import Callable
from threading import Event, Thread

import structlog

from vault_ask.errors import IndexDamaged, SourceError, SourceRefused, VaultAskError
from vault_ask.ingest.ingest import Report
from vault_ask.ingest.workshop import Workshop
from vault_ask.sources.port import Change

log = structlog.get_logger()

FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 1.0, 60.0
PATIENCE_WHEN_REFUSED = 5.0
IDLE_SECONDS = 2.0


class Follower:
    """Follows one vault into one index until it is stopped."""

    def __init__(
        self, workshop: Workshop, *, on_damage: Callable[[], None], changed: Callable[[], None] = lambda: None
    ) -> None:
        """Prepare to follow.

        `on_damage` is called, perhaps twice, when the index turns out to be damaged, and the threads end; it must not
        wait for them. `changed` is called when a batch was taken, and when the source says something new of itself.
        """
        self._source = workshop.source
        self._ingest = workshop.ingest
        self._backlog = workshop.backlog
        self._progress = workshop.progress.notes
        self._on_damage = on_damage
        self._changed = changed
        self._told: tuple[object, ...] = ()
        self._checkpoint = workshop.writer.checkpoint
        self._stop = Event()
        self._work = Event()
        self._caught_up = Event()
        self._trouble: str | None = None
        self._unsettled = False
        self._threads = (
            Thread(target=self._follow, name="follow", daemon=True),
            Thread(target=self._embed, name="backlog", daemon=True),
        )

    @property
    def trouble(self) -> str | None:
        """Why the vault cannot be followed just now, in a sentence; None while all is well."""
        return self._trouble

    @property
    def caught_up(self) -> bool:
        """Whether the vault has been compared whole at least once since the start."""
        return self._caught_up.is_set()

    def start(self) -> None:
        """Begin to follow."""
        for thread in self._threads:
            thread.start()

    def stop(self, timeout: float = 10.0) -> None:
        """End both threads, waiting for what they are storing."""
        self._stop.set()
        self._work.set()
        deadline = time.monotonic() + timeout
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, deadline - time.monotonic()))

    def wait_until_caught_up(self, timeout: float) -> bool:
        """Wait for the first full comparison to be done; say whether it was."""
        return self._caught_up.wait(timeout)

    def _follow(self) -> None:
        retry = FIRST_RETRY_SECONDS
        while not self._stop.is_set():
            try:
                self._ingest.recall()
                for batch in self._source.changes(self._stop):
                    self._take(batch)
                    self._tell(batch)
                    retry = FIRST_RETRY_SECONDS
            except IndexDamaged:
                self._give_up()
            except Exception as error:  # noqa: BLE001 - the outermost handler of this thread
                self._note_trouble(error)
                # Jitter keeps several daemons from knocking at one server in step.
                # Whoever refuses us may lock the account after a few tries, for the owner's devices too.
                patience = PATIENCE_WHEN_REFUSED if isinstance(error, SourceRefused) else 1.0
                self._stop.wait(patience * retry * random.uniform(0.8, 1.2))  # noqa: S311 - spreads retries, guards nothing
                retry = min(retry * 2, LONGEST_RETRY_SECONDS)

    def _take(self, batch: list[Change]) -> None:
        if not batch:
            self._settle()
            return
        report = self._ingest.apply(batch, self._stop)
        if self._stop.is_set():
            return
        self._trouble = None
        self._caught_up.set()
        if report.anything:
            self._unsettled = True
            log.info("indexed", **_figures(report))
        self._work.set()

    def _tell(self, batch: list[Change]) -> None:
        """Tell what is new; a mere sign of life is not."""
        now = (self._source.state(), self._trouble)
        if batch or now != self._told:
            self._told = now
            self._changed()

    def _settle(self) -> None:
        """Use a quiet moment to empty the journal of text that was replaced.

        What was missed in a trouble is no business of ours: the source begins anew after one, and tells when there is
        something to compare; a vault that is being filled just then would be taken for whole here.
        """
        if self._unsettled:
            self._checkpoint()
            self._unsettled = False

    def _note_trouble(self, error: Exception) -> None:
        expected = isinstance(error, VaultAskError)
        self._trouble = (
            str(error) if expected else f"Following the vault failed ({type(error).__name__}); trying again."
        )
        self._progress.rest("waiting" if isinstance(error, SourceError) else "failed", self._trouble)
        log.warning("following failed", error=type(error).__name__, sentence=self._trouble)

    def _embed(self) -> None:
        while not self._stop.is_set():
            self._work.wait(self._pause())
            self._work.clear()
            if self._stop.is_set():
                return
            try:
                self._backlog.drain(self._stop)
            except IndexDamaged:
                self._give_up()
            except Exception as error:  # noqa: BLE001 - the outermost handler of this thread
                log.warning("embedding failed", error=type(error).__name__)
                self._stop.wait(IDLE_SECONDS)

    def _give_up(self) -> None:
        self._stop.set()
        self._work.set()
        self._on_damage()

    def _pause(self) -> float:
        until = self._backlog.seconds_until_retry()
        return IDLE_SECONDS if until is None else max(0.05, until)


def _figures(report: Report) -> dict[str, int]:
    return {
        "new": report.new,
        "changed": report.changed,
        "deleted": report.deleted,
        "reclassified": report.reclassified,
        "failed": len(report.failed),
    }
