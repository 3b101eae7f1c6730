import json
import logging
from collections.abc import AsyncIterator

import anyio
import httpx
import pytest
from structlog.testing import capture_logs

from adapters.doors import DONE, RENT, SIMPLE, ScriptedDoors, source, sources_event
from vault_ask import errors
from vault_ask.adapters.http import make_http
from vault_ask.adapters.rest import prefers_json
from vault_ask.adapters.sse import event_stream
from vault_ask.answering.asked import Wishes
from vault_ask.answering.conversation import Turn
from vault_ask.scope import OpenScope, PrivateScope, Sensitivity
from vault_ask.settings.serving import ServerSettings
from vault_ask.wire import AnswerEvent, AskResponse, DeltaEvent, ErrorEvent, WebEvent, WebResult

pytestmark = pytest.mark.anyio
JSON = {"Accept": "application/json"}


@pytest.fixture
def doors() -> ScriptedDoors:
    return ScriptedDoors()


@pytest.fixture
async def http(doors: ScriptedDoors) -> AsyncIterator[httpx.AsyncClient]:
    app = make_http(doors, server=ServerSettings(), ceiling=Sensitivity.PERSONAL, token=None)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as client:
        yield client


def events(text: str) -> list[tuple[str, dict[str, object]]]:
    """Read a stream the way a browser would, comments left out."""
    frames = [dict(line.split(": ", 1) for line in f.split("\n") if line[0] != ":") for f in text.split("\n\n") if f]
    return [(f["event"], json.loads(f["data"])) for f in frames if f]


