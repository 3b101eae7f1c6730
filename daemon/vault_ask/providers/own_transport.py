"""Connections of httpx that only ever lead to the owner's machines: no proxy, no socket that was not looked at.

A name may lead elsewhere a moment after it was checked, so the check belongs to the connection itself: each one is made
to an address that was found to be the owner's, and is looked at again before a byte is sent. What is connected stays
connected; a request on a kept connection needs no second look.

Redirects are the client's affair: every client made with such a transport has `follow_redirects=False`.
"""

from collections.abc import Iterable
from typing import Any

import anyio
import anyio.to_thread
import httpcore
import httpx
from httpcore import SOCKET_OPTION, AsyncNetworkBackend, AsyncNetworkStream, NetworkBackend, NetworkStream

from vault_ask.providers.own_network import VEIL, OwnNetwork

_PEER = "server_addr"
# As httpx has them by default.
_LIMITS: dict[str, Any] = {"max_connections": 100, "max_keepalive_connections": 20, "keepalive_expiry": 5.0}


class OwnTransport(httpx.HTTPTransport):
    """A transport that raises ModelRefused rather than connect to a machine that is not the owner's.

    It takes veiled addresses too.
    """

    def __init__(self, network: OwnNetwork, *, secure: bool = True, backend: NetworkBackend | None = None) -> None:
        """Prepare a pool; `secure=False` saves loading certificates where all addresses are plain http."""
        # Not the parent's constructor: its pool connects anywhere. Were `_pool` renamed, every request would fail.
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context() if secure else None,
            network_backend=OwnBackend(network, backend or httpcore.SyncBackend()),
            **_LIMITS,
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request."""
        _unveil(request)
        return super().handle_request(request)


class OwnAsyncTransport(httpx.AsyncHTTPTransport):
    """The same for asyncio."""

    def __init__(self, network: OwnNetwork, *, secure: bool = True, backend: AsyncNetworkBackend | None = None) -> None:
        """Prepare a pool; `secure=False` saves loading certificates where all addresses are plain http."""
        # As above.
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=httpx.create_ssl_context() if secure else None,
            network_backend=OwnAsyncBackend(network, backend or httpcore.AnyIOBackend()),
            **_LIMITS,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request."""
        _unveil(request)
        return await super().handle_async_request(request)


def _unveil(request: httpx.Request) -> None:
    """Take a veiled address for what it means."""
    if request.url.scheme.startswith(VEIL):
        request.url = request.url.copy_with(scheme=request.url.scheme.removeprefix(VEIL))


class OwnBackend(NetworkBackend):
    """Makes connections through another backend, to the owner's machines only."""

    def __init__(self, network: OwnNetwork, through: NetworkBackend) -> None:
        self._network = network
        self._through = through

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> NetworkStream:
        """Connect to the first of the host's addresses that answers. Raises ModelRefused, httpcore.ConnectError."""
        trouble: Exception | None = None
        for address in self._addresses(host, port):
            try:
                stream = self._through.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                trouble = error
                continue
            try:
                self._network.check_peer(host, stream.get_extra_info(_PEER))
            except BaseException:
                stream.close()
                raise
            return stream
        raise trouble or httpcore.ConnectError("no address")

    def _addresses(self, host: str, port: int) -> tuple[str, ...]:
        try:
            return self._network.addresses(host, port)
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error


class OwnAsyncBackend(AsyncNetworkBackend):
    """The same for asyncio."""

    def __init__(self, network: OwnNetwork, through: AsyncNetworkBackend) -> None:
        self._network = network
        self._through = through

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 # httpcore's own signature
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """Connect to the first of the host's addresses that answers. Raises ModelRefused, httpcore.ConnectError."""
        trouble: Exception | None = None
        for address in await self._addresses(host, port, timeout):
            try:
                stream = await self._through.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                trouble = error
                continue
            try:
                self._network.check_peer(host, stream.get_extra_info(_PEER))
            except BaseException:
                await stream.aclose()
                raise
            return stream
        raise trouble or httpcore.ConnectError("no address")

    async def _addresses(self, host: str, port: int, timeout: float | None) -> tuple[str, ...]:  # noqa: ASYNC109 # httpcore's way
        try:
            with anyio.fail_after(timeout):
                return await anyio.to_thread.run_sync(self._network.addresses, host, port, abandon_on_cancel=True)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(str(error)) from error
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
