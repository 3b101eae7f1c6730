"""What a person at the terminal sees: progress, answers, hits, status. Text goes out as it is, without markup."""

import sys
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING

import click

from vault_ask.answering.collect import collect
from vault_ask.errors import BadRequest, ModelError, VaultAskError
from vault_ask.wire import (
    AnswerEvent,
    Citation,
    DeltaEvent,
    ErrorEvent,
    GenerationStatus,
    GroundingEvent,
    SearchResponse,
    SourcesEvent,
    StatusResponse,
)

if TYPE_CHECKING:  # for annotations alone: each pulls in the index, half a second that `--help` should not pay
    from rich.console import Console

    from vault_ask.indexing import Outcome
    from vault_ask.ingest.plan import Plan
    from vault_ask.ingest.progress import Snapshot

PLAIN_LINE_SECONDS = 5.0
SHOWN_PATHS = 20
SNIPPET = 160


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
    left = "" if snapshot.seconds_left is None else f", {_duration(snapshot.seconds_left)} left"
    return f"{snapshot.rate:.1f} {unit}/s{left}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


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
        click.echo(f"{_count(mend, 'note')} should be mended; `vault-ask status` names them.", err=True)
    for trouble in outcome.left_out[:SHOWN_PATHS]:
        click.echo(f"Left out: {trouble.path} ({trouble.reason})", err=True)
    if len(outcome.left_out) > SHOWN_PATHS:
        click.echo(f"Left out: … and {len(outcome.left_out) - SHOWN_PATHS} more", err=True)
    for path, reason in report.failed.items():
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


def print_hits(found: SearchResponse, *, as_json: bool) -> None:
    """Print hits, best first."""
    if as_json:
        click.echo(found.model_dump_json(indent=2))
        return
    for notice in found.notices:
        click.echo(notice, err=True)
    for hit in found.hits:
        parts = " ".join(f"{name} {value:.2f}" for name, value in hit.trace.items())
        click.echo(f"{hit.n:2}. {_place(hit)}  [{hit.score:.2f}: {parts}; {hit.provenance}]")
        click.echo(f"    {_snippet(hit.quote)}")
    if not found.hits:
        click.echo("Nothing found.", err=True)


async def print_answer(events: AsyncGenerator[AnswerEvent, None], *, as_json: bool, sources_only: bool) -> bool:
    """Print an answer as it comes and its citations; say whether the vault had something to say.

    Raises ModelError when a model failed on the way, BadRequest when the question does not fit it.
    """
    if as_json and not sources_only:
        response = await collect(events)
        if isinstance(response, ErrorEvent):
            raise _failure(response)
        click.echo(response.model_dump_json(indent=2))
        return not response.refused
    async with aclosing(events):
        return await _print_events(events, as_json=as_json, sources_only=sources_only)


async def _print_events(events: AsyncGenerator[AnswerEvent, None], *, as_json: bool, sources_only: bool) -> bool:
    answered, begun = True, False
    async for event in events:
        match event:
            case SourcesEvent():
                for notice in event.notices:
                    click.echo(notice, err=True)
                if sources_only:
                    _print_sources(event, as_json=as_json)
                    return not event.silent
            case DeltaEvent():
                begun = True
                click.echo(event.text, nl=False)
            case GroundingEvent():
                answered = not event.refused
                click.echo()
                for citation in event.citations:
                    click.echo(f"[{citation.n}] {_place(citation)}")
            case ErrorEvent():
                if begun:
                    click.echo()
                raise _failure(event)
            case _:
                pass
    return answered


def _failure(event: ErrorEvent) -> VaultAskError:
    """Turn the end of a broken answer back into what it was on its way here."""
    return ModelError(event.message) if event.code.startswith("model_") else BadRequest(event.message)


def _print_sources(event: SourcesEvent, *, as_json: bool) -> None:
    if as_json:
        click.echo(event.model_dump_json(indent=2))
        return
    if event.silent:
        click.echo("The vault would be silent; nearest to the question are:")
    else:
        click.echo(f"{event.generator} would answer from {_count(len(event.sources), 'passage')}:")
    for source in event.sources:
        click.echo(f"[{source.n}] {_place(source)}")


def print_status(status: StatusResponse, *, as_json: bool) -> None:
    """Print how the index stands."""
    if as_json:
        click.echo(status.model_dump_json(indent=2))
        return
    _row("Vault", f"{status.vault.name}: {_count(status.notes, 'note')}, {_count(status.chunks, 'chunk')}")
    _row("Indexed", status.last_indexed or "never")
    _row("Embedding", _embedding(status))
    _row("Answers", _answers(status.generation))
    for offer in status.generation.offered:
        _row("", f"{offer} is available; set models.generation to use it")
    for pattern, count in status.rules.items():
        _row("Personal", f"{pattern}: {_count(count, 'note')}")
    rebuild = (status.embedding.rebuild_needed,) if status.embedding.rebuild_needed else ()
    for warning in (*rebuild, *status.warnings):
        click.echo(f"Warning: {warning}")
    if status.problem_count:
        click.echo(f"{_count(status.problem_count, 'problem')} in notes:")
    for problem in status.problems:
        line = f":{problem.line}" if problem.line else ""
        click.echo(f"  {problem.path}{line} {problem.code}: {problem.message}")


def _row(label: str, text: str) -> None:
    click.echo(f"{label:10} {text}")


def _embedding(status: StatusResponse) -> str:
    embedding = status.embedding
    waiting = f"{_count(embedding.waiting, 'note')} waiting for vectors" if embedding.waiting else "every note embedded"
    return f"{embedding.model}, {waiting}"


def _answers(generation: GenerationStatus) -> str:
    if generation.generator == "extractive":
        return "extractive (quotes from the notes)"
    return f"{generation.generator} ({'on your machines' if generation.local else 'remote'})"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _place(citation: Citation) -> str:
    heading = "".join(f" › {part}" for part in citation.heading_path)
    one = citation.line_start == citation.line_end
    lines = f"line {citation.line_start}" if one else f"lines {citation.line_start}-{citation.line_end}"
    return f"{citation.path}{heading} ({lines})"


def _snippet(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= SNIPPET else flat[: SNIPPET - 1] + "…"
