"""Searches with Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search, as of 2026."""

import asyncio

from pydantic import SecretStr

from vault_ask.answering.context import Context
from vault_ask.answering.evidence import WebPage
from vault_ask.providers.web_pages import Found, pages_of
from vault_ask.providers.web_requests import SearchServer, ask, json_of, objects_of, within
from vault_ask.providers.web_words import sendable
from vault_ask.scope import OpenScope, Question
from vault_ask.settings.models import WebSettings

_KEY_REFUSED = "Tavily refused the key it was given. Set VAULTASK_TAVILY_API_KEY to a valid one and restart."
TAVILY = SearchServer(name="Tavily", url="https://api.tavily.com/search", hints={401: _KEY_REFUSED, 403: _KEY_REFUSED})


class TavilySearch:
    """The port `WebSearch` over Tavily. The question and the number of pages are all it is told."""

    name = "Tavily"
    keeps_question_home = False

    def __init__(self, key: SecretStr, settings: WebSettings, *, server: SearchServer = TAVILY) -> None:
        self._key = key
        self._settings = settings
        self._server = server

    async def search(self, question: Question, *, beside: Context[OpenScope]) -> tuple[WebPage, ...]:  # noqa: ARG002 - see the port
        """Find pages. Raises WebFailed."""
        headers = {"Authorization": f"Bearer {self._key.get_secret_value()}"}
        async with within(self._server, self._settings.timeout_seconds) as outing:
            words = sendable(question)
            document = {"query": words, "search_depth": "basic", "max_results": self._settings.results}
            body = await ask(self._server, outing, document=document, headers=headers)
            return await asyncio.to_thread(self._pages, body)

    def _pages(self, body: bytes) -> tuple[WebPage, ...]:
        results = objects_of(self._server, json_of(self._server, body).get("results"))
        found = (Found(one.get("title"), one.get("url"), one.get("content")) for one in results)
        return pages_of(found, self._settings.results)
