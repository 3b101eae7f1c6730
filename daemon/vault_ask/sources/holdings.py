"""Every file that a vault's folder holds, as Obsidian would show it: notes and attachments, listed and given whole.

The index wants notes; this wants all there is, so nothing is too large to be listed. Links are left out as they are of
the notes' listing, and reading is as careful: no link, however late it is put there, leads out of the vault.
"""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from vault_ask.errors import DocumentVanished, SourceUnreachable
from vault_ask.sources.port import Holding, Trouble, Unread
from vault_ask.sources.reading import Opened, open_note, open_root, vault_errors
from vault_ask.sources.selection import Selection, is_note_name, matches_any, name_text, path_parts, shown_names
from vault_ask.sources.survey import Surveyor
from vault_ask.sources.walk import (
    EFFECTIVE,
    GONE,
    OPEN_FOLDER,
    away,
    below,
    is_within,
    printable,
    revision,
    unreachable,
)

LARGEST_FILE = 512 * 1024 * 1024
"""Bytes; a file is given as one piece, and a small machine has no room for a larger one."""

_TEMPORARY = re.compile(r"(~|\.(tmp|swp|icloud)(-\d+)?)$", re.IGNORECASE)


class FileSelection(Selection):
    """Which names in a vault are files of it: what Selection says of notes, said of files of every kind."""

    __slots__ = ()

    def takes(self, path: str) -> bool:
        """Whether the file at this path belongs to the vault for us; its folders are taken for granted."""
        name = path.rpartition("/")[2]
        # As a note of that name would be: not hidden, and not the unfinished twin of another file.
        if not is_note_name(f"{name}.md") or _TEMPORARY.search(name) or matches_any(self.exclude, path):
            return False
        return self.include is None or matches_any(self.include, path)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder still to be looked into: its path as shown ("" is the vault itself), and the one that opens it."""

    path: str
    disk: str


class Holdings:
    """Walks a folder's files in the order of their paths, one folder in memory at a time.

    `troubles` tells, once the walk is through, what it left out: names that no path can hold, folders that are closed,
    links that lead out, and what is no file.
    """

    def __init__(self, surveyor: Surveyor, files: FileSelection) -> None:
        self._surveyor = surveyor
        self._root = os.path.realpath(surveyor.root)
        self._files = files
        self.troubles: list[Trouble] = []

    def __iter__(self) -> Iterator[Holding]:
        """Give every file, sorted by path. Raises SourceUnreachable, after some files if it comes to that."""
        identity = self._surveyor.identity()
        waiting: list[Holding | _Folder] = [_Folder("", self._root)]
        while waiting:
            found = waiting.pop()
            if isinstance(found, _Folder):
                waiting.extend(sorted(self._look(found), key=_place, reverse=True))
            else:
                yield found
        if self._surveyor.identity() != identity:
            raise SourceUnreachable(
                "The vault's disk was mounted or unmounted while it was listed, so the list is not whole. List it "
                "again."
            )

    def _look(self, folder: _Folder) -> list[Holding | _Folder]:
        try:
            # The descriptor, not the path, is listed: a folder swapped for a link out of the vault is not entered.
            handle = os.open(folder.disk, OPEN_FOLDER | (os.O_NOFOLLOW if folder.path else 0))
            try:
                with os.scandir(handle) as items:
                    return self._sorted_out(folder, list(items), handle)
            finally:
                os.close(handle)
        except OSError as error:
            if away(error) or not folder.path:
                raise unreachable(error) from error
            if error.errno not in GONE:
                self._trouble(folder.path, "the folder cannot be opened")
            return []

    def _sorted_out(self, folder: _Folder, items: list[os.DirEntry[str]], handle: int) -> list[Holding | _Folder]:
        if not items and not folder.path:
            raise SourceUnreachable(
                "The vault's folder is empty, as the place of an unmounted disk is, so nothing can be said of its "
                "files. Mount the disk or put a note there."
            )
        texts = dict(self._texts(folder, items))
        shown = shown_names(texts)
        found = (self._found(folder, item, below(folder.path, shown[text]), handle) for text, item in texts.items())
        return [one for one in found if one is not None]

    def _texts(self, folder: _Folder, items: list[os.DirEntry[str]]) -> Iterator[tuple[str, os.DirEntry[str]]]:
        for item in items:
            try:
                yield name_text(item.name), item
            except ValueError as error:
                if not item.name.startswith("."):
                    self._trouble(below(folder.path, item.name), str(error))

    def _found(self, folder: _Folder, item: os.DirEntry[str], path: str, handle: int) -> Holding | _Folder | None:
        try:
            if item.is_symlink():
                self._link(below(folder.disk, item.name), path)
            elif item.is_dir(follow_symlinks=False):
                return _Folder(path, below(folder.disk, item.name)) if self._files.enters(path) else None
            elif self._files.takes(path):
                return self._file(item, path, handle)
        except OSError as error:
            if away(error):
                raise
            if error.errno not in GONE:
                self._trouble(path, "it cannot be looked at")
        return None

    def _file(self, item: os.DirEntry[str], path: str, handle: int) -> Holding | None:
        status = item.stat(follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            self._trouble(path, "it is a pipe, socket or device")
            return None
        if os.access(item.name, os.R_OK, dir_fd=handle, effective_ids=EFFECTIVE):
            return Holding(path, revision(status), status.st_size)
        return Holding(path, revision(status), status.st_size, "incomplete", "it cannot be opened")

    def _link(self, disk: str, path: str) -> None:
        wanted = self._files.takes(path) or self._files.enters(path)
        if wanted and not is_within(self._root, os.path.realpath(disk)):
            self._trouble(path, "the link leads out of the vault")

    def _trouble(self, path: str, reason: str) -> None:
        self.troubles.append(Trouble(printable(path), reason))


def read_file(root: str, path: str, files: FileSelection) -> bytes | Unread:
    """Give the bytes of the file at a path as listed, or at a link to one inside the vault.

    A file that changes under our hands is read once more. Raises SourceUnreachable when the vault is away.
    """
    parts = path_parts(path)
    if parts is None or not files.lists(path):
        return _no_such_file(path)
    try:
        with vault_errors(), open_root(root) as top:
            try:
                return _read(top, root, parts, files)
            except PermissionError:
                return Unread(path, "it cannot be opened")
            except _TooLargeError:
                return Unread(path, f"it is larger than {LARGEST_FILE // 1024**2} MiB")
    except DocumentVanished:
        return _no_such_file(path)


class _TooLargeError(Exception):
    """There is no room for this file."""


def _read(top: int, root: str, parts: list[str], files: FileSelection) -> bytes:
    content, steady = _read_once(open_note(top, root, parts), files)
    if steady:
        return content
    del content  # it may be half of our memory
    return _read_once(open_note(top, root, parts), files)[0]


def _read_once(opened: Opened, files: FileSelection) -> tuple[bytes, bool]:
    """Read what was opened and say whether it kept still meanwhile."""
    with os.fdopen(opened.handle, "rb", buffering=0) as file:
        before = os.fstat(file.fileno())
        if not stat.S_ISREG(before.st_mode) or not files.lists(opened.path):
            raise DocumentVanished("The vault holds no file at this path.")
        if before.st_size > LARGEST_FILE:
            raise _TooLargeError
        content = file.read()
        return content, revision(os.fstat(file.fileno())) == revision(before)


def _no_such_file(path: str) -> Unread:
    return Unread(path, "the vault holds no file at this path", vanished=True)


def _place(found: Holding | _Folder) -> str:
    """Give what sorts a folder where the paths below it belong among those of files."""
    return f"{found.path}/" if isinstance(found, _Folder) else found.path
