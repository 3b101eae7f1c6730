"""Which of the ranked candidates become hits: at most so many chunks a note, then the best k.

Where the question is about a note, that note's passages come first, then its neighbours', then the rest of the vault.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Generic, TypeVar

from vault_ask.retrieval.about import About, evenly
from vault_ask.retrieval.candidates import Candidate
from vault_ask.scope import S

T = TypeVar("T")

OWN_SHARE = 2
"""The note in question takes at most one place in so many, rounded up."""
NEIGHBOURS_SHARE = 4
"""Its neighbours take at most one place in so many; more only among the rest, by rank."""


@dataclass(frozen=True, slots=True)
class Places(Generic[S]):
    """Who has the places: the note in question and its neighbours, and then the rest of the vault, each best first."""

    first: list[Candidate[S]]
    others: list[Candidate[S]]

    @property
    def all(self) -> list[Candidate[S]]:
        """All of them, in the order of hits."""
        return self.first + self.others

    @property
    def at_hand(self) -> bool:
        """Whether there is text of what is asked about, which answers however little it resembles the question."""
        return any(candidate.speaks for candidate in self.first)


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


def share_out(
    ranked: Sequence[Candidate[S]], about: About | None, *, per_note: int, k: int, expanded: int = 0
) -> Places[S]:
    """Give the places to ranked candidates, at most so many to those that only a link led to."""
    if about is None:
        return Places([], _with_quota(ranked, per_note, k, expanded))
    own = _own(ranked, about, -(-k // OWN_SHARE))
    left = k - len(own)
    linked = _linked(ranked, about, per_note, min(k // NEIGHBOURS_SHARE, left))
    taken = {candidate.chunk for candidate in linked}
    others = [candidate for candidate in ranked if _is_other(candidate, about) and candidate.chunk not in taken]
    # Together, so that a neighbour has no more places than any note.
    rest = select(linked + others, note_of=_note, per_note=per_note, k=left)
    # A note that is a name alone stands behind what its links lead to: there the text is.
    first = sorted(own + linked, key=lambda candidate: not candidate.speaks)
    return Places(first, rest[len(linked) :])


def _with_quota(ranked: Sequence[Candidate[S]], per_note: int, k: int, expanded: int) -> list[Candidate[S]]:
    """Take the best k, of which at most so many by a link alone; more of them only where there is nothing else.

    So the best k less that many of what was found directly keep their places whatever links lead to.
    """
    linked = [candidate for candidate in ranked if candidate.via is not None]
    passed_over = {candidate.chunk for candidate in linked[expanded:]}
    allowed = [candidate for candidate in ranked if candidate.chunk not in passed_over]
    taken = select(allowed, note_of=_note, per_note=per_note, k=k)
    if len(taken) < k and passed_over:
        chunks = {candidate.chunk for candidate in taken}
        rest = [candidate for candidate in linked[expanded:] if candidate.chunk not in chunks]
        # In the order of all: a place behind a better one, not behind every other.
        both = sorted(taken + rest[: k - len(taken)], key=ranked.index)
        taken = select(both, note_of=_note, per_note=per_note, k=k)
    return taken


def is_broad(ranked: Sequence[Candidate[S]], about: About | None) -> bool:
    """Tell whether no passage of the note in question stands out."""
    if about is None:
        return False
    own = [candidate for candidate in ranked if candidate.passage.path == about.path]
    return not any(candidate.stands_out(about.size) for candidate in own)


def _own(ranked: Sequence[Candidate[S]], about: About, places: int) -> list[Candidate[S]]:
    """Choose among the passages of the note in question: the best, and where none stands out its outline beside them.

    A question about the note as a whole is near to no passage; `what is this about?` is answered by how it begins.
    """
    own = [candidate for candidate in ranked if candidate.passage.path == about.path]
    own = [candidate for candidate in own if candidate.speaks] or own
    if len(own) <= places or not is_broad(own, about):
        return own[:places]
    by_chunk = {candidate.chunk: candidate for candidate in own}
    outline = [by_chunk[chunk] for chunk in about.outline if chunk in by_chunk]
    by_turns = zip_longest(own, evenly(outline[1:], (places - 1) // 2))
    mixed = outline[:1] + [candidate for pair in by_turns for candidate in pair if candidate is not None]
    return list({candidate.chunk: candidate for candidate in mixed}.values())[:places]


def _linked(ranked: Sequence[Candidate[S]], about: About, per_note: int, places: int) -> list[Candidate[S]]:
    near = [candidate for candidate in ranked if candidate.passage.path in about.neighbours and candidate.speaks]
    return select(near, note_of=_note, per_note=per_note, k=places)


def _is_other(candidate: Candidate[S], about: About) -> bool:
    return candidate.passage.path != about.path and candidate.provenance != "expanded"


def _note(candidate: Candidate[S]) -> int:
    return candidate.passage.note
