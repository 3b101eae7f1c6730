"""The record of what was read and where it went: a line for each question and search, for the owner alone.

It lies in the data folder, so never in the vault: `audit.jsonl`, and the files before it as `audit.1.jsonl` (the
newest) and so on. A line is one JSON object in ASCII, so that every reader agrees where it ends and nothing in it
steers a terminal. It names the notes that were read by their paths, personal ones too, since that is what its owner
will want to know; therefore folder and files are readable for their owner alone (0700, 0600), whatever the umask.

A question is kept as `hmac:` and its HMAC-SHA-256 under a key of this data folder: of a bare hash anybody could find
out a short question by trying. Commands write beside the daemon, each line in one piece while it holds the folder's
lock; a power cut may cost the last ones. The record is a help and no guard: where it cannot be written, answers go on,
and `trouble` says so.
"""

import errno
import fcntl
import hmac
import json
import os
import re
import secrets
import stat
import time
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Annotated, Literal

import structlog
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from vault_ask.errors import ConfigError
from vault_ask.scope import OpenScope, Scope
from vault_ask.settings import AuditSettings

log = structlog.get_logger()

FILE = "audit.jsonl"
KEY = "key"
KEY_BYTES = 32
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
MEGABYTE = 1_000_000
LOCK_SECONDS = 5.0
"""Longest wait for the line of another process, which takes it about a millisecond unless it hangs."""
_LOCK_PAUSE = 0.002
_NUMBERED = re.compile(r"audit(?:\.([1-9][0-9]{0,5}))?\.jsonl")
_HALF_LETTER = re.compile("[\ud800-\udfff]")

