"""Brings the index in line with the vault: one sweep compares everything, `apply` follows single changes.

A note goes in by words at once. Where only a little is to be embedded it is embedded first and the note swapped whole,
in one transaction; else its chunks wait for the backlog, and vectors of unchanged passages are kept. A note that
became personal is closed before anything else is done with it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import islice
from threading import Event
from typing import assert_never

import structlog

from vault_ask.errors import SourceRefused, SourceUnreachable
from vault_ask.index.embedding import Embedder
from vault_ask.index.view import Known
from vault_ask.index.writer import Draft, IndexWriter, OtherClaim
from vault_ask.ingest.backlog import Backlog
from vault_ask.ingest.plan import AnotherVault, Plan, SuddenlyEmpty, make_plan
from vault_ask.ingest.progress import Track
from vault_ask.notes.chunker import chunk
from vault_ask.notes.language import LanguageDetector
from vault_ask.notes.model import FrontmatterState
from vault_ask.notes.parse import parse
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import Sensitivity
from vault_ask.settings import ChunkSettings
from vault_ask.sources.port import (
    Change,
    Deleted,
    Document,
    Entry,
    OtherVersion,
    Remember,
    Rescan,
    Unread,
    Upserted,
    VaultSource,
)

log = structlog.get_logger()

RECIPE = "1"
"""Raised when the same bytes come to be parsed or cut in another way, so that every note is read again."""

CHECKPOINT = "checkpoint"
"""The one value of a source's memory that says how far it has come: true only once a sweep is through."""

VANISHED, INCOMPLETE = "vanished", "incomplete"
"""Why a note was not read that is no fault of anybody's: a later change tells more."""

GROUP = 64
"""Notes stored in one transaction during a sweep."""


