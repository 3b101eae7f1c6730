"""Follows a folder: what a watcher hears becomes batches of changes that are true when they are told.

Events only say where to look. What is told is the difference between two looks at the folders concerned, so an atomic
save is one arrival, a swap file is nothing, a moved folder is its notes, and a lost event costs a delay, not a note.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from unicodedata import normalize

from vault_ask.errors import SourceUnreachable
from vault_ask.settings.vault import VaultSettings
from vault_ask.sources.mounts import read_mounts, remote_kind
from vault_ask.sources.port import Change, Deleted, Rescan, SourceState, Upserted
from vault_ask.sources.selection import name_text
from vault_ask.sources.survey import Identity, Surveyor, differences
from vault_ask.sources.walk import Tree
from vault_ask.sources.watchers import Arm, Heard, NativeWatcher, Poller, Watcher

SIGN_SECONDS = 5.0
"""How often an empty batch says that the follower is alive."""
RETRY_SECONDS = 1.0
"""How often a vault that is away is looked for."""

_ARMINGS = 5


@dataclass(slots=True)
class Memory:
    """The vault as it was last seen, by a listing or by the follower: what may be missing is judged against it."""

    tree: Tree | None = None


@dataclass(slots=True)
class _Session:
    """From one arming of the watch to the next cause to begin anew."""

    identity: Identity
    watcher: Watcher
    tree: Tree
    next_rescan: float
    next_sign: float = field(default_factory=lambda: time.monotonic() + SIGN_SECONDS)


class Follower:
    """Follows the vault of a surveyor, in one thread; `state` may be read from another."""

    def __init__(self, surveyor: Surveyor, settings: VaultSettings, memory: Memory, mountinfo: Path, arm: Arm) -> None:
        self._surveyor = surveyor
        self._settings = settings
        self._memory = memory
        self._mountinfo = mountinfo
        self._arm = arm
        self._no_watches = False
        self.state = SourceState("stopped", "The vault is not followed yet.")

    def changes(self, stop: Event) -> Iterator[list[Change]]:
        """Yield batches until `stop` is set, however often the vault goes away and comes back."""
        reason = "started"
        try:
            while not stop.is_set():
                try:
                    yield from self._session(stop, reason)
                    reason = "another folder or disk took the vault's place"
                except SourceUnreachable as error:
                    self.state = SourceState("waiting", str(error))
                    reason = "the vault is back"
                    yield []
                    stop.wait(RETRY_SECONDS)
        finally:
            self.state = SourceState("stopped", "The vault is not followed any more.")

    def _session(self, stop: Event, reason: str) -> Iterator[list[Change]]:
        identity = self._surveyor.identity()
        watcher, tree = self._armed(self._memory.tree)
        session = _Session(identity, watcher, tree, self._rescan_time())
        try:
            yield [Rescan(reason)]
            while not stop.is_set():
                heard = session.watcher.wait(stop)
                if self._surveyor.identity() != identity:
                    return
                yield from self._batches(session, heard, stop)
        finally:
            session.watcher.close()

    def _batches(self, session: _Session, heard: Heard | None, stop: Event) -> Iterator[list[Change]]:
        """Yield at most one batch: what changed, a due rescan, or a due sign of life."""
        batch = self._settled(session, heard, stop) if heard else []
        now = time.monotonic()
        if now >= session.next_rescan:
            batch.append(Rescan("periodic"))
            session.next_rescan = self._rescan_time()
            if self._no_watches:
                self._rearm(session)
        if batch or now >= session.next_sign:
            session.next_sign = now + SIGN_SECONDS
            yield batch

    def _settled(self, session: _Session, heard: Heard, stop: Event) -> list[Change]:
        before = session.tree
        now = self._look(before, heard)
        if not heard.steady and differences(before, now)[0]:
            # Something seems gone in the middle of the action: a save that removes and writes anew looks like that.
            if stop.wait(self._settings.settle_seconds):
                return []
            now = self._look(before, heard)
        session.tree = self._memory.tree = now
        if session.watcher.broken or (not self._is_polling and now.keys() != before.keys()):
            self._rearm(session)
        gone, fresh = differences(before, session.tree)
        fresh |= _named(heard, session.tree) - gone
        return [*map(Deleted, sorted(gone)), *map(Upserted, sorted(fresh))]

    def _look(self, before: Tree, heard: Heard) -> Tree:
        if heard.everything:
            return self._surveyor.whole(before)
        by_text = _by_text(before)
        # A path that is a folder we know was moved, replaced or closed: nothing that we knew below it holds any more.
        deep = {by_text[path] for path in heard.paths if path in by_text}
        shallow = {by_text[parent] for path in heard.paths if (parent := path.rpartition("/")[0]) in by_text}
        return self._surveyor.part(before, shallow | deep, deep)

    def _rearm(self, session: _Session) -> None:
        """Replace the watcher. What happens in between is found by the survey that follows the arming."""
        session.watcher.close()
        session.watcher, session.tree = self._armed(session.tree)
        self._memory.tree = session.tree

    def _armed(self, before: Tree | None) -> tuple[Watcher, Tree]:
        """Begin to listen, then look: nothing that changes after the returned tree goes unheard."""
        tree = self._surveyor.whole(before)
        why = self._why_polling()
        self._no_watches = why is None
        if why is None:
            try:
                if armed := self._armed_natively(tree):
                    self._no_watches = False
                    return armed
                why = "its folders come and go too quickly to be watched"
            except ValueError:
                why = "the path of the vault itself is not UTF-8, and such a folder cannot be watched"
            except (OSError, RuntimeError):
                why = (
                    "the system has no file watches left. Raise fs.inotify.max_user_watches or "
                    "fs.inotify.max_user_instances, or set vault.watch to polling"
                )
        every = self._settings.poll_seconds
        self.state = SourceState("polling", f"Looking for changes every {every:g} seconds: {why}.")
        return Poller(every), self._surveyor.whole(tree)

    def _armed_natively(self, tree: Tree) -> tuple[Watcher, Tree] | None:
        for _ in range(_ARMINGS):
            try:
                notifier = self._arm(_watched(tree))
            except (FileNotFoundError, PermissionError):
                tree = self._surveyor.whole(tree)
                continue
            now = self._surveyor.whole(tree)
            if now.keys() == tree.keys():
                self.state = SourceState("watching", f"Watching {len(now)} folders for changes.")
                return NativeWatcher(notifier, self._settings.settle_seconds), now
            notifier.close()
            tree = now
        return None

    def _why_polling(self) -> str | None:
        if self._settings.watch == "polling":
            return "vault.watch is set to polling"
        kind = remote_kind(os.path.realpath(self._surveyor.root), read_mounts(self._mountinfo))
        if self._settings.watch == "auto" and kind:
            return f"the vault lies on a {kind} file system, which does not tell of changes made elsewhere"
        return None

    @property
    def _is_polling(self) -> bool:
        return self.state.mode == "polling"

    def _rescan_time(self) -> float:
        return time.monotonic() + self._settings.rescan_minutes * 60


def _by_text(tree: Tree) -> dict[str, str]:
    """Map the folders' paths as watchers tell them to their shown paths."""
    found = {}
    for path, folder in tree.items():
        try:
            found[name_text(folder.disk)] = path
        except ValueError:
            continue
    return found


def _watched(tree: Tree) -> list[str]:
    return sorted(name_text(folder.disk) for folder in tree.values() if folder.readable)


def _named(heard: Heard, tree: Tree) -> set[str]:
    """Give the notes that events named: written within one tick of the clock, they may look unchanged and are not."""
    by_text = _by_text(tree) if heard.paths else {}
    found = set()
    for path in heard.paths:
        parent, _, name = path.rpartition("/")
        if parent in by_text:
            notes = tree[by_text[parent]].entries
            shown = (f"{by_text[parent]}/{spelling}".lstrip("/") for spelling in (name, normalize("NFC", name)))
            found |= {note for note in shown if note in notes}
    return found
