"""How far the work is: figures for the status and for a progress bar, safe to read from any thread."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal

Phase = Literal["idle", "listing", "indexing", "embedding", "waiting", "rebuilding", "failed"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The work at one moment. `rate` is in notes (or chunks, while embedding) a second."""

    phase: Phase = "idle"
    done: int = 0
    total: int = 0
    rate: float = 0.0
    seconds_left: float | None = None
    message: str = ""


class Progress:
    """Keeps the newest snapshot and tells a listener of each."""

    def __init__(
        self, listener: Callable[[Snapshot], None] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._listener = listener or (lambda _snapshot: None)
        self._clock = clock
        self._lock = Lock()
        self._snapshot = Snapshot()
        self._started = clock()

    @property
    def snapshot(self) -> Snapshot:
        """The newest figures."""
        with self._lock:
            return self._snapshot

    def begin(self, phase: Phase, total: int = 0, message: str = "") -> None:
        """Start a phase of `total` steps."""
        self._started = self._clock()
        self._set(Snapshot(phase=phase, total=total, message=message))

    def advance(self, steps: int, *, total: int | None = None) -> None:
        """Count steps done; `total` may grow on the way."""
        now = self.snapshot
        done = now.done + steps
        total = max(total if total is not None else now.total, done)
        elapsed = max(self._clock() - self._started, 1e-6)
        rate = done / elapsed
        left = (total - done) / rate if done else None
        self._set(replace(now, done=done, total=total, rate=rate, seconds_left=left))

    def rest(self, phase: Phase = "idle", message: str = "") -> None:
        """Say that nothing is going on, or why it stands still."""
        self._set(Snapshot(phase=phase, message=message))

    @contextmanager
    def phase(self, phase: Phase, total: int = 0) -> Iterator[None]:
        """Run a phase and rest afterwards, also when it fails."""
        self.begin(phase, total)
        try:
            yield
        finally:
            self.rest()

    def _set(self, snapshot: Snapshot) -> None:
        with self._lock:
            self._snapshot = snapshot
        self._listener(snapshot)
