"""Compounds that no note writes in one: `hyresavtal` is asked for, `avtal för hyran` is written.

The vault's own words tell where a compound parts; counted are those in sight alone.
"""

from collections.abc import Mapping, Sequence

from vault_ask.index.terms import COMPOUNDING, LONG_WORD, divisions
from vault_ask.index.view import VaultView
from vault_ask.scope import OpenScope, PrivateScope

MOST_DIVIDED = 8
"""So many unknown words of one question are looked at."""


def parts_of(
    unknown: Sequence[str], view: VaultView[OpenScope] | VaultView[PrivateScope], languages: Sequence[str]
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Give the parts of words that no passage in sight holds, each with the terms that match it.

    Words that no pair of known words makes up are left out.
    """
    ways = {
        word: [way for language in languages if language in COMPOUNDING for way in divisions(word, language)]
        for word in [word for word in unknown if len(word) >= LONG_WORD and word.isalpha()][:MOST_DIVIDED]
    }
    every = {term for listed in ways.values() for _, left, _, right in listed for term in left | right}
    counted = view.words.document_frequency(every, enough=1) if every else {}
    return {word: parts for word, listed in ways.items() if (parts := _best(listed, counted))}


def _best(
    ways: Sequence[tuple[str, frozenset[str], str, frozenset[str]]], counted: Mapping[str, int]
) -> dict[str, tuple[str, ...]]:
    """Choose the way whose shorter part is longest, of those with two parts that are known: chance makes short ones."""
    known = [
        (modifier, tuple(term for term in left if counted[term]), head, tuple(term for term in right if counted[term]))
        for modifier, left, head, right in ways
    ]
    best = max((way for way in known if way[1] and way[3]), key=lambda way: min(len(way[0]), len(way[2])), default=None)
    return {} if best is None else {best[0]: best[1], best[2]: best[3]}
