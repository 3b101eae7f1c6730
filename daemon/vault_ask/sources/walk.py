"""Walks a folder of notes: what lies where, with the stamps that tell whether it changed. Reads no content.

Links are never followed. A link to a note inside the vault adds nothing, since that note is listed under its own path;
a link out of the vault must not be followed; and without following there are no loops.
"""

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vault_ask.errors import SourceUnreachable
from vault_ask.sources.port import Entry, Trouble
from vault_ask.sources.selection import Selection, is_note_name, name_text, shown_names

LARGEST_NOTE = 64 * 1024 * 1024
"""Bytes; what is larger is no note that somebody wrote, and would not fit in memory several times over."""

NO_DEVICE = -1
"""The device of a folder that could not be opened."""

# The disk or server is gone or failing, as opposed to this one file or folder being closed to us.
_AWAY = frozenset(
    getattr(errno, name)
    for name in (
        *("EIO", "ESTALE", "ENODEV", "ENXIO", "ENOMEDIUM", "EREMOTEIO", "ENOTCONN", "ESHUTDOWN", "ETIMEDOUT"),
        *("EHOSTDOWN", "EHOSTUNREACH", "ENETDOWN", "ENETUNREACH", "ECONNREFUSED", "ECONNRESET", "ECONNABORTED"),
    )
    if hasattr(errno, name)  # three of them are Linux's own
)
GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
EFFECTIVE = os.access in os.supports_effective_ids
OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder as it was seen. `path` is vault-relative and as shown, "" for the vault itself; `disk` opens it.

    `folders` maps the shown paths of those below to the paths that open them. `bare` means that nothing at all lies
    in it, not even what we skip. `readable` is false where it could not be listed, and then it seems to hold nothing.
    """

    path: str
    disk: str
    device: int
    entries: Mapping[str, Entry] = field(default_factory=dict)
    folders: Mapping[str, str] = field(default_factory=dict)
    troubles: tuple[Trouble, ...] = ()
    bare: bool = False
    readable: bool = True


Tree = dict[str, Folder]
"""The folders of a vault under their shown paths, the vault itself under ""."""


def away(error: OSError) -> bool:
    """Whether this error says that the disk or server is failing, rather than that one file is closed to us."""
    return error.errno in _AWAY


def unreachable(error: OSError) -> SourceUnreachable:
    """Say that the vault cannot be read for now, and why."""
    return SourceUnreachable(
        f"The vault cannot be read just now ({os.strerror(error.errno or 0)}), so everything indexed is kept as it "
        "is. Check that its disk or share is mounted; vault-ask goes on by itself when it is back."
    )


def revision(status: os.stat_result) -> str:
    """Stamp a file so that the stamp changes whenever the content may have.

    The time of modification catches ordinary edits. The size catches edits within one tick of a coarse clock (two
    seconds on FAT). The time of status change catches what puts the first two back: `rsync --times`, `touch -r`, a file
    of the same age moved over this one. The inode would catch less, and FUSE and CIFS number it anew on every mount.
    """
    return f"{status.st_mtime_ns}-{status.st_size}-{status.st_ctime_ns}"


def entry_of(path: str, status: os.stat_result) -> Entry:
    """Describe the file at this shown path."""
    return Entry(path, revision(status), status.st_size, status.st_mtime)


def walk(root: str, selection: Selection, *, path: str = "", disk: str | None = None) -> Tree:
    """Look into a folder and all below it, by default the whole vault at `root` (absolute, links resolved).

    A folder that vanishes meanwhile is left out. Raises SourceUnreachable when the vault itself cannot be listed or
    the disk fails anywhere: half a listing would read like deletions.
    """
    tree: Tree = {}
    waiting = [(path, disk or root)]
    while waiting:
        folder = look(root, selection, *waiting.pop())
        if folder:
            tree[folder.path] = folder
            waiting.extend(folder.folders.items())
    return tree


def look(root: str, selection: Selection, path: str, disk: str) -> Folder | None:
    """Look into one folder; None when it is gone. Raises like `walk`."""
    try:
        # The descriptor, not the path, is listed: a folder swapped for a link out of the vault is then not entered.
        handle = os.open(disk, OPEN_FOLDER | (os.O_NOFOLLOW if path else 0))
        try:
            with os.scandir(handle) as found:
                return _Look(root, selection, path, disk).at(list(found), os.fstat(handle).st_dev)
        finally:
            os.close(handle)
    except OSError as error:
        return _not_listed(path, disk, error)


def refresh(tree: Tree, root: str, selection: Selection, *, shallow: Iterable[str], deep: Iterable[str]) -> Tree:
    """Give the tree as it is now, having looked anew into `shallow` folders and walked the `deep` ones anew.

    Both are shown paths; those not in the tree are passed over. Raises like `walk`.
    """
    fresh = dict(tree)
    for path in deep:
        if path in tree and path:
            _drop(fresh, path)
    for path in sorted(shallow):
        known = tree.get(path)
        if known:
            _put(fresh, look(root, selection, path, known.disk), known, root, selection)
    return fresh


def _put(fresh: Tree, seen: Folder | None, known: Folder, root: str, selection: Selection) -> None:
    if seen is None:
        _drop(fresh, known.path)
        return
    fresh[known.path] = seen
    for gone in known.folders.keys() - seen.folders.keys() if seen.readable else ():
        _drop(fresh, gone)
    for path, disk in seen.folders.items():
        if path not in fresh:
            fresh.update(walk(root, selection, path=path, disk=disk))


def _drop(tree: Tree, path: str) -> None:
    for other in [other for other in tree if other == path or other.startswith(f"{path}/")]:
        del tree[other]


def _not_listed(path: str, disk: str, error: OSError) -> Folder | None:
    if away(error) or not path:
        raise unreachable(error) from error
    if error.errno in GONE:
        return None
    return Folder(path, disk, NO_DEVICE, troubles=(Trouble(path, "the folder cannot be opened"),), readable=False)


class _Look:
    """Sorts what lies in one folder into notes, folders and troubles."""

    def __init__(self, root: str, selection: Selection, path: str, disk: str) -> None:
        self._root = root
        self._selection = selection
        self._path = path
        self._disk = disk
        self._entries: dict[str, Entry] = {}
        self._folders: dict[str, str] = {}
        self._troubles: list[Trouble] = []

    def at(self, items: list[os.DirEntry[str]], device: int) -> Folder:
        """Sort the items; the descriptor they were read from must still be open."""
        texts = dict(self._texts(items))
        shown = shown_names(texts)
        for text, item in texts.items():
            self._sort(item, below(self._path, shown[text]))
        return Folder(
            path=self._path,
            disk=self._disk,
            device=device,
            entries=self._entries,
            folders=self._folders,
            troubles=tuple(self._troubles),
            bare=not items,
        )

    def _texts(self, items: list[os.DirEntry[str]]) -> Iterable[tuple[str, os.DirEntry[str]]]:
        for item in items:
            try:
                yield name_text(item.name), item
            except ValueError as error:
                if is_note_name(item.name) or (item.is_dir(follow_symlinks=False) and item.name[0] != "."):
                    self._trouble(below(self._path, item.name), str(error))

    def _sort(self, item: os.DirEntry[str], path: str) -> None:
        try:
            if item.is_symlink():
                self._link(item, path)
            elif item.is_dir(follow_symlinks=False):
                if self._selection.enters(path):
                    self._folders[path] = below(self._disk, item.name)
            elif self._selection.takes(path):
                self._note(path, item.stat(follow_symlinks=False), below(self._disk, item.name))
        except OSError as error:
            if away(error):
                raise
            if error.errno not in GONE:
                self._trouble(path, "it cannot be looked at")

    def _note(self, path: str, status: os.stat_result, disk: str) -> None:
        if not stat.S_ISREG(status.st_mode):
            self._trouble(path, "it is a pipe, socket or device")
        elif status.st_size > LARGEST_NOTE:
            self._trouble(path, f"it is larger than {LARGEST_NOTE // 1024**2} MiB")
        else:
            self._entries[path] = entry_of(path, status)
            if not os.access(disk, os.R_OK, effective_ids=EFFECTIVE):
                # Listed all the same: what is indexed of it stays until it is really gone.
                self._trouble(path, "it cannot be opened")

    def _link(self, item: os.DirEntry[str], path: str) -> None:
        if not (self._selection.takes(path) or self._selection.enters(path)):
            return
        target = os.path.realpath(below(self._disk, item.name))
        if not is_within(self._root, target):
            self._trouble(path, "the link leads out of the vault")

    def _trouble(self, path: str, reason: str) -> None:
        self._troubles.append(Trouble(printable(path), reason))


def below(folder: str, name: str) -> str:
    """Give the path of a name in a folder."""
    return f"{folder.rstrip('/')}/{name}" if folder else name


def printable(path: str) -> str:
    """Write a path so that it can be shown on a terminal."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)


def is_within(root: str, path: str) -> bool:
    """Whether an absolute path is the root or lies below it; both with their links resolved."""
    return path == root or path.startswith(root.rstrip("/") + "/")
