"""A house with every door there is, and ears behind each: what goes out, to whom, beside the answer as well as in it.

Reads and writes are the daemon's own: index, ingest, answering, adapters, commands.
"""

import asyncio
import json
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode

import fasttext
import pytest
import yaml
from click.testing import CliRunner
from fastapi import FastAPI
from starlette.types import Message

from gate.furniture import (
    Logs,
    Parrot,
    embedder_of,
    heard_by,
    hold_still,
    language_model,
    reranker_of,
    settings_in,
    source_of,
    web_of,
)
from gate.random_vaults import NAMES, SECRETS, TAGS, Ask, Call, Request, Search, Setup, Vault
from gate.said import Heard, heard_at, prompts_at, recorded, reranked_at
from vault_ask.adapters.http import make_http
from vault_ask.answering.ports import Generator, Window
from vault_ask.cli import main
from vault_ask.composition import library, models, parts
from vault_ask.composition.daemon import Daemon
from vault_ask.scope import OpenScope, PrivateScope, Sensitivity
from vault_ask.settings.serving import ServerSettings
from vault_building import tagged
from waiting import wait_until

OWNERS_KEY = "the-owner-alone-knows-this"
_OPEN = OpenScope(web_allowed=False)


class Porch:
    """The doors of whoever lives here now, so that making the application, a tenth of a second, is done once."""

    house: Daemon
    vault_name = "vault"

    def __getattr__(self, door: str) -> Any:  # noqa: ANN401 - what the daemon has at its doors
        return getattr(self.house, door)


@cache
def _porch() -> tuple[Porch, dict[str, FastAPI]]:
    porch = Porch()
    return porch, {
        ceiling.word: make_http(porch, server=ServerSettings(), ceiling=ceiling, token=None, admin_key=OWNERS_KEY)
        for ceiling in Sensitivity
    }


