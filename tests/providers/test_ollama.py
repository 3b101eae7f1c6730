import math
import socket
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ollama_stand_in import OllamaStandIn
from vault_ask.errors import ConfigError, ModelBusy, ModelError, ModelRefused, ModelUnreachable
from vault_ask.index.embedding import Refused
from vault_ask.providers.hosted import BELIEVED_SECONDS
from vault_ask.providers.ollama import OllamaEmbedder, running_chat_models
from vault_ask.settings.models import EmbeddingSettings


@pytest.fixture
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn() as running:
        yield running


def embedder_of(server: OllamaStandIn, model: str = "bge-m3", **settings: Any) -> OllamaEmbedder:  # noqa: ANN401  as settings are
    chosen = EmbeddingSettings(provider="ollama", model=model, ollama_url=server.url, **settings)
    return OllamaEmbedder(chosen, backoff_seconds=0.001)


def embedded(server: OllamaStandIn) -> list[str]:
    return [text for texts in server.embedded for text in texts if text != "vault"]


def sizes(server: OllamaStandIn) -> list[int]:
    return [len(payload["input"]) for path, payload, _ in server.requests if path == "/api/embed"]


def refused(results: list[Any]) -> list[int]:
    return [place for place, result in enumerate(results) if isinstance(result, Refused)]


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
        ("snowflake-arctic-embed2:568m", "query: ", ""),
        ("snowflake-arctic-embed", "Represent this sentence for searching relevant passages: ", ""),
        ("hub.example/jeffh/intfloat-multilingual-e5-large", "", ""),
        ("someone/multilingual-e5-large", "query: ", "passage: "),
        ("bge-m3", "", ""),
        ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
        ("never-heard-of", "", ""),
    ],
)
def test_known_models_get_the_prefixes_of_their_cards(
    server: OllamaStandIn, model: str, query: str, passage: str
) -> None:
    server.models = (model,)
    embedder = embedder_of(server, model)
    assert (embedder.space.query_prefix, embedder.space.passage_prefix) == (query, passage)
    embedder.embed_passages(["heron"])
    embedder.embed_query("kiln")
    assert embedded(server) == [f"{passage}heron", f"{query}kiln"]


def test_prefixes_of_the_owner_win(server: OllamaStandIn) -> None:
    embedder = embedder_of(server, query_prefix="Q ", passage_prefix="P ")
    embedder.embed_passages(["heron"])
    assert embedded(server) == ["P heron"]
    assert embedder.space.fingerprint != embedder_of(server).space.fingerprint


def test_the_tag_latest_is_the_same_space(server: OllamaStandIn) -> None:
    server.models = ("bge-m3", "bge-m3:latest")
    assert embedder_of(server, "bge-m3:latest").space == embedder_of(server).space


def test_the_dimension_is_asked_for_once(server: OllamaStandIn) -> None:
    embedder = embedder_of(server)
    assert [embedder.space.dimension for _ in range(3)] == [32] * 3
    assert len(server.embedded) == 1


def test_texts_travel_in_batches_several_at_once(server: OllamaStandIn) -> None:
    server.gather = 3
    embedder = embedder_of(server, batch=4, concurrency=3)
    assert refused(embedder.embed_passages([f"note {number}" for number in range(12)])) == []
    assert sorted(len(texts) for texts in server.embedded) == [1, 4, 4, 4]
    assert server.most_at_once == 3


@pytest.mark.parametrize("status", [400, 413, 500])
def test_a_text_the_server_finds_too_long_is_embedded_in_pieces(server: OllamaStandIn, status: int) -> None:
    server.max_tokens, server.too_long_status = 100, status
    long = " ".join(f"word{number}" for number in range(120)) + " the spare key is under the kiln"
    embedder = embedder_of(server)
    results = embedder.embed_passages(["heron", long, "egret"])
    assert refused(results) == []
    assert math.isclose(float(np.linalg.norm(results[1])), 1, abs_tol=1e-5)
    pieces = [text for text in embedded(server) if text not in {"heron", "egret"}]
    assert " ".join("".join(pieces).split()) == long, "nothing is lost"
    assert [word for piece in pieces for word in piece.split()] == long.split(), "no word is cut"
    assert all(len(text.encode()) <= 300 for text in pieces)


