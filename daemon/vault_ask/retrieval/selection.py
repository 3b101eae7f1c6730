"""Which of the ranked candidates become hits: at most so many chunks a note, then the best k."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def select(ranked: Iterable[T], *, note_of: Callable[[T], object], per_note: int, k: int) -> list[T]:
    """Take the first k of a ranked sequence, passing over a note's chunks beyond its share."""
    taken: list[T] = []
    shares: Counter[object] = Counter()
    for candidate in ranked:
        if len(taken) == k:
            break
        note = note_of(candidate)
        if shares[note] < per_note:
            shares[note] += 1
            taken.append(candidate)
    return taken
