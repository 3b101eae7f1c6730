"""The way out to a search provider: one request to the one address it has, and nothing after it.

No page that a search finds is ever fetched: what the provider itself says of it is all we use. So nothing in a result,
nor in a note that was read beside it, can make the daemon open an address (SSRF) or tell anyone what was asked.

A request is made with httpcore, below httpx, since there is then nothing to switch off: no redirect is followed, no
cookie kept, no referrer sent, no proxy or netrc of the environment used (a proxy is a stranger too), no address with
the question in it logged. Each search has a connection of its own. The name is looked up once, its addresses are
checked, and one of those is connected to, so that a resolver cannot change its mind in between.
"""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import cache
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpcore

from vault_ask.errors import WebFailed
from vault_ask.providers.web_addresses import is_public

MOST_BYTES = 1_000_000
"""Of an answer; a real one has some tens of thousands."""
_CONNECT_SECONDS = 2.0
"""For one of the addresses of a name, so that one where nobody answers leaves time for the next."""
_ADDRESSES = 4
_HEADERS = {"User-Agent": "vault-ask", "Accept": "application/json", "Accept-Encoding": "identity"}
_NO_CREDIT = frozenset({402, 432, 433})
"""Tavily's own numbers for a plan and for a budget that are used up stand beside the usual one."""


class Reach(Enum):
    """Where the machine behind a provider's name must be."""

    PUBLIC = "a service of the internet: a private address would be a resolver's lie"
    HOME = "a server of the owner's network: a public address would carry the question out of it"
    ANYWHERE = "a server that the owner named by a public name"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchServer:
    """Whom a provider asks.

    `name` and `remedy` stand in messages, the latter being what to do when it cannot be reached or understood. `hints`
    are whole sentences for answers whose HTTP status means something particular here.
    """

    name: str
    url: str
    reach: Reach = Reach.PUBLIC
    remedy: str = "Try again later, or choose another web.provider."
    hints: Mapping[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class Outing:
    """One search on its way. `left` is true from just before the first byte of the question may leave this machine."""

    left: bool = False

    async def watch(self, step: str, details: Mapping[str, Any]) -> None:  # noqa: ARG002 - httpcore's `trace`
        """Hear of each step of a request: connecting and greeting with TLS come before it, and hold none of it."""
        self.left |= step == "http11.send_request_headers.started"


@asynccontextmanager
async def within(server: SearchServer, seconds: float) -> AsyncIterator[Outing]:
    """Let a search take that long. Raises WebFailed when it takes longer.

    Every WebFailed that comes out of here says by its `sent` whether the question had left by then.
    """
    outing = Outing()
    try:
        async with asyncio.timeout(seconds):
            yield outing
    except TimeoutError:
        late = f"{server.name} did not answer within {seconds:g} seconds, so it was not waited for."
        raise WebFailed(late, sent=outing.left) from None
    except WebFailed as error:
        error.sent = outing.left
        raise


async def ask(
    server: SearchServer,
    outing: Outing,
    *,
    query: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
    document: Mapping[str, object] | None = None,
    headers: Mapping[str, str] | None = None,
) -> bytes:
    """Send one request, with a query in its address, a form or a JSON document, and give the body of the answer.

    What was packed comes as it is, since nothing here unpacks it. Raises WebFailed. Cancelling ends the connection.
    """
    content, kind = _content(form, document)
    url = f"{server.url}?{urlencode(query)}" if query else server.url
    all_headers = {**_HEADERS, **kind, **(headers or {})}
    try:
        async with _connections(server) as pool:
            answer = pool.stream(
                "POST" if content else "GET",
                url,
                headers=list(all_headers.items()),
                content=content,
                extensions={"trace": outing.watch},
            )
            async with answer as response:
                refuse_status(server, response.status)
                return await whole(server, response.aiter_stream())
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError) as error:
        raise unreachable(server, error) from None


