"""Who may come in: tokens, the session cookie of /chat, and a growing wait for those who guess. Fails closed.

Knows the token and the owner's key (both from the environment) and compares in constant time. Sessions are not stored:
a cookie is an expiry signed with the secret it was traded for, so that it gives that secret's right and no other, a new
secret ends them all, and a cookie that strays tells nobody the secret.
"""

import hmac
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256

from vault_ask.adapters.origins import is_loopback
from vault_ask.errors import ConfigError, KeyNotSet
from vault_ask.settings.serving import ServerSettings

COOKIE = "vault_ask_session"
SESSION_SECONDS = 30 * 24 * 3600


def check_bind(server: ServerSettings, token: str | None) -> None:
    """Refuse to serve other machines without a token. Raises KeyNotSet."""
    if not usable(token) and not is_loopback(server.host):
        raise KeyNotSet(
            f"The daemon would listen on {server.host or 'every address'} for other machines, and anybody there could "
            "read the vault. Set VAULTASK_API_TOKEN to a long random word, or listen on 127.0.0.1."
        )


def check_keys(token: str | None, admin_key: str | None) -> None:
    """Refuse one word in both places: whoever may ask would see what is the owner's. Raises ConfigError."""
    if usable(admin_key) and usable(admin_key) == usable(token):
        raise ConfigError(
            "VAULTASK_API_TOKEN and VAULTASK_ADMIN_API_KEY are the same, so everybody who may ask would see what is "
            "only for you. Make one of them another long random word."
        )


def usable(key: str | None) -> str | None:
    """Give a token or key without surrounding blanks; an empty one is none."""
    return (key or "").strip() or None


class Holder(Enum):
    """Whose secret somebody showed."""

    CALLER = "session"
    OWNER = "owner session"


@dataclass(frozen=True, slots=True)
class Keys:
    """The token that lets ask, the owner's key, and what can be made of them. What is not set opens nothing."""

    token: str | None
    admin: str | None = None
    clock: Callable[[], float] = time.time

    @property
    def exist(self) -> bool:
        """Whether there is anything to show."""
        return self.token is not None or self.admin is not None

    def whose(self, offered: str) -> Holder | None:
        """Tell whose secret was offered. Both are compared, in constant time."""
        is_owners, is_callers = _same(offered, self.admin), _same(offered, self.token)
        return Holder.OWNER if is_owners else Holder.CALLER if is_callers else None

    def session(self, holder: Holder) -> str:
        """Make a cookie value that lasts SESSION_SECONDS and gives the right of the secret it was traded for."""
        expiry = str(int(self.clock()) + SESSION_SECONDS)
        return f"{expiry}.{self._sign(expiry, holder)}"

    def whose_session(self, cookie: str) -> Holder | None:
        """Tell with whose present secret a cookie was signed; None for any other, and for one that has expired."""
        expiry, _, signature = cookie.partition(".")
        for holder in Holder:
            ours = self._secret(holder) and hmac.compare_digest(signature.encode(), self._sign(expiry, holder).encode())
            if ours and int(expiry) > self.clock():
                return holder
        return None

    def _secret(self, holder: Holder) -> str | None:
        return self.admin if holder is Holder.OWNER else self.token

    def _sign(self, expiry: str, holder: Holder) -> str:
        key = f"vault-ask {holder.value} {self._secret(holder)}".encode(errors="surrogateescape")
        return hmac.new(key, expiry.encode(errors="surrogateescape"), sha256).hexdigest()


def _same(offered: str, secret: str | None) -> bool:
    return secret is not None and hmac.compare_digest(_digest(offered), _digest(secret))


def _digest(token: str) -> bytes:
    return sha256(token.encode(errors="surrogateescape")).digest()


@dataclass(slots=True)
class _Guesser:
    """What one address tried: wrong tokens by digest, and until when it has to wait."""

    wrong: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    failures: int = 0
    wait_until: float = 0.0


@dataclass(slots=True)
class Throttle:
    """Makes each address wait after `free` different wrong tokens: 1 s, 2 s, 4 s, up to `longest`.

    A wrong token that comes again costs nothing: a client with an outdated token must not lock out the person at the
    same address who types the new one, and a guesser gains nothing by repeating itself.
    """

    free: int = 5
    longest: float = 60.0
    clock: Callable[[], float] = time.monotonic
    _guessers: OrderedDict[str, _Guesser] = field(default_factory=OrderedDict)

    def seconds_to_wait(self, address: str) -> float:
        """Tell how long this address has to wait before a token of it is looked at; 0 for most."""
        guesser = self._guessers.get(address)
        return max(0.0, guesser.wait_until - self.clock()) if guesser else 0.0

    def failed(self, address: str, offered: str) -> None:
        """Remember a wrong token of this address."""
        guesser = self._guessers.setdefault(address, _Guesser())
        self._guessers.move_to_end(address)
        _forget_oldest(self._guessers, keep=1024)
        if _digest(offered) in guesser.wrong:
            return
        guesser.wrong[_digest(offered)] = None
        _forget_oldest(guesser.wrong, keep=64)
        guesser.failures += 1
        if guesser.failures > self.free:
            guesser.wait_until = self.clock() + min(2.0 ** min(guesser.failures - self.free - 1, 30), self.longest)

    def succeeded(self, address: str) -> None:
        """Forget what this address got wrong."""
        self._guessers.pop(address, None)


def _forget_oldest(memory: OrderedDict[str, _Guesser] | OrderedDict[bytes, None], *, keep: int) -> None:
    while len(memory) > keep:
        memory.popitem(last=False)
