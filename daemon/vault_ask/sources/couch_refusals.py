"""What it means when the vault's database does not answer, or something else answers: an error, with a sentence each.

A sentence names the host and the database, never a user, a password or a header. CouchDB refuses with a JSON object
(https://docs.couchdb.org/en/stable/api/basics.html#http-status-codes), and by that it is told apart from a proxy.
"""

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpx

from vault_ask.errors import SourceError, SourceRefused, SourceUnreachable
from vault_ask.sources.couch_answers import parsed

_LONGEST_WAIT = 60.0
_LOGIN = "vault.couchdb.user and the environment's VAULTASK_VAULT__COUCHDB__PASSWORD"
_NO_FILTER = frozenset({400, 404, 405, 501})
_PASSING = frozenset({408, 413, 423, 425, 429})
# What OpenSSL says when the other side does not answer in TLS; the name depends on its version.
_NOT_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "UNKNOWN_PROTOCOL", "RECORD_LAYER_FAILURE"})


class MalformedSequence(SourceError):
    """The server does not know the sequence that changes were asked from: only a full listing helps."""


class SelectorRefused(SourceError):
    """The server, or a proxy before it, does not filter changes by a selector: ask for all of them."""


class DatabaseAbsent(SourceUnreachable):
    """The server holds no such database: mistyped, or being rebuilt by a device at this moment."""


class Missing(SourceUnreachable):
    """The database is there, and what was asked for is not."""


class Busy(SourceUnreachable):
    """The server asks for a pause: `retry_after` seconds, at most 60, where it said how long."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class BrokenOff(Busy):
    """The connection ended before the answer did."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Whom we speak to, for sentences to the owner: never a user, a password or a header."""

    host: str
    database: str

    def understood(self, text: str) -> dict[str, Any]:
        """Parse an answer, which is an object always. Raises BrokenOff, SourceRefused."""
        try:
            told = parsed(text)
        except ValueError:
            told = None
        if isinstance(told, dict):
            return told
        raise self.broken_off() if text.lstrip().startswith("{") else self.no_couchdb()

    def no_couchdb(self) -> SourceRefused:
        """Say that something else answers at the address."""
        return SourceRefused(
            f"What answers at {self.host} is not a CouchDB, perhaps a proxy's page. Correct vault.couchdb.url, or give "
            "the proxy what it wants in vault.couchdb.headers."
        )

    def broken_off(self) -> BrokenOff:
        """Say that an answer stopped in the middle."""
        return BrokenOff(f"{self._who()} broke off the connection; it will be asked again.")

    def unreached(self, error: httpx.RequestError) -> SourceError:
        """Say why there was no answer."""
        match _tls_error(error):
            case ssl.SSLCertVerificationError() as untrusted:
                return SourceRefused(
                    f"The certificate of {self.host} is not trusted ({untrusted.verify_message}). If the server has a "
                    "certificate authority of its own, name that one's PEM file in vault.couchdb.ca_file."
                )
            case ssl.SSLError(reason=reason) if reason in _NOT_TLS:
                return SourceRefused(
                    f"{self.host} speaks plain HTTP, and vault.couchdb.url says https. Correct the scheme or the port."
                )
        if isinstance(error, httpx.ConnectError):
            what = f"cannot be reached: {_no_way(error)}"
        elif isinstance(error, httpx.TimeoutException):
            what = "did not answer in time"
        else:
            return self.broken_off()
        return SourceUnreachable(f"{self._who()} {what}; it will be asked again.")

    def refused(self, response: httpx.Response, *, filtered: bool = False) -> SourceError | None:
        """Say what an answer other than success means, its body has been read; None for success.

        `filtered` says that changes were to be filtered by a selector: then some refusals mean only that.
        """
        if response.is_success:
            return None
        status, reason = response.status_code, _reason(response)
        if filtered and _is_about_the_selector(status, reason):
            return SelectorRefused(f"{self._who()} does not filter changes; all of them are asked for.")
        if status < HTTPStatus.BAD_REQUEST:
            return self._leads_elsewhere(response)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _PASSING:
            return Busy(
                f"{self._who()} has too much to do or is failing (HTTP {status}); it will be asked again.",
                _retry_after(response),
            )
        return self._stopped_before(status) if reason is None else self._client_error(status, reason)

    def _client_error(self, status: int, reason: str) -> SourceError:
        match status:
            case 401:
                return SourceRefused(
                    f"{self._who()} does not accept the user or the password, or none is set. Check {_LOGIN}."
                )
            case 403:
                return self._forbidden(reason)
            case 404 if _is_about_the_database(reason):
                return DatabaseAbsent(
                    f"{self._who()} holds no database {self.database}. If a device is rebuilding it, it comes back by "
                    "itself; else correct vault.couchdb.database."
                )
            case 404:
                return Missing(f"{self._who()} does not hold what was asked for; it will be asked again.")
            case 400 if _is_about_the_sequence(reason):
                return MalformedSequence(f"{self._who()} does not know our place in its changes; all is listed anew.")
            case _:
                return SourceRefused(f"{self._who()} did not take a request that every CouchDB takes (HTTP {status}).")

    def _forbidden(self, reason: str) -> SourceRefused:
        # CouchDB 3.4 and newer count wrong passwords (couch_auth_lockout), and then refuse right ones for a while.
        if "temporarily locked" in reason:
            return SourceRefused(
                f"{self._who()} has locked the user out for some minutes, after too many wrong passwords from here. "
                f"Check {_LOGIN}; it opens again by itself."
            )
        return SourceRefused(
            f"{self._who()} lets this user not read the database {self.database}. Add the user to its members, as "
            "docs/livesync.md shows."
        )

    def _stopped_before(self, status: int) -> SourceRefused:
        """Say that something before the server refused."""
        match status:
            case 401:
                return SourceRefused(
                    f"What answers at {self.host} asks for a login and is not a CouchDB, perhaps a proxy. Set what it "
                    f"wants in vault.couchdb.headers, or check {_LOGIN}."
                )
            case 403:
                return SourceRefused(
                    f"A proxy before {self.host} does not let us through (HTTP 403). docs/livesync.md lists the "
                    "requests it must allow; what it asks for can be set in vault.couchdb.headers."
                )
            case _:
                return self.no_couchdb()

    def _who(self) -> str:
        return f"The CouchDB at {self.host}"

    def _leads_elsewhere(self, response: httpx.Response) -> SourceRefused:
        try:
            target = urlsplit(response.headers.get("location", "")).hostname
        except ValueError:
            target = None
        to = f" to {target}" if target and target.isprintable() else ""
        return SourceRefused(
            f"The address {self.host} sends us on{to} (HTTP {response.status_code}), which is not followed: it may be "
            "a proxy's login page. Correct vault.couchdb.url, or set what the proxy wants in vault.couchdb.headers."
        )


