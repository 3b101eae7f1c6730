"""Searches with the owner's own SearXNG: https://docs.searxng.org/dev/search_api.html, as of 2026."""

import asyncio
from urllib.parse import quote, urlsplit

from vault_ask.answering.context import Context
from vault_ask.answering.evidence import WebPage
from vault_ask.errors import ConfigError, WebFailed
from vault_ask.providers.web_pages import Found, pages_of
from vault_ask.providers.web_requests import Reach, SearchServer, ask, json_of, objects_of, within
from vault_ask.providers.web_words import sendable
from vault_ask.scope import OpenScope, Question
from vault_ask.settings.hosts import is_private_host
from vault_ask.settings.models import WebSettings

_FORMATS = (
    "Your SearXNG gives no JSON. Write `search:` with `formats: [html, json]` into its settings.yml and restart it."
)
_LIMITER = (
    "Your SearXNG wants a pause, or its limiter takes vault-ask for a robot. Set `server: limiter: false` in its "
    "settings.yml, or let this machine's address pass in its limiter.toml."
)
_ENGINES = "Your SearXNG found nothing because engines of its did not answer. Its preferences page shows which."
_REMEDY = "Look whether it runs, and at web.searxng_url; `search.formats` in its settings.yml must hold json."


class SearxngSearch:
    """The port `WebSearch` over a SearXNG. It sends the question on to the engines its owner chose, in its own name."""

    name = "SearXNG"

    def __init__(self, settings: WebSettings) -> None:
        """Raise ConfigError when no server is named, or when its address is none."""
        if settings.searxng_url is None:
            raise ConfigError("web.provider is searxng, and no server is named. Set web.searxng_url.")
        self._settings = settings
        self._host = urlsplit(settings.searxng_url).hostname or ""
        self._server = SearchServer(
            name="SearXNG",
            url=f"{_in_ascii(settings.searxng_url)}/search",
            reach=Reach.HOME if self.keeps_question_home else Reach.ANYWHERE,
            remedy=_REMEDY,
            hints={403: _FORMATS, 429: _LIMITER},
        )

    @property
    def keeps_question_home(self) -> bool:
        """Whether its address is of the owner's network; behind a public name may be anybody's SearXNG."""
        return is_private_host(self._host)

    async def search(self, question: Question, *, beside: Context[OpenScope]) -> tuple[WebPage, ...]:  # noqa: ARG002 - see the port
        """Find pages. Raises WebFailed."""
        async with within(self._server, self._settings.timeout_seconds) as outing:
            # As a form, so that no log of a server or proxy holds the question in an address.
            form = {"q": sendable(question), "format": "json"}
            body = await ask(self._server, outing, form=form)
            return await asyncio.to_thread(self._pages, body)

    def _pages(self, body: bytes) -> tuple[WebPage, ...]:
        answer = json_of(self._server, body)
        results = objects_of(self._server, answer.get("results"))
        found = [Found(one.get("title"), one.get("url"), one.get("content")) for one in results]
        if not found and answer.get("unresponsive_engines"):
            raise WebFailed(_ENGINES)
        return pages_of(found, self._settings.results)


def _in_ascii(url: str) -> str:
    """Write an address as it travels. Raises ConfigError."""
    parts = urlsplit(url)
    try:
        parts.port  # noqa: B018 - raises where it is no port
        return f"{parts.scheme}://{parts.netloc.encode('idna').decode()}{quote(parts.path, safe='/%')}"
    except ValueError:
        raise ConfigError("web.searxng_url is no address. Write it like http://nas.local:8080.") from None
