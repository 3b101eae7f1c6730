#!/usr/bin/env python3
"""Measures what is found and what is answered, on the question packs, with the defaults of config.yaml.

Each pack is indexed with the embedded model, then every question is asked of every arm: hybrid, vector, text, and for
comparison plain reciprocal rank fusion and vectors that are not centred. Figures are at note level and those of the
packs' own score.py, which is run beside them where it is there and has to agree. Answers are the extractive ones.
With --ablate each part of retrieval is put out of use in turn instead, and what that costs is told with a paired test.

Prints tables, or one JSON object with --json; --plot draws them as well. Exits with 1 when a figure cannot be trusted;
a target that is missed is told in the table and is no failure.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ablation import ablate, ablation_table, draw_ablation
from measuring import Bar, Table, Target, machine, share, show, verdict
from question_packs import Bench, Figures, Pack, add_options, centred_otherwise, means, opened, rank, say
from vault_ask.composition.library import Library
from vault_ask.evaluation import Asked, Results, Scored, answer_all, score
from vault_ask.evaluation.report import report

BEST_ARM_SLACK = 1.0
"""Questions by which the hybrid may fall behind the better arm: less than a pack can tell."""

QUOTE_LIMIT = 700


@dataclass(frozen=True, slots=True)
class Goal:
    """A figure the project set itself, with what plain FTS5 and the prototype gave (from its issue)."""

    pack: str
    group: str
    figure: str
    plain: str
    prototype: str
    target: Target

    @property
    def where(self) -> str:
        """The pack, and which of its questions where not all."""
        names = {"kind:single": "same language", "kind:crosslingual": "other language", "kind:multihop": "two notes"}
        return f"{self.pack}, {names[self.group]}" if self.group in names else self.pack


GOALS = (
    Goal("memory-lihua", "all", "recall@5", ".844", ".88", Target(value=0.91)),
    Goal("memory-lihua", "all", "MRR@10", ".729", ".78", Target(value=0.82)),
    Goal("multilingual", "kind:single", "recall@5", ".87", ".99", Target(value=0.98)),
    Goal("multilingual", "kind:crosslingual", "recall@5", ".11", ".76", Target(value=0.88)),
    Goal("obsidian-help", "all", "recall@5", ".55", ".78–.81", Target(value=0.83)),
    Goal("obsidian-help", "kind:multihop", "all@5", "", "", Target(value=0.60)),
    Goal("multihop-wiki", "all", "recall@5", ".677", ".84", Target(value=0.87)),
    Goal("multihop-wiki", "all", "all@5", ".399", ".68", Target(value=0.72)),
    Goal("seekstone", "all", "hit@5", "1.00", "1.00", Target(value=1.0)),
    Goal("seekstone", "all", "MRR@10", ".87", ".93", Target(value=0.95)),
    Goal("multilingual", "kind:single", "contains an answer", "", ".88", Target(value=0.88)),
    Goal("multilingual", "kind:single", "first quote does", "", ".70", Target(value=0.70)),
    Goal("multilingual", "kind:single", "verbatim", "", "", Target(value=1.0)),
)
ARMS = ("hybrid", "vector", "text", "rrf", "hybrid uncentred", "vector uncentred")
SHOWN = ("recall@5", "all@5", "hit@5", "MRR@10")
SHOWN_OF_ANSWERS = (
    "contains an answer",
    "first quote does",
    "verbatim",
    "within the limit",
    "refused (answerable)",
    "refused (unanswerable)",
    "seconds",
)
RRF = {"retrieval": {"fusion": "rrf"}}
UNCENTRED = {"embedding": {"centring": "off"}}


def main() -> int:
    """Measure what was asked for and print it."""
    arguments = _arguments()
    with opened(arguments) as (bench, packs):
        if arguments.ablate:
            return _tell_ablation(arguments, {pack.name: ablate(bench, pack) for pack in packs})
        measured = {pack.name: _measure(bench, pack, answers=not arguments.no_answers) for pack in packs}
    if arguments.plot:
        _draw(arguments.plot, measured)
    if arguments.json:
        print(json.dumps({"machine": machine(), "packs": measured}, ensure_ascii=False))
    else:
        print(show(list(_tables(measured)), markdown=arguments.markdown))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--no-answers", action="store_true", help="measure what is found, not what is answered")
    parser.add_argument("--ablate", action="store_true", help="measure what each part of retrieval is worth")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the figures into a PNG file")
    return parser.parse_args()


def _tell_ablation(arguments: argparse.Namespace, found: Mapping[str, Any]) -> int:
    if arguments.plot:
        draw_ablation(arguments.plot, found)
    if arguments.json:
        print(json.dumps({"machine": machine(), "ablation": found}, ensure_ascii=False))
    else:
        print(show([ablation_table(found)], markdown=arguments.markdown))
    return 0


def _measure(bench: Bench, pack: Pack, *, answers: bool) -> dict[str, Any]:
    scored = dict(_ranked(bench, pack))
    arms = {arm: means(of) for arm, of in scored.items()}
    found: dict[str, Any] = {"arms": arms, "intervals": _intervals(scored["hybrid"]), "hybrid_holds": _holds(arms)}
    if answers:
        found["answers"] = _answered(pack, bench.library(pack))
    return found


def _ranked(bench: Bench, pack: Pack) -> Iterator[tuple[str, list[Scored]]]:
    for arm in ("hybrid", "vector", "text"):
        yield arm, rank(pack, bench.library(pack), arm)
    yield "rrf", rank(pack, bench.library(pack, RRF), called="rrf")
    with centred_otherwise(bench, pack, UNCENTRED) as bare:
        for arm in ("hybrid", "vector"):
            name = f"{arm} uncentred"
            yield name, rank(pack, bare.library(pack, UNCENTRED), arm, called=name)


def _intervals(scored: Sequence[Scored]) -> dict[str, dict[str, Any]]:
    return {
        group: {name: asdict(figure.interval) for name, figure in found.figures.items() if figure.interval}
        for group, found in report(scored).items()
    }


def _holds(arms: Mapping[str, Figures]) -> dict[str, bool]:
    """Say, for each group of questions, whether the hybrid finds what the better single arm does, but for one."""
    return {
        group: figures["recall@5"] * figures["n"]
        >= max(arms[arm][group]["recall@5"] for arm in ("vector", "text")) * figures["n"] - BEST_ARM_SLACK
        for group, figures in arms["hybrid"].items()
    }


def _answered(pack: Pack, library: Library) -> Figures:
    say(f"{pack.name}: {len(pack.asked)} questions, answers")
    of_answers = answer_all(library, pack.asked)

    def figures(question: Asked, line: Mapping[str, Any]) -> dict[str, float]:
        return {**of_answers.figures(question, line), **_quotes(pack.vault, line)}

    return means(score(Results(of_answers.lines, figures), lambda _line: None))


def _quotes(vault: Path, line: Mapping[str, Any]) -> dict[str, float]:
    """Check an answer's quotes against the files: verbatim in the cited lines, not empty, short enough together."""
    citations = line["citations"]
    if not citations:
        return {}
    length = sum(len(citation["quote"]) for citation in citations)
    return {
        "verbatim": sum(_is_verbatim(vault, citation) for citation in citations) / len(citations),
        "within the limit": float(length <= QUOTE_LIMIT),
    }


