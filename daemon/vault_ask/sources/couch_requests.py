"""Sends requests to the vault's database: with the owner's login and certificates, through the wall, patiently."""

import json
import random
import socket
import ssl
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any
from urllib.parse import quote, urlsplit
from weakref import WeakSet

import httpx

from vault_ask.errors import ConfigError, SourceUnreachable
from vault_ask.settings.vault import CouchSettings
from vault_ask.sources.couch_answers import parsed
from vault_ask.sources.couch_refusals import BrokenOff, Busy, Speaker
from vault_ask.sources.couch_wall import ReadOnlyTransport, Wall, sendable

TRIES = 4
"""How often a request is sent while the server is busy; all of them only read, so repeating them is harmless."""
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 120.0
_PATIENCE_SECONDS = 60.0

_CONNECTED = frozenset({"connection.connect_tcp.complete", "connection.start_tls.complete"})


class Cord:
    """The connections that were made for some requests, to be cut from any thread, also while the server is silent."""

    def __init__(self) -> None:
        self._streams: WeakSet[Any] = WeakSet()
        self._lock = Lock()
        self._is_cut = False

    def trace(self, event: str, told: dict[str, Any]) -> None:
        """Learn of a connection as soon as there is one (https://www.encode.io/httpcore/extensions/#trace).

        Raises httpx.ConnectError when the cord was cut before.
        """
        if event not in _CONNECTED:
            return
        stream = told["return_value"]
        with self._lock:
            self._streams.add(stream)
            is_cut = self._is_cut
        if is_cut:
            # Nobody else knows of the connection yet, and nobody would close it.
            stream.close()
            raise httpx.ConnectError("cut by us")

    def cut(self) -> None:
        """Shut every connection down, those to come as well; whoever reads from one fails at once."""
        with self._lock:
            self._is_cut = True
            streams = list(self._streams)
        for stream in streams:
            with suppress(OSError):
                # Not SSLSocket's own shutdown, which takes the session away under the reading thread.
                socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)


@dataclass(frozen=True, slots=True)
class Ask:
    """A request: GET without a body, POST with one. `path` is below the database, None is the server's root.

    `filtered` says that it filters changes by a selector, which some servers and proxies refuse.
    """

    path: str | None
    query: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    filtered: bool = False


