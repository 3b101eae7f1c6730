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

from vault_ask.adapters.auth import COOKIE, Holder, Keys, Throttle
from vault_ask.adapters.failures import refusal
from vault_ask.adapters.origins import OwnHosts, is_loopback, is_own_origin
from vault_ask.settings.serving import ServerSettings

HEALTH = "/healthz"
SESSION = "/api/session"
PAGES = frozenset({"/", "/chat"})
_TOKEN_NAMES = frozenset(
    {"token", "access_token", "api_token", "auth_token", "api_key", "apikey", "api-key", "x-api-key", "auth"}
    | {"authorization", "bearer", "vaultask_api_token", "admin_key", "admin_api_key", "vaultask_admin_api_key"}
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

    def admit(self, request: Request, offered: str) -> Holder | Response:
        """Tell whose secret was offered; refuse what is nobody's, and an address that guesses."""
        address = request.client.host if request.client else ""
        if wait := ceil(self.throttle.seconds_to_wait(address)):
            return _too_many_attempts(wait)
        holder = self.keys.whose(offered)
        if holder is None:
            self.throttle.failed(address, offered)
            return _unauthorized(
                "The token is not right. Use the daemon's VAULTASK_API_TOKEN or VAULTASK_ADMIN_API_KEY."
            )
        if holder is Holder.OWNER or self.keys.admin is None:
            # Who has the token must not guess at the owner's key without end by showing the token in between.
            self.throttle.succeeded(address)
        return holder

    def is_owner(self, request: Request) -> bool:
        """Say whether a request that was let in showed the owner's key, or a session that this was traded for."""
        if "authorization" in request.headers:
            return self.keys.whose(_bearer(request)) is Holder.OWNER
        return self._session_holder(request) is Holder.OWNER

    @staticmethod
    def _refuse_token_in_url(request: Request) -> Response | None:
        """Judge by the names, and by what the request itself shows: compared with ours, it would help a guesser."""
        query, shown = request.query_params.multi_items(), _bearer(request)
        if any(name.casefold() in _TOKEN_NAMES or (shown and value == shown) for name, value in query):
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
        """Let this machine in as it comes; a key that is shown nevertheless has to be the owner's."""
        if self.keys.exist and _bearer(request):
            return self._refuse_header(request)
        if not self.local:
            return _unauthorized("This daemon has no token yet. Set VAULTASK_API_TOKEN and restart it.")
        return _foreign_origin() if _is_foreign(request) else None

    def _refuse_header(self, request: Request) -> Response | None:
        if offered := _bearer(request):
            admitted = self.admit(request, offered)
            return admitted if isinstance(admitted, Response) else None
        return _unauthorized("Send the token as `Authorization: Bearer ...`.")

    def _refuse_cookie(self, request: Request) -> Response | None:
        if self._session_holder(request) is not None:
            return None
        return _unauthorized("A token is needed. Send it as `Authorization: Bearer ...`, or sign in at /chat.")

    def _session_holder(self, request: Request) -> Holder | None:
        """Tell whose session came with one of our own pages: other ports of one host share its cookies."""
        return None if _is_foreign(request) else self.keys.whose_session(request.cookies.get(COOKIE, ""))


def _bearer(request: Request) -> str:
    """Give what one Authorization header offers as `Bearer ...`; empty for anything else."""
    values = request.headers.getlist("authorization")
    scheme, _, offered = values[0].partition(" ") if len(values) == 1 else ("", "", "")
    return offered.strip() if scheme.casefold() == "bearer" else ""


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