class House:
    """One vault in one house, with or without its personal notes. Use it as `with House(...).open() as house`."""

    def __init__(self, folder: Path, vault: Vault, setup: Setup, *, with_personal: bool) -> None:
        self.setup = setup
        self.logs = Logs()
        self.web = web_of(setup)
        # With room to spare, so that excerpts grow.
        self.models = {
            name: Parrot(name=name, is_local=name == "made/local", window=Window(8_192, 1_024))
            for name in ("made/local", "made/remote")
        }
        self.embedder = embedder_of(setup)
        self.reranker = reranker_of(setup)
        self.settings = settings_in(folder, setup)
        self._config = folder / "settings.yaml"
        self._source = source_of(vault, with_personal=with_personal)
        self._opened: list[library.Library] = []
        self._audited = 0

    @contextmanager
    def open(self) -> Iterator["House"]:
        """Index the vault, start the daemon, and stop it at the end."""
        self._config.parent.mkdir(parents=True, exist_ok=True)
        written = self.settings.model_dump(mode="json", exclude={"api_token", "admin_api_key"}, exclude_unset=True)
        self._config.write_text(yaml.safe_dump(written, allow_unicode=True), encoding="utf-8")
        with heard_by(self.logs), pytest.MonkeyPatch.context() as patch, asyncio.Runner() as self._runner:
            self._furnish(patch)
            self._porch, self._apps = _porch()
            self._porch.house = daemon = Daemon(self.settings, self.embedder)
            try:
                daemon.start()
                wait_until(self._is_settled)
                yield self
            finally:
                daemon.stop()
                for opened in self._opened:
                    opened.close()

    def _is_settled(self) -> bool:
        """Say whether the vault was read, and everything embedded or the embedder found to be away."""
        keeper = self._porch.house._keeper
        if not keeper.caught_up or keeper.progress.phase not in {"idle", "waiting"}:
            return False
        return bool(keeper.backlog.last_error) or (keeper.backlog.ready and not self._waiting())

    def _waiting(self) -> int:
        with self._porch.house.index.open(PrivateScope()) as view:
            return view.state.counts().waiting_notes

    def _furnish(self, patch: pytest.MonkeyPatch) -> None:
        """Put our own behind the ports, for the daemon and for commands alike."""
        house, plain = self, models.Models._generator

        class Kept(library.Library):
            """What a command opens and the end of its process would close."""

            def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 - passed on
                super().__init__(*arguments)
                house._opened.append(self)

        def generator(named: models.Models, name: str, extractive: Any) -> Generator:  # noqa: ANN401 - as above
            return house.models.get(name) or plain(named, name, extractive)

        patch.setattr(models.Models, "_generator", generator)
        patch.setattr(library, "Library", Kept)
        patch.setattr(parts, "make_embedder", lambda *_, **__: house.embedder)
        patch.setattr(parts, "make_reranker", lambda *_: house.reranker)
        patch.setattr(parts, "make_source", lambda *_: house._source)
        patch.setattr(models, "make_web", lambda *_: None if house.setup.web == "off" else house.web)
        patch.setattr(fasttext, "load_model", language_model)
        if self.setup.still:
            hold_still(patch)

    # What is heard

    def hear(self, request: Request) -> list[Heard]:
        """Send a request, and give what was heard behind each door from then on."""
        self._forget()
        match request:
            case Call():
                told = self._call(request)
            case Ask(door="stream" | "json") | Search(door="get" | "post"):
                told = self._rest(request)
            case _:
                told = self._command(request)
        self.logs.listen()
        return [told, *self._behind()]

    def built(self) -> Heard:
        """Give what was logged while the vault was indexed and the daemon started."""
        return Heard("log", "\n".join(self.logs.lines))

    def record_read(self) -> Heard:
        """Have the owner read the record by the command."""
        return Heard("cli audit", self._run("audit", "--json"))

    def index_seen(self) -> Heard:
        """Read through an open view all that doors of later may show: links, tags, problems, names."""
        with self._porch.house.index.open(_OPEN) as view:
            paths = view.notes.paths()
            named = [f"Open/{name}{end}.md" for name in (*NAMES, *SECRETS) for end in ("", " 1", " 2")]
            seen = (
                paths,
                sorted(view.notes.known()),
                view.notes.resolved_paths(),
                view.state.problems(),
                view.state.troubles(),
                view.notes.versions(),
                [(note.path, note.title, view.notes.standing(note)) for note in map(view.notes.note, paths) if note],
                [
                    view.notes.note(path) is None
                    for path in (*named, *(f"Private/{name}.md" for name in (*NAMES, *SECRETS)))
                ],
                [view.links.edges_from(path) for path in (*paths, *named)],
                [view.links.edges_to(path) for path in (*paths, *named)],
                [tagged(view, tag.removeprefix("#")) for tag in (*TAGS, "#diary")],
                [view.chunks.of(path) == [] for path in named],
            )
        return Heard("open view", repr(seen), seen)

    def _forget(self) -> None:
        self.logs.lines.clear()
        self.embedder.asked.clear()
        self.web.asked.clear()
        self.web.beside.clear()
        if self.reranker:
            self.reranker.asked.clear()
            self.reranker.read.clear()
        for model in self.models.values():
            model.prompts.clear()

    def _behind(self) -> Iterator[Heard]:
        still = self.setup.still
        for name, model in self.models.items():
            yield prompts_at(f"prompt of {name}", model.prompts, still=still)
        beside = [[(hit.path, hit.body) for hit in context.hits] for context in self.web.beside]
        asked = [question.text for question in self.web.asked]
        yield Heard("web", "\n".join(asked), asked if still else None, len(asked))
        yield Heard("beside the web", repr(self.web.beside), beside if still else None)
        yield Heard("embedder", "\n".join(self.embedder.asked), list(self.embedder.asked) if still else None)
        if self.reranker:
            yield reranked_at(f"{self.setup.reranker} reranker", self.reranker.asked, self.reranker.read, still=still)
        yield Heard("log", "\n".join(self.logs.lines))
        yield recorded(self._new_audit_lines(), still=still)

    def _new_audit_lines(self) -> list[str]:
        file = self.settings.data / "audit" / "audit.jsonl"
        written = file.read_text(encoding="ascii") if file.exists() else ""
        new, self._audited = written[self._audited :], len(written)
        return new.splitlines()

    # Doors

    def _rest(self, request: Ask | Search) -> Heard:
        accept = "application/json"
        match request:
            case Ask(door=door):
                call = Call(method="POST", address="/api/ask", ceiling=request.ceiling, body=_body(request))
                accept = "text/event-stream" if door == "stream" else accept
            case Search(door="get"):
                call = Call(method="GET", address=_query(request), ceiling=request.ceiling)
            case Search():
                call = Call(method="POST", address="/api/search", ceiling=request.ceiling, body=_wanted(request))
        return self._heard(f"{type(request).__name__.lower()}, {request.door}", self._exchange(call, accept=accept))

    def _call(self, call: Call) -> Heard:
        return self._heard(_door_of(call), self._exchange(call))

    def _command(self, request: Ask | Search) -> Heard:
        options = [*(["--personal"] if request.personal else []), *_SHAPES[request.door]]
        match request:
            case Ask(question=words):
                options += [] if request.web is None else ["--web" if request.web else "--no-web"]
                options += [part for name, wish in _wishes(request).items() for part in (f"--{name}", str(wish))]
            case Search(query=words):
                options += ["--k", str(request.k), "--arm", request.arm]
        name = type(request).__name__.lower()
        return self._heard(f"{name}, {request.door}", self._run(name, words, *options))

    def _heard(self, door: str, said: str) -> Heard:
        return heard_at(door, said, still=self.setup.still)

    def _run(self, command: str, *arguments: str) -> str:
        done = CliRunner().invoke(main, [command, "--config", str(self._config), *arguments])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return f"{done.exit_code}\n{done.stderr.strip()}\n\n{done.stdout}"

    def _exchange(self, call: Call, *, accept: str = "application/json") -> str:
        return self._runner.run(exchange(self._apps[call.ceiling], call, accept=accept))


