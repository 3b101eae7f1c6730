"""Two ways to hear that something changed in a vault. What changed is for others to find out."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Protocol

from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

TICK_SECONDS = 1.0
"""The longest `wait` of a watcher, so that its caller can look after other things in between."""
LONGEST_SECONDS = 2.0
"""How long a stream of changes that never pauses is gathered at most."""

_MANY = 2_000
_STEP_MS = 50
# Elsewhere the system watches whole trees by itself. On Linux a recursive watch is many watches too, but it would
# follow links out of the vault and spend watches on `.git` and all that we skip; and links may make it endless.
_BY_FOLDER = sys.platform == "linux"


@dataclass(frozen=True, slots=True)
class Heard:
    """What a watcher heard: absolute paths as UTF-8 text, of files and folders.

    `everything` means that it cannot say what changed. `steady` means that it was quiet since; otherwise a save may be
    going on right now.
    """

    paths: frozenset[str] = frozenset()
    everything: bool = False
    steady: bool = True


class Watcher(Protocol):
    """Listens from its construction until `close`."""

    @property
    def broken(self) -> bool:
        """Whether it hears nothing any more and must be replaced."""
        ...

    def wait(self, stop: Event) -> Heard | None:
        """Wait for settled changes, at most about TICK_SECONDS when there are none; None also when `stop` is set."""
        ...

    def close(self) -> None:
        """Stop listening."""
        ...


class Notifier(Protocol):
    """The part of `watchfiles`' RustNotify that we use; it listens from its construction."""

    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: Event | None
    ) -> set[tuple[int, str]] | str:
        """Wait for changes; a word (`timeout`, `stop`, `signal`) when there were none."""
        ...

    def close(self) -> None:
        """Stop listening."""
        ...


Arm = Callable[[list[str]], Notifier]
"""Makes a Notifier for folders given as absolute paths in UTF-8 text, the vault itself first.

Raises FileNotFoundError or PermissionError for a folder that cannot be watched, another OSError or RuntimeError when
the system gives no watches.
"""


def arm_native(folders: list[str]) -> Notifier:
    """Watch these folders by the means of the system."""
    watched = folders if _BY_FOLDER else folders[:1]
    return RustNotify(watched, False, False, 300, not _BY_FOLDER, False)  # noqa: FBT003 - positional in their API


class NativeWatcher:
    """Hears from the system, and gathers until it is quiet for `settle_seconds`."""

    def __init__(self, notifier: Notifier, settle_seconds: float) -> None:
        self._notifier = notifier
        self._settle = settle_seconds
        self._broken = False

    @property
    def broken(self) -> bool:
        """Whether the system's watch failed; watchfiles then repeats its error for ever."""
        return self._broken

    def wait(self, stop: Event) -> Heard | None:
        """Wait for changes, then for quiet or LONGEST_SECONDS, whichever comes first."""
        try:
            paths = self._gathered(stop, TICK_SECONDS)
            return self._until_quiet(paths, stop) if paths else None
        except WatchfilesRustInternalError:
            # Among others, a file whose name is not UTF-8 was touched: the event is lost, and so are those after it.
            self._broken = True
            return Heard(everything=True, steady=not stop.wait(self._settle))

    def close(self) -> None:
        """Give the watches back."""
        self._notifier.close()

    def _until_quiet(self, paths: set[str], stop: Event) -> Heard | None:
        until = time.monotonic() + max(LONGEST_SECONDS, self._settle)
        while more := self._gathered(stop, self._settle):
            paths |= more
            if time.monotonic() > until:
                return self._heard(paths, steady=False)
        return None if stop.is_set() else self._heard(paths, steady=True)

    def _heard(self, paths: set[str], *, steady: bool) -> Heard:
        # After so many, looking at everything is no dearer and needs no trust in a queue that may have run over.
        many = len(paths) > _MANY
        return Heard(frozenset() if many else frozenset(paths), everything=many, steady=steady)

    def _gathered(self, stop: Event, seconds: float) -> set[str]:
        found = self._notifier.watch(_STEP_MS, _STEP_MS, max(1, round(seconds * 1000)), stop)
        if found == "signal":
            raise KeyboardInterrupt
        return set() if isinstance(found, str) else {path for _, path in found}


class Poller:
    """Hears nothing, and says so every `poll_seconds`: anything may have changed."""

    broken = False

    def __init__(self, poll_seconds: float) -> None:
        self._every = poll_seconds
        self._next = time.monotonic() + poll_seconds

    def wait(self, stop: Event) -> Heard | None:
        """Wait for the next look, or a part of the time until then."""
        left = self._next - time.monotonic()
        if stop.wait(max(0.0, min(left, TICK_SECONDS))) or left > TICK_SECONDS:
            return None
        # Counted from now: a look that takes longer than the interval does not pile up more of them.
        self._next = time.monotonic() + self._every
        return Heard(everything=True, steady=False)

    def close(self) -> None:
        """Nothing to give back."""
