"""The one test of whether a machine is the owner's: what its host sounds like, and what a socket really reached.

Whoever sends note text to a model that counts as local (answers, vectors, reranking) holds an OwnNetwork
and connects through `own_transport`, which asks it before and after each connection. Whether the model is hosted
elsewhere although its server is the owner's is another question, which `hosted` answers.
"""

import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from vault_ask.errors import ModelRefused
from vault_ask.settings.hosts import is_own_address, is_private_host

VEIL = "own+"


@dataclass(frozen=True, slots=True)
class OwnNetwork:
    """Loopback, private and link-local addresses, and the hosts that the owner listed by name.

    `address_key` and `hosts_key` are the settings that hold the address and the list, for the sentence of a refusal.
    """

    listed: tuple[str, ...]
    address_key: str
    hosts_key: str

    def sounds_own(self, host: str) -> bool:
        """Say whether a host counts as the owner's as far as its name tells. The socket has the last word."""
        return self.lists(host) or is_private_host(host)

    def lists(self, host: str) -> bool:
        """Say whether the owner vouches for a host, wherever it leads."""
        return _folded(host) in map(_folded, self.listed)

    def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Resolve a host, and keep the addresses that may be connected to; a listed host is left to the resolver.

        Raises OSError when it has no address, ModelRefused when none of them is the owner's.
        """
        if self.lists(host):
            return (host,)
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except UnicodeError:
            raise OSError("the name of the host cannot be looked up") from None
        own = dict.fromkeys(address for *_, (address, *_) in found if is_own_address(str(address)))
        if not own:
            raise self._foreign()
        return tuple(map(str, own))

    def check_peer(self, host: str, peer: object) -> None:
        """Look at who answered: `peer` is the address a socket is connected to, as `getpeername` gives it.

        Raises ModelRefused unless it is the owner's.
        """
        address = peer[0] if isinstance(peer, tuple) and peer else None
        if not self.lists(host) and not is_own_address(str(address)):
            raise self._foreign()

    def _foreign(self) -> ModelRefused:
        return ModelRefused(
            f"The address in {self.address_key} sounds private and leads to a machine outside your network, so nothing "
            f"was sent there. Correct it, or list its host in {self.hosts_key} if it is yours."
        )


def veiled(url: str) -> str:
    """Write an address so that only `own_transport` can connect to it: `own+http://127.0.0.1:11434`.

    For libraries that take a client and might use another one after all, for a setting or a variable we do not know of.
    Theirs do not know the scheme and send nothing.
    """
    return VEIL + url


def host_of(url: str) -> str:
    """Find the host of a web address; "" where it is none."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return (parts.hostname or "") if parts.scheme in {"http", "https"} else ""


def _folded(host: str) -> str:
    return host.strip().strip("[]").removesuffix(".").casefold()
