"""Builds small real indexes for tests: from texts as they would lie in a vault, or from chunks made by hand."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from vault_ask.index.drafts import Draft, embedding_hash, embedding_text
from vault_ask.index.embedding import Embedder, Refused, Vector
from vault_ask.index.files import IndexFiles
from vault_ask.index.view import Index, VaultView
from vault_ask.index.within import Filter, Tag, Wanted, Within
from vault_ask.index.writer import IndexWriter
from vault_ask.notes.chunker import chunk
from vault_ask.notes.language import LanguageDetector
from vault_ask.notes.model import Chunk, Note
from vault_ask.notes.parse import parse
from vault_ask.notes.sensitivity import Rules
from vault_ask.retrieval.retriever import Retriever
from vault_ask.scope import OpenScope, PrivateScope, S, Sensitivity
from vault_ask.settings.retrieval import RetrievalSettings
from vault_ask.settings.vault import ChunkSettings

OPEN = OpenScope(web_allowed=True)
PRIVATE = PrivateScope()
RULES = Rules.compile(["Private/**"], "sensitivity")
LANGUAGES = LanguageDetector()
EVERY = 1_000_000

Vectors = Mapping[bytes, Vector]


class Building:
    """An index being built in a data folder, note by note, as ingest does it but with nothing in between.

    Without an embedder chunks wait for their vectors. `language` is that of every note; None detects it.
    """

    def __init__(
        self,
        data: Path,
        embedder: Embedder | None = None,
        *,
        rules: Rules = RULES,
        chunks: ChunkSettings | None = None,
        language: str | None = "en",
        centring: str = "off",
    ) -> None:
        self.files = IndexFiles(data)
        self.writer = IndexWriter(self.files.current)
        self.index = Index(self.files)
        self.embedder = embedder
        self._rules = rules
        self._chunks = chunks or ChunkSettings()
        self._language = language
        self._edits = 0
        if embedder:
            self.writer.use_space(embedder.space, embedder.priors(), centring)

    def put(self, notes: Mapping[str, str], *, gone: Iterable[str] = ()) -> None:
        """Store notes and forget those at the paths that are gone, in one transaction; then resolve links."""
        self.store([self.draft(path, text) for path, text in notes.items()], gone=gone)

    def store(self, drafts: Sequence[Draft], *, gone: Iterable[str] = ()) -> None:
        """Store drafts with the vectors they lack."""
        missing = self.writer.without_vector(drafts) if self.embedder else {}
        made, refused = self.embed(missing)
        self.writer.replace(drafts, made, refused=refused, gone=gone)
        self.writer.resolve_links()

    def embed(self, texts: Mapping[bytes, str]) -> tuple[Vectors, frozenset[bytes]]:
        """Give the vectors of texts by hash, and the hashes of those refused."""
        results = self.embedder.embed_passages(list(texts.values())) if self.embedder and texts else []
        pairs = list(zip(texts, results, strict=True)) if results else []
        made = {digest: result for digest, result in pairs if not isinstance(result, Refused)}
        return made, frozenset(digest for digest, result in pairs if isinstance(result, Refused))

    def vectors_of(self, path: str) -> list[object]:
        """Give the centred vectors of a note's chunks, as lists that can be compared."""
        with self.open(PRIVATE) as view:
            return [vector.tolist() for vector in view.vectors.centred(view.chunks.of(path)).values()]

    def draft(self, path: str, text: str) -> Draft:
        """Parse and cut a note."""
        content = text.encode()
        note = parse(path, content, self._rules)
        language = self._language or LANGUAGES.detect(note.body)
        return self.drafted(replace(note, language=language), content)

    def drafted(self, note: Note, content: bytes) -> Draft:
        """Make the draft of a parsed note."""
        count = self.embedder.count_tokens if self.embedder else _words
        self._edits += 1
        return Draft(
            note=note,
            chunks=tuple(chunk(note, count=count, options=self._chunks)),
            resolved_path=note.path,
            content_hash=blake2b(content, digest_size=16).digest(),
            revision=str(self._edits),
            mtime=float(self._edits),
            size=len(content),
        )

    def retriever(
        self, *, by_words_alone: bool = False, parts: Mapping[str, object] | None = None, **settings: object
    ) -> Retriever:
        """Give a retriever over this index; `parts` are further arguments of it, such as `graph` and `clock`."""
        return Retriever(
            embedder=None if by_words_alone else self.embedder,
            languages=LANGUAGES,
            settings=RetrievalSettings(**settings),
            **(parts or {}),
        )

    @contextmanager
    def open(self, scope: S) -> Iterator[VaultView[S]]:
        """Open a view of what is stored so far."""
        with self.index.open(scope) as view:
            yield view

    def close(self) -> None:
        self.writer.close()


