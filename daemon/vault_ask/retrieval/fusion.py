"""How the two arms become one order: a small blend of calibrated scores, with reciprocal rank fusion as the baseline.

The blend adds quantities that mean the same in every vault: how many standard deviations a passage's centred cosine
lies above the vault's mean, how strong its BM25 is, and how much of the question's rare words it holds. Ranks throw
that away, and cost 10 to 23 points of MRR where question and note differ in language (docs/measurements.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

RRF_K = 60
"""The constant of Cormack, Clarke and Buettcher, "Reciprocal rank fusion" (SIGIR 2009)."""

Z_WEIGHT = 0.18
BM25_WEIGHT = 0.3
BM25_HALF = 10.0
COVERAGE_WEIGHT = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of one candidate.

    `z` is its centred cosine in standard deviations above the vault's mean, None without a vector; `bm25` is FTS5's
    score with its sign turned, 0 where no word matches; `coverage` is the share of the question's idf mass in it.
    """

    z: float | None
    bm25: float
    coverage: float


def blend(evidence: Evidence) -> dict[str, float]:
    """Give the parts of a candidate's score; the score is their sum."""
    return {
        "vector": Z_WEIGHT * (evidence.z or 0.0),
        "bm25": BM25_WEIGHT * evidence.bm25 / (evidence.bm25 + BM25_HALF),
        "coverage": COVERAGE_WEIGHT * evidence.coverage,
    }


def reciprocal_rank_fusion(arms: Mapping[str, Sequence[int]]) -> dict[int, dict[str, float]]:
    """Fuse ranked lists of chunks; gives each chunk's parts by arm, whose sum is its score."""
    parts: dict[int, dict[str, float]] = {}
    for arm, ranked in arms.items():
        for rank, chunk in enumerate(ranked, start=1):
            parts.setdefault(chunk, {})[arm] = 1.0 / (RRF_K + rank)
    return parts