def _is_verbatim(vault: Path, citation: Mapping[str, Any]) -> bool:
    text = (vault / citation["path"]).read_text(encoding="utf-8-sig")  # newlines come as \n whatever the file has
    cited = text.split("\n")[citation["line_start"] - 1 : citation["line_end"]]
    return bool(citation["quote"].strip()) and citation["quote"] in "\n".join(cited)


def _tables(measured: Mapping[str, Any]) -> Iterator[Table]:
    yield _goals_table(measured)
    yield _arms_table(measured)
    if any("answers" in found for found in measured.values()):
        yield _answers_table(measured)


def _goals_table(measured: Mapping[str, Any]) -> Table:
    rows = []
    for goal in GOALS:
        figure = _figure(measured, goal)
        if figure is not None:
            told = [str(goal.target), f"{figure:.3f}", _interval(measured, goal), verdict(goal.target, figure)]
            rows.append([f"{goal.where}: {goal.figure}", goal.plain, goal.prototype, *told])
    return Table("Goals", ["", "plain FTS5", "prototype", "to reach", "measured", "95 %", "reached"], rows)


def _figure(measured: Mapping[str, Any], goal: Goal) -> float | None:
    """Look a figure up among the rankings of the hybrid, then among the answers; None where it was not measured."""
    found = measured.get(goal.pack, {})
    for figures in (found.get("arms", {}).get("hybrid", {}), found.get("answers", {})):
        if goal.figure in figures.get(goal.group, {}):
            return float(figures[goal.group][goal.figure])
    return None


def _interval(measured: Mapping[str, Any], goal: Goal) -> str:
    found = measured[goal.pack]["intervals"].get(goal.group, {}).get(goal.figure)
    return f"{share(found['low'])} to {share(found['high'])}" if found else ""


def _arms_table(measured: Mapping[str, Any]) -> Table:
    rows = []
    for pack, found in measured.items():
        for group, figures in found["arms"]["hybrid"].items():
            cells = [_cell(found["arms"][arm][group]) for arm in ARMS]
            holds = "yes" if found["hybrid_holds"][group] else "**no**"
            rows.append([f"{pack}, {group.removeprefix('kind:')}", f"{figures['n']:.0f}", *cells, holds])
    title = f"Arms ({' / '.join(SHOWN)}); hybrid ≥ better arm of vector and text at recall@5, ± one question"
    return Table(title, ["pack, questions", "n", *ARMS, "holds"], rows)


def _cell(figures: Mapping[str, float]) -> str:
    return " / ".join(share(figures[name]) for name in SHOWN)


def _answers_table(measured: Mapping[str, Any]) -> Table:
    rows = [
        [f"{pack}, {group.removeprefix('kind:')}", f"{figures['n']:.0f}", *_answer_cells(figures)]
        for pack, found in measured.items()
        for group, figures in found.get("answers", {}).items()
    ]
    title = "Answers by quotes (only the multilingual pack's expected answers are worded as its notes are)"
    return Table(title, ["pack, questions", "n", *SHOWN_OF_ANSWERS], rows)


def _answer_cells(figures: Mapping[str, float]) -> list[str]:
    return [f"{figures[name]:.3f}" if name in figures else "" for name in SHOWN_OF_ANSWERS]


def _draw(file: Path, measured: Mapping[str, Any]) -> None:
    from plots import grouped_bars  # noqa: PLC0415 - matplotlib is for those who draw

    goals = [goal for goal in GOALS if goal.figure in SHOWN and _figure(measured, goal) is not None]
    grouped_bars(
        file,
        "What is found, with 95 % intervals; dashed: to reach",
        [f"{goal.where.replace(', ', chr(10))}\n{goal.figure}" for goal in goals],
        {arm: [_bar(measured[goal.pack], arm, goal) for goal in goals] for arm in ("hybrid", "vector", "text")},
        marks=[goal.target.value for goal in goals],
    )


def _bar(found: Mapping[str, Any], arm: str, goal: Goal) -> Bar:
    spread = found["intervals"][goal.group][goal.figure] if arm == "hybrid" else {}
    return Bar(found["arms"][arm][goal.group][goal.figure], **spread)


if __name__ == "__main__":
    sys.exit(main())
