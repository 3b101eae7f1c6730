"""How well a figure tells two groups of questions apart; pure arithmetic on arrays of shape (n,)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Figures = NDArray[np.float64]

RESAMPLES = 1000
BARS = "▁▂▃▄▅▆▇█"
RIDGE = 2e-3
"""Holds weights back that the questions hardly tell."""
STEPS = 40


def auc(high: Figures, low: Figures) -> float:
    """Give the chance that a figure of `high` lies above one of `low`, ties counting half; NaN where one is empty."""
    if not len(high) or not len(low):
        return float("nan")
    return float(_wins(high, low).mean())


def auc_interval(high: Figures, low: Figures, seed: int) -> tuple[float, float]:
    """Give the 95 % bootstrap interval of `auc`, from resamples of both groups."""
    if not len(high) or not len(low):
        return float("nan"), float("nan")
    wins, random = _wins(high, low), np.random.default_rng(seed)
    above = random.multinomial(len(high), np.full(len(high), 1 / len(high)), RESAMPLES)
    below = random.multinomial(len(low), np.full(len(low), 1 / len(low)), RESAMPLES)
    means = ((above @ wins) * below).sum(axis=1) / (len(high) * len(low))
    first, last = np.quantile(means, [0.025, 0.975])
    return float(first), float(last)


def highest_threshold(figures: Figures, share: float) -> float:
    """Give the highest threshold below which at most `share` of the figures lie."""
    ordered = np.sort(figures)
    return float(ordered[int(share * len(ordered))]) if len(ordered) else float("nan")


def histogram(figures: Figures, edges: Figures) -> str:
    """Draw how many figures lie between each two edges, one bar each; a blank where there is none."""
    counts, _ = np.histogram(figures, edges)
    tallest = max(int(counts.max()), 1)
    return "".join(BARS[-(-int(count) * len(BARS) // tallest) - 1] if count else " " for count in counts)


@dataclass(frozen=True, slots=True)
class Fit:
    """Weights of columns and a constant, in log odds."""

    weights: Figures
    constant: float

    def odds(self, columns: Figures) -> Figures:
        """Weigh rows of shape (n, columns)."""
        odds: Figures = columns @ self.weights + self.constant
        return odds


def fit(groups: Sequence[tuple[Figures, Figures]]) -> Fit:
    """Fit a logistic regression by Newton's method; a group is (n, columns) of one kind and of the other.

    Each of the two kinds of each group weighs the same, however many rows it has.
    """
    rows = np.concatenate([part for group in groups for part in group])
    wanted = np.concatenate(
        [np.full(len(part), float(not other)) for group in groups for other, part in enumerate(group)]
    )
    share = np.concatenate([np.full(len(part), 1 / len(part)) for group in groups for part in group])
    share /= share.sum()
    middle, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    design = np.column_stack([np.ones(len(rows)), (rows - middle) / spread])
    ridge = np.diag([0.0, *[RIDGE] * rows.shape[1]])
    found = np.zeros(design.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-design @ found))
        slope = design.T @ (share * (chance - wanted)) + ridge @ found
        curve = (design * (share * chance * (1 - chance))[:, None]).T @ design + ridge
        found = found - np.linalg.solve(curve + 1e-9 * np.eye(len(found)), slope)
    weights = found[1:] / spread
    return Fit(weights, float(found[0] - weights @ middle))


def _wins(high: Figures, low: Figures) -> Figures:
    wins: Figures = (high[:, None] > low).astype(float) + 0.5 * (high[:, None] == low)
    return wins
