"""How what is known of a passage becomes one score: a small linear model, with reciprocal rank fusion as the baseline.

The model adds quantities that mean the same in every vault: how many standard deviations a passage's centred cosine
lies above the vault's mean, how strong its BM25 is, how much of the question's rare words it holds and whether in their
order, and whether it is of the day that the question names. Ranks throw that away, and cost 10 to 23 points of MRR
where question and note differ in language. The weights are those of scripts/make_fusion.py, chosen on vaults that they
were not made from (docs/measurements.md, "Leave one pack out").
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar, assert_never

import numpy as np

K = TypeVar("K", bound=Hashable)

RRF_K = 60
"""The constant of Cormack, Clarke and Buettcher, "Reciprocal rank fusion" (SIGIR 2009)."""

BM25_HALF = 10.0
"""The BM25 that counts half of the most it can."""

CONFIDENCE_POWER, ABROAD_POWER, APART_POWER = 0.3, 1.5, 3.0
"""How much the word arm is held back where even its best passage covers little of the question; the second is added
where none of the nearest passages is in the question's language: asked in another language than the notes', words find
names and chance likenesses, and must not outvote the vectors. The third is added instead where the vectors did not find
the passage with most of the words either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known of one candidate.

    `z` is its centred cosine in standard deviations above the vault's mean, None without a vector; `bm25` is FTS5's
    score with its sign turned, 0 where no word matches. Shares of the question's idf mass are `coverage`, held anywhere
    in it, and `phrase`, held in the order of the question. `dated` is 1
    for a passage of the days that the question names, `timely` how far it is towards the end of time that the question
    asks for (`latest`), from 0 to 1, `task` is 1 where it holds a task in the state that is asked for.
    """

    z: float | None
    bm25: float
    coverage: float
    phrase: float = 0.0
    dated: float = 0.0
    timely: float = 0.0
    task: float = 0.0


@dataclass(frozen=True, slots=True)
class Hops:
    """What a note at the other end of a link gets of the score of the note that led there (see expansion.py).

    `share` is the probability of following a link at all; the others weigh what is known of a link and its end in the
    logits of a choice among a note's links, in which `nowhere` is that of following none of them.
    """

    share: float = 0.85
    nowhere: float = 2.13
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Model:
    """The weights of the parts of a score, and those of links. `temperature` turns scores into log odds."""

    weights: Mapping[str, float]
    hops: Hops
    temperature: float = 0.11

    def without(self, name: str) -> "Model":
        """Give the model that does not know of one part, to measure what it is worth. Raises KeyError."""
        if name == "links":
            return replace(self, hops=replace(self.hops, share=0.0))
        return replace(self, weights={**self.weights, name: self.weights[name] * 0.0})

    def parts(self, evidence: Evidence, words: float) -> dict[str, float]:
        """Give the parts of a candidate's score; the score is their sum. `words` is the confidence in the word arm."""
        parts = {name: self.weights[name] * value for name, value in features(evidence, words).items()}
        # Of the parts that few questions have, only those that say something.
        return {name: part for name, part in parts.items() if part or name in _ALWAYS}

    def score(self, evidence: Evidence, words: float) -> float:
        """Give the sum of the parts."""
        return sum(self.weights[name] * value for name, value in features(evidence, words).items())


def features(evidence: Evidence, words: float) -> dict[str, float]:
    """Give what the weights of a model multiply."""
    return {
        "vector": evidence.z or 0.0,
        "bm25": words * saturated(evidence.bm25),
        "coverage": words * evidence.coverage,
        "phrase": words * evidence.phrase,
        "dated": evidence.dated,
        "timely": evidence.timely,
        "task": evidence.task,
    }


def saturated(bm25: float) -> float:
    """Give a BM25 as a share of the most it can count."""
    return bm25 / (bm25 + BM25_HALF)


_ALWAYS = ("vector", "bm25", "coverage")

MODEL = Model(
    weights={
        "vector": 0.2,
        "bm25": 0.58,
        "coverage": 0.54,
        "phrase": 0.38,
        "dated": 1.0,
        "timely": 1.0,
        "task": 0.4,
    },
    hops=Hops(
        share=0.8,
        nowhere=3.78,
        weights={
            "near": -0.17,
            "behind": -4.05,
            "news": 4.84,
            "inline": -1.95,
            "named": 4.05,
            "mutual": -1.86,
            "back": -0.99,
            "mate": -2.0,
            "degree": -0.94,
            "kin": -1.5,
            "kinship": 1.5,
        },
    ),
    temperature=0.0966,
)


def confidence(best_coverage: float, at_home: float = 1.0, *, meet: bool = True) -> float:
    """Say how far the word arm is to be trusted, from 0 to 1.

    By the best coverage that any candidate reaches, by how many of the passages nearest in meaning are in the
    question's language, and by whether the arms meet: one that covers so much is near in meaning too.
    """
    abroad = ABROAD_POWER if meet else APART_POWER
    return float(best_coverage ** (CONFIDENCE_POWER + abroad * (1.0 - at_home)))


def reciprocal_rank_fusion(arms: Mapping[str, Sequence[K]]) -> dict[K, dict[str, float]]:
    """Fuse ranked lists of chunks, or of notes; gives the parts of each by arm, whose sum is its score."""
    parts: dict[K, dict[str, float]] = {}
    for arm, ranked in arms.items():
        for rank, one in enumerate(ranked, start=1):
            parts.setdefault(one, {})[arm] = 1.0 / (RRF_K + rank)
    return parts


@dataclass(frozen=True, slots=True)
class Ranks:
    """The ranked lists of the two arms, and how far the words among them are to be trusted."""

    near: Sequence[int]
    worded: Sequence[int]
    words: float


def _asked_for(evidence: Mapping[int, Evidence], ranks: Ranks) -> dict[str, list[int]]:
    """Rank what is of the time, or holds the tasks, that a question asks for; what is alike in that as the arms do."""
    by_arms = reciprocal_rank_fusion({"vector": ranks.near, "bm25": ranks.worded})
    lists: dict[str, list[int]] = {}
    for name in ("dated", "timely", "task"):
        value = {chunk: known for chunk, one in evidence.items() if (known := getattr(one, name))}
        lists[name] = sorted(value, key=lambda chunk: (-value[chunk], -sum(by_arms.get(chunk, {}).values()), chunk))
    return lists


def score_parts(
    evidence: Mapping[int, Evidence], ranks: Ranks, how: Literal["blend", "rrf", "vector", "text"], model: Model
) -> Mapping[int, Mapping[str, float]]:
    """Give the parts of each candidate's score."""
    match how:
        case "vector":
            return {chunk: {"vector": -np.inf if known.z is None else known.z} for chunk, known in evidence.items()}
        case "text":
            return {chunk: {"bm25": known.bm25} for chunk, known in evidence.items()}
        case "rrf":
            ranked = reciprocal_rank_fusion({"vector": ranks.near, "bm25": ranks.worded, **_asked_for(evidence, ranks)})
            return {chunk: ranked.get(chunk, {}) for chunk in evidence}
        case "blend":
            return {chunk: model.parts(known, ranks.words) for chunk, known in evidence.items()}
        case _:
            assert_never(how)
