#!/usr/bin/env python3
"""Makes the weights in vault_ask/retrieval/fusion.py from question packs, and judges them by leaving one pack out.

First the weights of what is known of a passage: those under which the notes that answer are likeliest, where a note is
as likely as its best passage and each answering note competes with all that do not. Then, with these kept, the weights
of links in the same way. Every pack counts the same, however many questions it has. Weights that packs cannot teach
stay as they are: of the day that a question names (one pack names days), and of orders in time (none asks for them).

Prints the model that all packs make, as Python, and a table: each pack ranked by the model that never saw it, beside
the model in use and the one made of all. Needs scipy (`pip install -e '.[dev]'`). Exits with 0 whatever it finds.
"""

import argparse
import json
import math
import pprint
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from measuring import Table, machine, show
from question_packs import Bench, Figures, Pack, add_options, means, opened, rank, say
from vault_ask.evaluation import Asked
from vault_ask.retrieval.arms import Arms
from vault_ask.retrieval.candidates import Candidate
from vault_ask.retrieval.examining import Examiner
from vault_ask.retrieval.expansion import SOURCES, Expansion, Odds, best_of_each
from vault_ask.retrieval.fusion import MODEL, Hops, Model, features
from vault_ask.retrieval.scoring import Scorer
from vault_ask.scope import PrivateScope

Vector = NDArray[np.float64]

LEARNED = ("vector", "bm25", "coverage", "phrase")
KEPT = ("dated", "timely", "task")
HOPS = ("near", "behind", "news", "inline", "named", "mutual", "back", "degree", "kin", "kinship")
PENALTY = 1e-3
SCALE = 0.2
"""Weights are scaled so that a standard deviation of the vector counts this much, as it did before they were learned:
the shares of a score that are compared elsewhere keep their meaning."""

SHARES = (0.95, 0.9, 0.85, 0.8, 0.75, 0.7)
"""How much of a note's chance its links may hand on: the most at which no pack loses by links."""

