"""Means and spread of the vault's vectors: what centring subtracts, and what turns a cosine into a z-score.

Anisotropic models put every text near one direction, and multilingual ones each language near its own. Subtracting a
mean for each language from the passages, and the mean of questions of the same language from a question, before
normalising, was worth more than any fusion formula (shared measurement, repeated in docs/measurements.md). A mean of
few vectors is mostly their own topic, so each is shrunk towards a broader one. Knows nothing of SQL.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vault_ask.index.embedding import Priors, Vector

SHRINKAGE = 48
"""A mean of this many vectors counts half, the broader mean behind it the other half."""

FEW = 8
"""What is usual in a vault of this many vectors is half told by them, and half by what is usual in any text."""

ANISOTROPY = 0.6
"""Length of the mean of unit vectors from which `auto` centres: 0.9 for e5-small; near 0.3 for an isotropic model."""

EVERYTHING = "*"
"""The row that holds all languages together."""


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of `count` unit vectors, shape (dimension,)."""

    count: int
    vector: Vector


_NONE = Mean(0, np.zeros(0, np.float32))
"""That of no vectors."""


@dataclass(frozen=True, slots=True)
class Centring:
    """Moves vectors into the centred space; does nothing but normalise where it is not active."""

    passages: Mapping[str, Vector]
    questions: Mapping[str, Vector]
    covariance: NDArray[np.float32] | None = None
    average: Vector | None = None
    """Covariance, (dimension, dimension), and average of the stored vectors, as centred."""
    count: int = 0
    """Of how many vectors they are."""
    by_model: bool = False
    """Whether to centre, as far as mode and model alone decide it: what no note moves."""

    @property
    def active(self) -> bool:
        """Whether anything is subtracted."""
        return bool(self.passages)

    def centre_passages(self, vectors: NDArray[np.float32], languages: Sequence[str]) -> NDArray[np.float32]:
        """Centre unit vectors of shape (n, dimension), each by its language's mean; unit length again."""
        if not self.active:
            return vectors
        offsets = np.stack([self._of(self.passages, language) for language in languages])
        return unit(vectors - offsets)

    def centre_question(self, vector: Vector, language: str) -> Vector:
        """Centre a question's unit vector by the mean of questions of its language."""
        if not self.active:
            return vector
        return unit(vector - self._of(self.questions or self.passages, language))

    def spread(self, question: Vector) -> tuple[float, float]:
        """Give mean and standard deviation of this centred question's cosine over all chunks of the vault."""
        if self.covariance is None or self.average is None:
            return 0.0, _TYPICAL_DEVIATION
        # The mean of a few notes is mostly their own subject, and none of them would be nearer than it. Where means
        # of much text stand behind the centring, what a vault cannot tell yet is what is usual: a cosine near 0.
        own = self.count / (self.count + FEW) if self.active and self.questions else 1.0
        variance = own * float(question @ self.covariance @ question) + (1 - own) * _TYPICAL_DEVIATION**2
        return own * float(question @ self.average), math.sqrt(max(variance, _SMALLEST_VARIANCE))

    @staticmethod
    def _of(means: Mapping[str, Vector], language: str) -> Vector:
        found = means.get(language)
        return means[EVERYTHING] if found is None else found


_TYPICAL_DEVIATION = 0.12
"""Spread of centred cosines with e5-small, used until the vault's own is known."""

_SMALLEST_VARIANCE = 0.03**2
"""A vault of a few like notes has hardly any spread; dividing by it would make every cosine extreme."""


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale to length 1 along the last axis; a zero vector stays zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: NDArray[np.float32] = (vectors / np.maximum(length, 1e-12)).astype(np.float32)
    return scaled


def estimate(batches: Iterable[tuple[NDArray[np.float32], Sequence[str]]], dimension: int) -> dict[str, Mean]:
    """Average unit vectors by language and over all, from batches of ((n, dimension), n languages)."""
    sums: dict[str, NDArray[np.float64]] = {EVERYTHING: np.zeros(dimension)}
    counts: dict[str, int] = {EVERYTHING: 0}
    for vectors, languages in batches:
        tags = np.array(languages)
        for language in set(languages):
            part = vectors[tags == language]
            sums[language] = sums.get(language, np.zeros(dimension)) + part.sum(axis=0, dtype=np.float64)
            counts[language] = counts.get(language, 0) + len(part)
        sums[EVERYTHING] += vectors.sum(axis=0, dtype=np.float64)
        counts[EVERYTHING] += len(vectors)
    return {
        language: Mean(counts[language], (total / max(counts[language], 1)).astype(np.float32))
        for language, total in sums.items()
    }


def make_centring(
    means: Mapping[str, Mean],
    priors: Priors,
    *,
    mode: str,
    covariance: NDArray[np.float32] | None = None,
    average: Vector | None = None,
    count: int = 0,
) -> Centring:
    """Decide whether to centre, and by what. `mode` is auto, on or off.

    Where the model ships means of passages they decide, and stand alone until the vault has vectors: what few notes
    have in common would turn centring on and off. For another model the vault's own mean decides.
    """
    overall, shipped = means.get(EVERYTHING, _NONE), priors.passages.get("und")
    by_model = mode == "on" or (mode == "auto" and shipped is not None and _is_anisotropic(shipped))
    broad = _shrunk(overall, shipped)
    by_vault = mode == "auto" and shipped is None and _is_anisotropic(broad)
    if not broad.size or not (by_model or by_vault):
        return Centring({}, {}, covariance, average, count, by_model)
    passages = {
        language: _shrunk(means.get(language, _NONE), priors.passages.get(language, broad))
        for language in (means.keys() | priors.passages.keys()) - {EVERYTHING}
    }
    passages[EVERYTHING] = broad
    questions = dict(priors.questions)
    if "und" in questions:
        questions[EVERYTHING] = questions.pop("und")
    return Centring(passages, questions, covariance, average, count, by_model)


def _is_anisotropic(mean: Vector) -> bool:
    return float(np.linalg.norm(mean)) >= ANISOTROPY


def _shrunk(mean: Mean, broader: Vector | None) -> Vector:
    if broader is None:
        return mean.vector
    if mean.count == 0:
        return broader
    weight = mean.count / (mean.count + SHRINKAGE)
    mixed: Vector = (weight * mean.vector + (1 - weight) * broader).astype(np.float32)
    return mixed
