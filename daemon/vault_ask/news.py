"""What those who follow the index are told: how it is doing, and which notes are others than they were. Pure.

Knows states of the index as one kind of reader may know them; two of them are compared, so that nothing is kept for
whoever is slow, and a change to a note that is in neither of them is no event.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from itertools import islice

from vault_ask.wire import IndexEvent, NotesEvent

MOST_NAMED = 100
"""Notes that are named in one event; beyond that anything may have changed."""


@dataclass(frozen=True, slots=True)
class News:
    """The index at one moment: how it is doing, and a number for the version of each note, by its path."""

    index: IndexEvent
    versions: Mapping[str, int]


async def told(states: AsyncGenerator[News, None]) -> AsyncGenerator[IndexEvent | NotesEvent, None]:
    """Tell how the index is doing at once and whenever it is doing otherwise, and the notes that changed meanwhile.

    Raises what `states` raises.
    """
    async with aclosing(states):
        former: News | None = None
        async for news in states:
            if former is None or news.index != former.index:
                yield news.index
            if former is not None and news.versions != former.versions:
                yield notes_event(former.versions, news.versions)
            former = news


def notes_event(before: Mapping[str, int], now: Mapping[str, int]) -> NotesEvent:
    """Name the notes that are new or another version than before, and those that are not there any more."""
    changed = sorted(path for path, version in now.items() if before.get(path) != version)
    gone = sorted(before.keys() - now.keys())
    return NotesEvent(
        changed=tuple(changed[:MOST_NAMED]),
        gone=tuple(islice(gone, max(0, MOST_NAMED - len(changed)))),
        more=len(changed) + len(gone) > MOST_NAMED,
    )
