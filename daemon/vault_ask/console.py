"""What a person at the terminal sees: progress, answers, hits, status. Text goes out as it is, without markup."""

import json
import re
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from vault_ask.answering.collect import collect
from vault_ask.audit import Entry, Found
from vault_ask.errors import BadRequest, ModelError, VaultAskError
from vault_ask.wire import (
    AnswerEvent,
    Citation,
    DeltaEvent,
    DoneEvent,
    ErrorEvent,
    Freshness,
    GenerationStatus,
    GroundingEvent,
    SearchResponse,
    SourcesEvent,
    StatusResponse,
    Understood,
    VaultStatus,
    WebEvent,
    WebStatus,
)

if TYPE_CHECKING:  # for annotations alone: each pulls in the index, half a second that `--help` should not pay
    from rich.console import Console

    from vault_ask.evaluation.report import Report
    from vault_ask.indexing import Outcome
    from vault_ask.ingest.plan import Plan
    from vault_ask.ingest.progress import Snapshot
    from vault_ask.inspecting import Held

PLAIN_LINE_SECONDS = 5.0
SHOWN_PATHS = 20
_TROUBLES = {"left-out": "Left out", "incomplete": "Incomplete", "conflict": "In conflict", "size": "Odd size"}
SNIPPET = 160
_HASH_SHOWN = 13
SHA256 = 64

_RECORD = "{:19}  {:6}  {:16}  {:21}  {}"

# A path may hold whatever a stranger's program put there: what starts a new line, steers a terminal, turns the
# direction of writing, or is half a letter (a lone surrogate, which no encoding has).
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


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


def print_hits(found: SearchResponse, *, explain: bool, as_json: bool) -> None:
    """Print hits, best first; explained, each with the parts of its score."""
    if as_json:
        click.echo(found.model_dump_json(indent=2))
        return
    _print_understood(found.understood)
    _print_notices(found.notices)
    for hit in found.hits:
        led = f" from {hit.via}" if hit.via else ""
        click.echo(f"{hit.n:2}. {_place(hit)}  [{hit.score:.3f}; {hit.provenance}{led}]")
        if explain:
            click.echo("    = " + " + ".join(f"{name} {value:.3f}" for name, value in hit.trace.items()))
        if hit.also:
            click.echo(f"    the same in {', '.join(hit.also)}")
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
    told = _Telling()
    async for event in events:
        told.tell(event)
        if sources_only and isinstance(event, SourcesEvent):
            _print_sources(event, as_json=as_json)
            return not event.silent
    return told.answered


class _Telling:
    """An answer as it is printed: the vault's part with its places, then the web's with its pages."""

    def __init__(self) -> None:
        self.answered = True
        self._begun = False
        self._web: WebEvent | None = None
        self._web_worded = False

    def tell(self, event: AnswerEvent) -> None:
        """Print what an event brings. Raises ModelError or BadRequest where the answer ends with one."""
        match event:
            case SourcesEvent():
                _print_understood(event.understood)
                _print_notices(event.notices)
            case DeltaEvent(part="web"):
                self._tell_web_words(event.text)
            case DeltaEvent():
                self._begun = True
                click.echo(event.text, nl=False)
            case GroundingEvent():
                self.answered = not event.refused
                _print_citations(event.citations)
            case WebEvent():
                self._web = event
                click.echo(f"\nFrom the web ({event.provider})\n{_escaped(event.message)}")
            case DoneEvent():
                self._tell_pages()
            case ErrorEvent():
                click.echo(nl=self._begun)
                raise _failure(event)

    def _tell_web_words(self, text: str) -> None:
        """Print words that rest on pages of strangers; a line may end in them, and nothing may steer the terminal."""
        if not self._web_worded:
            click.echo()
        self._web_worded = True
        click.echo("\n".join(map(_escaped, text.split("\n"))), nl=False)

    def _tell_pages(self) -> None:
        if self._web_worded:
            click.echo()
        for page in self._web.results if self._web else ():
            click.echo(f"[{page.n}] {_escaped(page.title)}\n    {_escaped(page.url)}")
            if not self._web_worded:
                click.echo(f"    {_escaped(_snippet(page.snippet))}")


def _print_understood(read: Understood | None) -> None:
    if read is not None:
        click.echo(_escaped(f"Read as: {' · '.join(filter(None, _read_as(read)))}"), err=True)


