"""The owner's key: it lets in like the token, has the status name notes, and widens nothing else."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx
import pytest

from adapters.doors import ADMIN_KEY, PATIENCE, TOKEN, ScriptedDoors, serving
from vault_ask.adapters.auth import COOKIE
from vault_ask.adapters.http import make_http
from vault_ask.errors import ConfigError, KeyNotSet
from vault_ask.scope import OpenScope, Sensitivity
from vault_ask.settings.serving import ServerSettings

pytestmark = pytest.mark.anyio
OWNER = {"Authorization": f"Bearer {ADMIN_KEY}"}
CALLER = {"Authorization": f"Bearer {TOKEN}"}
OWN = {"Origin": "http://127.0.0.1:8765", "Sec-Fetch-Site": "same-origin"}
OPEN, PERSONAL = Sensitivity.OPEN, Sensitivity.PERSONAL
Clients = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def doors() -> ScriptedDoors:
    return ScriptedDoors()


@pytest.fixture
def client(doors: ScriptedDoors) -> Clients:
    @asynccontextmanager
    async def make(token: str | None = TOKEN, key: str | None = ADMIN_KEY) -> AsyncIterator[httpx.AsyncClient]:
        app = make_http(doors, server=ServerSettings(), ceiling=OPEN, token=token, admin_key=key)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as opened:
            yield opened

    return make


async def status(http: httpx.AsyncClient, headers: dict[str, str]) -> int:
    return (await http.get("/api/status", headers=headers)).status_code


async def test_under_an_open_ceiling_the_owner_is_told_of_all_notes_and_others_of_open_ones(
    client: Clients, doors: ScriptedDoors
) -> None:
    async with client() as http:
        codes = [await status(http, headers) for headers in (CALLER, OWNER, CALLER)]
    assert codes == [200, 200, 200]
    assert doors.told == [OPEN, PERSONAL, OPEN]


async def test_the_events_are_told_by_the_same_rule(doors: ScriptedDoors) -> None:
    with serving(doors, token=TOKEN, admin_key=ADMIN_KEY, ceiling=OPEN) as url:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
            for headers in (CALLER, OWNER):
                async with http.stream("GET", "/api/events", headers=headers) as stream:
                    assert await anext(stream.aiter_lines()) == "event: index"
    assert doors.followed == [OPEN, PERSONAL]


async def test_the_key_widens_no_answer_and_no_search(client: Clients, doors: ScriptedDoors) -> None:
    async with client() as http:
        asked = await http.post("/api/ask", json={"question": "q", "include_personal": True}, headers=OWNER)
        by_body = await http.post("/api/search", json={"query": "q", "include_personal": True}, headers=OWNER)
        by_address = await http.get("/api/search?q=q&include_personal=true", headers=OWNER)
    assert (asked.status_code, by_body.status_code, by_address.status_code) == (200, 200, 200)
    assert doors.asked[0].scope == OpenScope(web_allowed=False)
    assert [scope for _, scope, *_ in doors.searched] == [OpenScope(web_allowed=False)] * 2


async def test_without_a_token_asking_stays_open_and_a_key_that_is_shown_has_to_be_right(
    client: Clients, doors: ScriptedDoors
) -> None:
    basic = {"Authorization": "Basic dXNlcjpwYXNz"}
    async with client(token=None) as http:
        codes = [await status(http, headers) for headers in ({}, OWNER, CALLER, basic, {})]
        foreign = await http.get("/api/status", headers={"Origin": "https://evil.example"})
        asked = await http.post("/api/ask", json={"question": "q"})
    assert codes == [200, 200, 401, 200, 200]
    assert doors.told == [OPEN, PERSONAL, OPEN, OPEN]
    assert (foreign.status_code, asked.status_code) == (403, 200)


@pytest.mark.parametrize("token", [TOKEN, None])
async def test_guessing_the_key_makes_wait_also_who_shows_the_token_in_between(
    client: Clients, doors: ScriptedDoors, token: str | None
) -> None:
    between = CALLER if token else {}
    async with client(token) as http:
        codes = []
        for guess in range(6):
            codes += [
                await status(http, {"Authorization": f"Bearer guess-{guess}"}),
                await status(http, between) if guess < 5 else 200,
            ]
        waiting = await http.get("/api/status", headers=OWNER)
        session = await http.post("/api/session", json={"token": ADMIN_KEY}, headers=OWN)
    assert codes == [401, 200] * 6
    assert (waiting.status_code, session.status_code) == (429, 429)
    assert int(waiting.headers["retry-after"]) >= 1
    assert PERSONAL not in doors.told


async def test_an_address_tells_no_guesser_whether_a_word_in_it_is_a_secret(client: Clients) -> None:
    async with client() as http:
        answers = [await http.get(f"/api/status?a={word}") for word in (TOKEN, ADMIN_KEY, "guess")]
        inside = [await http.get(f"/api/search?q={word}", headers=CALLER) for word in (ADMIN_KEY, "guess")]
        shown = await http.get(f"/api/search?q={ADMIN_KEY}", headers=OWNER)
    assert len({(answer.status_code, answer.content) for answer in answers}) == 1
    assert answers[0].status_code == 401
    assert [answer.status_code for answer in inside] == [200, 200]
    assert (shown.status_code, shown.json()["code"]) == (400, "token_in_url")


@pytest.mark.parametrize("name", ["admin_key", "ADMIN_API_KEY", "vaultask_admin_api_key"])
async def test_the_key_in_an_address_is_refused_under_any_name_it_may_have(client: Clients, name: str) -> None:
    async with client() as http:
        answer = await http.get(f"/api/status?{name}=x", headers=CALLER)
    assert (answer.status_code, answer.json()["code"]) == (400, "token_in_url")


@pytest.mark.parametrize(("secret", "told"), [(ADMIN_KEY, PERSONAL), (TOKEN, OPEN)])
async def test_a_session_is_told_what_the_secret_it_was_traded_for_is_told(
    client: Clients, doors: ScriptedDoors, secret: str, told: Sensitivity
) -> None:
    async with client() as http:
        signed_in = await http.post("/api/session", json={"token": f" {secret} "}, headers=OWN)
        assert signed_in.status_code == 204
        assert secret not in signed_in.headers["set-cookie"]
        assert await status(http, OWN) == 200
        foreign = await http.get("/api/status", headers={"Sec-Fetch-Site": "same-site"})
        asked = await http.post("/api/ask", json={"question": "q", "include_personal": True}, headers=OWN)
    assert (foreign.status_code, asked.status_code) == (401, 200)
    assert doors.told == [told]
    assert doors.asked[0].scope == OpenScope(web_allowed=False)


async def test_a_wrong_header_is_not_saved_by_the_owners_cookie(client: Clients, doors: ScriptedDoors) -> None:
    async with client() as http:
        await http.post("/api/session", json={"token": ADMIN_KEY}, headers=OWN)
        assert COOKIE in http.cookies
        assert await status(http, OWN | CALLER) == 200
        assert await status(http, OWN | {"Authorization": "Bearer wrong"}) == 401
    assert doors.told == [OPEN]


async def test_without_a_token_the_owner_may_sign_in_and_another_page_gains_nothing_by_it(
    client: Clients, doors: ScriptedDoors
) -> None:
    async with client(token=None) as http:
        assert (await http.post("/api/session", json={"token": "guess"}, headers=OWN)).status_code == 401
        assert (await http.post("/api/session", json={"token": ADMIN_KEY}, headers=OWN)).status_code == 204
        codes = [await status(http, headers) for headers in (OWN, {"Sec-Fetch-Site": "same-site"})]
    assert codes == [200, 403]
    assert doors.told == [PERSONAL]


@pytest.mark.parametrize("blank", [None, "", "  "])
async def test_a_blank_key_is_none(client: Clients, doors: ScriptedDoors, blank: str | None) -> None:
    async with client(token=None, key=blank) as http:
        codes = [await status(http, {"Authorization": f"Bearer {shown}"}) for shown in ("", "None", ADMIN_KEY)]
        session = await http.post("/api/session", json={"token": "x"}, headers=OWN)
    assert codes == [200, 200, 200]
    assert doors.told == [OPEN] * 3
    assert session.status_code == 400


def test_the_key_is_no_token_and_must_not_be_the_same(doors: ScriptedDoors) -> None:
    with pytest.raises(ConfigError, match="are the same"):
        make_http(doors, server=ServerSettings(), ceiling=OPEN, token=TOKEN, admin_key=f" {TOKEN} ")
    with pytest.raises(KeyNotSet, match="VAULTASK_API_TOKEN"):
        make_http(doors, server=ServerSettings(host="192.168.1.5"), ceiling=OPEN, token=None, admin_key=ADMIN_KEY)
