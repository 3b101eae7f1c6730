import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import suppress

import anyio
import httpx
import psutil
import pytest

from adapters.doors import DONE, PACED, RENT, SIMPLE, STEP, ScriptedDoors, serving, sources_event
from vault_ask.settings.serving import ServerSettings
from vault_ask.wire import DeltaEvent

pytestmark = pytest.mark.anyio
QUESTION = {"question": "slow"}
LONG = (sources_event(RENT), *((STEP, DeltaEvent(text="word ")) * 1_500), DONE)
NEVER = (STEP, *SIMPLE)


@pytest.fixture
def doors() -> ScriptedDoors:
    return ScriptedDoors(scripts={"slow": LONG, "paced": PACED, "before": NEVER})


@pytest.fixture
async def http(doors: ScriptedDoors) -> AsyncIterator[httpx.AsyncClient]:
    with serving(doors) as url:
        async with httpx.AsyncClient(base_url=url, timeout=10) as client:
            yield client


async def leave_after(http: httpx.AsyncClient, tokens: int) -> None:
    """Read so many deltas of an answer that would take half a minute, then hang up."""
    async with http.stream("POST", "/api/ask", json={"question": "paced"}) as stream:
        seen = 0
        async for line in stream.aiter_lines():
            seen += line == "event: delta"
            if seen == tokens:
                return


async def gone(doors: ScriptedDoors, answers: int) -> None:
    """Wait the two seconds an abandoned answer may take to stop."""
    await asyncio.to_thread(doors.wait_until, lambda d: d.running == 0 and d.cleaned == answers, seconds=2)


async def test_tokens_arrive_one_by_one_as_they_are_made(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    async with http.stream("POST", "/api/ask", json=QUESTION) as stream:
        lines = stream.aiter_lines()
        for made in range(1, 4):
            doors.go()
            async for line in lines:
                if line == "event: delta":
                    break
            assert doors.steps_made == made


async def test_leaving_after_the_third_token_stops_the_answer(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    await leave_after(http, 3)
    await gone(doors, 1)
    assert 3 <= doors.steps_made < 3 + 2 / 0.02


async def test_leaving_before_the_first_event_stops_the_answer(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    async with http.stream("POST", "/api/ask", json={"question": "before"}) as stream:
        assert stream.status_code == 200
        await asyncio.to_thread(doors.wait_until, lambda d: d.running == 1)
    await gone(doors, 1)
    assert doors.steps_made == 0


async def test_leaving_a_plain_answer_stops_it_too(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    asking = asyncio.create_task(http.post("/api/ask", json=QUESTION, headers={"Accept": "application/json"}))
    await asyncio.to_thread(doors.wait_until, lambda d: d.running == 1)
    asking.cancel()
    await gone(doors, 1)


async def test_ten_who_leave_at_once_leave_nothing_behind(http: httpx.AsyncClient, doors: ScriptedDoors) -> None:
    await http.get("/healthz")
    process = psutil.Process()
    before = (process.num_fds(), threading.active_count())
    await asyncio.gather(*(leave_after(http, 3) for _ in range(10)))
    await gone(doors, 10)
    answer = await http.post("/api/ask", json={"question": "normal"}, headers={"Accept": "application/json"})
    assert answer.json()["answer"].startswith("Rent is 9200")
    assert doors.most_running <= ServerSettings().max_concurrent_answers
    with serving(ScriptedDoors()):  # a second server's start lets the first close what it still has to
        pass
    assert process.num_fds() <= before[0] + 1
    assert threading.active_count() <= before[1] + 1


async def test_who_leaves_the_queue_frees_the_place_for_the_next() -> None:
    doors = ScriptedDoors(scripts={"paced": PACED})
    with serving(doors, server=ServerSettings(max_concurrent_answers=1)) as url:
        async with httpx.AsyncClient(base_url=url, timeout=10) as http:
            first = asyncio.create_task(leave_after(http, 1_000))
            await asyncio.to_thread(doors.wait_until, lambda d: d.running == 1)
            async with http.stream("POST", "/api/ask", json={"question": "waiting"}):
                assert len(doors.asked) == 1
            last = asyncio.create_task(http.post("/api/ask", json={"question": "last"}))
            first.cancel()
            assert "event: done" in (await last).text
    assert [asked.question for asked in doors.asked] == ["paced", "last"]


async def test_a_reader_who_does_not_read_holds_no_place() -> None:
    many = (sources_event(RENT), *(DeltaEvent(text="x" * 10_000) for _ in range(500)), DONE)
    doors = ScriptedDoors(scripts={"long": many})
    with serving(doors, server=ServerSettings(max_concurrent_answers=1)) as url:
        async with (
            httpx.AsyncClient(base_url=url, timeout=10) as http,
            http.stream("POST", "/api/ask", json={"question": "long"}),
        ):
            await asyncio.to_thread(doors.wait_until, lambda d: d.cleaned == 1)
            answer = await http.post("/api/ask", json={"question": "next"})
    assert "event: done" in answer.text


SERVE = """
import uvicorn
from adapters.doors import PACED, ScriptedDoors
from vault_ask.adapters.http import make_http, uvicorn_options
from vault_ask.scope import Sensitivity
from vault_ask.settings.serving import ServerSettings

settings = ServerSettings(port=0)
app = make_http(ScriptedDoors(script=PACED), server=settings, ceiling=Sensitivity.OPEN, token=None)
uvicorn.run(app, **{**uvicorn_options(settings), "log_level": "info"})  # its start-up line tells the port
"""


async def test_the_daemon_ends_within_five_seconds_although_an_answer_is_streaming() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    daemon = await asyncio.create_subprocess_exec(sys.executable, "-c", SERVE, env=environment, stderr=subprocess.PIPE)
    assert daemon.stderr
    said = b""
    with anyio.fail_after(20):
        while (found := re.search(rb"(http://127\.0\.0\.1:\d+)", said)) is None:
            said = await daemon.stderr.readline()
    received = ""
    async with httpx.AsyncClient(timeout=10) as http:
        with anyio.fail_after(5), suppress(httpx.RemoteProtocolError):
            async with http.stream("POST", f"{found[1].decode()}/api/ask", json=QUESTION) as stream:
                async for text in stream.aiter_text():
                    if not received:
                        daemon.terminate()
                    received += text
        with anyio.fail_after(5):
            await daemon.communicate()
    assert "event: sources" in received
    assert "event: done" not in received
