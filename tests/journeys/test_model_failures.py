"""A model that fails in whatever way, over a real socket and behind the real doors: one error, and what came stays."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from adapters.doors import serving
from fakes import HashEmbedder
from journeys.houses import House, embedded
from model_server import Endless, Fault, HangUp, ModelServer, Reset, Silence, Status, Step
from vault_ask.composition.daemon import Daemon
from vault_ask.providers.litellm_quiet import quiet_litellm

NOTES = {
    "Rent.md": "# Rent\n\nThe rent is 9200 crowns, says [[Landlord]].\n",
    "Landlord.md": "The rent goes to Ada, who owns the house.\n",
    **{f"Other/{word}.md": f"{word} {word} {word}\n" for word in ("boats", "trees", "songs", "trains", "bread")},
}
QUESTION = {"question": "What is the rent?", "note": "rent.md", "k": 4, "language": "sv"}
JSON = {"Accept": "application/json"}
SECONDS = 1.0
"""models.timeout_seconds"""


@pytest.fixture(scope="module", params=["openai/m", "ollama_chat/m"])
def model(request: pytest.FixtureRequest) -> Iterator[ModelServer]:
    # Its import takes seconds, which would count as silence of the model.
    quiet_litellm()
    with ModelServer() as server:
        server.name = request.param
        yield server


@pytest.fixture(scope="module")
def daemon(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    base = model.ollama_base if model.name.startswith("ollama") else model.openai_base
    models = {"generation": model.name, "api_base": base, "timeout_seconds": SECONDS, "context_tokens": 2_400}
    house = House(tmp_path_factory.mktemp("house"), NOTES, embedder=HashEmbedder(dimension=64))
    with house.daemon(models=models) as running:
        embedded(running)
        yield running


@pytest.fixture(scope="module")
def http(daemon: Daemon) -> Iterator[httpx.Client]:
    with serving(daemon) as url, httpx.Client(base_url=url, timeout=20) as client:
        yield client


def streamed(http: httpx.Client) -> list[dict[str, Any]]:
    answer = http.post("/api/ask", json=QUESTION)
    assert answer.status_code == 200
    return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]


@dataclass(frozen=True)
class Failure:
    """How a model fails, and what is said of it."""

    script: tuple[Step, ...]
    code: str
    words: str

    @property
    def status(self) -> int:
        return 502 if self.code == "model_refused" else 503


ANY_TIME = [
    Failure((Silence(),), "model_unreachable", "said nothing for 1 seconds"),
    Failure((Reset(),), "model_unreachable", "Try again"),
    Failure((HangUp(),), "model_unreachable", "Try again"),
    Failure((Fault(),), "model_unreachable", "Try again"),
]
AT_ONCE = [
    Failure((Status(401),), "model_refused", "refused the key"),
    Failure((Status(404),), "model_refused", "no model called m"),
    Failure((Status(400),), "model_refused", "did not accept the request"),
    Failure((Status(413),), "model_refused", "cannot read so much at once"),
    Failure((Status(429),), "model_busy", "too much to do"),
    Failure((Status(503),), "model_busy", "too much to do"),
    Failure((Status(500),), "model_unreachable", "Try again"),
    Failure((Status(504),), "model_unreachable", "did not answer in time"),
    Failure((), "model_unreachable", "without a word"),
]
BEGUN = ("The rent is 9200 crowns [1]. ", "And then ")


@pytest.mark.parametrize("failure", [*ANY_TIME, *AT_ONCE], ids=str)
def test_a_failure_before_the_first_word_is_one_error_with_a_sentence(
    http: httpx.Client, model: ModelServer, failure: Failure
) -> None:
    model.script = failure.script
    assert [event["type"] for event in _failed(http, model, failure)] == ["sources", "error"]


@pytest.mark.parametrize("failure", ANY_TIME, ids=str)
def test_a_failure_midway_is_one_error_and_what_was_sent_stays(
    http: httpx.Client, model: ModelServer, failure: Failure
) -> None:
    model.script = (*BEGUN, *failure.script)
    said = _failed(http, model, failure)
    assert "".join(event.get("text", "") for event in said) == "The rent is 9200 crowns [1]. And then"
    assert [event["type"] for event in said if event["type"] != "delta"] == ["sources", "error"]


def _failed(http: httpx.Client, model: ModelServer, failure: Failure) -> list[dict[str, Any]]:
    """Ask by stream and for one piece of JSON, and compare the errors of both."""
    said = streamed(http)
    error = said[-1]
    assert said[0]["sources"][0]["path"] == "Rent.md"
    assert (error["code"], error["retry"]) == (failure.code, failure.status == 503)
    assert failure.words in error["message"]
    assert not any(secret in error["message"] for secret in ("10.9.8.7", "sk-secret", str(model.port), "9200"))
    plain = http.post("/api/ask", json=QUESTION, headers=JSON)
    assert plain.status_code == failure.status
    assert plain.json() == {"code": failure.code, "message": error["message"]}
    assert ("retry-after" in plain.headers) is error["retry"]
    return said


def test_hanging_up_after_a_few_words_stops_the_model(http: httpx.Client, model: ModelServer) -> None:
    model.script = ("The rent ", Endless())
    model.left.clear()
    with http.stream("POST", "/api/ask", json=QUESTION) as answer:
        assert next(line for line in answer.iter_lines() if line == "event: delta")
        assert not model.left.is_set()
    assert model.left.wait(3)


def test_hanging_up_on_a_plain_answer_stops_the_model(http: httpx.Client, model: ModelServer) -> None:
    model.script = ("The rent ", Endless())
    model.left.clear()
    with pytest.raises(httpx.ReadTimeout):
        http.post("/api/ask", json=QUESTION, headers=JSON, timeout=0.7)
    assert model.left.wait(3)


def test_a_question_that_leaves_no_room_is_too_large_and_says_so(http: httpx.Client) -> None:
    asked = {**QUESTION, "question": "why " * 1_990}
    plain = http.post("/api/ask", json=asked, headers=JSON)
    assert (plain.status_code, plain.json()["code"]) == (413, "question_too_long")
    assert "Ask a shorter question" in plain.json()["message"]
    assert http.post("/api/ask", json=asked).text.count("event: ") == 1


def test_the_model_is_told_which_excerpts_are_of_the_note_and_which_language_to_use(
    http: httpx.Client, model: ModelServer
) -> None:
    model.script = ("Hyran är 9200 kronor [1].",)
    assert streamed(http)[-1]["type"] == "done"
    rules, asked = (message["content"] for message in model.requests[-1]["messages"])
    assert "Answer in Swedish (sv)" in rules
    assert "in the language of the question" not in rules
    assert 'marked note="in question"' in rules
    assert '<excerpt n="1" note="in question">\nRent.md' in asked
    assert '<excerpt n="2">\nLandlord.md' in asked
    assert asked.endswith("Question about the note in question: What is the rent?")
