"""An open `_changes` request, read by a thread of its own. Knows how rows arrive, not what is asked for."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Condition, Thread
from typing import Any

import httpx

from vault_ask.errors import SourceError, SourceUnreachable
from vault_ask.sources.couch_answers import Row, change_row, lines, read_rows, sequence
from vault_ask.sources.couch_refusals import Speaker
from vault_ask.sources.couch_requests import Cord

# How far the network may run ahead of whoever takes the rows.
_WAITING_ROWS = 5000
_TAKEN_AT_ONCE = 500
_LEAVING_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class FeedEnd:
    """A feed is over: cleanly, with the sequence to go on from, or by an error; neither when we closed it."""

    last_seq: str | None
    error: SourceError | None = None


class _Closed(Exception):
    """The feed was closed from our side."""


class Feed:
    """Rows of an open `_changes` request as they come. Made by CouchClient.follow; to be closed by whoever asked.

    `opened` sends the request, on connections that the cord cuts, and gives the answer once its status is known to be
    good; it raises SourceError or httpx.RequestError.
    """

    def __init__(
        self, opened: Callable[[Cord], AbstractContextManager[httpx.Response]], speaker: Speaker, *, whole: bool
    ) -> None:
        self._opened = opened
        self._speaker = speaker
        self._read = self._read_whole if whole else self._read_lines
        self._changed = Condition()
        self._rows: deque[Row] = deque()
        self._end: FeedEnd | None = None
        self._closing = False
        self._cord = Cord()
        self.last_heard = time.monotonic()
        self._thread = Thread(target=self._run, name="couchdb-feed", daemon=True)
        self._thread.start()

    def take(self, timeout: float) -> list[Row] | FeedEnd | None:
        """Give up to 500 rows that arrived, FeedEnd once it is over, None when nothing came for `timeout` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._rows or self._end, timeout)
            if self._rows:
                taken = [self._rows.popleft() for _ in range(min(len(self._rows), _TAKEN_AT_ONCE))]
                self._changed.notify_all()
                return taken
            return self._end

    def close(self) -> None:
        """Hang up at once, from any thread, also while the server is silent."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._cord.cut()
        self._thread.join(_LEAVING_SECONDS)

    def _run(self) -> None:
        end = FeedEnd(None)
        try:
            with self._opened(self._cord) as response:
                end = FeedEnd(self._read(self._pieces(response)))
        except _Closed:
            pass
        except httpx.ReadTimeout:
            end = FeedEnd(None, self._silent())
        except httpx.RequestError as error:
            end = FeedEnd(None, self._speaker.unreached(error))
        except SourceError as error:
            end = FeedEnd(None, error)
        except Exception as error:  # noqa: BLE001 - a socket shut down under its reader fails in many ways
            end = FeedEnd(None, self._failed(type(error).__name__))
        finally:
            with self._changed:
                self._end = FeedEnd(None) if self._closing else end
                self._changed.notify_all()

    def _pieces(self, response: httpx.Response) -> Iterator[bytes]:
        for piece in response.iter_bytes():
            self.last_heard = time.monotonic()
            yield piece

    def _read_lines(self, pieces: Iterator[bytes]) -> str:
        """Read a continuous feed: a row a line, empty lines between them as heartbeats."""
        last: str | None = None
        for line in lines(pieces):
            if line.strip():
                told = self._object(line)
                if row := change_row(told):
                    self._put([row])
                elif "last_seq" in told:
                    last = sequence(told["last_seq"])
        if last is None:
            # However politely a proxy ended it: the server did not.
            raise self._speaker.broken_off()
        return last

    def _read_whole(self, pieces: Iterator[bytes]) -> str:
        """Read a longpoll: line ends as heartbeats, then one object."""
        told = self._object(b"".join(pieces))
        self._put(read_rows(told.get("results"), change_row))
        if "last_seq" not in told:
            raise self._speaker.broken_off()
        return sequence(told["last_seq"])

    def _object(self, text: bytes) -> dict[str, Any]:
        told = self._speaker.understood(text.decode(errors="replace"))
        if "error" in told and "id" not in told and "results" not in told:
            raise self._failed()
        return told

    def _put(self, rows: list[Row]) -> None:
        with self._changed:
            self._changed.wait_for(lambda: len(self._rows) < _WAITING_ROWS or self._closing)
            if self._closing:
                raise _Closed
            self._rows.extend(rows)
            self._changed.notify_all()

    def _silent(self) -> SourceUnreachable:
        return SourceUnreachable(
            f"The CouchDB at {self._speaker.host} fell silent; its changes will be asked for again."
        )

    def _failed(self, what: str = "an error") -> SourceUnreachable:
        return SourceUnreachable(
            f"The changes of the CouchDB at {self._speaker.host} ended with {what}; they will be asked for again."
        )
