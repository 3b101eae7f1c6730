"""Searches with Brave Search: https://api-dashboard.search.brave.com/app/documentation/web-search, as of 2026."""

import asyncio
from typing import Any

from pydantic import SecretStr

from vault_ask.answering.context import Context
from vault_ask.answering.evidence import WebPage
from vault_ask.providers.web_pages import Found, pages_of
from vault_ask.providers.web_requests import SearchServer, ask, json_of, misunderstood, objects_of, within
from vault_ask.providers.web_words import sendable
from vault_ask.scope import OpenScope, Question
from vault_ask.settings.models import WebSettings

_KEY_REFUSED = "Brave Search refused the key it was given. Set VAULTASK_BRAVE_API_KEY to a valid one and restart."
# 422 is its answer to a key it does not know; what else would give it, a question too long, is not sent.
_HINTS = {401: _KEY_REFUSED, 403: _KEY_REFUSED, 422: _KEY_REFUSED}
BRAVE = SearchServer(name="Brave Search", url="https://api.search.brave.com/res/v1/web/search", hints=_HINTS)
_SPARES = 5
"""Asked for beyond what is shown, for those that cannot be; a request costs the same."""


class BraveSearch:
    """The port `WebSearch` over Brave Search, which takes the question in the address, inside TLS."""

    name = "Brave Search"
    keeps_question_home = False

    def __init__(self, key: SecretStr, settings: WebSettings, *, server: SearchServer = BRAVE) -> None:
        self._key = key
        self._settings = settings
        self._server = server

    async def search(self, question: Question, *, beside: Context[OpenScope]) -> tuple[WebPage, ...]:  # noqa: ARG002 - see the port
        """Find pages. Raises WebFailed."""
        headers = {"X-Subscription-Token": self._key.get_secret_value()}
        async with within(self._server, self._settings.timeout_seconds) as outing:
            query = self._query(sendable(question))
            body = await ask(self._server, outing, query=query, headers=headers)
            return await asyncio.to_thread(self._pages, body)

    def _query(self, words: str) -> dict[str, str]:
        # Without `country` it takes everybody to be in the United States.
        query = {"q": words, "count": str(self._settings.results + _SPARES), "country": "ALL", "result_filter": "web"}
        return query | {"text_decorations": "false"}

    def _pages(self, body: bytes) -> tuple[WebPage, ...]:
        return pages_of(self._found(json_of(self._server, body)), self._settings.results)

    def _found(self, answer: dict[str, Any]) -> list[Found]:
        """Read the results; where nothing was found there is no `web` at all."""
        web = answer.get("web")
        if web is None and answer.get("type") == "search":
            return []
        if not isinstance(web, dict):
            raise misunderstood(self._server)
        results = objects_of(self._server, web.get("results", []))
        return [Found(one.get("title"), one.get("url"), one.get("description")) for one in results]
