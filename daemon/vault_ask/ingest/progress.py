"""How far the work is: figures for the status and for a progress bar, safe to read from any thread."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Literal

Phase = Literal["idle", "listing", "indexing", "embedding", "waiting", "rebuilding", "failed"]

_URGENCY: dict[Phase, int] = {"indexing": 4, "listing": 4, "rebuilding": 4, "embedding": 3, "failed": 2, "waiting": 1}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The work at one moment. `rate` is in notes (or chunks, while embedding) a second."""

    phase: Phase = "idle"
    done: int = 0
    total: int = 0
    rate: float = 0.0
    seconds_left: float | None = None
    message: str = ""


class Track:
    """One line of work, written by one thread."""

    def __init__(self, changed: Callable[[], None], clock: Callable[[], float]) -> None:
        self._changed = changed
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

    def _set(self, snapshot: Snapshot) -> None:
        with self._lock:
            self._snapshot = snapshot
        self._changed()


class Progress:
    """Two lines of work that go on side by side, told as one: reading notes, and embedding what waits behind it."""

    def __init__(
        self, listener: Callable[[Snapshot], None] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._listener = listener or (lambda _snapshot: None)
        self.notes = Track(self._tell, clock)
        self.passages = Track(self._tell, clock)

    @property
    def snapshot(self) -> Snapshot:
        """The figures of whichever line of work a person would ask about; of notes where both do."""
        return max(self.notes.snapshot, self.passages.snapshot, key=lambda snapshot: _URGENCY.get(snapshot.phase, 0))

    def _tell(self) -> None:
        self._listener(self.snapshot)
