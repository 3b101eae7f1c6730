"""A stand-in for all four search providers, on a port of its own, that keeps every byte it was sent.

Each is told by its path and by what the question travels in, and answers in the form its maker documents: Tavily's and
SearXNG's JSON, Brave's with `web.results`, and DuckDuckGo's page without scripts as ddgs's XPaths read it.
"""

import json
import socket
import ssl
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@dataclass(frozen=True)
class Received:
    """A request as it came: `raw` is all of it."""

    raw: bytes
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def question(self) -> str:
        """What was asked, wherever this provider's interface puts it."""
        if self.headers.get("content-type", "").startswith("application/json"):
            return str(json.loads(self.body)["query"])
        return parse_qs(self.body.decode() or urlsplit(self.target).query)["q"][0]


@dataclass
class WebStandIn:
    """Its attributes are what it answers; set them at any time. `hung_up` is set when a caller left a held answer.

    `results` are title, address and snippet. `body` stands in for the answer made of them. While `holding`, a request
    is read and not answered; `dripping` sends the head and then a byte now and then. With `flood`, it answers with the
    first of the two, and then with the second again and again. With `tls` it speaks https.
    """

    results: list[tuple[Any, Any, Any]] = field(default_factory=list)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    holding: bool = False
    dripping: bool = False
    flood: tuple[bytes, bytes] | None = None
    received: list[Received] = field(default_factory=list)
    connections: int = 0
    hung_up: threading.Event = field(default_factory=threading.Event)
    tls: ssl.SSLContext | None = None

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._leaving = threading.Event()
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._leaving.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def asked(self) -> list[str]:
        return [request.question for request in self.received]

    def _accept(self) -> None:
        while not self._leaving.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                if self.tls:
                    connection = self.tls.wrap_socket(connection, server_side=True)
                connection.settimeout(0.05)
                request = self._read(connection)
                if request is None:
                    self.hung_up.set()
                else:
                    self.received.append(request)
                    self._answer(connection, request)
            except OSError:
                self.hung_up.set()

    def _read(self, connection: socket.socket) -> Received | None:
        raw = b""
        while b"\r\n\r\n" not in raw or len(raw) < _length(raw):
            piece = self._receive(connection)
            if not piece:
                return None
            raw += piece
        head, _, body = raw.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        return Received(raw, first.split(" ")[1], {name.lower(): value.strip() for name, _, value in pairs}, body)

    def _receive(self, connection: socket.socket) -> bytes:
        """Wait for bytes; none when the other side, or the test, is gone."""
        while not self._leaving.is_set():
            try:
                return connection.recv(65_536)
            except TimeoutError:
                continue
        return b""

    def _answer(self, connection: socket.socket, request: Received) -> None:
        if self.flood:
            self._pour(connection, *self.flood)
        elif not self.holding:
            body = self._made(request) if self.body is None else self.body
            lines = [f"HTTP/1.1 {self.status} So", f"Content-Length: {len(body)}", "Connection: close"]
            lines += [f"{name}: {value}" for name, value in self.headers.items()]
            head = "\r\n".join([*lines, "", ""]).encode()
            connection.sendall(head if self.dripping else head + body)
        if self.holding or self.dripping:
            self._drip(connection)

    def _pour(self, connection: socket.socket, first: bytes, again: bytes) -> None:
        connection.settimeout(10)
        connection.sendall(first)
        while not self._leaving.is_set():
            connection.sendall(again)

    def _drip(self, connection: socket.socket) -> None:
        while not self._leaving.is_set():
            if self.dripping:
                connection.sendall(b" ")
            try:
                if not connection.recv(1):
                    self.hung_up.set()
                    return
            except TimeoutError:
                continue

    def _made(self, request: Received) -> bytes:
        path = urlsplit(request.target).path
        if path == "/html/":
            return _page(self.results).encode()
        if path == "/res/v1/web/search":
            found = [{"title": t, "url": u, "description": x} for t, u, x in self.results]
            return json.dumps({"type": "search"} | ({"web": {"results": found}} if found else {})).encode()
        return json.dumps({"results": [{"title": t, "url": u, "content": x} for t, u, x in self.results]}).encode()


def own_certificate(folder: Path) -> ssl.SSLContext:
    """Make a server's side of TLS, with a certificate for 127.0.0.1 that nobody but itself vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    start = datetime.now(UTC) - timedelta(days=1)
    built = x509.CertificateBuilder(name, name, key.public_key(), 7, start, start + timedelta(days=9))
    pem = built.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "both.pem").write_bytes(pem + secret)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "both.pem")
    return context


def _length(raw: bytes) -> int:
    head, _, _ = raw.partition(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return len(head) + 4 + int(line.split(b":")[1])
    return len(head) + 4


def _page(results: list[tuple[Any, Any, Any]]) -> str:
    items = "".join(
        f'<div class="result"><div class="links_main links_deep result__body"><h2 class="result__title">'
        f'<a class="result__a" href="{escape(str(u))}">{escape(str(t))}</a></h2>'
        f'<a class="result__snippet" href="{escape(str(u))}">{escape(str(x))}</a></div></div>'
        for t, u, x in results
    )
    head = "<!DOCTYPE html><html><head><title>x at DuckDuckGo</title></head>"
    return f"{head}<body><div id=links>{items}</div></body></html>"
