"""An open ceiling from outside: every route answers as if there were no personal notes, and as if they never were.

Two real daemons stand behind real servers. One vault holds personal notes beside the open ones, the other the open ones
alone; whatever is asked of both is answered alike. What must differ (times, and scores, which are statistics of the
whole vault) is left out before comparing.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from adapters.doors import ADMIN_KEY, serving
from fakes import HashEmbedder
from journeys.houses import House, embedded
from vault_ask.errors import ModelUnreachable
from vault_ask.index.embedding import Vector
from vault_ask.scope import Sensitivity
from waiting import PATIENCE, wait_until

OPEN = {
    "Plain.md": "The harvest was good and the money came in October.\n",
    "Garden/Plot.md": "# Plot\nPotatoes and beans, a harvest of 31 kg. See [[Session]] and ![[Own/Session]].\n",
    "Links.md": "Nothing but [[Plain]] and #work here.\n",
}
PERSONAL = {
    "Own/Session log.md": "---\naliases: [canaryalias]\ntags: [work, canarytag]\n---\n# canaryheading\n"
    "The harvest quarrel with canarybody about the money. [[Plain]]\n",
    "own/Deep/More harvest.md": "canarybody again, and the harvest of last October.\n",
    "Marked.md": "---\nsensitivity: personal\n---\nA canarybody harvest.\n",
    "Broken.md": "---\ntitle: canarytitle\nsensitivity: [\n---\nA canarybody harvest that cannot be read.\n",
}
RULES = {"personal_paths": ["Own/**"]}
# Centring is a statistic of all notes; without it the order of hits is the same, too.
EMBEDDING = {"ollama_url": "http://127.0.0.1:9", "centring": "off"}
PERSONAL_PATHS = ("Own/Session log.md", "own/deep/more HARVEST.md", "Marked.md", "Broken.md")
ON_THE_EDGE = "harvest canaryheading"
"""So near to silence in so small a vault that the number of all passages decides it; it is searched for, not asked."""
QUESTIONS = ("Who had the harvest money?", "What is canarybody?", ON_THE_EDGE, "canaryalias", "#canarytag")
MOVING = {"seconds", "score", "trace", "last_indexed", "last_change_indexed", "indexed_at", "modified_at"}
ANY = {"include_personal": True}


class CountingEmbedder(HashEmbedder):
    """Counts the questions it is given."""

    def __init__(self) -> None:
        super().__init__(dimension=384)
        self.asked = 0

    def embed_query(self, text: str) -> Vector:
        self.asked += 1
        return super().embed_query(text)


@dataclass(frozen=True, slots=True)
class Request:
    """One request; `accept` chooses between a stream and one piece of JSON."""

    method: str
    path: str
    json: object = None
    accept: str = "application/json"

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.json or ''} {self.accept[:4]}".replace("/", "|")


@dataclass(slots=True)
class Served:
    """A vault behind two servers, one under each ceiling."""

    embedder: CountingEmbedder
    open: httpx.Client
    personal: httpx.Client


def ask(question: str, **more: object) -> list[Request]:
    body = {"question": question, **more}
    return [Request("POST", "/api/ask", body), Request("POST", "/api/ask", body, accept="text/event-stream")]


REQUESTS = [
    *(request for question in QUESTIONS if question != ON_THE_EDGE for request in ask(question)),
    *(request for path in PERSONAL_PATHS for request in ask("Sum this up", note=path)),
    *ask("harvest money", **ANY),
    *ask("harvest money", allow_web=False),
    *ask("harvest money", include_personal=True, allow_web=True),
    *ask("And [[Session log]] or Own/Session log.md or [x](Marked.md)?"),
    *ask("And then?", history=[{"role": "user", "text": QUESTIONS[0]}, {"role": "assistant", "text": "canarysaid"}]),
    *ask("And then?", history=[{"role": "user", "text": "canarybody", "personal": True}]),
    *ask("x", note="Own/" + "a" * 2_000),
    *ask("x", **{"Own/Session log.md": 1}),
    *(
        Request("POST", "/api/search", {"query": query, "k": 100, "arm": arm, **more})
        for query in QUESTIONS
        for arm in ("hybrid", "vector", "text")
        for more in ({}, ANY)
    ),
    Request("GET", "/api/search?q=harvest+canarybody&k=100&include_personal=true"),
    Request("GET", "/api/search?q=harvest&k=0"),
    Request("GET", "/api/search?q=harvest&path=Own/Session+log.md"),
    Request("GET", "/api/status"),
    Request("GET", "/api/events"),
    Request("GET", "/api/ask"),
    Request("GET", "/api/notes/Own/Session%20log.md"),
    Request("GET", "/api/notes/Own/Session%20log.md?include_personal=true"),
    Request("GET", "/api/notes/Plain.md?from=1&to=9&include_personal=true"),
    Request("GET", "/api/notes/Plain.md?from=9&to=1"),
    Request("GET", "/api/related?path=Plain.md&k=50"),
    Request("GET", "/api/related?path=Plain.md&k=50&include_personal=true"),
    Request("GET", "/api/related?path=Garden/Plot.md&k=50"),
    Request("GET", "/api/related?path=Marked.md&include_personal=true"),
    Request("GET", "/api/events?include_personal=true"),
    Request("GET", "/Own/Session%20log.md"),
    Request("GET", "/api/../Own/Session%20log.md"),
    Request("GET", "/api/neighbors?path=Marked.md"),
    Request("GET", "/api/topics"),
    Request("GET", "/openapi.json"),
    Request("GET", "/chat"),
    Request("GET", "/healthz"),
]


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A vault with personal notes."""
    yield from _served(House(tmp_path_factory.mktemp("crowded"), OPEN | PERSONAL, embedder=CountingEmbedder()))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The same vault without them."""
    yield from _served(House(tmp_path_factory.mktemp("bare"), OPEN, embedder=CountingEmbedder()))


def _served(house: House) -> Iterator[Served]:
    with house.daemon(sensitivity=RULES, embedding=EMBEDDING) as daemon:
        embedded(daemon)
        with (
            serving(daemon, ceiling=Sensitivity.OPEN, admin_key=ADMIN_KEY) as strict,
            serving(daemon, ceiling=Sensitivity.PERSONAL) as wide,
            httpx.Client(base_url=strict, timeout=PATIENCE) as open_,
            httpx.Client(base_url=wide, timeout=PATIENCE) as personal,
        ):
            assert isinstance(house.embedder, CountingEmbedder)
            yield Served(house.embedder, open_, personal)


def answer(client: httpx.Client, request: Request, headers: dict[str, str] | None = None) -> tuple[int, str]:
    """Give status and text of an answer; of a stream without end its first event."""
    headers = {"Accept": request.accept, **(headers or {})}
    with client.stream(request.method, request.path, json=request.json, headers=headers) as stream:
        if request.path.partition("?")[0] != "/api/events":
            return stream.status_code, stream.read().decode()
        return stream.status_code, next(line for line in stream.iter_lines() if line.startswith("data: "))


def comparable(text: str) -> list[Any]:
    """Take times and scores out of what is JSON."""
    lines = [line.removeprefix("data: ") for line in text.splitlines() if not line.startswith(("event: ", ":"))]
    return [_still(json.loads(line)) if line.startswith("{") else line for line in lines]


def _still(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, list):
        return [_still(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: None if key in MOVING else _still(item) for key, item in value.items()}


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
def test_every_route_answers_as_if_there_were_no_personal_notes(
    crowded: Served, bare: Served, request_: Request
) -> None:
    status, text = answer(crowded.open, request_)
    bare_status, bare_text = answer(bare.open, request_)
    assert status == bare_status
    assert comparable(text) == comparable(bare_text)
    typed = json.dumps(request_.json) + request_.path
    assert [
        word for word in ("canary", "quarrel", "Broken", "Deep", "Marked") if word in text and word not in typed
    ] == []


def test_the_same_requests_do_reach_personal_notes_where_the_ceiling_lets_them(crowded: Served, bare: Served) -> None:
    reaching = [request for request in REQUESTS if "canarybody" in answer(crowded.personal, request)[1]]
    assert {request.path.partition("?")[0] for request in reaching} >= {
        "/api/ask",
        "/api/search",
        "/api/notes/Own/Session%20log.md",
        "/api/related",
    }
    assert "31 kg" in answer(crowded.open, Request("POST", "/api/search", {"query": "harvest potatoes"}))[1]
    status = json.loads(answer(crowded.personal, Request("GET", "/api/status"))[1])
    assert (status["notes"], status["rules"]) == (7, {"Own/**": 2})
    assert "Broken.md" in [problem["path"] for problem in status["problems"]]


NEVER = "Personal notes were left out: this address never includes them."


@pytest.mark.parametrize(
    "asked",
    [
        *ask("harvest money", **ANY),
        *ask("quantum chromodynamics", **ANY),
        Request("POST", "/api/search", {"query": "harvest", **ANY}),
        Request("GET", "/api/search?q=harvest&include_personal=true"),
    ],
    ids=str,
)
def test_whoever_asks_for_personal_notes_is_told_that_this_address_has_none(
    crowded: Served, bare: Served, asked: Request
) -> None:
    told = [answer(client, asked)[1] for client in (crowded.open, bare.open, crowded.personal)]
    assert [text.count(NEVER) for text in told] == [1, 1, 0]
    plain = Request(asked.method, asked.path.removesuffix("&include_personal=true"), _unasked(asked), asked.accept)
    assert NEVER not in answer(crowded.open, plain)[1]


def _unasked(request: Request) -> object:
    return {**request.json, "include_personal": False} if isinstance(request.json, dict) else None


def test_the_status_of_an_address_says_whether_questions_there_may_include_personal_notes(
    crowded: Served, bare: Served
) -> None:
    status, owner = Request("GET", "/api/status"), {"Authorization": f"Bearer {ADMIN_KEY}"}
    told = [
        answer(crowded.open, status),
        answer(bare.open, status),
        answer(crowded.open, status, owner),
        answer(crowded.personal, status),
    ]
    assert [json.loads(text)["personal_allowed"] for _, text in told] == [False, False, False, True]


ABOUT_A_PATH = [
    *ask("Sum this up", note="PATH"),
    *ask("What does PATH say of the harvest?"),
    *ask("What says [[PATH]]?", **ANY),
    *ask("harvest of obsidian://open?vault=vault&file=PATH"),
    Request("POST", "/api/search", {"query": "PATH", **ANY}),
    Request("GET", "/api/search?q=PATH"),
    Request("GET", "/api/notes/PATH"),
    Request("GET", "/api/notes/PATH?include_personal=true&from=1"),
    Request("GET", "/api/related?path=PATH"),
    Request("GET", "/api/related?path=PATH&include_personal=true"),
    Request("GET", "/PATH"),
]


@pytest.mark.parametrize("personal", PERSONAL_PATHS)
@pytest.mark.parametrize("template", ABOUT_A_PATH, ids=str)
def test_a_note_that_is_not_visible_is_answered_like_one_that_never_was(
    crowded: Served, template: Request, personal: str
) -> None:
    answers, costs = [], []
    # The same words, so that they find the same open notes, and no note's path.
    for path in (personal, personal.replace(".md", "-.md")):
        before = crowded.embedder.asked
        status, text = answer(crowded.open, _about(template, path))
        answers.append((status, json.dumps(comparable(text)).replace(path, "PATH").replace(_name(path), "NAME")))
        costs.append(crowded.embedder.asked - before)
    assert answers[0] == answers[1]
    assert costs[0] == costs[1]


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _about(template: Request, path: str) -> Request:
    body = json.loads(json.dumps(template.json).replace("file=PATH", f"file={quote(path)}").replace("PATH", path))
    return Request(template.method, template.path.replace("PATH", quote(path)), body, template.accept)


def test_the_owners_key_is_told_names_by_status_and_events_and_by_nothing_else(crowded: Served) -> None:
    owner = {"Authorization": f"Bearer {ADMIN_KEY}"}
    status = json.loads(answer(crowded.open, Request("GET", "/api/status"), owner)[1])
    event = json.loads(answer(crowded.open, Request("GET", "/api/events"), owner)[1].removeprefix("data: "))
    assert (status["notes"], event["notes"]) == (7, 7)
    assert "Broken.md" in [problem["path"] for problem in status["problems"]]
    for request in REQUESTS:
        if request.path.partition("?")[0] not in ("/api/status", "/api/events"):
            told, others = answer(crowded.open, request, owner), answer(crowded.open, request)
            assert (told[0], comparable(told[1])) == (others[0], comparable(others[1]))


def test_a_personal_note_that_waits_for_its_vectors_is_not_told(tmp_path: Path) -> None:
    house = House(tmp_path, OPEN)
    with house.daemon(sensitivity=RULES) as daemon:
        embedded(daemon)
        before = daemon.describe(Sensitivity.OPEN).embedding
        house.embedder.fail_with(ModelUnreachable("Nobody listens."))
        house.write({"Own/New.md": "Written just now.\n"})
        # The embedder was found away before the note is stored by its words.
        wait_until(lambda: daemon.describe(Sensitivity.PERSONAL).embedding.waiting == 1)
        assert daemon.describe(Sensitivity.PERSONAL).embedding.last_error is not None
        assert daemon.describe(Sensitivity.OPEN).embedding == before
