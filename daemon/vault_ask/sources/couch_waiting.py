"""How patient the CouchDB source is, and which notes wait for their newest version to be whole."""

import time
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """How patient the source is, in seconds. `quiet` is how long nothing may change before much is believed gone.

    `retries` are the pauses between two looks for a note that is not whole; the last one is repeated for ever.
    """

    quiet: float = 10.0
    settle: float = 0.15
    longest_settle: float = 1.0
    heartbeat: float = 25.0
    look: float = 60.0
    sign: float = 5.0
    retries: tuple[float, ...] = (1.0, 2.0, *[5.0] * 20, *[15.0] * 20, *[60.0] * 60, 3600.0)


@dataclass(slots=True)
class Pending:
    """A note whose newest version is not whole; `missing` are the pieces that it waits for, if that is why."""

    reason: str
    missing: tuple[str, ...]
    due: float
    tries: int = 0


class Waiting:
    """The notes that wait, by path, and when each is tried again."""

    def __init__(self, pace: Pace, clock: Callable[[], float] = time.monotonic) -> None:
        self._pauses = pace.retries
        self._clock = clock
        self.notes: dict[str, Pending] = {}

    def __contains__(self, path: str) -> bool:
        """Say whether a note waits."""
        return path in self.notes

    def __len__(self) -> int:
        """Count the notes that wait."""
        return len(self.notes)

    def begin(self, paths: Iterable[str]) -> None:
        """Wait for these notes only, which were not read whole before, and try them now."""
        reason = "it was not read whole before the daemon ended"
        self.notes = {path: Pending(reason, (), self._clock()) for path in paths}

    def wait_for(self, path: str, reason: str, missing: tuple[str, ...]) -> None:
        """Try a note again later, each time after a longer pause."""
        before = self.notes.get(path)
        tries = before.tries + 1 if before else 0
        pause = self._pauses[min(tries, len(self._pauses) - 1)]
        self.notes[path] = Pending(reason, missing, self._clock() + pause, tries)

    def postpone(self, path: str) -> None:
        """Count a look that found the pieces of a note still missing."""
        pending = self.notes[path]
        self.wait_for(path, pending.reason, pending.missing)

    def hand_over(self, path: str) -> None:
        """Leave a note, if it still waits, to whoever reads it now: reading it tells whether it waits on."""
        if path in self.notes:
            self.notes[path].due = self._clock() + self._pauses[-1]

    def end(self, path: str) -> None:
        """Wait for a note no more."""
        self.notes.pop(path, None)

    def keep_only(self, paths: Container[str]) -> None:
        """Forget notes that are not there any more."""
        self.notes = {path: pending for path, pending in self.notes.items() if path in paths}

    def due(self) -> dict[str, tuple[str, ...]]:
        """Give the notes that should be tried again now, with the pieces that each waits for."""
        now = self._clock()
        return {path: pending.missing for path, pending in self.notes.items() if pending.due <= now}

    def hurry(self) -> None:
        """Try again at once what waits for pieces: something has arrived."""
        for pending in self.notes.values():
            if pending.missing:
                pending.due = min(pending.due, self._clock())
