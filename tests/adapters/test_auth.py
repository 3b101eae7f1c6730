import pytest

from vault_ask.adapters.auth import SESSION_SECONDS, Holder, Keys, Throttle, check_bind, check_keys, usable
from vault_ask.errors import ConfigError, KeyNotSet
from vault_ask.settings.serving import ServerSettings


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
    keys = Keys("secret", clock=clock)
    cookie = keys.session(Holder.CALLER)
    assert keys.whose_session(cookie) is Holder.CALLER
    assert Keys("other", clock=clock).whose_session(cookie) is None
    assert Keys(None, clock=clock).whose_session(cookie) is None
    clock.now += SESSION_SECONDS + 1
    assert keys.whose_session(cookie) is None


def test_a_session_gives_the_right_it_was_traded_for_and_ends_with_that_secret() -> None:
    keys = Keys("secret", "owners", Clock())
    callers, owners = keys.session(Holder.CALLER), keys.session(Holder.OWNER)
    assert (keys.whose_session(callers), keys.whose_session(owners)) == (Holder.CALLER, Holder.OWNER)
    new_key, new_token = Keys("secret", "new", Clock()), Keys("new", "owners", Clock())
    assert (new_key.whose_session(callers), new_key.whose_session(owners)) == (Holder.CALLER, None)
    assert (new_token.whose_session(callers), new_token.whose_session(owners)) == (None, Holder.OWNER)
    assert Keys("owners", "secret", Clock()).whose_session(callers) is None


def test_a_cookie_does_not_hold_the_token_and_cannot_be_prolonged() -> None:
    keys = Keys("secret", clock=Clock())
    expiry, signature = keys.session(Holder.CALLER).split(".")
    assert "secret" not in signature
    assert keys.whose_session(f"{int(expiry) + 1}.{signature}") is None
    assert keys.whose_session(f"{expiry}.{signature}") is Holder.CALLER


@pytest.mark.parametrize("cookie", ["", ".", "x.y", "99999999999.", "é.é", "9" * 9000 + ".0", "secret"])
def test_a_made_up_cookie_opens_nothing(cookie: str) -> None:
    assert Keys("secret", "owners").whose_session(cookie) is None


def test_a_secret_that_is_not_set_is_nobodys() -> None:
    for offered in ("", "None"):
        assert Keys(None).whose(offered) is None
        assert Keys("secret").whose(offered) is None
        assert Keys(None, "owners").whose(offered) is None
    assert Keys("secret").whose("secret") is Holder.CALLER
    assert Keys(None, "owners").whose("owners") is Holder.OWNER
    assert (Keys(None).exist, Keys("secret").exist, Keys(None, "owners").exist) == (False, True, True)


@pytest.mark.parametrize("blank", [None, "", " \t\n"])
def test_blank_secrets_are_none_and_need_not_differ(blank: str | None) -> None:
    assert usable(blank) is None
    check_keys(blank, blank)
    check_keys("secret", blank)


@pytest.mark.parametrize("key", ["secret", " secret\n"])
def test_one_word_for_token_and_owners_key_is_refused_without_naming_it(key: str) -> None:
    with pytest.raises(ConfigError, match="VAULTASK_API_TOKEN and VAULTASK_ADMIN_API_KEY are the same") as refused:
        check_keys("secret", key)
    assert "secret" not in str(refused.value)
    check_keys("secret", f"{key}s")


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
