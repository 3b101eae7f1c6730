"""A stand-in for a model server, OpenAI-compatible and Ollama-like, that replies as scripted and breaks as scripted.

It runs on a port of its own in threads, so that a real litellm talks to it over a real socket. `/api/show` and
`/v1/models` answer as Ollama's Go types and its openapi.yaml have them: a model with an upstream has `remote_host` and
`remote_model` beside the rest, others have neither.
"""

import json
import select
import socket
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

DEFAULT_WINDOW = 4096


@dataclass(frozen=True)
class Reset:
    """The connection is torn down here."""


@dataclass(frozen=True)
class Fault:
    """An error object stands in the stream here."""

    message: str = "the runner at http://10.9.8.7:1234 has crashed, key sk-secret"


@dataclass(frozen=True)
class Status:
    """Instead of a stream, this HTTP status with an error body."""

    code: int
    location: str = ""


@dataclass(frozen=True)
class Endless:
    """Tokens without end, one each `seconds`, until the reader leaves."""

    seconds: float = 0.02


@dataclass(frozen=True)
class Silence:
    """Nothing more comes, and the connection stays open until the server is stopped."""


@dataclass(frozen=True)
class HangUp:
    """The connection is closed here in good order, as by a server that is stopped."""


Step = str | HangUp | Reset | Fault | Status | Endless | Silence


@dataclass
class ModelServer:
    """Replies to each request with `script`. What it was asked is in `requests`; `left` is set when a reader left.

    `upstream` is the host it passes work on to, `show_status` its answer when asked to describe a model, `owned_by` and
    `headers` what a gateway tells of itself; the paths of questions about models, without texts, are in `described`.
    """

    script: Sequence[Step] = ()
    name: str = ""
    finish: str = "stop"
    host: str = "127.0.0.1"
    fixed_port: int = 0
    upstream: str = ""
    show_status: int = 200
    owned_by: str = "library"
    headers: dict[str, str] = field(default_factory=dict)
    described: list[str] = field(default_factory=list)
    connections: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    sent: int = 0
    left: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        model_server = self

        class Handler(_Handler):
            server_of = model_server

        self._stopping = threading.Event()

        class Server(ThreadingHTTPServer):
            def verify_request(self, *_: object) -> bool:
                model_server.connections += 1
                return True

        self._http = Server((self.host, self.fixed_port), Handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def port(self) -> int:
        return self._http.server_address[1]

    @property
    def openai_base(self) -> str:
        return f"http://{self.host}:{self.port}/v1"

    @property
    def ollama_base(self) -> str:
        return f"http://{self.host}:{self.port}"

    def seen(self) -> str:
        """What the model saw of the last request: the newest words that its window holds, the oldest silently lost."""
        request = self.requests[-1]
        window = request.get("options", {}).get("num_ctx", DEFAULT_WINDOW)
        words = " ".join(message["content"] for message in request["messages"]).split()
        return " ".join(words[-window:])


class _Handler(BaseHTTPRequestHandler):
    server_of: ModelServer

    def do_GET(self) -> None:
        self.server_of.described.append(self.path)
        entry = {"id": "m", "object": "model", "created": 1, "owned_by": self.server_of.owned_by}
        self._object(200, {"object": "list", "data": [entry]})

    def do_POST(self) -> None:
        if self.path == "/api/show":
            return self._show()
        return self._chat()

    def _show(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server_of.described.append(self.path)
        if self.server_of.show_status != 200:
            return self._refuse(Status(self.server_of.show_status, location="http://192.0.2.1/api/show"))
        shown: dict[str, Any] = {"details": {"format": ""}, "model_info": {}, "capabilities": ["completion"]}
        if self.server_of.upstream:
            shown |= {"remote_model": "gpt-oss:120b", "remote_host": self.server_of.upstream}
        return self._object(200, shown)

    def _chat(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request["_headers"] = dict(self.headers)
        self.server_of.requests.append(request)
        self.server_of.asked.set()
        for step in self.server_of.script:
            if isinstance(step, Status):
                return self._refuse(step)
        self.send_response(200)
        ollama = self.path.startswith("/api/")
        self.send_header("Content-Type", "application/x-ndjson" if ollama else "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            self._play(ollama=ollama)
        except (BrokenPipeError, ConnectionResetError):
            self.server_of.left.set()
        return None

    def _play(self, *, ollama: bool) -> None:
        for step in self.server_of.script:
            match step:
                case str():
                    self._token(step, ollama=ollama)
                case Reset():
                    return self._reset()
                case HangUp():
                    return None
                case Fault():
                    return self._send(
                        self._line({"error": step.message if ollama else {"message": step.message}}, ollama)
                    )
                case Endless():
                    while not self.server_of._stopping.wait(step.seconds):
                        self._token("on ", ollama=ollama)
                case Silence():
                    self._wait_until_left()
                case Status():
                    pass
        self._end(ollama=ollama)
        return None

    def _token(self, text: str, *, ollama: bool) -> None:
        if ollama:
            body: dict[str, Any] = {"model": "m", "message": {"role": "assistant", "content": text}, "done": False}
        else:
            body = self._chunk({"role": "assistant", "content": text}, None)
        self._send(self._line(body, ollama=ollama))
        self.server_of.sent += 1

    def _end(self, *, ollama: bool) -> None:
        finish = self.server_of.finish
        if ollama:
            done = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": finish}
            return self._send(self._line(done, ollama=ollama))
        self._send(self._line(self._chunk({}, finish), ollama=ollama))
        return self._send(b"data: [DONE]\n\n")

    @staticmethod
    def _chunk(delta: dict[str, str], finish: str | None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    @staticmethod
    def _line(body: dict[str, Any], *, ollama: bool) -> bytes:
        text = json.dumps(body)
        return (f"{text}\n" if ollama else f"data: {text}\n\n").encode()

    def _send(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()

    def _wait_until_left(self) -> None:
        while not self.server_of._stopping.is_set():
            readable, _, _ = select.select([self.connection], [], [], 0.02)
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                raise ConnectionResetError

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        raise ConnectionResetError

    def _refuse(self, status: Status) -> None:
        told = {"error": {"message": f"no: http://10.9.8.7 sk-secret {status.code}"}}
        self._object(status.code, told, location=status.location)

    def _object(self, status: int, told: dict[str, Any], *, location: str = "") -> None:
        body = json.dumps(told).encode()
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        for name, value in self.server_of.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 # the base class names it so
        """Keep the test's output clean."""
