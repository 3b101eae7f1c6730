"""Reports of whole files of questions, and how they are worded."""

from collections.abc import Sequence

import pytest

from vault_ask.evaluation.report import as_json, report
from vault_ask.evaluation.running import Scored
from vault_ask.evaluation.statistics import compare
from vault_ask.evaluation.telling import tell, verdict


def scored(values: Sequence[float], kinds: Sequence[str | None]) -> list[Scored]:
    return [
        Scored(f"q{number}", kind, {"recall@5": value})
        for number, (value, kind) in enumerate(zip(values, kinds, strict=True))
    ]


def test_a_report_has_all_questions_first_then_each_kind_and_skips_what_could_not_be_measured() -> None:
    ours = [*scored([1.0, 0.0, 1.0], ["two", "one", "two"]), Scored("unknown", "one", {})]
    found = report(ours)
    assert [(name, group.number) for name, group in found.items()] == [("all", 3), ("kind:one", 1), ("kind:two", 2)]
    assert found["all"].figures["recall@5"].mean == pytest.approx(2 / 3)
    assert found["kind:two"].figures["recall@5"].mean == 1.0
    assert found["all"].differences == {}


def test_another_run_is_compared_within_each_kind_over_the_same_questions() -> None:
    ours, theirs = scored([1.0] * 8 + [0.0], ["one"] * 8 + ["two"]), scored([0.0] * 8 + [0.0], [None] * 9)
    found = report(ours, theirs)
    assert found["all"].against["recall@5"] == 0.0
    assert found["kind:one"].differences["recall@5"].better == tuple(f"q{number}" for number in range(8))
    assert found["kind:two"].differences["recall@5"].p == 1.0
    as_object = as_json(found)["groups"]["all"]
    assert (as_object["n"], as_object["against"]) == (9, {"recall@5": 0.0})
    assert as_object["differences"]["recall@5"]["p"] < 0.05


def test_questions_of_no_kind_are_told_once() -> None:
    assert tell(report(scored([1.0, 0.5], [None, None]))).count("recall@5") == 1
    assert tell(report(scored([1.0, 0.5], ["a", "b"]))).count("recall@5") == 3


def test_nothing_to_measure_is_said() -> None:
    assert tell(report([Scored("q", None, {})])).startswith("No question names a note that answers it")


@pytest.mark.parametrize(
    ("better", "worse", "words"),
    [
        (0, 0, "the same for each of 40."),
        (3, 0, "no difference that these 40 questions can tell (p = 0.25). Only 3 came out otherwise"),
        (12, 9, "no difference that these 40 questions can tell"),
        (9, 0, "better by 0.225; chance alone does as much in"),
        (0, 9, "worse by 0.225; chance alone does as much in 0.4% of cases."),
        (30, 0, "better by 0.750; chance alone does as much in less than 0.1% of cases."),
    ],
)
def test_a_verdict_claims_no_more_than_the_questions_tell(better: int, worse: int, words: str) -> None:
    ours = {str(number): float(number < better) for number in range(40)}
    theirs = {str(number): float(better <= number < better + worse) for number in range(40)}
    assert verdict(compare(ours, theirs)).startswith(words)


def test_verbose_lists_who_came_out_otherwise() -> None:
    found = report(scored([1.0, 0.0, 1.0], [None] * 3), scored([0.0, 1.0, 1.0], [None] * 3))
    assert "recall@5 better: q0\nrecall@5 worse: q1" in tell(found, verbose=True)
    assert "q0" not in tell(found)
