"""The wall around the vault's database: what is not on the list below is never sent. Knows no answers.

Allowed are GET of the server's root, of the database, of its `_all_docs`, `_changes` and `_local/NAME`, and POST to its
`_all_docs`, `_changes` and `_bulk_get`, which read. Paths are compared letter by letter with the few allowed ones, so
that no `..`, encoded slash or other spelling can mean something else to a proxy or to the server.
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx

from vault_ask.errors import ConfigError, VaultAskError

_DATABASE = re.compile(r"[a-z][a-z0-9_$()+/-]*")
_LOCAL_NAME = re.compile(rb"[A-Za-z0-9_-]+")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?")
# CouchDB takes the method out of the first of these (chttpd.erl), other servers out of the others: a POST could delete.
_METHOD_CHANGERS = frozenset({"x-http-method-override", "x-http-method", "x-method-override"})
# Whoever sets these decides where the request goes or where it ends, and so what comes after it.
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "upgrade", "expect", "te", "trailer"})
_HARMLESS_EXTENSIONS = frozenset({"timeout", "trace"})


class NeverSent(VaultAskError):
    """A request that does more than read the one database was about to be sent, and was not."""


class Wall:
    """The requests that may be sent: to one database of one server, and reading only."""

    def __init__(self, url: str, database: str) -> None:
        """Take the server's address, which may hold a path, and the database's name. Raises ConfigError."""
        if not _DATABASE.fullmatch(database):
            raise ConfigError(
                "vault.couchdb.database is no name that a CouchDB database can have: those begin with a small letter "
                "and hold small letters, digits and _$()+/- only. Copy it from LiveSync's settings."
            )
        self._server = httpx.URL(url)
        self.root = self._server.raw_path.decode().rstrip("/") + "/"
        self.database = self.root + quote(database, safe="")
        self._get = {path.encode() for path in (self.root, self.database, *self._below("_all_docs", "_changes"))}
        self._post = {path.encode() for path in self._below("_all_docs", "_changes", "_bulk_get")}
        self._local = f"{self.database}/_local/".encode()

    def check(self, request: httpx.Request) -> None:
        """Let a request pass. Raises NeverSent."""
        if not (self._is_for_us(request) and self._only_reads(request)):
            raise NeverSent("A request that does more than read the vault's database was stopped before it was sent.")

    def _below(self, *names: str) -> list[str]:
        return [f"{self.database}/{name}" for name in names]

    def _is_for_us(self, request: httpx.Request) -> bool:
        url, server = request.url, self._server
        same = (url.scheme, url.host, url.port) == (server.scheme, server.host, server.port)
        return same and request.headers.get_list("host") == [server.netloc.decode()]

    def _only_reads(self, request: httpx.Request) -> bool:
        if _METHOD_CHANGERS & set(request.headers):
            return False
        path = request.url.raw_path.split(b"?", 1)[0]
        match request.method:
            case "GET":
                return path in self._get or self._is_local(path)
            case "POST":
                return path in self._post
            case _:
                return False

    def _is_local(self, path: bytes) -> bool:
        return path.startswith(self._local) and bool(_LOCAL_NAME.fullmatch(path[len(self._local) :]))


class ReadOnlyTransport(httpx.BaseTransport):
    """The only way to the network: asks the wall about each request, those that a library makes by itself included."""

    def __init__(self, wall: Wall, inner: httpx.BaseTransport) -> None:
        self._wall = wall
        self._inner = inner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request that only reads. Raises NeverSent, httpx.TransportError."""
        self._wall.check(request)
        # httpcore would take another path than the one just checked out of the extension `target`.
        request.extensions = {name: what for name, what in request.extensions.items() if name in _HARMLESS_EXTENSIONS}
        return self._inner.handle_request(request)

    def close(self) -> None:
        """Close the connections that nobody uses."""
        self._inner.close()


def sendable(headers: Mapping[str, Any]) -> dict[str, str]:
    """Give the owner's headers (SecretStr values) as they are sent. Raises ConfigError, which names no value."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value.get_secret_value()):
            raise ConfigError(
                "One of vault.couchdb.headers cannot be sent: a name holds letters, digits and dashes, a value is one "
                "line of ASCII without spaces around it. Correct it."
            )
        if name.lower() in _OURS | _METHOD_CHANGERS:
            raise ConfigError(
                f"vault.couchdb.headers sets {name}, which could turn a reading request into another one. Remove it."
            )
    return {name: value.get_secret_value() for name, value in headers.items()}
