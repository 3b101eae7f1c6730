"""One question on its way to the web, and what came back of it, ready for the reader.

The search runs while the vault's part is being worded. Whatever happens to it, the vault's answer stands.
"""

import asyncio
from contextlib import suppress
from typing import final

from vault_ask.answering.context import Context, Excerpt
from vault_ask.answering.evidence import WebPage
from vault_ask.answering.ports import WebSearch
from vault_ask.audit import WebUse
from vault_ask.errors import WebFailed
from vault_ask.scope import OpenScope, Question
from vault_ask.wire import WebEvent, WebResult

_WHY = {
    True: "Your notes do not answer this, so the web was asked.",
    False: "Your notes say little on this, so the web was asked.",
}
_NOTHING = " It found nothing either."
_ALONE = " The answer above is from your notes alone."


@final
class WebAsked:
    """A running search. Close it when nobody waits any more; what it was asked has left the house by then.

    `use` is what the record says of it: without results until it has ended well.
    """

    def __init__(
        self, search: WebSearch, question: Question, *, beside: Context[OpenScope], is_vault_silent: bool
    ) -> None:
        self.pages: tuple[WebPage, ...] = ()
        self.use = WebUse(provider=search.name, results=None)
        self._why = _WHY[is_vault_silent]
        self._task = asyncio.ensure_future(search.search(question, beside=beside))

    async def event(self) -> WebEvent:
        """Wait for the pages, and tell of them; a search that failed is told in a sentence."""
        provider = self.use.provider
        try:
            self.pages = await self._task
        except WebFailed as error:
            return WebEvent(results=(), provider=provider, message=f"{error}{_ALONE}")
        self.use = WebUse(provider=provider, results=len(self.pages))
        message = self._why if self.pages else self._why + _NOTHING
        return WebEvent(results=listed(self.pages), provider=provider, message=message)

    async def close(self) -> None:
        """End the search if it still runs."""
        self._task.cancel()
        with suppress(asyncio.CancelledError, WebFailed):
            await self._task


def listed(pages: tuple[WebPage, ...]) -> tuple[WebResult, ...]:
    """Number the pages as the web's part of an answer cites them."""
    return tuple(
        WebResult(n=n, title=page.title, url=page.url, snippet=page.text) for n, page in enumerate(pages, start=1)
    )


def citable(pages: tuple[WebPage, ...]) -> tuple[Excerpt, ...]:
    """Give the pages as what `[n]` may point to in the web's part; nothing there can become a link to a note."""
    return tuple(
        Excerpt(n=n, path=page.url, title="", heading_path=(), text=page.text, line_start=1, line_end=1, score=0.0)
        for n, page in enumerate(pages, start=1)
    )
