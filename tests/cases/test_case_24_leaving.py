"""Case 24: a caller who hangs up while a plain answer is made leaves no complaint of the server behind."""

import asyncio
import logging

import httpx
import pytest

from adapters.doors import SIMPLE, STEP, ScriptedDoors, serving

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_leaving_a_plain_answer_is_no_error_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    doors = ScriptedDoors(scripts={"slow": (STEP, *SIMPLE)})
    logging.getLogger("uvicorn.error").addHandler(caplog.handler)
    with serving(doors) as url:
        async with httpx.AsyncClient(base_url=url, timeout=10) as http:
            plain = {"Accept": "application/json"}
            asking = asyncio.create_task(http.post("/api/ask", json={"question": "slow"}, headers=plain))
            await asyncio.to_thread(doors.wait_until, lambda d: d.running == 1)
            asking.cancel()
        await asyncio.to_thread(doors.wait_until, lambda d: d.running == 0)
    logging.getLogger("uvicorn.error").removeHandler(caplog.handler)
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == []
