"""The daemon's side of a simulated day: it starts, stops and dies, and its index is compared with one from scratch."""

import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

import apsw

from fakes import HashEmbedder, bag_of_words
from livesync_day_vault import DATABASE, PROBES
from livesync_device import PASSPHRASE
from vault_ask.errors import IndexFailed, SourceError
from vault_ask.index.files import IndexFiles
from vault_ask.index.view import Index
from vault_ask.index.writer import IndexWriter
from vault_ask.indexing import _work
from vault_ask.ingest.follower import Follower
from vault_ask.ingest.progress import Progress
from vault_ask.ingest.workshop import Tools, Workshop
from vault_ask.notes.links import link_key
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import OpenScope, PrivateScope
from vault_ask.settings.vault import ChunkSettings, VaultSettings
from vault_ask.sources.catalogue import KEY, Catalogue, Fact
from vault_ask.sources.couch_memory import SALTS, load_salts
from vault_ask.sources.couch_waiting import Pace
from vault_ask.sources.couchdb import CouchSource

OPEN, PRIVATE = OpenScope(web_allowed=True), PrivateScope()
PACE = Pace(
    quiet=0.3,
    settle=0.02,
    longest_settle=0.1,
    heartbeat=0.3,
    look=0.4,
    sign=0.1,
    retries=(0.05, 0.1, *[0.2] * 500, 3600.0),
)
CIPHERTEXT = re.compile(r"%[=~$][A-Za-z0-9+/]{30}|%[0-9a-f]{64}|/\\:|\x0eLZ|\[\"[A-Za-z0-9+/=]{30}")


