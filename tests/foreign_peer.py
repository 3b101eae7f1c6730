"""A machine outside the owner's network, on a network of its own inside this machine; run as a program of its own.

`python foreign_peer.py` enters a fresh network namespace in which 203.0.113.5 is an address of `lo` beside 127.0.0.1,
has a model server listen on the same port of each, lets a resolver answer as scripted, and prints as JSON, for each
scene, what the client was told and what each server saw. Exits with NOT_PERMITTED where the system allows no such
namespace (it needs Linux, and user namespaces or the right to make networks).
"""

import asyncio
import ctypes
import fcntl
import json
import os
import socket
import struct
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NOT_PERMITTED = 77
OWN, FOREIGN, NAME = "127.0.0.1", "203.0.113.5", "ollama.lan"
_NEW_USER, _NEW_NET = 0x10000000, 0x40000000
_SET_FLAGS, _SET_ADDRESS, _UP_RUNNING = 0x8914, 0x8916, 0x41


def enter_network() -> None:
    """Leave the machine's network for an empty one with both addresses. Raises OSError where that is not allowed."""
    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_USER | _NEW_NET):
        raise OSError(ctypes.get_errno(), "no namespace of our own")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH22x", b"lo", _UP_RUNNING))
        address = struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(FOREIGN))
        fcntl.ioctl(any_socket, _SET_ADDRESS, struct.pack("16s16s8x", b"lo:0", address))


@contextmanager
def answers(*addresses: str, of: str = NAME) -> Iterator[list[str]]:
    """Have one host lead to these addresses, one a lookup, the last one for good; gives what is left of them."""
    left, ask = list(addresses), socket.getaddrinfo

    def look_up(host: Any, port: Any, *rest: Any, **how: Any) -> Any:  # noqa: ANN401 # as the standard library's
        if host not in (of, of.encode()):
            return ask(host, port, *rest, **how)
        address = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    socket.getaddrinfo = look_up
    try:
        yield left
    finally:
        socket.getaddrinfo = ask


def main() -> None:
    """Play all scenes."""
    try:
        enter_network()
    except OSError as error:
        sys.stdout.write(str(error))
        sys.exit(NOT_PERMITTED)
    from model_server import ModelServer  # noqa: PLC0415 # threads would forbid the namespace

    seen: dict[str, Any] = {}
    for name, scene in _SCENES.items():
        with ModelServer(script=["Rent ", "is ", "9200."]) as own:
            with ModelServer(script=["stolen"], host=FOREIGN, fixed_port=own.port) as foreign:
                told = scene(own.port)
                # Connections are taken in turn: once this one is answered, all before it have been counted.
                urllib.request.urlopen(f"{foreign.ollama_base}/count").close()  # noqa: S310 - our own server
            seen[name] = {
                "told": told,
                "own": len(own.requests),
                "own_described": own.described,
                "foreign_connections": foreign.connections - 1,
                "foreign_heard": len(foreign.requests) + len(foreign.described) - 1,
            }
    sys.stdout.write(json.dumps(seen))


def _answer(model: str, port: int, *, reach: bool = True, host: str = NAME, listed: tuple[str, ...] = ()) -> str:
    """Ask a generator, and give its words or the sentence of its error."""
    from prompting import prompt_of  # noqa: PLC0415
    from vault_ask.errors import ModelError  # noqa: PLC0415
    from vault_ask.providers.litellm_models import LitellmGenerator  # noqa: PLC0415
    from vault_ask.settings.models import ModelSettings  # noqa: PLC0415

    path = "/v1" if model.startswith("openai/") else ""
    settings = ModelSettings(generation=model, api_base=f"http://{host}:{port}{path}", local_hosts=listed)
    generator = LitellmGenerator(settings, model)

    async def ask() -> str:
        if reach:
            await generator.reach()
        return "".join([str(piece) async for piece in generator.stream(prompt_of("What is the rent?"))])

    try:
        return asyncio.run(ask())
    except ModelError as error:
        return f"{type(error).__name__}: {error}"


def _embed(port: int) -> str:
    from vault_ask.errors import ModelError  # noqa: PLC0415
    from vault_ask.providers.ollama import OllamaEmbedder  # noqa: PLC0415
    from vault_ask.settings.models import EmbeddingSettings  # noqa: PLC0415

    settings = EmbeddingSettings(provider="ollama", model="m", ollama_url=f"http://{NAME}:{port}")
    try:
        return str(OllamaEmbedder(settings, backoff_seconds=0.001).space)
    except ModelError as error:
        return f"{type(error).__name__}: {error}"


def _offers(port: int) -> str:
    from vault_ask.providers.ollama import running_chat_models  # noqa: PLC0415

    return str(running_chat_models(f"http://{NAME}:{port}"))


def _changes_after_reach(model: str, lookups: int) -> Callable[[int], str]:
    def scene(port: int) -> str:
        with answers(*[OWN] * lookups, FOREIGN):
            return _answer(model, port)

    return scene


def _foreign_from_the_start(port: int) -> str:
    with answers(FOREIGN):
        return _answer("ollama_chat/m", port)


def _stays(port: int) -> str:
    with answers(OWN):
        return _answer("ollama_chat/m", port)


def _listed(port: int) -> str:
    with answers(FOREIGN):
        return _answer("ollama_chat/m", port, listed=(NAME,))


def _embedder_changes(port: int) -> str:
    with answers(OWN, FOREIGN):
        return _embed(port)


def _offers_change(port: int) -> str:
    with answers(FOREIGN):
        return _offers(port)


def _numeric_address_that_leads_elsewhere(port: int) -> str:
    """Even the lookup of an address that was found good lies: only the connected socket can tell."""
    # The first lookup is ours, of the name; the second is of the numeric address, in `socket.create_connection`.
    with answers(FOREIGN, of=OWN), answers(OWN):
        return _answer("ollama_chat/m", port)


def _detour(port: int) -> str:
    """The same for asyncio, which looks up no numeric address: a backend that connects to another one than it says."""
    import httpcore  # noqa: PLC0415
    import httpx  # noqa: PLC0415

    from vault_ask.errors import ModelRefused  # noqa: PLC0415
    from vault_ask.providers.own_network import OwnNetwork  # noqa: PLC0415
    from vault_ask.providers.own_transport import OwnAsyncTransport  # noqa: PLC0415

    class Detour(httpcore.AnyIOBackend):
        async def connect_tcp(self, _host: str, *rest: Any, **how: Any) -> httpcore.AsyncNetworkStream:  # noqa: ANN401
            return await super().connect_tcp(FOREIGN, *rest, **how)

    async def post() -> str:
        network = OwnNetwork((), "models.api_base", "models.local_hosts")
        async with httpx.AsyncClient(transport=OwnAsyncTransport(network, backend=Detour())) as client:
            return (await client.post(f"http://{OWN}:{port}/api/chat", json={"messages": []})).text

    try:
        return asyncio.run(post())
    except ModelRefused as error:
        return f"{type(error).__name__}: {error}"


_SCENES: dict[str, Callable[[int], str]] = {
    "stays": _stays,
    "listed": _listed,
    "foreign_from_the_start": _foreign_from_the_start,
    "ollama_changes": _changes_after_reach("ollama_chat/m", 1),
    "openai_changes": _changes_after_reach("openai/m", 2),
    "embedder_changes": _embedder_changes,
    "offers_change": _offers_change,
    "lying_lookup": _numeric_address_that_leads_elsewhere,
    "detour": _detour,
}

if __name__ == "__main__":
    main()
