"""`/api/notes/{path}` and `/api/related` from outside: which note a path names, what is refused, under which scope."""

from collections.abc import AsyncIterator
from urllib.parse import quote

import httpx
import pytest

from adapters.doors import ADMIN_KEY, NOTE, PATIENCE, RELATED, TOKEN, ScriptedDoors, serving
from vault_ask.answering.reading import Lines
from vault_ask.errors import NoSuchNote
from vault_ask.scope import OpenScope, PrivateScope, Sensitivity
from vault_ask.wire import NoteResponse, RelatedResponse

pytestmark = pytest.mark.anyio

OPEN, PRIVATE = OpenScope(web_allowed=False), PrivateScope()
ORIGINS = ("app://obsidian.md", "capacitor://localhost", "http://localhost")
NEVER = "Personal notes were left out: this address never includes them."


@pytest.fixture
def doors() -> ScriptedDoors:
    return ScriptedDoors()


@pytest.fixture
async def http(doors: ScriptedDoors) -> AsyncIterator[httpx.AsyncClient]:
    with serving(doors) as url:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            yield client


@pytest.fixture
async def open_http(doors: ScriptedDoors) -> AsyncIterator[httpx.AsyncClient]:
    with serving(doors, ceiling=Sensitivity.OPEN, token=TOKEN, admin_key=ADMIN_KEY) as url:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            client.headers["Authorization"] = f"Bearer {TOKEN}"
            yield client


PATHS = (
    "Rent.md",
    "Housing/Deep/Rent.md",
    "Möte åäö.md",
    "家賃/交渉.md",
    "עברית/הסכם.md",
    "🧑‍🌾.md",
    "100% sure? #1 & more;=+.md",
    "back\\slash.md",
    "%41.md",
    "trailing space .md",
    "status",
)


@pytest.mark.parametrize("path", PATHS)
async def test_a_path_arrives_as_the_vault_spells_it(http: httpx.AsyncClient, doors: ScriptedDoors, path: str) -> None:
    by_path = await http.get(f"/api/notes/{quote(path)}")
    wholly_encoded = await http.get(f"/api/notes/{quote(path, safe='')}")
    by_query = await http.get("/api/related", params={"path": path})
    assert [answer.status_code for answer in (by_path, wholly_encoded, by_query)] == [200, 200, 200]
    assert [asked for asked, *_ in (*doors.noted, *doors.neighboured)] == [path] * 3


async def test_a_note_and_what_is_near_it_are_messages_of_the_wire(http: httpx.AsyncClient) -> None:
    note = await http.get("/api/notes/Housing/Rent.md")
    related = await http.get("/api/related?path=Housing/Rent.md")
    assert NoteResponse.model_validate_json(note.content) == NOTE
    assert RelatedResponse.model_validate_json(related.content) == RELATED
    assert {answer.headers["cache-control"] for answer in (note, related)} == {"no-store"}


@pytest.mark.parametrize(
    ("query", "lines"),
    [("", Lines()), ("from=2", Lines(2)), ("to=3", Lines(None, 3)), ("from=2&to=2&since=9", Lines(2, 2))],
)
async def test_a_range_of_lines_is_passed_on(
    http: httpx.AsyncClient, doors: ScriptedDoors, query: str, lines: Lines
) -> None:
    assert (await http.get(f"/api/notes/Rent.md?{query}")).status_code == 200
    assert [asked for _, asked, _ in doors.noted] == [lines]


@pytest.mark.parametrize(
    "address",
    [
        "/api/notes/Rent.md?from=0",
        "/api/notes/Rent.md?from=-1",
        "/api/notes/Rent.md?to=1.5",
        "/api/notes/Rent.md?from=first",
        f"/api/notes/Rent.md?to={10**30}",
        "/api/notes/Rent.md?include_personal=perhaps",
        f"/api/notes/{'a' * 1_025}",
        "/api/related",
        "/api/related?path=Rent.md&k=0",
        "/api/related?path=Rent.md&k=51",
        "/api/related?path=Rent.md&include_personal=perhaps",
        f"/api/related?path={'a' * 1_025}",
        "/api/events?include_personal=perhaps",
    ],
)
async def test_what_does_not_fit_is_refused_in_a_sentence_that_repeats_nothing(
    http: httpx.AsyncClient, doors: ScriptedDoors, address: str
) -> None:
    refused = await http.get(address)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
    assert [word for word in ("perhaps", "aaaa", "first:", "1.5") if word in refused.text] == []
    assert (doors.noted, doors.neighboured, doors.followed) == ([], [], [])


