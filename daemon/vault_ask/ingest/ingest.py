"""Brings the index in line with the vault: one sweep compares everything, `apply` follows single changes.

A note goes in by words at once. Where only a little is to be embedded it is embedded first and the note swapped whole,
in one transaction; else its chunks wait for the backlog, and vectors of unchanged passages are kept. A note that
became personal is closed before anything else is done with it.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import islice
from threading import Event
from typing import assert_never, cast

import structlog

from vault_ask.errors import SourceRefused, SourceUnreachable
from vault_ask.index.drafts import Claim, Draft, OtherClaim
from vault_ask.index.embedding import Embedder
from vault_ask.index.reading.notes import Known
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.backlog import Backlog
from vault_ask.ingest.drafting import Drafter, Undrafted, content_hash, count_words, said_by
from vault_ask.ingest.plan import AnotherVault, Plan, SuddenlyEmpty, make_plan
from vault_ask.ingest.progress import Track
from vault_ask.ingest.workers import Drafted, Drafting, Task, drafting
from vault_ask.notes.copies import originals_first
from vault_ask.notes.days import Dating, clear_order, orders_told
from vault_ask.notes.frontmatter import Frontmatter
from vault_ask.notes.model import FrontmatterState
from vault_ask.notes.sensitivity import Rules
from vault_ask.notes.written_dates import DayOrder
from vault_ask.scope import Sensitivity
from vault_ask.settings.vault import ChunkSettings
from vault_ask.sources.port import (
    Change,
    Deleted,
    Entry,
    Remember,
    Rescan,
    Unread,
    Upserted,
    VaultSource,
)

log = structlog.get_logger()

RECIPE = "7"
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
        dating: Dating,
        progress: Track,
    ) -> None:
        self._source = source
        self._writer = writer
        self._count = embedder.count_tokens if embedder else count_words
        self._backlog = backlog
        self._rules = rules
        self._chunks = chunks
        self._dating = dating
        self._read_dates_by(cast("DayOrder | None", writer.meta("day_order") or None))
        self._progress = progress
        self._troubles: list[tuple[str, str, str]] | None = None
        self._told_idle = False

    def recall(self) -> None:
        """Give the source back what the index keeps for it.

        Not how far it has come, where every note has to be read again; nothing, where it is of another vault.
        """
        memory = self._writer.memory() if self._writer.meta("vault") == self._source.identity else {}
        if self._writer.meta("recipe") != self._recipe():
            memory.pop(CHECKPOINT, None)
        self._source.recall(memory)

    def reclassify(self) -> int:
        """Apply changed rules to what is indexed, before anything is asked; give the number of notes moved."""
        moved = reclassify(self._writer, self._rules)
        # A first sweep that was interrupted may not have come to the notes that the rules are about.
        if self._writer.meta("source_kind") is not None:
            self._tell_idle_rules()
        return moved

    def sweep(self, stop: Event | None = None) -> Report:
        """Compare the whole vault with the index and mend every difference.

        Raises SourceUnreachable when the vault is away or suddenly empty; the index stays as it is.
        """
        stop = stop or Event()
        report = Report(reclassified=reclassify(self._writer, self._rules))
        self._progress.begin("listing")
        try:
            plan = self._plan()
            self._remember_the_first()
            self._progress.begin("indexing", len(plan.to_read))
            if plan.to_read:
                # As for single changes: what is gone may be on its way into a personal folder, among what is read now.
                self._writer.hide(plan.gone)
            self._read_all(plan, report, stop)
            if not stop.is_set():
                self._conclude(plan.gone)
                report.deleted = len(plan.gone)
                self._settle_order(stop)
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
            meta=self._origin() | self._told(),
        )

    # Dates such as 03/08/2026

    def _read_dates_by(self, order: DayOrder | None) -> None:
        self._order = order
        self._drafter = Drafter(self._rules, self._chunks, self._count, replace(self._dating, order=order))

    def _settle_order(self, stop: Event) -> None:
        """Read day and month in the order that open notes make clear, or no longer make clear.

        Of open notes alone: else the days of a note in sight would tell of one that is hidden.
        """
        told = [
            (path, orders_told(path, said, self._dating), level)
            for path, said, level in self._writer.dated_in_slashes()
        ]
        order = clear_order(orders for _, orders, level in told if level is Sensitivity.OPEN)
        if order == self._order:
            return
        self._read_dates_by(order)
        self._read_again([path for path, orders, _ in told if None in orders], stop)
        if not stop.is_set():
            self._writer.set_meta(day_order=order or "")

    def _read_again(self, paths: Sequence[str], stop: Event) -> None:
        """Store notes anew whose bytes are the same and are read in another way now."""
        known, report = self._writer.known_of(paths), Report()
        for start in range(0, len(paths), GROUP):
            if stop.is_set():
                return
            documents = self._source.read_all(paths[start : start + GROUP])
            tasks = [(found, content_hash(found)) for found in documents if not isinstance(found, Unread)]
            self._store(self._drafts(Drafting(self._drafter).begin(tasks)(), known, report), known, report)

    def apply(self, changes: Sequence[Change], stop: Event | None = None) -> Report:
        """Follow a batch of changes; of several at one path the last one counts. A Rescan among them is a sweep.

        Ends early, with whole notes, when `stop` is set. Raises SourceUnreachable.
        """
        if any(isinstance(change, Rescan) for change in changes):
            report = self.sweep(stop)
            self._tell_idle_rules()
            return report
        report = Report()
        last = {change.path: change for change in changes if isinstance(change, Upserted | Deleted)}
        remember = {
            key: value for change in changes if isinstance(change, Remember) for key, value in change.values.items()
        }
        known = self._writer.known_of(list(last))
        upserted = originals_first(path for path, change in last.items() if isinstance(change, Upserted))
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
        if len(groups) > 1:
            # Notes may be on their way into a personal folder, and the source may go away in the middle of it.
            self._writer.hide(gone)
        for group in groups:
            if stop.is_set():
                return
            tasks = self._changed(group, known, report)
            drafts = self._drafts(Drafting(self._drafter).begin(tasks)(), known, report)
            is_last = group is groups[-1]
            self._store(drafts, known, report, gone=gone if is_last else (), remember=remember if is_last else {})
        report.deleted += len(gone)

    def _read_all(self, plan: Plan, report: Report, stop: Event) -> None:
        known = self._writer.known_of(list(plan.changed))
        paths = iter(originals_first(plan.to_read))
        begun: deque[tuple[int, Callable[[], Drafted]]] = deque()
        with drafting(self._drafter, len(plan.to_read)) as where:
            while group := list(islice(paths, GROUP)):
                if stop.is_set():
                    return
                begun.append((len(group), where.begin(self._changed(group, known, report))))
                if len(begun) > where.ahead:
                    self._store_begun(*begun.popleft(), known, report)
            while begun and not stop.is_set():
                self._store_begun(*begun.popleft(), known, report)

    def _store_begun(self, count: int, drafted: Callable[[], Drafted], known: dict[str, Known], report: Report) -> None:
        self._store(self._drafts(drafted(), known, report), known, report)
        self._progress.advance(count)

    def _changed(self, paths: Iterable[str], known: dict[str, Known], report: Report) -> list[Task]:
        """Read the notes that really changed, each with the hash of its bytes; only note the version of the others."""
        touched: dict[str, tuple[str, float]] = {}
        changed: list[Task] = []
        reread = self._writer.meta("recipe") not in {None, self._recipe()}
        for document in self._source.read_all(list(paths)):
            if isinstance(document, Unread):
                self._note_unread(document, known, report)
                continue
            digest, path = content_hash(document), document.entry.path
            before = known.get(path)
            if before is not None and before.content_hash == digest and not (reread or before.is_closed):
                touched[path] = document.entry.revision, document.entry.mtime
                report.unchanged += 1
            else:
                changed.append((document, digest))
        self._writer.touch(touched)
        return changed

    def _drafts(self, drafted: Drafted, known: dict[str, Known], report: Report) -> list[Draft]:
        """Sort out what could not be drafted; what is indexed of it is closed, for nobody can tell what it says now."""
        for odd in drafted:
            if isinstance(odd, Undrafted):
                report.failed[odd.path] = odd.error
                if odd.path in known:
                    self._writer.close_note(odd.path)
                log.error("note could not be parsed", path_length=len(odd.path), error=odd.error)
        return [draft for draft in drafted if isinstance(draft, Draft)]

    def _note_unread(self, unread: Unread, known: dict[str, Known], report: Report) -> None:
        """Leave what is indexed as it is; a later change or the next sweep tells more.

        Where its new path, or the part that has arrived, makes the note personal, nobody waits for the rest of it.
        """
        report.failed[unread.path] = VANISHED if unread.vanished else INCOMPLETE
        before = known.get(unread.path)
        # One that is personal by today's rules is closed as well: other rules may come before the rest of it.
        if before is None or before.is_closed or not self._drafter.is_personal_already(unread):
            return
        self._writer.close_note(unread.path)
        report.reclassified += before.sensitivity is not Sensitivity.PERSONAL

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
        if self._source.stands_in:
            drafts = [_not_opened(draft, known) for draft in drafts]
        with self._backlog.embedded_first(drafts) as embedded:
            self._writer.replace(drafts, embedded.made, refused=embedded.refused, gone=gone, remember=remember)
        report.new += sum(draft.note.path not in known for draft in drafts)
        report.changed += sum(draft.note.path in known for draft in drafts)

    def _close(self, drafts: Sequence[Draft], known: dict[str, Known]) -> None:
        for draft in drafts:
            before = known.get(draft.note.path)
            if before and draft.note.sensitivity > before.sensitivity:
                self._writer.close_note(draft.note.path)

    def _tell_idle_rules(self) -> None:
        """Log, once, the personal patterns that protect nothing; the status tells them as they are at any time."""
        if self._told_idle:
            return
        self._told_idle = True
        for pattern, count in self._rules.count(map(grounds, self._writer.claims())).items():
            if not count:
                log.warning("personal pattern matches no note", pattern=pattern)

    def _told(self) -> dict[str, str]:
        """Give what the source tells of itself. A stand-in does not know what devices call the vault."""
        named = self._source.stands_in and self._writer.meta("vault_name") is not None
        return {"source_kind": self._source.state().kind} | ({} if named else {"vault_name": self._source.name})

    def _remember_the_first(self) -> None:
        """Note at once how and where a new index is read, in case its first sweep is interrupted."""
        if self._writer.meta("recipe") is None:
            self._writer.set_meta(**self._origin())

    def _origin(self) -> dict[str, str]:
        return {"recipe": self._recipe(), "vault": self._source.identity}

    def _recipe(self) -> str:
        # The line with the key of the rules is no text, so that another key changes what is.
        read_by = f"{RECIPE} {self._rules.key} {self._chunks.model_dump_json()} {self._dating}"
        return blake2b(read_by.encode(), digest_size=8).hexdigest()


def grounds(claim: Claim) -> tuple[frozenset[str], tuple[str, ...]]:
    """Give what the owner's patterns look at in a note: its paths and its tags."""
    paths = frozenset((claim.path, claim.resolved_path))
    return paths, (*claim.tags, *Frontmatter(values=claim.frontmatter).tags)


def _not_opened(draft: Draft, known: dict[str, Known]) -> Draft:
    """Leave a note personal that was: without bytes to compare, it is read again by the source that knows why."""
    before = known.get(draft.note.path)
    if before is None or before.sensitivity <= draft.note.sensitivity:
        return draft
    unknown = OtherClaim(path=draft.note.path, frontmatter={}, state=FrontmatterState.UNREADABLE)
    note = replace(draft.note, sensitivity=before.sensitivity)
    return replace(draft, note=note, content_hash=b"", others=(*draft.others, unknown))


def reclassify(writer: IndexWriter, rules: Rules) -> int:
    """Apply rules to what is indexed, if they are not the ones it was classified by; give the number of notes moved."""
    if writer.meta("rules") == rules.fingerprint:
        return 0
    moved = {}
    for claim in writer.claims():
        own = rules.classify(claim.path, claim.resolved_path, claim.frontmatter, claim.state, claim.tags)
        level = max(own, *(said_by(rules, other) for other in claim.others), Sensitivity.OPEN)
        if level is not claim.sensitivity:
            moved[claim.id] = level
    count = writer.reclassify(moved)
    writer.set_meta(rules=rules.fingerprint)
    return count


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
