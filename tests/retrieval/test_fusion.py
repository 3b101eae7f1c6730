"""Scores are sums of parts that can be shown, and the baseline does not care in which order its arms come."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_ask.retrieval.fusion import MODEL, RRF_K, Evidence, confidence, features, reciprocal_rank_fusion

RANKED = st.lists(st.integers(0, 30), unique=True)
ARMS = st.dictionaries(st.sampled_from(["vector", "bm25", "third"]), RANKED)
SHARE = st.floats(0, 1)


@given(ARMS, st.randoms())
def test_the_baseline_ignores_the_order_of_its_arms(arms: dict[str, list[int]], random: object) -> None:
    shuffled = list(arms.items())
    random.shuffle(shuffled)
    assert reciprocal_rank_fusion(dict(shuffled)) == reciprocal_rank_fusion(arms)


@given(ARMS)
def test_each_chunk_gets_a_part_from_each_arm_it_is_in(arms: dict[str, list[int]]) -> None:
    fused = reciprocal_rank_fusion(arms)
    assert fused.keys() == {chunk for ranked in arms.values() for chunk in ranked}
    for chunk, parts in fused.items():
        assert parts == {arm: 1 / (RRF_K + 1 + ranked.index(chunk)) for arm, ranked in arms.items() if chunk in ranked}


@given(RANKED, RANKED)
def test_the_best_of_both_arms_is_first(one: list[int], other: list[int]) -> None:
    best = 99
    fused = reciprocal_rank_fusion({"vector": [best, *one], "bm25": [best, *other]})
    assert max(fused, key=lambda chunk: sum(fused[chunk].values())) == best


def test_the_constant_of_the_baseline_is_that_of_its_paper() -> None:
    assert reciprocal_rank_fusion({"vector": [7]}) == {7: {"vector": 1 / 61}}


@given(st.floats(-5, 5), st.floats(0, 60), SHARE, SHARE)
def test_more_of_any_evidence_never_lowers_a_score(z: float, bm25: float, coverage: float, words: float) -> None:
    score = _score(Evidence(z=z, bm25=bm25, coverage=coverage), words)
    assert _score(Evidence(z=z + 1, bm25=bm25, coverage=coverage), words) > score
    assert _score(Evidence(z=z, bm25=bm25 + 1, coverage=coverage), words) >= score
    assert _score(Evidence(z=z, bm25=bm25, coverage=min(1.0, coverage + 0.1)), words) >= score


def _score(evidence: Evidence, words: float) -> float:
    return sum(MODEL.parts(evidence, words).values())


@given(st.floats(0, 100), SHARE)
def test_words_that_cover_nothing_of_the_question_leave_the_order_to_the_vectors(bm25: float, coverage: float) -> None:
    spoilt = MODEL.parts(Evidence(z=None, bm25=bm25, coverage=coverage), confidence(0.0))
    assert sum(spoilt.values()) == 0


@given(SHARE, SHARE)
def test_confidence_grows_with_the_best_coverage(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= confidence(low) <= confidence(high) <= 1
    assert math.isclose(confidence(1.0), 1.0)


@given(SHARE, SHARE, SHARE)
def test_words_are_trusted_less_where_the_nearest_passages_are_in_another_language(
    coverage: float, one: float, other: float
) -> None:
    abroad, at_home = sorted((one, other))
    assert 0 <= confidence(coverage, abroad) <= confidence(coverage, at_home) <= confidence(coverage)
    assert confidence(0.5, 0.0) < confidence(0.5, 1.0)
    assert confidence(coverage, abroad, meet=False) <= confidence(coverage, abroad)
    assert confidence(0.5, 0.5, meet=False) < confidence(0.5, 0.5)
    assert confidence(coverage, 1.0, meet=False) == confidence(coverage)


WHOLE = Evidence(z=3.0, bm25=8.0, coverage=0.5, phrase=0.3, dated=1.0, timely=0.5, task=1.0)


@pytest.mark.parametrize("name", MODEL.weights)
def test_a_part_of_the_model_can_be_put_out_of_use_and_no_other_changes(name: str) -> None:
    whole, without = MODEL.parts(WHOLE, 0.8), MODEL.without(name).parts(WHOLE, 0.8)
    assert whole[name] > 0
    assert not without.get(name)
    assert {part: value for part, value in without.items() if part != name} == {
        part: value for part, value in whole.items() if part != name
    }


def test_every_feature_has_its_weight_and_every_weight_its_feature() -> None:
    assert features(WHOLE, 1.0).keys() == MODEL.weights.keys()


def test_a_model_without_links_follows_none() -> None:
    assert MODEL.hops.share > 0
    assert MODEL.without("links").hops.share == 0
    assert MODEL.without("links").weights == MODEL.weights
    with pytest.raises(KeyError):
        MODEL.without("no such part")
