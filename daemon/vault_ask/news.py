"""What those who follow the index are told: how it is doing, and which notes are others than they were.

Knows states of the index as one kind of reader may know them; two of them are compared, so that nothing is kept for
whoever is slow, and a change to a note that is in neither of them is no event. Notes may be very many, so they are
compared once for all readers and never in the event loop.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from threading import Lock

from vault_ask.wire import IndexEvent, NotesEvent

MOST_NAMED = 100
"""Notes that are named in one event; beyond that anything may have changed."""
_REMEMBERED = 64
"""Differences that are kept: that of the newest two editions, and those of readers who missed some."""


@dataclass(frozen=True, slots=True, eq=False)
class Edition:
    """The notes at one moment: a number for the version of each, by its path. Two of them are equal if they are one."""

    number: int
    versions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class News:
    """The index at one moment: how it is doing, and which notes it holds."""

    index: IndexEvent
    notes: Edition


class Editions:
    """The editions that one kind of reader is told of, and what differs between them.

    Equality of two editions costs nothing, so whoever follows states of the index may compare those. `take` is called
    by one thread at a time.
    """

    def __init__(self) -> None:
        self._newest: Edition | None = None
        self._differences: dict[tuple[int, int], NotesEvent] = {}
        self._guard = Lock()
        self._comparing = asyncio.Lock()

    def take(self, versions: Mapping[str, int]) -> Edition:
        """Give the edition of these notes, the last one again where none of them is another. Not for an event loop."""
        former = self._newest
        if former is None:
            self._newest = Edition(0, versions)
            return self._newest
        difference = notes_event(former.versions, versions)
        if not (difference.changed or difference.gone):
            return former
        self._newest = Edition(former.number + 1, versions)
        self._remember((former.number, self._newest.number), difference)
        return self._newest

    async def difference(self, former: Edition, now: Edition) -> NotesEvent:
        """Tell what is other now than in a former edition, without blocking the event loop."""
        pair = (former.number, now.number)
        if (known := self._differences.get(pair)) is not None:
            return known
        # One after the other: most of those who wait want the same.
        async with self._comparing:
            if (known := self._differences.get(pair)) is not None:
                return known
            made = await asyncio.to_thread(notes_event, former.versions, now.versions)
            self._remember(pair, made)
            return made

    def _remember(self, pair: tuple[int, int], difference: NotesEvent) -> None:
        with self._guard:
            self._differences[pair] = difference
            while len(self._differences) > _REMEMBERED:
                del self._differences[next(iter(self._differences))]


async def told(states: AsyncGenerator[News, None], editions: Editions) -> AsyncGenerator[IndexEvent | NotesEvent, None]:
    """Tell how the index is doing at once and whenever it is doing otherwise, and the notes that changed meanwhile.

    Raises what `states` raises.
    """
    async with aclosing(states):
        former: News | None = None
        async for news in states:
            if former is None or news.index != former.index:
                yield news.index
            if former is not None and news.notes != former.notes:
                difference = await editions.difference(former.notes, news.notes)
                if difference.changed or difference.gone:
                    yield difference
            former = news


def notes_event(before: Mapping[str, int], now: Mapping[str, int]) -> NotesEvent:
    """Name the notes that are new or another version than before, and those that are not there any more."""
    # Loops, since set operations and `==` of this many paths would hold all other threads up until they are done.
    changed = sorted([path for path, version in now.items() if before.get(path) != version])
    gone = sorted([path for path in before if path not in now])
    return NotesEvent(
        changed=tuple(changed[:MOST_NAMED]),
        gone=tuple(gone[: max(0, MOST_NAMED - len(changed))]),
        more=len(changed) + len(gone) > MOST_NAMED,
    )
