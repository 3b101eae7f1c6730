#!/usr/bin/env python3
"""Measures whether the vault's relevance tells its own questions from foreign ones, so that the web is asked rightly.

Every question of every pack is asked of every pack's vault: its own answerable ones should not send anybody to the
web, the other packs' should. Near misses, the unanswerable questions of the pack itself, are told beside them. One
model is measured at a time: --config names another, and --data the indexes that were made with it.

Prints tables, or one JSON object with --json. A target that is missed is told in the table and is no failure.
"""

import argparse
import json
import math
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from measuring import PACKS, ROOT, Table, Target, machine, show, verdict
from question_packs import Pack
from separation import Figures, auc, auc_interval, fit, highest_threshold, histogram
from vault_ask import indexing
from vault_ask.answering.coverage import FEW, Thresholds, is_silent, is_thin, relevance, thresholds_for
from vault_ask.composition.library import Library
from vault_ask.composition.parts import make_embedder
from vault_ask.evaluation import Asked, read_questions
from vault_ask.evaluation.remembering import Remembering
from vault_ask.retrieval.hits import Retrieved
from vault_ask.scope import PrivateScope
from vault_ask.settings import Settings
from vault_ask.settings.loading import load_settings

SEPARATES = Target(value=0.97)
WRONGLY_SENT = Target(value=0.05, at_most=True)
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
EDGES = np.linspace(0.0, 1.0, 21)
COMMON_LANGUAGE = "en"
"""Most foreign questions are in it, so language alone could tell them; figures within it cannot be so flattered."""
FITTED = ("covered", "cosine", "likeness", "crowd")
GROUPS = ("answerable", "foreign", "near miss")


@dataclass(frozen=True, slots=True)
class Seen:
    """One question asked of one vault."""

    group: str
    language: str
    crosses: bool
    """Whether it is known to be in another language than the note that answers it."""
    relevance: float
    thin: bool
    silent: bool
    signals: Mapping[str, float]


