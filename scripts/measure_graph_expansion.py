#!/usr/bin/env python3
"""Measures what following links brings and what it costs: every question twice, at the same number of chunks.

Each question of each pack is asked with links followed and without, everything else the same. The notes are ranked as
`vault-ask eval` does it (recall@5, all@5, MRR@10), and the passages that an answer would be made from are looked at:
how many of them links led to and are of a note that answers, and how often such a passage took the place of one that
answers. Differences are tested question by question.

Prints tables, or one JSON object with --json; --plot draws them as well. What is worse with links is told and is no
failure.
"""

import argparse
import json
import sys
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measuring import Bar, Table, chance, machine, share, show
from question_packs import Bench, Pack, add_options, opened, rank, say
from vault_ask.composition.library import Library
from vault_ask.evaluation import Asked, Scored
from vault_ask.evaluation.report import EVERY, column, grouped
from vault_ask.evaluation.statistics import CHANCE, Difference, compare
from vault_ask.retrieval.hits import Retrieved
from vault_ask.scope import PrivateScope

FIGURES = ("recall@5", "all@5", "MRR@10")
OF_PASSAGES = "recall of the passages"
WITHOUT_LINKS = {"graph": {"enabled": False}}


@dataclass(frozen=True, slots=True)
class Passages:
    """The passages that one question's answer would be made from: their notes, and those that only a link led to."""

    notes: tuple[str, ...]
    expanded: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """What links did to the passages of a pack's questions that name the notes which answer.

    `passages` with links and without, to show that there are as many. `by_links` of them only a link led to, and
    `by_links_right` of these are of a note that answers. `gained` and `lost` are questions: where a note that answers
    is there because of a link, and where one that was there without links is not any more.
    """

    questions: int
    passages: tuple[int, int]
    by_links: int
    by_links_right: int
    gained: int
    lost: int


def main() -> int:
    """Measure what was asked for and print it."""
    arguments = _arguments()
    with opened(arguments) as (bench, packs):
        measured = {pack.name: _measure(bench, pack) for pack in packs}
    if arguments.plot:
        _draw(arguments.plot, measured)
    if arguments.json:
        print(json.dumps({"machine": machine(), "packs": measured}, ensure_ascii=False))
    else:
        print(show([_figures_table(measured), _expansion_table(measured)], markdown=arguments.markdown))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the figures into a PNG file")
    return parser.parse_args()


def _measure(bench: Bench, pack: Pack) -> dict[str, Any]:
    linked, plain = bench.library(pack), bench.library(pack, WITHOUT_LINKS)
    with_links, without = rank(pack, linked, called="links followed"), rank(pack, plain, called="links off")
    say(f"{pack.name}: the passages of answers")
    seen = {
        asked["id"]: (asked, _passages(linked, asked), _passages(plain, asked)) for asked in pack.asked if _known(asked)
    }
    linked.close()
    plain.close()
    return {
        "figures": {group: dict(_figures(of, _picked(without, of), seen)) for group, of in grouped(with_links).items()},
        "expansion": asdict(_expansion(list(seen.values()))),
    }


def _known(asked: Asked) -> bool:
    return bool(asked.get("answerable", True) and asked["relevant"])


def _passages(library: Library, asked: Asked) -> Passages:
    found: Retrieved[PrivateScope] = library.retrieve(asked["question"], scope=PrivateScope())
    return Passages(
        tuple(_nfc(hit.path) for hit in found.hits),
        frozenset(_nfc(hit.path) for hit in found.hits if hit.provenance == "expanded"),
    )


def _picked(scored: Sequence[Scored], like: Sequence[Scored]) -> list[Scored]:
    ids = {one.id for one in like}
    return [one for one in scored if one.id in ids]


def _figures(
    ours: Sequence[Scored], theirs: Sequence[Scored], seen: Mapping[str, tuple[Asked, Passages, Passages]]
) -> Iterator[tuple[str, Any]]:
    yield "n", len(ours)
    for figure in FIGURES:
        yield figure, _compared(column(ours, figure), column(theirs, figure))
    of_passages = {one.id: seen[one.id] for one in ours}
    yield (
        OF_PASSAGES,
        _compared(
            {name: _recall(asked, linked) for name, (asked, linked, _) in of_passages.items()},
            {name: _recall(asked, plain) for name, (asked, _, plain) in of_passages.items()},
        ),
    )


