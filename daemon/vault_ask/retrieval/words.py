"""A question as the word index understands it: which words count, how much, and the query they make."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import regex

from vault_ask.index.reading.words import Tallies
from vault_ask.index.terms import LANGUAGE_MARK, bare_terms, compound_ends, humps, inflections, names, query_words
from vault_ask.index.view import VaultView
from vault_ask.retrieval.compounds import parts_of
from vault_ask.retrieval.helpers import helpers_of, without_asking
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
"""What a helper loses of its weight where the vault holds hardly a chunk of its language, and a passage holds it; all,
where none does."""

HELPER_COMMON_AT_LEAST = 3
"""A helper is left out of the query where more than a tenth of its own language's chunks hold it, and so many do: `the`
stands in few chunks of a vault in eight languages, and tells none of the English ones apart."""

FOREIGN_TRUST = 0.5
"""What a word counts in a text of another language, where it may be another word (`gift`, `war`); names count whole."""

_SAYING = regex.compile(r"[\p{L}\p{N}\p{So}]")

MAX_WORDS = 64
"""Beyond this a question is a text; its rarest words say enough."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a question. `terms` maps a word to the terms that match it, `idf` to its weight (0 when pruned).

    `idf` holds those as well that are part of no more than a way of asking, at 0.

    `names` are those that are names or numbers, the same in every language; `language` is that of the rest.
    `beginnings` maps a word that nothing in sight holds to how the terms begin that may stand for it: other forms of
    it, and compounds that end in it.
    """

    terms: Mapping[str, tuple[str, ...]]
    idf: Mapping[str, float]
    names: frozenset[str]
    language: str
    beginnings: Mapping[str, tuple[str, ...]]

    @property
    def query(self) -> str:
        """The FTS5 query: quoted words joined by OR, so that no sign of the question is an operator."""
        return " OR ".join(
            dict.fromkeys(one for word in self.terms if self.idf[word] > 0 for one in self._phrases(word))
        )

    @property
    def mass(self) -> float:
        """The idf of all words."""
        return sum(self.idf.values())

    @property
    def queries(self) -> dict[str, str]:
        """The FTS5 query of each word that counts."""
        return {word: " OR ".join(self._phrases(word)) for word in self.terms if self.idf[word] > 0}

    def _phrases(self, word: str) -> list[str]:
        """List what matches a word: its terms whole, and others by how they begin."""
        return [*map(quoted, self.terms[word]), *(f"{quoted(begun)} *" for begun in self.beginnings.get(word, ()))]

    def trust(self, word: str, language: str) -> float:
        """Tell how much a word counts in a text of a language: half where it may be another word there."""
        is_foreign = language not in (self.language, "und") and word not in self.names
        return FOREIGN_TRUST if is_foreign else 1.0


def quoted(term: str) -> str:
    """Quote a term, which is stemmed already; the mark of no language keeps the tokenizer from stemming it twice."""
    return f'"und{LANGUAGE_MARK}{term}"'


def is_wordless(question: str) -> bool:
    """Say whether a question holds no letter, number or pictograph, and so asks for nothing."""
    return not _SAYING.search(question)


def read_words(question: str, view: VaultView[OpenScope] | VaultView[PrivateScope], language: str) -> Words:
    """Read a question against a vault's document frequencies; words that only ask are looked for by nobody."""
    tallies = view.words.tallies()
    languages = _languages(tallies, language)
    named = names(question)
    whole_question, question = question, without_asking(question, language)
    idle = query_words(whole_question, ()).keys() - query_words(question, ()).keys()
    # German writes every noun as names are written.
    whole = frozenset[str]() if language == "de" else named
    together = humps(question, languages)
    found, frequency = _looked_up(view, question, languages, whole=whole, together=together, limit=_limit(tallies))
    beginnings = {
        word: (*inflections(word, language), *(() if word in whole else compound_ends(word, languages)))
        for word, count in frequency.items()
        if not count
    }
    joined = (together.get(word, {}) for word in named)
    named = named.union(*(parts for parts in joined if parts.keys() <= found.keys()))
    idf = _weights(frequency, tallies, language)
    return Words(found, dict.fromkeys(idle, 0.0) | idf, named, language, beginnings)


def _limit(tallies: Tallies) -> int:
    """Tell from how many chunks on a word is common."""
    return max(int(COMMON_SHARE * tallies.chunks), COMMON_AT_LEAST)


