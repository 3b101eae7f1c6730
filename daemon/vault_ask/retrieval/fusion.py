"""How the two arms become one order: a small blend of calibrated scores, with reciprocal rank fusion as the baseline.

The blend adds quantities that mean the same in every vault: how many standard deviations a passage's centred cosine
lies above the vault's mean, how strong its BM25 is, and how much of the question's rare words it holds. Ranks throw
that away, and cost 10 to 23 points of MRR where question and note differ in language (docs/measurements.md).
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, assert_never

import numpy as np

K = TypeVar("K", bound=Hashable)

RRF_K = 60
"""The constant of Cormack, Clarke and Buettcher, "Reciprocal rank fusion" (SIGIR 2009)."""

Z_WEIGHT = 0.2
BM25_WEIGHT = 0.4
BM25_HALF = 10.0
COVERAGE_WEIGHT = 0.5

CONFIDENCE_POWER = 0.3
"""How much the word arm is held back where even its best passage covers little of the question: asked in another
language it finds names and chance words, and must not outvote the vectors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of one candidate.

    `z` is its centred cosine in standard deviations above the vault's mean, None without a vector; `bm25` is FTS5's
    score with its sign turned, 0 where no word matches; `coverage` is the share of the question's idf mass in it.
    """

    z: float | None
    bm25: float
    coverage: float


def confidence(best_coverage: float) -> float:
    """Say how far the word arm is to be trusted, from 0 to 1, by the best coverage that any candidate reaches."""
    return float(best_coverage**CONFIDENCE_POWER)


def blend(evidence: Evidence, words: float) -> dict[str, float]:
    """Give the parts of a candidate's score; the score is their sum. `words` is the confidence in the word arm."""
    return {
        "vector": Z_WEIGHT * (evidence.z or 0.0),
        "bm25": words * BM25_WEIGHT * evidence.bm25 / (evidence.bm25 + BM25_HALF),
        "coverage": words * COVERAGE_WEIGHT * evidence.coverage,
    }


def reciprocal_rank_fusion(arms: Mapping[str, Sequence[K]]) -> dict[K, dict[str, float]]:
    """Fuse ranked lists of chunks, or of notes; gives the parts of each by arm, whose sum is its score."""
    parts: dict[K, dict[str, float]] = {}
    for arm, ranked in arms.items():
        for rank, one in enumerate(ranked, start=1):
            parts.setdefault(one, {})[arm] = 1.0 / (RRF_K + rank)
    return parts


def score_parts(
    evidence: Mapping[int, Evidence],
    near: Sequence[int],
    worded: Sequence[int],
    how: Literal["blend", "rrf", "vector", "text"],
) -> Mapping[int, Mapping[str, float]]:
    """Give the parts of each candidate's score; `near` and `worded` are the ranked lists of the two arms."""
    match how:
        case "vector":
            return {chunk: {"vector": -np.inf if known.z is None else known.z} for chunk, known in evidence.items()}
        case "text":
            return {chunk: {"bm25": known.bm25} for chunk, known in evidence.items()}
        case "rrf":
            ranked = reciprocal_rank_fusion({"vector": near, "bm25": worded})
            return {chunk: ranked.get(chunk, {}) for chunk in evidence}
        case "blend":
            words = confidence(max((known.coverage for known in evidence.values()), default=0.0))
            return {chunk: blend(known, words) for chunk, known in evidence.items()}
        case _:
            assert_never(how)