def tagged(view: VaultView[S], tag: str) -> list[str]:
    """List the paths of notes in sight that a filter for a tag (folded, without `#`) leaves."""
    within = Within((Filter(f"tag:{tag}", (Wanted(Tag(tag)),)),))
    return sorted(set(view.chunks.paths_of(view.filters.holding(within, EVERY)).values()))


def made_by_hand(
    path: str,
    *bodies: str,
    personal: bool = False,
    language: str = "en",
    prelude: str = "",
    heading: str = "",
) -> Draft:
    """Make a draft of one chunk a body, without parsing anything."""
    lines = tuple("\n".join(bodies).split("\n"))
    note = Note(
        path=path,
        title=path.rpartition("/")[2].removesuffix(".md"),
        lines=lines,
        body_line=1,
        sensitivity=Sensitivity.PERSONAL if personal else Sensitivity.OPEN,
        language=language,
    )
    path_of = (heading,) if heading else ()
    chunks = tuple(
        Chunk(
            id=blake2b(f"{path}\x1f{body}\x1f{ordinal}".encode(), digest_size=16).hexdigest(),
            ordinal=ordinal,
            heading_path=path_of,
            prelude=prelude,
            body=body,
            line_start=ordinal + 1,
            line_end=ordinal + 1,
            tokens=len(body.split()),
        )
        for ordinal, body in enumerate(bodies)
    )
    content = "\n".join((path, *bodies)).encode()
    return Draft(
        note=note,
        chunks=chunks,
        resolved_path=path,
        content_hash=blake2b(content, digest_size=16).digest(),
        revision=blake2b(content, digest_size=8).hexdigest(),
        mtime=0.0,
        size=len(content),
    )


def placed(drafts: Iterable[Draft], vectors: Iterable[Vector]) -> dict[bytes, Vector]:
    """Pair the chunks of drafts, in order, with vectors made by hand."""
    chunks = [chunk for draft in drafts for chunk in draft.chunks]
    return {embedding_hash(chunk): vector for chunk, vector in zip(chunks, vectors, strict=True)}


def faults(writer: IndexWriter) -> list[str]:
    """Check that every part of an index holds the same chunks and nothing else; empty when all is well."""
    db = writer._db
    found = [row[0] for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
    # The rank of 1 compares the word index with the texts it was made from; a difference raises.
    db.execute("INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)")
    embedded = _ids(writer, "SELECT id FROM chunks WHERE state = 1")
    expected = {
        "SELECT id FROM chunks_fts_docsize": _ids(writer, "SELECT id FROM chunks"),
        "SELECT chunk FROM embeddings": embedded,
    }
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'chunks_vec'").fetchall():
        expected["SELECT id FROM chunks_vec"] = embedded
        expected["SELECT rowid FROM chunks_vec_rowids"] = embedded
        stray = "SELECT v.id FROM chunks_vec AS v JOIN chunks AS c ON c.id = v.id WHERE v.level <> c.level"
        expected[stray] = set()
    expected["SELECT c.id FROM chunks AS c JOIN notes AS n ON n.id = c.note WHERE c.level <> n.level"] = set()
    expected["SELECT id FROM notes WHERE id NOT IN (SELECT note FROM chunks)"] = set()
    expected["SELECT note FROM properties WHERE note NOT IN (SELECT id FROM notes)"] = set()
    expected["SELECT chunk FROM tasks WHERE chunk NOT IN (SELECT id FROM chunks)"] = set()
    expected["SELECT id FROM edges WHERE dst IS NOT NULL AND dst NOT IN (SELECT id FROM notes)"] = set()
    found.extend(f"{sql}: not as expected" for sql, ids in expected.items() if _ids(writer, sql) != ids)
    tallies = set(db.execute("SELECT language, level, chunks FROM tallies WHERE chunks <> 0"))
    if tallies != set(db.execute("SELECT language, level, count(*) FROM chunks GROUP BY language, level")):
        found.append("the tallies do not add up")
    return found


def _ids(writer: IndexWriter, sql: str) -> set[int]:
    return {row[0] for row in writer._db.execute(sql)}


def texts_of(drafts: Iterable[Draft]) -> dict[bytes, str]:
    """Give what an embedder would read of drafts, by hash."""
    return {embedding_hash(chunk): embedding_text(chunk) for draft in drafts for chunk in draft.chunks}


def _words(text: str) -> int:
    return len(text.split())
