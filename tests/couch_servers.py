"""The servers that tests of the CouchDB source run against, and what an owner's devices do to a database on them.

Two of them: express-pouchdb, a real CouchDB-compatible server from npm, and CouchStandIn, which does what only CouchDB
does. Fixtures: `pouchdb` (its address, one server a run), `stand_in` (a fresh one a test), `couch_server` (a test runs
once on each). tests/conftest.py makes them known to every test.
"""

import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest

from couch_stand_in import CouchStandIn
from vault_ask.settings.vault import CouchSettings

ROOT = Path(__file__).parents[1]
DUMPS = ROOT.parent / "shared" / "livesync" / "dumps"
_SERVER = ROOT / "tests" / "pouchdb" / "server.mjs"
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CouchServer:
    """One of the two servers; `stand_in` is None where it is express-pouchdb."""

    url: str
    stand_in: CouchStandIn | None = None

    @property
    def is_pouchdb(self) -> bool:
        return self.stand_in is None


@pytest.fixture(scope="session")
def pouchdb() -> Iterator[str]:
    """The address of an express-pouchdb; needs `npm ci`, which scripts/test runs."""
    if not (ROOT / "node_modules" / "express-pouchdb").is_dir() or not shutil.which("node"):
        reason = "express-pouchdb is not installed. Run scripts/test, or npm ci, with Node 20.19 or newer."
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    with subprocess.Popen(["node", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S607
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), "express-pouchdb did not start; its words are above"
        yield address
        process.stdin.close()


@pytest.fixture
def stand_in() -> Iterator[CouchStandIn]:
    """A CouchDB of the test's own."""
    with CouchStandIn() as server:
        yield server


@pytest.fixture(params=["pouchdb", "stand-in"])
def couch_server(request: pytest.FixtureRequest) -> CouchServer:
    """Each of the two servers in turn."""
    if request.param == "pouchdb":
        return CouchServer(request.getfixturevalue("pouchdb"))
    server: CouchStandIn = request.getfixturevalue("stand_in")
    return CouchServer(server.url, server)


class Database:
    """A database as those who may write see it: plain HTTP, any server. To be closed."""

    def __init__(self, server_url: str, name: str | None = None, *, login: tuple[str, str] | None = None) -> None:
        self.name = name or f"vault-{uuid4().hex[:12]}"
        self.server_url = server_url
        self.url = f"{server_url}/{quote(self.name, safe='')}"
        self._http = httpx.Client(auth=login, trust_env=False, timeout=30)

    def settings(self, **more: Any) -> CouchSettings:  # noqa: ANN401 - whatever the settings take
        """Give what the daemon needs to read it."""
        return CouchSettings(url=self.server_url, database=self.name, **more)

    def create(self) -> "Database":
        self.send("PUT", "")
        return self

    def drop(self) -> None:
        self.send("DELETE", "")

    def rebuild(self) -> None:
        """Delete and create it, as "overwrite remote" does."""
        self.drop()
        self.create()

    def put(self, document: Body) -> str:
        """Write a new revision over the winning one, or over `_rev`; gives the revision."""
        doc_id = document["_id"]
        if "_rev" not in document and (current := self.winner(doc_id)):
            document = {**document, "_rev": current}
        return str(self.send("PUT", f"/{quote(doc_id, safe='')}", document)["rev"])

    def put_all(self, documents: Sequence[Body]) -> None:
        """Write new documents at once."""
        told = self.send("POST", "/_bulk_docs", {"docs": list(documents)})
        assert all(one.get("ok") for one in told), told

    def replicate(self, documents: Sequence[Body]) -> None:
        """Write revisions as they are, `_rev` included, as a replication does: this is how conflicts come about."""
        self.send("POST", "/_bulk_docs", {"docs": list(documents), "new_edits": False})

    def delete(self, doc_id: str, revision: str | None = None) -> str:
        """Leave a bare tombstone on the winning revision, or on another leaf; gives the revision."""
        revision = revision or self.winner(doc_id)
        return str(self.send("DELETE", f"/{quote(doc_id, safe='')}?rev={revision}")["rev"])

    def put_local(self, document: Body) -> None:
        """Write a `_local/` document."""
        name = document["_id"].removeprefix("_local/")
        current = self._http.get(f"{self.url}/_local/{name}")
        revision = {"_rev": current.json()["_rev"]} if current.is_success else {}
        self.send("PUT", f"/_local/{name}", {key: value for key, value in document.items() if key != "_rev"} | revision)

    def winner(self, doc_id: str) -> str | None:
        """Give the winning revision; None when there is none or it is deleted."""
        response = self._http.get(f"{self.url}/{quote(doc_id, safe='')}")
        return str(response.json()["_rev"]) if response.is_success else None

    def send(self, method: str, path: str, body: Any = None) -> Any:  # noqa: ANN401 - any JSON
        """Send anything below the database."""
        response = self._http.request(method, self.url + path, json=body)
        assert response.is_success, response.text
        return response.json()

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


@cache
def _dump(name: str) -> str:
    return gzip.decompress((DUMPS / f"{name}.json.gz").read_bytes()).decode("utf-8", "surrogatepass")


def dump(name: str) -> Body:
    """Give a recorded database: `docs` are all leaf revisions, `local` the `_local` documents."""
    recorded: Body = json.loads(_dump(name))
    return recorded


def expected_files(name: str) -> Body:
    """Give the hashes that a right reader must find in a recorded database: `files`, `conflicted`, `deleted`."""
    told: Body = json.loads((DUMPS / f"{name}.files.json").read_text(encoding="utf-8"))
    return told


def load_dump(server_url: str, name: str, *, login: tuple[str, str] | None = None) -> Database:
    """Load a recorded database into a fresh one, leaf revisions as they are."""
    recorded = dump(name)
    database = Database(server_url, login=login).create()
    database.replicate(recorded["docs"])
    for document in recorded["local"]:
        database.put_local(document)
    return database
