"""Which addresses are of the public internet, and which of a result's addresses may be shown as a link.

Looks at what is written and asks no name server. A name that resolves to a private address (`localtest.me`) therefore
passes as a link; that is harmless here, since no address of a result is ever fetched.
"""

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, quote, urlsplit, urlunsplit

from vault_ask.settings.hosts import is_private_host

LONGEST_ADDRESS = 2_000
"""Characters of an address; longer ones are tracking data, or an attempt to hide where they end."""
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HOME_NAMES = (".localdomain", ".intranet", ".home", ".corp", ".private", ".onion", ".arpa")
_HOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?")
"""Labels and a last one that begins with a letter: browsers read a number there as an IPv4 address, however spelled."""
_STRANGE = re.compile(r"[\s\\\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ud800-\udfff]")
_NAT64 = IPv6Network("64:ff9b::/96")
_PATH_MARKS = "/:=+$,;~@!%&"
"""Left as they are in a path or query, beside letters and digits. Brackets, quotes, stars and angles are not: encoded,
they cannot end a link in Markdown or HTML before its time."""


def is_public(address: str) -> bool:
    """Say whether an IP address as written is one of the public internet; what is no IP address is not."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    inner = _carried(parsed)
    return inner.is_global and not inner.is_multicast and not inner.is_reserved


def link_to(address: object) -> str | None:
    """Give an address of a result as a link that can be shown, in ASCII and without fragment; None if it cannot.

    Only http and https, only hosts of the public internet, no user or password, names in punycode.
    """
    if not isinstance(address, str) or len(address) > LONGEST_ADDRESS or _STRANGE.search(address.strip()):
        return None
    try:
        parts = urlsplit(address.strip())
        port = parts.port
    except ValueError:
        return None
    host = _host(parts.hostname or "")
    if parts.scheme not in _DEFAULT_PORTS or "@" in parts.netloc or host is None:
        return None
    link = _written(parts, host if port in {None, _DEFAULT_PORTS[parts.scheme]} else f"{host}:{port}")
    return link if len(link) <= LONGEST_ADDRESS else None


def _written(parts: SplitResult, netloc: str) -> str:
    path = quote(parts.path, safe=_PATH_MARKS) or "/"
    return urlunsplit((parts.scheme, netloc, path, quote(parts.query, safe=_PATH_MARKS + "?"), ""))


def _host(host: str) -> str | None:
    """Give a host in ASCII when it is one of the public internet, spelled as everybody spells it."""
    if ":" in host:
        return f"[{IPv6Address(host)}]" if "%" not in host and is_public(host) else None
    try:
        name = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        return None
    if is_public(name):
        return name
    if is_private_host(name) or name.endswith(_HOME_NAMES):
        return None
    return name if len(name) <= 253 and _HOST.fullmatch(name) else None  # noqa: PLR2004 - the longest name of the DNS


def _carried(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Give the IPv4 address that an IPv6 address stands for, where it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else address)
