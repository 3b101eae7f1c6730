"""A question as the word index understands it: which words count, how much, and the query they make."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import regex

from vault_ask.index.terms import LANGUAGE_MARK, query_words, terms
from vault_ask.index.view import Tallies, VaultView
from vault_ask.scope import OpenScope, PrivateScope

COMMON_SHARE = 0.10
"""A word in more than this share of the chunks is left out of the query: 50 to 95 times faster, in any language."""

COMMON_AT_LEAST = 40
"""In a small vault a word in a tenth of the chunks may still be the one that matters."""

KEEP_RAREST = 2
"""Where all words are common, the rarest two are asked for all the same."""

LANGUAGE_SHARE = 0.03
"""A language with this share of the chunks is reckoned with in every question."""

_SAYING = regex.compile(r"[\p{L}\p{N}\p{So}]")

MAX_WORDS = 64
"""Beyond this a question is a text; its rarest words say enough."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a question. `terms` maps a word to the terms that match it, `idf` to its weight (0 when pruned)."""

    terms: Mapping[str, tuple[str, ...]]
    idf: Mapping[str, float]

    @property
    def query(self) -> str:
        """The FTS5 query: quoted words joined by OR, so that no sign of the question is an operator."""
        kept = [term for word, listed in self.terms.items() if self.idf[word] > 0 for term in listed]
        # Terms are stemmed already; the mark of no language keeps the tokenizer from stemming them twice.
        return " OR ".join(f'"und{LANGUAGE_MARK}{term}"' for term in dict.fromkeys(kept))

    def coverage(self, text: str, language: str) -> float:
        """Give the share of the question's idf mass whose words stand in a text."""
        mass = sum(self.idf.values())
        if not mass:
            return 0.0
        held = set(terms(text, language))
        return sum(self.idf[word] for word, listed in self.terms.items() if held.intersection(listed)) / mass


def is_wordless(question: str) -> bool:
    """Say whether a question holds no letter, number or pictograph, and so asks for nothing."""
    return not _SAYING.search(question)


def read_words(question: str, view: VaultView[OpenScope] | VaultView[PrivateScope], language: str) -> Words:
    """Read a question against a vault's document frequencies."""
    tallies = view.tallies()
    found = query_words(question, _languages(tallies, language))
    frequency = view.document_frequency({term for listed in found.values() for term in listed})
    by_word = {word: max((frequency[term] for term in listed), default=0) for word, listed in found.items()}
    kept = _kept(by_word, tallies.chunks)
    idf = {word: _idf(count, tallies.chunks) if word in kept else 0.0 for word, count in by_word.items()}
    return Words(found, idf)


def _languages(tallies: Tallies, language: str) -> tuple[str, ...]:
    common = [
        name
        for name, chunks in sorted(tallies.by_language.items(), key=lambda item: (-item[1], item[0]))
        if chunks >= LANGUAGE_SHARE * tallies.chunks
    ]
    return tuple(dict.fromkeys((language, *common, "und")))


def _kept(frequency: Mapping[str, int], chunks: int) -> set[str]:
    limit = max(COMMON_SHARE * chunks, COMMON_AT_LEAST)
    rarest = sorted(frequency, key=lambda word: frequency[word])
    kept = [word for word in rarest if frequency[word] <= limit]
    return set((kept or rarest[:KEEP_RAREST])[:MAX_WORDS])


def _idf(count: int, chunks: int) -> float:
    """Weigh a word as BM25 does, kept positive; Robertson and Zaragoza, "The Probabilistic Relevance Framework"."""
    return math.log(1.0 + (chunks - count + 0.5) / (count + 0.5))
