"""The HTTP face of the daemon: routes, the page, the guard in front of both, and how failures are told.

Run it with `uvicorn_options`: the access log stays off because addresses hold queries (`/api/search?q=...`).
"""

import base64
import re
from hashlib import sha256
from http import HTTPStatus
from importlib.resources import files
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from vault_ask import __version__
from vault_ask.adapters.auth import Keys, check_bind, check_keys, usable
from vault_ask.adapters.doors import Doors
from vault_ask.adapters.failures import error_response, log_unexpected, refusal
from vault_ask.adapters.guard import Guard
from vault_ask.adapters.rest import Rest
from vault_ask.errors import VaultAskError
from vault_ask.scope import Sensitivity
from vault_ask.settings.serving import ServerSettings

__all__ = ["Doors", "check_bind", "check_keys", "make_http", "uvicorn_options"]

MAX_BODY_BYTES = 1_000_000  # a hundred long turns of history fit
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
_SENTENCES = {
    HTTPStatus.NOT_FOUND: ("not_found", "There is nothing at this address. The page is at /chat, the API below /api."),
    HTTPStatus.METHOD_NOT_ALLOWED: ("wrong_method", "This address does not take this method; see /openapi.json."),
    HTTPStatus.BAD_REQUEST: ("not_json", "The body could not be read as JSON. Send one JSON object in UTF-8."),
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: ("too_large", "The body is larger than 1 MB. Send a shorter history."),
}


def uvicorn_options(server: ServerSettings) -> dict[str, Any]:
    """Give the settings under which uvicorn serves `make_http` as it was tested."""
    return {
        "host": server.host,
        "port": server.port,
        "access_log": False,  # addresses hold queries
        "log_level": "warning",  # its start-up lines are not structured, and the command has told the address
        "server_header": False,
        "proxy_headers": False,  # anyone could name another address to get around the wait after wrong tokens
        "timeout_graceful_shutdown": 3,
        "ws": "none",
    }


def make_http(
    doors: Doors, *, server: ServerSettings, ceiling: Sensitivity, token: str | None, admin_key: str | None = None
) -> FastAPI:
    """Make the application.

    `token` lets a caller ask. `admin_key` lets in as well and has the status name notes under any ceiling; it widens
    no answer and no search. Raises KeyNotSet when other machines could reach the daemon without a token, ConfigError
    when token and key are the same.
    """
    check_bind(server, token)
    check_keys(token, admin_key)
    guard = Guard.of(server, Keys(usable(token), usable(admin_key)))
    app = FastAPI(
        title=f"vault-ask: {doors.vault_name}",
        version=__version__,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    rest = Rest(doors, ceiling=ceiling, guard=guard, max_concurrent_answers=server.max_concurrent_answers)
    app.include_router(rest.router())
    _add_pages(app)
    _add_failures(app)
    app.add_middleware(Doorway, guard=guard)
    return app


class Doorway:
    """Wraps every request: the guard first, then the routes; headers on every answer, a sentence for every failure."""

    def __init__(self, app: ASGIApp, *, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Serve one ASGI connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sender = _Sender(send, {**_HEADERS, **self._guard.cors_headers(scope)})
        try:
            await (self._guard.answer(scope) or self._app)(scope, _limited(receive), sender)
        except Exception as error:  # noqa: BLE001  the outermost handler; uvicorn would log messages
            log_unexpected(error, where="request")
            if not sender.started:
                await error_response(error)(scope, receive, sender)


def _limited(receive: Receive) -> Receive:
    """Pass a body on until it is too large; what it announces about its size is not needed for that."""
    left = MAX_BODY_BYTES

    async def receive_some() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        return message

    return receive_some


class _Sender:
    """Sends on, and puts on each answer the headers it does not have itself."""

    def __init__(self, send: Send, headers: dict[str, str]) -> None:
        self._send = send
        self._headers = headers
        self.started = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            for name, value in self._headers.items():
                headers.setdefault(name, value)
            headers.add_vary_header("Origin")
        await self._send(message)


def _add_pages(app: FastAPI) -> None:
    page = files("vault_ask.adapters").joinpath("static/chat.html").read_text(encoding="utf-8")
    policy = {"Content-Security-Policy": page_policy(page)}

    @app.get("/", include_in_schema=False)
    async def start() -> Response:
        return RedirectResponse("/chat")

    @app.api_route("/chat", methods=["GET", "HEAD"], include_in_schema=False)
    async def chat() -> Response:
        return HTMLResponse(page, headers=policy)


def page_policy(page: str) -> str:
    """Allow exactly the scripts and styles that stand in a page, by their hashes, and talk to the daemon only."""
    return (
        f"default-src 'none'; script-src {_hashes(page, 'script')}; style-src {_hashes(page, 'style')}; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hashes(page: str, tag: str) -> str:
    texts = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    return " ".join(f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts)


def _add_failures(app: FastAPI) -> None:
    @app.exception_handler(VaultAskError)
    async def expected(_: Request, error: VaultAskError) -> JSONResponse:
        return error_response(error)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request", _what_does_not_fit(error))

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> JSONResponse:
        status = HTTPStatus(error.status_code)
        code, message = _SENTENCES.get(status, ("refused", f"The request was refused: {status.phrase.lower()}."))
        return refusal(status, code, message, dict(error.headers or {}))


def _what_does_not_fit(error: RequestValidationError) -> str:
    """Name the field and the rule, never what was sent; an unknown field's name was sent, too."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return "The body could not be read as JSON. Send one JSON object in UTF-8."
    place = [str(part) for part in first["loc"][1:]]
    if first["type"] == "extra_forbidden":
        return f"The request has a field that is not known in {'.'.join(place[:-1]) or 'it'}; see /openapi.json."
    return (
        f"The request does not fit: {'.'.join(place) or 'the body'}: {first['msg'][:1].lower()}{first['msg'][1:200]}."
    )
