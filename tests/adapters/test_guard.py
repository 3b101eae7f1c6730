import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx
import pytest
from structlog.testing import capture_logs

from adapters.doors import TOKEN, ScriptedDoors
from vault_ask.adapters.auth import COOKIE
from vault_ask.adapters.http import make_http
from vault_ask.scope import Sensitivity
from vault_ask.settings.serving import ServerSettings

pytestmark = pytest.mark.anyio
EVIL = "https://evil.example"
APPS = ["app://obsidian.md", "capacitor://localhost", "http://localhost"]
QUESTION = {"question": "what is the rent?"}
BEARER = {"Authorization": f"Bearer {TOKEN}"}
JSON = {"Accept": "application/json"}
Clients = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def doors() -> ScriptedDoors:
    return ScriptedDoors()


@pytest.fixture
def client(doors: ScriptedDoors) -> Clients:
    @asynccontextmanager
    async def make(token: str | None = None, *, host: str = "127.0.0.1") -> AsyncIterator[httpx.AsyncClient]:
        app = make_http(doors, server=ServerSettings(host=host), ceiling=Sensitivity.PERSONAL, token=token)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8765") as opened:
            yield opened

    return make


async def test_on_loopback_without_a_token_a_program_may_ask(client: Clients, doors: ScriptedDoors) -> None:
    async with client() as http:
        answer = await http.post("/api/ask", json=QUESTION, headers=JSON)
        own = await http.get(
            "/api/status", headers={"Origin": "http://127.0.0.1:8765", "Sec-Fetch-Site": "same-origin"}
        )
    assert (answer.status_code, own.status_code) == (200, 200)
    assert len(doors.asked) == 1


@pytest.mark.parametrize("origin", [EVIL, "null", "http://127.0.0.1:3000", "http://localhost:8765", *APPS])
@pytest.mark.parametrize("headers", [{}, BEARER])
async def test_without_a_token_no_foreign_origin_may_ask(
    client: Clients, doors: ScriptedDoors, origin: str, headers: dict[str, str]
) -> None:
    async with client() as http:
        answer = await http.post("/api/ask", json=QUESTION, headers={"Origin": origin, **headers})
    assert answer.status_code == 403
    assert answer.json()["code"] == "foreign_origin"
    assert doors.asked == []


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_a_request_another_site_caused_is_refused_without_an_origin_too(client: Clients, site: str) -> None:
    async with client() as http:
        answer = await http.get("/api/search?q=rent", headers={"Sec-Fetch-Site": site})
        typed = await http.get("/api/search?q=rent", headers={"Sec-Fetch-Site": "none"})
    assert (answer.status_code, typed.status_code) == (403, 200)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "2130706433"])
async def test_a_rebound_name_is_refused_before_anything_runs(client: Clients, doors: ScriptedDoors, host: str) -> None:
    async with client() as http:
        answers = [
            await http.post("/api/ask", json=QUESTION, headers={"Host": host}),
            await http.get("/chat", headers={"Host": host}),
            await http.get("/openapi.json", headers={"Host": host, "Origin": f"http://{host}"}),
        ]
        health = await http.get("/healthz", headers={"Host": host})
    assert [a.status_code for a in answers] == [421, 421, 421]
    assert (health.status_code, health.json()) == (200, {"status": "ok"})
    assert doors.asked == []


async def test_with_a_token_everything_but_page_and_health_needs_it(client: Clients, doors: ScriptedDoors) -> None:
    paths = ["/api/status", "/api/search?q=x", "/openapi.json", "/api/nothing", "/docs", "/../x"]
    async with client(TOKEN) as http:
        closed = [(await http.get(path)).status_code for path in paths]
        asked = await http.post("/api/ask", json=QUESTION)
        free = [(await http.get(path)).status_code for path in ("/chat", "/healthz", "/")]
        opened = await http.get("/api/status", headers=BEARER)
    assert closed == [401] * len(paths)
    assert free == [200, 200, 307]
    assert (asked.status_code, opened.status_code) == (401, 200)
    assert doors.asked == []


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}x",
        f"Bearer x{TOKEN}",
        "Bearer é",
    ],
)
async def test_only_the_exact_token_opens(client: Clients, header: str) -> None:
    async with client(TOKEN) as http:
        refused = await http.get("/api/status", headers={"Authorization": header.encode()})
        opened = await http.get("/api/status", headers={"authorization": f"bearer  {TOKEN}"})
    assert refused.status_code == 401
    assert "note" not in refused.json()["message"].lower()
    assert opened.status_code == 200


