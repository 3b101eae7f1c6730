"""A question as the word index understands it: which words count, how much, and the query they make."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

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

YOUNG_CHUNKS = 200
"""With so many chunks a vault's own frequencies are believed half."""

HELPER_LOSS = 0.75
"""What a helper loses of its weight in a vault of hardly any chunks, where a passage holds it; all, where none does."""

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
    limit = max(int(COMMON_SHARE * tallies.chunks), COMMON_AT_LEAST)
    by_word = _frequency(view, found, enough=limit + 1)
    if all(not count or count > limit for count in by_word.values()):
        # Only how common they are can tell common words apart.
        by_word = _frequency(view, found, enough=None)
    kept = _kept(by_word, limit)
    youth = YOUNG_CHUNKS / (YOUNG_CHUNKS + tallies.chunks)
    helpers = _helpers(language)
    idf = {
        word: _idf(max(count, youth), tallies.chunks) * _say(count, youth, is_helper=word in helpers)
        if word in kept
        else 0.0
        for word, count in by_word.items()
    }
    return Words(found, idf)


def _languages(tallies: Tallies, language: str) -> tuple[str, ...]:
    common = [
        name
        for name, chunks in sorted(tallies.by_language.items(), key=lambda item: (-item[1], item[0]))
        if chunks >= LANGUAGE_SHARE * tallies.chunks
    ]
    return tuple(dict.fromkeys((language, *common, "und")))


def _frequency(
    view: VaultView[OpenScope] | VaultView[PrivateScope], words: Mapping[str, tuple[str, ...]], *, enough: int | None
) -> dict[str, int]:
    """Count for each word the chunks in sight that hold its most common term."""
    counted = view.document_frequency({term for listed in words.values() for term in listed}, enough=enough)
    return {word: max((counted[term] for term in listed), default=0) for word, listed in words.items()}


def _kept(frequency: Mapping[str, int], limit: int) -> set[str]:
    """Keep the words that tell passages apart, and those that no passage has: they count as missed."""
    rarest = sorted((word for word in frequency if frequency[word]), key=lambda word: frequency[word])
    telling = [word for word in rarest if frequency[word] <= limit] or rarest[:KEEP_RAREST]
    unknown = [word for word in frequency if not frequency[word]]
    return {*telling[:MAX_WORDS], *unknown[:MAX_WORDS]}


def _say(count: int, youth: float, *, is_helper: bool) -> float:
    """Tell how much of its weight a word keeps: a young vault's frequencies cannot show yet what only helps."""
    if not is_helper:
        return 1.0
    return 1.0 - youth * (HELPER_LOSS if count else 1.0)


def _idf(count: float, chunks: int) -> float:
    """Weigh a word as BM25 does, kept positive; Robertson and Zaragoza, "The Probabilistic Relevance Framework".

    The caller counts up to one passage for a word that a young vault does not hold, or it would outweigh all others.
    """
    held = min(count, chunks)
    return math.log(1.0 + (chunks - held + 0.5) / (held + 0.5))


@lru_cache(maxsize=64)
def _helpers(language: str) -> frozenset[str]:
    """List the words of a language that help others to mean something (`what`, `is`, `my`); generously."""
    import stopwordsiso  # noqa: PLC0415 - reads half a megabyte, which a command that asks nothing should not

    return frozenset(stopwordsiso.stopwords(language)) if stopwordsiso.has_lang(language) else frozenset()
