"""What every web search must do, over the fake and all four real ones, which speak to a stand-in over a socket."""

import asyncio
import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import psutil  # type: ignore[import-untyped] # it ships no types
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import SecretStr

from fakes import CannedWeb
from vault_ask.answering.context import Context
from vault_ask.answering.evidence import WebPage
from vault_ask.answering.ports import WebSearch
from vault_ask.errors import WebFailed
from vault_ask.providers.brave import BraveSearch
from vault_ask.providers.duckduckgo import DuckDuckGoSearch
from vault_ask.providers.searxng import SearxngSearch
from vault_ask.providers.tavily import TavilySearch
from vault_ask.providers.web_pages import pages_of
from vault_ask.providers.web_requests import Reach, SearchServer
from vault_ask.retrieval.hits import Hit
from vault_ask.scope import OpenScope, Question, Sensitivity
from vault_ask.settings.models import WebSettings
from waiting import wait_until
from web_stand_in import WebStandIn

KEY = SecretStr("KEYCANARY-4711")
HERON = WebPage(title="Grey heron", url="https://birds.example.org/heron?lang=en", text="It eats fish and frogs.")
KILN = WebPage(title="Kiln", url="https://clay.example.org/kiln", text="A kiln fires clay at 1,000 °C.")
QUESTION = Question("  What do\n herons   eat in Åmål? ")
ASKED = "What do herons eat in Åmål?"


def server_of(stand_in: WebStandIn, name: str, path: str) -> SearchServer:
    return SearchServer(name=name, url=stand_in.url + path, reach=Reach.HOME)


REAL: dict[str, Callable[[WebStandIn, WebSettings], WebSearch]] = {
    "DuckDuckGo": lambda stand_in, web: DuckDuckGoSearch(web, server=server_of(stand_in, "DuckDuckGo", "/html/")),
    "Tavily": lambda stand_in, web: TavilySearch(KEY, web, server=server_of(stand_in, "Tavily", "/search")),
    "Brave Search": lambda stand_in, web: BraveSearch(
        KEY, web, server=server_of(stand_in, "Brave Search", "/res/v1/web/search")
    ),
    "SearXNG": lambda stand_in, web: SearxngSearch(web.model_copy(update={"searxng_url": stand_in.url})),
}
real = pytest.mark.parametrize("name", REAL)


@pytest.fixture
def stand_in() -> Iterator[WebStandIn]:
    with WebStandIn([(page.title, page.url, page.text) for page in (HERON, KILN)]) as running:
        yield running


def search_of(name: str, stand_in: WebStandIn, **web: Any) -> WebSearch:  # noqa: ANN401 - as settings are
    return REAL[name](stand_in, WebSettings(**web))


def beside(*hits: Hit[OpenScope]) -> Context[OpenScope]:
    return Context(hits)


def find(search: WebSearch, question: Question = QUESTION, *hits: Hit[OpenScope]) -> tuple[WebPage, ...]:
    return asyncio.run(search.search(question, beside=beside(*hits)))


def failure(search: WebSearch, question: Question = QUESTION) -> str:
    with pytest.raises(WebFailed) as caught:
        find(search, question)
    return str(caught.value)


@real
def test_pages_are_found_best_first(name: str, stand_in: WebStandIn) -> None:
    search = search_of(name, stand_in)
    assert find(search) == (HERON, KILN) == find(CannedWeb(HERON, KILN))
    assert search.name == name


@real
def test_nothing_found_is_a_fine_answer(name: str, stand_in: WebStandIn) -> None:
    stand_in.results = []
    assert find(search_of(name, stand_in)) == () == find(CannedWeb())
    assert stand_in.asked == [ASKED]


@real
def test_no_more_pages_come_than_were_set(name: str, stand_in: WebStandIn) -> None:
    stand_in.results = [(f"Page {n}", f"https://example.org/{n}", "Words.") for n in range(12)]
    assert [page.title for page in find(search_of(name, stand_in, results=3))] == ["Page 0", "Page 1", "Page 2"]


@real
def test_the_question_is_sent_once_as_it_was_typed_but_for_space(name: str, stand_in: WebStandIn) -> None:
    find(search_of(name, stand_in))
    assert stand_in.asked == [ASKED]
    assert stand_in.connections == 1


@real
def test_nothing_is_sent_but_the_question(name: str, stand_in: WebStandIn) -> None:
    context = (note("CANARYBODY grief", title="CANARYTITLE", path="CANARYFOLDER/x.md"),)
    find(search_of(name, stand_in), QUESTION, *context)
    (request,) = stand_in.received
    assert b"heron" in request.raw
    assert b"CANARYBODY" not in request.raw
    assert b"CANARYTITLE" not in request.raw
    assert b"CANARYFOLDER" not in request.raw
    assert request.headers.keys().isdisjoint({"cookie", "referer", "origin", "from", "x-forwarded-for"})


