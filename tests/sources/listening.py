"""Runs `changes` of a source in a thread and lets a test wait for what it tells."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Event, Thread

from vault_ask.sources.port import Change, Rescan, VaultSource

PATIENCE = 15.0
"""Seconds after which a test gives up waiting; nothing takes nearly as long."""


class Listener:
    """What a source told so far, batch by batch."""

    def __init__(self, source: VaultSource) -> None:
        self.batches: list[list[Change]] = []
        self.error: BaseException | None = None
        self.stop = Event()
        self._source = source
        self._told = Condition()
        self.thread = Thread(target=self._run, daemon=True)
        self.thread.start()

    @property
    def changes(self) -> list[Change]:
        return [change for batch in list(self.batches) for change in batch]

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until the condition holds; it is looked at after each batch and a few times a second besides."""
        end = time.monotonic() + PATIENCE
        with self._told:
            while not condition():
                assert self.error is None, self.error
                assert time.monotonic() < end, f"waited in vain; told so far: {self.batches}"
                self._told.wait(0.02)

    def wait_for_change(self, change: Change) -> list[Change]:
        """Wait for a change and give the batch that holds it."""
        self.wait_for(lambda: change in self.changes)
        return next(batch for batch in self.batches if change in batch)

    def wait_until_armed(self) -> "Listener":
        self.wait_for(lambda: any(isinstance(change, Rescan) for change in self.changes))
        return self

    def _run(self) -> None:
        try:
            for batch in self._source.changes(self.stop):
                with self._told:
                    self.batches.append(batch)
                    self._told.notify_all()
        except BaseException as error:  # noqa: BLE001 - the waiting test reports it
            self.error = error


@contextmanager
def listening(source: VaultSource) -> Iterator[Listener]:
    """Follow a source for the time of a `with`, from the moment it is armed."""
    listener = Listener(source)
    try:
        yield listener.wait_until_armed()
    finally:
        listener.stop.set()
        listener.thread.join(PATIENCE)
    assert not listener.thread.is_alive()
    assert listener.error is None, listener.error
