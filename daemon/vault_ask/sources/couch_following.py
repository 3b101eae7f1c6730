"""Follows a LiveSync database: first in pages up to now, then by a feed that stays open, for as long as it lives.

Rows only say where to look: whatever their order, however often they come, the documents are fetched as they are now.
"""

import math
import random
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import Literal

import structlog

from vault_ask.errors import SourceUnreachable
from vault_ask.sources.catalogue import KEY, shown_path
from vault_ask.sources.couch_client import (
    Busy,
    ChangesPage,
    DatabaseAbsent,
    Feed,
    FeedEnd,
    MalformedSequence,
    Row,
    SelectorRefused,
)
from vault_ask.sources.couch_listing import LONGEST_WAITS, PAGE, fingerprint, is_much
from vault_ask.sources.couch_memory import CHECKPOINT, Checkpoint
from vault_ask.sources.couch_refusals import BrokenOff
from vault_ask.sources.couch_replica import Replica
from vault_ask.sources.couch_waiting import Pace
from vault_ask.sources.livesync import CHUNKS, is_note_id
from vault_ask.sources.port import Change, Deleted, Remember, Rescan, SourceState, Upserted
from vault_ask.sources.selection import Selection

log = structlog.get_logger()

Mode = Literal["continuous", "longpoll"]

TICK_SECONDS = 0.25
SESSION_SECONDS = 0.5
"""Between the end of a feed and the next look, so that a server which ends every feed at once is not asked for ever."""

FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 1.0, 60.0
SHORT_FEEDS = 2
"""A continuous feed that ends without a reason so often in a row is cut by a proxy: then longpoll is used."""


@dataclass(slots=True)
class _Timers:
    """When what is due, on the monotonic clock."""

    sign: float
    look: float
    verify: float


