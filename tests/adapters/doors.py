"""A house of one scripted answer, and a real server to put it behind."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field

import httpx
import uvicorn

from vault_ask.adapters.http import Doors, make_http, uvicorn_options
from vault_ask.answering.asked import Wishes
from vault_ask.answering.conversation import Turn
from vault_ask.answering.reading import Lines
from vault_ask.bulletin import Bulletin
from vault_ask.news import Editions, News, told
from vault_ask.scope import Question, Scope, Sensitivity
from vault_ask.settings.serving import ServerSettings
from vault_ask.wire import (
    AnswerEvent,
    Citation,
    DeltaEvent,
    DoneEvent,
    EmbeddingStatus,
    Freshness,
    GenerationStatus,
    GroundingEvent,
    IndexEvent,
    IndexProgress,
    NoteProblem,
    NoteResponse,
    NotesEvent,
    NoteState,
    RelatedNote,
    RelatedResponse,
    SearchHit,
    SearchResponse,
    Source,
    SourcesEvent,
    StatusResponse,
    VaultStatus,
    WebStatus,
)

PATIENCE = 5.0
"""Seconds a test waits for what should happen at once."""


def source(n: int, path: str = "Housing/Rent.md", title: str = "Rent", quote: str = "Rent is 9200 from May.") -> Source:
    return Source(
        n=n,
        path=path,
        title=title,
        heading="From May",
        heading_path=(title, "From May"),
        block=None,
        line_start=4,
        line_end=6,
        quote=quote,
        url="obsidian://open?vault=Sample&file=Housing%2FRent",
        score=0.9,
        provenance="both",
        personal=False,
    )


def sources_event(*sources: Source, silent: bool = False, notices: tuple[str, ...] = ()) -> SourcesEvent:
    return SourcesEvent(
        sources=sources, silent=silent, personal_included=False, generator="extractive", notices=notices
    )


def grounding_event(*sources: Source, refused: bool = False) -> GroundingEvent:
    fields = set(Citation.model_fields)
    return GroundingEvent(
        citations=tuple(Citation(**s.model_dump(include=fields)) for s in sources), removed=0, refused=refused
    )


RENT = source(1)
DONE = DoneEvent(seconds=0.4, finish="stop")
SIMPLE: tuple[AnswerEvent, ...] = (
    sources_event(RENT),
    DeltaEvent(text="Rent is 9200 "),
    DeltaEvent(text="from May. [1]"),
    grounding_event(RENT),
    DONE,
)
PACED: tuple[AnswerEvent | float, ...] = (
    sources_event(RENT),
    *((0.02, DeltaEvent(text="word ")) * 1_500),
    DONE,
)
"""Half a minute of work, a token every 20 ms."""
STATUS = StatusResponse(
    version="0.1.0",
    vault=VaultStatus(
        name="Sample",
        kind="folder",
        mode="watching",
        message="Changes are noticed at once.",
        freshness=Freshness(
            lag=None,
            last_change_seen="2026-05-01T09:59:58+00:00",
            last_change_indexed="2026-05-01T10:00:00+00:00",
            waiting=0,
        ),
    ),
    notes=1204,
    chunks=4810,
    last_indexed="2026-05-01T10:00:00+00:00",
    progress=IndexProgress(phase="idle", done=0, total=0, rate=0, seconds_left=None),
    embedding=EmbeddingStatus(
        model="multilingual-e5-small",
        dimension=384,
        ready=True,
        waiting=0,
        last_error=None,
        next_try_seconds=None,
        centred=True,
        rebuild_needed=None,
    ),
    generation=GenerationStatus(generator="extractive", local=True, offered=()),
    web=WebStatus(enabled=False, provider=None, keeps_question_home=False),
    problems=(),
    problem_count=0,
    rules={},
    warnings=(),
)
INDEXING = IndexProgress(phase="indexing", done=1240, total=3000, rate=20, seconds_left=120)
NOTE = NoteResponse(
    path="Housing/Rent.md",
    title="Rent",
    personal=False,
    line_start=4,
    line_end=6,
    line_count=6,
    text="## From May\n\nRent is 9200 from May.",
    index=NoteState(
        state="indexed",
        indexed_at="2026-05-01T10:00:00+00:00",
        modified_at="2026-05-01T09:59:58+00:00",
        message="It is found by its words and by its meaning.",
    ),
)
RELATED = RelatedResponse(
    path="Housing/Rent.md",
    related=(
        RelatedNote(
            path="Housing/Lease.md",
            title="Lease",
            personal=False,
            score=0.03,
            because=("backlink", "meaning"),
            heading="Notice",
            block=None,
            line_start=9,
            line_end=9,
            quote="Three months.",
        ),
    ),
    notices=("Found by links alone.",),
    seconds=0.01,
)
PROBLEM = NoteProblem(path="Trip.md", code="frontmatter", message="The frontmatter cannot be read.", line=2)


class Step:
    """A place in a script where the answer waits until the test says `go`; what follows is a token of work."""


STEP = Step()
Script = Sequence[AnswerEvent | Exception | Step | float]
"""What an answer does, in order; a number is the seconds a model takes before it goes on."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What reached the house."""

    question: str
    scope: Scope
    history: tuple[Turn, ...]
    wishes: Wishes


