"""The note that a question is about: which of its passages, and of its neighbours', come into question.

The note is searched inside however long it is, and so are the notes one link away, in either direction. Knows nothing
of scores and places.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import TypeVar

from vault_ask.index.view import VaultView
from vault_ask.scope import OpenScope, PrivateScope

T = TypeVar("T")
Found = list[tuple[int, float]]

MOST_NEIGHBOURS = 40
"""Notes one link away that are searched; of those linked to and those that link the first of each, by turns."""

SHORT = 60
"""A note of no more chunks is looked at whole; of a longer one the nearest, those with the words, and its outline."""

MOST_OUTLINED = 25
"""Half of the most places that a question may have."""

FEW_SECTIONS = 4
"""A note of fewer is spread over itself and not over its sections."""


@dataclass(frozen=True, slots=True)
class Inside:
    """Searches the chunks of some notes alone: by meaning and by words, each as (chunk, score), best first."""

    nearest: Callable[[Sequence[str]], Found]
    matching: Callable[[Sequence[str]], Found]


@dataclass(frozen=True, slots=True)
class About:
    """A note in question, by its path in the vault.

    `size` is how many chunks it has; `chunks` are those of them, and of its `neighbours`, that come into question.
    `outline` is the chunk it begins with, then some that are spread over its sections. Of some chunks `cosines` and
    `bm25` are known.
    """

    path: str
    size: int
    outline: tuple[int, ...]
    chunks: tuple[int, ...]
    neighbours: frozenset[str] = frozenset()
    cosines: Mapping[int, float] = field(default_factory=dict)
    bm25: Mapping[int, float] = field(default_factory=dict)


NOTHING = About(path="", size=0, outline=(), chunks=())
"""What is around no note."""


def look_around(view: VaultView[OpenScope] | VaultView[PrivateScope], note: str | None, inside: Inside) -> About | None:
    """Look at the note that a caller names and around it; None where there is no such note in sight."""
    path = view.notes.find(note) if note else None
    if path is None:
        return None
    chunks, around = view.chunks.of(path), tuple(neighbours(view, path))
    outline = _outline(view.chunks.of_text(path), view.chunks.sections_of(path))
    near = inside.nearest(around) + (inside.nearest((path,)) if len(chunks) > SHORT else [])
    worded = inside.matching(around) + inside.matching((path,))
    own = chunks if len(chunks) <= SHORT else outline
    return About(
        path=path,
        size=len(chunks),
        outline=outline,
        chunks=tuple(dict.fromkeys((*own, *(chunk for chunk, _ in (*near, *worded))))),
        neighbours=frozenset(around),
        cosines=dict(near),
        bm25=dict(worded),
    )


def neighbours(view: VaultView[OpenScope] | VaultView[PrivateScope], path: str) -> Iterator[str]:
    """Give the notes that a note links to and those that link to it, by turns, each once."""
    linked = (edge.target_path for edge in view.links.edges_from(path))
    linking = (edge.source for edge in view.links.edges_to(path))
    by_turns = chain.from_iterable(zip_longest(dict.fromkeys(linked), dict.fromkeys(linking)))
    each_once = dict.fromkeys(other for other in by_turns if other is not None and other != path)
    yield from list(each_once)[:MOST_NEIGHBOURS]


def _outline(chunks: Sequence[int], sections: Sequence[int]) -> tuple[int, ...]:
    """Give the beginning of a note, then chunks spread evenly over its sections, or over itself where it has few."""
    rest = sections if len(sections) >= FEW_SECTIONS else chunks
    return (*chunks[:1], *evenly(rest[1:], MOST_OUTLINED))


def evenly(items: Sequence[T], most: int) -> list[T]:
    """Take at most so many items: all of them, or the middle ones of so many equal parts."""
    count = min(most, len(items))
    return [items[(2 * at + 1) * len(items) // (2 * count)] for at in range(count)]
