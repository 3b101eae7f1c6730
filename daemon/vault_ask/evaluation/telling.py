"""Puts a report into words and columns for the terminal, claiming no more than so many questions can tell."""

from collections.abc import Iterator, Mapping

from vault_ask.evaluation.report import EVERY, Estimate, Group, Report
from vault_ask.evaluation.statistics import CHANCE, FEWEST_TELLING, RESAMPLES, SEED, Difference

FIGURE, NUMBER, RANGE, CHANGED = 22, 7, 18, 22

LEAST_SHOWN = 0.001
"""A smaller p is told as smaller than this."""


def tell(found: Report, *, verbose: bool = False) -> str:
    """Give a report as text: a block a group of questions, what was compared, and how to read it."""
    # Where no question has a kind, there is one group twice.
    shown = {name: group for name, group in found.items() if name == EVERY or len(found) > 2}  # noqa: PLR2004
    if not shown:
        return "No question names a note that answers it, so there is nothing to measure."
    blocks = ["\n".join(_block(name, group)) for name, group in shown.items()]
    compared = found[EVERY].differences
    if compared:
        blocks.append("\n".join(_verdicts(compared)))
        if verbose:
            blocks.append("\n".join(_changed(compared)) or "No question came out otherwise.")
    return "\n\n".join((*blocks, _reading(is_compared=bool(compared))))


def _block(name: str, group: Group) -> Iterator[str]:
    title = "no kind" if name == "kind:None" else name.removeprefix("kind:")
    questions = f"{group.number} question{'' if group.number == 1 else 's'}"
    head = f"{title}, {questions}".ljust(FIGURE) + "".rjust(NUMBER) + "  95 %".ljust(RANGE)
    if group.differences:
        head += "against".rjust(NUMBER) + "  difference, 95 %".ljust(RANGE + NUMBER + 2)
        head += "p".rjust(NUMBER) + "  better/worse/same"
    yield head.rstrip()
    for figure, estimate in group.figures.items():
        yield f"  {figure:{FIGURE - 2}}{_estimate(estimate)}{_compared(group, figure)}".rstrip()


def _estimate(estimate: Estimate) -> str:
    spread = estimate.interval
    shown = f"{spread.low:.3f} to {spread.high:.3f}" if spread else ""
    return f"{estimate.mean:{NUMBER}.3f}  {shown:{RANGE - 2}}"


def _compared(group: Group, figure: str) -> str:
    difference = group.differences.get(figure)
    if difference is None:
        return ""
    spread = f"{difference.interval.low:+.3f} to {difference.interval.high:+.3f}"
    counts = f"{len(difference.better)}/{len(difference.worse)}/{len(difference.same)}"
    told = f"{group.against[figure]:{NUMBER}.3f}  {difference.mean:+.3f}, {spread:{RANGE}}"
    return f"{told}{_chance(difference.p):>{NUMBER}}  {counts}"


def _chance(p: float) -> str:
    return "<.001" if p < LEAST_SHOWN else f"{p:.3f}"


def _percent(p: float) -> str:
    return f"less than {LEAST_SHOWN:.1%}" if p < LEAST_SHOWN else f"{p:.1%}"


def _verdicts(compared: Mapping[str, Difference]) -> Iterator[str]:
    for figure, difference in compared.items():
        yield f"{figure}: {verdict(difference)}"


def verdict(difference: Difference) -> str:
    """Say what a difference tells."""
    asked = difference.changed + len(difference.same)
    if not difference.changed:
        return f"the same for each of {asked}."
    if difference.is_told:
        way = "better" if difference.mean > 0 else "worse"
        return f"{way} by {abs(difference.mean):.3f}; chance alone does as much in {_percent(difference.p)} of cases."
    few = (
        f" Only {difference.changed} came out otherwise, and fewer than {FEWEST_TELLING} never tell."
        if difference.changed < FEWEST_TELLING
        else ""
    )
    return f"no difference that these {asked} questions can tell (p = {difference.p:.2f}).{few}"


def _changed(compared: Mapping[str, Difference]) -> Iterator[str]:
    for figure, difference in compared.items():
        for way, ids in (("better", difference.better), ("worse", difference.worse)):
            if ids:
                yield f"{figure} {way}: {', '.join(ids)}"


def _reading(*, is_compared: bool) -> str:
    intervals = f"Intervals: 95 %, Bayesian bootstrap over questions with {RESAMPLES:,} resamples, seed {SEED}."
    tests = (
        f" p: two-sided, of dealing the signs of the differences at random. Each line is a test of its own: "
        f"of twenty where nothing differs, about one falls below {CHANCE:g}."
    )
    return intervals + (tests if is_compared else "")