@dataclass(slots=True)
class ScriptedDoors:
    """Plays a script for each question, counts what runs, and lets another thread step through it and wait."""

    script: Script = SIMPLE
    scripts: dict[str, Script] = field(default_factory=dict)
    state: StatusResponse = STATUS
    search_error: Exception | None = None
    note_error: Exception | None = None
    events_error: Exception | None = None
    versions: dict[str, int] = field(default_factory=dict)
    noted: list[tuple[str, Lines, Scope]] = field(default_factory=list)
    neighboured: list[tuple[str, Scope, int]] = field(default_factory=list)
    watched: list[Scope] = field(default_factory=list)
    told: list[Sensitivity] = field(default_factory=list)
    followed: list[Sensitivity] = field(default_factory=list)
    following: int = 0
    presented: int = 0
    vault_name: str = "Sample"
    asked: list[Asked] = field(default_factory=list)
    searched: list[tuple[str, Scope, int, str]] = field(default_factory=list)
    running: int = 0
    most_running: int = 0
    steps_made: int = 0
    cleaned: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _gates: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = field(default_factory=list)
    _go: int = 0
    _bulletin: Bulletin[News] = field(init=False)
    _editions: Editions = field(default_factory=Editions)

    def __post_init__(self) -> None:
        self._bulletin = Bulletin(self._present)

    async def answer(
        self, question: Question, *, scope: Scope, history: tuple[Turn, ...], wishes: Wishes
    ) -> AsyncGenerator[AnswerEvent, None]:
        with self._changed:
            self.asked.append(Asked(question.text, scope, history, wishes))
            self.running += 1
            self.most_running = max(self.most_running, self.running)
            self._changed.notify_all()
        try:
            for item in self.scripts.get(question.text, self.script):
                if isinstance(item, Step):
                    await self._take_step()
                elif isinstance(item, float):
                    await asyncio.sleep(item)
                    self.steps_made += 1
                elif isinstance(item, Exception):
                    raise item
                else:
                    yield item
        finally:
            await asyncio.sleep(0)  # closing a model's connection waits on the network as well
            with self._changed:
                self.running -= 1
                self.cleaned += 1
                self._changed.notify_all()

    async def _take_step(self) -> None:
        gate = (asyncio.get_running_loop(), asyncio.Event())
        with self._changed:
            self._gates.append(gate)
            self._open_gates()
        try:
            await gate[1].wait()
        except asyncio.CancelledError:
            self._give_back(gate)
            raise
        with self._changed:
            self.steps_made += 1
            self._changed.notify_all()

    def go(self, steps: int = 1) -> None:
        """Let waiting answers take steps, the longest waiting first."""
        with self._changed:
            self._go += steps
            self._open_gates()

    def _open_gates(self) -> None:
        while self._go and self._gates:
            self._go -= 1
            loop, gate = self._gates.pop(0)
            loop.call_soon_threadsafe(gate.set)

    def _give_back(self, gate: tuple[asyncio.AbstractEventLoop, asyncio.Event]) -> None:
        with self._changed:
            if gate in self._gates:
                self._gates.remove(gate)
            else:
                self.go()

    def wait_until(self, holds: Callable[["ScriptedDoors"], bool], *, seconds: float = PATIENCE) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: holds(self), seconds), f"not within {seconds} s: {self}"

    async def search(self, query: str, *, scope: Scope, k: int, arm: str) -> SearchResponse:
        self.searched.append((query, scope, k, arm))
        if self.search_error:
            raise self.search_error
        hit = SearchHit(**RENT.model_dump(), trace={"vector": 0.9})
        return SearchResponse(hits=(hit,) if query.strip() else (), notices=(), seconds=0.01)

    async def note(self, path: str, lines: Lines, *, scope: Scope) -> NoteResponse:
        self.noted.append((path, lines, scope))
        if self.note_error:
            raise self.note_error
        return NOTE

    async def related(self, path: str, *, scope: Scope, k: int) -> RelatedResponse:
        self.neighboured.append((path, scope, k))
        if self.note_error:
            raise self.note_error
        return RELATED

    async def status(self, ceiling: Sensitivity) -> StatusResponse:
        self.told.append(ceiling)
        return self.state

    def become(self, state: StatusResponse) -> None:
        """Be in another state from now on, and tell those who follow."""
        self.state = state
        self._bulletin.publish()

    def hold(self, versions: dict[str, int]) -> None:
        """Hold these notes from now on, whoever asks, and tell those who follow."""
        self.versions = versions
        self._bulletin.publish()

    async def events(self, ceiling: Sensitivity, *, notes: Scope) -> AsyncGenerator[IndexEvent | NotesEvent, None]:
        self.watched.append(notes)
        if self.events_error:
            raise self.events_error
        self._count_reader(1, ceiling)
        try:
            async with aclosing(told(self._bulletin.follow(), self._editions)) as events:
                async for event in events:
                    yield event
        finally:
            self._count_reader(-1)

    async def _present(self) -> News:
        if self.events_error:
            raise self.events_error
        with self._changed:
            self.presented += 1
            self._changed.notify_all()
        return News(event_of(self.state), self._editions.take(dict(self.versions)))

    def _count_reader(self, step: int, *ceiling: Sensitivity) -> None:
        with self._changed:
            self.following += step
            self.followed.extend(ceiling)
            self._changed.notify_all()