@real
def test_two_searches_cannot_be_told_to_be_of_one_person_by_a_cookie(name: str, stand_in: WebStandIn) -> None:
    stand_in.headers = {"Set-Cookie": "who=you; Max-Age=999999"}
    search = search_of(name, stand_in)
    find(search)
    find(search)
    assert len(stand_in.received) == 2
    assert [request.headers.get("cookie") for request in stand_in.received] == [None, None]


@real
@pytest.mark.parametrize("typed", ["[[ ]] \u200b **", "!!!", "???", "   ", "", "…\n—", "obsidian://open?vault=v"])
def test_a_question_without_words_is_not_sent(name: str, typed: str, stand_in: WebStandIn) -> None:
    with pytest.raises(WebFailed, match="no words that could be searched for") as caught:
        find(search_of(name, stand_in), Question(typed))
    assert not caught.value.sent
    assert (stand_in.connections, find(search_of(name, stand_in))) == (0, (HERON, KILN))


@real
def test_cancelling_ends_the_connection(name: str, stand_in: WebStandIn) -> None:
    stand_in.holding = True

    async def leave() -> None:
        search = asyncio.ensure_future(search_of(name, stand_in, timeout_seconds=60).search(QUESTION, beside=beside()))
        await asyncio.to_thread(wait_until, lambda: bool(stand_in.received))
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search
        assert await asyncio.to_thread(stand_in.hung_up.wait, 5)

    asyncio.run(leave())


def test_the_fake_is_cancelled_like_the_others() -> None:
    async def leave() -> None:
        web = CannedWeb(HERON, waits=True)
        search = asyncio.ensure_future(web.search(QUESTION, beside=beside()))
        await asyncio.wait_for(web.entered.wait(), 5)
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search
        assert web.left.is_set()

    asyncio.run(leave())


@real
@pytest.mark.parametrize("fault", ["holding", "dripping"])
def test_a_slow_server_is_given_up_in_time(name: str, fault: str, stand_in: WebStandIn) -> None:
    find(search_of(name, stand_in))  # so that what is loaded late is loaded
    setattr(stand_in, fault, True)
    began = time.monotonic()
    assert failure(search_of(name, stand_in, timeout_seconds=0.5)).startswith(f"{name} did not answer within 0.5 sec")
    assert 0.4 < time.monotonic() - began < 2
    assert stand_in.hung_up.wait(5)


@real
@pytest.mark.parametrize("status", [202, 204, 301, 302, 307, 400, 401, 402, 403, 404, 422, 429, 432, 500, 502, 503])
def test_a_refusal_is_told_in_a_sentence_without_question_or_key(name: str, status: int, stand_in: WebStandIn) -> None:
    stand_in.status, stand_in.body = status, b'{"error": "KEYCANARY-4711 may not ask What do herons eat"}'
    told = failure(search_of(name, stand_in))
    assert told.endswith(".")
    assert len(told) > 40
    assert "KEYCANARY" not in told
    assert "heron" not in told
    with pytest.raises(WebFailed) as caught:
        find(search_of(name, stand_in))
    assert caught.value.sent


@real
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(name: str, status: int, stand_in: WebStandIn) -> None:
    with WebStandIn() as elsewhere:
        stand_in.status, stand_in.headers = status, {"Location": elsewhere.url + "/html/"}
        assert "no redirect is followed" in failure(search_of(name, stand_in))
        assert (elsewhere.connections, len(stand_in.received)) == (0, 1)


HEAD = b"HTTP/1.1 200 OK\r\n"
FLOODS = {
    "body": (HEAD + b"\r\n", b" " * 60_000),
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n" * 9_000),
    "one header": (HEAD + b"X: ", b"x" * 60_000),
    "headers": (HEAD, b"X: xxxxxxxxxxxxxxxx\r\n" * 3_000),
    "beginnings": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2_000),
    "trailers": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n", b"X: x\r\n" * 9_000),
}


@pytest.mark.parametrize("name", ["DuckDuckGo", "Tavily"])  # the two clients
@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_ends_in_time_and_takes_no_room(name: str, flood: str, stand_in: WebStandIn) -> None:
    find(search_of(name, stand_in))
    stand_in.flood = FLOODS[flood]
    began, room = time.monotonic(), psutil.Process().memory_info().rss
    with pytest.raises(WebFailed) as caught:
        find(search_of(name, stand_in, timeout_seconds=0.5))
    assert caught.value.sent
    assert time.monotonic() - began < 3
    assert psutil.Process().memory_info().rss - room < 50_000_000


@cache
def packed() -> bytes:
    """Pack 300 MB of nothing."""
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(bytes(1_000_000)) for _ in range(300)) + packer.flush()