def _read_as(read: Understood) -> Iterator[str]:
    """Tell what was searched for, within which filters, and the time."""
    yield from (read.text, *read.filters)
    if read.days is not None:
        first, last = read.days.first, read.days.last
        yield first if first == last else f"{first} to {last}"
    yield _ORDERS[read.order] if read.order else ""


_ORDERS = {"latest": "the latest", "earliest": "the earliest", "often": "how often"}


def _print_notices(notices: Sequence[str]) -> None:
    for notice in notices:
        click.echo(notice, err=True)


def _print_citations(citations: Sequence[Citation]) -> None:
    click.echo()
    for citation in citations:
        click.echo(f"[{citation.n}] {_place(citation)}")


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
        found = f", expanded through a link of {source.via}" if source.provenance == "expanded" else ""
        click.echo(f"[{source.n}] {_place(source)}{found}")


def print_status(status: StatusResponse, *, as_json: bool) -> None:
    """Print how the index stands."""
    if as_json:
        click.echo(status.model_dump_json(indent=2))
        return
    _row("Vault", f"{status.vault.name}: {_count(status.notes, 'note')}, {_count(status.chunks, 'chunk')}")
    for line in _source(status.vault):
        _row("Source", line)
    _row("Indexed", status.last_indexed or "never")
    _row("Embedding", _embedding(status))
    _row("Answers", _answers(status.generation))
    for offer in status.generation.offered:
        _row("", f"{offer} is available; set models.generation to use it")
    if status.reranker:
        _row("Reranking", f"{status.reranker.name} ({_where(is_local=status.reranker.local)})")
    _row("Web", _web(status.web))
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


def _source(vault: VaultStatus) -> Iterator[str]:
    """Tell where the notes come from and how fresh they are; of a folder only what is out of the ordinary."""
    waiting = vault.freshness.waiting
    if vault.kind == "couchdb":
        yield "LiveSync CouchDB" + (f", {vault.mode}: {_behind(vault.freshness)}" if vault.mode != "unfollowed" else "")
        if vault.mode == "unfollowed":
            yield vault.message
    if vault.mode in {"waiting", "stand-in"}:
        yield vault.message
    if waiting:
        yield f"{_count(waiting, 'note waits', 'notes wait')} for pieces that have not arrived"


def _behind(freshness: Freshness) -> str:
    if freshness.lag is None:
        said = "not known how far behind"
    else:
        said = f"{_count(freshness.lag, 'change')} behind" if freshness.lag else "up to date"
    if freshness.last_change_seen is None:
        return said
    ago = (datetime.now(UTC) - datetime.fromisoformat(freshness.last_change_seen)).total_seconds()
    return f"{said}; last change {_duration(max(0.0, ago))} ago"


def _embedding(status: StatusResponse) -> str:
    embedding = status.embedding
    waiting = f"{_count(embedding.waiting, 'note')} waiting for vectors" if embedding.waiting else "every note embedded"
    return f"{embedding.model}, {waiting}"


def _answers(generation: GenerationStatus) -> str:
    if generation.generator == "extractive":
        return "extractive (quotes from the notes)"
    return f"{generation.generator} ({_where(is_local=generation.local)})"


def _where(*, is_local: bool) -> str:
    return "on your machines" if is_local else "remote"


def _web(web: WebStatus) -> str:
    if not web.enabled:
        return "off"
    how = "is asked, a server of your own" if web.keeps_question_home else "is sent the question"
    return f"where open notes say little, {web.provider} {how}"


def _count(number: int, noun: str, plural: str = "") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {plural or f'{noun}s'}"


def _place(citation: Citation) -> str:
    heading = "".join(f" › {part}" for part in citation.heading_path)
    one = citation.line_start == citation.line_end
    lines = f"line {citation.line_start}" if one else f"lines {citation.line_start}-{citation.line_end}"
    return f"{citation.path}{heading} ({lines})"


