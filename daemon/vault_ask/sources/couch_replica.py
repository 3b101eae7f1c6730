"""The vault as a LiveSync database holds it: what files there are, and what they hold, as far as it is there.

Knows nothing of how changes arrive. Whatever is in the database, a version that was read whole once is given up only
when its document is gone or a newer one is whole.
"""

import base64
import binascii
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Event

import structlog

from vault_ask.errors import SourceUnreachable
from vault_ask.sources.catalogue import Catalogue, Fact, fact_of, revisions, shown_path
from vault_ask.sources.ciphers import Keyring
from vault_ask.sources.couch_client import CouchClient, Row
from vault_ask.sources.couch_reading import Body, Found, Reader, conflicts_of
from vault_ask.sources.couch_vault import Epoch, VaultFacts, look_at, refuse_what_cannot_be_read, salt_of
from vault_ask.sources.livesync import CHUNKS, Metadata, note_id, refused_path, size_fits
from vault_ask.sources.port import Document, Entry, OtherVersion, Trouble, Unread
from vault_ask.sources.selection import Selection
from vault_ask.sources.walk import LARGEST_NOTE, printable

log = structlog.get_logger()

PAGE = 500
DECLARED_AT_ONCE = 32 * 1024**2
"""Bytes of notes read in one go: the whole vault is never in memory."""

CHECKPOINT, SALTS = "checkpoint", "salts"
SEALED, ODD_SIZE = "sealed:", "size:"
"""Before a document id and before a path, in the memory: what cannot be taken as it is, for nobody reads it again."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How patient the source is, in seconds. `quiet` is how long nothing may change before much is believed gone."""

    quiet: float = 10.0
    settle: float = 0.15
    longest_settle: float = 1.0
    heartbeat: float = 25.0
    look: float = 60.0
    sign: float = 5.0
    retries: tuple[float, ...] = (1.0, 2.0, *[5.0] * 20, *[15.0] * 20, *[60.0] * 60, 3600.0)


LONGEST_WAITS = 60
"""A vault that is edited all the time never keeps still: after so many waits two equal listings decide."""

MUCH, FEW = 0.2, 10
"""More than this share of the known files, and more than so many, are not believed gone at first sight."""


@dataclass(slots=True)
class Pending:
    """A file whose newest version is not whole; `missing` are the pieces that it waits for, if that is why."""

    reason: str
    missing: tuple[str, ...]
    due: float
    tries: int = 0