async def test_the_stream_names_each_event_by_its_type(http: httpx.AsyncClient) -> None:
    answer = await http.post("/api/ask", json={"question": "rent?"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.headers["cache-control"] == "no-store"
    assert events(answer.text) == [(e.type, e.model_dump(mode="json")) for e in SIMPLE]


async def test_a_caller_who_wants_json_gets_the_whole_answer(http: httpx.AsyncClient) -> None:
    answer = await http.post("/api/ask", json={"question": "rent?"}, headers=JSON)
    whole = AskResponse.model_validate_json(answer.content)
    assert whole.answer == "Rent is 9200 from May. [1]"
    assert [c.path for c in whole.citations] == ["Housing/Rent.md"]
    assert (whole.seconds, whole.finish, whole.silent) == (0.4, "stop", False)


@pytest.mark.parametrize(
    ("accept", "as_json"),
    [
        ("", False),
        ("*/*", False),
        ("text/event-stream", False),
        ("application/json", True),
        ("application/json, text/plain, */*", True),
        ("text/event-stream, application/json", False),
        ("application/json, text/event-stream;q=0.5", True),
        ("application/json;q=0.2, text/event-stream", False),
        ("application/json;q=0.2, */*", False),
        ("application/*", True),
        ("application/json;q=nan", False),
        ("APPLICATION/JSON; q=1.0; charset=utf-8", True),
        (",,;;q=,", False),
    ],
)
async def test_the_accept_header_chooses_between_stream_and_json(accept: str, *, as_json: bool) -> None:
    assert prefers_json(accept) is as_json


@pytest.mark.parametrize(
    ("body", "scope"),
    [
        ({}, OpenScope(web_allowed=True)),
        ({"allow_web": False}, OpenScope(web_allowed=False)),
        ({"include_personal": True}, PrivateScope()),
        ({"include_personal": True, "allow_web": False}, PrivateScope()),
        ({"include_personal": False, "allow_web": None}, OpenScope(web_allowed=True)),
    ],
)
async def test_the_request_states_facts_and_one_scope_comes_of_them(
    http: httpx.AsyncClient, doors: ScriptedDoors, body: dict[str, bool], scope: object
) -> None:
    await http.post("/api/ask", json={"question": "q", **body})
    assert doors.asked[0].scope == scope


async def test_an_open_ceiling_is_never_widened(doors: ScriptedDoors) -> None:
    app = make_http(doors, server=ServerSettings(), ceiling=Sensitivity.OPEN, token=None)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as http:
        await http.post("/api/ask", json={"question": "q", "include_personal": True})
        await http.get("/api/search", params={"q": "x", "include_personal": True})
    assert doors.asked[0].scope == OpenScope(web_allowed=False)
    assert doors.searched[0][1] == OpenScope(web_allowed=False)


async def test_personal_notes_and_the_web_together_are_refused(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    for headers in ({}, JSON):
        answer = await http.post(
            "/api/ask", json={"question": "q", "include_personal": True, "allow_web": True}, headers=headers
        )
        assert answer.status_code == 400
        assert answer.json()["code"] == "bad_request"
    assert doors.asked == []


async def test_history_and_note_reach_the_house_as_they_were_sent(
    http: httpx.AsyncClient, doors: ScriptedDoors
) -> None:
    history = [{"role": "user", "text": "Ränta?", "personal": True}, {"role": "assistant", "text": "家賃"}]
    await http.post("/api/ask", json={"question": "och nu?", "history": history, "note": "A/B.md"})
    asked = doors.asked[0]
    assert asked.history == (Turn(role="user", text="Ränta?", personal=True), Turn(role="assistant", text="家賃"))
    assert (asked.question, asked.wishes) == ("och nu?", Wishes(note="A/B.md"))


async def test_wishes_reach_the_house_and_those_that_cannot_be_met_are_refused(
    http: httpx.AsyncClient, doors: ScriptedDoors
) -> None:
    words = {"note": "A.md", "selection": " the *roof*\nleaks "}
    blank = {"k": None, "language": None, "note": None, "selection": " \n"}
    for more in ({"k": 1}, {"k": 50, "language": "zh-Hant-TW"}, blank, words, {"selection": None}):
        assert (await http.post("/api/ask", json={"question": "q", **more})).status_code == 200
    assert [asked.wishes for asked in doors.asked] == [
        Wishes(k=1),
        Wishes(k=50, language="zh-Hant-TW"),
        Wishes(),
        Wishes(note="A.md", selection=" the *roof*\nleaks "),
        Wishes(),
    ]
    for more in (
        {"k": 0},
        {"k": 51},
        {"k": "many"},
        {"language": "in Swedish, please"},
        {"language": ""},
        {"note": 7},
        {"selection": "please" * 1_400},
    ):
        refused = await http.post("/api/ask", json={"question": "q", **more})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
        assert "please" not in refused.text
    assert len(doors.asked) == 5


@pytest.mark.parametrize(
    ("error", "status", "code", "retry"),
    [
        (errors.BadRequest("Say it."), 400, "bad_request", False),
        (errors.NoSuchNote("Say it."), 404, "no_such_note", False),
        (errors.ModelUnreachable("Say it."), 503, "model_unreachable", True),
        (errors.ModelBusy("Say it."), 503, "model_busy", True),
        (errors.ModelRefused("Say it."), 502, "model_refused", False),
        (errors.SourceUnreachable("Say it."), 503, "source_unreachable", True),
        (errors.SourceRefused("Say it."), 503, "source_refused", False),
        (errors.EmbeddingSpaceChanged("Say it."), 500, "not_configured", False),
        (errors.IndexBusy("Say it."), 503, "index_busy", True),
    ],
)
async def test_each_error_has_one_status_and_one_last_event(
    http: httpx.AsyncClient, doors: ScriptedDoors, error: Exception, status: int, code: str, *, retry: bool
) -> None:
    doors.script = (error,)
    doors.search_error = error
    plain = await http.post("/api/ask", json={"question": "q"}, headers=JSON)
    search = await http.get("/api/search?q=x")
    stream = await http.post("/api/ask", json={"question": "q"})
    for answer in (plain, search):
        assert (answer.status_code, answer.json()) == (status, {"code": code, "message": "Say it."})
        assert ("retry-after" in answer.headers) is retry
    assert events(stream.text) == [("error", {"type": "error", "code": code, "message": "Say it.", "retry": retry})]


@pytest.mark.parametrize(
    "failure",
    [
        errors.ModelUnreachable("The model went away."),
        ErrorEvent(code="model_unreachable", message="The model went away.", retry=True),
    ],
)
async def test_a_failure_midway_is_one_error_and_never_done(
    http: httpx.AsyncClient, doors: ScriptedDoors, failure: Exception | ErrorEvent
) -> None:
    doors.script = (*SIMPLE[:3], failure, DeltaEvent(text="more"), DONE)
    stream = await http.post("/api/ask", json={"question": "q"})
    plain = await http.post("/api/ask", json={"question": "q"}, headers=JSON)
    assert [name for name, _ in events(stream.text)] == ["sources", "delta", "delta", "error"]
    assert plain.status_code == 503
    assert "9200" not in plain.text


async def test_an_answer_that_just_ends_is_not_done(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    doors.script = SIMPLE[:2]
    stream = await http.post("/api/ask", json={"question": "q"})
    plain = await http.post("/api/ask", json={"question": "q"}, headers=JSON)
    assert events(stream.text)[-1][1]["code"] == "incomplete"
    assert (plain.status_code, plain.json()["code"]) == (502, "incomplete")


async def test_an_unexpected_error_tells_and_logs_no_words_of_the_note(
    http: httpx.AsyncClient, doors: ScriptedDoors
) -> None:
    doors.script = (sources_event(RENT), ValueError("CANARY-7 in the note"))
    doors.search_error = KeyError("CANARY-7 in the query")
    with capture_logs() as logs:
        stream = await http.post("/api/ask", json={"question": "CANARY-7"})
        plain = await http.post("/api/ask", json={"question": "CANARY-7"}, headers=JSON)
        search = await http.get("/api/search?q=CANARY-7")
    assert events(stream.text)[-1][0] == "error"
    assert (plain.status_code, search.status_code) == (500, 500)
    assert [log["kind"] for log in logs] == ["ValueError", "ValueError", "KeyError"]
    assert "CANARY" not in stream.text + plain.text + search.text + str(logs)


async def test_even_at_debug_level_no_log_holds_question_or_answer(
    http: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("DEBUG"), capture_logs() as logs:
        stream = await http.post("/api/ask", json={"question": "CANARY-8"})
        logging.getLogger("control").debug("the records are kept")
    told = str(logs) + str([record.getMessage() for record in caplog.records])
    assert "9200" in stream.text
    assert "the records are kept" in told
    assert "9200" not in told
    assert "CANARY-8" not in told


async def test_the_webs_part_travels_after_the_vaults_and_stays_apart_in_plain_answers(
    http: httpx.AsyncClient, doors: ScriptedDoors
) -> None:
    page = WebResult(n=1, title="Rents", url="https://example.org/", snippet="They rise.")
    web = WebEvent(results=(page,), provider="DuckDuckGo", message="Your notes say little.")
    doors.script = (*SIMPLE[:4], web, DeltaEvent(text="They rise [1].", part="web"), DONE)
    stream = await http.post("/api/ask", json={"question": "q"})
    plain = (await http.post("/api/ask", json={"question": "q"}, headers=JSON)).json()
    told = [(name, data.get("part")) for name, data in events(stream.text)]
    vaults, webs = ("delta", "vault"), ("delta", "web")
    assert told == [("sources", None), vaults, vaults, ("grounding", None), ("web", None), webs, ("done", None)]
    assert plain["answer"] == "Rent is 9200 from May. [1]"
    assert plain["web"] == {**web.model_dump(mode="json", exclude={"type"}), "answer": "They rise [1]."}


async def test_line_ends_inside_text_do_not_break_a_frame(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    text = "one\n\nevent: done\r\rtwo\u2028three\u0085 家賃 \x00"
    doors.script = (sources_event(source(1, quote=text)), DeltaEvent(text=text), DONE)
    stream = await http.post("/api/ask", json={"question": "q"})
    assert events(stream.text)[1] == ("delta", {"type": "delta", "text": text, "part": "vault"})


async def test_a_silent_stretch_is_kept_alive_by_comments() -> None:
    async def slow() -> AsyncIterator[AnswerEvent]:
        yield SIMPLE[0]
        await seen.wait()
        yield DONE

    seen = anyio.Event()
    sent: list[bytes] = []

    async def send(message: dict[str, bytes]) -> None:
        sent.append(message.get("body", b""))
        if sent[-1].startswith(b":"):
            seen.set()

    with anyio.fail_after(5):
        response = event_stream(slow(), keepalive_seconds=0.02)  # type: ignore[arg-type]
        await response({"type": "http", "method": "POST"}, anyio.sleep_forever, send)  # type: ignore[arg-type]
    assert b": still here\n\n" in sent
    assert sent[-2].startswith(b"event: done\n")


QUERIES = [
    "half-timbered", "C++", "landlord's deposit", "status: green", '"unbalanced', "NEAR", "AND", "mill OR", "*", "(",
    "-", '""', "   ", "path:A t:green", "^budget", "50% spent?", "#tag", "[[Note]]", "a\u0000b", "{x} y : z", "家賃",
    "%", "%00", "\ufffe", "<script>", "a" * 8000,
]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
async def test_any_words_reach_the_search_unchanged(http: httpx.AsyncClient, doors: ScriptedDoors, query: str) -> None:
    by_body = await http.post("/api/search", json={"query": query})
    by_address = await http.get("/api/search", params={"q": query, "k": 3, "arm": "text"})
    assert (by_body.status_code, by_address.status_code) == (200, 200)
    assert doors.searched == [
        (query, OpenScope(web_allowed=False), 8, "hybrid"),
        (query, OpenScope(web_allowed=False), 3, "text"),
    ]


@pytest.mark.parametrize(
    "query",
    ["", "q=x&k=0", "q=x&k=101", "q=x&k=x", "q=x&arm=graph", "q=x&include_personal=perhaps", f"q={'a' * 8001}"],
)
async def test_a_search_that_does_not_fit_is_told_so(http: httpx.AsyncClient, query: str) -> None:
    answer = await http.get(f"/api/search?{query}")
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid_request"


BAD_BODIES = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"question"',
    b"{}",
    b'{"question": ""}',
    b'{"question": 7}',
    b'{"question": "q", "CANARY-FIELD": 1}',
    b'{"question": "q", "history": [{"role": "system", "text": "CANARY-TEXT"}]}',
    b'{"question": "q", "history": [{"role": "user", "text": "x", "CANARY-FIELD": 1}]}',
    b'{"question": "q", "include_personal": "CANARY-VALUE"}',
    b'{"question": "\\ud800"}',
    b'{"question": "\xff\xfe"}',
    b'{"question": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"question": "' + b"a" * 8_001 + b'"}',
]


@pytest.mark.parametrize("body", BAD_BODIES, ids=range(len(BAD_BODIES)))
async def test_a_body_that_does_not_fit_is_refused_without_an_echo(
    http: httpx.AsyncClient, doors: ScriptedDoors, body: bytes
) -> None:
    answer = await http.post("/api/ask", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    told = answer.json()
    assert set(told) == {"code", "message"}
    assert told["message"].endswith(".")
    assert "CANARY" not in answer.text
    assert doors.asked == []


async def test_a_body_over_a_megabyte_is_refused_announced_or_not(
    http: httpx.AsyncClient, doors: ScriptedDoors
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b'{"question": "'
        for _ in range(12):
            yield b"a" * 100_000
        yield b'"}'

    kind = {"Content-Type": "application/json"}
    announced = await http.post("/api/ask", content=b" " * 1_000_001, headers=kind)
    streamed = await http.post("/api/ask", content=pieces(), headers=kind)
    assert (announced.status_code, streamed.status_code) == (413, 413)
    assert announced.json()["code"] == "too_large"
    assert doors.asked == []


async def test_what_is_not_there_is_said_in_one_sentence(http: httpx.AsyncClient) -> None:
    lost = await http.get("/api/nothing")
    wrong = await http.get("/api/ask")
    docs = await http.get("/docs")
    assert [r.status_code for r in (lost, wrong, docs)] == [404, 405, 404]
    assert lost.json()["code"] == "not_found"


async def test_status_health_and_schema_are_served(http: httpx.AsyncClient) -> None:
    status = await http.get("/api/status")
    health = await http.head("/healthz")
    schema = (await http.get("/openapi.json")).json()
    start = await http.get("/")
    assert status.json()["notes"] == 1204
    assert health.status_code == 200
    assert set(schema["paths"]) == {
        "/api/ask",
        "/api/search",
        "/api/notes/{path}",
        "/api/related",
        "/api/status",
        "/api/events",
        "/api/session",
    }
    assert "text/event-stream" in schema["paths"]["/api/ask"]["post"]["responses"]["200"]["content"]
    assert start.headers["location"] == "/chat"
