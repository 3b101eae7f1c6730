"""What the measuring scripts share: the machine in words, a verdict against a target, and tables for people."""

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKS = ROOT.parent / "shared" / "packs"
GIB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What a figure has to reach, as the project set it: at least, or at most where less is better."""

    value: float
    at_most: bool = False

    def reached(self, figure: float) -> bool:
        """Compare without rounding; a share counts what a sum of binary fractions lost."""
        return figure <= self.value if self.at_most else figure >= self.value - 1e-9

    def __str__(self) -> str:
        """Write it as a reader would."""
        return f"{'≤' if self.at_most else '≥'} {self.value:g}"


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a title above it."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def text(self) -> str:
        """Lay it out in columns for a terminal."""
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (self.head, ["-" * width for width in widths], *self.rows)
        ]
        return "\n".join((self.title, "", *lines))

    def markdown(self) -> str:
        """Write it as Markdown, for docs/measurements.md."""
        lines = [f"| {' | '.join(row)} |" for row in (self.head, ["---"] * len(self.head), *self.rows)]
        return "\n".join((f"**{self.title}**", "", *lines))


@dataclass(frozen=True, slots=True)
class Bar:
    """A figure as a plot shows it, and between what it lies where that is known."""

    value: float
    low: float | None = None
    high: float | None = None


def show(tables: Sequence[Table], *, markdown: bool) -> str:
    """Give all tables under a line that says when and where."""
    when = f"Measured on {datetime.now(UTC):%Y-%m-%d} on {machine()}."
    return "\n\n".join((when, *(table.markdown() if markdown else table.text() for table in tables)))


def verdict(target: Target | None, figure: float) -> str:
    """Say whether a figure reaches its target; nothing where there is none."""
    if target is None:
        return ""
    return "yes" if target.reached(figure) else "**no**"


def share(figure: float) -> str:
    """Write a share as tables do: `.833`, `1.000`, and a difference with its sign."""
    return f"{figure:.3f}".replace("0.", ".", 1) if abs(figure) < 1 else f"{figure:.3f}"


def chance(p: float) -> str:
    """Write how often chance alone brings as much: `p .031`, `p <.001`."""
    return "p <.001" if p < 0.001 else f"p {share(p)}"  # noqa: PLR2004 - three places are shown


def machine() -> str:
    """Describe this machine and how busy it is, since every time depends on it."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIB
    hardware = f"{cores} cores ({_processor()}), {memory:.0f} GiB, no GPU"
    return f"{hardware}, Python {platform.python_version()}, load average {os.getloadavg()[0]:.1f}"


def _processor() -> str:
    """Name the processor as Linux does, without its frequency; elsewhere by its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0].partition("@")[0].strip() if names else platform.machine()
