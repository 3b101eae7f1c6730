import asyncio
import signal
import socket
import threading
import time

import httpx
import pytest
import uvicorn

from cli.commands import Commands, Served
from cli.conftest import Making
from vault_ask.serving import serve
from vault_ask.settings.loading import load_settings
from waiting import wait_until

TOKEN = "a-long-and-random-word"
ENDS_WITHIN = 5.0


def stopped(served: Served, number: signal.Signals = signal.SIGTERM) -> float:
    """Send a signal and give the seconds until the daemon has ended."""
    started = time.monotonic()
    served.process.send_signal(number)
    served.process.wait(30)
    return time.monotonic() - started


def test_it_prints_its_address_answers_there_and_ends_at_sigterm_with_code_0(library: Commands) -> None:
    with library.serving() as served:
        assert served.address is not None
        assert f"vault-ask serves 'vault'. Open {served.address}/chat" in served.said
        health = httpx.get(f"{served.address}/healthz")
        assert (health.status_code, health.json()) == (200, {"status": "ok"})
        answer = httpx.post(
            f"{served.address}/api/ask",
            json={"question": "How long is the notice period?"},
            headers={"Accept": "application/json"},
            timeout=30,
        ).json()
        assert answer["citations"][0]["path"] == "Flat/Rent.md"
        assert stopped(served) < ENDS_WITHIN
        assert served.process.returncode == 0
        assert served.process.stdout is not None
        assert served.process.stdout.read() == b""
        assert "Traceback" not in served.said
        assert "notice period" not in served.said


def test_ctrl_c_ends_it_as_cleanly(library: Commands) -> None:
    with library.serving() as served:
        assert stopped(served, signal.SIGINT) < ENDS_WITHIN
        assert served.process.returncode == 0
        assert "Traceback" not in served.said
    # A clean end folds the journal into the index.
    assert library.data is not None
    assert not list(library.data.glob("*-wal"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_server_is_being_made_ends_it_in_order(
    library: Commands, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """Raised in the middle of asyncio's constructor, an exception left half a loop and its complaints behind."""
    made: list[asyncio.AbstractEventLoop] = []

    def interrupted() -> asyncio.AbstractEventLoop:
        signal.raise_signal(number)
        made.append(asyncio.new_event_loop())
        return made[-1]

    monkeypatch.setattr(uvicorn.Config, "get_loop_factory", lambda _config: interrupted)
    told: list[str] = []
    settings = load_settings(
        config=library.config,
        overrides={"data": library.data, "vault": {"path": library.vault}, "server": {"port": 0}},
    )
    assert serve(settings, rebuild=False, tell=told.append) == 0
    assert any("vault-ask serves" in line for line in told)
    assert [loop.is_closed() for loop in made] == [True]


def test_it_ends_in_time_while_it_embeds_and_somebody_reads_a_stream(commands: Making) -> None:
    vault_ask = commands({f"{n}.md": f"# Note {n}\n\n" + f"The quince of day {n} was ripe. " * 60 for n in range(200)})
    with vault_ask.serving() as served:
        address = served.address

        def embedding() -> bool:
            progress = httpx.get(f"{address}/api/status", timeout=30).json()["progress"]
            return bool(progress["phase"] == "embedding")

        wait_until(embedding, seconds=60)
        begun = threading.Event()

        def read() -> None:
            body = {"question": "Which quince was ripe on day 7?"}
            try:
                with httpx.stream("POST", f"{address}/api/ask", json=body, timeout=30) as stream:
                    for _ in stream.iter_lines():
                        begun.set()
            except httpx.TransportError:
                begun.set()

        reader = threading.Thread(target=read)
        reader.start()
        assert begun.wait(30)
        assert stopped(served) < ENDS_WITHIN
        reader.join(30)
        assert served.process.returncode == 0
        assert "Traceback" not in served.said


def test_a_reader_of_events_does_not_hold_up_the_end(library: Commands) -> None:
    with library.serving() as served, httpx.stream("GET", f"{served.address}/api/events", timeout=30) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: index"
        assert stopped(served) < ENDS_WITHIN
        assert served.process.returncode == 0
        assert "Traceback" not in served.said
        assert "ERROR" not in served.said
        assert [line for line in lines if line.startswith("event: ") and line != "event: index"] == []


def test_a_port_that_is_taken_is_one_sentence(library: Commands) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        sentence = library("serve", "--port", str(taken.getsockname()[1])).sentence(code=2)
    assert "cannot be listened on (Address already in use)" in sentence
    assert "--port" in sentence


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])  # noqa: S104 - what must be refused
def test_an_address_for_others_is_refused_without_a_token(library: Commands, host: str) -> None:
    for token in ({}, {"VAULTASK_API_TOKEN": "  "}):
        assert "VAULTASK_API_TOKEN" in library("serve", "--host", host, "--port", "0", **token).sentence(code=2)


def test_an_address_for_others_is_served_with_a_token_and_asks_for_it(library: Commands) -> None:
    with library.serving("--host", "0.0.0.0", VAULTASK_API_TOKEN=TOKEN) as served:  # noqa: S104 - guarded by the token
        assert served.address is not None
        assert served.address.startswith("http://127.0.0.1:")
        assert TOKEN not in served.said
        assert httpx.get(f"{served.address}/api/status").status_code == 401
        allowed = httpx.get(f"{served.address}/api/status", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=30)
        assert allowed.json()["notes"] == 13


def test_an_address_that_is_not_this_machines_is_one_sentence(library: Commands) -> None:
    said = library("serve", "--host", "192.0.2.7", "--port", "0", VAULTASK_API_TOKEN=TOKEN)
    assert "cannot be listened on" in said.sentence(code=2)