def test_nothing_is_sent_again_unchanged_once_it_was_too_long(server: OllamaStandIn) -> None:
    server.max_tokens = 100
    embedder_of(server).embed_passages(["".join(str(number) for number in range(500))])
    asked = [payload["input"] for path, payload, _ in server.requests if path == "/api/embed"]
    assert len(asked) == len({tuple(texts) for texts in asked})


def test_a_text_over_the_known_limit_is_cut_before_it_is_sent(server: OllamaStandIn) -> None:
    embedder_of(server, max_tokens=64).embed_passages(["เตา" * 500])
    (sent,) = embedded(server)
    assert 0 < len(sent.encode()) <= 64 * 3
    assert sent == "เตา" * 21 + "เ"


def test_the_server_is_told_to_cut_nothing_by_itself(server: OllamaStandIn) -> None:
    embedder_of(server).embed_passages(["heron"])
    assert all(payload["truncate"] is False for path, payload, _ in server.requests if path == "/api/embed")


def test_a_limit_of_the_owner_is_asked_for_as_window(server: OllamaStandIn) -> None:
    embedder_of(server, max_tokens=4096).embed_passages(["heron"])
    assert server.requests[-1][1]["options"] == {"num_ctx": 4096}


def test_a_server_that_finds_everything_too_long_refuses_that_text_only(server: OllamaStandIn) -> None:
    embedder = embedder_of(server)
    embedder.warm()
    server.max_tokens = 5
    assert refused(embedder.embed_passages(["heron", "x" * 200, "egret"])) == [1]


@pytest.mark.parametrize("word", ["poison", "nothingness", "stunted", "unanswered", "undefined"])
def test_one_bad_text_never_takes_its_batch_down(server: OllamaStandIn, word: str) -> None:
    texts = [f"note {number}" for number in range(16)]
    texts[5] += f" {word}"
    assert refused(embedder_of(server).embed_passages(texts)) == [5]


def test_two_bad_texts_are_both_found(server: OllamaStandIn) -> None:
    texts = ["poison a", *(f"note {number}" for number in range(6)), "poison b"]
    assert refused(embedder_of(server).embed_passages(texts)) == [0, 7]


def test_a_server_that_fails_on_everything_refuses_no_text(server: OllamaStandIn) -> None:
    embedder = embedder_of(server)
    embedder.warm()
    server.broken = True
    with pytest.raises(ModelUnreachable, match="HTTP 500"):
        embedder.embed_passages(["heron", "egret"])


def test_the_server_never_sees_a_blank_text_or_a_nul(server: OllamaStandIn) -> None:
    assert refused(embedder_of(server).embed_passages(["", " \n\t", "\0", "he\0ron"])) == [0, 1, 2]
    assert embedded(server) == ["heron"]


@pytest.mark.parametrize(("status", "error"), [(429, ModelBusy), (503, ModelBusy), (502, ModelUnreachable)])
def test_a_busy_server_is_asked_three_times_and_then_later(
    server: OllamaStandIn, status: int, error: type[ModelError]
) -> None:
    embedder = embedder_of(server)
    embedder.warm()
    server.next_statuses.extend([status, status])
    assert refused(embedder.embed_passages(["heron"])) == []
    server.next_statuses.extend([status] * 3)
    with pytest.raises(error, match="asked again"):
        embedder.embed_passages(["heron"])
    assert not server.next_statuses


def test_what_succeeded_before_a_failure_is_not_embedded_again(server: OllamaStandIn) -> None:
    embedder = embedder_of(server, batch=2, concurrency=1)
    embedder.warm()
    texts = [f"note {number}" for number in range(6)]
    server.next_statuses.extend([200, 200, 503, 503, 503])
    with pytest.raises(ModelBusy):
        embedder.embed_passages(texts)
    assert refused(embedder.embed_passages(texts)) == []
    assert sorted(embedded(server)) == texts