def _compared(ours: Mapping[str, float], theirs: Mapping[str, float]) -> dict[str, Any]:
    difference: Difference = compare(ours, theirs)
    return {
        "links": sum(ours.values()) / len(ours),
        "none": sum(theirs.values()) / len(theirs),
        "difference": difference.mean,
        "interval": [difference.interval.low, difference.interval.high],
        "p": difference.p,
        "better": len(difference.better),
        "worse": len(difference.worse),
    }


def _recall(asked: Asked, passages: Passages) -> float:
    relevant = _relevant(asked)
    return len(relevant & set(passages.notes)) / len(relevant)


def _expansion(seen: Sequence[tuple[Asked, Passages, Passages]]) -> Expansion:
    expanded = [
        (note, note in _relevant(asked))
        for asked, linked, _ in seen
        for note in linked.notes
        if note in linked.expanded
    ]
    return Expansion(
        questions=len(seen),
        passages=(sum(len(linked.notes) for _, linked, _ in seen), sum(len(plain.notes) for _, _, plain in seen)),
        by_links=len(expanded),
        by_links_right=sum(is_right for _, is_right in expanded),
        gained=sum(bool(_relevant(asked) & linked.expanded - set(plain.notes)) for asked, linked, plain in seen),
        lost=sum(bool(_relevant(asked) & set(plain.notes) - set(linked.notes)) for asked, linked, plain in seen),
    )


def _relevant(asked: Asked) -> set[str]:
    return {_nfc(path) for path in asked["relevant"]}


def _nfc(path: str) -> str:
    return unicodedata.normalize("NFC", path)


def _figures_table(measured: Mapping[str, Any]) -> Table:
    names = (*FIGURES, OF_PASSAGES)
    rows = [
        [
            f"{pack}, {group.removeprefix('kind:')}",
            str(figures["n"]),
            *(_cell(figures[name]) for name in names),
            "yes" if figures["recall@5"]["difference"] >= 0 else "**no**",
        ]
        for pack, found in measured.items()
        for group, figures in found["figures"].items()
    ]
    title = "Links followed (links off; difference, p; questions better/worse), bold where they tell it from chance"
    return Table(title, ["pack, questions", "n", *names, "recall@5 ≥ links off"], rows)


def _cell(found: Mapping[str, Any]) -> str:
    if not found["better"] + found["worse"]:
        return f"{share(found['links'])} (same)"
    told = f"{found['difference']:+.3f}".replace("0.", ".", 1)
    bold = "**" if found["p"] < CHANCE else ""
    change = f"{bold}{told}{bold}, {chance(found['p'])}; {found['better']}/{found['worse']}"
    return f"{share(found['links'])} ({share(found['none'])}; {change})"


def _expansion_table(measured: Mapping[str, Any]) -> Table:
    rows = []
    for pack, found in measured.items():
        expansion = Expansion(**found["expansion"])
        right = f"{expansion.by_links_right / expansion.by_links:.0%}" if expansion.by_links else ""
        counts = (expansion.by_links, right, expansion.gained, expansion.lost)
        rows.append([pack, str(expansion.questions), " / ".join(map(str, expansion.passages)), *map(str, counts)])
    head = ["pack", "questions", "passages, links / off", "by links", "of these right", "note gained", "note lost"]
    return Table("The passages that answers are made from", head, rows)


def _draw(file: Path, measured: Mapping[str, Any]) -> None:
    from plots import grouped_bars  # noqa: PLC0415 - matplotlib is for those who draw

    places = [(pack, figure) for pack in measured for figure in FIGURES[:2]]
    shown = {
        name: [Bar(measured[pack]["figures"][EVERY][figure][key]) for pack, figure in places]
        for name, key in (("links off", "none"), ("links followed", "links"))
    }
    grouped_bars(file, "Links off and followed", [f"{pack}\n{figure}" for pack, figure in places], shown)


if __name__ == "__main__":
    sys.exit(main())