class Following:
    """Makes batches of changes from one replica, in the thread that runs `changes`."""

    def __init__(self, replica: Replica, selection: Selection, pace: Pace, *, rescan_seconds: float) -> None:
        self._replica = replica
        self._client = replica.client
        self._selection = selection
        self._pace = pace
        self._rescan_seconds = rescan_seconds
        self._selector = True
        self._longpoll = False
        self._short_feeds = 0
        self._verify_at: float | None = None
        self._lag: int | None = None
        self._last_change: float | None = None
        self._is_away = False
        self._passed_over: dict[str, str] = {}
        """Documents that are no live files, by id, with the revision at which that was seen."""
        self._mode = "stopped"
        self._message = "The database is not followed yet."

    @property
    def state(self) -> SourceState:
        """How it goes, for the status; read from any thread."""
        message = self._replica.complaint or self._message
        return SourceState(
            self._mode,
            message,
            kind="couchdb",
            lag=None if self._mode == "waiting" else self._lag,
            last_change=self._last_change,
            waiting=len(self._replica.waiting),
        )

    def changes(self, stop: Event) -> Iterator[list[Change]]:
        """Yield batches until `stop` is set, however often the server goes away; see the port.

        Raises SourceRefused when the owner has to change something.
        """
        retry, lost = FIRST_RETRY_SECONDS, 0.0
        try:
            while not stop.is_set():
                try:
                    for batch in self._session(stop):
                        yield batch
                        retry = FIRST_RETRY_SECONDS
                    stop.wait(SESSION_SECONDS)
                except MalformedSequence:
                    log.info("sequence not known to the server; everything is compared anew")
                    self._replica.checkpoint = None
                    # Each time costs a whole listing, so that a server which refuses every sequence is left in peace.
                    stop.wait(lost)
                    lost = min(max(2 * lost, FIRST_RETRY_SECONDS), LONGEST_RETRY_SECONDS)
                except SourceUnreachable as error:
                    if self._message != str(error):
                        log.warning("the database is waited for", sentence=str(error))
                    self._is_away = True
                    self._say("waiting", str(error))
                    yield []
                    asked = (error.retry_after if isinstance(error, Busy) else None) or 0.0
                    stop.wait(max(asked, retry * random.uniform(0.8, 1.2)))  # noqa: S311 - spreads retries
                    retry = min(retry * 2, LONGEST_RETRY_SECONDS)
        finally:
            self._say("stopped", "The database is not followed any more.")

    # One connection, from looking at the database to the end of its feed

    def _session(self, stop: Event) -> Iterator[list[Change]]:
        rebuilt = self._replica.connect()
        if rebuilt:
            log.info("database made anew")
            yield from self._until_quiet(stop)
            self._replica.reader.forget()
        if rebuilt or self._replica.checkpoint is None:
            self._say("waiting", f"The files of {self._client.address} are being listed.")
            self._replica.list_all(stop)
            self._replica.is_fresh = True
            yield [Rescan("the database was made anew" if rebuilt else "started")]
            self._replica.is_fresh = False
        self._selector = self._selector and not self._client.is_pouchdb()
        timers = self._timers()
        yield from self._catch_up(stop)
        yield from self._after_purges()
        if self._is_away:
            log.info("the database is followed again")
            self._is_away = False
        self._say("watching", f"Changes arrive from the CouchDB at {self._client.address}.")
        while not stop.is_set():
            if not (yield from self._follow(stop, timers)):
                return

    def _until_quiet(self, stop: Event) -> Iterator[list[Change]]:
        """Wait until a database that was made anew has been filled: nothing is written to it for a while, or for long.

        What is missing after that is doubted again by the listing.
        """
        self._say("waiting", "LiveSync made the database anew; what is indexed stays until it has been filled.")
        before = None
        for _ in range(LONGEST_WAITS):
            if stop.is_set() or before == (now := fingerprint(self._client)):
                return
            before = now
            yield []
            stop.wait(self._pace.quiet)

    def _catch_up(self, stop: Event) -> Iterator[list[Change]]:
        """Take in pages what has changed up to now; ends with a batch in any case."""
        while not stop.is_set():
            page = self._page()
            left = page.pending if page.pending is not None else (1 if len(page.rows) >= PAGE else 0)
            self._lag = left + len(page.rows)
            yield self._batch(page.rows, page.last_seq)
            yield from self._retries()
            self._lag = left
            if not left:
                return

    def _page(self) -> ChangesPage:
        seq = self._checkpoint().seq
        try:
            return self._client.changes(since=seq, limit=PAGE, selector=self._selector)
        except SelectorRefused:
            self._selector = False
            return self._client.changes(since=seq, limit=PAGE, selector=False)

    def _follow(self, stop: Event, timers: _Timers) -> Generator[list[Change], None, bool]:
        """Follow one feed; returns whether another should be opened at once, without looking at the database."""
        mode: Mode = "longpoll" if self._longpoll else "continuous"
        feed = self._client.follow(
            since=self._checkpoint().seq,
            selector=self._selector,
            mode=mode,
            heartbeat_seconds=self._pace.heartbeat,
        )
        opened, told_something = time.monotonic(), False
        try:
            while not stop.is_set():
                taken = feed.take(TICK_SECONDS)
                if isinstance(taken, FeedEnd):
                    # One that ends without a row may have ended with its database.
                    return self._after(taken, mode, time.monotonic() - opened) and told_something
                if taken:
                    told_something = True
                    yield from self._settled(feed, taken, stop)
                else:
                    yield from self._idle(timers)
        finally:
            feed.close()
        return False

    def _settled(self, feed: Feed, rows: list[Row], stop: Event) -> Iterator[list[Change]]:
        """Gather what belongs together: a rename is two rows, and a device pushes many."""
        end = time.monotonic() + self._pace.longest_settle
        while not stop.is_set() and len(rows) < PAGE and time.monotonic() < end:
            more = feed.take(self._pace.settle)
            if more is None or isinstance(more, FeedEnd):
                break
            rows += more
        self._lag = len(rows)
        yield self._batch(rows, rows[-1].seq)
        yield from self._retries()
        self._lag = 0

    def _after(self, end: FeedEnd, mode: Mode, seconds: float) -> bool:
        """Decide how to go on after the end of a feed. Raises its error where that is more than an end."""
        match end.error:
            case SelectorRefused():
                self._selector = False
                return True
            case None if end.last_seq is not None:
                self._reach(end.last_seq)
                return mode == "longpoll"
            case DatabaseAbsent():
                pass
            case Busy() if not isinstance(end.error, BrokenOff):
                pass
            case None | SourceUnreachable() if mode == "continuous":
                self._short_feeds = self._short_feeds + 1 if seconds < 4 * self._pace.heartbeat else 0
                self._longpoll = self._short_feeds >= SHORT_FEEDS
        if end.error is not None:
            raise end.error
        return False

    def _idle(self, timers: _Timers) -> Iterator[list[Change]]:
        """Use a quiet moment for what is due."""
        now = time.monotonic()
        yield from self._retries()
        if now >= timers.verify:
            timers.verify = self._verify_at = now + self._rescan_seconds
            yield self._verified()
        elif now >= timers.look:
            timers.look = now + self._pace.look
            yield from self._looked_at()
        elif now >= timers.sign:
            timers.sign = now + self._pace.sign
            news = self._news()
            yield [Remember(news)] if news else []

    # Batches

    def _batch(self, rows: Sequence[Row], seq: str) -> list[Change]:
        """Turn rows into what is true now of the documents they name."""
        ids = list(dict.fromkeys(row.id for row in rows if is_note_id(row.id)))
        if any(row.id.startswith(CHUNKS[0]) for row in rows):
            self._replica.waiting.hurry()
        if ids:
            self._last_change = time.time()
        changes, kept = self._compared(ids)
        self._reach(seq)
        kept[CHECKPOINT] = self._checkpoint().dump()
        # Nothing here may ask the server any more: the changes would be lost with its failure.
        return [*changes, Remember(kept | self._news())]

    def _compared(self, ids: Sequence[str]) -> tuple[list[Change], dict[str, str | None]]:
        catalogue = self._replica.catalogue
        gone: dict[str, None] = {}
        fresh: dict[str, None] = {}
        kept: dict[str, str | None] = {}
        everything = self._replica.find(ids)
        if any(found.is_nothing and doc_id in catalogue for doc_id, found in everything.items()):
            self._refuse_another_life()
        # All of them before the first is learned: the server may be asked here, and what a batch that fails has learned
        # would be no news to the next one.
        judged = self._replica.judged(everything)
        for doc_id, found in everything.items():
            before = catalogue.get(doc_id)
            now = self._replica.learn(doc_id, judged[doc_id])
            kept[KEY + doc_id] = now.dump() if now else None
            if before is not None and (now is None or now.shown != before.shown):
                gone[before.shown] = None
            elif now is None and found.metadata is not None:
                gone[shown_path(found.metadata.path)] = None
            if now is not None:
                fresh[now.shown] = None
        # Where another document is alive at the path, the note is not gone: the other one counts now.
        fresh |= {path: None for path in gone if catalogue.ids_at(path)}
        departed = [Deleted(path) for path in sorted(gone) if path not in fresh and self._selection.lists(path)]
        arrived = [Upserted(path) for path in sorted(fresh) if self._selection.lists(path)]
        return [*departed, *arrived], kept

    def _retries(self) -> Iterator[list[Change]]:
        if batch := self._retried():
            yield batch

    def _retried(self) -> list[Change]:
        """Name the notes whose time has come, where what they wait for is there or cannot be told."""
        waiting = self._replica.waiting
        due = waiting.due()
        if any(not missing for missing in due.values()):
            self._replica.renew_salt()
        absent = self._replica.reader.absent({piece for missing in due.values() for piece in missing})
        ready = [path for path, missing in due.items() if absent.isdisjoint(missing)]
        for path in due.keys() - ready:
            waiting.postpone(path)
        sealed = self._replica.unsealable()
        tried = self._replica.has_fresh_keys
        changes, kept = self._compared(
            [*sealed, *(doc_id for path in ready for doc_id in self._replica.catalogue.ids_at(path))]
        )
        # Only now: had the server failed, nobody would try them again for long.
        for path in ready:
            waiting.hand_over(path)
        if tried:
            self._replica.has_fresh_keys = False
        return [*changes, Remember(kept)] if kept else []

    def _verified(self) -> list[Change]:
        """Compare all ids and revisions: a purge tells nobody anything."""
        seen: dict[str, str] = {}
        for start, end in ((None, CHUNKS[0]), (CHUNKS[1], None)):
            for page in self._client.all_docs(start=start, end=end, include_docs=False, limit=10 * PAGE):
                seen |= {row.id: row.revision or "" for row in page}
        catalogue = self._replica.catalogue
        facts = {doc_id: fact for doc_id in catalogue if (fact := catalogue.get(doc_id))}
        odd = [doc_id for doc_id, fact in facts.items() if seen.get(doc_id) != fact.winner]
        # A database that was set back to a backup tells nothing of what is written below our place in its changes.
        odd += [doc_id for doc_id, revision in seen.items() if self._is_unknown(doc_id, revision)]
        lacking = sum(doc_id not in seen for doc_id in odd)
        if is_much(lacking, len(facts)):
            return [Rescan(f"{lacking} files are missing from the database")]
        changes, kept = self._compared(odd)
        self._passed_over = {doc_id: seen[doc_id] for doc_id in seen if is_note_id(doc_id) and doc_id not in catalogue}
        kept = {key: value for key, value in kept.items() if value is not None or key.removeprefix(KEY) in facts}
        return [*changes, Remember(kept)] if kept else []

    def _is_unknown(self, doc_id: str, revision: str) -> bool:
        known = doc_id in self._replica.catalogue or self._passed_over.get(doc_id) == revision
        return is_note_id(doc_id) and not known

    def _looked_at(self) -> Iterator[list[Change]]:
        """Notice a purge or another life of the database while the feed is quiet: not every server ends it then."""
        if self._replica.facts is None or self._client.info() != self._replica.facts.info:
            self._refuse_another_life()
            # Something was written: perhaps pieces that are waited for, which a selector hides from the feed.
            self._replica.waiting.hurry()
        yield from self._after_purges()

    def _refuse_another_life(self) -> None:
        """Look whether the database is still the one that the rows are of: a new one holds nothing of what they name.

        Raises SourceUnreachable.
        """
        if self._replica.connect():
            raise SourceUnreachable("The database was made anew while it was followed; it is looked at again.")

    def _after_purges(self) -> Iterator[list[Change]]:
        """Compare all ids where something was purged since it was last done, also while nobody followed."""
        now = self._replica.facts.info.purge_seq if self._replica.facts else ""
        if now != self._checkpoint().purges:
            batch = self._verified()
            self._replica.checkpoint = replace(self._checkpoint(), purges=now)
            yield [*batch, Remember({CHECKPOINT: self._checkpoint().dump()})]

    def _news(self) -> dict[str, str | None]:
        """Give the facts of notes that turned out to be whole, what cannot be taken as it is, and new salts."""
        catalogue = self._replica.catalogue
        whole, catalogue.news = catalogue.news, set()
        return self._replica.take_news() | {
            KEY + doc_id: fact.dump() for doc_id in whole if (fact := catalogue.get(doc_id))
        }

    # Small things

    def _checkpoint(self) -> Checkpoint:
        assert self._replica.checkpoint is not None  # noqa: S101 - a session begins with one, or with a listing
        return self._replica.checkpoint

    def _reach(self, seq: str) -> None:
        self._replica.checkpoint = replace(self._checkpoint(), seq=seq)

    def _timers(self) -> _Timers:
        """Set the clocks for a connection; the long one runs on, for no connection may last so long."""
        now = time.monotonic()
        self._verify_at = min(self._verify_at or math.inf, now + self._rescan_seconds)
        return _Timers(now + self._pace.sign, now + self._pace.look, self._verify_at)

    def _say(self, mode: str, message: str) -> None:
        self._mode, self._message = mode, message
