"""How sure a figure is, over a few dozen questions as over a thousand: intervals, and paired tests of differences.

Intervals are those of the Bayesian bootstrap (Rubin, "The Bayesian Bootstrap", 1981): each resample gives the questions
random weights, where the usual bootstrap draws whole numbers of them. Half a question is supposed at either end of what
a figure can be, which for a figure of zeros and ones makes it the Jeffreys interval (Brown, Cai and DasGupta, "Interval
Estimation for a Binomial Proportion", 2001): where the usual bootstrap of 25 hits out of 25 says 1 to 1, this says .90
to 1. Differences are tested by dealing their signs at random (Fisher's randomisation test, two-sided), which supposes
nothing of how they are spread. Questions are the unit throughout, and the same seed gives the same figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000
SEED = 0
QUANTILES = (0.025, 0.975)
"""Between these lies the 95 % interval."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Between what a value lies, and how many questions are supposed at either end."""

    low: float
    high: float
    supposed: float


SHARE = Ends(0.0, 1.0, 0.5)
"""Of a figure that is a share."""
DIFFERENCE = Ends(-1.0, 1.0, 1.0)
"""Of the difference of two. With half a question four better and none worse would exclude 0, which no test does."""

CHANCE = 0.05
"""Below this p a difference is told as one."""
MOST_DEALT = 13
"""Of so many changed questions every deal of signs is looked at: 8,192."""
FEWEST_TELLING = 6
"""Of fewer changed questions no p is below .05: all of five alike have one of 2 / 2**5."""

_ALIKE = 1e-9
"""What sums of binary fractions may lose."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a mean lies with 95 %."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How a figure of one configuration differs from another's over the same questions.

    `better`, `worse` and `same` are the ids of questions; `p` is how often signs dealt at random bring a mean at least
    as far from 0.
    """

    mean: float
    interval: Interval
    p: float
    better: tuple[str, ...]
    worse: tuple[str, ...]
    same: tuple[str, ...]

    @property
    def is_told(self) -> bool:
        """Whether these questions can tell it from chance."""
        return self.p < CHANCE

    @property
    def changed(self) -> int:
        """Questions that came out otherwise."""
        return len(self.better) + len(self.worse)


def interval(values: Sequence[float], *, ends: Ends = SHARE, resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    """Estimate where the mean of at least one value lies with 95 %; the interval always holds their own mean."""
    points, counts = np.unique(np.asarray(values, np.float64), return_counts=True)
    # Questions with the same value share a weight, whose distribution is gamma with their number as its shape.
    shapes = np.concatenate([counts, [ends.supposed, ends.supposed]])
    weights = np.random.default_rng(seed).gamma(shapes, size=(resamples, len(shapes)))
    means = weights @ np.concatenate([points, [ends.low, ends.high]]) / weights.sum(axis=1)
    low, high = np.quantile(means, QUANTILES)
    mean = float(np.mean(values))
    return Interval(min(float(low), mean), max(float(high), mean))


def compare(
    ours: Mapping[str, float], theirs: Mapping[str, float], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Difference:
    """Compare a figure by question id with another configuration's, over the ids that both have, at least one."""
    ids = [name for name in ours if name in theirs]
    differences = np.array([ours[name] - theirs[name] for name in ids])
    signs = np.where(np.abs(differences) < _ALIKE, 0, np.sign(differences))
    return Difference(
        mean=float(differences.mean()),
        interval=interval(differences.tolist(), ends=DIFFERENCE, resamples=resamples, seed=seed),
        p=randomisation_p(differences, resamples=resamples, seed=seed),
        better=tuple(name for name, sign in zip(ids, signs, strict=True) if sign > 0),
        worse=tuple(name for name, sign in zip(ids, signs, strict=True) if sign < 0),
        same=tuple(name for name, sign in zip(ids, signs, strict=True) if not sign),
    )


def randomisation_p(differences: NDArray[np.float64], *, resamples: int = RESAMPLES, seed: int = SEED) -> float:
    """Tell how often signs dealt at random bring a sum as far from 0 as the real one; in all deals where there are few.

    Of many deals some are drawn, and the real one counts as one of them.
    """
    changed = differences[np.abs(differences) >= _ALIKE]
    far = abs(float(changed.sum())) - _ALIKE
    if len(changed) <= MOST_DEALT:
        return float(np.mean(np.abs(_every_deal(changed)) >= far))
    drawn = np.abs(_drawn_deals(changed, resamples, seed))
    return (1 + int((drawn >= far).sum())) / (1 + resamples)


def _every_deal(changed: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for one in changed:
        sums = np.concatenate([sums + one, sums - one])
    return sums


def _drawn_deals(changed: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    sizes, counts = np.unique(np.abs(changed).round(12), return_counts=True)
    # Of so many differences of one size, those that fall on the plus side are binomial.
    plus = np.random.default_rng(seed).binomial(counts, 0.5, size=(resamples, len(counts)))
    return np.asarray((2 * plus - counts) @ sizes)