async def test_a_refusal_says_the_same_whatever_was_asked_for(client: Clients) -> None:
    async with client(TOKEN) as http:
        one = await http.post("/api/ask", json={"question": "x", "note": "Private/Loan.md"})
        other = await http.get("/api/nothing-here")
    assert one.content == other.content


@pytest.mark.parametrize("origin", [EVIL, *APPS])
async def test_a_foreign_origin_needs_the_token_and_gets_in_with_it(client: Clients, origin: str) -> None:
    async with client(TOKEN) as http:
        without = await http.post("/api/ask", json=QUESTION, headers={"Origin": origin})
        answer = await http.post("/api/ask", json=QUESTION, headers={"Origin": origin, **BEARER, **JSON})
    assert (without.status_code, answer.status_code) == (401, 200)


@pytest.mark.parametrize("origin", APPS)
async def test_the_app_origins_are_echoed_exactly_and_asked_first_without_a_token(client: Clients, origin: str) -> None:
    ask_first = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
        "Access-Control-Request-Private-Network": "true",
    }
    async with client(TOKEN) as http:
        preflight = await http.options("/api/ask", headers=ask_first)
        bare = await http.options("/api/ask", headers={"Origin": origin})
        refused = await http.post("/api/ask", json=QUESTION, headers={"Origin": origin})
    assert (preflight.status_code, bare.status_code) == (204, 204)
    allowed = {h.strip().lower() for h in preflight.headers["access-control-allow-headers"].split(",")}
    assert allowed == {"authorization", "content-type", "last-event-id"}
    assert preflight.headers["access-control-allow-private-network"] == "true"
    assert "access-control-allow-private-network" not in bare.headers
    for response in (preflight, bare, refused):
        assert response.headers["access-control-allow-origin"] == origin
        assert "Origin" in response.headers["vary"]
        assert "access-control-allow-credentials" not in response.headers


@pytest.mark.parametrize("origin", [EVIL, "null", "app://obsidian.md.evil.example", "http://localhost:3000", "*"])
async def test_no_other_origin_gets_a_cors_header(client: Clients, origin: str) -> None:
    async with client(TOKEN) as http:
        responses = [
            await http.options("/api/ask", headers={"Origin": origin, "Access-Control-Request-Method": "POST"}),
            await http.post("/api/ask", json=QUESTION, headers={"Origin": origin, **BEARER}),
            await http.get("/healthz", headers={"Origin": origin}),
            await http.get("/chat", headers={"Origin": origin}),
        ]
    assert [r.status_code for r in responses] == [403, 200, 200, 200]
    assert [r for r in responses if any(name.startswith("access-control") for name in r.headers)] == []


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/plain;charset=UTF-8", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
@pytest.mark.parametrize("headers", [{}, BEARER])
async def test_a_body_no_preflight_guards_starts_no_answer(
    client: Clients, doors: ScriptedDoors, kind: str, headers: dict[str, str]
) -> None:
    async with client() as http:
        answer = await http.post("/api/ask", content=b'{"question": "x"}', headers={"Content-Type": kind, **headers})
    assert answer.status_code == 415
    assert doors.asked == []


@pytest.mark.parametrize(
    "query", [f"token={TOKEN}", f"api_key={TOKEN}", "ACCESS_TOKEN=x", f"q=rent&anything={TOKEN}", "q=a&token"]
)
@pytest.mark.parametrize("path", ["/api/search", "/api/ask", "/chat", "/healthz", "/nowhere"])
async def test_a_token_in_an_address_is_refused_and_never_logged(
    client: Clients, query: str, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), capture_logs() as logs:
        async with client(TOKEN) as http:
            caplog.clear()
            answer = await http.get(f"{path}?{query}", headers=BEARER)
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith("http")]
    assert answer.status_code == 400
    assert answer.json()["code"] == "token_in_url"
    assert TOKEN not in answer.text + str(logs) + str(ours)


