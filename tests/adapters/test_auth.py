import pytest

from vault_ask.adapters.auth import SESSION_SECONDS, Keys, Throttle, check_bind
from vault_ask.errors import KeyNotSet
from vault_ask.settings import ServerSettings


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "nas.local"])  # noqa: S104  refused
@pytest.mark.parametrize("token", [None, "", "  "])
def test_other_machines_are_not_served_without_a_token(host: str, token: str | None) -> None:
    with pytest.raises(KeyNotSet, match="VAULTASK_API_TOKEN"):
        check_bind(ServerSettings(host=host), token)
    check_bind(ServerSettings(host=host), "a-token")
    check_bind(ServerSettings(), token)


def test_a_session_opens_until_it_expires_and_only_under_its_token() -> None:
    clock = Clock()
    keys = Keys("secret", clock)
    cookie = keys.session()
    assert keys.opens_session(cookie)
    assert not Keys("other", clock).opens_session(cookie)
    assert not Keys(None, clock).opens_session(cookie)
    clock.now += SESSION_SECONDS + 1
    assert not keys.opens_session(cookie)


def test_a_cookie_does_not_hold_the_token_and_cannot_be_prolonged() -> None:
    keys = Keys("secret", Clock())
    expiry, signature = keys.session().split(".")
    assert "secret" not in signature
    assert not keys.opens_session(f"{int(expiry) + 1}.{signature}")


@pytest.mark.parametrize("cookie", ["", ".", "x.y", "99999999999.", "é.é", "9" * 9000 + ".0", "secret"])
def test_a_made_up_cookie_opens_nothing(cookie: str) -> None:
    assert not Keys("secret").opens_session(cookie)


def test_without_a_token_nothing_offered_opens() -> None:
    assert not Keys(None).opens("")
    assert not Keys(None).opens("None")


def test_guessing_makes_the_guesser_wait_longer_and_longer() -> None:
    clock = Clock()
    throttle = Throttle(free=2, longest=5, clock=clock)
    waits = []
    for guess in range(7):
        throttle.failed("10.0.0.9", f"guess {guess}")
        waits.append(throttle.seconds_to_wait("10.0.0.9"))
    assert waits == [0, 0, 1, 2, 4, 5, 5]
    assert throttle.seconds_to_wait("10.0.0.8") == 0
    clock.now += 5
    assert throttle.seconds_to_wait("10.0.0.9") == 0


def test_an_outdated_token_sent_again_and_again_locks_nobody_out() -> None:
    throttle = Throttle(free=2, clock=Clock())
    for _ in range(50):
        throttle.failed("10.0.0.9", "last year's token")
    assert throttle.seconds_to_wait("10.0.0.9") == 0


def test_the_throttle_forgets_the_oldest_addresses() -> None:
    throttle = Throttle(free=0, clock=Clock())
    for n in range(1_100):
        throttle.failed(f"10.0.{n // 256}.{n % 256}", "x")
    assert throttle.seconds_to_wait("10.0.0.0") == 0
    assert throttle.seconds_to_wait("10.0.4.75") > 0
