"""The index command: one run over the vault, by hand. The daemon does the same by itself while it follows."""

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event

from vault_ask.composition.parts import globs_of, make_embedder, make_source, make_tools
from vault_ask.errors import (
    DocumentIncomplete,
    DocumentVanished,
    EmbeddingSpaceChanged,
    IndexDamaged,
    ModelError,
    ModelUnreachable,
    NoIndex,
)
from vault_ask.index.embedding import Embedder
from vault_ask.index.files import IndexFiles
from vault_ask.index.reading.notes import Known
from vault_ask.index.view import Index
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.drafting import content_hash
from vault_ask.ingest.idle import idle_rules
from vault_ask.ingest.ingest import INCOMPLETE, VANISHED, Report, checked, reclassify
from vault_ask.ingest.plan import Plan, make_plan
from vault_ask.ingest.progress import Progress, Snapshot
from vault_ask.ingest.workshop import Tools, Workshop, open_writer, rebuilding
from vault_ask.scope import PrivateScope
from vault_ask.settings import Settings
from vault_ask.sources.leaving_out import idle_exclusions
from vault_ask.sources.port import Trouble

Display = Callable[[Snapshot], None]


@dataclass(slots=True)
class Outcome:
    """What a run did, and what it left."""

    report: Report
    chunks: int = 0
    waiting_notes: int = 0
    problem_notes: int = 0
    left_out: tuple[Trouble, ...] = ()
    embedder_trouble: str | None = None
    warnings: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def unread(self) -> dict[str, str]:
        """Notes that could not be read, and why; those that are incomplete are told with the other troubles."""
        return {path: reason for path, reason in self.report.failed.items() if reason != INCOMPLETE}

    @property
    def failed(self) -> bool:
        """Whether a note could not be read although it was there."""
        return any(reason != VANISHED for reason in self.unread.values())


def run(settings: Settings, *, rebuild: bool, embed: bool, display: Display) -> Outcome:
    """Index the vault. Raises SourceUnreachable, EmbeddingSpaceChanged, IndexBusy, ConfigError."""
    files = IndexFiles(settings.data)
    progress = Progress(display)
    embedder = make_embedder(settings, tell=lambda sentence: display(Snapshot(phase="embedding", message=sentence)))
    tools = make_tools(settings, embedder)
    with files.owned(), _stopping() as stop:
        warnings: list[str] = []
        if rebuild:
            _keep_rules(files, tools)
        with _rebuilt(files, embedder, embed=embed) if rebuild else _in_use(files, warnings) as writer:
            workshop = Workshop(writer, tools, progress)
            if embed:
                _bind(workshop)
            outcome = _work(workshop, stop, embed=embed)
            outcome.warnings = warnings
            if rebuild:
                _refuse_unfinished(outcome, files, embed=embed)
    outcome.warnings += (*idle_rules(Index(files), tools.rules, globs_of(settings)), *_idle_exclusions(settings, tools))
    return outcome


def _idle_exclusions(settings: Settings, tools: Tools) -> Iterator[str]:
    """Warn of excluded patterns that match nothing; of a database nobody knows what it would hold without them."""
    root = settings.vault.path if tools.source.state().kind == "folder" else None
    for written in idle_exclusions(root, settings.vault.exclude) if root else ():
        yield f"The pattern {written!r} of vault.exclude matches nothing, so it leaves nothing out. Check its spelling."


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
        except DocumentIncomplete:
            return False

    return Plan(plan.new, tuple(path for path in plan.changed if really_changed(path)), plan.gone)


def _known(settings: Settings) -> dict[str, Known]:
    index = Index(IndexFiles(settings.data))
    try:
        with index.open(PrivateScope()) as view:
            return view.notes.known()
    except NoIndex:
        return {}
    finally:
        index.close()


def _work(workshop: Workshop, stop: Event, *, embed: bool) -> Outcome:
    workshop.ingest.recall()
    report = workshop.ingest.sweep(stop)
    if embed:
        workshop.backlog.drain(stop)
    if report.anything:
        workshop.writer.optimize()
    waiting = workshop.writer.count_waiting_notes()
    return Outcome(
        report=report,
        chunks=workshop.writer.count_chunks(),
        waiting_notes=waiting,
        problem_notes=workshop.writer.count_problem_notes(),
        left_out=workshop.source.problems(),
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


def _keep_rules(files: IndexFiles, tools: Tools) -> None:
    """Apply changed rules to the index that serves meanwhile; a damaged one serves nobody."""
    if not files.current.exists():
        return
    with suppress(IndexDamaged):
        writer = IndexWriter(files.current)
        try:
            reclassify(writer, tools.rules)
        finally:
            writer.close()


def _rebuilt(files: IndexFiles, embedder: Embedder, *, embed: bool) -> AbstractContextManager[IndexWriter]:
    try:
        space = embedder.space
    except ModelError:
        if embed:
            raise
        space = None
    return rebuilding(files, space)


def _refuse_unfinished(outcome: Outcome, files: IndexFiles, *, embed: bool) -> None:
    """Keep the index in use where the new one is not whole; the next rebuild goes on where this one stopped."""
    if outcome.interrupted:
        raise KeyboardInterrupt
    if embed and outcome.waiting_notes and files.current.exists():
        raise ModelUnreachable(
            f"{outcome.embedder_trouble or 'The embedder stopped.'} The new index is not whole, so the old one stays "
            "in use. Run `vault-ask index --rebuild` again, and it goes on from here."
        )


@contextmanager
def _in_use(files: IndexFiles, warnings: list[str]) -> Iterator[IndexWriter]:
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
