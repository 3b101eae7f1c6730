"""The files of the record: their lock, their modes, their key, and when one is put aside; knows no record.

Folder and files are readable for their owner alone (0700, 0600), whatever the umask. A line is written in one piece
while its writer holds the folder's lock, so that commands may write beside the daemon; a power cut may cost the last
ones. Nothing that a link leads to is opened.
"""

import errno
import fcntl
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

from vault_ask.settings.serving import AuditSettings

FILE = "audit.jsonl"
KEY = "key"
KEY_BYTES = 32
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
MEGABYTE = 1_000_000
_LOCK_PAUSE = 0.002
_NUMBERED = re.compile(r"audit(?:\.([1-9][0-9]{0,5}))?\.jsonl")


@contextmanager
def to_write(path: Path, *, seconds: float) -> Iterator[int]:
    """Make the folder where there is none, and hold it, made private, to change files in it.

    Raises TimeoutError when another process holds it for longer than that, OSError.
    """
    with suppress(FileExistsError):
        path.mkdir(mode=PRIVATE_FOLDER)
        path.chmod(PRIVATE_FOLDER)
    with locked(path, fcntl.LOCK_EX, seconds=seconds) as folder:
        _make_private(folder, PRIVATE_FOLDER)
        yield folder


def lines(path: Path, *, seconds: float) -> Iterator[bytes]:
    """Give all lines as they are now, the oldest first; all files are opened before one of them could move on."""
    with ExitStack() as stack:
        files: list[tuple[int, int]] = []
        with suppress(FileNotFoundError), locked(path, fcntl.LOCK_SH, seconds=seconds) as folder:
            for number in sorted(_numbers(folder), reverse=True):
                file = stack.enter_context(_opened(folder, _name(number), os.O_RDONLY))
                files.append((file, os.fstat(file).st_size))
        for file, size in files:
            yield from _lines_of(file, size)


def key_of(path: Path, *, seconds: float) -> bytes | None:
    """Give the key of the folder for reading, or None where there is none."""
    with suppress(FileNotFoundError), locked(path, fcntl.LOCK_SH, seconds=seconds) as folder:
        return _read_key(folder, os.O_RDONLY)
    return None


def key_to_write(folder: int) -> bytes:
    """Give the key of a folder that is held to write, made anew where there is none that is whole."""
    return _read_key(folder, os.O_RDWR) or _new_key(folder)


@contextmanager
def locked(path: Path, how: int, *, seconds: float) -> Iterator[int]:
    """Open the folder and hold its lock, LOCK_EX to change files in it and LOCK_SH to open them.

    Raises TimeoutError when another process holds it for longer than `seconds`, OSError.
    """
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _lock(folder, how, seconds)
        yield folder
    finally:
        os.close(folder)


def _lock(folder: int, how: int, seconds: float) -> None:
    end = time.monotonic() + seconds
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(folder, how | fcntl.LOCK_NB)
            return
        if time.monotonic() > end:
            raise TimeoutError(errno.ETIMEDOUT, "another process holds it and does not go on")
        time.sleep(_LOCK_PAUSE)


@contextmanager
def _opened(folder: int, name: str, how: int) -> Iterator[int]:
    """Open a file of the folder, but nothing that a link leads to; one that is written is made private."""
    file = os.open(name, how | os.O_NOFOLLOW | os.O_NONBLOCK, PRIVATE_FILE, dir_fd=folder)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, f"{name} is no file")
        if how & os.O_ACCMODE != os.O_RDONLY:
            _make_private(file, PRIVATE_FILE)
        yield file
    finally:
        os.close(file)


def _make_private(handle: int, mode: int) -> None:
    if stat.S_IMODE(os.fstat(handle).st_mode) != mode:
        os.fchmod(handle, mode)


def append(folder: int, line: bytes) -> None:
    """Append a line in one piece or not at all; a line before it that was torn by a power cut is ended first."""
    with _opened(folder, FILE, os.O_RDWR | os.O_APPEND | os.O_CREAT) as file:
        size = os.fstat(file).st_size
        torn = size and os.pread(file, 1, size - 1) != b"\n"
        whole = b"\n" + line if torn else line
        if os.write(file, whole) < len(whole):
            os.ftruncate(file, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def make_room(folder: int, coming: int, settings: AuditSettings) -> None:
    """Put the file aside where the line to come would make it too large, and remove what is kept no longer.

    Files move up to the first free number only, so that a gap, which a kill between two moves leaves, costs none.
    """
    taken = _numbers(folder)
    size = os.stat(FILE, dir_fd=folder, follow_symlinks=False).st_size if 0 in taken else 0
    if not size or size + coming <= settings.max_megabytes * MEGABYTE:
        return
    free = next(number for number in count(1) if number not in taken)
    for number in range(free - 1, -1, -1):
        os.rename(_name(number), _name(number + 1), src_dir_fd=folder, dst_dir_fd=folder)
    for number in _numbers(folder):
        if number > settings.keep:
            os.unlink(_name(number), dir_fd=folder)


def _name(number: int) -> str:
    return f"audit.{number}.jsonl" if number else FILE


def _numbers(folder: int) -> set[int]:
    """Give the numbers of the files there are, 0 for the one that is written."""
    found = (_NUMBERED.fullmatch(name) for name in os.listdir(folder))
    return {int(one[1] or 0) for one in found if one}


def _read_key(folder: int, how: int) -> bytes | None:
    """Give the key, or None where there is none that is whole."""
    with suppress(FileNotFoundError), _opened(folder, KEY, how) as file:
        key = os.read(file, KEY_BYTES + 1)
        return key if len(key) == KEY_BYTES else None
    return None


def _new_key(folder: int) -> bytes:
    """Make the key of this data folder; it is whole before it has its name."""
    key = secrets.token_bytes(KEY_BYTES)
    fresh = f"{KEY}.new"
    with _opened(folder, fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
        os.write(file, key)
        os.fsync(file)
    os.rename(fresh, KEY, src_dir_fd=folder, dst_dir_fd=folder)
    return key


def _lines_of(file: int, size: int) -> Iterator[bytes]:
    with os.fdopen(file, "rb", closefd=False) as stream:
        while size > 0 and (line := stream.readline(size)):
            size -= len(line)
            yield line


def reason_of(error: OSError) -> str:
    """Say why, without the path; a link is refused in words of a file system that few know."""
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return "a link or a file lies in its place"
    return error.strerror or type(error).__name__
