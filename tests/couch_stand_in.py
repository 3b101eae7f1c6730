"""A stand-in for Apache CouchDB 3.5 over HTTP, on a port of its own: does what PouchDB does not, and fails on demand.

Opaque sequences, 400 for a malformed one, `pending`, a new `instance_start_time` for a re-created database, feeds that
are not in the order of time, selectors, rights, purge and compaction; couch_store is the database itself. Facts are
those of ../shared/livesync/FORMAT.md.
"""

import base64
import json
import random
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from couch_store import Database
from couch_tree import NO_DATABASE, Body, Refusal
from couch_wire import CouchHandler, Logged, Reply

UNAUTHORIZED = Refusal(401, "unauthorized", "Name or password is incorrect.")
FORBIDDEN = Refusal(403, "forbidden", "You are not allowed to access this db.")
_LOGIN_PAGE = b"<!DOCTYPE html><html><title>Sign in</title></html>"


@dataclass
class CouchStandIn:
    """Its attributes are how it behaves; set them at any time. `requests` holds every request that came,
    and `headers` theirs.

    `users` are names and passwords, and `admin` the name of the one who may do everything; without users everybody may.
    `shuffle` is the seed of the order between shards, `repeats` tells rows of a feed more than once, `selectors` is the
    status that selectors are refused with (None: they work), `feed_seconds` is when a proxy cuts a feed, `buffers` a
    proxy that passes nothing of a continuous feed on, `tells_start` is False for a CouchDB before 3.3.
    """

    users: dict[str, str] = field(default_factory=dict)
    admin: str = "admin"
    shards: int = 2
    shuffle: int | None = None
    repeats: bool = False
    selectors: int | None = None
    feed_seconds: float | None = None
    buffers: bool = False
    tells_start: bool = True
    root: Mapping[str, Any] = field(default_factory=lambda: {"couchdb": "Welcome", "version": "3.5.0"})
    tls: ssl.SSLContext | None = None
    requests: list[Logged] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.databases: dict[str, Database] = {}
        self.changed = threading.Condition(threading.RLock())
        self.replies: deque[Reply] = deque()
        self.random: random.Random | None = None
        self._epochs = 0
        self._running = threading.Event()
        self._running.set()
        self._connections: set[socket.socket] = set()
        self._port = 0
        self._server: ThreadingHTTPServer | None = None

    def __enter__(self) -> Self:
        self.random = random.Random(self.shuffle) if self.shuffle is not None else None  # noqa: S311
        self.up()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.down()

    @property
    def url(self) -> str:
        """Where it listens, or will again."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self._port}"

    # Faults

    def up(self) -> None:
        """Listen, on the same port as before."""
        stand_in = self

        class Handler(CouchHandler):
            couch = stand_in

        self._server = _Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_address[1]
        if self.tls:
            self._server.socket = self.tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def down(self) -> None:
        """Stop listening and cut every connection; what is stored stays."""
        if self._server is None:
            return
        self.resume()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._server = None
        self.cut_connections()

    def cut_connections(self) -> None:
        """Cut every connection, feeds in their middle."""
        with self.changed:
            for connection in self._connections:
                _shut(connection)
            self._connections.clear()
            self.changed.notify_all()

    def pause(self) -> None:
        """Hold every answer and heartbeat back, silently."""
        self._running.clear()

    def resume(self) -> None:
        """Give them."""
        self._running.set()

    def fail_next(self, status: int, count: int = 1, retry_after: float | None = None, path: str = "") -> None:
        """Answer the next requests, those whose path holds `path`, with this status."""
        headers = {"Content-Type": "application/json"} | ({"Retry-After": f"{retry_after:g}"} if retry_after else {})
        body = json.dumps({"error": "test", "reason": "the test said so"}).encode()
        self.replies.extend([Reply(status, body, headers, path)] * count)

    def reply_next(
        self,
        body: bytes = _LOGIN_PAGE,
        *,
        status: int = 200,
        count: int = 1,
        path: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer the next requests with this, by default as a proxy's login page."""
        self.replies.extend([Reply(status, body, headers or {"Content-Type": "text/html"}, path)] * count)

    def cut_next(self, count: int = 1, path: str = "") -> None:
        """Cut the next answers in their middle."""
        self.replies.extend([Reply(200, b'{"rows":[', {"Content-Type": "application/json"}, path, cut=True)] * count)

    # What a test does without HTTP

    def create(self, name: str) -> Database:
        """Make a database that every user is a member of. Raises Refusal when it is there."""
        with self.changed:
            if name in self.databases:
                raise Refusal(412, "file_exists", "The database could not be created, the file already exists.")
            self._epochs += 1
            # Seconds for the real one; here two databases in a second differ as well.
            start = str(1_700_000_000 + self._epochs) if self.tells_start else "0"
            self.databases[name] = Database(name, epoch=self._epochs, start=start, shards=self.shards)
            if self.users:
                self.databases[name].security = {"members": {"names": list(self.users)}}
            return self.databases[name]

    def drop(self, name: str) -> None:
        """Delete a database; its open feeds end cleanly. Raises Refusal."""
        with self.changed:
            self.database(name).dropped = True
            del self.databases[name]
            self.changed.notify_all()

    def store(self, name: str, documents: list[Body], *, new_edits: bool = True) -> list[str]:
        """Store documents at once; gives their revisions. Raises Refusal."""
        with self.changed:
            database = self.database(name)
            revisions = [database.put(document, new_edits=new_edits) for document in documents]
            self.changed.notify_all()
            return revisions

    def bytes_out(self) -> int:
        """Count the bytes of all answers so far."""
        return sum(request.bytes_out for request in list(self.requests))

    # What the handler asks

    def database(self, name: str) -> Database:
        """Give a database. Raises Refusal."""
        if name not in self.databases:
            raise NO_DATABASE
        return self.databases[name]

    def admit(self, authorization: str, database: str) -> None:
        """Raise Refusal unless whoever asks may."""
        if not self.users:
            return
        name, password = _login(authorization)
        if self.users.get(name, object()) != password:
            raise UNAUTHORIZED
        if name != self.admin and database in self.databases:
            members = self.databases[database].security.get("members", {})
            if (members.get("names") or members.get("roles")) and name not in members.get("names", []):
                raise FORBIDDEN

    def reply(self, path: str) -> Reply | None:
        """Give what is to be answered instead of the truth."""
        with self.changed:
            found = next((reply for reply in self.replies if reply.path in path), None)
            if found:
                self.replies.remove(found)
            return found

    def hold(self) -> None:
        """Wait while paused."""
        self._running.wait()

    def opened(self, connection: socket.socket) -> None:
        with self.changed:
            self._connections.add(connection)

    def closed(self, connection: socket.socket) -> None:
        with self.changed:
            self._connections.discard(connection)

    def is_open(self, connection: socket.socket) -> bool:
        return connection in self._connections

    def feed_ends_at(self) -> float:
        """Give the time (monotonic) when a proxy cuts a feed that opens now."""
        return time.monotonic() + (self.feed_seconds if self.feed_seconds is not None else 1e9)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, *_arguments: object) -> None:
        """Keep quiet about connections that were cut."""


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


def _login(authorization: str) -> tuple[str, str]:
    kind, _, text = authorization.partition(" ")
    if kind.lower() != "basic":
        return "", ""
    name, _, password = base64.b64decode(text).decode().partition(":")
    return name, password
