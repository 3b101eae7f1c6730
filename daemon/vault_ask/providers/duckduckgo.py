"""Searches with DuckDuckGo, which has no interface for programs: its page without scripts is asked and read.

What that page looks like, ddgs knows, and primp, its HTTP client, knows how a browser greets it; since 2026 others get
an empty HTTP 202. So here, and only here, a request looks like a browser's. It is still one POST to one host, without
cookie, referrer or redirect, and cancelling it ends the connection.

ddgs's front door, `DDGS().text(backend="duckduckgo")`, is not used: where ddgs switches that engine off, as it did
once, it asks all its engines in its place with nothing but a log line. It also keeps a thread that cannot be ended,
follows redirects, takes a proxy from DDGS_PROXY, and mends addresses until some lead elsewhere.
"""

import asyncio
import os
from collections.abc import Mapping
from contextlib import aclosing
from functools import cache
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import getproxies, proxy_bypass

from vault_ask.answering.context import Context
from vault_ask.answering.evidence import WebPage
from vault_ask.errors import WebFailed
from vault_ask.providers.web_pages import LONGEST_READ, Found, pages_of
from vault_ask.providers.web_requests import (
    Outing,
    SearchServer,
    addresses_of,
    misunderstood,
    refuse_status,
    unreachable,
    whole,
    within,
)
from vault_ask.providers.web_words import sendable
from vault_ask.scope import OpenScope, Question
from vault_ask.settings.models import WebSettings

if TYPE_CHECKING:
    from ddgs.engines.duckduckgo import Duckduckgo

_ROBOT = (
    "DuckDuckGo takes vault-ask for a robot just now. Try again later, or choose another web.provider: tavily, brave "
    "or searxng."
)
DUCKDUCKGO = SearchServer(
    name="DuckDuckGo", url="https://html.duckduckgo.com/html/", hints={202: _ROBOT, 400: _ROBOT, 403: _ROBOT}
)
_CHALLENGE = b"anomaly-modal"
"""The page that asks a robot to find the ducks holds this where results would be."""
_SIGNATURE = b"DuckDuckGo"
"""Every page of its own names it; one that does not is a hotel's or a proxy's, and says nothing of what was asked."""
_EVERYWHERE = "wt-wt"
"""DuckDuckGo's name for no region."""
_MOST_ITEMS = 40
"""A page has ten results and a few adverts."""
_MOST_PIECES = 100
"""Of a result's text, which is in pieces where words of it are bold."""
_ADVERT = "https://duckduckgo.com/y.js?"
_DETOUR = "//duckduckgo.com/l/?"


class DuckDuckGoSearch:
    """The port `WebSearch` over DuckDuckGo's page without scripts."""

    name = "DuckDuckGo"
    keeps_question_home = False

    def __init__(self, settings: WebSettings, *, server: SearchServer = DUCKDUCKGO) -> None:
        self._settings = settings
        self._server = server

    async def search(self, question: Question, *, beside: Context[OpenScope]) -> tuple[WebPage, ...]:  # noqa: ARG002 - see the port
        """Find pages. Raises WebFailed."""
        async with within(self._server, self._settings.timeout_seconds) as outing:
            words = sendable(question)
            _refuse_proxy(self._server)
            engine = await asyncio.to_thread(_engine)
            form = engine.build_payload(words, region=_EVERYWHERE, safesearch="moderate", timelimit=None)
            page = await self._ask(outing, form)
            return await asyncio.to_thread(self._pages, engine, page)

    def _pages(self, engine: "Duckduckgo", page: bytes) -> tuple[WebPage, ...]:
        if _CHALLENGE in page:
            raise WebFailed(_ROBOT)
        found = _results(engine, page)
        if not found and _SIGNATURE not in page:
            raise misunderstood(self._server)
        return pages_of(found, self._settings.results)

    async def _ask(self, outing: Outing, form: Mapping[str, str]) -> bytes:
        """Send the form and read the page.

        primp looks the name up again by itself; a resolver that changed its answer in between would lead it to a
        machine without DuckDuckGo's certificate, to which nothing is sent.
        """
        import primp  # noqa: PLC0415 - late: only who searches pays for it

        await addresses_of(self._server)
        client = primp.AsyncClient(
            impersonate="random",
            impersonate_os="random",
            cookie_store=False,
            referer=False,
            follow_redirects=False,
            https_only=self._server.url.startswith("https:"),
        )
        outing.left = True
        try:
            async with aclosing(
                await client.request("POST", self._server.url, data=dict(form), stream=True)
            ) as response:
                refuse_status(self._server, response.status_code)
                return await whole(self._server, response.aiter_bytes())
        except primp.PrimpError as error:
            # Only these come before the request is written. The last has no kind of its own; told in other words, it
            # would count as sent, which errs on the right side.
            met_nobody = isinstance(error, primp.BuilderError | primp.ConnectError | primp.DNSError)
            outing.left = not (met_nobody or "invalid peer certificate" in str(error))
            raise unreachable(self._server, error) from None


