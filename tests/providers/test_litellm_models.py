import asyncio
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import pytest

from model_server import Endless, Fault, ModelServer, Reset, Silence, Status, Step
from prompting import prompt_of
from vault_ask.answering.context import Excerpt
from vault_ask.answering.conversation import Turn
from vault_ask.answering.evidence import Prompt
from vault_ask.answering.ports import CutShort, Piece, Window
from vault_ask.errors import ModelBusy, ModelError, ModelRefused, ModelUnreachable
from vault_ask.providers.hosted import BELIEVED_SECONDS
from vault_ask.providers.litellm_models import LitellmGenerator
from vault_ask.settings.models import ModelSettings

EXCERPT = Excerpt(
    n=1,
    path="Rent.md",
    title="Rent",
    heading_path=(),
    text="Rent is 9200 from May.",
    line_start=1,
    line_end=1,
    score=1.0,
)
PROMPT = prompt_of("What is the rent?", EXCERPT)
FIVE = ["a ", "b ", "c ", "d ", "e "]
ROUTES = ["openai/m", "ollama_chat/m"]


def generator(server: ModelServer, model: str, **settings: float) -> LitellmGenerator:
    base = server.openai_base if model.startswith("openai/") else server.ollama_base
    values: dict[str, Any] = {"generation": model, "api_base": base, "timeout_seconds": 60, **settings}
    return LitellmGenerator(ModelSettings(**values), model)


async def read(model: LitellmGenerator, prompt: Prompt = PROMPT) -> tuple[list[Piece], ModelError | None]:
    pieces: list[Piece] = []
    try:
        async with aclosing(model.stream(prompt)) as stream:
            async for piece in stream:
                pieces.extend([piece] if piece != "" else [])
    except ModelError as error:
        return pieces, error
    return pieces, None


def answer(script: Sequence[Step], model: str, *, finish: str = "stop") -> tuple[list[Piece], ModelError | None]:
    with ModelServer(script=script, finish=finish) as server:
        return asyncio.run(read(generator(server, model)))


@pytest.fixture(scope="module", autouse=True)
def _litellm_imported_once() -> None:
    LitellmGenerator(ModelSettings(), "openai/m").warm()


@pytest.mark.parametrize("model", [*ROUTES, "ollama/m"])
def test_an_answer_comes_token_by_token(model: str) -> None:
    assert answer(FIVE, model) == (FIVE, None)


@pytest.mark.parametrize("model", ROUTES)
@pytest.mark.parametrize(
    ("script", "pieces", "kind", "words"),
    [
        ([*FIVE, Reset()], FIVE, ModelUnreachable, "broke off"),
        ([*FIVE, Fault()], FIVE, ModelUnreachable, "broke off"),
        ([], [], type(None), ""),
        ([Status(401)], [], ModelRefused, "_API_KEY"),
        ([Status(404)], [], ModelRefused, "no model called m"),
        ([Status(429)], [], ModelBusy, "too much to do"),
        ([Status(500)], [], ModelUnreachable, "Try again"),
        ([Status(503)], [], ModelBusy, "too much to do"),
    ],
)
def test_a_fault_of_the_server_is_an_error_that_says_what_to_do(
    model: str, script: list[Step], pieces: list[str], kind: type, words: str
) -> None:
    found, error = answer(script, model)
    assert found == pieces
    assert isinstance(error, kind)
    assert words in str(error)
    assert not any(secret in str(error) for secret in ("http", "10.9.8.7", "sk-", "127.0.0.1"))


@pytest.mark.parametrize("model", ROUTES)
def test_a_reply_cut_for_room_ends_with_cut_short(model: str) -> None:
    assert answer(["Rent"], model, finish="length") == (["Rent", CutShort()], None)


@pytest.mark.parametrize("model", ROUTES)
def test_thoughts_are_left_out_of_the_reply(model: str) -> None:
    pieces, error = answer(["<th", "ink>well, ", "9300?</th", "ink>\n\n", "Rent is ", "9200"], model)
    assert ("".join(map(str, pieces)), error) == ("Rent is 9200", None)


