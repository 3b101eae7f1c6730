"""Which hosts are the owner's, by how they are written."""

import re
from ipaddress import IPv6Address, ip_address, ip_network
from socket import inet_aton, inet_ntoa

_OWN_NETWORKS = tuple(
    map(
        ip_network,
        (
            *("127.0.0.0/8", "::1/128"),  # this machine
            *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),  # RFC 1918 and RFC 4193
            *("169.254.0.0/16", "fe80::/10"),  # the same cable
            *("0.0.0.0/32", "::/128"),  # "every address of this machine"; one connects to oneself there
        ),
    )
)
_OWN_ENDINGS = (".localhost", ".local", ".lan", ".internal", ".home.arpa")
_HOST_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*")


def is_own_address(address: str) -> bool:
    """Say whether a numeric address is loopback, private or link-local; what is no address is none of these.

    Python's own `is_private` says yes to many more, such as every IPv4 address in IPv6 form. Addresses that a provider
    shares among its customers (100.64.0.0/10) are not the owner's, although Tailscale uses them too: list those hosts.
    """
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    return any((mapped or ip) in network for network in _OWN_NETWORKS)


def is_private_host(host: str) -> bool:
    """Say whether a host as written sounds like loopback or the owner's network, without asking a name server.

    Where a name really leads is for the socket to tell (`providers.own_network`).
    """
    name = _plain_host(host)
    if name == "localhost" or name.endswith(_OWN_ENDINGS):
        return True
    if numeric := _numeric(name):
        return is_own_address(numeric)
    # A bare name can only be resolved inside the owner's network; a dotted one may be anybody's.
    return bool(name) and "." not in name


def _plain_host(host: str) -> str:
    """Write a host as a resolver reads it: lower case, ASCII, without brackets or final dot; "" when it is none."""
    try:
        ascii_host = host.strip().removeprefix("[").removesuffix("]").encode("idna").decode()
    except UnicodeError:
        return ""
    name = ascii_host.lower().removesuffix(".")
    return name if ":" in name or _HOST_NAME.fullmatch(name) else ""


def _numeric(name: str) -> str | None:
    """Give the address that a numeric host stands for, also in the short, octal and hexadecimal forms of IPv4."""
    if ":" in name:
        return name
    try:
        return inet_ntoa(inet_aton(name))
    except OSError:
        return None