def json_of(server: SearchServer, body: bytes) -> dict[str, Any]:
    """Read an answer that should be a JSON object. Raises WebFailed."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise misunderstood(server) from None
    if not isinstance(answer, dict):
        raise misunderstood(server)
    return answer


def objects_of(server: SearchServer, listed: object) -> Iterable[dict[str, Any]]:
    """Give the objects of what should be a list of them, passing over anything else. Raises WebFailed if it is none."""
    if not isinstance(listed, list):
        raise misunderstood(server)
    return (item for item in listed if isinstance(item, dict))


def refuse_status(server: SearchServer, status: int) -> None:
    """Raise WebFailed unless the answer is a plain success."""
    if status == HTTPStatus.OK:
        return
    if status in server.hints:
        raise WebFailed(server.hints[status])
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        raise WebFailed(f"{server.name} sent the question elsewhere, and no redirect is followed. {server.remedy}")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        raise WebFailed(f"{server.name} was asked too often and wants a pause. Try again in a while.")
    if status in _NO_CREDIT:
        raise WebFailed(f"What your plan at {server.name} allows is used up. Look at your account there.")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise WebFailed(f"{server.name} has trouble of its own (HTTP {status}). Try again later.")
    raise WebFailed(f"{server.name} did not accept the request (HTTP {status}). {server.remedy}")


async def whole(server: SearchServer, pieces: AsyncIterator[bytes]) -> bytes:
    """Read a body to its end. Raises WebFailed when it is longer than any search's answer.

    Pieces may come by the byte and without a wait between them, so each lets others, and the time limit, have a turn.
    """
    body = bytearray()
    async for piece in pieces:
        await asyncio.sleep(0)
        body += piece
        if len(body) > MOST_BYTES:
            raise WebFailed(f"{server.name} sent more than a search's answer can be. {server.remedy}")
    return bytes(body)


def misunderstood(server: SearchServer) -> WebFailed:
    """Say that an answer came which is not of the form it should have."""
    return WebFailed(f"What {server.name} answered is not what it should be. {server.remedy}")


def unreachable(server: SearchServer, error: Exception) -> WebFailed:
    """Say that no answer came; of the error only its kind is told."""
    if "certificate" in str(error).lower():
        return WebFailed(f"The certificate of {server.name} is not one this machine trusts. {server.remedy}")
    return WebFailed(f"{server.name} could not be reached, or broke off. {server.remedy}")


async def addresses_of(server: SearchServer) -> tuple[str, ...]:
    """Look up the addresses of the server that are where it must be. Raises WebFailed.

    One private address among those of a service makes all of them doubtful. A server at home may well have a public
    one beside its own, which is then not used.
    """
    parts = urlsplit(server.url)
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(parts.hostname, _port(server.url), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise WebFailed(f"The name of {server.name} could not be looked up. {server.remedy}") from None
    addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
    fitting = tuple(address for address in addresses if _fits(address, server.reach))
    if not fitting or (server.reach is Reach.PUBLIC and fitting != addresses):
        raise WebFailed(
            f"The name of {server.name} leads to a machine that cannot be it, so nothing was sent there. Look at the "
            f"name server this machine uses{', and at web.searxng_url' if server.reach is Reach.HOME else ''}."
        )
    return fitting[:_ADDRESSES]


def _fits(address: str, reach: Reach) -> bool:
    match reach:
        case Reach.PUBLIC:
            return is_public(address)
        case Reach.HOME:
            return not is_public(address)  # Tailscale's, shared among a provider's customers, are not of the internet
        case Reach.ANYWHERE:
            return True


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def _content(
    form: Mapping[str, str] | None, document: Mapping[str, object] | None
) -> tuple[bytes | None, dict[str, str]]:
    if document is not None:
        return json.dumps(document).encode(), {"Content-Type": "application/json"}
    if form is not None:
        return urlencode(form).encode(), {"Content-Type": "application/x-www-form-urlencoded"}
    return None, {}


@asynccontextmanager
async def _connections(server: SearchServer) -> AsyncIterator[httpcore.AsyncConnectionPool]:
    """Make a pool for one request. The certificates take 0.1 s to read, once, beside the loop."""
    certificates = await asyncio.to_thread(_certificates) if server.url.startswith("https:") else None
    network = _Network(server)
    try:
        async with httpcore.AsyncConnectionPool(certificates, max_connections=1, network_backend=network) as pool:
            yield pool
    finally:
        await network.aclose()


@cache
def _certificates() -> ssl.SSLContext:
    return httpcore.default_ssl_context()


class _Network(httpcore.AsyncNetworkBackend):
    """Connects to the server's checked addresses and to nothing else, whatever host is asked for."""

    def __init__(self, server: SearchServer) -> None:
        self._server = server
        self._inner = httpcore.AnyIOBackend()
        self._stream: httpcore.AsyncNetworkStream | None = None

    async def connect_tcp(
        self,
        host: str,  # noqa: ARG002 - the name of the server, which has been looked up
        port: int,
        timeout: float | None = None,  # noqa: ARG002, ASYNC109 - its signature; the whole call has a time limit
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        failure: Exception = OSError("no address")
        for address in await addresses_of(self._server):
            try:
                self._stream = await self._inner.connect_tcp(
                    address, port, _CONNECT_SECONDS, local_address, socket_options
                )
                return self._stream  # noqa: TRY300 - the failure is raised after the last address
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    async def aclose(self) -> None:
        """End the connection, which httpcore leaves open when it is cancelled while it greets with TLS."""
        if self._stream:
            await self._stream.aclose()

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)