def test_a_server_too_slow_for_a_batch_gets_smaller_ones(server: OllamaStandIn) -> None:
    server.slow_above = 2
    embedder = embedder_of(server, batch=8, timeout_seconds=0.3)
    assert refused(embedder.embed_passages([f"note {number}" for number in range(8)])) == []
    asked = sizes(server)
    embedder.embed_passages([f"page {number}" for number in range(8)])
    assert asked[1:3] == [8, 4]
    assert max(sizes(server)[len(asked) :]) == 2


def test_a_server_too_slow_for_one_text_is_unreachable(server: OllamaStandIn) -> None:
    embedder = embedder_of(server, timeout_seconds=0.3)
    embedder.warm()
    server.slow_above = 0
    with pytest.raises(ModelUnreachable, match=r"0\.3 seconds.*embedding\.timeout_seconds"):
        embedder.embed_passages(["heron"])


def test_nobody_listening_is_unreachable_and_found_again_later(server: OllamaStandIn) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        settings = EmbeddingSettings(
            provider="ollama", model="bge-m3", ollama_url=f"http://127.0.0.1:{taken.getsockname()[1]}"
        )
        embedder = OllamaEmbedder(settings, backoff_seconds=0.001)
        with pytest.raises(ModelUnreachable, match="ollama serve"):
            _ = embedder.space
    again = embedder_of(server)
    server.next_statuses.extend([503] * 3)
    with pytest.raises(ModelBusy):
        _ = again.space
    assert again.space.dimension == 32


def test_a_missing_model_names_the_command_that_gets_it(server: OllamaStandIn) -> None:
    with pytest.raises(ModelRefused, match=r"`ollama pull mxbai-embed-large:335m`"):
        _ = embedder_of(server, "mxbai-embed-large:335m").space
    assert len(server.requests) == 1, "asking again would not help"


def test_a_chat_model_is_refused_as_embedder(server: OllamaStandIn) -> None:
    server.models = ("qwen3:4b",)
    with pytest.raises(ModelRefused, match="qwen3:4b"):
        _ = embedder_of(server, "qwen3:4b").space


def test_no_model_named_is_a_mistake_at_start() -> None:
    with pytest.raises(ConfigError, match=r"embedding\.model names no model.*ollama pull bge-m3"):
        OllamaEmbedder(EmbeddingSettings(provider="ollama"))


def test_a_model_hosted_elsewhere_is_refused_at_start() -> None:
    with pytest.raises(ConfigError, match="every note would be sent there"):
        OllamaEmbedder(EmbeddingSettings(provider="ollama", model="qwen3-embedding:8b-cloud"))


@pytest.mark.parametrize("name", ["a:cloud", "a:8b:cloud", "A:8B-CLOUD", "hub.example/o/a:8b-cloud "])
def test_every_name_that_ollama_takes_for_the_cloud_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="every note would be sent there"):
        OllamaEmbedder(EmbeddingSettings(provider="ollama", model=name))


def test_a_model_with_an_upstream_gets_no_text_under_any_local_name(server: OllamaStandIn) -> None:
    server.upstreams = {"bge-m3": "https://ollama.com:443"}
    embedder = embedder_of(server)
    with pytest.raises(ModelRefused, match=r"bge-m3 does not run on your Ollama server.*nothing was sent"):
        embedder.embed_passages(["heron"])
    assert [path for path, _, _ in server.requests] == ["/api/show"]
    server.upstreams = {}
    assert refused(embedder.embed_passages(["heron"])) == [], "the owner has pulled the model itself"


