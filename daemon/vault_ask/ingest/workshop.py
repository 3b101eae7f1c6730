"""Everything that writes one index file, put together: opened sound, or set aside and begun anew."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event

import structlog

from vault_ask.errors import IndexDamaged
from vault_ask.index.embedding import Embedder
from vault_ask.index.files import IndexFiles
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.backlog import Backlog
from vault_ask.ingest.ingest import Ingest, Report
from vault_ask.ingest.progress import Progress
from vault_ask.notes.sensitivity import Rules
from vault_ask.settings import ChunkSettings
from vault_ask.sources.port import VaultSource

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What an index is made with. `embedder` is None where only words are wanted."""

    source: VaultSource
    embedder: Embedder | None
    rules: Rules
    chunks: ChunkSettings
    centring: str


class Workshop:
    """One index file being written."""

    def __init__(self, writer: IndexWriter, tools: Tools, progress: Progress) -> None:
        self.writer = writer
        self.source = tools.source
        self.progress = progress
        self.backlog = Backlog(writer, tools.embedder, progress, centring=tools.centring)
        self.ingest = Ingest(
            source=tools.source,
            writer=writer,
            embedder=tools.embedder,
            backlog=self.backlog,
            rules=tools.rules,
            chunks=tools.chunks,
            progress=progress,
        )

    def bring_up_to_date(self, stop: Event | None = None) -> Report:
        """Sweep once and embed all that waits. Raises SourceUnreachable, EmbeddingSpaceChanged."""
        stop = stop or Event()
        report = self.ingest.sweep(stop)
        self.backlog.drain(stop)
        if report.anything:
            self.writer.optimize()
        return report


def open_writer(files: IndexFiles) -> tuple[IndexWriter, str | None]:
    """Open the index in use for writing; a damaged one is set aside and a new one begun.

    Gives the writer, and a sentence for the owner where a file was set aside. The caller owns the data folder.
    """
    try:
        writer = IndexWriter(files.current)
        complaint = writer.damage()
        if complaint is None:
            return writer, None
        writer.close()
    except IndexDamaged as error:
        complaint = type(error.__cause__).__name__
    kept = files.set_aside()
    log.error("index damaged", complaint=complaint, kept=kept.name)
    return IndexWriter(files.current), (
        f"The index was damaged and has been set aside as {kept.name}. A new one is being built from the vault, which "
        "is untouched; delete the old file when all is well."
    )


@contextmanager
def rebuilding(files: IndexFiles) -> Iterator[IndexWriter]:
    """Write a new index beside the one in use, which goes on serving; it takes over when the block ends well.

    After an interruption the next rebuild goes on where this one stopped. The caller owns the data folder.
    """
    writer = _continue_or_begin(files.building)
    try:
        yield writer
    except BaseException:
        writer.close()
        raise
    writer.close()
    files.promote()


def _continue_or_begin(file: Path) -> IndexWriter:
    try:
        writer = IndexWriter(file)
        if writer.damage() is None:
            return writer
        writer.close()
    except IndexDamaged:
        log.warning("unfinished rebuild damaged")
    IndexFiles.remove(file)
    return IndexWriter(file)