def _looked_up(
    view: VaultView[OpenScope] | VaultView[PrivateScope],
    question: str,
    languages: tuple[str, ...],
    *,
    whole: frozenset[str],
    together: Mapping[str, Mapping[str, tuple[str, ...]]],
    limit: int,
) -> tuple[dict[str, tuple[str, ...]], dict[str, int]]:
    """Give the terms of each word of a question, counted; unknown compounds go in parts, but for `whole` words."""
    found, frequency = _counted(view, query_words(question, languages), languages, enough=limit + 1)
    unknown = [word for word, count in frequency.items() if not count]
    apart = {word: dict(together[word]) for word in unknown if word in together}
    compounds = parts_of([word for word in unknown if word not in whole], view, languages)
    if parts := compounds | apart:
        divided = {each: listed for word in found for each, listed in parts.get(word, {word: found[word]}).items()}
        found, frequency = _counted(view, divided, languages, enough=limit + 1)
    if all(not count or count > limit for count in frequency.values()):
        # Only how common they are can tell common words apart.
        found, frequency = _counted(view, found, languages, enough=None)
    return found, frequency


def _weights(frequency: Mapping[str, int], tallies: Tallies, language: str) -> dict[str, float]:
    own = tallies.by_language.get(language, 0)
    helpers = helpers_of(language).intersection(frequency)
    kept = _without_common(_kept(frequency, _limit(tallies)), frequency, helpers, own)
    youth = _youth(tallies.chunks)
    return {
        word: _idf(max(count, youth), tallies.chunks) * _say(count, _youth(own), is_helper=word in helpers)
        if word in kept
        else 0.0
        for word, count in frequency.items()
    }


def _languages(tallies: Tallies, language: str) -> tuple[str, ...]:
    common = [
        name
        for name, chunks in sorted(tallies.by_language.items(), key=lambda item: (-item[1], item[0]))
        if chunks >= LANGUAGE_SHARE * tallies.chunks
    ]
    return tuple(dict.fromkeys((language, *common, "und")))


def _counted(
    view: VaultView[OpenScope] | VaultView[PrivateScope],
    words: Mapping[str, tuple[str, ...]],
    languages: tuple[str, ...],
    *,
    enough: int | None,
) -> tuple[dict[str, tuple[str, ...]], dict[str, int]]:
    """Choose for each word the terms to look for, and count the chunks in sight that hold the most common of them."""
    counted = view.words.document_frequency({term for listed in words.values() for term in listed}, enough=enough)
    chosen = {word: _as_written(word, listed, languages, counted) for word, listed in words.items()}
    return chosen, {word: max((counted[term] for term in listed), default=0) for word, listed in chosen.items()}


def _as_written(
    word: str, listed: tuple[str, ...], languages: tuple[str, ...], counted: Mapping[str, int]
) -> tuple[str, ...]:
    """Look for a word with its marks alone where a note in sight has it so: `får` is not `far`, `C++` is not `C`."""
    if word.isalnum() and word.isascii():
        return listed
    bare = bare_terms(word, languages)
    marked = tuple(term for term in listed if term not in bare)
    return marked if any(counted[term] for term in marked) else listed


def _kept(frequency: Mapping[str, int], limit: int) -> set[str]:
    """Keep the words that tell passages apart, and those that no passage has: they count as missed."""
    rarest = sorted((word for word in frequency if frequency[word]), key=lambda word: frequency[word])
    telling = [word for word in rarest if frequency[word] <= limit] or rarest[:KEEP_RAREST]
    unknown = [word for word in frequency if not frequency[word]]
    return {*telling[:MAX_WORDS], *unknown[:MAX_WORDS]}


def _without_common(kept: set[str], frequency: Mapping[str, int], helpers: frozenset[str], own: int) -> set[str]:
    """Leave out the helpers that are common in their own language, of which the vault has `own` chunks.

    Not where nothing would be left that any passage holds.
    """
    limit = max(COMMON_SHARE * own, HELPER_COMMON_AT_LEAST)
    rest = {word for word in kept if word not in helpers or frequency[word] <= limit}
    return rest if any(frequency[word] for word in rest) else kept


def _youth(chunks: int) -> float:
    """Tell how little the frequencies in so many chunks are to be believed: from 1 for none down to 0."""
    return YOUNG_CHUNKS / (YOUNG_CHUNKS + chunks)


def _say(count: int, youth: float, *, is_helper: bool) -> float:
    """Tell how much of its weight a word keeps: few chunks of its language cannot show yet what only helps."""
    if not is_helper:
        return 1.0
    return 1.0 - youth * (HELPER_LOSS if count else 1.0)


def _idf(count: float, chunks: int) -> float:
    """Weigh a word as BM25 does, kept positive; Robertson and Zaragoza, "The Probabilistic Relevance Framework".

    The caller counts up to one passage for a word that a young vault does not hold, or it would outweigh all others.
    """
    held = min(count, chunks)
    return math.log(1.0 + (chunks - held + 0.5) / (held + 0.5))
