"""A stand-in for the embedding side of an Ollama server, on a port of its own, that fails as the real one does.

Answers and error texts are those of Ollama's API documentation and of reports in its issue tracker (a NaN is HTTP 500
with `failed to encode response`, a long input 400, 413 or 500 depending on the version, a full queue 503). A token is
three bytes of UTF-8. A model that the real server passes on to another machine has `remote_host` and `remote_model`
beside the rest in `/api/show` and `/api/tags` (its openapi.yaml and Go types). Vectors are bags of words, so that texts
with the same words are near each other.
"""

import json
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from fakes import bag_of_words

CAPABILITIES = {"bge-m3": ["embedding"], "unknown-embedder": ["embedding"], "qwen3:4b": ["completion", "tools"]}


@dataclass
class OllamaStandIn:
    """Its attributes are the faults; set them at any time. `embedded` holds the inputs of every answered request.

    `upstreams` names the host of models that run elsewhere. `gather` holds requests of several texts back until so many
    are there; `slow_above` those of more texts than that.
    """

    models: tuple[str, ...] = ("bge-m3", "unknown-embedder")
    upstreams: dict[str, str] = field(default_factory=dict)
    knows_show: bool = True
    dimension: int = 32
    context: int = 512
    max_tokens: int = 512
    too_long_status: int = 400
    tells_capabilities: bool = True
    nan_word: str = "poison"
    zero_word: str = "nothingness"
    short_word: str = "stunted"
    missing_word: str = "unanswered"
    literal_nan_word: str = "undefined"
    broken: bool = False
    slow_above: int | None = None
    gather: int = 0
    body: bytes | None = None
    next_statuses: deque[int] = field(default_factory=deque)
    embedded: list[list[str]] = field(default_factory=list)
    requests: list[tuple[str, dict[str, Any], dict[str, str]]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    most_at_once: int = 0

    def __enter__(self) -> Self:
        stand_in = self

        class Handler(_Handler):
            server_state = stand_in

        self._at_once = 0
        self._lock = threading.Lock()
        self._gathered = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, path: str, payload: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any]:
        """Give status and body of one request."""
        with self._lock:
            self.requests.append((path, payload, headers))
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            if self._at_once >= self.gather:
                self._gathered.set()
            status = self.next_statuses.popleft() if self.next_statuses else 200
        try:
            if self.body is not None:
                return 200, self.body
            if status != 200:
                return status, {"error": "server busy, please try again.  maximum pending requests exceeded"}
            return self._route(path, payload)
        finally:
            with self._lock:
                self._at_once -= 1

    def _route(self, path: str, payload: dict[str, Any]) -> tuple[int, Any]:
        match path:
            case "/api/version":
                return 200, {"version": "0.24.0"}
            case "/api/tags":
                return 200, {"models": [{"model": name, "name": name, **self._upstream(name)} for name in self.models]}
            case "/api/show" if self.knows_show:
                return self._show(payload["model"])
            case "/api/embed":
                return self._embed(payload)
            case _:
                return 404, {"error": "404 page not found"}

    def _show(self, name: str) -> tuple[int, Any]:
        if name not in self.models:
            return 404, {"error": f"model '{name}' not found"}
        shown: dict[str, Any] = self._upstream(name) | {
            "model_info": {"general.architecture": "bert", "bert.context_length": self.context}
        }
        if self.tells_capabilities:
            shown["capabilities"] = CAPABILITIES.get(name, ["completion"])
        return 200, shown

    def _upstream(self, name: str) -> dict[str, str]:
        host = self.upstreams.get(name)
        return {"remote_host": host, "remote_model": f"{name}-upstream"} if host else {}

    def _embed(self, payload: dict[str, Any]) -> tuple[int, Any]:
        name, texts = payload["model"], payload["input"]
        if name not in self.models:
            return 404, {"error": f'model "{name}" not found, try pulling it first'}
        if "embedding" not in CAPABILITIES.get(name, ["embedding"]):
            return 400, {"error": f'"{name}" does not support embeddings'}
        if self.gather and len(texts) > 1:
            self._gathered.wait(10)
        if self.slow_above is not None and len(texts) > self.slow_above:
            self.released.wait(10)
        if self.broken or any(self.nan_word in text for text in texts):
            return 500, {"error": "failed to encode response: json: unsupported value: NaN"}
        if any(len(text.encode()) > 3 * self.max_tokens for text in texts):
            return self.too_long_status, {"error": "the input length exceeds the context length"}
        self.embedded.append(texts)
        vectors = [self._vector(text) for text in texts if self.missing_word not in text]
        return 200, {"model": name, "embeddings": vectors}

    def _vector(self, text: str) -> list[float]:
        dimension = self.dimension - 1 if self.short_word in text else self.dimension
        vector = [float(value) for value in bag_of_words(text, dimension)]
        if self.literal_nan_word in text:
            return [float("nan")] * dimension
        return [0.0] * dimension if self.zero_word in text else vector


class _Handler(BaseHTTPRequestHandler):
    server_state: OllamaStandIn
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _answer(self, payload: dict[str, Any]) -> None:
        status, body = self.server_state.answer(self.path, payload, {k.lower(): v for k, v in self.headers.items()})
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://192.0.2.1/api/embed")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_arguments: object) -> None:
        """Keep quiet."""
