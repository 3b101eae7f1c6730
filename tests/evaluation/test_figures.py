"""Figures of a ranking, worked out by hand."""

from math import log2
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_ask.evaluation.figures import OF_RANKINGS, answer_figures, ndcg, ranking_figures


def figures(paths: list[str], relevant: list[str], **more: object) -> dict[str, float]:
    return ranking_figures({"id": "q", "question": "?", "relevant": relevant, **more}, {"paths": paths})


def test_the_gain_of_two_notes_at_ranks_two_and_five_is_a_share_of_the_best_order() -> None:
    found = figures(["x", "a", "y", "z", "b"], ["a", "b"])
    assert found["nDCG@10"] == pytest.approx((1 / log2(3) + 1 / log2(6)) / (1 + 1 / log2(3)))
    assert (found["recall@5"], found["all@5"], found["hit@1"], found["MRR@10"]) == (1.0, 1.0, 0.0, 0.5)


def test_a_note_beyond_the_fifth_place_counts_for_the_figures_of_ten_alone() -> None:
    found = figures(["1", "2", "3", "4", "5", "a"], ["a"])
    assert (found["recall@5"], found["hit@5"]) == (0.0, 0.0)
    assert (found["MRR@10"], found["nDCG@10"]) == (1 / 6, pytest.approx(1 / log2(7)))
    assert figures([*"1234567890", "a"], ["a"])["nDCG@10"] == 0.0


def test_what_counts_as_well_stands_in_for_the_only_note_that_answers() -> None:
    alone = figures(["also", "a"], ["a"], also_ok=["also"])
    assert alone == dict.fromkeys(OF_RANKINGS, 1.0)
    two = figures(["also", "a"], ["a", "b"], also_ok=["also"])
    assert (two["recall@5"], two["hit@1"]) == (0.5, 1.0)
    assert figures(["also"], ["a", "b"], also_ok=["also"])["recall@5"] == 0.0
    assert two["nDCG@10"] == pytest.approx((1 / log2(3)) / (1 + 1 / log2(3)))


def test_more_notes_than_ten_can_all_be_gained_in_ten_places() -> None:
    assert ndcg([str(number) for number in range(10)], [str(number) for number in range(14)], 14) == 1.0


def test_names_are_compared_composed_and_a_repeat_takes_no_rank() -> None:
    assert figures(["A\u030asa.md", "b"], ["b", "\u00c5sa.md"])["nDCG@10"] == 1.0
    assert figures(["A\u030asa.md", "\u00c5sa.md", "b"], ["b"])["MRR@10"] == 0.5


@pytest.mark.parametrize("more", [{"relevant": []}, {"answerable": False}])
def test_a_question_without_a_known_answer_has_no_figures(more: dict[str, Any]) -> None:
    asked = {"id": "q", "question": "?", "relevant": ["a"], **more}
    assert ranking_figures(asked, {"paths": ["a"]}) == {}


@given(st.permutations([*"abcdefgh"]), st.sets(st.sampled_from([*"abcdefghijk"]), min_size=1))
def test_every_figure_is_a_share_and_is_best_with_the_notes_that_answer_in_front(
    paths: list[str], relevant: set[str]
) -> None:
    found = figures(paths, sorted(relevant))
    sorted_first = figures(sorted(paths, key=lambda path: path not in relevant), sorted(relevant))
    assert all(0.0 <= found[name] <= sorted_first[name] <= 1.0 + 1e-9 for name in OF_RANKINGS)
    assert found["hit@1"] <= found["hit@5"] >= found["all@5"]


SILENT = {"refused": True, "seconds": 2.0, "citations": []}


@pytest.mark.parametrize(
    ("known", "figure"),
    [
        ({"relevant": ["a"]}, "refused (answerable)"),
        ({"answers": ["three"]}, "refused (answerable)"),
        ({"answerable": True}, "refused (answerable)"),
        ({"answerable": False}, "refused (unanswerable)"),
    ],
)
def test_silence_is_measured_where_the_question_says_whether_it_can_be_answered(
    known: dict[str, Any], figure: str
) -> None:
    asked = {"id": "q", "question": "?", "relevant": [], "answers": [], **known}
    assert answer_figures(asked, SILENT).items() >= {figure: 1.0, "seconds": 2.0}.items()


def test_silence_on_a_question_that_names_nothing_is_neither_right_nor_wrong() -> None:
    assert answer_figures({"id": "q", "question": "?", "relevant": [], "answers": []}, SILENT) == {}
