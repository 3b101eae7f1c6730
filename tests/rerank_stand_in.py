"""A stand-in for a server of rerankers, on a port of its own, that speaks the grammars of those people run at home.

Requests and answers are those of the servers' own documents: Infinity, vLLM and Jina take `query` and `documents` and
answer with `results` of `index` and `relevance_score`, best first; Text Embeddings Inference takes `texts` and answers
with a list of `index` and `score`; Cohere's are as Jina's, below /v2. A passage's score is the share of the question's
words in it.
"""

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from fakes import words_in_common


@dataclass
class RerankStandIn:
    """Its attributes are the faults; set them at any time. `requests` holds (path, payload, headers) of each rerank.

    `body` is sent in place of an answer, `location` is where a redirect leads. With `slow` an answer is held back until
    `released` is set. `asked` is set by each rerank.
    """

    host: str = "127.0.0.1"
    status: int = 200
    body: bytes | None = None
    slow: bool = False
    owned_by: str = "infinity"
    location: str = "http://192.0.2.1/rerank"
    headers: dict[str, str] = field(default_factory=dict)
    leaves_out: int | None = None
    requests: list[tuple[str, dict[str, Any], dict[str, str]]] = field(default_factory=list)
    described: list[str] = field(default_factory=list)
    asked: threading.Event = field(default_factory=threading.Event)
    released: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        stand_in = self

        class Handler(_Handler):
            state = stand_in

        self._server = ThreadingHTTPServer((self.host, 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{self.host}:{self._server.server_address[1]}"

    def answer(self, path: str, payload: dict[str, Any], headers: dict[str, str]) -> tuple[int, Any]:
        """Give status and body of a rerank."""
        self.requests.append((path, payload, headers))
        self.asked.set()
        if self.slow:
            self.released.wait(20)
        if self.status != 200:
            return self.status, {"error": f"no: http://10.9.8.7 sk-secret {payload['query']}"}
        texts = payload.get("texts") or payload["documents"]
        scored = [(at, words_in_common(payload["query"], text)) for at, text in enumerate(texts)]
        ranked = sorted((one for one in scored if one[0] != self.leaves_out), key=lambda one: -one[1])
        if "texts" in payload:
            return 200, [{"index": at, "score": score} for at, score in ranked]
        results = [{"index": at, "relevance_score": score} for at, score in ranked]
        return 200, {"id": "r", "model": payload.get("model"), "results": results, "usage": {"total_tokens": 1}}


class _Handler(BaseHTTPRequestHandler):
    state: RerankStandIn

    def do_GET(self) -> None:
        self.state.described.append(self.path)
        entry = {"id": "m", "object": "model", "owned_by": self.state.owned_by}
        self._send(200, json.dumps({"object": "list", "data": [entry]}).encode())

    def do_POST(self) -> None:
        payload = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.endswith("/rerank"):
            self.state.described.append(self.path)
            return self._send(404, b'{"detail": "Not Found"}')
        headers = {name.lower(): value for name, value in self.headers.items()}
        status, answer = self.state.answer(self.path, payload, headers)
        body = self.state.body if self.state.body is not None else json.dumps(answer).encode()
        return self._send(status, body)

    def _send(self, status: int, body: bytes) -> None:
        try:
            self.send_response(status)
            for name, value in self.state.headers.items():
                self.send_header(name, value)
            if status in {301, 302, 307, 308}:
                self.send_header("Location", self.state.location)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            """Whoever asked has gone, as it may."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 # the base class names it so
        """Keep the test's output clean."""
