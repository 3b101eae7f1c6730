"""Who may come in: tokens, the session cookie of /chat, and a growing wait for those who guess. Fails closed.

Knows one token (from the environment) and compares in constant time. Sessions are not stored: a cookie is an expiry
signed with the token, so that a new token ends them all, and a cookie that strays tells nobody the token.
"""

import hmac
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256

from vault_ask.adapters.origins import is_loopback
from vault_ask.errors import KeyNotSet
from vault_ask.settings import ServerSettings

COOKIE = "vault_ask_session"
SESSION_SECONDS = 30 * 24 * 3600


def check_bind(server: ServerSettings, token: str | None) -> None:
    """Refuse to serve other machines without a token. Raises KeyNotSet."""
    if not usable(token) and not is_loopback(server.host):
        raise KeyNotSet(
            f"The daemon would listen on {server.host or 'every address'} for other machines, and anybody there could "
            "read the vault. Set VAULTASK_API_TOKEN to a long random word, or listen on 127.0.0.1."
        )


def usable(token: str | None) -> str | None:
    """Give the token without surrounding blanks; an empty one is none."""
    return (token or "").strip() or None


@dataclass(frozen=True, slots=True)
class Keys:
    """The one token, and what can be made of it. Without a token nothing matches."""

    token: str | None
    clock: Callable[[], float] = time.time

    def opens(self, offered: str) -> bool:
        """Compare an offered token with ours in constant time."""
        return self.token is not None and hmac.compare_digest(_digest(offered), _digest(self.token))

    def session(self) -> str:
        """Make a cookie value that lasts SESSION_SECONDS."""
        expiry = str(int(self.clock()) + SESSION_SECONDS)
        return f"{expiry}.{self._sign(expiry)}"

    def opens_session(self, cookie: str) -> bool:
        """Say whether a cookie was signed with the present token and has not expired."""
        expiry, _, signature = cookie.partition(".")
        if self.token is None:
            return False
        ours = hmac.compare_digest(signature.encode(), self._sign(expiry).encode())
        return ours and int(expiry) > self.clock()

    def _sign(self, expiry: str) -> str:
        key = f"vault-ask session {self.token}".encode(errors="surrogateescape")
        return hmac.new(key, expiry.encode(errors="surrogateescape"), sha256).hexdigest()


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
