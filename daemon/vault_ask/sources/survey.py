"""Tells a vault that changed from a vault that is away: nothing missing is a deletion until this module says so."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from vault_ask.errors import SourceUnreachable
from vault_ask.sources.port import Entry, Trouble
from vault_ask.sources.selection import Selection
from vault_ask.sources.walk import NO_DEVICE, Folder, Tree, refresh, unreachable, walk


class Identity(NamedTuple):
    """Which folder on which device a path leads to; another disk mounted there has another one."""

    device: int
    inode: int


@dataclass(frozen=True, slots=True)
class Surveyor:
    """Surveys the vault at `root`, an absolute path that may be a link."""

    root: str
    selection: Selection

    def identity(self) -> Identity:
        """Say which folder the root is just now. Raises SourceUnreachable when there is none."""
        try:
            status = Path(self.root).stat()
        except OSError as error:
            raise unreachable(error) from error
        return Identity(status.st_dev, status.st_ino)

    def whole(self, before: Tree | None) -> Tree:
        """Walk the whole vault. Raises SourceUnreachable when what is found does not follow from `before`."""
        identity = self.identity()
        real = os.path.realpath(self.root)
        return self._trusted(before, walk(real, self.selection), identity)

    def part(self, before: Tree, shallow: set[str], deep: set[str]) -> Tree:
        """Look anew at some folders, as `walk.refresh` does. Raises like `whole`."""
        identity = self.identity()
        real = os.path.realpath(self.root)
        return self._trusted(before, refresh(before, real, self.selection, shallow=shallow, deep=deep), identity)

    def _trusted(self, before: Tree | None, now: Tree, identity: Identity) -> Tree:
        if self.identity() != identity:
            raise SourceUnreachable(
                "The vault's disk was mounted or unmounted while it was read, so nothing of that was used. "
                "vault-ask looks again by itself."
            )
        kept = keep_unreadable(before or {}, now)
        _refuse_emptiness(before or {}, kept)
        return kept


def entries(tree: Tree) -> Iterator[Entry]:
    """Give every note of the tree, in no order."""
    for folder in tree.values():
        yield from folder.entries.values()


def unreadable(tree: Tree) -> tuple[str, ...]:
    """Name the folders that could not be looked into."""
    return tuple(sorted(path for path, folder in tree.items() if not folder.readable))


def troubles(tree: Tree) -> tuple[Trouble, ...]:
    """Give every trouble of the tree, sorted by path."""
    return tuple(sorted((t for folder in tree.values() for t in folder.troubles), key=lambda trouble: trouble.path))


def differences(before: Tree, now: Tree) -> tuple[set[str], set[str]]:
    """Give the paths that are gone and the paths that are new or changed. The same folder object is the same."""
    touched = {path for path in before.keys() | now.keys() if before.get(path) is not now.get(path)}
    old = {entry.path: entry for path in touched if path in before for entry in before[path].entries.values()}
    new = {entry.path: entry for path in touched if path in now for entry in now[path].entries.values()}
    fresh = {path for path, entry in new.items() if path not in old or old[path].revision != entry.revision}
    return old.keys() - new.keys(), fresh


def keep_unreadable(before: Tree, now: Tree) -> Tree:
    """Give `now` with everything that `before` held below folders that cannot be looked into any more."""
    kept = dict(now)
    for path in (*unreadable(now), *_unmounted(before, now)):
        below = {other: folder for other, folder in before.items() if other == path or other.startswith(f"{path}/")}
        kept.update(below)
        closed = now.get(path) or below[path]
        told = closed.troubles or (Trouble(path, "the disk mounted there is away"),)
        kept[path] = replace(below.get(path, closed), readable=False, troubles=told)
    return kept


def _unmounted(before: Tree, now: Tree) -> Iterator[str]:
    """Name the folders that were disks of their own within the vault and are now empty folders of the disk around."""
    for path, folder in before.items():
        parent = path.rpartition("/")[0]
        if path and parent in before and parent in now and folder.device not in {before[parent].device, NO_DEVICE}:
            seen = now.get(path)
            if seen is not folder and _is_hollow(seen, now[parent]):
                yield path


def _is_hollow(seen: Folder | None, parent: Folder) -> bool:
    return seen is None or (seen.bare and seen.device == parent.device)


def _refuse_emptiness(before: Tree, now: Tree) -> None:
    had = sum(len(folder.entries) for folder in before.values())
    if any(folder.entries for folder in now.values()):
        return
    if now[""].bare:
        raise SourceUnreachable(
            "The vault's folder is empty, as the place of an unmounted disk is, so everything indexed is kept as it "
            "is. Mount the disk or put a note there; vault-ask goes on by itself."
        )
    # One note may well be deleted, and then the next; all of many at once is an accident or a disk that is away.
    if had > 1:
        raise SourceUnreachable(
            "All notes of the vault are gone at once, which is not taken for a deletion, so everything indexed is "
            "kept as it is. Bring them back; if you meant it, restart vault-ask."
        )
