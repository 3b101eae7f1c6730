"""The routes: they turn requests into questions under a scope, and what comes back into answers on the wire.

They decide nothing: `scope.decide` makes the scope, the core answers, `guard` has let the caller in before.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, suppress
from http import HTTPStatus
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse, Response
from sse_starlette.sse import EventSourceResponse
from starlette.types import Receive

from vault_ask.adapters.auth import COOKIE, SESSION_SECONDS
from vault_ask.adapters.doors import Doors
from vault_ask.adapters.failures import event_response, refusal
from vault_ask.adapters.guard import HEALTH, SESSION, Guard
from vault_ask.adapters.sse import event_stream, follow, news_stream
from vault_ask.answering.asked import Wishes
from vault_ask.answering.collect import collect
from vault_ask.answering.conversation import Turn
from vault_ask.answering.reading import MAX_LINE, Lines
from vault_ask.errors import BadRequest, VaultAskError
from vault_ask.scope import Question, Scope, Sensitivity, decide
from vault_ask.wire import (
    AnswerEvent,
    AskRequest,
    AskResponse,
    ErrorEvent,
    ErrorResponse,
    HealthResponse,
    IndexEvent,
    NoteResponse,
    NotesEvent,
    RelatedResponse,
    SearchRequest,
    SearchResponse,
    SessionRequest,
    SourcesEvent,
    StatusResponse,
)

T = TypeVar("T")
_CALLER_LEFT = 499
"""What nginx logs for such a request; nobody receives it."""
MAX_READERS = 50
"""Readers of /api/events at the same time: each holds a connection for as long as it likes."""
_READERS_RETRY_SECONDS = 30
MAX_PATH = 1_024
"""Characters of a vault path, as in the `note` of a question."""
_NEVER_PERSONAL = "Personal notes were left out: this address never includes them."
_REFUSED: dict[int | str, dict[str, Any]] = {"default": {"model": ErrorResponse}}
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events: `sources`, `delta` of the vault's part, `grounding`; where the web was "
        "asked `web` and `delta` of the web's part; then one `done` or `error`, with comments to keep the connection "
        "open. A caller whose Accept header prefers application/json gets one AskResponse instead; a caller that names "
        "neither, or accepts anything, gets the stream.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events, with comments to keep the connection open. `index`, each an IndexEvent: "
        "one at once, then one whenever that state changed, at most four a second. `notes`, each a NotesEvent: the "
        "notes that changed since the stream began, of open notes only unless include_personal is true.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


class Rest:
    """The routes of one daemon. `ceiling` is the most that any question or search here may see."""

    def __init__(self, doors: Doors, *, ceiling: Sensitivity, guard: Guard, max_concurrent_answers: int) -> None:
        self._doors = doors
        self._ceiling = ceiling
        self._guard = guard
        self._places = asyncio.Semaphore(max_concurrent_answers)
        self._readers = 0

    def router(self) -> APIRouter:
        """Make the router; bound methods are the routes."""
        router = APIRouter(responses=_REFUSED)
        add = router.add_api_route
        add(HEALTH, self.health, methods=["GET", "HEAD"], include_in_schema=False)
        add("/api/ask", self.ask, methods=["POST"], responses=_STREAM, response_model=AskResponse)
        add("/api/search", self.search, methods=["POST"], response_model=SearchResponse, name="search_by_body")
        add("/api/search", self.search_by_query, methods=["GET"], response_model=SearchResponse)
        add("/api/status", self.status, methods=["GET"], response_model=StatusResponse)
        add("/api/notes/{path:path}", self.note, methods=["GET"], response_model=NoteResponse)
        add("/api/related", self.related, methods=["GET"], response_model=RelatedResponse)
        add("/api/events", self.events, methods=["GET"], responses=_EVENTS, response_class=EventSourceResponse)
        add(SESSION, self.session, methods=["POST"], status_code=204, response_class=Response)
        return router

    async def health(self) -> HealthResponse:
        """Tell anyone that the daemon is alive, and nothing more."""
        return HealthResponse()

    async def ask(self, body: AskRequest, request: Request) -> Response:
        """Answer a question from the vault, as a stream of events or as one piece of JSON."""
        events = follow(self._answer(body), self._places)
        if not prefers_json(request.headers.get("accept", "")):
            return event_stream(events)
        whole = await unless_caller_leaves(request.receive, collect(events))
        if whole is None:
            return Response(status_code=_CALLER_LEFT)
        if isinstance(whole, ErrorEvent):
            return event_response(whole)
        return JSONResponse(whole.model_dump(mode="json"))

    async def search(self, body: SearchRequest) -> SearchResponse:
        """Find passages; the web never takes part."""
        scope = decide(include_personal=body.include_personal, allow_web=False, ceiling=self._ceiling)
        found = await self._doors.search(body.query, scope=scope, k=body.k, arm=body.arm)
        return found.model_copy(update={"notices": (*self._narrowed(body), *found.notices)})

    async def search_by_query(
        self,
        q: Annotated[str, Query(max_length=8_000, description="The words to look for.")],
        *,
        k: Annotated[int, Query(ge=1, le=100)] = 8,
        include_personal: bool = False,
        arm: Literal["hybrid", "vector", "text"] = "hybrid",
    ) -> SearchResponse:
        """Find passages, for callers that can only open an address."""
        return await self.search(SearchRequest(query=q, k=k, include_personal=include_personal, arm=arm))

    async def note(
        self,
        path: Annotated[str, Path(max_length=MAX_PATH, description="The note's vault path, percent-encoded.")],
        *,
        first: Annotated[int | None, Query(alias="from", ge=1, le=MAX_LINE)] = None,
        last: Annotated[int | None, Query(alias="to", ge=1, le=MAX_LINE)] = None,
        include_personal: bool = False,
    ) -> NoteResponse:
        """Give a note's lines, and how it stands in the index."""
        scope = decide(include_personal=include_personal, allow_web=False, ceiling=self._ceiling)
        return await self._doors.note(path, Lines(first, last), scope=scope)

    async def related(
        self,
        path: Annotated[str, Query(max_length=MAX_PATH, description="The note's vault path.")],
        *,
        k: Annotated[int, Query(ge=1, le=50)] = 8,
        include_personal: bool = False,
    ) -> RelatedResponse:
        """Give the notes near a note, by its links and by what it speaks of."""
        scope = decide(include_personal=include_personal, allow_web=False, ceiling=self._ceiling)
        found = await self._doors.related(path, scope=scope, k=k)
        return found.model_copy(update={"notices": (*self._never(wanted=include_personal), *found.notices)})

    async def status(self, request: Request) -> StatusResponse:
        """Tell how the daemon is doing."""
        told = await self._doors.status(self._told_to(request))
        # The ceiling holds for questions of the owner's as well.
        return told.model_copy(update={"personal_allowed": self._ceiling >= Sensitivity.PERSONAL})

    async def events(self, request: Request, *, include_personal: bool = False) -> Response:
        """Tell how the index is doing, now and whenever that changes, and which notes changed."""
        if self._readers >= MAX_READERS:
            return refusal(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "too_many_readers",
                f"{MAX_READERS} clients follow the index already. Close one, or try again later; /api/status tells the "
                "same.",
                {"Retry-After": str(_READERS_RETRY_SECONDS)},
            )
        # Counted before anything is waited for: all who come meanwhile would be let in as well.
        self._readers += 1
        leave = once(self._reader_left)
        try:
            # Names are told as by every other door, to the owner too: the right to counts is none to names.
            notes = decide(include_personal=include_personal, allow_web=False, ceiling=self._ceiling)
            events = self._doors.events(self._told_to(request), notes=notes)
            # The first is had before anything is sent, so that a failure is still an answer of its own.
            first = await anext(events)
        except BaseException:
            leave()
            raise
        return news_stream(_following(first, events, leave), ended=leave)

    async def session(self, body: SessionRequest, request: Request) -> Response:
        """Trade the token, or the owner's key, for a cookie that scripts cannot read: /chat need not keep either."""
        keys, offered = self._guard.keys, body.token.get_secret_value().strip()
        if not keys.exist:
            raise BadRequest("This daemon has no token, so there is nothing to sign in to. Ask without one.")
        admitted = self._guard.admit(request, offered)
        if isinstance(admitted, Response):
            return admitted
        response = Response(status_code=204)
        response.set_cookie(
            COOKIE,
            keys.session(admitted),
            max_age=SESSION_SECONDS,
            path="/api",
            httponly=True,
            samesite="strict",
            secure=request.headers.get("origin", "").startswith("https:"),
        )
        return response

    def _reader_left(self) -> None:
        self._readers -= 1

    def _answer(self, body: AskRequest) -> AsyncGenerator[AnswerEvent, None]:
        history = tuple(Turn(role=turn.role, text=turn.text, personal=turn.personal) for turn in body.history)
        # Blanks are no words, and need no note.
        selection = body.selection if body.selection and body.selection.strip() else None
        wishes = Wishes(note=body.note, selection=selection, k=body.k, language=body.language)
        events = self._doors.answer(Question(body.question), scope=self._scope(body), history=history, wishes=wishes)
        return _noticing(self._narrowed(body), events)

    def _narrowed(self, body: AskRequest | SearchRequest) -> tuple[str, ...]:
        """Say that this door gives less than was asked for: in the same words whether or not there is more."""
        return self._never(wanted=body.include_personal)

    def _never(self, *, wanted: bool) -> tuple[str, ...]:
        return (_NEVER_PERSONAL,) if wanted and self._ceiling < Sensitivity.PERSONAL else ()

    def _told_to(self, request: Request) -> Sensitivity:
        """Tell the owner of all notes, and others of those that they may ask."""
        return Sensitivity.PERSONAL if self._guard.is_owner(request) else self._ceiling

    def _scope(self, body: AskRequest) -> Scope:
        allow_web = not body.include_personal if body.allow_web is None else body.allow_web
        return decide(include_personal=body.include_personal, allow_web=allow_web, ceiling=self._ceiling)


