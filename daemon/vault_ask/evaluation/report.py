"""What a whole file of questions shows: each figure with its interval, by kind of question, and against another."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from vault_ask.evaluation.figures import UNBOUNDED
from vault_ask.evaluation.running import Scored
from vault_ask.evaluation.statistics import RESAMPLES, SEED, Difference, Interval, compare, interval

EVERY = "all"
"""The group of all questions; the others are `kind:...`."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions and where it lies with 95 %; no interval for what is no share."""

    mean: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Group:
    """The questions of one kind, or all: how many, and their figures.

    `against` holds the means of the configuration that was compared with, `differences` ours less theirs.
    """

    number: int
    figures: Mapping[str, Estimate]
    against: Mapping[str, float] = field(default_factory=dict)
    differences: Mapping[str, Difference] = field(default_factory=dict)


Report = dict[str, Group]
"""By group, all questions first; empty where no question could be measured."""


def report(ours: Sequence[Scored], theirs: Sequence[Scored] | None = None) -> Report:
    """Sum up figures by kind of question, beside those of another configuration over the same questions."""
    other = {one.id: one.figures for one in theirs or ()}
    return {name: _group(members, other) for name, members in grouped(ours).items()}


def grouped(scored: Sequence[Scored]) -> dict[str, list[Scored]]:
    """Give the questions that could be measured: all, then each kind in alphabetical order."""
    groups: dict[str, list[Scored]] = defaultdict(list)
    for one in scored:
        if one.figures:
            groups[EVERY].append(one)
            groups[f"kind:{one.kind}"].append(one)
    return {name: groups[name] for name in sorted(groups)}


def column(scored: Sequence[Scored], figure: str) -> dict[str, float]:
    """Give one figure by question id, of the questions that have it."""
    return {one.id: one.figures[figure] for one in scored if figure in one.figures}


def _group(members: Sequence[Scored], other: Mapping[str, Mapping[str, float]]) -> Group:
    figures, against, differences = {}, {}, {}
    for name in dict.fromkeys(name for one in members for name in one.figures):
        ours = column(members, name)
        theirs = {key: other[key][name] for key in ours if name in other.get(key, {})}
        figures[name] = estimate(name, list(ours.values()))
        if theirs:
            against[name] = sum(theirs.values()) / len(theirs)
            differences[name] = compare(ours, theirs)
    return Group(len(members), figures, against, differences)


def estimate(figure: str, values: Sequence[float]) -> Estimate:
    """Estimate a figure from its values."""
    return Estimate(sum(values) / len(values), None if figure in UNBOUNDED else interval(values))


def as_json(found: Report) -> dict[str, Any]:
    """Give a report as one JSON object."""
    return {
        "interval": {"share": 0.95, "resamples": RESAMPLES, "seed": SEED},
        "groups": {name: dict(_members(group)) for name, group in found.items()},
    }


def _members(group: Group) -> Iterator[tuple[str, Any]]:
    yield "n", group.number
    yield "figures", {name: asdict(figure) for name, figure in group.figures.items()}
    if group.differences:
        yield "against", dict(group.against)
        yield "differences", {name: asdict(difference) for name, difference in group.differences.items()}