@real
def test_a_packed_answer_is_not_unpacked_beyond_any_answers_size(name: str, stand_in: WebStandIn) -> None:
    find(search_of(name, stand_in))
    stand_in.body = packed()
    stand_in.headers = {"Content-Encoding": "gzip"}
    room = psutil.Process().memory_info().rss
    assert failure(search_of(name, stand_in))
    assert psutil.Process().memory_info().rss - room < 50_000_000


@real
def test_a_flood_of_hostile_results_is_read_quickly_and_beside_the_loop(
    name: str, stand_in: WebStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = "<a b='" * 665
    stand_in.results = [(hostile, "https://example.org/", hostile)] * 45
    threads: list[int] = []

    def heard(*arguments: Any) -> tuple[WebPage, ...]:  # noqa: ANN401 - whatever it is given
        threads.append(threading.get_ident())
        return pages_of(*arguments)

    monkeypatch.setattr(f"{type(search_of(name, stand_in)).__module__}.pages_of", heard)
    began = time.monotonic()
    assert len(find(search_of(name, stand_in, results=4))) == 1
    assert time.monotonic() - began < 3
    assert threads
    assert threads[0] != threading.get_ident()


@real
@pytest.mark.parametrize(
    "snippet", ["Office <![foo[bar]]> text", "<![if !IE]>", "<!x", "<?", "</", "&#x110000;", "&#99999999999999999999;"]
)
def test_broken_markup_costs_no_answer(name: str, snippet: str, stand_in: WebStandIn) -> None:
    stand_in.results = [(f"Herons {snippet}", HERON.url, f"Fish {snippet}")]
    (page,) = find(search_of(name, stand_in))
    assert page.title.startswith("Herons")
    assert page.text.startswith("Fish")


@real
def test_an_answer_without_end_is_not_read_to_its_end(name: str, stand_in: WebStandIn) -> None:
    stand_in.body = b"{}" + b" " * 3_000_000
    assert "more than a search's answer can be" in failure(search_of(name, stand_in))


@real
def test_a_server_that_is_not_there_is_a_failed_search(name: str) -> None:
    with WebStandIn() as gone:
        search = search_of(name, gone)
    with pytest.raises(WebFailed, match="could not be reached") as caught:
        find(search)
    assert not caught.value.sent


@real
def test_an_answer_cut_short_is_a_failed_search(name: str, stand_in: WebStandIn) -> None:
    stand_in.body, stand_in.headers = b"<html>", {"Transfer-Encoding": "chunked"}
    with pytest.raises(WebFailed) as caught:
        find(search_of(name, stand_in))
    assert caught.value.sent


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("https://a.example/x"),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["results", "web", "title", "url", "content", "type"]), inner, max_size=5)
    ),
    max_leaves=12,
)
ODD_BODIES = st.binary(max_size=200) | st.sampled_from(
    [b"[" * 200_000, b"\xff\xfe", b"<html><body>No", b"null", b"1e999"]
)


@real
@hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(answer=JSON | ODD_BODIES)
def test_whatever_is_answered_gives_pages_or_a_failed_search(name: str, answer: Any, stand_in: WebStandIn) -> None:  # noqa: ANN401
    stand_in.body = answer if isinstance(answer, bytes) else json.dumps(answer).encode("utf-8", "surrogatepass")
    try:
        pages = find(search_of(name, stand_in))
    except WebFailed:
        return
    assert all(page.url.startswith("https://") for page in pages)


@pytest.mark.parametrize("name", ["Tavily", "Brave Search", "SearXNG"])
@pytest.mark.parametrize("oddity", [None, 7, "text", [], {}, {"title": {}}, {"url": "javascript:alert(1)"}])
def test_a_result_that_is_none_costs_only_itself(name: str, oddity: object, stand_in: WebStandIn) -> None:
    fields = {"title": KILN.title, "url": KILN.url, "content": KILN.text, "description": KILN.text}
    results = [oddity, fields]
    stand_in.body = json.dumps({"type": "search", "results": results, "web": {"results": results}}).encode()
    assert find(search_of(name, stand_in)) == (KILN,)


@real
def test_no_log_holds_the_question_or_the_key(
    name: str, stand_in: WebStandIn, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(0):
        find(search_of(name, stand_in))
        stand_in.body = b"no"
        failure(search_of(name, stand_in))
    said = caplog.text + "".join(capfd.readouterr())
    assert len(caplog.records) > 0
    assert "heron" not in said
    assert "KEYCANARY" not in said


def note(body: str, *, title: str, path: str) -> Hit[OpenScope]:
    return Hit(
        chunk_id=1,
        path=path,
        title=title,
        heading_path=(title,),
        block=None,
        body=body,
        line_start=1,
        line_end=1,
        tokens=3,
        language="en",
        sensitivity=Sensitivity.OPEN,
        score=1.0,
        provenance="both",
    )