@cache
def _engine() -> "Duckduckgo":
    """Load what ddgs knows of DuckDuckGo, which takes 0.2 s. Raises WebFailed where ddgs has given it up."""
    try:
        from ddgs.engines.duckduckgo import Duckduckgo  # noqa: PLC0415 - late: only who searches pays for it
    except ImportError:
        raise WebFailed(
            "The installed ddgs knows DuckDuckGo no more. Install the one in requirements.lock, or choose another "
            "web.provider."
        ) from None
    return Duckduckgo()


def _results(engine: "Duckduckgo", page: bytes) -> list[Found]:
    """Read the results off the page. Their addresses are as written there, their text is HTML again."""
    # In bytes, since lxml refuses a text that names its own encoding; in a frame, since it refuses an empty page.
    tree = engine.extract_tree(b"<meta charset=utf-8><p>" + page)  # type: ignore[arg-type] # it takes bytes as well
    items = tree.xpath(f"({engine.items_xpath})[position() <= {_MOST_ITEMS}]")
    innermost = (item for item, after in pairwise((*items, None)) if after is None or not _holds(item, after))
    read = ({part: _text(item, path) for part, path in engine.elements_xpath.items()} for item in innermost)
    organic = (one for one in read if not one["href"].startswith(_ADVERT))
    return [Found(escape(one["title"]), _direct(one["href"]), escape(one["body"])) for one in organic]


def _holds(item: Any, after: Any) -> bool:  # noqa: ANN401 - lxml ships no types
    """Say whether one item is around another, and so no result: read for each, what is inside would be read often."""
    return item in after.iterancestors()


def _text(item: Any, path: str) -> str:  # noqa: ANN401 - lxml ships no types
    """Read a part of a result: as much of it as could be shown, since a page may hold all of itself in each."""
    pieces = item.xpath(f"({path})[position() <= {_MOST_PIECES}]", smart_strings=False)
    return "".join(piece[:LONGEST_READ] for piece in pieces)[:LONGEST_READ]


def _direct(href: str) -> str:
    """Give where a link leads that goes by DuckDuckGo's counter."""
    if not href.removeprefix("https:").startswith(_DETOUR):
        return href
    return parse_qs(urlsplit(href).query).get("uddg", [""])[0]


def _refuse_proxy(server: SearchServer) -> None:
    """Raise WebFailed where primp would go by a proxy, which it cannot be told not to do."""
    parts = urlsplit(server.url)
    named = getproxies().keys() & {"all", parts.scheme} and not proxy_bypass(parts.hostname or "")
    if named or os.environ.get("PRIMP_PROXY"):
        raise WebFailed(
            "The environment names a proxy, and your question is not given to one, so nothing was sent. Add "
            "duckduckgo.com to NO_PROXY, or choose another web.provider."
        )
