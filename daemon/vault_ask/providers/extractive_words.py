"""The words of a question, as the quoting generator weighs the sentences of notes against them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from vault_ask.answering.evidence import Prompt
from vault_ask.answering.standalone import asks
from vault_ask.index.terms import names, query_words, signed_terms, terms
from vault_ask.retrieval.helpers import helpers_of

LEAST_NEW = 0.15
"""A sentence with fewer words that the question does not hold only repeats it, if they merely help others."""

SHORTEST_STEM, ENDING = 3, 3
"""Letters that two forms of a word have in common at least, and by which the longer one is longer at most. Only the few
keys of a note's properties are compared so; among all words it would find too much."""


@dataclass(frozen=True)
class Asked:
    """The question's words: each with the terms that match it and its weight."""

    words: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, float]
    asks: bool
    """Whether the words end as a question, and do not just name what is to be found."""
    names: frozenset[str] = frozenset()
    """Those of the words that are names or numbers."""
    subjects: frozenset[str] = frozenset()
    """The terms of those words that do not only help others to mean something."""
    helpers: frozenset[str] = frozenset()
    """The terms of all words of the question's language that only help others."""

    def is_repeated_in(self, bag: frozenset[str]) -> bool:
        """Say whether a sentence says no more than the question does; a passage may hold nothing else.

        The answer to a long question may be all of its words and one name.
        """
        has_news = not bag <= self.terms | self.helpers
        return not has_news and self.news_in(bag) < LEAST_NEW and self.share_in(bag) > 0

    def is_searched_for(self, bag: frozenset[str]) -> bool:
        """Say whether the words look for a sentence that holds them all, and ask nothing about it."""
        return not self.asks and self.share_in(bag) == 1.0

    def held_in(self, bag: frozenset[str]) -> frozenset[str]:
        """Give the question's words that have a weight and are in a bag of terms."""
        weighty = ((word, listed) for word, listed in self.words.items() if self.weights[word])
        return frozenset(word for word, listed in weighty if not bag.isdisjoint(listed))

    def weight_of(self, words: frozenset[str]) -> float:
        """Give the share of the question's weight that some of its words have."""
        total = sum(self.weights.values())
        # In the order of the total, so that all of them are all of it.
        return sum(weight for word, weight in self.weights.items() if word in words) / total if total else 0.0

    def share_in(self, bag: frozenset[str]) -> float:
        """Give the share of the question's weight whose words are in a bag of terms."""
        return self.weight_of(self.held_in(bag))

    @cached_property
    def terms(self) -> frozenset[str]:
        """All terms that match a word of the question."""
        return frozenset(term for alternatives in self.words.values() for term in alternatives)

    def share_asked_for(self, key: frozenset[str]) -> float:
        """Give the share of a key's terms that the question holds, its subjects in any form (`owns`, `owner`)."""
        asked = [term for term in key if term in self.terms or any(_is_form(term, each) for each in self.subjects)]
        return len(asked) / len(key) if key else 0.0

    @cached_property
    def telling(self) -> frozenset[str]:
        """The words but for those that hardly tell passages apart."""
        least = max(self.weights.values(), default=0.0) / 2
        return frozenset(word for word, weight in self.weights.items() if weight > 0 and weight >= least)

    def count_in(self, bag: frozenset[str]) -> int:
        """Count the telling words that are in a bag of terms."""
        return len(self.held_in(bag) & self.telling)

    def news_in(self, bag: frozenset[str]) -> float:
        """Give the share of a bag's terms that the question does not hold."""
        return len(bag - self.terms) / len(bag) if bag else 0.0


def asked_of(prompt: Prompt) -> Asked:
    """Read the question of a prompt in its language and in those of the excerpts."""
    languages = tuple(dict.fromkeys((prompt.language, *(e.language for e in prompt.excerpts))))
    text = prompt.query or prompt.question
    words = _as_signed(query_words(text, languages), prompt, languages)
    usual = max(prompt.idf.values(), default=1.0)
    helpers = helpers_of(prompt.language)
    # Words of the time that was named have no frequency any more; of these a name or a number may still tell a line.
    weights = {word: prompt.idf.get(word, 0.0 if prompt.idf and word in helpers else usual) for word in words}
    subjects = frozenset(term for word, listed in words.items() if word not in helpers for term in listed)
    helping = frozenset(terms(" ".join(sorted(helpers)), prompt.language))
    return Asked(words, weights, asks(prompt.question), names(text), subjects, helping)


def _is_form(one: str, other: str) -> bool:
    """Say whether one of two terms is the other with an ending that no stemmer takes off."""
    short, long = sorted((one, other), key=len)
    return len(short) >= SHORTEST_STEM and len(long) - len(short) <= ENDING and long.startswith(short)


def _as_signed(
    words: Mapping[str, tuple[str, ...]], prompt: Prompt, languages: tuple[str, ...]
) -> dict[str, tuple[str, ...]]:
    """Look for a word with its sign alone where an excerpt has it so: `C++` is not `C`."""
    signed = {word: tuple(signed_terms(word, languages)) for word in words}
    written = (frozenset(terms(f"{e.title}\n{e.text}", e.language)) for e in prompt.excerpts)
    there = frozenset[str]().union(*written) if any(signed.values()) else frozenset[str]()
    return {word: listed if there.isdisjoint(signed[word]) else signed[word] for word, listed in words.items()}
