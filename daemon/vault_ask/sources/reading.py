"""Reads one note out of the vault, and nothing else: whatever the path says and whatever lies there.

Every step from the vault's root is opened relative to the one before it and without following links, so that no link
put there meanwhile leads out. A link that was there is resolved first, and its target read in the same way.
"""

import errno
import os
import stat
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from vault_ask.errors import DocumentVanished
from vault_ask.sources.port import Document
from vault_ask.sources.selection import Selection, disk_name, name_text, path_parts, shown_names
from vault_ask.sources.walk import LARGEST_NOTE, away, entry_of, is_within, revision, unreachable

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a pipe put in the note's place since we looked does not hold us up.
_NOTE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that was opened, and the path it really has in the vault."""

    handle: int
    path: str


class _LinkMetError(Exception):
    """A component is a link; `parts` are the disk names up to it, `rest` those after it."""

    def __init__(self, parts: list[str], rest: list[str]) -> None:
        super().__init__()
        self.parts = parts
        self.rest = rest


def read_note(root: str, path: str, selection: Selection) -> Document:
    """Read the note at a path as listed, or at a link to one inside the vault.

    The entry tells of the content that was read: a file that changes under our hands is read once more, and if it
    changes again, its entry is from before, so that the next listing differs. Raises DocumentVanished, always with
    the same words, when there is no such note or it cannot be opened; SourceUnreachable when the vault is away.
    """
    parts = path_parts(path)
    if parts is None or not selection.lists(path):
        raise _vanished()
    with vault_errors(), open_root(root) as top:
        document, steady = _read(open_note(top, root, parts), path, selection)
        if not steady:
            document, _ = _read(open_note(top, root, parts), path, selection)
        return document


def _read(opened: Opened, path: str, selection: Selection) -> tuple[Document, bool]:
    """Read what was opened and say whether it kept still meanwhile."""
    with os.fdopen(opened.handle, "rb") as file:
        before = os.fstat(file.fileno())
        if not stat.S_ISREG(before.st_mode) or before.st_size > LARGEST_NOTE or not selection.lists(opened.path):
            raise _vanished()
        content = file.read()
        steady = revision(os.fstat(file.fileno())) == revision(before)
    shown = opened.path if _same_spelling(opened.path, path) else path
    return Document(entry=entry_of(shown, before), content=content, resolved_path=opened.path), steady


def open_note(top: int, root: str, parts: list[str]) -> Opened:
    """Open the file at a path below an opened vault, or the file inside the vault that a link leads to."""
    try:
        return _descend(top, parts)
    except _LinkMetError as link:
        real = os.path.realpath(root)
        target = os.path.realpath("/".join([real, *link.parts, *link.rest]))
    if target == real or not is_within(real, target):
        raise _vanished()
    try:
        return _descend(top, [name_text(name) for name in os.path.relpath(target, real).split("/")])
    except (_LinkMetError, ValueError):
        raise _vanished() from None


def _descend(top: int, parts: list[str]) -> Opened:
    names: list[str] = []
    shown: list[str] = []
    with ExitStack() as stack:
        here = top
        for depth, part in enumerate(parts, start=1):
            name, spelling = _name_in(here, part)
            names.append(name)
            shown.append(spelling)
            mode = os.lstat(name, dir_fd=here).st_mode
            if stat.S_ISLNK(mode):
                raise _LinkMetError(names, [disk_name(part) for part in parts[depth:]])
            if depth == len(parts):
                break
            here = os.open(name, _FOLDER, dir_fd=here)
            stack.callback(os.close, here)
        if not stat.S_ISREG(mode):
            raise _vanished()
        return Opened(os.open(name, _NOTE, dir_fd=here), "/".join(shown))


def _name_in(folder: int, part: str) -> tuple[str, str]:
    """Find the name on disk that is shown as `part`, and its spelling in listings."""
    name = disk_name(part)
    if unicodedata.is_normalized("NFC", part) and _is_exact(folder, name):
        return name, part
    texts = {text: name for name in os.listdir(folder) if (text := _text(name)) is not None}
    by_spelling = {spelling: texts[text] for text, spelling in shown_names(texts).items()}
    for spelling in (part, unicodedata.normalize("NFC", part)):
        if spelling in by_spelling:
            return by_spelling[spelling], spelling
    raise _vanished()


def _is_exact(folder: int, name: str) -> bool:
    """Whether a file of exactly this name is there; False also where only a listing can tell."""
    try:
        status = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    try:
        # A disk that folds case finds the note under any case; two notes that differ by case are two files.
        return name == name.swapcase() or not os.path.samestat(status, os.lstat(name.swapcase(), dir_fd=folder))
    except OSError:
        return True


def _text(name: str) -> str | None:
    try:
        return name_text(name)
    except ValueError:
        return None


def _same_spelling(path: str, other: str) -> bool:
    return unicodedata.normalize("NFC", path) == unicodedata.normalize("NFC", other)


@contextmanager
def open_root(root: str) -> Iterator[int]:
    """Open the vault itself; absence below an empty root is the vault's absence, not the note's."""
    try:
        top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise unreachable(error) from error
    try:
        yield top
    except (FileNotFoundError, DocumentVanished) as error:
        if _is_bare(top):
            raise unreachable(FileNotFoundError(errno.ENOENT, "")) from error
        raise
    finally:
        os.close(top)


def _is_bare(folder: int) -> bool:
    with os.scandir(folder) as items:
        return next(items, None) is None


@contextmanager
def vault_errors() -> Iterator[None]:
    """Tell a vault that is away from a note that is. Raises SourceUnreachable, DocumentVanished."""
    try:
        yield
    except OSError as error:
        if away(error):
            raise unreachable(error) from error
        raise _vanished() from None


def _vanished() -> DocumentVanished:
    return DocumentVanished("The vault holds no note at this path that can be opened.")