async def _following(
    first: IndexEvent | NotesEvent,
    rest: AsyncGenerator[IndexEvent | NotesEvent, None],
    leave: Callable[[], None],
) -> AsyncGenerator[IndexEvent | NotesEvent, None]:
    """Pass a reader's events on; where it cannot be told any more the stream ends, and who comes back is told why."""
    try:
        with suppress(VaultAskError):
            async with aclosing(rest):
                yield first
                async for event in rest:
                    yield event
    finally:
        leave()


def once(act: Callable[[], None]) -> Callable[[], None]:
    """Give what acts when it is first called, and never again."""
    left = [act]

    def acting() -> None:
        if left:
            left.pop()()

    return acting


async def _noticing(
    notices: tuple[str, ...], events: AsyncGenerator[AnswerEvent, None]
) -> AsyncGenerator[AnswerEvent, None]:
    """Put notices before those that an answer has itself."""
    async with aclosing(events):
        async for event in events:
            if isinstance(event, SourcesEvent):
                yield event.model_copy(update={"notices": (*notices, *event.notices)})
            else:
                yield event


async def unless_caller_leaves(receive: Receive, work: Coroutine[Any, Any, T]) -> T | None:
    """Do the work, and cancel it as soon as the caller hangs up; then there is nobody to give anything to."""
    task, left = asyncio.ensure_future(work), asyncio.ensure_future(_departure(receive))
    try:
        await asyncio.wait({task, left}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return await task
        task.cancel()
        await asyncio.wait({task})
        return None
    finally:
        task.cancel()
        left.cancel()


async def _departure(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def prefers_json(accept: str) -> bool:
    """Say whether an Accept header would rather have one JSON answer than a stream; a tie goes to the exact name."""
    return _preference(accept, "application", "json") > _preference(accept, "text", "event-stream")


def _preference(accept: str, kind: str, subtype: str) -> tuple[float, int]:
    """Give the quality of the most exact range that covers a media type, and how exact it is."""
    exactness = {f"{kind}/{subtype}": 2, f"{kind}/*": 1, "*/*": 0}
    found = [(exactness[name], quality) for name, quality in _ranges(accept) if name in exactness]
    exact, quality = max(found, default=(0, 0.0))
    return (quality, exact) if quality > 0 else (0.0, 0)


def _ranges(accept: str) -> list[tuple[str, float]]:
    ranges = []
    for part in accept.casefold().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((piece[2:] for piece in parameters if piece.startswith("q=")), "1")
        ranges.append((name, float(quality) if quality.replace(".", "", 1).isdecimal() else 0.0))
    return ranges
