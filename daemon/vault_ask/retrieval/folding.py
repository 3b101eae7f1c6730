"""Passages that say the same in the same words become one hit that names all of their notes.

A copy under another path, a conflict copy, a template's text: none of them may take a place that another passage could
have. A translation is no copy, and what is too short to be told from chance is left alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from vault_ask.notes.copies import original_of
from vault_ask.retrieval.candidates import Candidate
from vault_ask.retrieval.hits import S

LOOKED_AT = 20
"""Candidates that are compared: more than there are places."""

TELLING = 40
"""Characters from which the same text in two notes is no chance."""

ALIKE, ENOUGH_WORDS = 0.9, 12
"""Jaccard index of the words from which two texts of at least so many words are the same, but for an edit."""


@dataclass(frozen=True, slots=True)
class _Text:
    path: str
    family: str
    language: str
    text: str
    words: frozenset[str]


def fold_copies(ranked: Sequence[Candidate[S]]) -> list[Candidate[S]]:
    """Keep of passages that are alike the best one, which then names the notes of the others (`also`)."""
    kept: list[tuple[_Text, Candidate[S]]] = []
    for candidate in ranked[:LOOKED_AT]:
        text = _text(candidate)
        at = next((place for place, (other, _) in enumerate(kept) if _is_same(text, other)), None)
        if at is None:
            kept.append((text, candidate))
        else:
            kept[at] = (kept[at][0], _naming(kept[at][1], text.path))
    return [candidate for _, candidate in kept] + list(ranked[LOOKED_AT:])


def _text(candidate: Candidate[S]) -> _Text:
    passage = candidate.passage
    words = passage.body.casefold().split()
    family, _ = original_of(passage.path)
    return _Text(passage.path, family, passage.language, " ".join(words), frozenset(words))


def _is_same(one: _Text, other: _Text) -> bool:
    if one.path == other.path or one.language != other.language or not one.text:
        return False
    if one.text == other.text:
        return len(one.text) >= TELLING or one.family == other.family
    fewer, more = sorted((len(one.words), len(other.words)))
    # Sizes this far apart cannot be alike, which spares comparing most pairs.
    if fewer < ENOUGH_WORDS or fewer < ALIKE * more:
        return False
    return len(one.words & other.words) >= ALIKE * len(one.words | other.words)


def _naming(candidate: Candidate[S], path: str) -> Candidate[S]:
    named = path == candidate.passage.path or path in candidate.also
    return candidate if named else replace(candidate, also=(*candidate.also, path))
