"""The life of a stream: an answer waits its turn, is followed event by event, and stops when nobody listens any more.

Knows events and clients that leave; nothing about what the events say.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import anyio
import structlog
from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.types import Receive, Scope, Send

from vault_ask.adapters.failures import error_event, log_unexpected
from vault_ask.answering.collect import INCOMPLETE
from vault_ask.wire import AnswerEvent, DoneEvent, ErrorEvent, IndexEvent, NotesEvent

KEEPALIVE_SECONDS = 15.0
STOP_SECONDS = 2.0
LEAVING_SECONDS = 1.0
# A plain LF is as good as CRLF to every parser of event streams, and better to those that split at a blank line.
LINE_END = "\n"

# At debug level the library logs every frame, which is note text.
logging.getLogger("sse_starlette").setLevel(logging.INFO)
log = structlog.get_logger(__name__)


async def follow(
    answer: AsyncGenerator[AnswerEvent, None], places: asyncio.Semaphore
) -> AsyncGenerator[AnswerEvent, None]:
    """Yield the events of an answer once a place is free, ending with exactly one `done` or `error`.

    The answer runs in a task of its own: a slow reader never holds a place, and a reader who leaves (this generator is
    closed or cancelled) cancels that task once and waits up to STOP_SECONDS for it, so that its clean-up can await.
    """
    queue: asyncio.Queue[AnswerEvent | None] = asyncio.Queue()
    worker = asyncio.create_task(_work(answer, places, queue.put_nowait))
    try:
        while (event := await queue.get()) is not None:
            yield event
    finally:
        await _stop(worker)


async def _work(
    answer: AsyncGenerator[AnswerEvent, None], places: asyncio.Semaphore, tell: Callable[[AnswerEvent | None], None]
) -> None:
    try:
        async with places, aclosing(answer):
            last: AnswerEvent = await _tell_all(answer, tell)
    except Exception as error:  # noqa: BLE001  the outermost handler of a stream: whatever it was, the reader is told
        log_unexpected(error, where="answer")
        last = error_event(error)
    tell(last)
    tell(None)


async def _tell_all(
    answer: AsyncGenerator[AnswerEvent, None], tell: Callable[[AnswerEvent], None]
) -> DoneEvent | ErrorEvent:
    """Tell every event but the last, which is returned; an answer that just ends is a failure, never a success."""
    async for event in answer:
        if isinstance(event, DoneEvent | ErrorEvent):
            return event
        tell(event)
    return INCOMPLETE


async def _stop(worker: asyncio.Task[None]) -> None:
    worker.cancel()
    with anyio.CancelScope(shield=True):
        _, running = await asyncio.wait({worker}, timeout=STOP_SECONDS)
    if running:
        log.warning("answer_did_not_stop", seconds=STOP_SECONDS)


class _Told(EventSourceResponse):
    """A response that tells when it is over. Its frames cannot: a generator that was never begun cleans up nothing."""

    def __init__(self, *arguments: Any, ended: Callable[[], None], **more: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(*arguments, **more)
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()


def event_stream(
    events: AsyncGenerator[AnswerEvent, None], *, keepalive_seconds: float = KEEPALIVE_SECONDS
) -> EventSourceResponse:
    """Send events as a stream: the event's name is its `type`, its data the JSON of the whole event."""
    return _response(_frames(events), keepalive_seconds)


def news_stream(
    events: AsyncGenerator[IndexEvent | NotesEvent, None], *, ended: Callable[[], None]
) -> EventSourceResponse:
    """Send events that have no end of their own: the stream is complete when the server leaves.

    `ended` is called once when the response is over, even where nobody ever read of it.
    """
    leaving = anyio.Event()
    return _response(_frames(_until(leaving, events)), KEEPALIVE_SECONDS, leaving, ended)


def _response(
    frames: AsyncGenerator[ServerSentEvent, None],
    keepalive_seconds: float,
    leaving: anyio.Event | None = None,
    ended: Callable[[], None] = lambda: None,
) -> EventSourceResponse:
    return _Told(
        frames,
        ended=ended,
        shutdown_event=leaving,
        shutdown_grace_period=LEAVING_SECONDS if leaving else 0,
        sep=LINE_END,
        ping=keepalive_seconds,
        ping_message_factory=lambda: ServerSentEvent(comment="still here", sep=LINE_END),
        cleanup_timeout=STOP_SECONDS * 2,
    )


async def _until(
    leaving: anyio.Event, events: AsyncGenerator[IndexEvent | NotesEvent, None]
) -> AsyncGenerator[IndexEvent | NotesEvent, None]:
    """Yield events until they end or the server is leaving."""
    left = asyncio.create_task(leaving.wait())
    coming: asyncio.Future[IndexEvent | NotesEvent | None] | None = None
    try:
        while True:
            coming = asyncio.ensure_future(anext(events, None))
            await asyncio.wait({coming, left}, return_when=asyncio.FIRST_COMPLETED)
            if not coming.done() or (event := coming.result()) is None:
                return
            yield event
    finally:
        left.cancel()
        if coming is not None and not coming.done():
            coming.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait({coming}, timeout=STOP_SECONDS)
        await events.aclose()


async def _frames(
    events: AsyncGenerator[AnswerEvent | IndexEvent | NotesEvent, None],
) -> AsyncGenerator[ServerSentEvent, None]:
    async with aclosing(events):
        async for event in events:
            yield ServerSentEvent(event.model_dump_json(), event=event.type, sep=LINE_END)
