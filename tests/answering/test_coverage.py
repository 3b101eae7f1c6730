import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answering.passages import hit, retrieved
from vault_ask.answering.coverage import (
    DEFAULT,
    FEW,
    Thresholds,
    is_silent,
    is_thin,
    relevance,
    thresholds_for,
)
from vault_ask.retrieval.hits import Retrieved
from vault_ask.retrieval.nearness import AT_HAND, Nearness
from vault_ask.scope import OpenScope

HIT = hit("A.md", "text")
E5 = thresholds_for("multilingual-e5-small", None)
NOBODYS = thresholds_for("a-model-nobody-measured", None)
CHUNKS = 2_000

shares = st.floats(0, 1)
cosines = st.floats(-1, 1)
deviations = st.floats(-10, 60)
any_thresholds = st.sampled_from([E5, NOBODYS, replace(E5, thin_below=0.0), replace(NOBODYS, thin_below=0.0)])


def near(cosine: float, likeness: float, deviations: float = 3.0, *, is_centred: bool = True) -> Nearness:
    return Nearness(cosine=cosine, likeness=likeness, deviations=deviations, is_centred=is_centred)


def found(
    nearness: Nearness | None, covered: float, *, chunks: int = CHUNKS, language: str = "en"
) -> Retrieved[OpenScope]:
    """What was found by signals alone, coverage and closeness being those of the same passage."""
    closeness = nearness.cosine if nearness else 0.0
    signals = retrieved(HIT, closeness=closeness, coverage=covered, language=language)
    return replace(signals, covered=covered, nearness=nearness, chunks=chunks)


WELL_COVERED = found(near(0.45, 0.86), 0.7)
FOREIGN = found(near(0.20, 0.79), 0.1)


@pytest.mark.parametrize(
    ("closeness", "coverage", "silent"),
    [(0.5, 0.9, False), (0.6, 0.0, False), (0.0, 0.9, False), (0.1, 0.1, True), (-0.2, 0.3, True)],
)
def test_for_a_model_nobody_measured_closeness_and_coverage_together_tell_whether_the_vault_speaks_of_it(
    closeness: float, coverage: float, *, silent: bool
) -> None:
    assert is_silent(retrieved(HIT, closeness=closeness, coverage=coverage)) is silent


def test_no_hit_is_silence_and_no_relevance() -> None:
    nothing = retrieved(closeness=1.0, coverage=1.0)
    assert is_silent(nothing)
    assert is_thin(nothing, replace(E5, thin_below=0.0))
    assert relevance(nothing, E5) == 0.0 < relevance(WELL_COVERED, E5)


def test_without_vectors_the_coverage_decides_alone() -> None:
    by_words = replace(HIT, provenance="text")
    enough = retrieved(by_words, closeness=0.0, coverage=DEFAULT.coverage_alone)
    too_little = retrieved(by_words, closeness=0.0, coverage=DEFAULT.coverage_alone - 0.01)
    for thresholds in (DEFAULT, E5, NOBODYS):
        assert not is_silent(enough, thresholds)
        assert not is_thin(enough, thresholds)
        assert is_silent(too_little, thresholds)
        assert is_thin(too_little, thresholds)
        assert relevance(found(None, 0.1), thresholds) < thresholds.thin_below < relevance(found(None, 0.5), thresholds)


@pytest.mark.parametrize("thresholds", [E5, NOBODYS])
def test_what_the_vault_covers_is_not_thin_and_what_is_foreign_is(thresholds: Thresholds) -> None:
    well = replace(WELL_COVERED, nearness=near(0.45, 0.86, deviations=4.5))
    foreign = replace(FOREIGN, nearness=near(0.20, 0.79, deviations=2.8))
    assert not is_thin(well, thresholds)
    assert is_thin(foreign, thresholds)
    assert is_silent(foreign, E5)


def test_a_question_in_another_language_needs_no_word_of_the_note() -> None:
    crossing = found(near(0.40, 0.83), 0.0, language="tr")
    assert not is_thin(crossing, E5)
    assert is_thin(replace(crossing, nearness=near(0.20, 0.79)), E5)


def test_one_word_that_stands_in_the_vault_is_enough() -> None:
    word = found(near(0.30, 0.83), 1.0)
    assert not is_thin(word, E5)
    assert is_thin(replace(word, covered=0.0, coverage=0.0, nearness=near(0.22, 0.80)), E5)


def test_the_pairs_of_a_script_without_spaces_may_be_held_in_part() -> None:
    assert not is_thin(found(near(0.42, 0.85), 0.3, language="zh"), E5)


@given(covered=shares, cosine=cosines, likeness=cosines, above=deviations, chunks=st.integers(0, 10**7))
def test_relevance_is_between_nothing_and_certainty(
    covered: float, cosine: float, likeness: float, above: float, chunks: int
) -> None:
    for thresholds in (E5, NOBODYS):
        assert 0 <= relevance(found(near(cosine, likeness, above), covered, chunks=chunks), thresholds) <= 1


@given(covered=shares, cosine=cosines, likeness=cosines, above=deviations, more=st.floats(0.01, 1))
def test_more_of_any_signal_never_lowers_it(
    covered: float, cosine: float, likeness: float, above: float, more: float
) -> None:
    for thresholds in (E5, NOBODYS):
        base = relevance(found(near(cosine, likeness, above), covered), thresholds)
        for nearer in (
            near(cosine + more, likeness, above),
            near(cosine, likeness + more, above),
            near(cosine, likeness, above + more),
        ):
            assert relevance(found(nearer, covered), thresholds) >= base
        assert relevance(found(near(cosine, likeness, above), covered + more), thresholds) >= base


