"""How an index run is shown: what it would do, how far it is, and what it did."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from vault_ask.console.wording import SHOWN_PATHS, counted, duration

if TYPE_CHECKING:  # for annotations alone: each pulls in the index, half a second that `--help` should not pay
    from rich.console import Console

    from vault_ask.indexing import Outcome
    from vault_ask.ingest.plan import Plan
    from vault_ask.ingest.progress import Snapshot


PLAIN_LINE_SECONDS = 5.0
_TROUBLES = {"left-out": "Left out", "incomplete": "Incomplete", "conflict": "In conflict", "size": "Odd size"}


@contextmanager
def indexing_display() -> Iterator[Callable[["Snapshot"], None]]:
    """Show progress: a live bar in a terminal, a line now and then elsewhere."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console  # noqa: PLC0415 - a terminal's alone

    with _bar(Console(stderr=True)) as show:
        yield show


@contextmanager
def _bar(console: "Console") -> Iterator[Callable[["Snapshot"], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn  # noqa: PLC0415

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[figures]}", markup=False),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Starting", total=None, figures="")

        def show(snapshot: "Snapshot") -> None:
            bar.update(
                task,
                description=_doing(snapshot),
                completed=snapshot.done,
                total=snapshot.total or None,
                figures=_figures(snapshot),
            )

        yield show


def _lines() -> Callable[["Snapshot"], None]:
    last: dict[str, str | float] = {"doing": "", "when": 0.0}

    def show(snapshot: "Snapshot") -> None:
        now, doing = time.monotonic(), _doing(snapshot)
        nothing = not snapshot.total and not snapshot.message
        if nothing or (doing == last["doing"] and now - float(last["when"]) < PLAIN_LINE_SECONDS):
            return
        last.update(doing=doing, when=now)
        count = f": {snapshot.done} of {snapshot.total}" if snapshot.total else ""
        figures = _figures(snapshot)
        click.echo(f"{doing}{count}{', ' if figures else ''}{figures}", err=True)

    return show


def _doing(snapshot: "Snapshot") -> str:
    words = {"listing": "Listing the vault", "indexing": "Indexing notes", "embedding": "Embedding passages"}
    return snapshot.message or words.get(snapshot.phase, snapshot.phase.capitalize())


def _figures(snapshot: "Snapshot") -> str:
    if not snapshot.rate:
        return ""
    unit = "passages" if snapshot.phase == "embedding" else "notes"
    left = "" if snapshot.seconds_left is None else f", {duration(snapshot.seconds_left)} left"
    return f"{snapshot.rate:.1f} {unit}/s{left}"


def print_report(outcome: "Outcome") -> None:
    """Print what an index run did."""
    report = outcome.report
    click.echo(
        f"{report.new} new, {report.changed} changed, {report.deleted} deleted, {report.reclassified} reclassified; "
        f"{outcome.chunks} chunks in the index."
    )
    for warning in outcome.warnings:
        click.echo(f"Warning: {warning}", err=True)
    if waiting := outcome.waiting_notes:
        why = f" {outcome.embedder_trouble}" if outcome.embedder_trouble else ""
        wait = "note waits for its" if waiting == 1 else "notes wait for their"
        click.echo(f"{waiting} {wait} vectors, found by words until the next run.{why}", err=True)
    if mend := outcome.problem_notes:
        click.echo(f"{counted(mend, 'note')} should be mended; `vault-ask status` names them.", err=True)
    for trouble in outcome.left_out[:SHOWN_PATHS]:
        click.echo(f"{_TROUBLES[trouble.code]}: {trouble.path} ({trouble.reason})", err=True)
    if len(outcome.left_out) > SHOWN_PATHS:
        click.echo(f"… and {len(outcome.left_out) - SHOWN_PATHS} more; `vault-ask status` names them.", err=True)
    for path, reason in outcome.unread.items():
        click.echo(f"Not indexed: {path} ({reason})", err=True)
    if outcome.interrupted:
        click.echo("Stopped early; the next run goes on from here.", err=True)


def print_plan(plan: "Plan") -> None:
    """Print what an index run would do."""
    click.echo(f"Would read {len(plan.new)} new and {len(plan.changed)} changed notes, and forget {len(plan.gone)}.")
    for mark, paths in (("+", plan.new), ("~", plan.changed), ("-", plan.gone)):
        for path in paths[:SHOWN_PATHS]:
            click.echo(f"{mark} {path}")
        if len(paths) > SHOWN_PATHS:
            click.echo(f"{mark} … and {len(paths) - SHOWN_PATHS} more")
