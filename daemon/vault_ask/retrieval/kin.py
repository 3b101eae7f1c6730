"""Kin of a passage: other notes that say a rare name which it says too.

What joins two notes need not have a note of its own, nor a link: the note on a film names an actor, and so does the one
on his wife. A name is what is not written in lower case, so all of a script without case; common words that only begin
a sentence are not rare. Knows nothing of scores.
"""

from collections.abc import Collection, Mapping, Sequence

from vault_ask.index.reading.text import Passage
from vault_ask.index.terms import name_terms
from vault_ask.index.view import VaultView
from vault_ask.retrieval.query import Query
from vault_ask.retrieval.words import quoted
from vault_ask.scope import S

RARE = 12
"""A name that more passages say, or a tag or a topic of more notes, says little of any of them."""

MOST_NAMES = 8
"""Of a passage's rare names so many are looked for, the rarest."""

MOST_KIN = 8
"""So many of the passages that say them are looked at."""


def kin_of(view: VaultView[S], passages: Sequence[Passage[S]], query: Query) -> dict[str, dict[str, float]]:
    """Give by the path of each passage's note its kin, nearest first: paths with the BM25 of the names in common.

    Names that the question says itself are left out, since what says those is found anyway.
    """
    asked = {term for listed in query.words.terms.values() for term in listed}
    names = {passage.path: name_terms(passage.body, passage.language) - asked for passage in passages}
    counted = view.words.document_frequency(frozenset[str]().union(*names.values()), enough=RARE + 1)
    return {passage.path: _kin(view, passage, _rarest(names[passage.path], counted), query) for passage in passages}


def _rarest(names: Collection[str], counted: Mapping[str, int]) -> list[str]:
    """Choose the rarest names that some other passage says."""
    rare = [name for name in names if 1 < counted[name] <= RARE]
    return sorted(rare, key=lambda name: (counted[name], name))[:MOST_NAMES]


def _kin(view: VaultView[S], passage: Passage[S], names: Sequence[str], query: Query) -> dict[str, float]:
    if not names:
        return {}
    found = dict(view.words.matching(" OR ".join(map(quoted, names)), MOST_KIN, within=query.within))
    paths = view.chunks.paths_of(list(found))
    kin: dict[str, float] = {}
    for chunk, bm25 in found.items():
        if paths[chunk] != passage.path:
            kin.setdefault(paths[chunk], bm25)
    return kin