@pytest.mark.parametrize("model", ROUTES)
def test_a_server_that_falls_silent_times_out(model: str) -> None:
    with ModelServer(script=[Silence()]) as server:
        pieces, error = asyncio.run(read(generator(server, model, timeout_seconds=0.3)))
    assert pieces == []
    assert isinstance(error, ModelUnreachable)
    assert "models.timeout_seconds" in str(error)


@pytest.mark.parametrize("model", ROUTES)
def test_a_reader_who_leaves_closes_the_connection_within_two_seconds(model: str) -> None:
    async def leave(server: ModelServer) -> bool:
        async with aclosing(generator(server, model).stream(PROMPT)) as stream:
            async for _ in stream:
                if server.sent >= 3:
                    break
        return await asyncio.to_thread(server.left.wait, 2)

    with ModelServer(script=[Endless()]) as server:
        assert asyncio.run(leave(server))


@pytest.mark.parametrize("model", ROUTES)
def test_a_task_cancelled_before_the_first_token_closes_the_connection(model: str) -> None:
    async def cancel(server: ModelServer) -> bool:
        task = asyncio.create_task(read(generator(server, model)))
        await asyncio.to_thread(server.asked.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await asyncio.to_thread(server.left.wait, 2)

    with ModelServer(script=[Silence()]) as server:
        assert asyncio.run(cancel(server))


class TestWindow:
    MARKED = prompt_of("MARK-Q what?", EXCERPT, history=(Turn(role="user", text="earlier"),))

    def test_the_window_is_asked_of_ollama(self) -> None:
        with ModelServer(script=FIVE) as server:
            asyncio.run(read(generator(server, "ollama_chat/m", context_tokens=16_384), self.MARKED))
            assert server.requests[0]["options"]["num_ctx"] == 16_384
            assert server.requests[0]["options"]["num_predict"] == 1024
            assert server.seen().startswith("You answer questions")
            assert server.seen().endswith("MARK-Q what?")
            assert len(server.requests) == 1

    def test_a_server_that_cannot_be_asked_is_taken_for_small_unless_the_owner_says_otherwise(self) -> None:
        with ModelServer() as server:
            assert generator(server, "openai/m").window == Window(4096, 1024, assured=False)
            assert generator(server, "openai/m", context_tokens=32_768).window == Window(32_768, 1024)
            assert generator(server, "ollama_chat/m").window == Window(8192, 1024)
        assert LitellmGenerator(ModelSettings(), "anthropic/claude").window == Window(8192, 1024)

    def test_the_reply_never_takes_more_than_half(self) -> None:
        small = LitellmGenerator(ModelSettings(context_tokens=1024, reply_tokens=4000), "ollama_chat/m")
        assert small.window == Window(1024, 512)


class TestLocality:
    @pytest.mark.parametrize(
        ("model", "api_base", "local"),
        [
            ("ollama_chat/qwen3:4b", None, True),
            ("ollama/qwen3:4b", None, True),
            ("ollama_chat/gpt-oss:120b-cloud", None, False),
            ("ollama_chat/minimax-m2:cloud", None, False),
            ("ollama_chat/Kimi:CLOUD", None, False),
            ("ollama_chat/gpt-oss:20b:cloud", None, False),
            ("ollama_chat/gpt-oss:20b:cloud ", None, False),
            ("openai/gpt-oss:120b-cloud", "http://127.0.0.1:11434/v1", False),
            ("ollama_chat/qwen3:4b", "http://2130706433:11434", True),
            ("ollama_chat/qwen3:4b", "http://134744072:11434", False),
            ("ollama_chat/qwen3:4b", "http://[::ffff:8.8.8.8]:11434", False),
            ("ollama_chat/qwen3:4b", "http://127.0.0.1@evil.example", False),
            ("ollama_chat/qwen3:4b", "http://localhost.evil.example:11434", False),
            ("ollama_chat/qwen3:4b", "http://192.168.1.5:11434", True),
            ("ollama_chat/qwen3:4b", "https://ollama.com", False),
            ("openai/local", "http://127.0.0.1:8080/v1", True),
            ("openai/local", "http://[::1]:8080/v1", True),
            ("openai/local", "https://api.example.com/v1", False),
            ("openai/local", "https://gateway.example.com/v1", True),
            ("openai/gpt-5", None, False),
            ("gpt-5", None, False),
            ("anthropic/claude", "http://127.0.0.1:8080", False),
        ],
    )
    def test_a_model_is_local_only_where_that_can_be_told(
        self, model: str, api_base: str | None, *, local: bool
    ) -> None:
        settings = ModelSettings(api_base=api_base, local_hosts=("gateway.example.com",))
        assert LitellmGenerator(settings, model).is_local is local

    def test_the_environment_cannot_lead_a_local_model_elsewhere(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "OLLAMA_API_BASE", "OPENAI_API_BASE", "OPENAI_BASE_URL"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        for model in ROUTES:
            assert answer(FIVE, model) == (FIVE, None)

    @pytest.mark.parametrize("model", ROUTES)
    def test_another_client_than_ours_finds_no_local_model(self, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Were litellm to use a client of its own, the address it was given would lead that nowhere."""

        async def no_client(_self: LitellmGenerator, _closing: object) -> None:
            return None

        with ModelServer(script=FIVE) as server, ModelServer(script=FIVE) as proxy:
            for name in ("HTTP_PROXY", "ALL_PROXY"):
                monkeypatch.setenv(name, proxy.ollama_base)
            assert asyncio.run(read(generator(server, model))) == (FIVE, None)
            monkeypatch.setattr(LitellmGenerator, "_client", no_client)
            pieces, error = asyncio.run(read(generator(server, model)))
            assert (pieces, len(server.requests), proxy.connections) == ([], 1, 0)
        assert isinstance(error, ModelError)

    @pytest.mark.parametrize("model", ROUTES)
    def test_a_redirect_is_not_followed(self, model: str) -> None:
        with ModelServer(script=FIVE) as elsewhere:
            where = elsewhere.openai_base + "/chat/completions" if model == "openai/m" else elsewhere.ollama_base
            pieces, error = answer([Status(307, where)], model)
            assert (pieces, elsewhere.requests) == ([], [])
        assert isinstance(error, ModelError)

    def test_a_key_of_a_hosted_model_is_told_by_its_variable(self) -> None:
        _, error = answer([Status(401)], "openai/m")
        assert "OPENAI_API_KEY" in str(error)


class TestReach:
    def test_nobody_at_a_local_address_is_known_before_asking(self) -> None:
        with ModelServer() as server:
            base = server.openai_base
        model = LitellmGenerator(ModelSettings(api_base=base), "openai/m")
        with pytest.raises(ModelUnreachable, match="nobody answers"):
            asyncio.run(model.reach())

    def test_a_listening_server_and_a_hosted_model_pass(self) -> None:
        with ModelServer() as server:
            asyncio.run(generator(server, "openai/m").reach())
            assert server.requests == []
        asyncio.run(LitellmGenerator(ModelSettings(), "anthropic/claude").reach())

    def test_a_model_that_ollama_passes_on_is_refused_under_any_name(self) -> None:
        for model in ROUTES:
            with ModelServer(script=FIVE, upstream="https://ollama.com:443") as server:
                passed_on = generator(server, model)
                with pytest.raises(ModelRefused, match=r"does not run on your Ollama server.*nothing was sent"):
                    asyncio.run(passed_on.reach())
                pieces, error = asyncio.run(read(passed_on))
                assert (pieces, type(error), server.requests) == ([], ModelRefused, []), "also who did not reach first"
                server.upstream = ""
                assert asyncio.run(read(passed_on)) == (FIVE, None)

    def test_a_refusal_counts_at_once_for_whoever_asks_next(self) -> None:
        with ModelServer(script=FIVE) as server:
            model = generator(server, "ollama_chat/m")
            assert asyncio.run(read(model)) == (FIVE, None)
            server.upstream = "https://ollama.com:443"
            with pytest.raises(ModelRefused, match="passes it on"):
                asyncio.run(model.reach())
            pieces, error = asyncio.run(read(model))
        assert (pieces, type(error), len(server.requests)) == ([], ModelRefused, 1)

    def test_where_a_model_runs_is_asked_once_an_answer_and_once_a_minute(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with ModelServer(script=FIVE) as server:
            model = generator(server, "ollama_chat/m")
            asyncio.run(model.reach())
            asyncio.run(read(model))
            assert server.described == ["/api/show"]
            server.upstream = "https://ollama.com:443"
            later = time.monotonic() + BELIEVED_SECONDS
            monkeypatch.setattr("vault_ask.providers.own_model.time.monotonic", lambda: later)
            pieces, error = asyncio.run(read(model))
        assert (pieces, type(error), len(server.requests)) == ([], ModelRefused, 1)

    @pytest.mark.parametrize(
        ("status", "kind", "words"),
        [
            (429, ModelBusy, "too much to do"),
            (500, ModelUnreachable, "asked where the model runs"),
            (307, ModelRefused, "no redirect is followed"),
            (401, ModelRefused, "OLLAMA_API_KEY"),
        ],
    )
    def test_a_server_that_does_not_say_where_a_model_runs_is_told_nothing(
        self, status: int, kind: type, words: str
    ) -> None:
        with ModelServer(script=FIVE, show_status=status) as server:
            pieces, error = asyncio.run(read(generator(server, "ollama_chat/m")))
        assert (pieces, type(error), server.requests) == ([], kind, [])
        assert words in str(error)

    @pytest.mark.parametrize("status", [404, 405, 501])
    def test_a_server_that_knows_no_show_is_no_ollama(self, status: int) -> None:
        with ModelServer(script=FIVE, show_status=status) as server:
            assert asyncio.run(read(generator(server, "ollama_chat/m"))) == (FIVE, None)

    def test_a_gateway_is_told_nothing_unless_the_owner_lists_it(self) -> None:
        for gateway in (ModelServer(owned_by="openai"), ModelServer(headers={"x-litellm-version": "1.110"})):
            gateway.script = FIVE
            with gateway as server:
                with pytest.raises(ModelRefused, match=r"is a gateway.*models\.local_hosts"):
                    asyncio.run(generator(server, "openai/m").reach())
                assert server.requests == []
                settings = ModelSettings(api_base=server.openai_base, local_hosts=("127.0.0.1",))
                assert asyncio.run(read(LitellmGenerator(settings, "openai/m"))) == (FIVE, None)

    @pytest.mark.parametrize("address", ["http://[::1", "http://127.0.0.1:port", "127.0.0.1:11434", "ftp://127.0.0.1"])
    def test_an_address_that_is_none_is_told_as_such_or_counts_as_remote(self, address: str) -> None:
        model = LitellmGenerator(ModelSettings(api_base=address), "ollama_chat/m")
        if model.is_local:
            with pytest.raises(ModelRefused, match=r"models\.api_base is no address"):
                asyncio.run(model.reach())
        else:
            asyncio.run(model.reach())


def test_litellm_is_not_imported_before_an_answer_is_worded() -> None:
    code = (
        "import sys\n"
        "from vault_ask.providers.litellm_models import LitellmGenerator\n"
        "from vault_ask.settings.models import ModelSettings\n"
        "model = LitellmGenerator(ModelSettings(), 'ollama_chat/m')\n"
        "print(model.name, model.is_local, model.window.tokens, {'litellm', 'httpx', 'anyio'} & {*sys.modules})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["ollama_chat/m", "True", "8192", "set()"]
