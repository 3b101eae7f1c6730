"""The doorkeeper: every request meets it before any route does, and it says no in one sentence or lets it in.

Knows headers, paths and addresses; never a body, never a note. Only the paths named here are open to all, so that a
new route is guarded until someone decides otherwise.
"""

from dataclasses import dataclass, field
from http import HTTPStatus
from math import ceil

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope as AsgiScope

from vault_ask.adapters.auth import COOKIE, Keys, Throttle
from vault_ask.adapters.failures import refusal
from vault_ask.adapters.origins import OwnHosts, is_loopback, is_own_origin
from vault_ask.settings import ServerSettings

HEALTH = "/healthz"
SESSION = "/api/session"
PAGES = frozenset({"/", "/chat"})
_TOKEN_NAMES = frozenset(
    {"token", "access_token", "api_token", "auth_token", "api_key", "apikey", "api-key", "x-api-key", "auth"}
    | {"authorization", "bearer", "vaultask_api_token"}
)
_BODY_METHODS = frozenset({"POST", "PUT", "PATCH"})
_ALLOWED_METHODS = "GET, POST, OPTIONS"
_ALLOWED_HEADERS = "Authorization, Content-Type, Last-Event-ID"


@dataclass(frozen=True, slots=True)
class Guard:
    """The rules of the doors, in the order they are asked."""

    keys: Keys
    hosts: OwnHosts
    origins: frozenset[str]
    local: bool
    throttle: Throttle = field(default_factory=Throttle)

    @classmethod
    def of(cls, server: ServerSettings, keys: Keys) -> "Guard":
        """Make the guard of a server's settings."""
        hosts = OwnHosts(server.host, server.allowed_hosts)
        return cls(keys, hosts, frozenset(server.allowed_origins), is_loopback(server.host))

    def answer(self, scope: AsgiScope) -> Response | None:
        """Answer a request that goes no further: a refusal or a preflight. None lets it in."""
        request = Request(scope)
        return (
            self._refuse_token_in_url(request)
            or (None if request.url.path == HEALTH else self._refuse_host(request))
            or self._preflight(request)
            or self._refuse_stranger(request)
            or _refuse_body_type(request)
        )

    def cors_headers(self, scope: AsgiScope) -> dict[str, str]:
        """Give the headers that let a page of an allowed origin read the answer; no other origin gets any."""
        origin = Request(scope).headers.get("origin", "")
        if origin not in self.origins:
            return {}
        return {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": "Retry-After"}

    def check_token(self, request: Request, offered: str) -> Response | None:
        """Refuse a wrong token, and an address that guesses."""
        address = request.client.host if request.client else ""
        if wait := ceil(self.throttle.seconds_to_wait(address)):
            return _too_many_attempts(wait)
        if self.keys.opens(offered):
            self.throttle.succeeded(address)
            return None
        self.throttle.failed(address, offered)
        return _unauthorized("The token is not right. Use the one in the daemon's VAULTASK_API_TOKEN.")

    def _refuse_token_in_url(self, request: Request) -> Response | None:
        query = request.query_params.multi_items()
        if any(name.casefold() in _TOKEN_NAMES or self.keys.opens(value) for name, value in query):
            return refusal(
                HTTPStatus.BAD_REQUEST,
                "token_in_url",
                "An address ends up in histories and logs, so a token in it is refused and should be replaced. "
                "Send it in the header `Authorization: Bearer ...`.",
            )
        return None

    def _refuse_host(self, request: Request) -> Response | None:
        names = request.headers.getlist("host")
        if len(names) == 1 and self.hosts.knows(names[0]):
            return None
        return refusal(
            HTTPStatus.MISDIRECTED_REQUEST,
            "unknown_host",
            "The daemon was called by a name it does not know. Use its address, or add the name to "
            "server.allowed_hosts and restart.",
        )

    def _preflight(self, request: Request) -> Response | None:
        """Answer a browser's question whether its page may ask; that never needs a token, and gives nothing away."""
        origin = request.headers.get("origin")
        if request.method != "OPTIONS" or origin is None:
            return None
        if origin not in self.origins:
            return _foreign_origin() if _is_foreign(request) else None
        headers = {
            "Access-Control-Allow-Methods": _ALLOWED_METHODS,
            "Access-Control-Allow-Headers": _ALLOWED_HEADERS,
            "Access-Control-Max-Age": "600",
        }
        if request.headers.get("access-control-request-private-network") == "true":
            headers["Access-Control-Allow-Private-Network"] = "true"
        return Response(status_code=HTTPStatus.NO_CONTENT, headers=headers)

    def _refuse_stranger(self, request: Request) -> Response | None:
        path = request.url.path
        if path == HEALTH or path in PAGES:
            return None
        if path == SESSION:
            return _foreign_origin() if _is_foreign(request) else None
        if self.keys.token is None:
            return self._refuse_without_token(request)
        if "authorization" in request.headers:
            return self._refuse_header(request)
        return self._refuse_cookie(request)

    def _refuse_without_token(self, request: Request) -> Response | None:
        if not self.local:
            return _unauthorized("This daemon has no token yet. Set VAULTASK_API_TOKEN and restart it.")
        return _foreign_origin() if _is_foreign(request) else None

    def _refuse_header(self, request: Request) -> Response | None:
        values = request.headers.getlist("authorization")
        scheme, _, offered = values[0].partition(" ")
        if len(values) != 1 or scheme.casefold() != "bearer" or not offered.strip():
            return _unauthorized("Send the token as `Authorization: Bearer ...`.")
        return self.check_token(request, offered.strip())

    def _refuse_cookie(self, request: Request) -> Response | None:
        """Let a session in from the daemon's own pages only: other ports of one host share its cookies."""
        if not _is_foreign(request) and self.keys.opens_session(request.cookies.get(COOKIE, "")):
            return None
        return _unauthorized("A token is needed. Send it as `Authorization: Bearer ...`, or sign in at /chat.")


def _is_foreign(request: Request) -> bool:
    """Say whether another site's page made this request, by either header a page cannot forge."""
    origin = request.headers.get("origin")
    if origin is not None and not is_own_origin(origin, request.headers.get("host", "")):
        return True
    return request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin")


def _refuse_body_type(request: Request) -> Response | None:
    """Refuse bodies a page may send to a foreign server without asking first, such as text/plain and forms."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if request.method not in _BODY_METHODS or kind == "application/json":
        return None
    return refusal(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "not_json", "Send the body as JSON, with `Content-Type: application/json`."
    )


def _foreign_origin() -> Response:
    return refusal(
        HTTPStatus.FORBIDDEN,
        "foreign_origin",
        "A page of another origin needs a token, and its origin must be in server.allowed_origins. "
        "Set VAULTASK_API_TOKEN and send it as `Authorization: Bearer ...`.",
    )


def _unauthorized(message: str) -> Response:
    return refusal(HTTPStatus.UNAUTHORIZED, "token_needed", message, {"WWW-Authenticate": "Bearer"})


def _too_many_attempts(seconds: int) -> Response:
    return refusal(
        HTTPStatus.TOO_MANY_REQUESTS,
        "too_many_attempts",
        f"Too many wrong tokens came from this address. Wait {seconds} seconds and try again.",
        {"Retry-After": str(seconds)},
    )
