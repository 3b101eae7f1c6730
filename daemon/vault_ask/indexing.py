"""The index command: one run over the vault, by hand. The daemon does the same by itself while it follows."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event

from vault_ask.app import make_embedder, make_source, make_tools
from vault_ask.errors import DocumentVanished, EmbeddingSpaceChanged, ModelError, NoIndex
from vault_ask.index.files import IndexFiles
from vault_ask.index.view import Index, Known
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.ingest import Report, checked, content_hash
from vault_ask.ingest.plan import Plan, make_plan
from vault_ask.ingest.progress import Progress, Snapshot
from vault_ask.ingest.workshop import Workshop, open_writer, rebuilding
from vault_ask.scope import PrivateScope
from vault_ask.settings import Settings

Display = Callable[[Snapshot], None]


@dataclass(slots=True)
class Outcome:
    """What a run did, and what it left."""

    report: Report
    chunks: int = 0
    waiting_notes: int = 0
    embedder_trouble: str | None = None
    warnings: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def failed(self) -> bool:
        """Whether a note could not be read."""
        return any(reason != "vanished" for reason in self.report.failed.values())


def run(settings: Settings, *, rebuild: bool, embed: bool, display: Display) -> Outcome:
    """Index the vault. Raises SourceUnreachable, EmbeddingSpaceChanged, IndexBusy, ConfigError."""
    files = IndexFiles(settings.data)
    progress = Progress(display)
    embedder = make_embedder(settings, tell=lambda sentence: progress.begin("embedding", message=sentence))
    tools = make_tools(settings, embedder)
    with files.owned(), _stopping() as stop:
        warnings: list[str] = []
        with _writer(files, warnings, rebuild=rebuild) as writer:
            workshop = Workshop(writer, tools, progress)
            if embed:
                _bind(workshop)
            outcome = _work(workshop, stop, embed=embed)
            outcome.warnings = warnings
            if rebuild and stop.is_set():
                raise KeyboardInterrupt
    return outcome


def dry_run(settings: Settings, *, rebuild: bool) -> Plan:
    """Say what a run would do. Writes nothing at all, not even the data folder."""
    source = make_source(settings)
    known: dict[str, Known] = {}
    if not rebuild:
        known = _known(settings)
    plan = checked(make_plan(source.listing(), known, unreadable=source.unreadable()))

    def really_changed(path: str) -> bool:
        try:
            return content_hash(source.read(path)) != known[path].content_hash
        except DocumentVanished:
            return True

    return Plan(plan.new, tuple(path for path in plan.changed if really_changed(path)), plan.gone)


def _known(settings: Settings) -> dict[str, Known]:
    try:
        with Index(IndexFiles(settings.data)).open(PrivateScope()) as view:
            return view.known()
    except NoIndex:
        return {}


def _work(workshop: Workshop, stop: Event, *, embed: bool) -> Outcome:
    report = workshop.ingest.sweep(stop)
    if embed:
        workshop.backlog.drain(stop)
    if report.anything:
        workshop.writer.optimize()
    _, waiting = workshop.writer.count_waiting()
    return Outcome(
        report=report,
        chunks=workshop.writer.count_chunks(),
        waiting_notes=waiting,
        embedder_trouble=workshop.backlog.state.last_error,
        interrupted=stop.is_set(),
    )


def _bind(workshop: Workshop) -> None:
    """Refuse another embedding space before anything is read; a model that is away only postpones the vectors."""
    try:
        workshop.backlog.bind()
    except EmbeddingSpaceChanged:
        raise
    except ModelError:
        return


@contextmanager
def _writer(files: IndexFiles, warnings: list[str], *, rebuild: bool) -> Iterator[IndexWriter]:
    if rebuild:
        with rebuilding(files) as writer:
            yield writer
        return
    writer, warning = open_writer(files)
    if warning:
        warnings.append(warning)
    try:
        yield writer
    finally:
        writer.close()


@contextmanager
def _stopping() -> Iterator[Event]:
    """Let Ctrl-C end the run after what is being stored; a second one ends it at once."""
    stop = Event()

    def on_signal(_number: int, _frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    former = signal.signal(signal.SIGINT, on_signal)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, former)
