"""The vault as a LiveSync database holds it: what files there are, and what they hold, as far as it is there.

Knows nothing of how changes arrive. Whatever is in the database, a version that was read whole once is given up only
when its document is gone or a newer one is whole.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from threading import Event

from vault_ask.errors import SourceUnreachable
from vault_ask.sources.catalogue import Catalogue, Fact, fact_of, revisions
from vault_ask.sources.ciphers import Keyring
from vault_ask.sources.couch_client import CouchClient, Row
from vault_ask.sources.couch_documents import Read, entry_of, groups, load, put_together
from vault_ask.sources.couch_listing import Listing, Look
from vault_ask.sources.couch_memory import (
    CHECKPOINT,
    ODD_SIZE,
    SALTS,
    SEALED,
    Checkpoint,
    Oddities,
    dump_salts,
    load_salts,
)
from vault_ask.sources.couch_reading import Found, Reader, conflicts_of
from vault_ask.sources.couch_vault import VaultFacts, look_at, refuse_what_cannot_be_read, salt_of
from vault_ask.sources.couch_waiting import Pace, Waiting
from vault_ask.sources.livesync import Metadata, note_id, refused_path, size_fits
from vault_ask.sources.port import Document, Entry, Trouble, Unread
from vault_ask.sources.selection import Selection
from vault_ask.sources.walk import LARGEST_NOTE, printable

Judgement = tuple[Fact | None, str | None]
"""What is to be known of a document from now on, and why it cannot be taken as it is."""


class Replica:
    """One database, read by one thread; figures for the status may be read from others."""

    def __init__(self, client: CouchClient, selection: Selection, *, passphrase: str | None, pace: Pace) -> None:
        self.client = client
        self.keys = Keyring(passphrase)
        self.reader = Reader(client, self.keys)
        self.catalogue = Catalogue()
        self.checkpoint: Checkpoint | None = None
        self.facts: VaultFacts | None = None
        self.warning: str | None = None
        self.waiting = Waiting(pace)
        self.news: dict[str, str | None] = {}
        """What is to be remembered and is not yet, besides facts."""
        self.is_fresh = False
        """Whether the listing was made just now, by whoever asks to have it compared."""
        self.has_fresh_keys = False
        """Whether what is sealed was not tried yet with all that is known now."""
        self._doubt: str | None = None
        self._passphrase = passphrase
        self._selection = selection
        self._pace = pace
        self._unchecked = True
        self._sealed = Oddities(SEALED, self.news)
        self._odd_sizes = Oddities(ODD_SIZE, self.news)

    # What is kept with the index

    def memory(self) -> dict[str, str]:
        """Give everything to be kept with an index that was brought in line: whatever does not wait is whole in it."""
        kept = self.catalogue.dump(unread=lambda fact: fact.shown in self.waiting)
        kept |= {SALTS: dump_salts(self.keys.salts)} | self._sealed.dump() | self._odd_sizes.dump()
        return kept | ({CHECKPOINT: self.checkpoint.dump()} if self.checkpoint else {})

    def recall(self, memory: Mapping[str, str]) -> None:
        """Begin where an index stopped. What was not whole then is read again now."""
        for salt in reversed(load_salts(memory.get(SALTS))):
            self.keys.add_salt(salt)
        self.catalogue = Catalogue.load(memory)
        self.checkpoint = Checkpoint.load(memory.get(CHECKPOINT))
        facts = (self.catalogue.get(doc_id) for doc_id in self.catalogue)
        self.waiting.begin(
            fact.shown for fact in facts if fact and not fact.whole and self._selection.lists(fact.shown)
        )
        self._sealed.recall(memory)
        self._odd_sizes.recall(memory)
        self.news.clear()
        self.is_fresh = False
        # The passphrase may be another one than when something could not be decrypted, and so may this program.
        self.has_fresh_keys = True

    def take_news(self) -> dict[str, str | None]:
        """Give what is to be remembered, and think no more of it."""
        news = dict(self.news)
        self.news.clear()
        return news

    # Connecting

    def connect(self) -> bool:
        """Learn what the database tells of itself; say whether it is another one than the checkpoint is of.

        Raises SourceError.
        """
        facts = look_at(self.client)
        self.keys.configured_dynamic = facts.dynamic_iterations
        self._unchecked = self._take(facts.salt) or self._unchecked
        self.facts = facts
        another = self.checkpoint is not None and facts.epoch.is_another(self.checkpoint.epoch)
        if self._unchecked and not another:
            self.check()
        return another

    def check(self) -> None:
        """Refuse a database that is no vault or cannot be read. Raises SourceRefused."""
        if self.facts is not None:
            self.warning = refuse_what_cannot_be_read(self.client, self.keys, self.facts)
            self._unchecked = False

    def renew_salt(self) -> bool:
        """Look whether a device has overwritten the salt; say whether there is a new one. Raises SourceError."""
        return self._take(salt_of(self.client))

    def _take(self, salt: bytes | None) -> bool:
        """Keep a salt for good; say whether it is a new one."""
        if salt is None or not self.keys.add_salt(salt):
            return False
        self.news[SALTS] = dump_salts(self.keys.salts)
        self.has_fresh_keys = True
        return True

    # Listing

    def list_all(self, stop: Event) -> None:
        """List the whole database anew. Where much is missing that was there, it is looked at until it keeps still.

        Raises SourceError.
        """
        if self.connect():
            self.check()
        assert self.facts is not None  # noqa: S101 - `connect` has set it
        # The sequence first: what changes during the listing is told again afterwards.
        seq = self.client.changes(since="now", limit=1, selector=False).last_seq
        listing = Listing(self.client, self._note_row, self._tell_of_doubt, quiet=self._pace.quiet)
        look = listing.believed(self.catalogue, stop)
        if look_at(self.client).epoch.is_another(self.facts.epoch):
            raise SourceUnreachable("The database was made anew while it was listed; it is looked at again.")
        self.catalogue = look.catalogue
        self.checkpoint = Checkpoint(seq, self.facts.epoch, self.facts.info.purge_seq)
        self._sealed.replace(look.sealed)
        live = {fact.shown for doc_id in self.catalogue if (fact := self.catalogue.get(doc_id))}
        self.waiting.keep_only(live)
        self._odd_sizes.replace({path: reason for path, reason in self._odd_sizes.items() if path in live})

    def entries(self) -> list[Entry]:
        """Give the notes of the last listing, sorted by path."""
        return [entry_of(self.catalogue, path) for path in self.catalogue.paths() if self._selection.lists(path)]

    def _tell_of_doubt(self, warning: str | None) -> None:
        self._doubt = warning

    @property
    def complaint(self) -> str | None:
        """What the owner should know of the database before all else."""
        return self._doubt or self.warning

    def _note_row(self, row: Row, look: Look) -> None:
        if row.doc is not None and row.doc.get("deleted") is True:
            # Its path tells nothing any more, and may be dear to decrypt.
            return
        before = self.catalogue.get(row.id)
        revision = revisions(str(row.revision), conflicts_of(row.doc))
        if before is not None and before.revision == revision and row.id not in self._sealed:
            look.catalogue.put(row.id, before)
            return
        fact, reason = self.judge(self.reader.what_is(row.id, row.doc), before, revision)
        if fact is not None:
            look.catalogue.put(row.id, fact)
        if reason is not None:
            look.sealed[row.id] = reason

    # Single documents

    def find(self, ids: Sequence[str]) -> dict[str, Found]:
        """Tell what documents are now. What cannot be decrypted is tried with the salt of today. Raises SourceError."""
        found = self.reader.find(ids) if ids else {}
        sealed = [doc_id for doc_id, one in found.items() if one.sealed]
        return found | self.reader.find(sealed) if sealed and self.renew_salt() else found

    def judged(self, everything: Mapping[str, Found]) -> dict[str, Judgement]:
        """Judge documents, and learn nothing yet: whoever learns them all tells of them all. Raises SourceError."""
        return {
            doc_id: self.judge(found, self.catalogue.get(doc_id), revisions(found.revision, found.lost))
            for doc_id, found in everything.items()
        }

    def learn(self, doc_id: str, judgement: Judgement) -> Fact | None:
        """Take what a document is now into the catalogue; give the fact, None where there is no file any more."""
        before = self.catalogue.get(doc_id)
        fact, reason = judgement
        self._sealed.note(doc_id, reason)
        if fact is None:
            self.catalogue.drop(doc_id)
        else:
            self.catalogue.put(doc_id, fact)
        if before is not None and not self.catalogue.ids_at(before.shown):
            self.waiting.end(before.shown)
            self._odd_sizes.note(before.shown, None)
        return fact

    def judge(self, found: Found, before: Fact | None, revision: str) -> Judgement:
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
        for group in groups(self.catalogue, paths):
            loaded = load(self.reader, self.find([doc_id for path in group for doc_id in self.catalogue.ids_at(path)]))
            for path in group:
                yield self._noted(path, put_together(path, self.catalogue.ids_at(path), loaded))

    def _look_up(self, paths: Sequence[str]) -> None:
        """Learn of notes that no listing has told of."""
        ids = sorted({doc_id for path in paths for doc_id in self.possible_ids(path)})
        found = {doc_id: one for doc_id, one in self.find(ids).items() if one.is_file and doc_id not in self.catalogue}
        for doc_id, judgement in self.judged(found).items():
            self.learn(doc_id, judgement)

    def _noted(self, path: str, read: Read) -> Document | Unread:
        """Keep the books: what is whole is confirmed, what is not is tried again later."""
        document = read.result
        if isinstance(document, Unread):
            if document.vanished:
                self.waiting.end(path)
            else:
                self.waiting.wait_for(path, document.reason, read.missing)
            return document
        if any(other.content is None for other in document.others):
            reason = "a version of it that lost a conflict cannot be read, so it counts as personal"
            self.waiting.wait_for(path, reason, read.missing)
        else:
            self.waiting.end(path)
            for doc_id in self.catalogue.ids_at(path):
                self.catalogue.confirm(doc_id)
        if read.metadata is not None:
            self._odd_sizes.note(path, _odd_size(read.metadata, document.content))
        return document

    # What cannot be taken as it is

    def troubles(self) -> tuple[Trouble, ...]:
        """Tell what cannot be taken as it is, sorted by path."""
        told = [Trouble(path, pending.reason, "incomplete") for path, pending in self.waiting.notes.items()]
        told += [Trouble(path, reason, "size") for path, reason in self._odd_sizes.items()]
        told += [Trouble(path, reason, "conflict") for path, reason in self._conflicts()]
        for doc_id, reason in self._sealed.items():
            fact = self.catalogue.get(doc_id)
            told.append(Trouble(fact.shown if fact else doc_id, reason, "incomplete" if fact else "left-out"))
        told = [replace(trouble, path=printable(trouble.path)) for trouble in told]
        return tuple(sorted(told, key=lambda trouble: (trouble.path, trouble.code)))

    def unsealable(self) -> list[str]:
        """List what could not be decrypted, while `has_fresh_keys` says that it may be now."""
        return [doc_id for doc_id, _ in self._sealed.items()] if self.has_fresh_keys else []

    def _conflicts(self) -> Iterator[tuple[str, str]]:
        for path in filter(self._selection.lists, self.catalogue.contested()):
            ids = self.catalogue.ids_at(path)
            lost = sum(len(fact.lost) for doc_id in ids if (fact := self.catalogue.get(doc_id)))
            if lost:
                versions = "another version waits" if lost == 1 else f"{lost} other versions wait"
                yield (
                    path,
                    f"devices disagree about it, and {versions} to be resolved; the strictest says who may see it",
                )
            else:
                yield path, f"{len(ids)} documents of the database claim this path, and the newest one is used"


def _odd_size(metadata: Metadata, content: bytes) -> str | None:
    if size_fits(metadata, content):
        return None
    return f"LiveSync recorded {metadata.size} bytes for it, and it has {len(content)}"
