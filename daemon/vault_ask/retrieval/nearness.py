"""How near a vault comes to a question by meaning, in figures that mean the same in every vault and language.

Knows vectors and means, and nothing of words, scores or ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vault_ask.index.embedding import Priors, Vector
from vault_ask.index.statistics import EVERYTHING, Centring

ALIKE = 10
"""Of how many of the nearest passages the likeness is the mean."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearness:
    """How near the nearest passages come.

    `cosine` is that of the nearest one, centred where the model needs it. `likeness` is the mean cosine of the ten
    nearest as the model makes it, before centring, as if they were written in the question's language. `deviations`
    tells how many standard deviations the nearest one lies above the vault's mean. `is_centred` tells whether
    anything was subtracted, without which no measured figure holds.
    """

    cosine: float
    likeness: float
    deviations: float
    is_centred: bool


AT_HAND = Nearness(cosine=1.0, likeness=1.0, deviations=10.0, is_centred=True)
"""The note that the question is about."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question: its unit vector as the model makes it, the same after centring, and its language."""

    raw: Vector
    centred: Vector
    language: str


def measure_nearness(
    asked: Asked, near: Sequence[tuple[Vector, str]], *, deviations: float, centring: Centring, priors: Priors
) -> Nearness | None:
    """Measure how near passages come, given as centred unit vectors with their languages, the nearest first.

    None when there are none.
    """
    if not near:
        return None
    return Nearness(
        cosine=float(near[0][0] @ asked.centred),
        likeness=float(np.mean([_likeness(asked, vector, language, centring, priors) for vector, language in near])),
        deviations=deviations,
        is_centred=centring.active,
    )


def _likeness(asked: Asked, vector: Vector, language: str, centring: Centring, priors: Priors) -> float:
    """Give the cosine as the model makes it, levelled by what any text of the passage's language has over that of ours.

    A multilingual model finds any two texts of one language alike; without this a question in another language than
    the note's would always look foreign.
    """
    cosine = float(_as_made(vector, language, centring) @ asked.raw)
    return cosine - _usual(asked, language, priors) + _usual(asked, asked.language, priors)


def _usual(asked: Asked, language: str, priors: Priors) -> float:
    mean = priors.passages.get(language, priors.passages.get("und"))
    return 0.0 if mean is None else float(mean @ asked.raw)


def _as_made(vector: Vector, language: str, centring: Centring) -> Vector:
    """Undo the centring of a passage: of all points mean + t * vector with t > 0, the one of length 1."""
    if not centring.active:
        return vector
    mean = centring.passages.get(language, centring.passages[EVERYTHING])
    along = float(mean @ vector)
    reach = -along + float(np.sqrt(max(along**2 + 1.0 - float(mean @ mean), 0.0)))
    raw: Vector = (mean + reach * vector).astype(np.float32)
    return raw
