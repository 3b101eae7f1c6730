"""What a process that answers with litellm says, and to whom, with everything switched on that could make it talk."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import vault_ask
from model_server import ModelServer
from ollama_stand_in import OllamaStandIn
from rerank_stand_in import RerankStandIn

TESTS = Path(__file__).parents[1]
CODE = Path(vault_ask.__file__).parents[1]
SECRET = "CANARY-4711"
TALKATIVE = {
    "LITELLM_LOG": "DEBUG",
    "LITELLM_PRINT_STANDARD_LOGGING_PAYLOAD": "1",
    "LITELLM_ROUTE_ALL_CHAT_OPENAI_TO_RESPONSES": "true",
    "EXPERIMENTAL_OPENAI_BASE_LLM_HTTP_HANDLER": "true",
    "LITELLM_CALLBACKS": "langfuse,otel",
    "LANGFUSE_PUBLIC_KEY": "pk",
    "LANGFUSE_SECRET_KEY": "sk",
    "LANGFUSE_HOST": "http://127.0.0.1:1",
    "OTEL_EXPORTER": "otlp_http",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
    "OPENAI_LOG": "debug",
    "HTTP_PROXY": "http://127.0.0.1:1",
    "HTTPS_PROXY": "http://127.0.0.1:1",
    "ALL_PROXY": "http://127.0.0.1:1",
    "OPENAI_BASE_URL": "http://127.0.0.1:1",
    "OLLAMA_API_BASE": "http://127.0.0.1:1",
    "OLLAMA_HOST": "http://127.0.0.1:1",
}

# The hook sees every lookup and connection of the process, whoever makes it; the thread is for what litellm does later.
LISTENING = """
import asyncio, json, sys, threading
heard, seen = [], []
def listen(event, args):
    if event == "socket.connect":
        seen.append(list(args[1])[:2] if isinstance(args[1], tuple) else [str(args[1])])
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        seen.append([str(args[0])])
sys.addaudithook(listen)
import dotenv
dotenv.load_dotenv = lambda *args, **kwargs: heard.append("a file .env was read")

from vault_ask.providers.litellm_quiet import quiet_litellm

litellm = quiet_litellm()
for callbacks in (litellm.callbacks, litellm.input_callback, litellm.success_callback, litellm.failure_callback,
                  litellm._async_success_callback, litellm.service_callback):
    callbacks.append(lambda *args, **kwargs: heard.append("called"))
litellm.success_callback.append("langfuse")
litellm.callbacks.append("otel")
"""
TELLING = """
for thread in threading.enumerate():
    if thread is not threading.current_thread() and not thread.daemon:
        thread.join(5)
print(json.dumps({"answers": answers, "heard": heard, "seen": seen}))
"""
ANSWERING = """
from prompting import prompt_of
from vault_ask.providers.litellm_models import LitellmGenerator
from vault_ask.providers.ollama import OllamaEmbedder
from vault_ask.settings.models import EmbeddingSettings, ModelSettings

async def answer(model, base):
    generator = LitellmGenerator(ModelSettings(api_base=base), model)
    await generator.reach()
    return "".join([str(piece) async for piece in generator.stream(prompt_of("SECRET?"))])

answers = [asyncio.run(answer("ollama_chat/m", sys.argv[1])), asyncio.run(answer("openai/m", sys.argv[1] + "/v1"))]
embedder = OllamaEmbedder(EmbeddingSettings(provider="ollama", model="bge-m3", ollama_url=sys.argv[2]))
embedder.embed_passages(["SECRET"])
"""
# Names by which litellm would ask Hugging Face, for a tokenizer or about the model, to count and price what was given.
RERANKING = """
from retrieval.shortlists import shortlist
from vault_ask.providers.litellm_reranker import make_reranker
from vault_ask.settings.retrieval import RerankSettings

answers = []
for model in ("huggingface/llama-3-reranker", "infinity/command-r", "hosted_vllm/m", "jina_ai/m"):
    reranker = make_reranker(RerankSettings(model=model, api_base=sys.argv[1], timeout_seconds=20), ())
    answers.append(reranker.score("SECRET?", shortlist("SECRET", "other")))
"""


def run(tmp_path: Path, program: str, *urls: str) -> "subprocess.CompletedProcess[str]":
    (tmp_path / "program.py").write_text(f"{LISTENING}{program}{TELLING}".replace("SECRET", SECRET))
    environment = {**os.environ, **TALKATIVE, "PYTHONPATH": os.pathsep.join([str(TESTS), str(CODE)])}
    for name in ("NO_PROXY", "no_proxy", "LITELLM_MODE"):
        environment.pop(name, None)
    return subprocess.run(
        [sys.executable, "program.py", *urls],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )


def test_nobody_but_the_model_hears_of_an_answer(tmp_path: Path) -> None:
    with ModelServer(script=["Rent ", "is ", "9200."]) as chat, OllamaStandIn() as embed:
        done = run(tmp_path, ANSWERING, chat.ollama_base, embed.url)
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        ports = {chat.port, int(embed.url.rpartition(":")[2])}
    assert told["answers"] == ["Rent is 9200."] * 2
    assert [SECRET in str(request["messages"]) for request in chat.requests] == [True, True]
    assert {where[1] for where in told["seen"] if len(where) > 1} == ports
    assert {where[0] for where in told["seen"]} == {"127.0.0.1"}
    assert told["heard"] == []
    assert done.stdout.count("\n") == 1, "nothing but our own line"
    assert not [line for line in done.stderr.splitlines() if SECRET in line or "DEBUG" in line]


def test_nobody_but_the_reranker_hears_of_a_shortlist(tmp_path: Path) -> None:
    with RerankStandIn() as server:
        done = run(tmp_path, RERANKING, server.url)
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        port = int(server.url.rpartition(":")[2])
    assert [scores[0] > scores[1] for scores in told["answers"]] == [True] * 4
    assert [SECRET in str(payload) for _, payload, _ in server.requests] == [True] * 4
    assert {tuple(where) for where in told["seen"]} == {("127.0.0.1",), ("127.0.0.1", port)}
    assert told["heard"] == []
    assert done.stdout.count("\n") == 1, "nothing but our own line"
    assert not [line for line in done.stderr.splitlines() if SECRET in line or "DEBUG" in line]
