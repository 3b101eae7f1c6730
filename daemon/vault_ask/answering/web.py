"""One question on its way to the web, and what came back of it, ready for the reader.

The search runs while the vault's part is being worded. Whatever happens to it, the vault's answer stands.
"""

import asyncio
from typing import final

import structlog

from vault_ask.answering.context import Context, Excerpt
from vault_ask.answering.evidence import WebPage
from vault_ask.answering.ports import WebSearch
from vault_ask.audit import WebUse
from vault_ask.errors import WebFailed
from vault_ask.scope import OpenScope, Question
from vault_ask.wire import WebEvent, WebResult

log = structlog.get_logger()

_WHY = {
    True: "Your notes do not answer this, so the web was asked.",
    False: "Your notes say little on this, so the web was asked.",
}
_NOTHING = " It found nothing either."
_ALONE = {
    True: "",
    False: " The answer above is from your notes alone.",
}


@final
class WebAsked:
    """A running search. Close it when nobody waits any more; what it was asked has left the house by then.

    `use` is what the record says of it: without results until it has ended well, None where nothing was sent.
    """

    def __init__(
        self, search: WebSearch, question: Question, *, beside: Context[OpenScope], is_vault_silent: bool
    ) -> None:
        self.pages: tuple[WebPage, ...] = ()
        self.provider = search.name
        self.use: WebUse | None = WebUse(provider=search.name, results=None)
        self._why = _WHY[is_vault_silent]
        self._alone = _ALONE[is_vault_silent]
        self._task = asyncio.ensure_future(search.search(question, beside=beside))

    async def event(self) -> WebEvent:
        """Wait for the pages, and tell of them; a search that failed is told in a sentence."""
        try:
            self.pages = await self._task
        except WebFailed as error:
            if not error.sent:
                self.use = None
            return self._failed(str(error))
        except Exception as error:  # noqa: BLE001 - whatever a search does, the vault's answer stands
            log.error("web search failed", error=type(error).__name__)
            return self._failed(f"{self.provider} could not be read ({type(error).__name__}).")
        self.use = WebUse(provider=self.provider, results=len(self.pages))
        message = self._why if self.pages else self._why + _NOTHING
        return WebEvent(results=listed(self.pages), provider=self.provider, message=message)

    async def close(self) -> None:
        """End the search if it still runs."""
        self._task.cancel()
        # Whatever it ended with has been told, or nobody is there to hear it.
        await asyncio.wait({self._task})
        if not self._task.cancelled():
            self._task.exception()

    def _failed(self, sentence: str) -> WebEvent:
        return WebEvent(results=(), provider=self.provider, message=sentence + self._alone)


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