SHOWN = ("recall@5", "all@5", "MRR@10")


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one question teaches: passages by row, each of a note; which notes answer; where hops lead.

    `known` are the learned parts before their weights, `fixed` the sum of those that are kept. `ways` are, for each
    source note, the notes at the ends of its hops and what is known of them.
    """

    known: Vector
    fixed: Vector
    note: NDArray[np.int64]
    direct: NDArray[np.bool_]
    answers: NDArray[np.bool_]
    ways: tuple[tuple[int, NDArray[np.int64], Vector], ...]


def main() -> int:
    """Make the weights, judge them, print both."""
    arguments = _arguments()
    with opened(arguments) as (bench, packs):
        lessons = {pack.name: list(_lessons(bench, pack)) for pack in packs}
        say("fitting")
        made = _fit(lessons)
        unseen = {name: _fit({other: lessons[other] for other in lessons if other != name}) for name in lessons}
        judged = {pack.name: _judged(bench, pack, made, unseen[pack.name]) for pack in packs}
    if arguments.json:
        print(json.dumps({"machine": machine(), "model": _plain(made), "packs": judged}, ensure_ascii=False))
    else:
        print(f"MODEL = {pprint.pformat(made, width=100)}\n")
        print(show([_table(judged)], markdown=arguments.markdown))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    return parser.parse_args()


def _lessons(bench: Bench, pack: Pack) -> Iterator[Lesson]:
    say(f"{pack.name}: reading {len(pack.asked)} questions")
    library = bench.library(pack)
    for asked in pack.asked:
        if asked.get("answerable", True) and asked.get("relevant"):
            lesson = _lesson(bench, library, asked)
            if lesson is not None:
                yield lesson
    library.close()


def _lesson(bench: Bench, library: Any, asked: Asked) -> Lesson | None:  # noqa: ANN401 - a Library, as bench opens it
    with library.open_view(PrivateScope()) as view:
        query = library.retriever.queries.read(view, asked["question"])
        if query.lists:
            return None
        found = library.settings.retrieval
        gathered = Arms(view, query, bench.embedder, "hybrid", vector_k=found.vector_k, text_k=found.text_k).gather(
            None
        )
        examiner = Examiner(
            view, query.words, gathered.asked, bm25=gathered.bm25, cosines=gathered.cosines, days=query.days
        )
        scorer = Scorer(view, examiner, query, gathered, model=MODEL, how="blend")
        direct = scorer.found()
        expansion = Expansion(view, examiner, MODEL, scorer.linked, query, is_topic=lambda _path: False)
        best = best_of_each(direct)
        ways = expansion.ways(best, Odds(best, MODEL.temperature))
        return _taught(
            direct, ways, {nfc(path) for path in (*asked["relevant"], *(asked.get("also_ok") or ()))}, scorer.trust
        )


def nfc(path: str) -> str:
    """Write a path as question files and vaults can agree on."""
    return unicodedata.normalize("NFC", path)


def _taught(
    direct: Sequence[Candidate[PrivateScope]], ways: Sequence[tuple[str, Any]], answers: set[str], trust: float
) -> Lesson:
    led = {end.candidate.chunk: end.candidate for _, ends in ways for end in ends}
    candidates = list({candidate.chunk: candidate for candidate in (*direct, *led.values())}.values())
    notes = list(dict.fromkeys(candidate.passage.path for candidate in candidates))
    found = {candidate.passage.path for candidate in direct}
    known = [features(candidate.evidence, trust) for candidate in candidates]
    return Lesson(
        known=np.array([[one[name] for name in LEARNED] for one in known]),
        fixed=np.array([sum(MODEL.weights[name] * one[name] for name in KEPT) for one in known]),
        note=np.array([notes.index(candidate.passage.path) for candidate in candidates]),
        direct=np.array([note in found for note in notes]),
        answers=np.array([nfc(note) in answers for note in notes]),
        ways=tuple(
            (
                notes.index(source),
                np.array([notes.index(end.path) for end in ends], dtype=np.int64),
                np.array([[end.known[name] for name in HOPS] for end in ends]).reshape(len(ends), len(HOPS)),
            )
            for source, ends in ways
        ),
    )


def _fit(lessons: Mapping[str, Sequence[Lesson]]) -> Model:
    """Learn the weights of passages, then those of links."""
    start = np.array([MODEL.weights[name] for name in LEARNED]) / MODEL.temperature
    fitted = minimize(_loss_of_passages, start, args=(lessons,), jac=True, method="L-BFGS-B", bounds=_POSITIVE)
    scale = SCALE / fitted.x[0]
    weights = {**MODEL.weights, **{name: float(w) * scale for name, w in zip(LEARNED, fitted.x, strict=True)}}
    scored = {
        name: [(lesson, lesson.known @ (fitted.x * scale) + lesson.fixed) for lesson in of]
        for name, of in lessons.items()
    }
    start = np.array([math.log(scale), 2.0, MODEL.hops.nowhere, *(MODEL.hops.weights[name] for name in HOPS)])
    linked = minimize(_loss_of_links, start, args=(scored,), method="L-BFGS-B", options={"maxiter": 40})
    return _model(weights, linked.x, _share(scored, linked.x))


def _share(scored: Mapping[str, Sequence[tuple[Lesson, Vector]]], links: Vector) -> float:
    plain = {name: _recall(of, links, 0.0) for name, of in scored.items()}
    for share in SHARES:
        if all(_recall(of, links, share) >= plain[name] for name, of in scored.items()):
            return share
    return SHARES[-1]


def _recall(of: Sequence[tuple[Lesson, Vector]], links: Vector, share: float) -> float:
    """Give recall@5 at the level of notes, as good as it can be told without quotas and copies."""
    found = []
    for lesson, scores in of:
        chances = _with_links(lesson, scores, links, math.exp(links[0]), share / (1 - share))
        first = np.argsort(-chances if share else -np.where(lesson.direct, chances, 0.0), kind="stable")[:5]
        found.append(lesson.answers[first].sum() / max(lesson.answers.sum(), 1))
    return float(np.mean(found))


_POSITIVE = [(0.0, None)] * len(LEARNED)
"""What speaks for a passage never speaks against it."""


def _model(weights: Mapping[str, float], links: Vector, share: float) -> Model:
    hops = Hops(
        share=share,
        nowhere=float(links[2]),
        weights={**MODEL.hops.weights, **{name: float(w) for name, w in zip(HOPS, links[3:], strict=True)}},
    )
    return Model(dict(weights), hops, temperature=math.exp(links[0]))


def _loss_of_passages(weights: Vector, lessons: Mapping[str, Sequence[Lesson]]) -> tuple[float, Vector]:
    """Give the mean negative log likelihood over packs of their means, and its gradient."""
    loss, gradient = PENALTY * float(weights @ weights), 2 * PENALTY * weights
    for of in lessons.values():
        for lesson in of:
            scores = lesson.known @ weights + lesson.fixed * weights[0] / SCALE
            best = _best_rows(scores, lesson.note, len(lesson.answers))
            if not (lesson.answers & lesson.direct).any():
                continue
            one, slope = _nll(scores[best], lesson.answers & lesson.direct, lesson.direct & ~lesson.answers)
            loss += one / len(of)
            gradient = gradient + lesson.known[best].T @ slope / len(of)
    return loss, gradient


def _best_rows(scores: Vector, note: NDArray[np.int64], notes: int) -> NDArray[np.int64]:
    best = np.zeros(notes, dtype=np.int64)
    order = np.argsort(scores)
    best[note[order]] = order
    return best


def _nll(scores: Vector, answers: NDArray[np.bool_], others: NDArray[np.bool_]) -> tuple[float, Vector]:
    """Let each answer compete with all others: -log softmax, averaged over the answers; gradient by score."""
    weights = np.exp(scores - scores.max())
    against = weights[others].sum()
    loss, slope = 0.0, np.zeros_like(scores)
    for at in np.flatnonzero(answers):
        share = weights[at] / (weights[at] + against)
        loss -= math.log(max(share, 1e-12)) / answers.sum()
        slope[at] -= (1 - share) / answers.sum()
        slope[others] += weights[others] / (weights[at] + against) / answers.sum()
    return loss, slope


def _loss_of_links(links: Vector, scored: Mapping[str, Sequence[tuple[Lesson, Vector]]]) -> float:
    temperature, follow = math.exp(links[0]), math.exp(links[1])
    loss = PENALTY * float(links[3:] @ links[3:])
    for of in scored.values():
        for lesson, scores in of:
            if not lesson.answers.any():
                continue
            chances = _with_links(lesson, scores, links, temperature, follow) + 1e-9
            others = chances[~lesson.answers].sum()
            hits = chances[lesson.answers]
            loss -= float(np.mean(np.log(hits / (hits + others)))) / len(of)
    return loss


def _with_links(lesson: Lesson, scores: Vector, links: Vector, temperature: float, follow: float) -> Vector:
    """Give how likely each note is with what links hand on; as expansion.Expansion does it."""
    best = scores[_best_rows(scores, lesson.note, len(lesson.answers))]
    top = best[lesson.direct].max()
    own = np.exp((best - top) / temperature)
    own /= own[lesson.direct].sum()
    chances = own.copy()
    for source, ends, known in lesson.ways[:SOURCES]:
        if not len(ends):
            continue
        weights = np.exp(np.clip(known @ links[3:], -30, 30))
        np.add.at(chances, ends, follow * own[source] * weights / (weights.sum() + math.exp(links[2])))
    return chances


def _judged(bench: Bench, pack: Pack, made: Model, unseen: Model) -> dict[str, Figures]:
    return {
        "in use": means(rank(pack, bench.library(pack), called="in use")),
        "made of all": means(rank(pack, bench.library(pack, model=made), called="made of all")),
        "made of the others": means(rank(pack, bench.library(pack, model=unseen), called="made of the others")),
        "by hand": means(
            rank(pack, bench.library(pack, {"graph": {"enabled": False}}, model=BY_HAND), called="by hand")
        ),
    }


BY_HAND = Model(
    {"vector": 0.2, "bm25": 0.4, "coverage": 0.5, "phrase": 0.0, "dated": 0.0, "timely": 0.0, "task": 0.0},
    replace(MODEL.hops, share=0.0),
)
"""The blend that was in use before there were weights to learn."""


def _table(judged: Mapping[str, Mapping[str, Figures]]) -> Table:
    names = list(next(iter(judged.values())))
    rows = [
        [f"{pack}, {group.removeprefix('kind:')}", f"{of['n']:.0f}", *(_cell(found[name][group]) for name in names)]
        for pack, found in judged.items()
        for group, of in found["in use"].items()
    ]
    return Table(f"Leave one pack out ({' / '.join(SHOWN)})", ["pack, questions", "n", *names], rows)


def _cell(figures: Mapping[str, float]) -> str:
    return " / ".join(f"{figures[name]:.3f}" for name in SHOWN)


def _plain(model: Model) -> dict[str, Any]:
    hops = {"share": model.hops.share, "nowhere": model.hops.nowhere, "weights": dict(model.hops.weights)}
    return {"weights": dict(model.weights), "hops": hops, "temperature": model.temperature}


if __name__ == "__main__":
    sys.exit(main())