class MortalWriter(IndexWriter):
    """A writer whose process is killed after so many transactions: from then on it stores nothing and fails."""

    def __init__(self, path: Path) -> None:
        self.dead = False
        self.lives: int | None = None
        super().__init__(path)

    def kill(self) -> None:
        """Die now, between two transactions at the latest."""
        with self._lock:
            self.dead = True

    @contextmanager
    def _transaction(self) -> Iterator[apsw.Connection]:
        with self._lock:
            with super()._transaction() as db:
                yield db
            if self.lives is not None:
                self.lives -= 1
                self.dead = self.lives <= 0

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        with self._lock:
            self._refuse_if_dead()
            with super()._reading() as db:
                yield db

    def _refuse_if_dead(self) -> None:
        if self.dead:
            raise IndexFailed("The process was killed.")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Everything an index holds that a reader or a restart could tell, by path, but for what only tells its history."""

    notes: Mapping[str, tuple[Any, ...]]
    chunks: Mapping[str, list[tuple[Any, ...]]]
    edges: Mapping[str, list[tuple[Any, ...]]]
    troubles: frozenset[tuple[str, str, str]]
    memory: Mapping[str, str]
    terms: Mapping[str, tuple[int, int]]

    @classmethod
    def of(cls, writer: IndexWriter) -> "Snapshot":
        """Take it in one moment."""
        with writer._lock:
            notes = writer._fetch(
                "SELECT path, resolved_path, level, content_hash, revision, title, frontmatter, "
                "frontmatter_state, others, aliases, problems, language FROM notes"
            )
            chunks = writer._fetch(
                "SELECT n.path, c.ordinal, c.stable_id, c.level, c.state, c.language, c.heading_path, c.block, "
                "c.prelude, c.body, c.line_start, c.line_end, c.tokens, e.vector IS NULL "
                "FROM chunks AS c JOIN notes AS n ON n.id = c.note LEFT JOIN embeddings AS e ON e.chunk = c.id "
                "ORDER BY c.ordinal"
            )
            edges = writer._fetch(
                "SELECT s.path, e.kind, e.target, e.key, e.heading, e.block, e.alias, e.line, d.path, e.resolved "
                "FROM edges AS e JOIN notes AS s ON s.id = e.src LEFT JOIN notes AS d ON d.id = e.dst ORDER BY e.id"
            )
            return cls(
                {row[0]: row[1:] for row in notes},
                _grouped(chunks),
                _grouped(edges),
                frozenset(writer._fetch("SELECT path, code, reason FROM troubles")),
                writer.memory(),
                {term: (docs, times) for term, docs, times in writer._fetch("SELECT * FROM chunk_terms")},
            )

    @property
    def facts(self) -> dict[str, Fact]:
        return {key.removeprefix(KEY): Fact.load(value) for key, value in self.memory.items() if key.startswith(KEY)}


def everything(writer: IndexWriter) -> dict[str, list[tuple[Any, ...]]]:
    """Give every row of every real table, those that SQLite's extensions keep for themselves included."""
    tables = writer._fetch("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    return {name: writer._fetch(f'SELECT * FROM "{name}"') for (name,) in tables}  # noqa: S608 - SQLite's own names


@dataclass(frozen=True, slots=True)
class Excused:
    """Files that a new index cannot read whole: the followed one may keep what it has of them."""

    ids: frozenset[str]
    paths: frozenset[str]

    @classmethod
    def by(cls, scratch: Snapshot, followed: Snapshot) -> "Excused":
        paths = {path for path, code, _ in scratch.troubles if code == "incomplete"}
        ids = {doc_id for doc_id, fact in scratch.facts.items() if fact.shown in paths}
        known = (*scratch.facts.items(), *followed.facts.items())
        return cls(frozenset(ids), frozenset(paths | {fact.shown for doc_id, fact in known if doc_id in ids}))


def differences(followed: Snapshot, scratch: Snapshot) -> list[str]:
    """Say where a followed index is not what a new one is."""
    excused = Excused.by(scratch, followed)
    found = [
        *_unequal("note", followed.notes, scratch.notes, excused.paths),
        *_unequal("chunks of", followed.chunks, scratch.chunks, excused.paths),
        *_unequal("links of", _masked(followed, excused), _masked(scratch, excused), excused.paths),
        *_unequal("trouble", _told(followed, excused), _told(scratch, excused), frozenset()),
        *_unequal("fact of", _unread(followed), _unread(scratch), excused.ids),
    ]
    if not excused.paths:
        found += _unequal("term", followed.terms, scratch.terms, frozenset())
    # Whoever does not say that it waits has the newest version, from the time when all of it was there.
    silent = excused.paths & followed.notes.keys() - {path for path, _, _ in followed.troubles}
    known = Catalogue(scratch.facts)
    newest = {path: "|".join(scratch.facts[doc_id].revision for doc_id in known.ids_at(path)) for path in silent}
    found += [
        f"{path} is stale, and nothing says so"
        for path, revision in newest.items()
        if revision and followed.notes[path][3] != revision
    ]
    return found


def _unread(snapshot: Snapshot) -> dict[str, Fact]:
    """Give the facts without what only saves a look at the next start."""
    return {doc_id: replace(fact, whole=False) for doc_id, fact in snapshot.facts.items()}


def _unequal(what: str, ours: Mapping[str, Any], theirs: Mapping[str, Any], excused: frozenset[str]) -> Iterator[str]:
    for key in sorted((ours.keys() | theirs.keys()) - excused):
        if ours.get(key) != theirs.get(key):
            yield f"{what} {key!r}:\n    followed {ours.get(key)!r}\n    scratch  {theirs.get(key)!r}"


def _masked(snapshot: Snapshot, excused: Excused) -> dict[str, list[tuple[Any, ...]]]:
    """Give the links without those that may mean an excused note."""
    names = {link_key(path) for path in excused.paths}
    return {
        path: [edge for edge in edges if edge[2] not in names and edge[7] not in excused.paths]
        for path, edges in snapshot.edges.items()
    }


def _told(snapshot: Snapshot, excused: Excused) -> dict[str, str]:
    return {f"{path} {code}": reason for path, code, reason in snapshot.troubles if path not in excused.paths}


def _grouped(rows: list[tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    grouped: dict[str, list[tuple[Any, ...]]] = {}
    for path, *row in rows:
        grouped.setdefault(path, []).append(tuple(row))
    return grouped


class House:
    """A data folder in which daemons come, go and die, and the means to build an index from scratch."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.embedder = HashEmbedder(dimension=384)
        self.rules = Rules.compile((), "sensitivity")
        self.salts: set[bytes] = set()
        self.deaths = 0
        self.source: CouchSource | None = None
        self._url = url
        self._scratches = 0
        self._workshop: Workshop | None = None
        self._follower: Follower | None = None

    @property
    def is_on(self) -> bool:
        return self._follower is not None

    @property
    def data(self) -> Path:
        """The data folder; a killed daemon's is a copy, as the disk held it at that moment."""
        return self.folder / f"data-{self.deaths}"

    @property
    def writer(self) -> MortalWriter:
        assert self._workshop is not None
        assert isinstance(self._workshop.writer, MortalWriter)
        return self._workshop.writer

    @property
    def mode(self) -> str:
        return self.source.state().mode if self.source else "off"

    def start(self) -> None:
        """Start a daemon."""
        self._workshop = self._open(self.data)
        self.source = self._workshop.source  # type: ignore[assignment]
        self._workshop.ingest.reclassify()
        self._follower = Follower(self._workshop, on_damage=lambda: None)
        self._follower.start()

    def stop(self) -> None:
        """End the daemon in order."""
        assert self._follower is not None
        assert self._workshop is not None
        self._follower.stop()
        self._leave()
        self._workshop.close()

    def kill(self) -> None:
        """Kill the daemon, unless it died already; what it had stored is all there is."""
        assert self._follower is not None
        writer, before = self.writer, self.data
        writer.kill()
        self.deaths += 1
        shutil.copytree(before, self.data)
        self._follower.stop()
        self._leave()
        writer.abandon()

    def index_by_hand(self) -> None:
        """Run the index command while no daemon runs; it ends with a sentence where the server does not answer."""
        workshop = self._open(self.data)
        try:
            _work(workshop, Event(), embed=True)
        except SourceError:
            pass
        finally:
            workshop.source.close()  # type: ignore[attr-defined]
            workshop.close()

    @contextmanager
    def scratch(self) -> Iterator[tuple[IndexWriter, Index]]:
        """Build an index from scratch, with every salt that the daemons met."""
        self._scratches += 1
        data = self.folder / f"scratch-{self._scratches}"
        workshop = self._open(data)
        for salt in self.met():
            workshop.source._replica.keys.add_salt(salt)  # type: ignore[attr-defined]
        _work(workshop, Event(), embed=True)
        index = Index(IndexFiles(data))
        try:
            yield workshop.writer, index
        finally:
            index.close()
            workshop.source.close()  # type: ignore[attr-defined]
            workshop.close()
            shutil.rmtree(data)

    def met(self) -> set[bytes]:
        """Give every salt that a daemon met and kept."""
        if self.is_on and not self.writer.dead:
            self.salts |= set(load_salts(self.writer.memory().get(SALTS)))
        return self.salts

    def hits(self, index: Index) -> dict[str, list[tuple[Any, ...]]]:
        """Search for some words under both scopes, by word and by vector."""
        found: dict[str, list[tuple[Any, ...]]] = {}
        for scope in (OPEN, PRIVATE):
            with index.open(scope) as view:
                for probe in PROBES:
                    vector = bag_of_words(probe, 384)
                    # A renamed note keeps the vectors of its former title, so only who is found by them is the same.
                    arms = {
                        "by words": view.words.matching(f'"{probe}"', 500),
                        "by vectors": [(chunk, 0.0) for chunk, _ in view.vectors.nearest(vector, 500)],
                    }
                    for arm, hits in arms.items():
                        passages = view.text.passages([chunk for chunk, _ in hits])
                        found[f"{probe} {arm}, {scope.ceiling.name}"] = sorted(
                            (passages[chunk].path, passages[chunk].line_start, round(score, 5)) for chunk, score in hits
                        )
        return found

    def _leave(self) -> None:
        assert self.source is not None
        self.source.close()
        self.source = self._follower = None

    def _open(self, data: Path) -> Workshop:
        data.mkdir(parents=True, exist_ok=True)
        settings = VaultSettings.model_validate(
            {
                "source": "couchdb",
                "couchdb": {"url": self._url, "database": DATABASE, "passphrase": PASSPHRASE},
            }
        )
        source = CouchSource(settings, pace=PACE)
        source._client._requests._backoff_seconds = 0.02
        tools = Tools(source=source, embedder=self.embedder, rules=self.rules, chunks=ChunkSettings(), centring="off")
        return Workshop(MortalWriter(IndexFiles(data).current), tools, Progress())
