"""Which Host and Origin headers are the daemon's own: the defence against name rebinding and foreign pages. Pure.

Browser rules behind it: a page cannot set Host or Origin; an IP literal in Host cannot be rebound, a name can.
"""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

_HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[a-z0-9._-]+))(?::(?P<port>\d{1,5}))?", re.ASCII)
_ORIGIN = re.compile(r"https?://(?P<host>[^/?#@]+)", re.ASCII)
_WILDCARDS = ("", "*", "0.0.0.0", "::")  # noqa: S104  compared with, not bound to


@dataclass(frozen=True, slots=True)
class Place:
    """A host as a client wrote it, lower-cased; `port` is None where none was written."""

    name: str
    port: str | None


@dataclass(frozen=True, slots=True)
class OwnHosts:
    """The names the daemon answers to, given the address it is bound to and the owner's further names."""

    bound: str
    allowed: tuple[str, ...]

    def knows(self, header: str) -> bool:
        """Say whether a Host header names this daemon, whatever its port unless the owner wrote one."""
        place = parse_host(header)
        if place is None:
            return False
        return self._is_listed(place) or self._is_bound(place.name)

    def _is_listed(self, place: Place) -> bool:
        listed = (parse_host(entry) for entry in self.allowed)
        return any(own and own.name == place.name and own.port in (None, place.port) for own in listed)

    def _is_bound(self, name: str) -> bool:
        address = _address(name)
        if name == "localhost" or (address and address.is_loopback):
            return True
        if self.bound in _WILDCARDS:
            return address is not None and not address.is_global
        return name == self.bound.casefold().strip("[]")


def parse_host(header: str) -> Place | None:
    """Take a Host header apart; None when it is not a plain host with an optional port."""
    found = _HOST.fullmatch(header.strip().casefold())
    if found is None:
        return None
    return Place(found["v6"] or found["name"].rstrip("."), found["port"])


def is_own_origin(origin: str, host: str) -> bool:
    """Say whether a page of this origin was served under this Host header; the scheme may be a proxy's."""
    found = _ORIGIN.fullmatch(origin.strip().casefold())
    return found is not None and found["host"] == host.strip().casefold()


def is_loopback(host: str) -> bool:
    """Say whether an address to bind to can be reached from this machine only."""
    address = _address(host.strip("[]"))
    return host.casefold() == "localhost" or bool(address and address.is_loopback)


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name)
    except ValueError:
        return None
