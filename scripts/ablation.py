"""What each part of retrieval is worth: packs asked again with one part out of use, compared question by question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measuring import Bar, Table, chance, share
from question_packs import Bench, Overrides, Pack, centred_otherwise, rank
from vault_ask.evaluation import Scored
from vault_ask.evaluation.report import column
from vault_ask.evaluation.statistics import CHANCE, compare
from vault_ask.retrieval.fusion import MODEL

FIGURES = ("recall@5", "MRR@10")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of retrieval, and how it is put out of use: by settings, by leaving an arm or a feature of the fusion out.

    What an index is made by (`stored`) needs a copy of the index that is brought in line.
    """

    name: str
    settings: Overrides = field(default_factory=dict)
    arm: str = "hybrid"
    feature: str | None = None
    stored: bool = False


PARTS = (
    Part("vectors", arm="text"),
    Part("words", arm="vector"),
    Part("centring", {"embedding": {"centring": "off"}}, stored=True),
    Part("scores (ranks instead)", {"retrieval": {"fusion": "rrf"}}),
    Part("links", {"graph": {"enabled": False}}),
    *(Part(f"fusion: {name}", feature=name) for name in MODEL.weights if name != "vector"),
)


def ablate(bench: Bench, pack: Pack) -> dict[str, Any]:
    """Measure a pack whole, then without each part: means, and paired differences (without it, less with it)."""
    whole = rank(pack, bench.library(pack), called="all parts")
    return {
        "whole": {figure: _mean(whole, figure) for figure in FIGURES},
        "without": {part.name: _without(bench, pack, part, whole) for part in PARTS},
    }


def _without(bench: Bench, pack: Pack, part: Part, whole: Sequence[Scored]) -> dict[str, Any]:
    scored = _ranked_without(bench, pack, part)
    return {figure: dict(_compared(scored, whole, figure)) for figure in FIGURES}


def _ranked_without(bench: Bench, pack: Pack, part: Part) -> list[Scored]:
    called = f"without {part.name}"
    if part.stored:
        with centred_otherwise(bench, pack, part.settings) as copy:
            return rank(pack, copy.library(pack, part.settings), part.arm, called=called)
    fusion = {"model": MODEL.without(part.feature)} if part.feature else {}
    return rank(pack, bench.library(pack, part.settings, **fusion), part.arm, called=called)


def _compared(scored: Sequence[Scored], whole: Sequence[Scored], figure: str) -> Iterator[tuple[str, Any]]:
    difference = compare(column(scored, figure), column(whole, figure))
    yield "mean", _mean(scored, figure)
    yield "difference", difference.mean
    yield "interval", [difference.interval.low, difference.interval.high]
    yield "p", difference.p
    yield "better", len(difference.better)
    yield "worse", len(difference.worse)


def _mean(scored: Sequence[Scored], figure: str) -> float:
    values = column(scored, figure)
    return sum(values.values()) / len(values)


def ablation_table(found: Mapping[str, Any]) -> Table:
    """Lay out what each part is worth, a row a part and a column a pack."""
    rows = [["nothing", *(" / ".join(share(pack["whole"][figure]) for figure in FIGURES) for pack in found.values())]]
    rows += [
        [
            part.name,
            *(" / ".join(_cell(pack["without"][part.name][figure]) for figure in FIGURES) for pack in found.values()),
        ]
        for part in PARTS
    ]
    title = (
        f"Each part off in turn ({' / '.join(FIGURES)}; in brackets the difference and its p, bold where these "
        "questions can tell it from chance)"
    )
    return Table(title, ["without", *found], rows)


def _cell(compared: Mapping[str, Any]) -> str:
    if not compared["better"] + compared["worse"]:
        return f"{share(compared['mean'])} (same)"
    told = f"{compared['difference']:+.3f}".replace("0.", ".", 1)
    bold = "**" if compared["p"] < CHANCE else ""
    return f"{share(compared['mean'])} ({bold}{told}{bold}, {chance(compared['p'])})"


def draw_ablation(file: Path, found: Mapping[str, Any]) -> None:
    """Draw what each part is worth to recall@5."""
    from plots import differences  # noqa: PLC0415 - matplotlib is for those who draw

    panels = {name: [_bar(pack["without"][part.name][FIGURES[0]]) for part in PARTS] for name, pack in found.items()}
    differences(file, "recall@5 without a part, less with it (95 %)", [part.name for part in PARTS], panels)


def _bar(compared: Mapping[str, Any]) -> Bar:
    return Bar(compared["difference"], *compared["interval"])
