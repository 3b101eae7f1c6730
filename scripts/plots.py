"""Small plots for docs/plots: a colour a series, intervals as thin lines, white behind, less than 60 KiB a file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from measuring import Bar

# Told apart by those who do not see red from green as well (Okabe and Ito, "Color Universal Design", 2008).
COLOURS = ("#0072b2", "#e69f00", "#009e73")
BETTER, WORSE, NOT_TOLD = "#009e73", "#d55e00", "#888888"
DPI = 110


def grouped_bars(
    file: Path,
    title: str,
    groups: Sequence[str],
    series: Mapping[str, Sequence[Bar]],
    *,
    marks: Sequence[float] = (),
) -> None:
    """Draw bars between 0 and 1, a group of them a name; `marks` are figures to reach, one a group."""
    figure = Figure(figsize=(10.4, 3.4), dpi=DPI, facecolor="white", layout="constrained")
    axes = figure.add_subplot()
    width = 0.8 / len(series)
    for number, (name, bars) in enumerate(series.items()):
        places = [at + (number - (len(series) - 1) / 2) * width for at in range(len(bars))]
        axes.bar(places, [bar.value for bar in bars], width, color=COLOURS[number], label=name)
        _spread(axes, places, bars)
    for at, mark in enumerate(marks):
        axes.hlines(mark, at - 0.45, at + 0.45, colors="black", linestyles="dashed", linewidth=1)
    axes.set_xticks(range(len(groups)), groups)
    axes.set_ylim(0, 1.02)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_title(title, fontsize=10)
    axes.tick_params(labelsize=7)
    figure.legend(loc="outside lower center", ncols=len(series), frameon=False, fontsize=8)
    _save(figure, file)


def differences(file: Path, title: str, names: Sequence[str], panels: Mapping[str, Sequence[Bar]]) -> None:
    """Draw differences around 0 in a panel each, one below the other, the first on top; grey where 0 is among them."""
    height = 1.1 + 0.25 * len(names)
    figure = Figure(figsize=(9.0, height), dpi=DPI, facecolor="white", layout="constrained")
    rows = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (panel, bars) in zip(rows, panels.items(), strict=True):
        axes.axvline(0, color="black", linewidth=0.8)
        for at, bar in enumerate(reversed(bars)):
            axes.plot([bar.low, bar.high], [at, at], color=_tone(bar), linewidth=1.6)
            axes.plot([bar.value], [at], "o", color=_tone(bar), markersize=4)
        axes.set_title(panel, fontsize=9)
        axes.tick_params(labelsize=8)
        axes.locator_params(axis="x", nbins=4)
    rows[0].set_yticks(range(len(names)), list(reversed(names)))
    figure.suptitle(title, fontsize=10)
    _save(figure, file)


def _tone(bar: Bar) -> str:
    if bar.low is None or bar.high is None or bar.low <= 0 <= bar.high:
        return NOT_TOLD
    return BETTER if bar.value > 0 else WORSE


def _spread(axes: Axes, places: Sequence[float], bars: Sequence[Bar]) -> None:
    for place, bar in zip(places, bars, strict=True):
        if bar.low is not None and bar.high is not None:
            axes.vlines(place, bar.low, bar.high, colors="#333333", linewidth=1)


def _save(figure: Figure, file: Path) -> None:
    """Write the plot without a date or a version in it, so that the same figures give the same bytes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, format="png", metadata={"Software": None})