def _snippet(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= SNIPPET else flat[: SNIPPET - 1] + "…"


def print_files(files: Iterable["Held"], *, as_json: bool, at_once: bool) -> None:
    """Print a line for each file of the vault as it comes: for programs one JSON object, in UTF-8 whatever the locale.

    `at_once` hands each line on by itself, for a list that comes slowly; a person always gets it so. How many there
    were goes to standard error, so that standard output is the list and nothing else, in a terminal as in a pipe.
    """
    encoding = "utf-8" if as_json else sys.stdout.encoding
    at_once = at_once or sys.stdout.isatty()
    states: Counter[str] = Counter()
    for file in files:
        line = _json_line(file) if as_json else _file_line(file)
        sys.stdout.buffer.write(f"{line}\n".encode(encoding, "replace"))
        if at_once:
            sys.stdout.buffer.flush()
        states[file.holding.state] += 1
    sys.stdout.buffer.flush()
    if not as_json:
        click.echo(_files_counted(states), err=True)


def print_left_out(left_out: Sequence[str]) -> None:
    """Tell which files and folders a list could not hold, and why."""
    for one in left_out:
        click.echo(f"Left out: {one}", err=True)


def print_bytes(content: bytes) -> None:
    """Hand a file on, byte by byte as it is."""
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _json_line(file: "Held") -> str:
    holding = file.holding
    line = {
        "path": holding.path,
        "bytes": holding.size,
        "sha256": file.sha256,
        "rev": holding.revision,
        "state": holding.state,
        "problem": holding.problem,
    }
    return _escaped(json.dumps(line, ensure_ascii=False))


def _file_line(file: "Held") -> str:
    holding = file.holding
    size = "-" if holding.size is None else str(holding.size)
    fingerprint = f"  {file.sha256 or '-':{SHA256}}" if file.hashed else ""
    problem = f": {holding.problem}" if holding.problem else ""
    state = "" if holding.state == "ok" else f"  ({holding.state}{problem})"
    return _escaped(f"{size:>11}{fingerprint}  {holding.path}{state}")


def _files_counted(states: Counter[str]) -> str:
    others = [f"{count} {state}" for state, count in sorted(states.items()) if state != "ok"]
    return f"{_count(states.total(), 'file')}{', of them ' if others else ''}{', '.join(others)}."


def _escaped(text: str) -> str:
    """Write what must not be printed as JSON would; in JSON these signs stand in strings only."""
    return _UNPRINTABLE.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)


def print_evaluation(found: "Report", *, as_json: bool, verbose: bool) -> None:
    """Print what a file of questions showed."""
    from vault_ask.evaluation.report import as_json as report_json  # noqa: PLC0415 - late, as for annotations
    from vault_ask.evaluation.telling import tell  # noqa: PLC0415

    if as_json:
        click.echo(json.dumps(report_json(found), ensure_ascii=False))
    else:
        click.echo(tell(found, verbose=verbose))


def print_audit(found: Found, *, as_json: bool) -> None:
    """Print records, the newest last: for programs one JSON object a line, in UTF-8 whatever the locale."""
    if as_json:
        for entry in found.entries:
            print_bytes(f"{_escaped(entry.model_dump_json(exclude_unset=True))}\n".encode())
    elif found.entries:
        _print_records(found.entries)
    for remark in _left_out_of(found):
        click.echo(remark, err=True)


def _left_out_of(found: Found) -> Iterator[str]:
    if not found.entries:
        yield f"None of {_count(found.others, 'record')} fits." if found.others else "Nothing is recorded."
    if found.earlier:
        yield f"{_count(found.earlier, 'earlier record')} not shown; --last N shows more."
    if found.unreadable:
        which = "it" if found.unreadable == 1 else "them"
        yield f"{_count(found.unreadable, 'line')} passed over: no record can be read from {which}."


def _print_records(entries: Sequence[Entry]) -> None:
    """Print a table whose rows go on below: paths and questions have no width that a column could hold."""
    click.echo(_RECORD.format("When", "Door", "What", "Web", "Outcome"))
    for entry in entries:
        when, what = f"{entry.at.astimezone():%Y-%m-%d %H:%M:%S}", f"{entry.action}, {entry.scope}"
        outcome = f"{entry.outcome}, {entry.seconds:.1f} s"
        click.echo(_escaped(_RECORD.format(when, entry.door, what, _asked_of_web(entry), outcome)))
        for line in _details(entry):
            click.echo(f"    {_escaped(line)}")


def _asked_of_web(entry: Entry) -> str:
    if entry.web is None:
        return "not asked"
    pages = "no answer" if entry.web.results is None else _count(entry.web.results, "page")
    return f"{entry.web.provider}: {pages}"


def _details(entry: Entry) -> Iterator[str]:
    question = entry.question or ""
    asked = question[:_HASH_SHOWN] if question.startswith("hmac:") else _snippet(question)
    if told := ", ".join(filter(None, (entry.model, entry.reranker, asked))):
        yield told
    yield from entry.notes[:SHOWN_PATHS]
    if len(entry.notes) > SHOWN_PATHS:
        yield f"… and {len(entry.notes) - SHOWN_PATHS} more; --json names them."