@dataclass(slots=True)
class Report:
    """What a sweep or a change did."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    deleted: int = 0
    reclassified: int = 0
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def anything(self) -> bool:
        """Whether the index is not what it was."""
        return bool(self.new or self.changed or self.deleted or self.reclassified)


class Ingest:
    """Reads notes from a source into an index."""

    def __init__(
        self,
        *,
        source: VaultSource,
        writer: IndexWriter,
        embedder: Embedder | None,
        backlog: Backlog,
        rules: Rules,
        chunks: ChunkSettings,
        progress: Track,
    ) -> None:
        self._source = source
        self._writer = writer
        self._count = embedder.count_tokens if embedder else count_words
        self._backlog = backlog
        self._rules = rules
        self._chunks = chunks
        self._progress = progress
        self._languages = LanguageDetector()
        self._troubles: list[tuple[str, str, str]] | None = None

    def recall(self) -> None:
        """Give the source back what the index keeps for it, unless every note has to be read again anyway."""
        same = self._writer.meta("recipe") == self._recipe() and self._writer.meta("vault") == self._source.identity
        self._source.recall(self._writer.memory() if same else {})

    def reclassify(self) -> int:
        """Apply changed rules to what is indexed, before anything is asked; give the number of notes moved."""
        return reclassify(self._writer, self._rules)

    def sweep(self, stop: Event | None = None) -> Report:
        """Compare the whole vault with the index and mend every difference.

        Raises SourceUnreachable when the vault is away or suddenly empty; the index stays as it is.
        """
        stop = stop or Event()
        report = Report(reclassified=self.reclassify())
        self._progress.begin("listing")
        try:
            plan = self._plan()
            self._remember_the_first()
            self._progress.begin("indexing", len(plan.to_read))
            self._read_all(plan, report, stop)
            if not stop.is_set():
                self._conclude(plan.gone)
                report.deleted = len(plan.gone)
                self._writer.resolve_links()
        finally:
            self._progress.rest()
        return report

    def _plan(self) -> Plan:
        listing = self._source.listing()
        plan = self._compared(listing)
        if self._is_moved():
            # Once notes of this place have been stored, nobody may go on from where the former place was left.
            self._writer.remember({CHECKPOINT: None})
        else:
            # What was learned about documents is kept at once: it may have been dear, and an interruption may come.
            self._writer.remember({key: value for key, value in self._source.memory().items() if key != CHECKPOINT})
        return plan

    def _is_moved(self) -> bool:
        return self._writer.meta("vault") not in {None, self._source.identity}

    def _compared(self, listing: Sequence[Entry]) -> Plan:
        return checked(
            make_plan(
                listing,
                self._writer.known(),
                unreadable=self._source.unreadable(),
                reread=self._writer.meta("recipe") not in {None, self._recipe()},
                moved=self._is_moved(),
            )
        )

    def _conclude(self, gone: Sequence[str]) -> None:
        self._troubles = self._told_troubles()
        self._writer.conclude(
            gone,
            memory=self._source.memory(),
            troubles=self._troubles,
            meta=self._origin() | {"vault_name": self._source.name},
        )

    def apply(self, changes: Sequence[Change], stop: Event | None = None) -> Report:
        """Follow a batch of changes; of several at one path the last one counts. A Rescan among them is a sweep.

        Ends early, with whole notes, when `stop` is set. Raises SourceUnreachable.
        """
        if any(isinstance(change, Rescan) for change in changes):
            return self.sweep(stop)
        report = Report()
        last = {change.path: change for change in changes if isinstance(change, Upserted | Deleted)}
        remember = {
            key: value for change in changes if isinstance(change, Remember) for key, value in change.values.items()
        }
        known = self._writer.known_of(list(last))
        upserted = [path for path, change in last.items() if isinstance(change, Upserted)]
        gone = [path for path, change in last.items() if isinstance(change, Deleted) and path in known]
        self._follow(upserted, gone, remember, known, report, stop or Event())
        if report.anything:
            self._writer.resolve_links()
        self._keep_troubles()
        return report

    # One note

    def _follow(  # noqa: PLR0917 - one batch, taken apart
        self,
        upserted: Sequence[str],
        gone: Sequence[str],
        remember: dict[str, str | None],
        known: dict[str, Known],
        report: Report,
        stop: Event,
    ) -> None:
        """Store arrivals, then departures with the last of them, so that a renamed note finds its vectors.

        What the source wants kept goes in with the last group: everything that it covers is stored by then.
        """
        groups = [upserted[start : start + GROUP] for start in range(0, len(upserted), GROUP)] or [()]
        for group in groups:
            if stop.is_set():
                return
            drafts = list(self._drafts(group, known, report))
            is_last = group is groups[-1]
            self._store(drafts, known, report, gone=gone if is_last else (), remember=remember if is_last else {})
        report.deleted += len(gone)

    def _read_all(self, plan: Plan, report: Report, stop: Event) -> None:
        known = self._writer.known_of(list(plan.changed))
        paths = iter(plan.to_read)
        while group := list(islice(paths, GROUP)):
            if stop.is_set():
                return
            drafts = list(self._drafts(group, known, report))
            self._store(drafts, known, report)
            self._progress.advance(len(group))

    def _drafts(self, paths: Iterable[str], known: dict[str, Known], report: Report) -> Iterator[Draft]:
        """Read, parse and cut the notes that really changed; only note the revision of the others."""
        touched: dict[str, str] = {}
        reread = self._writer.meta("recipe") not in {None, self._recipe()}
        for document in self._source.read_all(list(paths)):
            path = document.path if isinstance(document, Unread) else document.entry.path
            if isinstance(document, Unread):
                self._note_unread(document, known, report)
                continue
            digest = content_hash(document)
            before = known.get(path)
            if before is not None and before.content_hash == digest and not reread:
                touched[path] = document.entry.revision
                report.unchanged += 1
                continue
            try:
                yield self._draft(document, digest)
            except Exception as error:  # noqa: BLE001 - one odd note must not keep the others from being indexed
                report.failed[path] = type(error).__name__
                if before is not None:
                    # Nobody can tell what the new text says of itself.
                    self._writer.close_note(path)
                log.error("note could not be parsed", path_length=len(path), error=type(error).__name__)
        self._writer.touch(touched)

    def _note_unread(self, unread: Unread, known: dict[str, Known], report: Report) -> None:
        """Leave what is indexed as it is; a later change or the next sweep tells more.

        Where its new path, or the part that has arrived, makes the note personal, nobody waits for the rest of it.
        """
        report.failed[unread.path] = VANISHED if unread.vanished else INCOMPLETE
        before = known.get(unread.path)
        if before is None or before.sensitivity is Sensitivity.PERSONAL:
            return
        said = [said_by(self._rules, self._claim(other)) for other in unread.others]
        if unread.beginning or unread.moved_to:
            newest = parse(unread.path, unread.beginning, self._rules, resolved_path=unread.moved_to)
            said.append(newest.sensitivity)
        if Sensitivity.PERSONAL in said:
            self._writer.close_note(unread.path)
            report.reclassified += 1

    def _draft(self, document: Document, digest: bytes) -> Draft:
        note = parse(document.entry.path, document.content, self._rules, resolved_path=document.resolved_path)
        others = tuple(self._claim(other) for other in document.others)
        note = replace(
            note,
            language=self._languages.detect(note.body),
            sensitivity=max(note.sensitivity, *(said_by(self._rules, other) for other in others), Sensitivity.OPEN),
        )
        return Draft(
            note=note,
            chunks=tuple(chunk(note, count=self._count, options=self._chunks)),
            resolved_path=document.resolved_path,
            content_hash=digest,
            revision=document.entry.revision,
            mtime=document.entry.mtime,
            size=document.entry.size,
            others=others,
        )

    def _claim(self, other: OtherVersion) -> OtherClaim:
        if other.content is None:
            return OtherClaim(path=other.path, frontmatter={}, state=FrontmatterState.UNREADABLE)
        note = parse(other.path, other.content, self._rules)
        return OtherClaim(path=other.path, frontmatter=note.frontmatter, state=note.frontmatter_state)

    def _told_troubles(self) -> list[tuple[str, str, str]]:
        return [(trouble.path, trouble.code, trouble.reason) for trouble in self._source.problems()]

    def _keep_troubles(self) -> None:
        troubles = self._told_troubles()
        if troubles != self._troubles:
            self._writer.keep_troubles(troubles)
            self._troubles = troubles

    def _store(
        self,
        drafts: Sequence[Draft],
        known: dict[str, Known],
        report: Report,
        *,
        gone: Sequence[str] = (),
        remember: dict[str, str | None] | None = None,
    ) -> None:
        self._close(drafts, known)
        with self._backlog.embedded_first(drafts) as embedded:
            self._writer.replace(drafts, embedded.made, refused=embedded.refused, gone=gone, remember=remember)
        report.new += sum(draft.note.path not in known for draft in drafts)
        report.changed += sum(draft.note.path in known for draft in drafts)

    def _close(self, drafts: Sequence[Draft], known: dict[str, Known]) -> None:
        for draft in drafts:
            before = known.get(draft.note.path)
            if before and draft.note.sensitivity > before.sensitivity:
                self._writer.close_note(draft.note.path)

    def _remember_the_first(self) -> None:
        """Note at once how and where a new index is read, in case its first sweep is interrupted."""
        if self._writer.meta("recipe") is None:
            self._writer.set_meta(**self._origin())

    def _origin(self) -> dict[str, str]:
        return {"recipe": self._recipe(), "vault": self._source.identity}

    def _recipe(self) -> str:
        return blake2b(f"{RECIPE} {self._chunks.model_dump_json()}".encode(), digest_size=8).hexdigest()


def reclassify(writer: IndexWriter, rules: Rules) -> int:
    """Apply rules to what is indexed, if they are not the ones it was classified by; give the number of notes moved."""
    if writer.meta("rules") == rules.fingerprint:
        return 0
    moved = {}
    for claim in writer.claims():
        own = rules.classify(claim.path, claim.resolved_path, claim.frontmatter, claim.state)
        level = max(own, *(said_by(rules, other) for other in claim.others), Sensitivity.OPEN)
        if level is not claim.sensitivity:
            moved[claim.id] = level
    writer.reclassify(moved)
    writer.set_meta(rules=rules.fingerprint)
    return len(moved)


def said_by(rules: Rules, other: OtherClaim) -> Sensitivity:
    """Decide what a version that lost a conflict would be by itself."""
    return rules.classify(other.path, None, other.frontmatter, other.state)


def content_hash(document: Document) -> bytes:
    """Name a document's bytes, with the place a link inside the vault led to and the versions that lost a conflict."""
    digest = blake2b(document.content, digest_size=16)
    if document.resolved_path != document.entry.path:
        digest.update(b"\x00" + document.resolved_path.encode())
    for other in document.others:
        digest.update(b"\x01" + other.path.encode())
        digest.update(b"\x02" if other.content is None else blake2b(other.content, digest_size=16).digest())
    return digest.digest()


def count_words(text: str) -> int:
    """Estimate tokens where no embedder is at hand: a third of the UTF-8 bytes, which no tokenizer exceeds by much."""
    return len(text.encode()) // 3 + 1


def checked(plan: Plan | SuddenlyEmpty | AnotherVault) -> Plan:
    """Give a plan that may be carried out. Raises SourceUnreachable, SourceRefused."""
    match plan:
        case SuddenlyEmpty():
            raise SourceUnreachable(
                f"The vault lists no notes although {plan.indexed} are indexed, as an unmounted disk would. Nothing "
                "was deleted; the index waits for the vault to come back. If the vault really is empty, run `vault-ask "
                "index --rebuild`."
            )
        case AnotherVault():
            raise SourceRefused(
                f"Only {plan.found} of the {plan.indexed} indexed notes are in this vault, so the data folder seems to "
                "belong to another one, or this one is still being filled. Nothing was deleted; wait until it is "
                "whole, use --data with another folder, or run `vault-ask index --rebuild` to begin anew here."
            )
        case Plan():
            return plan
        case other:
            assert_never(other)