def event_of(state: StatusResponse) -> IndexEvent:
    """Tell in short what a status tells at length."""
    return IndexEvent(
        progress=state.progress,
        freshness=state.vault.freshness,
        notes=state.notes,
        chunks=state.chunks,
        waiting=state.embedding.waiting,
        last_indexed=state.last_indexed,
        mode=state.vault.mode,
        message=state.vault.message,
    )


def now_at(
    *, mode: str = "watching", message: str = "", progress: IndexProgress = STATUS.progress, lag: int | None = None
) -> StatusResponse:
    """Give a state of the sample vault."""
    freshness = STATUS.vault.freshness.model_copy(update={"lag": lag})
    vault = STATUS.vault.model_copy(update={"mode": mode, "message": message, "freshness": freshness})
    return STATUS.model_copy(update={"vault": vault, "progress": progress})


TOKEN = "correct-horse-battery-staple"
ADMIN_KEY = "the-owner-alone-knows-this"


@contextmanager
def serving(
    doors: Doors,
    *,
    token: str | None = None,
    admin_key: str | None = None,
    server: ServerSettings | None = None,
    ceiling: Sensitivity = Sensitivity.PERSONAL,
) -> Iterator[httpx.URL]:
    """Serve the real application with a real server on a free port."""
    settings = (server or ServerSettings()).model_copy(update={"port": 0})
    app = make_http(doors, server=settings, ceiling=ceiling, token=token, admin_key=admin_key)
    running = uvicorn.Server(uvicorn.Config(app, **uvicorn_options(settings)))
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    try:
        yield httpx.URL(f"http://127.0.0.1:{_port(running, thread)}")
    finally:
        running.should_exit = True
        thread.join(PATIENCE)
        assert not thread.is_alive(), "the server did not end"


def _port(server: uvicorn.Server, thread: threading.Thread) -> int:
    pause = threading.Event()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        pause.wait(0.01)
    port: int = server.servers[0].sockets[0].getsockname()[1]
    return port
