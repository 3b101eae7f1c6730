"""CouchDB's HTTP grammar for the stand-in: paths, queries, answers and feeds. What it means is in couch_store."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from couch_queries import Listing, Query, all_docs, bulk_docs, bulk_get, document, parsed_query
from couch_store import Database
from couch_tree import MISSING, Body, Refusal

if TYPE_CHECKING:
    from couch_stand_in import CouchStandIn

_LONGEST_PATH = 8192
NOT_ALLOWED = Refusal(405, "method_not_allowed", "Only other methods are allowed here.")


@dataclass
class Logged:
    """A request: `path` with its query, and the bytes of the answer's body so far."""

    method: str
    path: str
    bytes_out: int = 0
    bytes_in: int = 0


@dataclass
class Reply:
    """What is answered instead of the truth, to a request whose path holds `path`; `cut` cuts it in its middle."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    path: str = ""
    cut: bool = False


class CouchHandler(BaseHTTPRequestHandler):
    """One connection."""

    couch: "CouchStandIn"
    protocol_version = "HTTP/1.1"
    server_version = "CouchDB/3.5.0"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.couch.opened(self.connection)

    def finish(self) -> None:
        self.couch.closed(self.connection)
        super().finish()

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - as http.server names them

    def log_message(self, *_arguments: object) -> None:
        """Keep quiet."""

    def _serve(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        self._body = self.rfile.read(size)
        self._logged = Logged(self.command, self.path, bytes_in=size)
        self.couch.headers.append(dict(self.headers.items()))
        self.couch.requests.append(self._logged)
        self.couch.hold()
        if reply := self.couch.reply(self.path):
            self._give_reply(reply)
            return
        try:
            self._route()
        except Refusal as refusal:
            self._answer(refusal.body, refusal.status)

    def _route(self) -> None:
        if len(self.path) > _LONGEST_PATH:
            raise Refusal(414, "uri_too_long", "URI Too Long")
        path, _, query = self.path.partition("?")
        name, *rest = [unquote(part) for part in path.strip("/").split("/")]
        self.couch.admit(self.headers.get("Authorization", ""), name)
        if not name:
            self._answer({**self.couch.root, "uuid": "0" * 32, "vendor": {"name": "vault-ask's tests"}})
        elif rest == ["_changes"] and self.command in {"GET", "POST"}:
            self._changes(name, parsed_query(query))
        else:
            with self.couch.changed:
                status, told = self._locked(name, rest, parsed_query(query))
                self.couch.changed.notify_all()
            self._answer(told, status)

    def _locked(self, name: str, rest: list[str], query: Query) -> tuple[int, Any]:
        """Answer what takes no time, under the server's lock."""
        if not rest:
            return self._database(name)
        database = self.couch.database(name)
        if rest[0] == "_local":
            return self._local(database, "/".join(rest))
        if not rest[0].startswith("_") or rest[0] == "_design":
            return self._document(database, "/".join(rest), query)
        if self.command == "POST" and len(rest) == 1:
            return self._posted(database, rest[0], query)
        return self._special(database, rest, query)

    def _posted(self, database: Database, name: str, query: Query) -> tuple[int, Any]:
        body = self._json()
        match name:
            case "_all_docs":
                return 200, all_docs(database, query, body)
            case "_bulk_get":
                return 200, {"results": [bulk_get(database, one, query) for one in body["docs"]]}
            case "_bulk_docs":
                return 201, bulk_docs(database, body)
            case "_compact":
                database.compact()
                return 202, {"ok": True}
            case "_purge":
                return 201, {
                    "purge_seq": None,
                    "purged": {doc_id: database.purge(doc_id, revs) for doc_id, revs in body.items()},
                }
            case _:
                raise MISSING

    def _special(self, database: Database, rest: list[str], query: Query) -> tuple[int, Any]:
        match self.command, rest:
            case "GET", ["_all_docs"]:
                return 200, all_docs(database, query, {})
            case "GET", ["_security"]:
                return 200, database.security
            case "PUT", ["_security"]:
                database.security = self._json()
                return 200, {"ok": True}
            case _:
                raise MISSING

    def _database(self, name: str) -> tuple[int, Any]:
        match self.command:
            case "GET":
                return 200, self.couch.database(name).info()
            case "PUT":
                self.couch.create(name)
                return 201, {"ok": True}
            case "DELETE":
                self.couch.drop(name)
                return 200, {"ok": True}
            case _:
                doc_id = self._json()["_id"]
                return 201, {"ok": True, "id": doc_id, "rev": self.couch.database(name).put(self._json())}

    def _local(self, database: Database, doc_id: str) -> tuple[int, Any]:
        match self.command:
            case "GET" if doc_id in database.locals:
                return 200, database.locals[doc_id]
            case "PUT":
                database.locals[doc_id] = {**self._json(), "_id": doc_id, "_rev": "0-1"}
                return 201, {"ok": True, "id": doc_id, "rev": "0-1"}
            case "DELETE" if doc_id in database.locals:
                del database.locals[doc_id]
                return 200, {"ok": True, "id": doc_id, "rev": "0-0"}
            case _:
                raise MISSING

    def _document(self, database: Database, doc_id: str, query: Query) -> tuple[int, Any]:
        match self.command:
            case "GET":
                return 200, document(database, doc_id, query)
            case "PUT":
                body = {**self._json(), "_id": doc_id}
                body |= {"_rev": query["rev"]} if "rev" in query else {}
                revision = database.put(body, new_edits=query.get("new_edits") != "false")
            case "DELETE":
                revision = database.delete(doc_id, query.get("rev") or self.headers.get("If-Match"))
            case _:
                raise NOT_ALLOWED
        return 201, {"ok": True, "id": doc_id, "rev": revision}

    def _changes(self, name: str, query: Query) -> None:
        couch = self.couch
        with couch.changed:
            database = couch.database(name)
            listing = Listing(database, query, self._selector(query), shuffle=couch.random, repeats=couch.repeats)
        if query.get("feed") in {"continuous", "longpoll"}:
            self._feed(listing, continuous=query["feed"] == "continuous")
            return
        with couch.changed:
            rows, end = listing.take(), listing.end()
        self._answer_text(b'{"results":[\n' + _last_rows(rows, end))

    def _selector(self, query: Query) -> Body | None:
        if query.get("filter") != "_selector":
            return None
        if self.couch.selectors is not None:
            raise Refusal(self.couch.selectors, "bad_request", "Filters are refused here.")
        return dict(self._json()["selector"])

    def _feed(self, listing: "Listing", *, continuous: bool) -> None:
        """Tell changes as they come, line ends as heartbeats between them."""
        cut_at = self.couch.feed_ends_at()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if not continuous:
            self._chunk(b'{"results":[\n')
        while True:
            if time.monotonic() >= cut_at:
                self.close_connection = True
                return
            rows = self._next(listing, cut_at)
            self.couch.hold()
            if continuous and self.couch.buffers:
                continue
            if continuous and rows:
                self._chunk("".join(json.dumps(row) + "\n" for row in rows).encode())
            elif rows or listing.is_over:
                break
            else:
                self._chunk(b"\n")
            if continuous and listing.is_over:
                break
        with self.couch.changed:
            end = listing.end()
        self._chunk(json.dumps(end).encode() + b"\n" if continuous else _last_rows(rows, end))
        self._chunk(b"")

    def _next(self, listing: "Listing", cut_at: float) -> list[Body]:
        """Wait for rows, for a heartbeat's time at most; `listing.is_over` tells that there will be none any more."""
        couch = self.couch
        beat = min(time.monotonic() + listing.heartbeat, cut_at)
        with couch.changed:
            while True:
                if not couch.is_open(self.connection):
                    raise ConnectionError
                rows = listing.take()
                if listing.database.dropped or listing.times_out():
                    listing.is_over = True
                if rows or listing.is_over or time.monotonic() >= beat:
                    return rows
                couch.changed.wait(max(0.0, beat - time.monotonic()))

    def _json(self) -> Any:  # noqa: ANN401 - any JSON
        try:
            return json.loads(self._body)
        except ValueError:
            raise Refusal(400, "bad_request", "invalid UTF-8 JSON") from None

    def _give_reply(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for header, value in reply.headers.items():
            self.send_header(header, value)
        self.send_header("Content-Length", str(len(reply.body) + reply.cut))
        self.end_headers()
        self._write(reply.body)
        self.close_connection = reply.cut

    def _answer(self, told: object, status: int = 200) -> None:
        self._answer_text(json.dumps(told, separators=(",", ":")).encode() + b"\n", status)

    def _answer_text(self, text: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self._write(text)

    def _chunk(self, text: bytes) -> None:
        self.wfile.write(f"{len(text):x}\r\n".encode())
        self._write(text)
        self.wfile.write(b"\r\n")

    def _write(self, text: bytes) -> None:
        self.wfile.write(text)
        self._logged.bytes_out += len(text)


def _last_rows(rows: list[Body], end: Body) -> bytes:
    """Write the rest of an object that began with its results."""
    return (",\n".join(json.dumps(row) for row in rows) + f"\n],\n{json.dumps(end)[1:]}\n").encode()
