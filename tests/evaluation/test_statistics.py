"""Intervals and paired tests, against answers that are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_ask.evaluation.statistics import CHANCE, Interval, compare, interval, randomisation_p

SHARES = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]), min_size=1, max_size=40)


def by_id(values: list[float]) -> dict[str, float]:
    return {str(number): value for number, value in enumerate(values)}


@given(SHARES)
def test_an_interval_holds_the_mean_and_stays_between_the_ends(values: list[float]) -> None:
    found = interval(values, resamples=500)
    assert 0.0 <= found.low <= np.mean(values) <= found.high <= 1.0
    assert found.low < found.high


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [
        (1, 1, 0.1468, 1.0),
        (0, 1, 0.0, 0.8532),
        (25, 25, 0.9049, 1.0),
        (18, 25, 0.5253, 0.8644),
        (5, 10, 0.2235, 0.7765),
    ],
)
def test_hits_and_misses_have_the_interval_of_jeffreys(hits: int, of: int, low: float, high: float) -> None:
    # Quantiles .025 and .975 of Beta(hits + 1/2, misses + 1/2), from a table; beyond a mean of 0 or 1 they end there.
    found = interval([1.0] * hits + [0.0] * (of - hits))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.012)


@pytest.mark.parametrize("number", [6, 25, 100])
def test_of_a_hundred_intervals_about_five_miss_what_is_so(number: int) -> None:
    random = np.random.default_rng(1)
    values = np.array([1, 1, 1, 1, 1 / 2, 1 / 3, 1 / 5, 0.0])
    held = 0
    for seed in range(400):
        found = interval(random.choice(values, number).tolist(), resamples=600, seed=seed)
        held += found.low <= values.mean() <= found.high
    assert 0.92 <= held / 400 <= 0.99


def test_more_questions_narrow_an_interval_and_a_seed_repeats_it() -> None:
    few, many = [1.0, 0.0, 1.0, 0.5], [1.0, 0.0, 1.0, 0.5] * 25

    def width(found: Interval) -> float:
        return found.high - found.low

    assert width(interval(many)) < width(interval(few)) / 3
    assert interval(few, seed=3) == interval(few, seed=3) != interval(few, seed=4)


def test_equal_configurations_have_a_p_of_one_and_an_interval_around_zero() -> None:
    ours = by_id([1.0, 0.0, 0.5, 1.0])
    found = compare(ours, ours)
    assert (found.mean, found.p, found.is_told, found.changed) == (0.0, 1.0, False, 0)
    assert found.same == ("0", "1", "2", "3")
    assert found.interval.low < 0 < found.interval.high


def test_a_clear_difference_has_a_small_p_and_names_who_changed() -> None:
    found = compare(by_id([1.0] * 20 + [0.0, 0.5]), by_id([0.0] * 20 + [1.0, 0.5]))
    assert found.p < 0.001
    assert found.is_told
    assert found.mean == pytest.approx(19 / 22)
    assert (len(found.better), found.worse, found.same) == (20, ("20",), ("21",))
    assert 0.5 < found.interval.low < found.mean < found.interval.high


@pytest.mark.parametrize(
    ("better", "worse", "p"),
    [(1, 0, 1.0), (4, 0, 1 / 8), (6, 0, 1 / 32), (7, 1, 18 / 256), (8, 1, 20 / 512), (3, 3, 1.0), (14, 4, 0.0309)],
)
def test_questions_that_change_by_as_much_have_the_p_of_tossed_coins(better: int, worse: int, p: float) -> None:
    # That of the sign test: of 2 ** changed ways to deal the signs, those at least as one-sided.
    differences = np.array([1.0] * better + [-1.0] * worse + [0.0] * 15)
    assert randomisation_p(differences) == pytest.approx(p, abs=0.01)


@pytest.mark.parametrize(("better", "worse"), [(4, 0), (6, 0), (8, 1), (10, 3), (30, 10)])
def test_an_interval_and_a_test_agree_whether_there_is_a_difference(better: int, worse: int) -> None:
    same = 40 - better - worse
    found = compare(
        by_id([1.0] * better + [0.0] * worse + [0.5] * same), by_id([0.0] * better + [1.0] * worse + [0.5] * same)
    )
    assert (found.interval.low > 0) is found.is_told is (found.p < CHANCE)


def test_where_nothing_differs_a_small_p_is_as_rare_as_it_says() -> None:
    random = np.random.default_rng(2)
    ps = [randomisation_p(random.normal(0, 1, 30), resamples=400, seed=seed) for seed in range(400)]
    assert 0.02 <= np.mean(np.array(ps) < CHANCE) <= 0.09


@given(st.lists(st.tuples(SHARES.map(lambda one: one[0]), SHARES.map(lambda one: one[0])), min_size=1, max_size=30))
def test_a_comparison_the_other_way_round_says_the_opposite(pairs: list[tuple[float, float]]) -> None:
    ours, theirs = by_id([one for one, _ in pairs]), by_id([other for _, other in pairs])
    forth, back = compare(ours, theirs, resamples=300), compare(theirs, ours, resamples=300)
    assert forth.mean == pytest.approx(-back.mean)
    assert (forth.better, forth.worse, forth.same) == (back.worse, back.better, back.same)
    assert forth.p == back.p
    assert 0 < forth.p <= 1


def test_questions_that_one_of_the_two_lacks_take_no_part() -> None:
    found = compare({"a": 1.0, "b": 0.0, "c": 1.0}, {"a": 0.0, "b": 0.0, "d": 0.0})
    assert (found.better, found.same, found.mean) == (("a",), ("b",), 0.5)
