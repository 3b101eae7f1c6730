"""Does the vault speak of the question at all? Decided from retrieval's calibrated signals, never from a fused score.

Three questions in one number: how near the nearest passages come, how much of the question's rare words one of them
holds, and among how many passages they were found, since in a large vault something is near to everything. What was
tried, and how well it separates, is in docs/measurements.md; a near miss inside the vault's subject cannot be told
this way.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from vault_ask.retrieval.hits import Retrieved
from vault_ask.retrieval.nearness import Nearness
from vault_ask.scope import S


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each signal adds to the log odds that the vault speaks of a question, for one embedding model."""

    constant: float
    covered: float
    cosine: float = 0.0
    likeness: float = 0.0
    deviations: float = 0.0
    crowd: float = 0.0
    """For each e-fold of the passages there were to find, from FEW on."""


FEW = 64
"""A smaller vault counts as one of so many passages: none was measured."""

WORDS_ALONE = Weights(constant=-3.6, covered=6.75)
"""Where no vector took part. A question in another language than the notes cannot be told from a foreign one then."""

ANY_MODEL = Weights(constant=0.0, covered=7.2, deviations=1.3, crowd=-1.0)
"""Of signals without a scale of their own, for a model that nobody measured: the web is asked less than it could be."""

MEASURED: Mapping[str, Weights] = {
    "multilingual-e5-small": Weights(constant=-36.8, covered=3.7, cosine=23.0, likeness=46.2, crowd=-1.2),
}
"""By the name in `embedding.model`, valid where it is centred; scripts/measure_web_trigger.py --fit makes such figures.

These were fitted to the packs and, so that small vaults in one language have a say, to parts of the multilingual one.
"""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the vault is silent, and where it is thin.

    Calibrated on questions of five packs asked of their own vault and of each other's (docs/measurements.md): the aim
    is to take at most one answerable question in twenty for a foreign one.
    """

    closeness_and_coverage: float = 0.40
    """For a model that nobody measured, silence where question and best passage share a language: below this sum."""
    closeness_alone: float = 0.24
    """Where they do not, so that no coverage can be expected, this closeness is enough."""
    coverage_alone: float = 0.3
    """Where every hit came by words alone, so that no closeness is known."""
    silent_below: float = 0.09
    """For a measured model, silence below this relevance."""
    thin_below: float = 0.15
    """Below this relevance the web may help."""
    weights: Weights | None = None
    """Those of the embedding model; None where nobody measured it."""


DEFAULT = Thresholds()

_BESIDE_A_NAME = 0.5
"""Text that scores at least this share of an empty note's name is asked for as well: stubs are common."""


def thresholds_for(model: str, thin_below: float | None) -> Thresholds:
    """Give the thresholds for an embedding model by its configured name; `thin_below` is the owner's, if there is one.

    An owner's 0 leaves the web to questions on which the vault is silent; 1 asks it always.
    """
    known = Thresholds(weights=MEASURED.get(model))
    return known if thin_below is None else replace(known, thin_below=thin_below)


def relevance(retrieved: Retrieved[S], thresholds: Thresholds = DEFAULT) -> float:
    """Tell how likely it is that the vault speaks of the question, from 0 to 1, were both cases equally common.

    0 where nothing was found. Neither the score of a hit nor the order of hits takes part.
    """
    if not retrieved.hits:
        return 0.0
    near = retrieved.nearness
    weights = _weights(near, thresholds)
    odds = weights.constant + weights.covered * max(retrieved.covered, retrieved.coverage)
    if near is not None:
        odds += weights.cosine * near.cosine + weights.likeness * near.likeness + weights.deviations * near.deviations
        odds += weights.crowd * math.log(max(retrieved.chunks, FEW))
    return 1.0 / (1.0 + math.exp(-odds))


def is_thin(retrieved: Retrieved[S], thresholds: Thresholds = DEFAULT) -> bool:
    """Tell whether the vault says so little on the question that the web may help."""
    return is_silent(retrieved, thresholds) or relevance(retrieved, thresholds) < thresholds.thin_below


def is_silent(retrieved: Retrieved[S], thresholds: Thresholds = DEFAULT) -> bool:
    """Tell whether the vault says nothing on the question, so that an answer could only be made up."""
    if not retrieved.hits or _is_a_mere_name(retrieved):
        return True
    if _is_measured(retrieved.nearness, thresholds):
        return relevance(retrieved, thresholds) < thresholds.silent_below
    if all(hit.provenance == "text" for hit in retrieved.hits) and not retrieved.closeness:
        return retrieved.coverage < thresholds.coverage_alone
    far = retrieved.closeness + retrieved.coverage < thresholds.closeness_and_coverage
    if retrieved.language in {retrieved.hits[0].language, "und"}:
        return far
    return far and retrieved.closeness < thresholds.closeness_alone


def _weights(near: Nearness | None, thresholds: Thresholds) -> Weights:
    if near is None:
        return WORDS_ALONE
    return thresholds.weights if thresholds.weights and near.is_centred else ANY_MODEL


def _is_measured(near: Nearness | None, thresholds: Thresholds) -> bool:
    return near is not None and near.is_centred and thresholds.weights is not None


def _is_a_mere_name(retrieved: Retrieved[S]) -> bool:
    """Tell whether what fits is the name of an empty note, far before any text."""
    best = retrieved.hits[0]
    if best.body.strip():
        return False
    text = max((hit.score for hit in retrieved.hits if hit.body.strip()), default=None)
    return text is None or text < _BESIDE_A_NAME * best.score