async def test_the_page_signs_in_once_and_asks_with_its_cookie(client: Clients) -> None:
    own = {"Origin": "http://127.0.0.1:8765", "Sec-Fetch-Site": "same-origin"}
    async with client(TOKEN) as http:
        wrong = await http.post("/api/session", json={"token": "guess"}, headers=own)
        signed_in = await http.post("/api/session", json={"token": TOKEN}, headers=own)
        answer = await http.post("/api/ask", json=QUESTION, headers=own | JSON)
    assert (wrong.status_code, signed_in.status_code, answer.status_code) == (401, 204, 200)
    cookie = signed_in.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/api"))
    assert "secure" not in cookie
    assert TOKEN not in cookie


async def test_behind_https_the_cookie_stays_on_https(client: Clients) -> None:
    async with client(TOKEN) as http:
        signed_in = await http.post("/api/session", json={"token": TOKEN}, headers={"Origin": "https://127.0.0.1:8765"})
    assert "secure" in signed_in.headers["set-cookie"].lower()


@pytest.mark.parametrize(
    "headers",
    [{"Origin": EVIL}, {"Origin": "http://127.0.0.1:3000"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": APPS[0]}],
)
async def test_another_page_cannot_use_the_cookie_nor_get_one(client: Clients, headers: dict[str, str]) -> None:
    async with client(TOKEN) as http:
        await http.post("/api/session", json={"token": TOKEN})
        assert COOKIE in http.cookies
        forged = await http.post("/api/ask", json=QUESTION, headers=headers)
        session = await http.post("/api/session", json={"token": TOKEN}, headers=headers)
    assert (forged.status_code, session.status_code) == (401, 403)


async def test_there_is_nothing_to_sign_in_to_without_a_token(client: Clients) -> None:
    async with client() as http:
        answer = await http.post("/api/session", json={"token": "x"})
    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers


async def test_a_guesser_has_to_wait_at_both_doors(client: Clients) -> None:
    async with client(TOKEN) as http:
        guesses = [
            (await http.get("/api/status", headers={"Authorization": f"Bearer guess-{n}"})).status_code
            for n in range(6)
        ]
        blocked = await http.get("/api/status", headers=BEARER)
        session = await http.post("/api/session", json={"token": TOKEN})
    assert guesses == [401] * 6
    assert (blocked.status_code, session.status_code) == (429, 429)
    assert int(blocked.headers["retry-after"]) >= 1


async def test_every_answer_forbids_framing_sniffing_and_referrers(client: Clients) -> None:
    async with client(TOKEN) as http:
        responses = [
            await http.get("/chat"),
            await http.get("/api/status"),
            await http.get("/api/status", headers=BEARER),
            await http.get("/healthz"),
            await http.post("/api/ask", json=QUESTION, headers=BEARER),
            await http.get("/chat", headers={"Host": "evil.example"}),
        ]
    for response in responses:
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"
        assert "frame-ancestors 'none'" in response.headers["content-security-policy"]
        assert response.headers["cross-origin-resource-policy"] == "same-origin"
        assert response.headers["cache-control"] == "no-store"


async def test_the_page_may_run_its_own_script_alone(client: Clients) -> None:
    async with client() as http:
        page = await http.get("/chat")
        head = await http.head("/chat")
    policy = dict(part.strip().split(" ", 1) for part in page.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"].startswith("'sha256-")
    assert "unsafe" not in page.headers["content-security-policy"]
    assert policy["connect-src"] == "'self'"
    assert "http://" not in page.text.replace("http://www.w3.org/2000/svg", "")
    assert page.text.count("<script") == 1
    assert "innerHTML =" not in page.text
    assert head.status_code == 200