async def test_personal_notes_take_part_where_they_are_asked_for_and_never_otherwise(
    http: httpx.AsyncClient, doors: ScriptedDoors
) -> None:
    for wanted in ("", "&include_personal=false", "&include_personal=true"):
        await http.get(f"/api/notes/Rent.md?from=1{wanted}")
        await http.get(f"/api/related?path=Rent.md{wanted}")
    assert [scope for *_, scope in doors.noted] == [OPEN, OPEN, PRIVATE]
    assert [(scope, k) for _, scope, k in doors.neighboured] == [(OPEN, 8), (OPEN, 8), (PRIVATE, 8)]


async def test_an_open_ceiling_is_widened_by_no_switch_and_no_key_and_says_so_where_it_can(
    open_http: httpx.AsyncClient, doors: ScriptedDoors
) -> None:
    for key in (TOKEN, ADMIN_KEY):
        headers = {"Authorization": f"Bearer {key}"}
        note = await open_http.get("/api/notes/Rent.md?include_personal=true", headers=headers)
        related = await open_http.get("/api/related?path=Rent.md&k=50&include_personal=true", headers=headers)
        assert note.json() == NOTE.model_dump(mode="json")
        assert related.json()["notices"] == [NEVER, *RELATED.notices]
    assert (await open_http.get("/api/related?path=Rent.md")).json()["notices"] == list(RELATED.notices)
    assert {scope for *_, scope in doors.noted} == {OPEN}
    assert {scope for _, scope, _ in doors.neighboured} == {OPEN}


async def test_a_note_that_cannot_be_shown_is_not_found(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    doors.note_error = NoSuchNote("No note at this path can be shown.")
    for address in ("/api/notes/Rent.md", "/api/notes/", "/api/related?path=Rent.md", "/api/related?path="):
        missing = await http.get(address)
        assert missing.status_code == 404
        assert missing.json() == {"code": "no_such_note", "message": "No note at this path can be shown."}


async def test_the_token_is_asked_for_before_any_path_is_looked_at(
    open_http: httpx.AsyncClient, doors: ScriptedDoors
) -> None:
    del open_http.headers["Authorization"]
    told = set()
    for address in ("/api/notes/Rent.md", "/api/notes/Nothing.md", "/api/related?path=Rent.md", "/api/related?k=99"):
        refused = await open_http.get(address)
        told.add((refused.status_code, refused.text))
    assert [status for status, _ in told] == [401]
    assert "token_needed" in next(iter(told))[1]
    assert (doors.noted, doors.neighboured) == ([], [])


async def test_the_three_apps_may_read_and_no_other_page(open_http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    asking = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    for address in ("/api/notes/Housing/Rent.md", "/api/related?path=Rent.md", "/api/events"):
        for origin in ORIGINS:
            allowed = await open_http.options(address, headers={"Origin": origin, **asking})
            assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (204, origin)
            assert "authorization" in allowed.headers["access-control-allow-headers"].casefold()
            assert "GET" in allowed.headers["access-control-allow-methods"]
        foreign = await open_http.options(address, headers={"Origin": "https://evil.example", **asking})
        assert (foreign.status_code, "access-control-allow-origin" in foreign.headers) == (403, False)
    read = await open_http.get("/api/notes/Rent.md", headers={"Origin": ORIGINS[0]})
    assert (read.status_code, read.headers["access-control-allow-origin"]) == (200, ORIGINS[0])
    page = await open_http.get("/api/notes/Rent.md", headers={"Origin": "https://evil.example"})
    assert "access-control-allow-origin" not in page.headers
    assert len(doors.noted) == 2


async def test_nothing_can_be_written_there(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        refused = await http.request(method, "/api/notes/Rent.md", json={})
        assert (refused.status_code, refused.json()["code"]) == (405, "wrong_method")
    assert doors.noted == []
