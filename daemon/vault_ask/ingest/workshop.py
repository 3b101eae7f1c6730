"""Everything that writes one index file, put together: opened sound, or set aside and begun anew."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import structlog

from vault_ask.errors import IndexDamaged
from vault_ask.index.embedding import Embedder, EmbeddingSpace
from vault_ask.index.files import IndexFiles
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.backlog import Backlog
from vault_ask.ingest.ingest import Ingest
from vault_ask.ingest.progress import Progress
from vault_ask.notes.days import Dating
from vault_ask.notes.sensitivity import Rules
from vault_ask.settings.vault import ChunkSettings
from vault_ask.sources.port import VaultSource

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What an index is made with. `embedder` is None where only words are wanted.

    `make_source` makes another source of the same vault: each tells what changed against one index, so an index that
    is built beside the one in use needs its own.
    """

    source: VaultSource
    embedder: Embedder | None
    rules: Rules
    chunks: ChunkSettings
    centring: str
    dating: Dating = field(default_factory=Dating)
    make_source: Callable[[], VaultSource] | None = None

    def afresh(self) -> "Tools":
        """Give the same tools for another index."""
        return replace(self, source=self.make_source()) if self.make_source else self


class Workshop:
    """One index file being written."""

    def __init__(self, writer: IndexWriter, tools: Tools, progress: Progress) -> None:
        self.writer = writer
        self.source = tools.source
        self.progress = progress
        self.backlog = Backlog(writer, tools.embedder, progress.passages, centring=tools.centring)
        self.ingest = Ingest(
            source=tools.source,
            writer=writer,
            embedder=tools.embedder,
            backlog=self.backlog,
            rules=tools.rules,
            chunks=tools.chunks,
            dating=tools.dating,
            progress=progress.notes,
        )

    def close(self) -> None:
        """Close the index file, also where it is too damaged to be closed in order."""
        try:
            self.writer.close()
        except Exception as error:  # noqa: BLE001 - the driver is the index's alone, and its errors may come bare
            log.warning("index not closed in order", error=type(error).__name__)
            self.writer.abandon()


def open_writer(files: IndexFiles) -> tuple[IndexWriter, str | None]:
    """Open the index in use for writing; a damaged one is set aside and a new one begun.

    Gives the writer, and a sentence for the owner where a file was set aside. The caller owns the data folder.
    """
    found = _sound(files.current)
    return (found, None) if isinstance(found, IndexWriter) else begin_anew(files, found)


def begin_anew(files: IndexFiles, complaint: str) -> tuple[IndexWriter, str]:
    """Set the index in use aside and begin a new one; gives its writer, and a sentence for the owner."""
    kept = files.set_aside()
    log.error("index damaged", complaint=complaint, kept=kept.name)
    return IndexWriter(files.current), (
        f"The index was damaged and has been set aside as {kept.name}. A new one is being built from the vault, which "
        "is untouched; delete the old file when all is well."
    )


@contextmanager
def rebuilding(files: IndexFiles, space: EmbeddingSpace | None) -> Iterator[IndexWriter]:
    """Write a new index beside the one in use, which goes on serving; it takes over when the block ends well.

    After an interruption the next rebuild goes on where this one stopped, unless `space` (None where it cannot be
    told) is another than it was for. The caller owns the data folder.
    """
    writer = _continue_or_begin(files.building, space)
    try:
        yield writer
    except BaseException:
        writer.close()
        raise
    writer.close()
    files.promote()


def _continue_or_begin(file: Path, space: EmbeddingSpace | None) -> IndexWriter:
    found = _sound(file)
    if isinstance(found, IndexWriter):
        if space is None or found.meta("space") in {None, space.fingerprint}:
            return found
        found.close()
    log.info("unfinished rebuild dropped", why="damaged" if isinstance(found, str) else "another embedding model")
    IndexFiles.remove(file)
    return IndexWriter(file)


def _sound(file: Path) -> IndexWriter | str:
    """Open an index file, or give the complaint about it."""
    try:
        writer = IndexWriter(file)
    except IndexDamaged as error:
        return type(error.__cause__).__name__
    complaint = complaint_of(writer)
    if complaint is None:
        return writer
    writer.abandon()
    return complaint


def complaint_of(writer: IndexWriter) -> str | None:
    """Check an open index file; None when it is sound."""
    try:
        return writer.damage()
    except IndexDamaged as error:
        return type(error.__cause__).__name__


def is_unfinished(files: IndexFiles, space: EmbeddingSpace | None) -> bool:
    """Say whether a rebuild for this embedding space was interrupted and can go on."""
    found = _sound(files.building) if files.building.exists() else "none"
    if isinstance(found, str):
        return False
    try:
        return space is not None and found.meta("space") == space.fingerprint
    finally:
        found.close()