@dataclass(slots=True)
class _Look:
    """The database in one listing: its live files, those that cannot be taken as they are, and every id it told of."""

    catalogue: Catalogue = field(default_factory=Catalogue)
    sealed: dict[str, str] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far the changes were taken, in which life of the database, and which purges were looked after."""

    seq: str
    epoch: Epoch
    purges: str

    def dump(self) -> str:
        """Write it as one value of the memory."""
        return json.dumps([self.seq, self.epoch.start, self.epoch.created, self.purges])

    @classmethod
    def load(cls, value: str | None) -> "Checkpoint | None":
        """Read what `dump` wrote; None where that is not what it is."""
        try:
            seq, start, created, purges = json.loads(value or "")
            return cls(str(seq), Epoch(str(start), int(created)), str(purges))
        except (ValueError, TypeError):
            return None


class Replica:
    """One database, read by one thread; figures for the status may be read from others."""

    def __init__(
        self,
        client: CouchClient,
        selection: Selection,
        *,
        passphrase: str | None,
        pace: Pace,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.client = client
        self._passphrase = passphrase
        self.keys = Keyring(passphrase)
        self.reader = Reader(client, self.keys)
        self.catalogue = Catalogue()
        self.checkpoint: Checkpoint | None = None
        self.facts: VaultFacts | None = None
        self.warning: str | None = None
        self.is_fresh = False
        """Whether the listing was made just now, by whoever asks to have it compared."""
        self.pending: dict[str, Pending] = {}
        self._unchecked = True
        self._pace = pace
        self._clock = clock
        self._selection = selection
        self._sealed: dict[str, str] = {}
        self._odd_sizes: dict[str, str] = {}
        self.news: dict[str, str | None] = {}
        """What is to be remembered and is not yet, besides facts."""
        self.has_fresh_keys = False
        """Whether a salt was met that what is sealed was not tried with."""

    # What is kept with the index

    def memory(self) -> dict[str, str]:
        """Give everything to be kept with an index that was brought in line: whatever is not pending is whole in it."""
        kept = self.catalogue.dump(unread=lambda fact: fact.shown in self.pending)
        kept[SALTS] = self._dump_salts()
        kept |= {SEALED + doc_id: reason for doc_id, reason in self._sealed.items()}
        kept |= {ODD_SIZE + path: reason for path, reason in self._odd_sizes.items()}
        if self.checkpoint:
            kept[CHECKPOINT] = self.checkpoint.dump()
        return kept

    def recall(self, memory: Mapping[str, str]) -> None:
        """Begin where an index stopped. What was not whole then is read again now."""
        for salt in reversed(_salts(memory.get(SALTS))):
            self.keys.add_salt(salt)
        self.catalogue = Catalogue.load(memory)
        self.checkpoint = Checkpoint.load(memory.get(CHECKPOINT))
        self.pending = {
            fact.shown: Pending("it was not read whole before the daemon ended", (), self._clock())
            for doc_id in self.catalogue
            if (fact := self.catalogue.get(doc_id)) and not fact.whole and self._selection.lists(fact.shown)
        }
        self._sealed = _kept(memory, SEALED)
        self._odd_sizes = _kept(memory, ODD_SIZE)
        self.news.clear()

    def _dump_salts(self) -> str:
        return json.dumps([base64.b64encode(salt).decode() for salt in self.keys.salts])

    # Connecting

    def connect(self) -> bool:
        """Learn what the database tells of itself; say whether it is another one than the checkpoint is of.

        Raises SourceError.
        """
        facts = look_at(self.client)
        self.keys.configured_dynamic = facts.dynamic_iterations
        fresh_salt = self._take(facts.salt)
        self._unchecked = self._unchecked or fresh_salt
        self.facts = facts
        another = self.checkpoint is not None and facts.epoch.is_another(self.checkpoint.epoch)
        if self._unchecked and not another:
            self.check()
        return another

    def find(self, ids: Sequence[str]) -> dict[str, Found]:
        """Tell what documents are now. What cannot be decrypted is tried with the salt of today. Raises SourceError."""
        found = self.reader.find(ids) if ids else {}
        sealed = [doc_id for doc_id, one in found.items() if one.sealed]
        return found | self.reader.find(sealed) if sealed and self.renew_salt() else found

    def renew_salt(self) -> bool:
        """Look whether a device has overwritten the salt; say whether there is a new one. Raises SourceError."""
        return self._take(salt_of(self.client))

    def _take(self, salt: bytes | None) -> bool:
        """Keep a salt for good; say whether it is a new one."""
        if salt is None or not self.keys.add_salt(salt):
            return False
        self.news[SALTS] = self._dump_salts()
        self.has_fresh_keys = True
        return True

    def check(self) -> None:
        """Refuse a database that is no vault or cannot be read. Raises SourceRefused."""
        if self.facts is not None:
            self.warning = refuse_what_cannot_be_read(self.client, self.keys, self.facts)
            self._unchecked = False

    def fingerprint(self) -> tuple[str, int, str]:
        """Give what changes whenever anything is written."""
        info = self.client.info()
        return info.update_seq, info.doc_count, info.instance_start_time

    # Listing

    def list_all(self, stop: Event) -> None:
        """List the whole database anew. Where much is missing that was there, it is looked at until it keeps still.

        Raises SourceError.
        """
        if self.connect():
            self.check()
        # The sequence first: what changes during the listing is told again afterwards.
        seq = self.client.changes(since="now", limit=1, selector=False).last_seq
        known = self.catalogue
        look = self._look(known)
        lacking = _lacking(known, look)
        while is_much(len(lacking), len(known)):
            self._wait_and_see(stop, len(lacking), len(known))
            look = self._look(known)
            before, lacking = lacking, _lacking(known, look)
            if lacking == before:
                break
        self.catalogue, self._sealed = look.catalogue, look.sealed
        assert self.facts is not None  # noqa: S101 - `connect` has set it
        self.checkpoint = Checkpoint(seq, self.facts.epoch, self.facts.info.purge_seq)
        live = {fact.shown for doc_id in self.catalogue if (fact := self.catalogue.get(doc_id))}
        self.pending = {path: pending for path, pending in self.pending.items() if path in live}
        self._odd_sizes = {path: reason for path, reason in self._odd_sizes.items() if path in live}

    def entries(self) -> list[Entry]:
        """Give the notes of the last listing, sorted by path."""
        return [self._entry(path) for path in self.catalogue.paths() if self._selection.lists(path)]

    def troubles(self) -> tuple[Trouble, ...]:
        """Tell what cannot be taken as it is, sorted by path."""
        told = [Trouble(path, pending.reason, "incomplete") for path, pending in self.pending.items()]
        told += [Trouble(path, reason, "size") for path, reason in self._odd_sizes.items()]
        for doc_id, reason in self._sealed.items():
            fact = self.catalogue.get(doc_id)
            told.append(Trouble(fact.shown if fact else doc_id, reason, "incomplete" if fact else "left-out"))
        told += [Trouble(path, reason, "conflict") for path, reason in self._conflicts()]
        told = [replace(trouble, path=printable(trouble.path)) for trouble in told]
        return tuple(sorted(told, key=lambda trouble: (trouble.path, trouble.code)))

    def _conflicts(self) -> Iterator[tuple[str, str]]:
        for path in filter(self._selection.lists, self.catalogue.contested()):
            ids = self.catalogue.ids_at(path)
            lost = sum(len(fact.lost) for doc_id in ids if (fact := self.catalogue.get(doc_id)))
            if lost:
                versions = "another version waits" if lost == 1 else f"{lost} other versions wait"
                yield path, f"devices disagree about it, and {versions} to be resolved"
            else:
                yield path, f"{len(ids)} documents of the database claim this path, and the newest one is used"

    def _wait_and_see(self, stop: Event, lacking: int, known: int) -> None:
        """Wait until nothing was written for a while, or for long. Raises SourceUnreachable when told to stop."""
        before, warning = None, self.warning
        for _ in range(LONGEST_WAITS):
            if before == (now := self.fingerprint()):
                break
            before = now
            self.warning = (
                f"{lacking} of {known} files are missing from the database, as while LiveSync rebuilds it. Nothing is "
                "deleted until it has kept still for a while."
            )
            log.warning("much is missing; looking again", missing=lacking, known=known, seconds=self._pace.quiet)
            if stop.wait(self._pace.quiet):
                raise SourceUnreachable("The daemon was stopped while the database was being filled anew.")
        self.warning = warning

    def _look(self, known: Catalogue) -> _Look:
        look = _Look()
        for start, end in ((None, CHUNKS[0]), (CHUNKS[1], None)):
            for page in self.client.all_docs(start=start, end=end, include_docs=True, limit=PAGE):
                for row in page:
                    self._note_row(row, known, look)
        return look

    def _note_row(self, row: Row, known: Catalogue, look: _Look) -> None:
        before = known.get(row.id)
        look.told.add(row.id)
        revision = revisions(str(row.revision), conflicts_of(row.doc))
        if before is not None and before.revision == revision and row.id not in self._sealed:
            look.catalogue.put(row.id, before)
            return
        found = self.reader.what_is(row.id, row.doc)
        fact, reason = self.judge(found, before, revision)
        if fact is not None:
            look.catalogue.put(row.id, fact)
        if reason is not None:
            look.sealed[row.id] = reason

    def learn(self, doc_id: str, found: Found) -> Fact | None:
        """Take what a document is now into the catalogue; give the fact, None where there is no file any more."""
        before = self.catalogue.get(doc_id)
        fact, reason = self.judge(found, before, revisions(found.revision, found.lost))
        self._note_odd(self._sealed, SEALED, doc_id, reason)
        if fact is None:
            self.catalogue.drop(doc_id)
        else:
            self.catalogue.put(doc_id, fact)
        if before is not None and not self.catalogue.ids_at(before.shown):
            self.pending.pop(before.shown, None)
            self._note_odd(self._odd_sizes, ODD_SIZE, before.shown, None)
        return fact

    def judge(self, found: Found, before: Fact | None, revision: str) -> tuple[Fact | None, str | None]:
        """Decide what is to be known of a document from now on, and why it cannot be taken as it is.

        What cannot be decrypted, and a new path whose text is not whole, leave the former path in place.
        """
        if found.sealed is not None:
            return (replace(before, revision=revision, whole=False) if before else None), found.sealed
        if not found.is_file or found.metadata is None:
            return None, None
        fact = fact_of(found.metadata, found.lost)
        if before is not None and before.shown != fact.shown and not self._is_whole(found.metadata):
            return replace(before, revision=fact.revision, whole=False), None
        return fact, None

    def _is_whole(self, metadata: Metadata) -> bool:
        return self.reader.bodies([metadata], largest=LARGEST_NOTE)[0].content is not None

    def possible_ids(self, path: str) -> set[str]:
        """Give the ids that the document of a path may have, however the vault is set up; none where it is no path."""
        if refused_path(path) is not None:
            return set()
        hidden_by = {None, self._passphrase}
        return {
            note_id(path, case_sensitive=case_sensitive, passphrase=passphrase)
            for passphrase in hidden_by
            for case_sensitive in (True, False)
        }

    # Reading

    def read_all(self, paths: Sequence[str]) -> Iterator[Document | Unread]:
        """Read notes, in this order; see the port. Raises SourceUnreachable."""
        if self.facts is None:
            self.connect()
        self._look_up([path for path in paths if not self.catalogue.ids_at(path)])
        for group in self._groups(paths):
            ids = [doc_id for path in group for doc_id in self.catalogue.ids_at(path)]
            found = self.find(ids)
            loaded = self._load(found)
            for path in group:
                yield self._noted(path, self._document(path, found, loaded))

    def _look_up(self, paths: Sequence[str]) -> None:
        """Learn of notes that no listing has told of."""
        ids = sorted({doc_id for path in paths for doc_id in self.possible_ids(path)})
        for doc_id, found in self.find(ids).items():
            if doc_id not in self.catalogue and found.is_file:
                self.learn(doc_id, found)

    def _load(self, found: Mapping[str, Found]) -> dict[tuple[str, str], tuple[Metadata | None, Body]]:
        """Read every version of some documents, the winning ones as (id, "")."""
        metadata: dict[tuple[str, str], Metadata | None] = dict(self.reader.versions(found))
        metadata |= {(doc_id, ""): one.metadata for doc_id, one in found.items() if one.is_file}
        files = {key: one for key, one in metadata.items() if one is not None}
        bodies = dict(zip(files, self.reader.bodies(list(files.values()), largest=LARGEST_NOTE), strict=True))
        return {key: (one, bodies.get(key, Body(None, "it cannot be decrypted"))) for key, one in metadata.items()}

    def _document(
        self,
        path: str,
        found: Mapping[str, Found],
        loaded: Mapping[tuple[str, str], tuple[Metadata | None, Body]],
    ) -> tuple[Document | Unread, tuple[str, ...]]:
        """Give the document at a path, and the pieces that any version of it lacks."""
        ids = [doc_id for doc_id in self.catalogue.ids_at(path) if found[doc_id].sealed or found[doc_id].is_file]
        elsewhere = {doc_id for doc_id in ids if (one := found[doc_id].metadata) and shown_path(one.path) != path}
        if held_back := [key for doc_id in elsewhere if loaded[key := (doc_id, "")][1].content is None]:
            metadata, body = loaded[held_back[0]]
            moved_to = shown_path(metadata.path) if metadata else None
            reason = body.reason or "it cannot be read"
            return Unread(path, reason, body.beginning, moved_to=moved_to), body.missing
        ids = [doc_id for doc_id in ids if doc_id not in elsewhere]
        if not ids:
            return Unread(path, "it is not in the database any more", vanished=True), ()
        winner, *others = ids
        if found[winner].sealed or (winner, "") not in loaded:
            return Unread(path, found[winner].sealed or "it cannot be read"), ()
        metadata, body = loaded[winner, ""]
        lost = [(doc_id, rev) for doc_id in ids for rev in found[doc_id].lost]
        versions = [(doc_id, "") for doc_id in others] + lost
        rivals = tuple(_other(path, loaded.get(key)) for key in versions)
        if body.content is None or metadata is None:
            return Unread(path, body.reason or "it cannot be read", body.beginning, others=rivals), body.missing
        missing = tuple(piece for key in versions if key in loaded for piece in loaded[key][1].missing)
        document = Document(
            entry=Entry(path, self._revision_of(ids, found), metadata.size or 0, metadata.mtime),
            content=body.content,
            resolved_path=path,
            others=rivals,
        )
        self._note_size(path, metadata, body.content)
        return document, missing

    def _noted(self, path: str, result: tuple[Document | Unread, tuple[str, ...]]) -> Document | Unread:
        """Keep the books: what is whole is confirmed, what is not is tried again later."""
        document, missing = result
        if isinstance(document, Unread):
            if document.vanished:
                self.pending.pop(path, None)
            else:
                self._wait_for(path, document.reason, missing)
        elif any(other.content is None for other in document.others):
            self._wait_for(
                path, "a version of it that lost a conflict cannot be read, so it counts as personal", missing
            )
        else:
            self.pending.pop(path, None)
            for doc_id in self.catalogue.ids_at(path):
                self.catalogue.confirm(doc_id)
        return document

    def _wait_for(self, path: str, reason: str, missing: tuple[str, ...]) -> None:
        before = self.pending.get(path)
        tries = before.tries + 1 if before else 0
        wait = self._pace.retries[min(tries, len(self._pace.retries) - 1)]
        self.pending[path] = Pending(reason, missing, self._clock() + wait, tries)

    def postpone(self, path: str) -> None:
        """Count a look that found the pieces of a note still missing."""
        pending = self.pending[path]
        self._wait_for(path, pending.reason, pending.missing)

    def due(self) -> list[str]:
        """List the notes that should be tried again now."""
        now = self._clock()
        return [path for path, pending in self.pending.items() if pending.due <= now]

    def hurry(self) -> None:
        """Try again at once what waits for pieces: some have arrived."""
        for pending in self.pending.values():
            pending.due = min(pending.due, self._clock())

    def _note_size(self, path: str, metadata: Metadata, content: bytes) -> None:
        told = f"LiveSync recorded {metadata.size} bytes for it, and it has {len(content)}"
        self._note_odd(self._odd_sizes, ODD_SIZE, path, None if size_fits(metadata, content) else told)

    def _note_odd(self, known: dict[str, str], prefix: str, name: str, reason: str | None) -> None:
        """Note, or forget with None, why something cannot be taken as it is."""
        if known.get(name) == reason:
            return
        self.news[prefix + name] = reason
        if reason is None:
            del known[name]
        else:
            known[name] = reason

    def unsealable(self) -> list[str]:
        """List what could not be decrypted, once there is another salt to try it with."""
        sealed = list(self._sealed) if self.has_fresh_keys else []
        self.has_fresh_keys = False
        return sealed

    def _entry(self, path: str) -> Entry:
        ids = self.catalogue.ids_at(path)
        facts = [fact for doc_id in ids if (fact := self.catalogue.get(doc_id))]
        if not facts:
            return Entry(path, "", 0, 0.0)
        return Entry(path, "|".join(fact.revision for fact in facts), facts[0].size or 0, facts[0].mtime)

    def _revision_of(self, ids: Iterable[str], found: Mapping[str, Found]) -> str:
        return "|".join(fact_of(one.metadata, one.lost).revision for doc_id in ids if (one := found[doc_id]).metadata)

    def _groups(self, paths: Sequence[str]) -> Iterator[list[str]]:
        """Cut a list of paths where the declared sizes would become too much to hold."""
        group: list[str] = []
        declared = 0
        for path in paths:
            size = self._entry(path).size
            if group and (declared + size > DECLARED_AT_ONCE or len(group) >= PAGE):
                yield group
                group, declared = [], 0
            group.append(path)
            declared += size
        if group:
            yield group


def _other(path: str, loaded: tuple[Metadata | None, Body] | None) -> OtherVersion:
    metadata, body = loaded or (None, Body(None))
    return OtherVersion(shown_path(metadata.path) if metadata else path, body.content)


def _lacking(known: Catalogue, look: _Look) -> frozenset[str]:
    return frozenset(doc_id for doc_id in known if doc_id not in look.told)


def is_much(lacking: int, known: int) -> bool:
    """Say whether more is missing than is believed gone at first sight."""
    return lacking > FEW and lacking > MUCH * known


def _kept(memory: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): value for key, value in memory.items() if key.startswith(prefix)}


def _salts(value: str | None) -> list[bytes]:
    try:
        return [base64.b64decode(salt) for salt in json.loads(value or "[]")]
    except (ValueError, TypeError, binascii.Error):
        return []
