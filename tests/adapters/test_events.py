"""`/api/events` from a real server: who may follow, what comes when, and what is left when a reader goes."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import httpx
import pytest

from adapters.doors import ADMIN_KEY, INDEXING, PATIENCE, STATUS, TOKEN, ScriptedDoors, event_of, now_at, serving
from vault_ask import news
from vault_ask.adapters import rest
from vault_ask.adapters.sse import news_stream
from vault_ask.bulletin import Bulletin
from vault_ask.errors import SourceUnreachable
from vault_ask.news import MOST_NAMED, Edition, Editions, News, notes_event, told
from vault_ask.scope import OpenScope, PrivateScope, Sensitivity
from vault_ask.wire import IndexEvent, NotesEvent

pytestmark = pytest.mark.anyio


@pytest.fixture
def doors() -> ScriptedDoors:
    return ScriptedDoors()


@pytest.fixture
async def http(doors: ScriptedDoors) -> AsyncIterator[httpx.AsyncClient]:
    with serving(doors) as url:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
            yield client


@asynccontextmanager
async def following(http: httpx.AsyncClient) -> AsyncIterator[AsyncIterator[IndexEvent]]:
    """Follow the index for the time of a block."""
    async with http.stream("GET", "/api/events") as stream:
        assert stream.status_code == 200
        yield events_of(stream)


async def events_of(stream: httpx.Response) -> AsyncIterator[IndexEvent]:
    async for line in stream.aiter_lines():
        if line.startswith("data: "):
            yield IndexEvent.model_validate_json(line.removeprefix("data: "))


async def settled(doors: ScriptedDoors, readers: int) -> None:
    await asyncio.to_thread(doors.wait_until, lambda d: d.following == readers)


async def test_the_present_state_comes_at_once_and_the_next_one_when_it_changed(
    http: httpx.AsyncClient, doors: ScriptedDoors
) -> None:
    async with following(http) as events:
        with anyio.fail_after(PATIENCE):
            assert await anext(events) == event_of(STATUS)
            doors.become(now_at(progress=INDEXING))
            assert (await anext(events)).progress == INDEXING
            doors.become(STATUS)
            assert await anext(events) == event_of(STATUS)
    assert doors.followed == [Sensitivity.PERSONAL]


async def test_it_is_a_stream_of_named_events_that_no_proxy_keeps(http: httpx.AsyncClient) -> None:
    async with http.stream("GET", "/api/events?since=3&anything=else") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert (stream.headers["cache-control"], stream.headers["x-accel-buffering"]) == ("no-store", "no")
        assert await anext(stream.aiter_lines()) == "event: index"


async def test_a_state_that_looks_the_same_is_not_told_again(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    async with following(http) as events:
        await anext(events)
        doors.become(STATUS)
        await asyncio.to_thread(doors.wait_until, lambda d: d.presented == 2)
        doors.become(now_at(lag=1))
        assert (await anext(events)).freshness.lag == 1


async def test_other_methods_open_no_stream(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    for method in ("HEAD", "DELETE"):
        assert (await http.request(method, "/api/events")).status_code == 405
    assert doors.followed == []


async def test_the_token_is_needed_where_one_is_set(doors: ScriptedDoors) -> None:
    with serving(doors, token=TOKEN) as url:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
            assert (await http.get("/api/events")).json()["code"] == "token_needed"
            assert (await http.get("/api/events", headers={"Authorization": "Bearer no"})).status_code == 401
            assert (await http.post("/api/session", json={"token": TOKEN})).status_code == 204
            async with following(http) as events:
                assert await anext(events) == event_of(STATUS)
            http.cookies.clear()
            http.headers["Authorization"] = f"Bearer {TOKEN}"
            async with following(http) as events:
                assert await anext(events) == event_of(STATUS)
    assert len(doors.followed) == 2


async def test_another_sites_page_may_not_follow(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    refused = await http.get("/api/events", headers={"Origin": "https://elsewhere.example"})
    assert (refused.status_code, refused.json()["code"]) == (403, "foreign_origin")
    assert doors.followed == []


async def test_who_leaves_frees_a_place_and_one_too_many_is_told_so(
    http: httpx.AsyncClient, doors: ScriptedDoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "MAX_READERS", 3)
    async with AsyncExitStack() as others:
        readers = [await others.enter_async_context(following(http)) for _ in range(2)]
        for reader in readers:
            await anext(reader)
        async with following(http) as events:
            await anext(events)
            refused = await http.get("/api/events")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
            assert refused.json()["message"].startswith("3 clients follow the index already.")
        await settled(doors, 2)
        async with following(http) as events:
            assert await anext(events) == event_of(STATUS)
    await settled(doors, 0)


async def test_who_comes_while_others_wait_for_their_first_event_is_counted_too(
    http: httpx.AsyncClient, doors: ScriptedDoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "MAX_READERS", 3)
    answers: list[int] = []
    all_answered, leave = asyncio.Event(), asyncio.Event()

    async def read() -> None:
        async with http.stream("GET", "/api/events") as stream:
            answers.append(stream.status_code)
            if len(answers) == 12:
                all_answered.set()
            await leave.wait()

    # What a state is made from is slow, so that all of them are there before the first is told anything.
    present = doors._present
    monkeypatch.setattr(doors._bulletin, "_make", slowly(present, 0.3))
    async with asyncio.TaskGroup() as readers:
        for _ in range(12):
            readers.create_task(read())
        with anyio.fail_after(PATIENCE):
            await all_answered.wait()
        leave.set()
    assert sorted(answers) == [200] * 3 + [503] * 9
    await settled(doors, 0)
    async with following(http) as events:
        assert await anext(events) == event_of(STATUS)


def slowly(make: Callable[[], Awaitable[News]], seconds: float) -> Callable[[], Awaitable[News]]:
    async def made() -> News:
        await asyncio.sleep(seconds)
        return await make()

    return made


async def test_a_reader_who_was_told_nothing_frees_its_place(
    http: httpx.AsyncClient, doors: ScriptedDoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rest, "MAX_READERS", 1)
    doors.events_error = SourceUnreachable("The vault is away.")
    for _ in range(3):
        assert (await http.get("/api/events")).json()["code"] == "source_unreachable"
    doors.events_error = None
    async with following(http) as events:
        assert await anext(events) == event_of(STATUS)


async def test_a_response_that_nobody_begins_to_read_frees_its_place_once() -> None:
    ended: list[bool] = []

    async def never() -> AsyncIterator[IndexEvent]:
        yield event_of(STATUS)  # pragma: no cover - nobody reads

    async def refuse(*_: object) -> None:
        raise OSError("the connection is gone")

    response = news_stream(never(), ended=lambda: ended.append(True))
    with pytest.raises(OSError, match="gone"):
        await response({"type": "http", "method": "GET"}, anyio.sleep_forever, refuse)
    assert ended == [True]


async def test_what_cannot_be_told_is_an_answer_of_its_own(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    doors.events_error = SourceUnreachable("The vault is away.")
    refused = await http.get("/api/events")
    assert (refused.status_code, refused.json()) == (
        503,
        {"code": "source_unreachable", "message": "The vault is away."},
    )
    doors.events_error = None
    async with following(http) as events:
        await anext(events)
        doors.events_error = SourceUnreachable("The vault is away.")
        doors.become(now_at(lag=1))
        assert [event async for event in events] == []
    await settled(doors, 0)


# Notes that changed

OPEN, PRIVATE = OpenScope(web_allowed=False), PrivateScope()


@asynccontextmanager
async def watching(http: httpx.AsyncClient) -> AsyncIterator[AsyncIterator[IndexEvent | NotesEvent]]:
    """Follow the index and its notes for the time of a block."""
    async with http.stream("GET", "/api/events") as stream:
        yield all_events_of(stream)


async def all_events_of(stream: httpx.Response) -> AsyncIterator[IndexEvent | NotesEvent]:
    name = ""
    async for line in stream.aiter_lines():
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        if line.startswith("data: "):
            kind = {"index": IndexEvent, "notes": NotesEvent}[name]
            yield kind.model_validate_json(line.removeprefix("data: "))


def changes(*changed: str, gone: tuple[str, ...] = (), more: bool = False) -> NotesEvent:
    return NotesEvent(changed=changed, gone=gone, more=more)


async def test_notes_that_changed_since_the_stream_began_are_named_once(
    http: httpx.AsyncClient, doors: ScriptedDoors
) -> None:
    doors.hold({"Old.md": 1, "Same.md": 1})
    async with watching(http) as events:
        with anyio.fail_after(PATIENCE):
            assert await anext(events) == event_of(STATUS)
            doors.hold({"Old.md": 2, "Same.md": 1, "Möte.md": 1})
            assert await anext(events) == changes("Möte.md", "Old.md")
            doors.become(now_at(lag=1))
            assert await anext(events) == event_of(now_at(lag=1))
            doors.hold({"Same.md": 1, "Möte.md": 1})
            assert await anext(events) == changes(gone=("Old.md",))


async def test_a_state_and_the_notes_that_changed_it_come_one_after_the_other(
    http: httpx.AsyncClient, doors: ScriptedDoors
) -> None:
    async with watching(http) as events:
        with anyio.fail_after(PATIENCE):
            await anext(events)
            doors.state = now_at(progress=INDEXING)
            doors.hold({"New.md": 1})
            assert await anext(events) == event_of(now_at(progress=INDEXING))
            assert await anext(events) == changes("New.md")


@pytest.mark.parametrize(
    ("ceiling", "key", "query", "scope"),
    [
        (Sensitivity.PERSONAL, TOKEN, "", OPEN),
        (Sensitivity.PERSONAL, TOKEN, "?include_personal=false", OPEN),
        (Sensitivity.PERSONAL, TOKEN, "?include_personal=true", PRIVATE),
        (Sensitivity.PERSONAL, ADMIN_KEY, "", OPEN),
        (Sensitivity.OPEN, TOKEN, "?include_personal=true", OPEN),
        (Sensitivity.OPEN, ADMIN_KEY, "?include_personal=true", OPEN),
    ],
)
async def test_names_are_those_of_the_scope_that_was_asked_for_and_no_ceiling_or_key_widens_it(
    doors: ScriptedDoors, ceiling: Sensitivity, key: str, query: str, scope: OpenScope | PrivateScope
) -> None:
    with serving(doors, token=TOKEN, admin_key=ADMIN_KEY, ceiling=ceiling) as url:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as http:
            headers = {"Authorization": f"Bearer {key}"}
            async with http.stream("GET", f"/api/events{query}", headers=headers) as stream:
                assert await anext(stream.aiter_lines()) == "event: index"
    assert doors.watched == [scope]


async def states(editions: Editions, *versions: dict[str, int]) -> AsyncIterator[News]:
    for one in versions:
        yield News(event_of(STATUS), editions.take(one))


async def test_a_slow_reader_is_told_all_that_changed_and_nothing_of_what_came_and_went() -> None:
    editions = Editions()
    first, second = {"A.md": 1, "B.md": 1}, {"A.md": 2, "C.md": 1}
    assert [event async for event in told(states(editions, first, second), editions)] == [
        event_of(STATUS),
        changes("A.md", "C.md", gone=("B.md",)),
    ]
    assert [event async for event in told(states(editions, first, dict(first)), editions)] == [event_of(STATUS)]
    former, _, _, back = map(editions.take, (first, second, {"D.md": 1}, dict(first)))
    assert former != back
    assert [event async for event in told(given(former, back), editions)] == [event_of(STATUS)]


async def given(*notes: Edition) -> AsyncIterator[News]:
    for one in notes:
        yield News(event_of(STATUS), one)


async def test_readers_who_missed_the_same_editions_are_told_of_one_comparison_off_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[tuple[int, int, bool]] = []

    def noted(before: Mapping[str, int], now: Mapping[str, int]) -> NotesEvent:
        compared.append((before["A.md"], now["A.md"], threading.current_thread() is threading.main_thread()))
        return notes_event(before, now)

    monkeypatch.setattr(news, "notes_event", noted)
    editions = Editions()
    one, two, three = [await asyncio.to_thread(editions.take, {"A.md": n, f"{n}.md": 1}) for n in (1, 2, 3)]
    assert await asyncio.to_thread(editions.take, {"A.md": 3, "3.md": 1}) is three
    quick = [[event async for event in told(given(one, two, three), editions)] for _ in range(3)]
    assert (
        quick
        == [[event_of(STATUS), changes("2.md", "A.md", gone=("1.md",)), changes("3.md", "A.md", gone=("2.md",))]] * 3
    )
    slow = await asyncio.gather(*(editions.difference(one, three) for _ in range(20)))
    assert slow == [changes("3.md", "A.md", gone=("1.md",))] * 20
    assert compared == [(1, 2, False), (2, 3, False), (3, 3, False), (1, 3, False)]


async def test_only_so_many_differences_are_remembered_and_the_rest_are_made_again() -> None:
    editions = Editions()
    taken = [editions.take({"A.md": n}) for n in range(200)]
    assert len(editions._differences) == 64
    assert [await editions.difference(former, taken[-1]) for former in taken[:3]] == [changes("A.md")] * 3
    assert await editions.difference(taken[0], taken[1]) == changes("A.md")
    assert len(editions._differences) == 64


def test_of_very_many_notes_some_are_named_and_that_there_are_more() -> None:
    many = {f"{n:03}.md": 1 for n in range(MOST_NAMED)}
    assert notes_event({}, many) == changes(*many)
    assert notes_event(many, {}) == changes(gone=tuple(many))
    assert notes_event({}, many | {"one more.md": 1}) == changes(*many, more=True)
    assert notes_event({"gone.md": 1}, many) == changes(*many, more=True)
    few = notes_event(many, {"000.md": 2, "new.md": 1})
    assert (few.changed, len(few.gone), few.gone[-1], few.more) == (("000.md", "new.md"), 98, "098.md", True)


async def test_a_reader_who_stands_still_holds_up_neither_the_writer_nor_others() -> None:
    made, editions = 0, Editions()

    async def make() -> News:
        return News(event_of(STATUS), editions.take({"A.md": made}))

    bulletin = Bulletin(make, pause=0.01)
    slow, quick = told(bulletin.follow(), editions), told(bulletin.follow(), editions)
    await anext(slow)
    await anext(quick)
    with anyio.fail_after(PATIENCE):
        for made in range(1, 30):  # noqa: B007 - `make` reads it
            bulletin.publish()
            assert await anext(quick) == changes("A.md")
        assert await anext(slow) == changes("A.md")
    await slow.aclose()
    await quick.aclose()


class Counter:
    """A state that is a number, and how often it was asked for."""

    def __init__(self) -> None:
        self.value = 0
        self.made = 0

    async def make(self) -> int:
        self.made += 1
        return self.value


async def test_a_reader_gets_the_newest_state_however_many_came_between() -> None:
    counter = Counter()
    bulletin = Bulletin(counter.make, pause=0.05)
    reader = bulletin.follow()
    assert await anext(reader) == 0

    def publish() -> None:
        for number in range(1, 2001):
            counter.value = number
            bulletin.publish()

    publishing = asyncio.create_task(asyncio.to_thread(publish))
    seen = []
    with anyio.fail_after(PATIENCE):
        async for state in reader:
            seen.append(state)
            if state == 2000:
                break
    await publishing
    await reader.aclose()
    assert len(seen) < 20
    assert counter.made <= len(seen) + 2


async def test_one_state_is_made_for_all_readers_and_none_for_nobody() -> None:
    counter = Counter()
    bulletin = Bulletin(counter.make, pause=0.01)
    bulletin.publish()
    readers = [bulletin.follow() for _ in range(20)]
    assert await asyncio.gather(*(anext(reader) for reader in readers)) == [0] * 20
    waiting = [asyncio.create_task(anext(reader)) for reader in readers]
    await anyio.wait_all_tasks_blocked()
    counter.value = 7
    bulletin.publish()
    with anyio.fail_after(PATIENCE):
        assert await asyncio.gather(*waiting) == [7] * 20
    assert counter.made <= 4
    for reader in readers:
        await reader.aclose()


async def test_states_come_no_faster_than_the_pause() -> None:
    counter = Counter()
    bulletin = Bulletin(counter.make, pause=0.2)
    reader = bulletin.follow()
    await anext(reader)
    started = asyncio.get_running_loop().time()
    for number in range(1, 4):
        counter.value = number
        bulletin.publish()
        with anyio.fail_after(PATIENCE):
            assert await anext(reader) == number
    assert asyncio.get_running_loop().time() - started >= 3 * 0.2 - 0.05
    await reader.aclose()


async def test_a_state_that_is_slow_to_make_leaves_most_of_the_time_to_others() -> None:
    counter = Counter()

    async def make_slowly() -> int:
        await asyncio.sleep(0.05)
        return await counter.make()

    bulletin = Bulletin(make_slowly, pause=0.01)
    reader = bulletin.follow()
    await anext(reader)
    started = asyncio.get_running_loop().time()
    counter.value = 1
    bulletin.publish()
    with anyio.fail_after(PATIENCE):
        assert await anext(reader) == 1
    assert asyncio.get_running_loop().time() - started >= 9 * 0.05
    await reader.aclose()


async def test_a_new_reader_need_not_wait_out_the_pause() -> None:
    counter = Counter()
    bulletin = Bulletin(counter.make, pause=PATIENCE * 4)
    first, second = bulletin.follow(), bulletin.follow()
    with anyio.fail_after(PATIENCE):
        assert await anext(first) == 0
        bulletin.publish()
        resting = asyncio.create_task(anext(first))
        await anyio.wait_all_tasks_blocked()
        assert await anext(second) == 0
    resting.cancel()
    await asyncio.wait({resting})
    assert counter.made == 1
