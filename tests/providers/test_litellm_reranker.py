"""litellm as a reranker: what it sends, to whom it never does, and what is said when a server fails."""

import json
import logging
import math
import socket

import pytest
from structlog.testing import capture_logs

from rerank_stand_in import RerankStandIn
from retrieval.shortlists import candidate, shortlist
from vault_ask.errors import ModelBusy, ModelError, ModelRefused, ModelUnreachable
from vault_ask.providers.litellm_reranker import OwnLitellmReranker, RemoteLitellmReranker, make_reranker
from vault_ask.retrieval.rerank import Reranker, Reranking
from vault_ask.scope import PrivateScope
from vault_ask.settings.retrieval import RerankSettings

QUESTION = "CANARYASKED: what is the rent?"
BODIES = ("The boat needs a sail.", "The rent is CANARYTEXT.")


def made(server: RerankStandIn, model: str = "infinity/m", *, hosts: tuple[str, ...] = (), path: str = "") -> Reranker:
    settings = RerankSettings(model=model, api_base=server.url + path, timeout_seconds=20)
    reranker = make_reranker(settings, hosts)
    assert reranker is not None
    return reranker


def test_no_model_is_no_reranker() -> None:
    assert make_reranker(RerankSettings(), ()) is None
    assert make_reranker(RerankSettings(model="  "), ()) is None


def test_ollama_is_refused_where_it_is_named() -> None:
    with pytest.raises(ValueError, match="Ollama serves no rerankers"):
        RerankSettings(model="ollama/bge-reranker")


@pytest.mark.parametrize(
    ("model", "path", "asked"),
    [
        ("infinity/m", "", "/rerank"),
        ("infinity/m", "/v1", "/v1/rerank"),
        ("infinity/m", "/v1/rerank", "/v1/rerank"),
        ("hosted_vllm/m", "/v1/", "/v1/rerank"),
        ("huggingface/m", "", "/rerank"),
        ("jina_ai/m", "", "/v1/rerank"),
    ],
)
def test_the_address_may_be_written_as_the_servers_documents_have_it(model: str, path: str, asked: str) -> None:
    with RerankStandIn() as server:
        assert made(server, model, path=path).score(QUESTION, shortlist(*BODIES))[1] > 0
        assert [path for path, _, _ in server.requests] == [asked]


def test_a_request_holds_question_and_passages_and_asks_for_nothing_back_but_scores() -> None:
    with RerankStandIn() as server:
        made(server).score(QUESTION, shortlist(*BODIES))
        _, payload, headers = server.requests[-1]
    texts = [f"Note {at}\n\n{body}" for at, body in enumerate(BODIES, start=1)]
    assert payload == {"model": "m", "query": QUESTION, "documents": texts, "return_documents": False}
    assert headers["authorization"] == "Bearer none"


def test_text_embeddings_inference_is_told_to_cut_what_is_too_long() -> None:
    with RerankStandIn() as server:
        made(server, "huggingface/m").score(QUESTION, shortlist(*BODIES))
        assert server.requests[-1][1]["truncate"] is True


def test_a_key_comes_from_the_variable_of_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INFINITY_API_KEY", "from-the-environment")
    with RerankStandIn() as server:
        made(server).score(QUESTION, shortlist(*BODIES))
        assert server.requests[-1][2]["authorization"] == "Bearer from-the-environment"


@pytest.mark.parametrize(
    ("model", "api_base", "local"),
    [
        ("infinity/m", "http://127.0.0.1:7997", True),
        ("infinity/m", "http://nas.local:7997", True),
        ("hosted_vllm/m", "http://192.168.1.5:8000/v1", True),
        ("huggingface/m", "http://[::1]:8080", True),
        ("jina_ai/m", "https://rerank.example.com", True),
        ("infinity/m", "http://8.8.8.8:7997", False),
        ("infinity/m", "http://127.0.0.1@evil.example", False),
        ("infinity/m", "http://2130706433:7997", True),
        ("infinity/m", "http://134744072:7997", False),
        ("infinity/m", "127.0.0.1:7997", False),
        ("infinity/m", None, False),
        ("infinity/m-cloud", "http://127.0.0.1:7997", False),
        ("jina_ai/m", None, False),
        ("cohere/rerank-v3.5", "http://127.0.0.1:7997", False),
        ("litellm_proxy/m", "http://127.0.0.1:4000", False),
        ("voyage/rerank-2", "http://127.0.0.1:7997", False),
        ("m", "http://127.0.0.1:7997", False),
    ],
)
def test_a_reranker_is_local_only_where_that_can_be_told(model: str, api_base: str | None, *, local: bool) -> None:
    reranker = make_reranker(RerankSettings(model=model, api_base=api_base), ("rerank.example.com",))
    assert reranker is not None
    assert reranker.is_local is local
    assert isinstance(reranker, OwnLitellmReranker if local else RemoteLitellmReranker)


def test_the_environment_cannot_lead_a_local_reranker_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "INFINITY_API_BASE", "JINA_AI_API_BASE", "HF_API_BASE"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for model in ("infinity/m", "hosted_vllm/m", "huggingface/m", "jina_ai/m"):
        with RerankStandIn() as server:
            assert made(server, model).score(QUESTION, shortlist(*BODIES))[1] > 0
            assert len(server.requests) == 1


