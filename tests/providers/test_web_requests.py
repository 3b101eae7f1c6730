import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vault_ask.errors import WebFailed
from vault_ask.providers.web_requests import Outing, Reach, SearchServer, addresses_of, ask, within
from web_stand_in import WebStandIn, own_certificate


@pytest.fixture
def stand_in() -> Iterator[WebStandIn]:
    with WebStandIn() as running:
        yield running


def server(url: str, reach: Reach = Reach.HOME) -> SearchServer:
    return SearchServer(name="Finder", url=url, reach=reach, remedy="Look at it.")


async def asking(to: SearchServer, **request: Any) -> bytes:  # noqa: ANN401 - as `ask` takes it
    return await ask(to, Outing(), **request)


def left(to: SearchServer, seconds: float = 5) -> bool:
    """Ask in vain, and say whether the question may have left."""

    async def in_vain() -> None:
        async with within(to, seconds) as outing:
            await ask(to, outing, form={"q": "heron"})

    with pytest.raises(WebFailed) as caught:
        asyncio.run(in_vain())
    return caught.value.sent


def sent(to: SearchServer) -> str:
    """Ask, and give the sentence that it failed with."""
    with pytest.raises(WebFailed) as caught:
        asyncio.run(asking(to, form={"q": "heron"}))
    return str(caught.value)


def test_a_service_whose_name_leads_home_is_not_connected_to(stand_in: WebStandIn) -> None:
    told = sent(server(stand_in.url + "/search", Reach.PUBLIC))
    assert told.startswith("The name of Finder leads to a machine that cannot be it, so nothing was sent there.")
    assert stand_in.connections == 0
    asyncio.run(asking(server(stand_in.url + "/search", Reach.ANYWHERE), form={"q": "heron"}))
    assert stand_in.asked == ["heron"]


@pytest.mark.parametrize("address", ["http://1.1.1.1", "http://[2606:4700:4700::1111]", "https://8.8.8.8:8080"])
def test_a_server_at_home_whose_name_leads_out_is_not_connected_to(address: str) -> None:
    assert "web.searxng_url" in sent(server(address + "/search"))


@pytest.mark.parametrize("host", ["10.1.2.3", "[fd00::1]", "127.0.0.1", "100.64.0.1", "[fe80::1]", "169.254.169.254"])
def test_where_a_server_must_be_is_looked_at_in_its_addresses(host: str) -> None:
    plain = host.strip("[]")
    assert asyncio.run(addresses_of(server(f"http://{host}/search"))) == (plain,)
    with pytest.raises(WebFailed):
        asyncio.run(addresses_of(server(f"http://{host}/search", Reach.PUBLIC)))
    assert asyncio.run(addresses_of(server("http://9.9.9.9/search", Reach.PUBLIC))) == ("9.9.9.9",)


def test_a_name_of_several_addresses_is_tried_at_each(stand_in: WebStandIn) -> None:
    # `localhost` is ::1 too on most machines, where the stand-in does not listen.
    asyncio.run(asking(server(f"http://localhost:{stand_in.port}/search"), form={"q": "heron"}))
    assert stand_in.asked == ["heron"]


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "x" * 70 + ".example"])
def test_a_name_that_cannot_be_looked_up_is_a_failed_search(host: str) -> None:
    assert sent(server(f"http://{host}/")) == "The name of Finder could not be looked up. Look at it."


def test_proxies_and_passwords_of_the_environment_are_not_used(
    stand_in: WebStandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password CANARY\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with WebStandIn() as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        asyncio.run(asking(server(stand_in.url + "/search"), form={"q": "heron"}))
        assert proxy.connections == 0
    (request,) = stand_in.received
    assert request.question == "heron"
    assert "authorization" not in request.headers


def test_a_request_holds_what_is_written_here_and_nothing_else(stand_in: WebStandIn) -> None:
    asyncio.run(asking(server(stand_in.url + "/search"), form={"q": "heron & kiln"}, headers={"X-Key": "k"}))
    (request,) = stand_in.received
    assert request.target == "/search"
    assert request.body == b"q=heron+%26+kiln"
    assert request.headers == {
        "host": f"127.0.0.1:{stand_in.port}",
        "user-agent": "vault-ask",
        "accept": "application/json",
        "accept-encoding": "identity",
        "content-type": "application/x-www-form-urlencoded",
        "content-length": "16",
        "x-key": "k",
    }


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (302, "no redirect is followed. Look at it."),
        (402, "used up"),
        (404, "did not accept the request (HTTP 404). Look at it."),
        (429, "asked too often"),
        (432, "used up"),
        (503, "trouble of its own (HTTP 503)"),
    ],
)
def test_each_refusal_says_what_it_means(status: int, words: str, stand_in: WebStandIn) -> None:
    stand_in.status = status
    assert words in sent(server(stand_in.url))


def test_a_sentence_of_the_providers_own_comes_first(stand_in: WebStandIn) -> None:
    stand_in.status = 403
    hinted = SearchServer(name="Finder", url=stand_in.url, reach=Reach.HOME, hints={403: "Turn JSON on."})
    assert sent(hinted) == "Turn JSON on."


def test_a_certificate_of_nobody_known_ends_the_search(stand_in: WebStandIn, tmp_path: Path) -> None:
    stand_in.tls = own_certificate(tmp_path)
    told = sent(server(stand_in.url.replace("http:", "https:")))
    assert told == "The certificate of Finder is not one this machine trusts. Look at it."
    assert (stand_in.connections, stand_in.received) == (1, [])


def test_a_question_that_met_nobody_has_not_left(tmp_path: Path) -> None:
    with WebStandIn() as gone:
        nobody = server(gone.url)
    assert not left(nobody)
    assert not left(server("http://no-such-host.invalid/"))
    assert not left(server("http://1.1.1.1/"))
    with WebStandIn(tls=own_certificate(tmp_path)) as stranger:
        assert not left(server(stranger.url.replace("http:", "https:")))
        assert (stranger.connections, stranger.received) == (1, [])


def test_a_question_that_waited_for_tls_has_not_left_and_one_that_waited_for_an_answer_has(
    stand_in: WebStandIn,
) -> None:
    stand_in.holding = True
    assert not left(server(stand_in.url.replace("http:", "https:")), 0.5)
    assert stand_in.received == []
    assert stand_in.hung_up.wait(5)
    assert left(server(stand_in.url), 0.5)
    assert stand_in.asked == ["heron"]


def test_a_question_that_was_answered_badly_has_left(stand_in: WebStandIn) -> None:
    stand_in.status = 503
    assert left(server(stand_in.url))
    stand_in.status, stand_in.flood = 200, (b"no HTTP at all\r\n\r\n", b"")
    assert left(server(stand_in.url))
