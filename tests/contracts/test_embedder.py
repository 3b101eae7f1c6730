"""What every embedder owes, run over the fake, the embedded model and Ollama."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from built_model import models_folder
from fakes import HashEmbedder
from ollama_stand_in import OllamaStandIn
from vault_ask.errors import ModelRefused
from vault_ask.index.embedding import Embedder, Refused, Vector
from vault_ask.providers.embedded import EmbeddedEmbedder
from vault_ask.providers.ollama import OllamaEmbedder
from vault_ask.settings.models import EmbeddingSettings

TEXTS = [
    "The lake froze in the first week of January.",
    "Ağaçlar sonbaharda yaprak döker.",
    "人体有多少块骨头?",
    "เตาเผาอยู่หลังบ้าน",
    "emoji 🌲🌲 and a half pair \ud83c of surrogates",
    "a nul \0 in the middle",
    "!!! --- ???",
]


@pytest.fixture(scope="module", params=["hash", "embedded", "ollama"])
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    match request.param:
        case "hash":
            yield HashEmbedder()
        case "embedded":
            yield EmbeddedEmbedder(EmbeddingSettings(), models_folder(request.config))
        case _:
            with OllamaStandIn(models=("mxbai-embed-large",)) as server:
                yield OllamaEmbedder(
                    EmbeddingSettings(provider="ollama", model="mxbai-embed-large", ollama_url=server.url, batch=2)
                )


def vectors(embedder: Embedder, texts: list[str]) -> list[Vector]:
    results = embedder.embed_passages(texts)
    assert not any(isinstance(result, Refused) for result in results)
    return [result for result in results if not isinstance(result, Refused)]


def test_every_text_of_any_script_gives_a_finite_unit_vector(embedder: Embedder) -> None:
    for vector in [*vectors(embedder, TEXTS), *(embedder.embed_query(text) for text in TEXTS)]:
        assert vector.shape == (embedder.space.dimension,)
        assert vector.dtype == np.float32
        assert math.isclose(float(np.linalg.norm(vector)), 1, abs_tol=1e-5)


def test_results_stand_in_the_order_of_the_texts(embedder: Embedder) -> None:
    forwards, backwards = vectors(embedder, TEXTS), vectors(embedder, TEXTS[::-1])
    np.testing.assert_allclose(forwards, backwards[::-1], atol=1e-6)


def test_the_same_text_gives_the_same_vector_alone_and_in_company(embedder: Embedder) -> None:
    alone, in_company = vectors(embedder, TEXTS[:1])[0], vectors(embedder, TEXTS)[0]
    np.testing.assert_allclose(alone, in_company, atol=1e-6)


def test_a_text_twice_in_one_call_gives_two_results(embedder: Embedder) -> None:
    first, _, second = vectors(embedder, [TEXTS[0], TEXTS[1], TEXTS[0]])
    np.testing.assert_array_equal(first, second)


def test_no_texts_give_no_results(embedder: Embedder) -> None:
    assert embedder.embed_passages([]) == []


@pytest.mark.parametrize("blank", ["", "  \n\t ", "\0", "\0 \0"])
def test_a_blank_text_is_refused_and_its_neighbours_are_not(embedder: Embedder, blank: str) -> None:
    first, middle, last = embedder.embed_passages([TEXTS[0], blank, TEXTS[1]])
    assert isinstance(middle, Refused)
    assert not isinstance(first, Refused)
    assert not isinstance(last, Refused)


def test_a_blank_question_is_refused_with_a_sentence(embedder: Embedder) -> None:
    with pytest.raises(ModelRefused, match=r"question could not be embedded.*\."):
        embedder.embed_query(" \n")


@pytest.mark.parametrize("text", ["word " * 40_000, "x" * 200_000, "เตา" * 20_000, " " * 100_000 + "end"])
def test_a_text_far_over_the_limit_still_gives_a_vector(embedder: Embedder, text: str) -> None:
    (vector,) = vectors(embedder, [text])
    assert math.isclose(float(np.linalg.norm(vector)), 1, abs_tol=1e-5)


def test_longer_texts_count_more_tokens_and_nothing_counts_none(embedder: Embedder) -> None:
    assert embedder.count_tokens("") == 0
    assert 0 < embedder.count_tokens("one lake") < embedder.count_tokens("one lake and then another lake")


def test_a_passage_is_nearest_to_itself_as_a_question(embedder: Embedder) -> None:
    passages = np.stack(vectors(embedder, TEXTS[:4]))
    for place, text in enumerate(TEXTS[:4]):
        assert int(np.argmax(passages @ embedder.embed_query(text))) == place


def test_question_and_passage_differ_exactly_where_their_prefixes_do(embedder: Embedder) -> None:
    space = embedder.space
    alike = np.allclose(embedder.embed_query(TEXTS[0]), vectors(embedder, TEXTS[:1])[0], atol=1e-4)
    assert alike == (space.query_prefix == space.passage_prefix)


def test_several_threads_get_what_one_thread_gets(embedder: Embedder) -> None:
    expected = [embedder.embed_query(text) for text in TEXTS]
    with ThreadPoolExecutor(4) as threads:
        rounds = list(threads.map(lambda _round: [embedder.embed_query(text) for text in TEXTS], range(4)))
    for found in rounds:
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_means_that_ship_with_a_model_lie_in_its_space(embedder: Embedder) -> None:
    priors = embedder.priors()
    for means in (priors.questions, priors.passages):
        assert ("und" in means) == bool(means)
        assert {mean.shape for mean in means.values()} <= {(embedder.space.dimension,)}