def main() -> int:
    """Measure what was asked for and print it."""
    arguments = _arguments()
    packs = _packs(arguments.packs)
    wanted = [pack for pack in packs if arguments.only is None or pack.name in arguments.only]
    if not wanted or len(packs) < 2:  # noqa: PLR2004 - a pack, and another whose questions are foreign to it
        print(f"There are no two question packs in {arguments.packs}, so nothing was measured.", file=sys.stderr)
        return 1
    with _data_folder(arguments.data) as data:
        measured = _Measuring(arguments, packs, data).all(wanted)
    if arguments.json:
        print(json.dumps(measured, ensure_ascii=False))
    else:
        print(show(list(_tables(measured)), markdown=arguments.markdown))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packs", type=Path, default=PACKS, help="folder of the question packs (%(default)s)")
    parser.add_argument("--data", type=Path, help="folder that keeps the indexes between runs")
    parser.add_argument("--config", type=Path, default=ROOT / "config.yaml", help="names the model (%(default)s)")
    parser.add_argument("--only", nargs="+", metavar="PACK", help="measure the vaults of these packs alone")
    parser.add_argument(
        "--foreign", type=int, default=150, metavar="N", help="questions drawn of each other pack (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=4, help="of what is drawn (%(default)s)")
    parser.add_argument("--fit", action="store_true", help="also fit the weights of coverage.py to the packs")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--markdown", action="store_true", help="print the tables for docs/measurements.md")
    return parser.parse_args()


def _packs(folder: Path) -> list[Pack]:
    found = sorted(folder.glob("*/questions.dev.jsonl"))
    return [Pack(questions.parent.name, questions.parent / "vault", questions) for questions in found]


@contextmanager
def _data_folder(chosen: Path | None) -> Iterator[Path]:
    if chosen is not None:
        yield chosen.absolute()
        return
    with tempfile.TemporaryDirectory() as temporary:
        yield Path(temporary)


class _Measuring:
    """One run under one model: the questions, and an embedder that embeds each once."""

    def __init__(self, arguments: argparse.Namespace, packs: Sequence[Pack], data: Path) -> None:
        self._arguments = arguments
        self._data = data
        self._questions = {pack.name: read_questions(pack.questions) for pack in packs}
        settings = self._settings(packs[0])
        self._thresholds = thresholds_for(settings.embedding.model, None)
        self._embedder = Remembering(make_embedder(settings.model_copy(update={"data": data}), tell=_say))

    def all(self, packs: Sequence[Pack]) -> dict[str, Any]:
        seen = {pack.name: self._ask(pack) for pack in packs}
        measured: dict[str, Any] = {
            "machine": machine(),
            "model": self._embedder.space.model,
            "thin_below": self._thresholds.thin_below,
            "silent_below": self._thresholds.silent_below,
            "packs": {name: _figures(asked, self._arguments.seed) for name, asked in seen.items()},
        }
        measured["threshold_for_all"] = min(found["threshold"] for found in measured["packs"].values())
        if self._arguments.fit:
            measured["fit"] = _fitted(seen)
        return measured

    def _settings(self, pack: Pack) -> Settings:
        given = {"vault": {"path": pack.vault}, "data": self._data / pack.name}
        return load_settings(config=self._arguments.config, overrides=given)

    def _ask(self, pack: Pack) -> list[Seen]:
        self._bring_up_to_date(pack)
        library = Library(self._settings(pack), self._embedder)
        asked = list(self._asked_of(pack))
        _say(f"{pack.name}: {len(asked)} questions")
        seen = [
            _seen(group, question, library.retrieve(question["question"], scope=PrivateScope()), self._thresholds)
            for group, question in asked
        ]
        library.close()
        return seen

    def _asked_of(self, pack: Pack) -> Iterator[tuple[str, Asked]]:
        for question in self._questions[pack.name]:
            yield ("answerable" if question.get("answerable", True) else "near miss"), question
        for name, questions in self._questions.items():
            if name != pack.name:
                # Drawn anew for each vault from the same seed, so that --only changes nothing.
                drawn = random.Random(f"{self._arguments.seed} {name}")  # noqa: S311 - a sample, no secret
                count = min(self._arguments.foreign, len(questions))
                yield from (("foreign", question) for question in drawn.sample(questions, count))

    def _bring_up_to_date(self, pack: Pack) -> None:
        _say(f"{pack.name}: indexing")
        own, shared = self._data / pack.name, self._data / "models"
        own.mkdir(parents=True, exist_ok=True)
        shared.mkdir(exist_ok=True)
        if not (own / "models").exists():
            # One build of the model serves all packs.
            (own / "models").symlink_to(shared, target_is_directory=True)
        outcome = indexing.run(self._settings(pack), rebuild=False, embed=True, display=lambda _snapshot: None)
        if outcome.waiting_notes or outcome.failed:
            raise SystemExit(f"{pack.name} could not be indexed whole, so its figures would mislead.")


def _seen(group: str, question: Asked, found: Retrieved[PrivateScope], thresholds: Thresholds) -> Seen:
    return Seen(
        group=group,
        language=question.get("lang", found.language),
        crosses=question.get("kind") == "crosslingual",
        relevance=relevance(found, thresholds),
        thin=is_thin(found, thresholds),
        silent=is_silent(found, thresholds),
        signals=_signals(found),
    )


def _signals(found: Retrieved[PrivateScope]) -> dict[str, float]:
    """Give each signal alone; the fused score only to show why it is not one."""
    near = found.nearness
    return {
        "covered": max(found.covered, found.coverage),
        "cosine": near.cosine if near else 0.0,
        "likeness": near.likeness if near else 0.0,
        "deviations": near.deviations if near else 0.0,
        "closeness + coverage": found.closeness + found.coverage,
        "crowd": math.log(max(found.chunks, FEW)),
        "(fused score)": found.hits[0].score if found.hits else 0.0,
    }


def _of(seen: Sequence[Seen], group: str, figure: Callable[[Seen], float], language: str | None = None) -> Figures:
    chosen = (one for one in seen if one.group == group and language in {None, one.language})
    return np.array([figure(one) for one in chosen], dtype=float)


def _figures(seen: Sequence[Seen], seed: int) -> dict[str, Any]:
    by_group = {group: _of(seen, group, lambda one: one.relevance) for group in GROUPS}
    own, foreign, near = (by_group[group] for group in GROUPS)
    first, last = auc_interval(own, foreign, seed)
    within = [_of(seen, group, lambda one: one.relevance, COMMON_LANGUAGE) for group in ("answerable", "foreign")]
    crossing = [one.thin for one in seen if one.group == "answerable" and one.crosses]
    return {
        "n": {group: len(figures) for group, figures in by_group.items()},
        "auc": auc(own, foreign),
        "auc interval": [first, last],
        "auc in one language": _known(auc(within[0], within[1])),
        "auc near miss": _known(auc(own, near)),
        "fired": {group: _share(_of(seen, group, lambda one: float(one.thin))) for group in GROUPS},
        "fired, other language": _share(np.array(crossing, dtype=float)),
        "silent": {group: _share(_of(seen, group, lambda one: float(one.silent))) for group in GROUPS},
        "threshold": highest_threshold(own, WRONGLY_SENT.value),
        "quantiles": {
            group: dict(zip(map(str, QUANTILES), map(float, np.quantile(figures, QUANTILES)), strict=True))
            for group, figures in by_group.items()
            if len(figures)
        },
        "histogram": {group: histogram(figures, EDGES) for group, figures in by_group.items() if len(figures)},
        "auc of one signal": {
            name: auc(*(_of(seen, group, lambda one, name=name: one.signals[name]) for group in GROUPS[:2]))
            for name in seen[0].signals
            if name != "crowd"
        },
    }


def _share(figures: Figures) -> float | None:
    return float(figures.mean()) if len(figures) else None


def _known(figure: float) -> float | None:
    """JSON knows no NaN."""
    return None if math.isnan(figure) else figure


def _fitted(seen: Mapping[str, Sequence[Seen]]) -> dict[str, Any]:
    """Fit the weights to all packs, and for each pack to the others alone: a user's vault is one never seen."""
    groups = {name: _columns(asked) for name, asked in seen.items()}
    unseen = {}
    for name, (own, foreign) in groups.items():
        others = [columns for other, columns in groups.items() if other != name]
        if others:
            told = fit(others)
            unseen[name] = auc(told.odds(own), told.odds(foreign))
    found = fit(list(groups.values()))
    return {
        "weights": dict(zip(FITTED, map(float, found.weights), strict=True)),
        "constant": found.constant,
        "auc, pack left out": unseen,
        "threshold": {
            name: highest_threshold(found.odds(own), WRONGLY_SENT.value) for name, (own, _) in groups.items()
        },
    }


def _columns(seen: Sequence[Seen]) -> tuple[Figures, Figures]:
    own, foreign = (
        np.array([[one.signals[name] for name in FITTED] for one in seen if one.group == group])
        for group in ("answerable", "foreign")
    )
    return own, foreign


def _tables(measured: Mapping[str, Any]) -> Iterator[Table]:
    packs = measured["packs"]
    yield Table(
        f"The web's trigger, {measured['model']}, thin below {measured['thin_below']:g}",
        [
            "vault of",
            "answerable / foreign",
            f"AUC (to reach {SEPARATES})",
            "95 % interval",
            "reached",
            f"answerable sent ({WRONGLY_SENT})",
            "reached",
            "of these silent",
            "in another language, sent",
            "foreign sent",
            "of these silent",
            "AUC in English alone",
            "near misses",
            "their AUC",
            "threshold for 5 %",
        ],
        [[name, *_row(found)] for name, found in packs.items()],
    )
    yield Table(
        "Relevance: quantiles, and how many lie in each twentieth from 0 to 1",
        ["vault of", "questions", *(f"{share:.0%}" for share in QUANTILES), "0 … 1"],
        [
            [name, group, *(_number(value) for value in values.values()), f"`{found['histogram'][group]}`"]
            for name, found in packs.items()
            for group, values in found["quantiles"].items()
        ],
    )
    names = list(next(iter(packs.values()))["auc of one signal"])
    yield Table(
        "AUC of one signal alone",
        ["vault of", *names],
        [[name, *(_number(found["auc of one signal"][signal]) for signal in names)] for name, found in packs.items()],
    )
    if "fit" in measured:
        yield _fit_table(measured["fit"])


def _row(found: Mapping[str, Any]) -> list[str]:
    fired, silent, counts = found["fired"], found["silent"], found["n"]
    return [
        f"{counts['answerable']} / {counts['foreign']}",
        _number(found["auc"]),
        " to ".join(map(_number, found["auc interval"])),
        verdict(SEPARATES, found["auc"]),
        _number(fired["answerable"]),
        verdict(WRONGLY_SENT, fired["answerable"]),
        _number(silent["answerable"]),
        _number(found["fired, other language"]),
        _number(fired["foreign"]),
        _number(silent["foreign"]),
        _number(found["auc in one language"]),
        str(counts["near miss"]),
        _number(found["auc near miss"]),
        _number(found["threshold"]),
    ]


def _fit_table(found: Mapping[str, Any]) -> Table:
    weights = ", ".join(f"{name} {value:.2f}" for name, value in found["weights"].items())
    return Table(
        f"Weights fitted to these packs: {weights}, constant {found['constant']:.2f}",
        ["vault of", "AUC, fitted without it", "threshold for 5 %, log odds"],
        [
            [name, _number(found["auc, pack left out"].get(name)), _number(value)]
            for name, value in found["threshold"].items()
        ],
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
