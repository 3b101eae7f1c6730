"""The serve command: the daemon behind HTTP, from start to a clean end."""

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

import uvicorn
from pydantic import SecretStr

from vault_ask.adapters.auth import check_bind, check_keys
from vault_ask.adapters.http import make_http, uvicorn_options
from vault_ask.composition.daemon import Daemon
from vault_ask.composition.parts import make_embedder
from vault_ask.errors import ConfigError
from vault_ask.scope import Sensitivity
from vault_ask.settings import Settings
from vault_ask.settings.serving import ServerSettings


def serve(settings: Settings, *, rebuild: bool, tell: Callable[[str], None]) -> int:
    """Serve until stopped by a signal and give the exit code; end the process with `leave`.

    Raises ConfigError, KeyNotSet, IndexBusy before anything is served.
    """
    token, admin_key = _revealed(settings.api_token), _revealed(settings.admin_api_key)
    check_bind(settings.server, token)
    check_keys(token, admin_key)
    daemon = Daemon(settings, make_embedder(settings, tell=tell))
    app = make_http(
        daemon,
        server=settings.server,
        ceiling=Sensitivity[settings.adapters.rest.ceiling.upper()],
        token=token,
        admin_key=admin_key,
    )
    with _listening(settings.server) as listener, _ending_in_order():
        code: int | str | None = 0
        try:
            daemon.start(rebuild=rebuild)
            server = uvicorn.Server(uvicorn.Config(app, **uvicorn_options(settings.server)))
            with _asked_to_end(server):
                tell(f"vault-ask serves {daemon.vault_name!r}. Open {_address(settings.server, listener)}/chat")
                server.run(sockets=[listener])
        except SystemExit as leaving:
            code = leaving.code
        finally:
            daemon.stop()
    return code if isinstance(code, int) else 0


def _revealed(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None


def leave(code: int) -> NoReturn:
    """End the process now. Everything is stored by then.

    Python would first tear down the threads that a slow model still holds, inside the model's own code: C++ aborts
    the process for that, or it hangs.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


@contextmanager
def _listening(server: ServerSettings) -> Iterator[socket.socket]:
    """Listen before anything else is done. Raises ConfigError when the port is taken or the address is not ours."""
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((server.host, server.port))
            # With SO_REUSEADDR two may bind the same port; only one of them may listen.
            listener.listen()
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "it is no address"
            raise ConfigError(
                f"{server.host} port {server.port} cannot be listened on ({why}). Stop what uses it, or choose another "
                "with --host and --port."
            ) from None
        yield listener


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Unwind at SIGTERM and Ctrl-C, so that the daemon stops."""

    def leave(_number: int, _frame: object) -> None:
        raise SystemExit(0)

    with _handling(leave):
        yield


@contextmanager
def _asked_to_end(server: uvicorn.Server) -> Iterator[None]:
    """Ask the server to end at SIGTERM and Ctrl-C before it handles them itself, and after.

    An exception raised while asyncio makes its loop would leave half a loop behind, and its complaints on the
    terminal. A server asked to end before it has begun begins, and ends. It sends itself the signal again when done.
    """

    def ask(_number: int, _frame: object) -> None:
        server.should_exit = True

    with _handling(ask):
        yield


@contextmanager
def _handling(handler: Callable[[int, object], None]) -> Iterator[None]:
    former = {number: signal.signal(number, handler) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, before in former.items():
            signal.signal(number, before)


def _address(server: ServerSettings, listener: socket.socket) -> str:
    host = f"[{server.host}]" if ":" in server.host else server.host
    shown = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)  # noqa: S104 - what to show, not to bind
    return f"http://{shown}:{listener.getsockname()[1]}"
