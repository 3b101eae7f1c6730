import pytest

from vault_ask.adapters.origins import OwnHosts, is_loopback, is_own_origin

LOOPBACK = OwnHosts("127.0.0.1", ("nas.local", "proxy.example:8443"))
EVERYWHERE = OwnHosts("0.0.0.0", ())  # noqa: S104  not bound to here


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:8765",
        "127.0.0.1",
        "localhost:1",
        "LOCALHOST",
        "[::1]:8765",
        "nas.local:99",
        "NAS.local.",
        "proxy.example:8443",
    ],
)
def test_the_daemon_knows_its_own_names(host: str) -> None:
    assert LOOPBACK.knows(host)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "192.168.1.5:8765",
        "2130706433",
        "127.1",
        "0x7f.0.0.1",
        "user@127.0.0.1",
        "127.0.0.1/x",
        "127.0.0.1:port",
        "proxy.example",
        "proxy.example:80",
        "",
        " ",
        "[::1",
        "ｌocalhost",
    ],
)
def test_a_name_that_could_be_rebound_is_not_ours(host: str) -> None:
    assert not LOOPBACK.knows(host)


@pytest.mark.parametrize("host", ["192.168.1.5:8765", "10.0.0.7", "[fd00::7]:8765", "100.64.0.9", "127.0.0.1"])
def test_on_every_address_private_addresses_are_ours(host: str) -> None:
    assert EVERYWHERE.knows(host)


@pytest.mark.parametrize("host", ["8.8.8.8", "nas.local", "evil.example", "[2606:4700::1]"])
def test_on_every_address_names_and_public_addresses_are_not_ours(host: str) -> None:
    assert not EVERYWHERE.knows(host)


def test_a_bound_address_is_ours_with_any_port() -> None:
    assert OwnHosts("192.168.1.5", ()).knows("192.168.1.5:99")
    assert OwnHosts("nas.lan", ()).knows("nas.lan")
    assert not OwnHosts("192.168.1.5", ()).knows("192.168.1.6")


@pytest.mark.parametrize(
    ("origin", "own"),
    [
        ("http://127.0.0.1:8765", True),
        ("https://127.0.0.1:8765", True),
        ("http://127.0.0.1:8766", False),
        ("http://localhost:8765", False),
        ("http://127.0.0.1:8765.evil.example", False),
        ("http://evil@127.0.0.1:8765", False),
        ("app://127.0.0.1:8765", False),
        ("null", False),
        ("", False),
    ],
)
def test_only_the_origin_of_the_same_host_and_port_is_own(origin: str, *, own: bool) -> None:
    assert is_own_origin(origin, "127.0.0.1:8765") is own


@pytest.mark.parametrize(
    ("host", "local"),
    [
        *((host, True) for host in ("127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost")),
        *((host, False) for host in ("0.0.0.0", "::", "", "192.168.1.5", "nas.local")),  # noqa: S104  not bound to
    ],
)
def test_loopback_is_told_from_addresses_others_reach(host: str, *, local: bool) -> None:
    assert is_loopback(host) is local
