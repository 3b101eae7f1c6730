import socket
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from vault_ask.errors import ModelRefused
from vault_ask.providers.own_network import OwnNetwork
from vault_ask.settings.hosts import is_own_address, is_private_host
from vault_ask.settings.models import EmbeddingSettings

NETWORK = OwnNetwork(("Gateway.Example.com", "2001:db8::7"), "models.api_base", "models.local_hosts")


def resolver(*addresses: str) -> Callable[..., list[Any]]:
    def look_up(_host: str, port: int, *_: object, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    return look_up


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::"),  # noqa: S104 # as a destination
        *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.2", "169.254.1.1"),
        *("fd7a:115c:a1e0::1", "fc00::1", "fe80::1", "fe80::1%eth0", "::ffff:127.0.0.1", "::ffff:192.168.1.2"),
    ],
)
def test_loopback_private_and_link_local_addresses_are_the_owners(address: str) -> None:
    assert is_own_address(address)


@pytest.mark.parametrize(
    "address",
    [
        *("8.8.8.8", "172.15.0.1", "172.32.0.1", "192.169.0.1", "11.0.0.1", "128.0.0.1", "0.0.0.1", "255.255.255.255"),
        # Python's `is_private` says yes to these: documentation, benchmarks, and IPv4 in IPv6 on some versions.
        *("203.0.113.5", "198.51.100.7", "192.0.2.1", "198.18.0.1", "240.0.0.1", "::ffff:8.8.8.8", "::ffff:0:808:808"),
        # Shared among a provider's customers; used by Tailscale too, so the owner has to say so.
        *("100.64.0.1", "100.100.100.100"),
        # Translated and tunnelled addresses lead through somebody else's machine.
        *("64:ff9b::7f00:1", "2002:7f00:1::", "::127.0.0.1", "2a00:1450::1", "fec0::1"),
        *("", "localhost", "127.0.0.1.", "2130706433"),
    ],
)
def test_other_addresses_and_names_are_not_the_owners_addresses(address: str) -> None:
    assert not is_own_address(address)
    assert is_own_address("127.0.0.1")


@pytest.mark.parametrize(
    "host",
    [
        *("localhost", "LOCALHOST", "localhost.", "ollama", "NAS", "nas.", "nas.local", "NAS.Local.", "gpu-box_2.lan"),
        *("ollama.home.arpa", "a.b.internal", "x.localhost"),
        *("127.0.0.1", "127.0.0.1.", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "10.1"),
        *("::1", "[::1]", "[fd00::1]", "[::ffff:10.0.0.1]", "fe80::1%eth0"),
        *("nas。local", "ⓛocalhost", "127。0。0。1"),
    ],
)
def test_a_host_sounds_private_in_every_spelling_of_it(host: str) -> None:
    assert is_private_host(host)


@pytest.mark.parametrize(
    "host",
    [
        *("", ".", "..", ".local", "localhost..", "a..local"),
        *("example.com", "localhost.evil.example", "nas.local.evil.com", "evil.com."),
        *(
            "8.8.8.8",
            "8.8.8.8.",
            "134744072",
            "0x08080808",
            "010.0.0.1",
            "8.8.2056",
            "[::ffff:8.8.8.8]",
            "::ffff:808:808",
        ),
        *(
            "evil。com",
            "evil．com",
            "user@127.0.0.1",
            "127.0.0.1@evil.com",
            "evil%2ecom",
            "evil.com/nas",
            "evil.com\\nas",
        ),
        *("127.0.0.1 evil.com", "nas evil", "nas\tx", "a" * 64, "::g", "1"),
    ],
)
def test_a_host_that_may_be_anybodys_does_not_sound_private(host: str) -> None:
    assert not is_private_host(host)
    assert is_private_host("nas")


@pytest.mark.parametrize(
    ("url", "accepted"),
    [
        ("http://127.0.0.1@evil.example:11434", False),
        ("http://evil.example@127.0.0.1:11434", True),
        ("http://127.0.0.1:11434@evil.example", False),
        ("http://evil.example#@127.0.0.1:11434", False),
        ("HTTP://NAS.LOCAL:11434/", True),
        ("http://[::ffff:8.8.8.8]:11434", False),
        ("http://0x7f.1:11434", True),
    ],
)
def test_what_counts_of_an_address_is_its_host(url: str, *, accepted: bool) -> None:
    refusal = nullcontext() if accepted else pytest.raises(ValueError, match="not a private address")
    with refusal:
        assert EmbeddingSettings(provider="ollama", model="bge-m3", ollama_url=url).ollama_url == url


def test_a_listed_host_counts_however_it_is_written() -> None:
    assert [NETWORK.sounds_own(host) for host in ("gateway.example.com.", "GATEWAY.example.com", "[2001:db8::7]")] == [
        True,
        True,
        True,
    ]
    assert not NETWORK.sounds_own("www.gateway.example.com")
    assert NETWORK.addresses("gateway.example.com", 443) == ("gateway.example.com",)
    NETWORK.check_peer("gateway.example.com", ("203.0.113.5", 443))


def test_only_the_owners_addresses_of_a_name_are_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", resolver("2a00:1450::1", "192.168.1.5", "203.0.113.5", "192.168.1.5"))
    assert NETWORK.addresses("nas.local", 11434) == ("192.168.1.5",)


def test_a_name_without_any_address_of_the_owners_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", resolver("203.0.113.5", "100.100.1.1"))
    with pytest.raises(ModelRefused, match=r"models\.api_base.*outside your network.*list its host in models\.local_h"):
        NETWORK.addresses("nas.local", 11434)


def test_a_name_that_cannot_be_looked_up_has_no_address() -> None:
    with pytest.raises(OSError, match="looked up"):
        NETWORK.addresses("a" * 64 + ".local", 11434)


@pytest.mark.parametrize("peer", [("203.0.113.5", 1), ("::ffff:8.8.8.8", 1, 0, 0), None, "/run/ollama.sock", ()])
def test_a_socket_that_reached_anybody_else_is_refused(peer: object) -> None:
    NETWORK.check_peer("nas.local", ("fe80::1%eth0", 1, 0, 2))
    with pytest.raises(ModelRefused, match="outside your network"):
        NETWORK.check_peer("nas.local", peer)
