"""What the transports do with sockets that reach somebody else, seen through the seam below httpx.

The same with real sockets on a foreign address is in test_foreign_peer, which not every system permits.
"""

import asyncio
import socket
from typing import Any

import httpcore
import httpx
import pytest

from model_server import ModelServer
from vault_ask.errors import ModelRefused
from vault_ask.providers.own_network import OwnNetwork, veiled
from vault_ask.providers.own_transport import OwnAsyncTransport, OwnTransport

NETWORK = OwnNetwork(("gateway.example.com",), "models.api_base", "models.local_hosts")
REPLY = [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]


class Line(httpcore.MockStream):
    """A connection to `peer` that notes what is written to it."""

    def __init__(self, peer: str) -> None:
        super().__init__(list(REPLY))
        self.peer, self.written, self.closed = peer, b"", False

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # httpcore's signature
        self.written += buffer

    def close(self) -> None:
        self.closed = True
        super().close()

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 # httpcore's signature
        return (self.peer, 80) if info == "server_addr" else super().get_extra_info(info)


class AsyncLine(httpcore.AsyncMockStream):
    """The same for asyncio."""

    def __init__(self, line: Line) -> None:
        super().__init__(list(REPLY))
        self.line = line

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        self.line.write(buffer)

    async def aclose(self) -> None:
        self.line.close()
        await super().aclose()

    def get_extra_info(self, info: str) -> Any:  # noqa: ANN401 # httpcore's signature
        return self.line.get_extra_info(info)


class Exchange(httpcore.MockBackend):
    """Connects each address to the peer that `peers` names for it; others refuse the connection."""

    def __init__(self, peers: dict[str, str]) -> None:
        super().__init__([])
        self.peers, self.lines, self.tried = peers, dict[str, Line](), list[str]()

    def connect_tcp(self, host: str, *_: object, **__: object) -> Line:
        self.tried.append(host)
        if host not in self.peers:
            raise httpcore.ConnectError("refused")
        return self.lines.setdefault(host, Line(self.peers[host]))


class AsyncExchange(httpcore.AsyncMockBackend):
    """The same for asyncio."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__([])
        self.exchange = exchange

    async def connect_tcp(self, host: str, *_: object, **__: object) -> AsyncLine:
        return AsyncLine(self.exchange.connect_tcp(host))


def get(exchange: Exchange, url: str, *, asynchronous: bool) -> str:
    async def ask() -> str:
        transport = OwnAsyncTransport(NETWORK, secure=False, backend=AsyncExchange(exchange))
        async with httpx.AsyncClient(transport=transport) as client:
            return (await client.get(url)).text

    if asynchronous:
        return asyncio.run(ask())
    with httpx.Client(transport=OwnTransport(NETWORK, secure=False, backend=exchange)) as client:
        return client.get(url).text


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def asynchronous(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(host: str | bytes, port: int, *_: object, **__: object) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else host
        leads_to = {"two.local": ["192.168.1.4", "192.168.1.5"], "away.local": ["203.0.113.5"]}.get(name, [name])
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in leads_to]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


def test_a_socket_that_reached_the_owners_machine_is_used(*, asynchronous: bool) -> None:
    exchange = Exchange({"10.0.0.1": "10.0.0.1"})
    assert get(exchange, "http://10.0.0.1/api/show", asynchronous=asynchronous) == "ok"
    assert exchange.lines["10.0.0.1"].written.startswith(b"GET /api/show")


def test_a_socket_that_reached_somebody_else_is_closed_and_nothing_was_written(*, asynchronous: bool) -> None:
    exchange = Exchange({"10.0.0.1": "203.0.113.5"})
    with pytest.raises(ModelRefused, match="outside your network"):
        get(exchange, "http://10.0.0.1/", asynchronous=asynchronous)
    line = exchange.lines["10.0.0.1"]
    assert (line.closed, line.written) == (True, b"")


def test_a_name_that_leads_outside_is_not_connected_to(*, asynchronous: bool) -> None:
    exchange = Exchange({"203.0.113.5": "203.0.113.5"})
    with pytest.raises(ModelRefused, match="outside your network"):
        get(exchange, "http://away.local/", asynchronous=asynchronous)
    assert exchange.tried == []
    assert get(Exchange({"10.0.0.1": "10.0.0.1"}), "http://10.0.0.1/", asynchronous=asynchronous) == "ok"


def test_a_listed_host_is_used_wherever_it_leads(*, asynchronous: bool) -> None:
    exchange = Exchange({"gateway.example.com": "203.0.113.5"})
    assert get(exchange, "http://gateway.example.com/", asynchronous=asynchronous) == "ok"


def test_the_next_address_of_a_name_is_tried_when_one_does_not_answer(*, asynchronous: bool) -> None:
    exchange = Exchange({"192.168.1.5": "192.168.1.5"})
    assert get(exchange, "http://two.local/", asynchronous=asynchronous) == "ok"
    assert exchange.tried == ["192.168.1.4", "192.168.1.5"]
    with pytest.raises(httpx.ConnectError):
        get(Exchange({}), "http://two.local/", asynchronous=asynchronous)


def test_a_veiled_address_is_read_by_our_transport_alone() -> None:
    with ModelServer() as server:
        url = veiled(f"{server.ollama_base}/v1/models")

        async def ask(transport: httpx.AsyncBaseTransport) -> str:
            async with httpx.AsyncClient(transport=transport) as client:
                return str((await client.get(url)).json()["data"][0]["id"])

        assert asyncio.run(ask(OwnAsyncTransport(NETWORK, secure=False))) == "m"
        with pytest.raises(httpx.UnsupportedProtocol):
            asyncio.run(ask(httpx.AsyncHTTPTransport()))
        assert server.connections == 1
