"""What is measured of one ranking and of one answer, at note level; defined as in score.py of the question packs.

nDCG@10 is that of Järvelin and Kekäläinen, "Cumulated Gain-Based Evaluation of IR Techniques" (2002), with a gain of 1
for each note that answers and the logarithm to base 2.
"""

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vault_ask.evaluation.questions import Asked

FEW, DEEP = 5, 10
"""The 5 of recall@5, all@5 and hit@5, and the 10 of MRR@10 and nDCG@10."""

OF_RANKINGS = ("recall@5", "all@5", "hit@1", "hit@5", "MRR@10", "nDCG@10")
UNBOUNDED = frozenset({"seconds"})
"""Figures that are no share of anything, and so have no interval between 0 and 1."""


def ranking_figures(asked: Asked, line: Mapping[str, Any]) -> dict[str, float]:
    """Measure the `paths` of a line of results; nothing where no note is known that answers.

    A note of `also_ok` counts as a hit, and in place of the one note that answers where there is only one.
    """
    if not asked.get("answerable", True) or not asked.get("relevant"):
        return {}
    relevant, also = {_nfc(path) for path in asked["relevant"]}, {_nfc(path) for path in asked.get("also_ok") or []}
    ranked = list(dict.fromkeys(_nfc(path) for path in line["paths"]))
    found = relevant & set(ranked[:FEW])
    instead = len(relevant) == 1 and not found and bool(also & set(ranked[:FEW]))
    first = next((rank for rank, path in enumerate(ranked[:DEEP], start=1) if path in relevant | also), None)
    return {
        "recall@5": 1.0 if instead else len(found) / len(relevant),
        "all@5": float(instead or found == relevant),
        "hit@1": float(first == 1),
        "hit@5": float(first is not None and first <= FEW),
        "MRR@10": 1 / first if first else 0.0,
        "nDCG@10": ndcg(ranked, relevant | also if len(relevant) == 1 else relevant, len(relevant)),
    }


def ndcg(ranked: Sequence[str], good: Iterable[str], number: int) -> float:
    """Give the discounted gain of the best `number` good notes among the first ten, as a share of the most possible."""
    wanted = set(good)
    ranks = [rank for rank, path in enumerate(ranked[:DEEP], start=1) if path in wanted][:number]
    return _gain(ranks) / _gain(range(1, min(number, DEEP) + 1))


def answer_figures(asked: Asked, line: Mapping[str, Any]) -> dict[str, float]:
    """Measure a line of answers: silence, time, and whether the quotes hold one of the expected `answers`.

    Nothing where it is not known whether the vault answers: silence is then neither right nor wrong.
    """
    if not is_outcome_known(asked):
        return {}
    refused = float(line["refused"])
    if not asked.get("answerable", True):
        return {"refused (unanswerable)": refused, "seconds": line["seconds"]}
    figures = {"refused (answerable)": refused, "seconds": line["seconds"]}
    if asked.get("answers"):
        quotes = [citation["quote"] for citation in line["citations"]]
        figures["contains an answer"] = float(_holds(" ".join(quotes), asked["answers"]))
        figures["first quote does"] = float(_holds(quotes[0] if quotes else "", asked["answers"]))
    return figures


def is_outcome_known(asked: Asked) -> bool:
    """Whether a question says if the vault can answer it: by its notes, by its `answers`, or by `answerable`."""
    return asked.get("answerable") is not None or bool(asked.get("relevant") or asked.get("answers"))


def _gain(ranks: Iterable[int]) -> float:
    return sum(1 / math.log2(rank + 1) for rank in ranks)


def _holds(text: str, answers: Iterable[str]) -> bool:
    return any(_plain(answer) in _plain(text) for answer in answers)


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _nfc(path: str) -> str:
    return unicodedata.normalize("NFC", path)