def test_a_gateway_is_told_nothing_unless_the_owner_lists_it() -> None:
    with RerankStandIn(headers={"x-litellm-version": "1"}) as server:
        with pytest.raises(ModelRefused, match=r"The server of infinity/m is a gateway.*models\.local_hosts"):
            made(server).score(QUESTION, shortlist(*BODIES))
        assert server.requests == []
        assert made(server, hosts=("127.0.0.1",)).score(QUESTION, shortlist(*BODIES))[1] > 0
    with RerankStandIn(owned_by="cohere") as server:
        with pytest.raises(ModelRefused, match="gateway"):
            made(server).score(QUESTION, shortlist(*BODIES))
        assert server.requests == []


def test_a_name_that_sounds_private_and_leads_outside_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    outside = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 7997))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_how: outside)
    reranker = make_reranker(RerankSettings(model="infinity/m", api_base="http://nas.local:7997"), ())
    assert reranker is not None
    with pytest.raises(
        ModelRefused, match=r"The address in rerank\.api_base sounds private and leads to a machine out"
    ):
        reranker.score(QUESTION, shortlist(*BODIES))


def test_a_name_that_leads_outside_once_it_was_checked_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with RerankStandIn() as server:
        reranker = made(server)
        reranker.score(QUESTION, shortlist(*BODIES))
        monkeypatch.setattr("vault_ask.providers.own_network.is_own_address", lambda _address: False)
        with pytest.raises(ModelRefused, match="outside your network"):
            reranker.score(QUESTION, shortlist(*BODIES))
        assert len(server.requests) == 1


def test_a_redirect_is_not_followed() -> None:
    with RerankStandIn() as elsewhere, RerankStandIn(status=307, location=f"{elsewhere.url}/rerank") as server:
        with pytest.raises(ModelError):
            made(server).score(QUESTION, shortlist(*BODIES))
        assert len(server.requests) == 1
        assert elsewhere.requests == []


def test_another_client_than_ours_finds_no_local_reranker(monkeypatch: pytest.MonkeyPatch) -> None:
    with RerankStandIn() as server:
        reranker = made(server)
        assert reranker.score(QUESTION, shortlist(*BODIES))[1] > 0
        # As if a version of litellm took its own: the address is one that only ours understands.
        monkeypatch.setattr("litellm.llms.custom_httpx.llm_http_handler.HTTPHandler", dict)
        with pytest.raises(ModelError):
            reranker.score(QUESTION, shortlist(*BODIES))
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "kind", "sentence"),
    [
        (
            401,
            ModelRefused,
            "infinity/m refused the key it was given. Set INFINITY_API_KEY in the daemon's environment.",
        ),
        (404, ModelRefused, "The server has no model called m. Check rerank.model."),
        (413, ModelRefused, "infinity/m cannot read so much at once. Lower rerank.candidates"),
        (422, ModelRefused, "infinity/m did not accept the request (422). Check rerank.model and its server."),
        (429, ModelBusy, "infinity/m has too much to do just now."),
        (500, ModelUnreachable, "infinity/m could not be reached or failed before it answered."),
    ],
)
def test_what_a_server_refuses_is_told_in_a_sentence_of_ours(
    status: int,
    kind: type[ModelError],
    sentence: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with RerankStandIn(status=status) as server, caplog.at_level("DEBUG"), capture_logs() as logs:
        with pytest.raises(kind) as raised:
            made(server).score(QUESTION, shortlist(*BODIES))
        logging.getLogger("control").debug("the control is logged")
    assert str(raised.value).startswith(sentence)
    said = f"{raised.value}{logs}{[record.getMessage() for record in caplog.records]}{capfd.readouterr()}"
    assert "the control is logged" in said
    for secret in ("CANARY", "sk-secret", "10.9.8.7"):
        assert secret not in said


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"{}", b'{"results": null}', b'{"results": [{"index": "one"}]}', b'{"results": 7}']
)
def test_an_answer_that_makes_no_sense_costs_the_order_alone(body: bytes) -> None:
    ranked = [candidate(1, BODIES[0], 2.0), candidate(2, BODIES[1], 1.0)]
    with RerankStandIn() as server:
        reranking = Reranking(made(server), RerankSettings(timeout_seconds=20))
        assert reranking.rerank(QUESTION, ranked, PrivateScope()).ranked[0].chunk == 2
        server.body = body
        found = reranking.rerank(QUESTION, ranked, PrivateScope())
    assert found.ranked == ranked
    assert str(found.notice).startswith("Not reranked: infinity/m ")


@pytest.mark.parametrize("place", [-1, 2, 99])
def test_a_score_for_a_passage_that_was_not_sent_is_nobodys(place: int) -> None:
    told = [{"index": 0, "relevance_score": 0.5}, {"index": place, "relevance_score": 0.9}]
    with RerankStandIn(body=json.dumps({"results": told}).encode()) as server:
        scores = made(server).score(QUESTION, shortlist(*BODIES))
    assert scores[0] == 0.5
    assert math.isnan(scores[1])


def test_a_passage_without_a_score_is_told_from_one_with_a_low_score() -> None:
    with RerankStandIn(leaves_out=0) as server:
        scores = made(server).score(QUESTION, shortlist(*BODIES))
    assert math.isnan(scores[0])
    assert scores[1] > 0
