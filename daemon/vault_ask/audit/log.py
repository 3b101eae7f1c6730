"""The record of one data folder as the rest of vault-ask sees it: written, read, and never in anybody's way.

The record is a help and no guard: where it cannot be written, answers go on, the newest records wait in memory for the
next one that is written or for the end, and `trouble` says so.
"""

import time
from collections import deque
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

import structlog

from vault_ask.audit.files import append, key_of, key_to_write, lines, make_room, reason_of, to_write
from vault_ask.audit.records import Entry, Found, Record, Wanted, entry_of, hashed, line_of, matcher
from vault_ask.errors import ConfigError
from vault_ask.settings.serving import AuditSettings

log = structlog.get_logger()

WAY_SECONDS = 0.05
"""Longest wait for the line of another process on the way of an answer; a line takes about a millisecond."""
LOCK_SECONDS = 5.0
"""Longest wait for it by who has time: a reader, and the end. Whoever holds it longer hangs."""
KEPT = 300
"""Records that wait in memory; beyond that the oldest are lost."""


class AuditLog:
    """The record in one folder; written by several threads and processes at once. Close it, or what waits is lost."""

    def __init__(self, folder: Path, settings: AuditSettings) -> None:
        self._folder = folder
        self._settings = settings
        self._waiting: deque[tuple[datetime, Record]] = deque(maxlen=KEPT)
        self._waiting_since: float | None = None
        self._turn = Lock()
        self._trouble: str | None = None

    @property
    def trouble(self) -> str | None:
        """Why the newest records could not be written, as a sentence for the status; not told of a short wait."""
        return self._trouble

    def write(self, record: Record) -> None:
        """Append a record, or keep it for the next time. Never raises; what goes wrong for long is told and logged."""
        if not self._settings.enabled:
            return
        with self._turn:
            self._waiting.append((datetime.now(UTC), record))
            error = self._write_waiting(WAY_SECONDS)
            if error is not None and not (isinstance(error, TimeoutError) and self._waited() < LOCK_SECONDS):
                self._tell(reason_of(error))

    def close(self) -> None:
        """Write what still waits, and log how many records are lost where that cannot be. Never raises."""
        with self._turn:
            if self._waiting and (error := self._write_waiting(LOCK_SECONDS)):
                log.warning("audit records lost", records=len(self._waiting), reason=reason_of(error))

    def read(self, wanted: Wanted, *, last: int) -> Found:
        """Give the newest `last` entries that are wanted, also those from before the record was switched off.

        Raises ConfigError when the files cannot be read.
        """
        newest: deque[Entry] = deque(maxlen=last)
        fitting = others = unreadable = 0
        try:
            fits = matcher(wanted, key_of(self._folder, seconds=LOCK_SECONDS))
            for line in lines(self._folder, seconds=LOCK_SECONDS):
                entry = entry_of(line)
                if entry is None:
                    unreadable += not line.isspace()
                elif fits(entry):
                    newest.append(entry)
                    fitting += 1
                else:
                    others += 1
        except OSError as error:
            raise ConfigError(
                f"The audit log in {self._folder} cannot be read ({reason_of(error)}). It should be a folder and files "
                "that are your own."
            ) from None
        return Found(entries=tuple(newest), earlier=fitting - len(newest), others=others, unreadable=unreadable)

    def _write_waiting(self, seconds: float) -> OSError | None:
        """Write what waits, the oldest first, and give what kept it from being written."""
        try:
            # Where there is no data folder there is no index, so nothing was read; and asking makes none.
            if self._folder.parent.is_dir():
                self._append_waiting(seconds)
            self._waiting.clear()
        except OSError as error:
            self._waiting_since = self._waiting_since or time.monotonic()
            return error
        self._waiting_since = self._trouble = None
        return None

    def _append_waiting(self, seconds: float) -> None:
        with to_write(self._folder, seconds=seconds) as folder:
            while self._waiting:
                at, record = self._waiting[0]
                line = line_of(record, at=at, question=self._kept(record.question, folder))
                make_room(folder, len(line), self._settings)
                append(folder, line)
                self._waiting.popleft()

    def _kept(self, question: str, folder: int) -> str | None:
        match self._settings.questions:
            case "hash":
                return hashed(question, key_to_write(folder))
            case "text":
                return question
            case "none":
                return None

    def _waited(self) -> float:
        return 0.0 if self._waiting_since is None else time.monotonic() - self._waiting_since

    def _tell(self, reason: str) -> None:
        if self._trouble is None:
            log.warning("audit log cannot be written", reason=reason)
        self._trouble = (
            f"The audit log cannot be written ({reason}), so answers go on and the newest {KEPT} records wait in "
            f"memory, which are lost if vault-ask ends before. Mend the folder {self._folder.name} in the data folder, "
            "or set audit.enabled to false."
        )