Door = Literal["rest", "cli", "openai", "mcp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebUse:
    """The web was asked, so the question went to this provider; `results` is None where it gave no answer."""

    provider: str
    results: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What became of one question or search.

    `scope` is the one it ended with, after any narrowing. `notes` are the vault paths whose text was read into the
    answer or shown. `outcome` is done, silent, stopped or error:<code>.
    """

    door: Door
    action: Literal["ask", "search"]
    scope: Scope
    question: str
    notes: tuple[str, ...]
    model: str | None
    web: WebUse | None
    outcome: str
    seconds: float


class Entry(BaseModel):
    """A record as it was kept; what a later version may add to it is passed over.

    `question` is its keyed hash or its text, and not set where it was not kept.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    # Years that every time zone can show.
    at: Annotated[AwareDatetime, Field(ge=datetime(1970, 1, 2, tzinfo=UTC), le=datetime(9998, 1, 1, tzinfo=UTC))]
    door: str
    action: str
    scope: Literal["open", "personal"]
    web_allowed: bool
    web: WebUse | None
    notes: tuple[str, ...]
    model: str | None
    question: str | None = None
    outcome: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which entries to give: from a moment on, of one door, only where the web was asked, of one question."""

    since: datetime | None = None
    door: Door | None = None
    web: bool = False
    question: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Entries, the newest last; how many earlier ones fit too, how many do not, and how many lines are no entries."""

    entries: tuple[Entry, ...]
    earlier: int
    others: int
    unreadable: int


class AuditLog:
    """The record in one folder; written by several threads and processes at once."""

    def __init__(self, folder: Path, settings: AuditSettings) -> None:
        self._folder = folder
        self._settings = settings
        self._trouble: str | None = None

    @property
    def trouble(self) -> str | None:
        """Why the newest record could not be written, as a sentence for the status."""
        return self._trouble

    def write(self, record: Record) -> None:
        """Append a record. Never raises: what goes wrong is kept in `trouble`, and logged when it begins."""
        try:
            # Where there is no data folder there is no index, so nothing was read; and asking makes none.
            if self._settings.enabled and self._folder.parent.is_dir():
                self._append(record)
                self._trouble = None
        except OSError as error:
            self._tell(_reason(error))

    def read(self, wanted: Wanted, *, last: int) -> Found:
        """Give the newest `last` entries that are wanted, also those from before the record was switched off.

        Raises ConfigError when the files cannot be read.
        """
        newest: deque[Entry] = deque(maxlen=last)
        fitting = others = unreadable = 0
        try:
            fits = _test(wanted, self._key())
            for line in self._lines():
                entry = _entry(line)
                if entry is None:
                    unreadable += not line.isspace()
                elif fits(entry):
                    newest.append(entry)
                    fitting += 1
                else:
                    others += 1
        except OSError as error:
            raise ConfigError(
                f"The audit log in {self._folder} cannot be read ({_reason(error)}). It should be a folder and files "
                "that are your own."
            ) from None
        return Found(entries=tuple(newest), earlier=fitting - len(newest), others=others, unreadable=unreadable)

    def _append(self, record: Record) -> None:
        with suppress(FileExistsError):
            self._folder.mkdir(mode=PRIVATE_FOLDER)
            self._folder.chmod(PRIVATE_FOLDER)
        with _locked(self._folder, fcntl.LOCK_EX) as folder:
            _make_private(folder, PRIVATE_FOLDER)
            line = _line(record, self._kept(record.question, folder))
            _make_room(folder, len(line), self._settings)
            _append_line(folder, line)

    def _kept(self, question: str, folder: int) -> str | None:
        match self._settings.questions:
            case "hash":
                return _hashed(question, _read_key(folder, os.O_RDWR) or _new_key(folder))
            case "text":
                return question
            case "none":
                return None

    def _tell(self, reason: str) -> None:
        if self._trouble is None:
            log.warning("audit log cannot be written", reason=reason)
        self._trouble = (
            f"The audit log cannot be written ({reason}), so answers go on without a record. Mend the folder "
            f"{self._folder.name} in the data folder, or set audit.enabled to false."
        )

    def _key(self) -> bytes | None:
        with suppress(FileNotFoundError), _locked(self._folder, fcntl.LOCK_SH) as folder:
            return _read_key(folder, os.O_RDONLY)
        return None

    def _lines(self) -> Iterator[bytes]:
        """Give all lines as they are now, the oldest first; all files are opened before one of them could move on."""
        with ExitStack() as stack:
            files: list[tuple[int, int]] = []
            with suppress(FileNotFoundError), _locked(self._folder, fcntl.LOCK_SH) as folder:
                for number in sorted(_numbers(folder), reverse=True):
                    file = stack.enter_context(_opened(folder, _name(number), os.O_RDONLY))
                    files.append((file, os.fstat(file).st_size))
            for file, size in files:
                yield from _lines_of(file, size)


@contextmanager
def _locked(path: Path, how: int) -> Iterator[int]:
    """Open the folder and hold its lock, LOCK_EX to change files in it and LOCK_SH to open them. Raises OSError."""
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        _lock(folder, how)
        yield folder
    finally:
        os.close(folder)


def _lock(folder: int, how: int) -> None:
    end = time.monotonic() + LOCK_SECONDS
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


def _append_line(folder: int, line: bytes) -> None:
    """Append a line in one piece or not at all; a line before it that was torn by a power cut is ended first."""
    with _opened(folder, FILE, os.O_RDWR | os.O_APPEND | os.O_CREAT) as file:
        size = os.fstat(file).st_size
        torn = size and os.pread(file, 1, size - 1) != b"\n"
        whole = b"\n" + line if torn else line
        if os.write(file, whole) < len(whole):
            os.ftruncate(file, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _make_room(folder: int, coming: int, settings: AuditSettings) -> None:
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


def _line(record: Record, question: str | None) -> bytes:
    kept = {} if question is None else {"question": _whole(question)}
    line = {
        "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "door": record.door,
        "action": record.action,
        "scope": record.scope.ceiling.word,
        "web_allowed": isinstance(record.scope, OpenScope) and record.scope.web_allowed,
        "web": asdict(record.web) if record.web else None,
        "notes": [_whole(path) for path in record.notes],
        "model": record.model and _whole(record.model),
        **kept,
        "outcome": record.outcome,
        "seconds": round(record.seconds, 3),
    }
    return json.dumps(line).encode("ascii") + b"\n"


def _whole(text: str) -> str:
    """Replace half letters (lone surrogates), which no strict reader of JSON takes."""
    return _HALF_LETTER.sub("\ufffd", text)


def _same(question: str) -> str:
    """Write a question as anybody would who types it again: one Unicode form, without case, single spaces."""
    return " ".join(unicodedata.normalize("NFC", _whole(question)).casefold().split())


def _hashed(question: str, key: bytes) -> str:
    return "hmac:" + hmac.new(key, _same(question).encode(), "sha256").hexdigest()


def _test(wanted: Wanted, key: bytes | None) -> Callable[[Entry], bool]:
    """Make the test of an entry; a question fits its hash under the key, its text, and its hash as written."""
    same = None if wanted.question is None else _same(wanted.question)
    hashed = None if wanted.question is None or key is None else _hashed(wanted.question, key)

    def fits(entry: Entry) -> bool:
        asked = same is None or (
            entry.question is not None and (entry.question == hashed or _same(entry.question) == same)
        )
        return (
            asked
            and (wanted.since is None or entry.at >= wanted.since)
            and (wanted.door is None or entry.door == wanted.door)
            and (entry.web is not None or not wanted.web)
        )

    return fits


def _entry(line: bytes) -> Entry | None:
    try:
        return Entry.model_validate_json(line)
    except ValidationError:
        return None


def _lines_of(file: int, size: int) -> Iterator[bytes]:
    with os.fdopen(file, "rb", closefd=False) as stream:
        while size > 0 and (line := stream.readline(size)):
            size -= len(line)
            yield line


def _reason(error: OSError) -> str:
    """Say why, without the path; a link is refused in words of a file system that few know."""
    if error.errno in {errno.ELOOP, errno.ENOTDIR}:
        return "a link or a file lies in its place"
    return error.strerror or type(error).__name__