def test_where_a_model_runs_is_asked_again_after_a_while(
    server: OllamaStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = embedder_of(server)
    embedder.embed_passages(["heron"])
    embedder.embed_passages(["egret"])
    assert [path for path, _, _ in server.requests].count("/api/show") == 1
    server.upstreams = {"bge-m3": "https://ollama.com:443"}
    later = time.monotonic() + BELIEVED_SECONDS
    monkeypatch.setattr("vault_ask.providers.ollama_server.time.monotonic", lambda: later)
    with pytest.raises(ModelRefused, match="does not run on your Ollama server"):
        embedder.embed_passages(["kiln"])
    assert embedded(server) == ["heron", "egret"]


def test_a_server_that_cannot_tell_where_a_model_runs_is_asked_again_later(server: OllamaStandIn) -> None:
    server.next_statuses.extend([500])
    with pytest.raises(ModelUnreachable, match="does not say where bge-m3 runs"):
        _ = embedder_of(server).space
    assert server.embedded == []


def test_a_server_that_knows_no_show_is_no_ollama_and_passes_nothing_on(server: OllamaStandIn) -> None:
    server.knows_show = False
    assert refused(embedder_of(server).embed_passages(["heron"])) == []
    assert embedded(server) == ["heron"]


def test_a_redirect_is_not_followed(server: OllamaStandIn) -> None:
    server.next_statuses.append(302)
    with pytest.raises(ModelRefused, match="no redirect is followed"):
        _ = embedder_of(server).space
    assert len(server.requests) == 1


def test_something_else_than_ollama_is_named_as_such(server: OllamaStandIn) -> None:
    server.body = b"<html>a router's login page</html>"
    with pytest.raises(ModelRefused, match="does not answer as Ollama does"):
        _ = embedder_of(server).space


def test_a_private_sounding_name_that_leads_outside_gets_no_note(
    server: OllamaStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(server.url.rpartition(":")[2])
    answers = ["93.184.215.14", *["127.0.0.1"] * 5]
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (answers.pop(0), port))]
    )
    settings = EmbeddingSettings(provider="ollama", model="bge-m3", ollama_url=f"http://ollama.lan:{port}")
    with pytest.raises(ModelRefused, match=r"leads to a machine outside your network.*allow_hosts"):
        _ = OllamaEmbedder(settings).space
    assert server.requests == []
    assert OllamaEmbedder(settings).space.dimension == 32, "the same name leads to the owner's machine now"


def test_neither_proxy_nor_key_of_the_environment_is_used(
    server: OllamaStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("OLLAMA_API_KEY", "secret")
    assert embedder_of(server).space.dimension == 32
    assert [path for path, _, _ in server.requests] == ["/api/show", "/api/embed"]
    assert not any("authorization" in headers for _, _, headers in server.requests)


@pytest.mark.parametrize(("context", "expected"), [(384, 384), (32768, 2048)])
def test_an_unknown_model_is_asked_for_its_longest_input(server: OllamaStandIn, context: int, expected: int) -> None:
    server.context = context
    assert embedder_of(server, "unknown-embedder").max_tokens == expected


def test_tokens_are_estimated_from_above(server: OllamaStandIn) -> None:
    embedder = embedder_of(server)
    assert [embedder.count_tokens(text) for text in ("", "a", "abc", "abcd", "เตา")] == [0, 1, 1, 2, 3]


def test_chat_models_are_told_from_embedders_and_hosted_ones(server: OllamaStandIn) -> None:
    server.models = ("bge-m3", "unknown-embedder", "qwen3:4b", "gpt-oss:120b-cloud", "my-own-name")
    server.upstreams = {"my-own-name": "https://ollama.com:443"}
    assert running_chat_models(server.url) == ["qwen3:4b"]
    server.tells_capabilities = False
    server.models = ("bge-m3", "some-embedder", "qwen3:4b")
    assert running_chat_models(server.url) == ["qwen3:4b"]


def test_no_server_offers_no_chat_models(server: OllamaStandIn) -> None:
    server.models = ()
    assert running_chat_models(server.url) == []
    server.next_statuses.append(503)
    server.models = ("qwen3:4b",)
    assert running_chat_models(server.url) == []
    assert running_chat_models("http://chat.example.com:11434") == []
    assert running_chat_models(server.url) == ["qwen3:4b"]
