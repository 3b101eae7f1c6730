"""A whole answer put together from its events, for whoever does not stream."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from vault_ask.wire import (
    AnswerEvent,
    AskResponse,
    DeltaEvent,
    DoneEvent,
    ErrorEvent,
    GroundingEvent,
    SourcesEvent,
    WebEvent,
    WebPart,
)

INCOMPLETE = ErrorEvent(code="incomplete", message="The answer broke off before its end. Ask again.", retry=True)
"""The end of an answer that just stops."""


async def collect(events: AsyncGenerator[AnswerEvent, None]) -> AskResponse | ErrorEvent:
    """Put a whole answer together, or give the error that ended it; a broken-off answer is never shown as one."""
    sources, grounding, web = None, None, None
    text = {"vault": "", "web": ""}
    async with aclosing(events):
        async for event in events:
            match event:
                case SourcesEvent():
                    sources = event
                case DeltaEvent():
                    text[event.part] += event.text
                case GroundingEvent():
                    grounding = event
                case WebEvent():
                    web = event
                case ErrorEvent():
                    return event
                case DoneEvent():
                    return _whole(text["vault"], sources, grounding, _web_part(web, text["web"]), event)
    return INCOMPLETE


def _whole(
    text: str, sources: SourcesEvent | None, grounding: GroundingEvent | None, web: WebPart | None, done: DoneEvent
) -> AskResponse | ErrorEvent:
    if sources is None:
        return INCOMPLETE
    return AskResponse(
        answer=text,
        citations=grounding.citations if grounding else (),
        sources=sources.sources,
        silent=sources.silent,
        refused=grounding.refused if grounding else sources.silent,
        personal_included=sources.personal_included,
        generator=sources.generator,
        notices=sources.notices,
        understood=sources.understood,
        web=web,
        seconds=done.seconds,
        finish=done.finish,
    )


def _web_part(web: WebEvent | None, answer: str) -> WebPart | None:
    if web is None:
        return None
    return WebPart(results=web.results, provider=web.provider, message=web.message, answer=answer)