def test_each_signal_of_a_measured_model_counts() -> None:
    base = relevance(found(near(0.25, 0.82), 0.2), E5)
    assert relevance(found(near(0.30, 0.82), 0.2), E5) > base
    assert relevance(found(near(0.25, 0.84), 0.2), E5) > base
    assert relevance(found(near(0.25, 0.82), 0.3), E5) > base


def test_something_is_near_to_everything_in_a_large_vault() -> None:
    small, large = (found(near(0.28, 0.82), 0.2, chunks=chunks) for chunks in (500, 50_000))
    assert relevance(large, E5) < relevance(small, E5)
    tiny, few = (found(near(0.28, 0.82), 0.2, chunks=chunks) for chunks in (3, FEW))
    assert relevance(tiny, E5) == relevance(few, E5)


@given(scores=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=5), others=st.lists(st.floats(-1e6, 1e6), min_size=5))
def test_neither_the_fused_scores_nor_the_order_of_hits_play_a_part(scores: list[float], others: list[float]) -> None:
    hits = [hit(f"{number}.md", "text", score=score) for number, score in enumerate(scores)]
    changed = [replace(one, score=score, trace={"bm25": score}) for one, score in zip(hits, others, strict=False)]
    for known in (WELL_COVERED, FOREIGN, replace(FOREIGN, nearness=None)):
        before, after = replace(known, hits=tuple(hits)), replace(known, hits=tuple(reversed(changed)))
        for thresholds in (E5, NOBODYS):
            assert relevance(before, thresholds) == relevance(after, thresholds)
            assert is_thin(before, thresholds) == is_thin(after, thresholds)


@given(covered=shares, cosine=cosines, likeness=cosines, above=deviations, thresholds=any_thresholds)
def test_where_the_vault_is_silent_it_is_thin(
    covered: float, cosine: float, likeness: float, above: float, thresholds: Thresholds
) -> None:
    for nearness in (near(cosine, likeness, above), near(cosine, likeness, above, is_centred=False), None):
        known = found(nearness, covered)
        assert is_thin(known, thresholds) or not is_silent(known, thresholds)


def test_figures_of_a_centred_model_hold_only_where_it_is_centred() -> None:
    """Uncentred, any two texts have a cosine near .8 with e5, and nothing would ever be thin."""
    uncentred = found(near(0.80, 0.79, 2.8, is_centred=False), 0.1)
    assert is_thin(uncentred, E5)
    assert relevance(uncentred, E5) == relevance(uncentred, NOBODYS)
    close = replace(uncentred, closeness=0.5)
    assert relevance(close, E5) < E5.silent_below
    assert not is_silent(close, E5)


def test_a_model_nobody_measured_is_judged_by_what_has_no_scale_of_its_own() -> None:
    base = relevance(found(near(0.2, 0.3, 3.0), 0.2), NOBODYS)
    assert relevance(found(near(0.9, 0.9, 3.0), 0.2), NOBODYS) == base
    assert relevance(found(near(0.2, 0.3, 5.0), 0.2), NOBODYS) > base
    assert relevance(found(near(0.2, 0.3, 3.0), 0.6), NOBODYS) > base


@pytest.mark.parametrize("thresholds", [E5, NOBODYS])
def test_a_note_that_the_question_is_about_is_never_thin(thresholds: Thresholds) -> None:
    about = replace(found(AT_HAND, 0.0, chunks=1_000_000), closeness=1.0)
    assert not is_thin(about, thresholds)
    assert is_thin(replace(FOREIGN, chunks=1_000_000), thresholds)


def test_the_owner_may_set_the_bar_and_the_rest_stays_as_measured() -> None:
    between = found(near(0.28, 0.82), 0.3)
    assert E5.thin_below < relevance(between, E5) < 0.999
    assert not is_thin(between, E5)
    assert is_thin(between, thresholds_for("multilingual-e5-small", 0.999))
    assert replace(thresholds_for("multilingual-e5-small", 0.999), thin_below=E5.thin_below) == E5


def test_a_bar_of_nothing_leaves_the_web_to_silence_and_a_bar_of_one_asks_it_always() -> None:
    never, always = (thresholds_for("multilingual-e5-small", bar) for bar in (0.0, 1.0))
    thin_only = found(near(0.245, 0.812), 0.15)
    assert E5.silent_below <= relevance(thin_only, E5) < E5.thin_below
    assert is_thin(thin_only, E5)
    assert not is_thin(thin_only, never)
    assert is_thin(FOREIGN, never)
    assert is_thin(WELL_COVERED, always)


def test_a_bar_that_is_no_number_asks_the_web_only_on_silence() -> None:
    odd = thresholds_for("multilingual-e5-small", math.nan)
    assert not is_thin(WELL_COVERED, odd)
    assert is_thin(FOREIGN, odd)


def test_a_bare_name_of_an_empty_note_is_silence_and_thin() -> None:
    name = replace(WELL_COVERED, hits=(hit("Stub.md", "  ", score=2.0),))
    assert is_silent(name, E5)
    assert is_thin(name, E5)
