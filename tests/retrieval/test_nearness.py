"""What retrieval tells of how near a vault comes, on vectors made by hand and on small real indexes."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fakes import HashEmbedder
from vault_ask.errors import ModelUnreachable
from vault_ask.index.embedding import Priors, Vector
from vault_ask.index.statistics import Centring, estimate, make_centring, unit
from vault_ask.retrieval.hits import Retrieved
from vault_ask.retrieval.nearness import AT_HAND, Asked, Nearness, measure_nearness
from vault_building import OPEN, PRIVATE, Building

NONE = Priors()
LANGUAGES = ["en"] * 30 + ["sv"] * 30
NOTES = {
    "Boat.md": "The boat needs a new sail.\n",
    "Rent.md": "The rent is 9200 crowns.\n",
    "Private/Loan.md": "The rent was paid with a loan from Mira.\n",
}


def crowded() -> NDArray[np.float32]:
    """Sixty unit vectors that lie near one direction, as those of e5 do."""
    return unit(np.random.default_rng(4).normal(0.6, 0.5, (60, 16)).astype(np.float32))


def centring_of(raw: NDArray[np.float32], mode: str = "on") -> Centring:
    return make_centring(estimate([(raw, LANGUAGES)], raw.shape[1]), NONE, mode=mode)


def measured(
    centring: Centring, raw: NDArray[np.float32], chosen: Sequence[int], *, language: str = "en", priors: Priors = NONE
) -> Nearness:
    question: Vector = unit(np.random.default_rng(5).normal(0.6, 0.5, 16).astype(np.float32))
    asked = Asked(question, centring.centre_question(question, language), language)
    centred = centring.centre_passages(raw, LANGUAGES)
    near = [(centred[row], LANGUAGES[row]) for row in chosen]
    found = measure_nearness(asked, near, deviations=3.0, centring=centring, priors=priors)
    assert found is not None
    assert np.isclose(found.cosine, float(centred[chosen[0]] @ asked.centred), atol=1e-6)
    levelled = found.likeness - float(np.mean(raw[list(chosen)] @ question))
    return Nearness(cosine=found.cosine, likeness=levelled, deviations=0.0, is_centred=found.is_centred)


@pytest.mark.parametrize("mode", ["on", "off"])
def test_likeness_is_the_cosine_as_the_model_makes_it_whatever_was_subtracted(mode: str) -> None:
    raw = crowded()
    found = measured(centring_of(raw, mode), raw, [3, 7, 33, 59])
    assert abs(found.likeness) < 1e-5
    assert found.is_centred is (mode == "on")


def test_likeness_is_levelled_by_what_any_text_of_the_passages_language_has_over_that_of_the_questions() -> None:
    raw = crowded()
    question = unit(np.random.default_rng(5).normal(0.6, 0.5, 16).astype(np.float32))
    priors = Priors(passages={"en": 0.9 * raw[0], "sv": 0.8 * raw[40], "und": 0.1 * raw[1]})
    usual = {language: float(mean @ question) for language, mean in priors.passages.items()}
    centring = centring_of(raw)
    assert abs(measured(centring, raw, [3], priors=priors).likeness) < 1e-5
    assert np.isclose(measured(centring, raw, [33], priors=priors).likeness, usual["en"] - usual["sv"], atol=1e-5)
    finnish = measured(centring, raw, [3], language="fi", priors=priors).likeness
    assert np.isclose(finnish, usual["und"] - usual["en"], atol=1e-5)


def test_no_passage_is_no_nearness() -> None:
    raw = crowded()
    asked = Asked(raw[0], raw[0], "en")
    assert measure_nearness(asked, [], deviations=0.0, centring=centring_of(raw), priors=NONE) is None


@pytest.fixture
def built(tmp_path: Path) -> Iterator[Building]:
    building = Building(tmp_path, HashEmbedder(dimension=384))
    building.put(NOTES)
    yield building
    building.close()


def ask(building: Building, question: str, *, scope: object = PRIVATE, **how: object) -> Retrieved:
    with building.open(scope) as view:
        return building.retriever().retrieve(view, question, **how)


def test_a_question_near_to_a_passage_is_nearer_than_one_near_to_none(built: Building) -> None:
    near, far = ask(built, "The boat needs a new sail"), ask(built, "photosynthesis of ferns")
    assert near.nearness is not None
    assert far.nearness is not None
    assert near.nearness.cosine > 0.7 > far.nearness.cosine
    assert near.nearness.likeness > far.nearness.likeness
    assert near.nearness.deviations > far.nearness.deviations
    assert near.covered == 1.0 > far.covered


def test_what_lies_above_the_ceiling_is_neither_near_nor_counted(built: Building) -> None:
    question = "a loan from Mira"
    seen, unseen = ask(built, question), ask(built, question, scope=OPEN)
    assert (seen.chunks, unseen.chunks) == (3, 2)
    assert seen.nearness is not None
    assert unseen.nearness is not None
    assert seen.nearness.cosine > 0.5 > unseen.nearness.cosine
    assert seen.covered == 1.0 > unseen.covered


def test_words_alone_tell_no_nearness(built: Building) -> None:
    assert ask(built, "new sail", arm="text").nearness is None
    assert ask(built, "?!").nearness is None
    built.embedder.fail_with(ModelUnreachable("Nobody listens."))
    by_words = ask(built, "new sail")
    assert (by_words.nearness, by_words.covered) == (None, 1.0)


def test_a_note_that_the_question_is_about_is_at_hand(built: Building) -> None:
    assert ask(built, "what else?", note="Boat.md").nearness == AT_HAND
    assert ask(built, "what else?", note="Private/Loan.md", scope=OPEN).nearness != AT_HAND


def test_words_decide_while_the_passage_that_holds_most_of_them_has_no_vector(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder(dimension=384, refuses=["unreadable"]))
    building.put({**NOTES, "Car.md": "The car needs a new clutch, unreadable.\n"})
    waiting, whole = ask(building, "new clutch"), ask(building, "new sail")
    assert (waiting.nearness, waiting.covered, waiting.notices) == (None, 1.0, ())
    assert whole.nearness is not None
    building.close()