def _no_way(error: BaseException) -> str:
    """Say why no connection came about, as far as the operating system told."""
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            return "its name is not known"
        if isinstance(cause, ConnectionRefusedError):
            return "nobody listens there"
    return "no connection comes about"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _tls_error(error: BaseException) -> ssl.SSLError | None:
    return next((cause for cause in _causes(error) if isinstance(cause, ssl.SSLError)), None)


def _reason(response: httpx.Response) -> str | None:
    """Give what a CouchDB says of its refusal; None when it was no CouchDB that refused."""
    try:
        told = parsed(response.content.decode(errors="replace"))
    except ValueError:
        return None
    if not isinstance(told, dict) or "error" not in told:
        return None
    return f"{told['error']} {told.get('reason', '')}".lower()


def _is_about_the_selector(status: int, reason: str | None) -> bool:
    if reason is None:
        return status in _NO_FILTER | {403}
    return status in _NO_FILTER and not _is_about_the_database(reason) and not _is_about_the_sequence(reason)


def _is_about_the_database(reason: str) -> bool:
    return "database" in reason or "no_db_file" in reason


def _is_about_the_sequence(reason: str) -> bool:
    return "sequence" in reason or "since" in reason


def _retry_after(response: httpx.Response) -> float | None:
    told = response.headers.get("retry-after", "").strip()
    if told.isascii() and told.isdigit():
        return min(float(told), _LONGEST_WAIT)
    try:
        wait = parsedate_to_datetime(told).timestamp() - parsedate_to_datetime(response.headers["date"]).timestamp()
    except (ValueError, KeyError, OverflowError):
        return None
    return min(max(wait, 0.0), _LONGEST_WAIT)
