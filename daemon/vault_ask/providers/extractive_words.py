"""The words of a question, as the quoting generator weighs the sentences of notes against them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from vault_ask.answering.evidence import Prompt
from vault_ask.answering.standalone import asks
from vault_ask.index.terms import names, query_words

LEAST_NEW = 0.15
"""A sentence with fewer words that the question does not hold only repeats the question."""


@dataclass(frozen=True)
class Asked:
    """The question's words: each with the terms that match it and its weight."""

    words: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, float]
    asks: bool
    """Whether the words end as a question, and do not just name what is to be found."""
    names: frozenset[str] = frozenset()
    """Those of the words that are names or numbers."""

    def is_repeated_in(self, bag: frozenset[str]) -> bool:
        """Say whether a sentence says hardly more than the question does; a passage may hold nothing else."""
        return self.news_in(bag) < LEAST_NEW and self.share_in(bag) > 0

    def is_searched_for(self, bag: frozenset[str]) -> bool:
        """Say whether the words look for a sentence that holds them all, and ask nothing about it."""
        return not self.asks and self.share_in(bag) == 1.0

    def held_in(self, bag: frozenset[str]) -> frozenset[str]:
        """Give the question's words that are in a bag of terms."""
        return frozenset(word for word, alternatives in self.words.items() if not bag.isdisjoint(alternatives))

    def weight_of(self, words: frozenset[str]) -> float:
        """Give the share of the question's weight that some of its words have."""
        total = sum(self.weights.values())
        # In the order of the total, so that all of them are all of it.
        return sum(weight for word, weight in self.weights.items() if word in words) / total if total else 0.0

    def share_in(self, bag: frozenset[str]) -> float:
        """Give the share of the question's weight whose words are in a bag of terms."""
        return self.weight_of(self.held_in(bag))

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
        known = {term for alternatives in self.words.values() for term in alternatives}
        return len(bag - known) / len(bag) if bag else 0.0


def asked_of(prompt: Prompt) -> Asked:
    """Read the question of a prompt in its language and in those of the excerpts."""
    languages = tuple(dict.fromkeys((prompt.language, *(e.language for e in prompt.excerpts))))
    text = prompt.query or prompt.question
    words = query_words(text, languages)
    usual = max(prompt.idf.values(), default=1.0)
    weights = {word: prompt.idf.get(word, usual) for word in words}
    return Asked(words, weights, asks(prompt.question), names(text))
