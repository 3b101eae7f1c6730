"""What every reranker owes: the fake, and litellm over a real socket in each grammar that servers at home speak."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from fakes import ScriptedReranker
from rerank_stand_in import RerankStandIn
from retrieval.shortlists import shortlist
from vault_ask.errors import ModelError
from vault_ask.providers.litellm_reranker import make_reranker
from vault_ask.retrieval.rerank import Reranker
from vault_ask.settings.retrieval import RerankSettings

QUESTION = "What is the rent of the flat?"
BODIES = ("The boat needs a sail.", "The rent of the flat is 9200.", "Der See fror zu. 湖水结冰了。", "🌲 !!! --- ???")
OWN = ("infinity/m", "hosted_vllm/m", "huggingface/m", "jina_ai/m")


@pytest.fixture(params=["scripted", *OWN, "cohere/m"])
def reranker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reranker]:
    if request.param == "scripted":
        yield ScriptedReranker()
        return
    monkeypatch.setenv("COHERE_API_KEY", "a-key")
    with RerankStandIn() as server:
        made = make_reranker(RerankSettings(model=request.param, api_base=server.url, timeout_seconds=20), ())
        assert made is not None
        yield made


def test_every_passage_has_a_score_at_its_place_and_the_one_that_answers_the_highest(reranker: Reranker) -> None:
    scores = reranker.score(QUESTION, shortlist(*BODIES))
    assert len(scores) == len(BODIES)
    assert all(isinstance(score, float) and math.isfinite(score) for score in scores)
    assert scores.index(max(scores)) == 1
    assert reranker.score(QUESTION, shortlist(*BODIES[::-1])) == pytest.approx(scores[::-1])


def test_several_threads_get_what_one_thread_gets(reranker: Reranker) -> None:
    expected = reranker.score(QUESTION, shortlist(*BODIES))
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _round: reranker.score(QUESTION, shortlist(*BODIES)), range(4)))
    assert found == [expected] * 4


def test_it_has_a_name_and_says_where_it_runs(reranker: Reranker) -> None:
    assert reranker.name
    assert reranker.is_local is not reranker.name.startswith("cohere")


def test_it_can_be_made_ready_beforehand(reranker: Reranker) -> None:
    reranker.warm()
    assert max(reranker.score(QUESTION, shortlist(*BODIES))) > 0


def test_what_fails_is_told_as_an_error_of_a_model() -> None:
    with pytest.raises(ModelError):
        ScriptedReranker(ModelError("It failed.")).score(QUESTION, shortlist(*BODIES))
    for model in OWN:
        made = make_reranker(RerankSettings(model=model, api_base="http://127.0.0.1:9"), ())
        assert made is not None
        with pytest.raises(ModelError, match="cannot be reached"):
            made.score(QUESTION, shortlist(*BODIES))