_SHAPES: dict[str, tuple[str, ...]] = {"cli": (), "cli json": ("--json",), "cli sources": ("--dry-run",)}


def _door_of(call: Call) -> str:
    path = call.address.partition("?")[0]
    path = "/api/notes" if path.startswith("/api/notes/") else path
    known = path in {"/api/status", "/api/events", "/api/notes", "/api/related", "/openapi.json", "/chat", "/healthz"}
    return path if known and call.method == "GET" else "refusals"


def _body(ask: Ask) -> dict[str, Any]:
    history = [{"role": turn.role, "text": turn.text, "personal": turn.personal} for turn in ask.history]
    body = {"question": ask.question, "history": history, "include_personal": ask.personal}
    selection = {} if ask.selection is None else {"selection": ask.selection}
    return body | _wishes(ask) | selection | ({} if ask.web is None else {"allow_web": ask.web})


def _wishes(ask: Ask) -> dict[str, Any]:
    wishes = {"note": ask.note, "k": ask.k, "language": ask.language}
    return {name: wish for name, wish in wishes.items() if wish is not None}


def _query(search: Search) -> str:
    wanted = _wanted(search) | {"include_personal": str(search.personal).lower()}
    return f"/api/search?{urlencode({'q': wanted.pop('query'), **wanted})}"


def _wanted(search: Search) -> dict[str, Any]:
    return {"query": search.query, "k": search.k, "arm": search.arm, "include_personal": search.personal}


async def exchange(app: FastAPI, call: Call, *, accept: str) -> str:
    """Make one request in this process and give what came: status, headers, body; of endless streams the first part."""
    said: list[Message] = []
    left = asyncio.Event()
    body = [{"type": "http.request", "body": b"" if call.body is None else json.dumps(call.body).encode()}]

    async def receive() -> Message:
        if body:
            return body.pop()
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        said.append(message)
        if message.get("body") and call.address.partition("?")[0] == "/api/events":
            left.set()

    await app(_scope(call, accept), receive, send)
    start, *parts = said
    headers = sorted(f"{name.decode()}: {value.decode('latin-1')}" for name, value in start["headers"])
    told = "\n".join(header for header in headers if not header.startswith("content-length"))
    text = b"".join(part.get("body", b"") for part in parts).decode()
    return f"{start['status']}\n{told}\n\n{text}"


def _scope(call: Call, accept: str) -> MutableMapping[str, Any]:
    path, _, query = call.address.partition("?")
    headers = [("host", "127.0.0.1:8765"), ("accept", accept), ("content-type", "application/json")]
    if call.owner:
        headers.append(("authorization", f"Bearer {OWNERS_KEY}"))
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": call.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in headers],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8765),
    }
