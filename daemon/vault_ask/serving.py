"""The serve command: the daemon behind HTTP, from start to a clean end."""

import socket
from collections.abc import Callable

import uvicorn

from vault_ask.adapters.auth import check_bind
from vault_ask.adapters.http import make_http, uvicorn_options
from vault_ask.app import Daemon, make_embedder
from vault_ask.errors import ConfigError
from vault_ask.scope import Sensitivity
from vault_ask.settings import ServerSettings, Settings


def serve(settings: Settings, *, rebuild: bool, tell: Callable[[str], None]) -> None:
    """Serve until stopped by a signal. Raises ConfigError, KeyNotSet, IndexBusy before anything is served."""
    token = settings.api_token.get_secret_value() if settings.api_token else None
    check_bind(settings.server, token)
    daemon = Daemon(settings, make_embedder(settings, tell=tell))
    app = make_http(
        daemon,
        server=settings.server,
        ceiling=Sensitivity[settings.adapters.rest.ceiling.upper()],
        token=token,
    )
    listener = _listen(settings.server)
    daemon.start(rebuild=rebuild)
    try:
        tell(f"vault-ask serves {daemon.vault_name!r}. Open {_address(settings.server, listener)}/chat")
        uvicorn.Server(uvicorn.Config(app, **uvicorn_options(settings.server))).run(sockets=[listener])
    finally:
        listener.close()
        daemon.stop()


def _listen(server: ServerSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((server.host, server.port))
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"{server.host} port {server.port} cannot be listened on ({error.strerror}). "
            "Stop what uses it, or choose another with --port."
        ) from None
    return listener


def _address(server: ServerSettings, listener: socket.socket) -> str:
    host = f"[{server.host}]" if ":" in server.host else server.host
    shown = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)  # noqa: S104 - what to show, not to bind
    return f"http://{shown}:{listener.getsockname()[1]}"
