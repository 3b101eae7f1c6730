"""Where the index lies in the data folder: which file is in use, which one is being built, and who owns the folder.

Every rebuild gets a file of its own number, and a small pointer file says which is in use. A file is never replaced
under its own name: SQLite removes a journal by name, and a reader of the former file would remove the new one's.

The index holds the text of all notes, so its files are readable for their owner alone, whatever the umask; SQLite gives
a journal the mode of its database. A folder that was there before is left as it is: it may be shared for a reason.
"""

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from vault_ask.errors import ConfigError, IndexBusy

POINTER = "index.current"
LOCK = "index.lock"
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600


def make_private(file: Path) -> None:
    """Make an index file and its folder where there is none, readable for their owner alone from the first byte.

    Raises OSError when the folder cannot be made; what is wrong with the file is for SQLite to say.
    """
    file.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
    with suppress(OSError):
        # Never an existing one: to close it here would take away the locks that SQLite holds on it in this process.
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))


def _close_to_others(file: Path) -> None:
    """Take a file of ours from everybody else; where the file system refuses, it stays as it is."""
    with suppress(OSError):
        found = file.lstat()
        ours = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
        if ours and found.st_mode & 0o077:
            file.chmod(PRIVATE_FILE)


class IndexFiles:
    """The index files of one data folder."""

    def __init__(self, data: Path) -> None:
        self.data = data

    @property
    def current(self) -> Path:
        """The file in use; it may not exist yet."""
        return self._numbered(self._number())

    @property
    def building(self) -> Path:
        """The file a rebuild writes, and goes on writing after an interruption."""
        return self._numbered(self._number() + 1)

    def promote(self) -> None:
        """Make the file that was built the one in use, and remove the former one.

        Readers that still have the former file open keep reading it until they look here again.
        """
        former = self._number()
        self._point_at(former + 1)
        self.remove(self._numbered(former))

    def set_aside(self) -> Path:
        """Keep a damaged file under a telling name and let the next number take its place."""
        number = self._number()
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
        damaged = self._numbered(number)
        kept = damaged.with_name(f"{damaged.stem}.damaged-{stamp}{damaged.suffix}")
        self.remove(self._numbered(number + 1))
        damaged.rename(kept)
        self.remove(damaged)
        self._point_at(number + 1)
        return kept

    @staticmethod
    def remove(file: Path) -> None:
        """Remove an index file with its journal."""
        for suffix in ("", "-wal", "-shm"):
            file.with_name(file.name + suffix).unlink(missing_ok=True)

    @contextmanager
    def owned(self) -> Iterator[None]:
        """Own the data folder for writing. Raises IndexBusy when another process does, ConfigError when it can't be."""
        try:
            self.data.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
            handle = os.open(self.data / LOCK, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        except OSError as error:
            raise ConfigError(
                f"The data folder {self.data} cannot be written ({error.strerror}). Name another one with --data."
            ) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise IndexBusy(
                f"vault-ask is already running on the data folder {self.data}, and only one process may write there. "
                "Stop the other one, or use --data with another folder."
            ) from None
        try:
            self._remove_former()
            for file in self.data.glob("index*"):
                _close_to_others(file)
            yield
        finally:
            os.close(handle)

    def _number(self) -> int:
        try:
            return int((self.data / POINTER).read_text(encoding="ascii"))
        except (FileNotFoundError, ValueError):
            # Without a pointer the newest finished file would be a guess; the first number is where it starts.
            return 1

    def _point_at(self, number: int) -> None:
        fresh = self.data / f"{POINTER}.new"
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE), "w") as file:
            file.write(str(number))
            file.flush()
            # Written before it is named: after a power cut an empty pointer would begin the index anew.
            os.fsync(file.fileno())
        fresh.replace(self.data / POINTER)

    def _remove_former(self) -> None:
        """Remove files that a promotion was killed before removing: they still hold what has been deleted since."""
        for file in self.data.glob("index-*.sqlite"):
            number = file.stem.removeprefix("index-")
            if number.isdecimal() and int(number) < self._number():
                self.remove(file)

    def _numbered(self, number: int) -> Path:
        return self.data / f"index-{number}.sqlite"
