from dataclasses import replace

import pytest

from answering.passages import hit, retrieved
from vault_ask.answering.coverage import DEFAULT, is_silent

HIT = hit("A.md", "text")


@pytest.mark.parametrize(
    ("closeness", "coverage", "silent"),
    [(0.5, 0.9, False), (0.6, 0.0, False), (0.0, 0.9, False), (0.1, 0.1, True), (-0.2, 0.3, True)],
)
def test_closeness_and_coverage_together_tell_whether_the_vault_speaks_of_it(
    closeness: float, coverage: float, *, silent: bool
) -> None:
    assert is_silent(retrieved(HIT, closeness=closeness, coverage=coverage)) is silent


def test_no_hit_is_silence() -> None:
    assert is_silent(retrieved(closeness=1.0, coverage=1.0))


def test_without_vectors_the_coverage_decides_alone() -> None:
    by_words = replace(HIT, provenance="text")
    assert not is_silent(retrieved(by_words, closeness=0.0, coverage=DEFAULT.coverage_alone))
    assert is_silent(retrieved(by_words, closeness=0.0, coverage=DEFAULT.coverage_alone - 0.01))
