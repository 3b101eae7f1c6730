"""Passages that say the same in the same words become one hit that names all of their notes.

A copy under another path or a conflict copy must not take a place that another passage could have. What is like
another one but for a figure, a name or a tick is another one; so is the same list on another day. A translation is no
copy, and what is too short to be told from chance is left alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath

from vault_ask.notes.copies import original_of
from vault_ask.retrieval.candidates import Candidate
from vault_ask.scope import S

TELLING = 40
"""Characters from which the same text in two notes is no chance."""

ALIKE = 0.9
"""Jaccard index of the words from which the text of a conflict copy is that of its original, but for an edit."""


@dataclass(frozen=True)
class _Text:
    """A passage as it is compared: whole only with one that begins and ends with the same words, or is of its family.

    Most are neither, and a text takes time to normalise.
    """

    path: str
    family: str
    marks: int
    language: str
    body: str
    days: tuple[int, int] | None

    @property
    def ends(self) -> tuple[str, ...]:
        return tuple(word.casefold() for word in (*self.body.split(None, 1)[:1], *self.body.rsplit(None, 1)[-1:]))

    @cached_property
    def text(self) -> str:
        return " ".join(self.body.casefold().split())

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(self.text.split())


def fold_copies(ranked: Sequence[Candidate[S]], *, stays: str | None = None) -> list[Candidate[S]]:
    """Keep of passages that are the same one, which then names the notes of the others (`also`).

    That is the best one, but for a conflict copy, which stands behind its original. A passage of the note at the path
    `stays` is kept whatever it is like.
    """
    kept: list[tuple[_Text, Candidate[S]]] = []
    by_ends: dict[tuple[str, ...], list[int]] = {}
    by_family: dict[str, list[int]] = {}
    for candidate in ranked:
        text: _Text = _text(candidate, stays)
        ends: tuple[str, ...] = text.ends
        alike = (*by_ends.get(ends, ()), *by_family.get(text.family, ()))
        at = next((place for place in alike if _is_same(text, kept[place][0])), None)
        if at is None:
            by_ends.setdefault(ends, []).append(len(kept))
            by_family.setdefault(text.family, []).append(len(kept))
            kept.append((text, candidate))
        elif text.marks < kept[at][0].marks:
            kept[at] = (text, _naming(_in_place_of(candidate, kept[at][1]), kept[at][0].path))
        else:
            kept[at] = (kept[at][0], _naming(kept[at][1], text.path))
    return [candidate for _, candidate in kept]


def _text(candidate: Candidate[S], stays: str | None) -> _Text:
    passage = candidate.passage
    family, marks = original_of(passage.path)
    # Properties are of the note that has them: two projects may be on hold.
    name = PurePosixPath(family).stem if passage.of_properties else ""
    body = f"{name} {passage.body}" if name else passage.body
    marks = -1 if passage.path == stays else marks
    return _Text(passage.path, family, marks, passage.language, body, passage.days)


def _is_same(one: _Text, other: _Text) -> bool:
    if one.path == other.path or one.language != other.language or not one.text:
        return False
    if one.family == other.family:
        return one.text == other.text or len(one.words & other.words) >= ALIKE * len(one.words | other.words)
    return one.text == other.text and len(one.text) >= TELLING and one.days == other.days


def _in_place_of(candidate: Candidate[S], other: Candidate[S]) -> Candidate[S]:
    """Give a candidate the place of another one, with what it names; what that raises it by is a part of its own."""
    raised = (
        {**candidate.parts, "copy": other.score - candidate.score}
        if other.score != candidate.score
        else candidate.parts
    )
    return replace(candidate, parts=raised, also=other.also)


def _naming(candidate: Candidate[S], path: str) -> Candidate[S]:
    named = path == candidate.passage.path or path in candidate.also
    return candidate if named else replace(candidate, also=(*candidate.also, path))