class Requests:
    """A pool of connections to one database. Every method may be called from several threads at once."""

    def __init__(self, settings: CouchSettings, backoff_seconds: float) -> None:
        """Prepare; nothing is sent yet. Raises ConfigError."""
        if not settings.url or not settings.database:
            raise ConfigError("No CouchDB is configured. Set vault.couchdb.url and vault.couchdb.database.")
        self.speaker = Speaker(urlsplit(settings.url).netloc, settings.database)
        self._wall = Wall(settings.url, settings.database)
        self._origin = str(httpx.URL(settings.url).copy_with(raw_path=b"/")).rstrip("/")
        self._verify = _trusted(settings)
        self._auth = _credentials(settings)
        self._headers = {"Accept": "application/json", "User-Agent": "vault-ask"} | sendable(settings.headers)
        self._backoff_seconds = backoff_seconds
        self._closing = Event()
        self._cord = Cord()
        self._http = self._open_pool(httpx.Timeout(_READ_SECONDS, connect=_CONNECT_SECONDS))
        # A source is not always closed, and its connections are, once nobody has it any more.
        weakref.finalize(self, self._http.close).atexit = False

    def close(self) -> None:
        """End every request and every wait, from any thread."""
        self._closing.set()
        self._cord.cut()
        self._http.close()

    def ask(self, ask: Ask) -> dict[str, Any]:
        """Give the JSON object that answers; asks again while the server is busy or broke off. Raises SourceError."""
        patience = _PATIENCE_SECONDS
        for attempt in range(1, TRIES):
            try:
                return self._once(ask)
            except (Busy, BrokenOff) as error:
                # Longer each time, and never in step with others that wait for the same server.
                wait = self._backoff_seconds * 2**attempt * random.uniform(0.5, 1)  # noqa: S311 - no secret
                wait = max(wait, error.retry_after or 0.0)
                patience -= wait
                if patience < 0 or self._closing.wait(wait):
                    raise
        return self._once(ask)

    def root(self) -> object:
        """Give what the server's root says, None when it says no JSON. Raises SourceError when nobody answers."""
        response = self._send(Ask(None))
        try:
            return parsed(response.content.decode(errors="replace")) if response.is_success else None
        except ValueError:
            return None

    @contextmanager
    def stream(self, ask: Ask, cord: Cord, *, silence_seconds: float) -> Iterator[httpx.Response]:
        """Open an answer of unknown length on a connection of its own, which `cord` cuts without harm to others.

        Raises SourceError for an answer that is none, httpx.RequestError for the rest.
        """
        with self._open_pool(httpx.Timeout(_CONNECT_SECONDS, read=silence_seconds)) as http:
            request = self._request(http, ask, cord)
            request.headers["accept-encoding"] = "identity"
            response = http.send(request, auth=self._auth, stream=True)
            try:
                if not response.is_success:
                    response.read()
                self._refuse(response, ask)
                yield response
            finally:
                response.close()

    def _once(self, ask: Ask) -> dict[str, Any]:
        response = self._send(ask)
        self._refuse(response, ask)
        return self.speaker.understood(response.content.decode(errors="replace"))

    def _send(self, ask: Ask) -> httpx.Response:
        try:
            return self._http.send(self._request(self._http, ask, self._cord), auth=self._auth)
        except (httpx.RequestError, RuntimeError) as error:
            # A pool that is closed while a request is on its way fails in several ways.
            if self._closing.is_set():
                raise SourceUnreachable("The connection to the CouchDB was closed, because we are stopping.") from None
            if isinstance(error, RuntimeError):
                raise
            raise self.speaker.unreached(error) from None

    def _refuse(self, response: httpx.Response, ask: Ask) -> None:
        refusal = self.speaker.refused(response, filtered=ask.filtered)
        if refusal:
            raise refusal

    def _request(self, http: httpx.Client, ask: Ask, cord: Cord) -> httpx.Request:
        path = self._wall.root if ask.path is None else self._wall.database + ask.path
        # By hand, for CouchDB takes a bare `;` for a separator.
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in ask.query.items())
        url = f"{self._origin}{path}?{query}" if query else f"{self._origin}{path}"
        content = None if ask.body is None else json.dumps(ask.body).encode()
        request = http.build_request("GET" if content is None else "POST", url, content=content)
        request.extensions["trace"] = cord.trace
        if content is not None:
            request.headers["content-type"] = "application/json"
        return request

    def _open_pool(self, timeout: httpx.Timeout) -> httpx.Client:
        # No proxy of the environment and no redirect: notes and password go to the configured address only.
        transport = httpx.HTTPTransport(verify=self._verify, trust_env=False)
        return httpx.Client(
            transport=ReadOnlyTransport(self._wall, transport),
            headers=self._headers,
            timeout=timeout,
            follow_redirects=False,
            trust_env=False,
        )


def _trusted(settings: CouchSettings) -> ssl.SSLContext | bool:
    """Say which certificates are trusted: the public ones, or those of the owner's own authority only."""
    if settings.ca_file is None:
        # Loading the public ones takes a while, and plain http has no use for them.
        return settings.url is not None and settings.url.lower().startswith("https:")
    try:
        context = ssl.create_default_context(cafile=str(settings.ca_file))
    except OSError:
        raise ConfigError(
            "The file that vault.couchdb.ca_file names cannot be read as a PEM certificate. Correct it, or remove it "
            "if the server's certificate is a public one."
        ) from None
    # Authorities made at home seldom carry all that Python 3.13 began to ask for.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _credentials(settings: CouchSettings) -> httpx.Auth | None:
    if settings.user is None:
        return None
    return httpx.BasicAuth(settings.user, settings.password.get_secret_value() if settings.password else "")
