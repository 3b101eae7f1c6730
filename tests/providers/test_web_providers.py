"""What is particular to one provider; what all must do is in tests/contracts/test_web_search.py."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

import psutil  # type: ignore[import-untyped] # it ships no types
import pytest
from pydantic import SecretStr

from vault_ask.answering.context import Context
from vault_ask.answering.evidence import WebPage
from vault_ask.answering.ports import WebSearch
from vault_ask.errors import ConfigError, KeyNotSet, WebFailed
from vault_ask.providers.brave import BRAVE, BraveSearch
from vault_ask.providers.duckduckgo import DUCKDUCKGO, DuckDuckGoSearch, _engine
from vault_ask.providers.searxng import SearxngSearch
from vault_ask.providers.tavily import TAVILY, TavilySearch
from vault_ask.providers.web import make_web
from vault_ask.providers.web_requests import Reach, SearchServer
from vault_ask.scope import Question
from vault_ask.settings import Settings
from vault_ask.settings.models import WebSettings
from waiting import wait_until
from web_stand_in import WebStandIn, own_certificate

RESULT = ("Grey heron", "https://birds.example.org/heron", "It eats fish.")
PAGE = WebPage(title=RESULT[0], url=RESULT[1], text=RESULT[2])
KEY = SecretStr("key-4711")


@pytest.fixture
def stand_in() -> Iterator[WebStandIn]:
    with WebStandIn([RESULT]) as running:
        yield running


def find(search: WebSearch) -> tuple[WebPage, ...]:
    return asyncio.run(search.search(Question("what do herons eat"), beside=Context(())))


def failure(search: WebSearch) -> str:
    with pytest.raises(WebFailed) as caught:
        find(search)
    return str(caught.value)


def near(stand_in: WebStandIn, like: SearchServer, path: str) -> SearchServer:
    return SearchServer(name=like.name, url=stand_in.url + path, reach=Reach.HOME, hints=like.hints)


def duckduckgo(stand_in: WebStandIn, **web: float) -> DuckDuckGoSearch:
    return DuckDuckGoSearch(WebSettings(**web), server=near(stand_in, DUCKDUCKGO, "/html/"))  # type: ignore[arg-type]


def searxng(stand_in: WebStandIn) -> SearxngSearch:
    return SearxngSearch(WebSettings(searxng_url=stand_in.url))


class TestTavily:
    def test_it_is_told_the_question_and_how_many_pages(self, stand_in: WebStandIn) -> None:
        find(TavilySearch(KEY, WebSettings(results=3), server=near(stand_in, TAVILY, "/search")))
        (request,) = stand_in.received
        assert json.loads(request.body) == {"query": "what do herons eat", "search_depth": "basic", "max_results": 3}
        assert request.headers["authorization"] == "Bearer key-4711"

    @pytest.mark.parametrize("status", [401, 403])
    def test_a_refused_key_is_named_by_its_variable(self, status: int, stand_in: WebStandIn) -> None:
        stand_in.status = status
        search = TavilySearch(KEY, WebSettings(), server=near(stand_in, TAVILY, "/search"))
        assert "VAULTASK_TAVILY_API_KEY" in failure(search)


class TestBrave:
    def test_it_is_told_the_question_and_no_country(self, stand_in: WebStandIn) -> None:
        find(BraveSearch(KEY, WebSettings(results=3), server=near(stand_in, BRAVE, "/res/v1/web/search")))
        (request,) = stand_in.received
        assert request.target == (
            "/res/v1/web/search?q=what+do+herons+eat&count=8&country=ALL&result_filter=web&text_decorations=false"
        )
        assert request.headers["x-subscription-token"] == "key-4711"

    @pytest.mark.parametrize("status", [401, 403, 422])
    def test_a_refused_key_is_named_by_its_variable(self, status: int, stand_in: WebStandIn) -> None:
        stand_in.status = status
        search = BraveSearch(KEY, WebSettings(), server=near(stand_in, BRAVE, "/res/v1/web/search"))
        assert "VAULTASK_BRAVE_API_KEY" in failure(search)


class TestSearxng:
    def test_the_question_stands_in_no_address_that_a_log_could_keep(self, stand_in: WebStandIn) -> None:
        assert find(searxng(stand_in)) == (PAGE,)
        (request,) = stand_in.received
        assert (request.target, request.body) == ("/search", b"q=what+do+herons+eat&format=json")

    def test_a_server_without_json_says_how_to_turn_it_on(self, stand_in: WebStandIn) -> None:
        stand_in.status = 403
        assert "`formats: [html, json]`" in failure(searxng(stand_in))
        stand_in.status, stand_in.body = 200, b"<!DOCTYPE html><html>"
        assert "`search.formats` in its settings.yml must hold json" in failure(searxng(stand_in))

    def test_its_limiter_is_told_of(self, stand_in: WebStandIn) -> None:
        stand_in.status = 429
        assert "limiter" in failure(searxng(stand_in))

    def test_engines_that_did_not_answer_are_no_empty_web(self, stand_in: WebStandIn) -> None:
        stand_in.body = b'{"results": [], "unresponsive_engines": [["duckduckgo", "CAPTCHA"]]}'
        assert "engines of its did not answer" in failure(searxng(stand_in))

    def test_an_address_in_any_script_can_be_asked(self, stand_in: WebStandIn) -> None:
        assert find(SearxngSearch(WebSettings(searxng_url=f"{stand_in.url}/sök"))) == (PAGE,)
        assert [request.target for request in stand_in.received] == ["/s%C3%B6k/search"]
        assert "could not be looked up" in failure(SearxngSearch(WebSettings(searxng_url="http://bücher.invalid")))

    @pytest.mark.parametrize("url", ["http://nas.local:99999", "http://nas.local:x", f"http://{'ü' * 70}.local"])
    def test_an_address_that_is_none_is_refused_at_the_start(self, url: str) -> None:
        with pytest.raises(ConfigError) as caught:
            SearxngSearch(WebSettings(searxng_url=url))
        assert str(caught.value) == "web.searxng_url is no address. Write it like http://nas.local:8080."

    @pytest.mark.parametrize(
        ("url", "home"),
        [
            ("http://127.0.0.1:8080", True),
            ("http://searxng:8080", True),
            ("http://nas.local", True),
            ("https://192.168.1.4/searx", True),
            ("https://search.example.org", False),
            ("https://1.1.1.1", False),
        ],
    )
    def test_a_public_name_may_be_anybodys(self, url: str, *, home: bool) -> None:
        search = SearxngSearch(WebSettings(searxng_url=url))
        assert search.keeps_question_home is home
        assert search._server.reach is (Reach.HOME if home else Reach.ANYWHERE)


class TestDuckDuckGo:
    def test_it_is_told_the_question_and_no_region(self, stand_in: WebStandIn) -> None:
        assert find(duckduckgo(stand_in)) == (PAGE,)
        (request,) = stand_in.received
        assert (request.target, sorted(request.body.split(b"&"))) == (
            "/html/",
            [b"b=", b"l=wt-wt", b"q=what+do+herons+eat"],
        )

    def test_addresses_are_taken_as_they_stand_on_the_page(self, stand_in: WebStandIn) -> None:
        kept = "https://example.org/a%20b%2Fc?q=x%26y"
        detour = f"//duckduckgo.com/l/?uddg={kept.replace('%', '%25').replace('&', '%26')}1&rut=abc"
        stand_in.results = [("One", kept, "Text."), ("Two", detour, "The <nav> element")]
        pages = find(duckduckgo(stand_in))
        assert [(page.url, page.text) for page in pages] == [(kept, "Text."), (kept + "1", "The ‹nav› element")]

    def test_adverts_are_left_out(self, stand_in: WebStandIn) -> None:
        stand_in.results = [("Buy herons", "https://duckduckgo.com/y.js?ad_domain=x", "Cheap."), RESULT]
        assert find(duckduckgo(stand_in)) == (PAGE,)

    def test_markup_in_a_title_is_text(self, stand_in: WebStandIn) -> None:
        title = escape("<script>alert(1)</script>")
        body = f'<html><div class="body"><h2>{title}</h2><a href="{RESULT[1]}">x</a></div>'
        stand_in.body = body.encode()
        (page,) = find(duckduckgo(stand_in))
        assert page.title == "‹script›alert(1)‹/script›"

    @pytest.mark.parametrize("status", [202, 400, 403])
    def test_being_taken_for_a_robot_is_told_of(self, status: int, stand_in: WebStandIn) -> None:
        stand_in.status = status
        assert "takes vault-ask for a robot" in failure(duckduckgo(stand_in))

    def test_a_riddle_for_robots_is_no_empty_web(self, stand_in: WebStandIn) -> None:
        stand_in.body = b'<html>DuckDuckGo<div class="anomaly-modal__title">Unfortunately, bots</div>'
        assert "takes vault-ask for a robot" in failure(duckduckgo(stand_in))

    @pytest.mark.parametrize("body", [b"", b"<html>Welcome to the hotel", b"\xff\x00", b"<?xml version='1.0'?>"])
    def test_a_page_of_somebody_else_is_no_empty_web(self, body: bytes, stand_in: WebStandIn) -> None:
        stand_in.body = body
        assert "is not what it should be" in failure(duckduckgo(stand_in))

    @pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "PRIMP_PROXY"])
    def test_no_proxy_is_given_the_question(
        self, name: str, stand_in: WebStandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with WebStandIn() as proxy:
            monkeypatch.setenv(name, proxy.url)
            with pytest.raises(WebFailed, match="names a proxy") as caught:
                find(duckduckgo(stand_in))
            assert not caught.value.sent
            assert (proxy.connections, stand_in.connections) == (0, 0)
            if name != "PRIMP_PROXY":
                monkeypatch.setenv("NO_PROXY", "127.0.0.1")
                assert find(duckduckgo(stand_in)) == (PAGE,)
                assert proxy.connections == 0

    def test_a_ddgs_that_gave_it_up_is_told_of_and_asks_nobody_else(
        self, stand_in: WebStandIn, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        _engine.cache_clear()
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "ddgs.engines.duckduckgo", None)
            with pytest.raises(WebFailed, match="The installed ddgs knows DuckDuckGo no more") as caught:
                find(duckduckgo(stand_in))
            assert not caught.value.sent
        assert (stand_in.connections, find(duckduckgo(stand_in))) == (0, (PAGE,))

    def test_a_certificate_of_nobody_known_is_given_no_question(self, tmp_path: Path) -> None:
        with WebStandIn([RESULT], tls=own_certificate(tmp_path)) as stranger:
            url = stranger.url.replace("http:", "https:") + "/html/"
            server = SearchServer(name="DuckDuckGo", url=url, reach=Reach.HOME)
            with pytest.raises(WebFailed) as caught:
                find(DuckDuckGoSearch(WebSettings(), server=server))
            assert not caught.value.sent
            assert (stranger.connections, stranger.received) == (1, [])

    @pytest.mark.parametrize(
        "inside",
        ["<h2><a href=https://example.org/>" + "y<b></b>" * 100_000, "<a href=x>" + "&amp;" * 180_000],
        ids=["pieces", "marks"],
    )
    def test_a_page_that_holds_itself_in_each_result_is_read_quickly(self, inside: str, stand_in: WebStandIn) -> None:
        find(duckduckgo(stand_in))
        stand_in.body = ("DuckDuckGo" + "<div class=body>" * 100 + inside).encode()
        room = psutil.Process().memory_info().rss
        assert find(duckduckgo(stand_in, timeout_seconds=2)) == ()
        assert psutil.Process().memory_info().rss - room < 80_000_000

    def test_searches_that_are_given_up_leave_no_threads(self, stand_in: WebStandIn) -> None:
        find(duckduckgo(stand_in))  # starts the threads that primp shares among all its clients
        stand_in.holding = True
        before = psutil.Process().num_threads()
        for _ in range(10):
            stand_in.hung_up.clear()
            failure(duckduckgo(stand_in, timeout_seconds=0.1))
            assert stand_in.hung_up.wait(5)
        assert len(stand_in.received) == 11
        wait_until(lambda: psutil.Process().num_threads() <= before)


class TestChoice:
    def settings(self, **web: object) -> Settings:
        keys = {name: web.pop(name) for name in ("tavily_api_key", "brave_api_key") if name in web}
        return Settings(web=WebSettings(enabled=True, **web), **keys)  # type: ignore[arg-type]

    def test_there_is_none_unless_the_web_is_on(self) -> None:
        assert make_web(Settings(web=WebSettings(provider="tavily"))) is None
        made = make_web(self.settings())
        assert made is not None
        assert made.name == "DuckDuckGo"

    @pytest.mark.parametrize(
        ("web", "name", "home"),
        [
            ({"provider": "duckduckgo"}, "DuckDuckGo", False),
            ({"provider": "tavily", "tavily_api_key": "k"}, "Tavily", False),
            ({"provider": "brave", "brave_api_key": " k\n"}, "Brave Search", False),
            ({"provider": "searxng", "searxng_url": "http://nas.local:8080"}, "SearXNG", True),
        ],
    )
    def test_each_provider_says_its_name_and_whether_the_question_stays(
        self, web: dict[str, object], name: str, *, home: bool
    ) -> None:
        made = make_web(self.settings(**web))
        assert made is not None
        assert (made.name, made.keeps_question_home) == (name, home)

    @pytest.mark.parametrize("provider", ["tavily", "brave"])
    @pytest.mark.parametrize("key", [None, "", "  \n"])
    def test_a_service_without_its_key_is_refused(self, provider: str, key: str | None) -> None:
        with pytest.raises(KeyNotSet) as caught:
            make_web(self.settings(provider=provider, **{f"{provider}_api_key": key}))
        assert str(caught.value) == (
            f"`{provider}` has no API key, so it would return nothing. Set VAULTASK_{provider.upper()}_API_KEY and "
            "restart."
        )

    @pytest.mark.parametrize("key", ["kéy", "a\nb", "a\x00b"])
    def test_a_key_that_could_not_be_sent_is_refused_at_once(self, key: str) -> None:
        with pytest.raises(KeyNotSet) as caught:
            make_web(self.settings(provider="brave", brave_api_key=key))
        assert "VAULTASK_BRAVE_API_KEY" in str(caught.value)
        assert key not in str(caught.value)

    def test_making_one_loads_no_client(self) -> None:
        program = (
            "import sys; from vault_ask.providers.web import make_web; from vault_ask.settings import Settings; "
            "make_web(Settings(web={'enabled': True})); print(sorted({'ddgs', 'primp', 'lxml'} & sys.modules.keys()))"
        )
        run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert run.stdout.strip() == "[]"
