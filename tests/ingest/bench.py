"""An ingest at work on a vault in memory, with a real index and an embedder that counts."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

from fakes import FakeSource, HashEmbedder
from vault_ask.errors import ModelUnreachable
from vault_ask.index.files import IndexFiles
from vault_ask.index.reading.state import Counts
from vault_ask.index.reading.text import Passage
from vault_ask.index.view import Index
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.ingest import Report
from vault_ask.ingest.progress import Progress
from vault_ask.ingest.workshop import Tools, Workshop
from vault_ask.notes.language import LanguageDetector
from vault_ask.notes.sensitivity import Rules
from vault_ask.retrieval.retriever import Retriever
from vault_ask.scope import OpenScope, PrivateScope, Scope
from vault_ask.settings.retrieval import RetrievalSettings
from vault_ask.settings.vault import ChunkSettings

OPEN, PRIVATE = OpenScope(web_allowed=True), PrivateScope()
AWAY = ModelUnreachable("Nobody listens at the embedder's address.")
LANGUAGES = LanguageDetector()


class Bench:
    """One data folder, one vault. `restart` is what a process does that ended and begins again."""

    def __init__(
        self,
        data: Path,
        notes: Mapping[str, str | bytes] | None = None,
        *,
        source: FakeSource | None = None,
        embedder: HashEmbedder | None = None,
        personal: tuple[str, ...] = (),
        chunks: ChunkSettings | None = None,
        **rules: Any,  # noqa: ANN401 - as Rules.compile takes them
    ) -> None:
        self.source = source or FakeSource(notes)
        self.embedder = embedder or HashEmbedder(dimension=384)
        self.files = IndexFiles(data)
        self.index = Index(self.files)
        self.now = 0.0
        self._open(personal, chunks, **rules)

    def _open(
        self,
        personal: tuple[str, ...],
        chunks: ChunkSettings | None,
        **rules: Any,  # noqa: ANN401 - as Rules.compile takes them
    ) -> None:
        self.progress = Progress()
        self.writer = IndexWriter(self.files.current)
        self.workshop = Workshop(self.writer, self.tools(personal, chunks, **rules), self.progress)
        self.ingest, self.backlog = self.workshop.ingest, self.workshop.backlog
        self.backlog._clock = lambda: self.now

    def tools(
        self,
        personal: tuple[str, ...] = (),
        chunks: ChunkSettings | None = None,
        *,
        key: str = "sensitivity",
        **rules: Any,  # noqa: ANN401 - as Rules.compile takes them
    ) -> Tools:
        return Tools(
            source=self.source,
            embedder=self.embedder,
            rules=Rules.compile(list(personal), key, **rules),
            chunks=chunks or ChunkSettings(),
            centring="off",
        )

    def restart(
        self,
        *,
        personal: tuple[str, ...] = (),
        chunks: ChunkSettings | None = None,
        **rules: Any,  # noqa: ANN401 - as Rules.compile takes them
    ) -> None:
        """Begin again, by rules as `Rules.compile` takes them: `key`, `personal_tags`, `default`."""
        self.close()
        self._open(personal, chunks, **rules)

    def close(self) -> None:
        self.writer.close()

    def sweep(self, stop: Event | None = None) -> Report:
        return self.ingest.sweep(stop)

    def index_all(self) -> Report:
        """Sweep and embed everything."""
        report = self.sweep()
        assert self.backlog.drain(Event())
        return report

    def follow(self) -> Report:
        """Apply the batches that the source holds, as one."""
        batches = []
        while not self.source._batches.empty():
            batches.extend(self.source._batches.get())
        return self.ingest.apply(batches)

    def paths(self, scope: Scope = PRIVATE) -> list[str]:
        with self.index.open(scope) as view:
            return view.notes.paths()

    def counts(self, scope: Scope = PRIVATE) -> Counts:
        with self.index.open(scope) as view:
            return view.state.counts()

    def passages(self, path: str) -> list[Passage]:
        with self.index.open(PRIVATE) as view:
            return list(view.text.passages(view.chunks.of(path)).values())

    def found(self, question: str, scope: Scope = PRIVATE, *, arm: str = "text") -> list[str]:
        """Give the notes that a question finds, best first."""
        retriever = Retriever(embedder=self.embedder, languages=LANGUAGES, settings=RetrievalSettings())
        with self.index.open(scope) as view:
            hits = retriever.retrieve(view, question, arm=arm).hits
        return list(dict.fromkeys(hit.path for hit in hits))

    def forget_calls(self) -> None:
        self.embedder.embedded.clear()
        self.source.reads.clear()

    @property
    def embedded_twice(self) -> list[str]:
        return [text for text, count in Counter(self.embedder.embedded).items() if count > 1]
