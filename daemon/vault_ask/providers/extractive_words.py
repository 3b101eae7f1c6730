"""The words of a question, as the quoting generator weighs the sentences of notes against them."""

from collections.abc import Mapping
from dataclasses import dataclass

from vault_ask.answering.evidence import Prompt
from vault_ask.index.terms import query_words

LEAST_NEW = 0.15
"""A sentence with fewer words that the question does not hold only repeats the question."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The question's words: each with the terms that match it and its weight."""

    words: Mapping[str, tuple[str, ...]]
    weights: Mapping[str, float]
    asks: bool
    """Whether the words end as a question, and do not just name what is to be found."""

    def is_repeated_in(self, bag: frozenset[str]) -> bool:
        """Say whether a sentence says hardly more than the question does; a passage may hold nothing else."""
        return self.news_in(bag) < LEAST_NEW and self.share_in(bag) > 0

    def is_searched_for(self, bag: frozenset[str]) -> bool:
        """Say whether the words look for a sentence that holds them all, and ask nothing about it."""
        return not self.asks and self.share_in(bag) == 1.0

    def share_in(self, bag: frozenset[str]) -> float:
        """Give the share of the question's weight whose words are in a bag of terms."""
        total = sum(self.weights.values())
        found = sum(w for word, w in self.weights.items() if not bag.isdisjoint(self.words[word]))
        return found / total if total else 0.0

    def count_in(self, bag: frozenset[str]) -> int:
        """Count the question's words that are in a bag of terms, but for those that hardly tell passages apart."""
        least = max(self.weights.values(), default=0.0) / 2
        telling = (word for word, weight in self.weights.items() if weight > 0 and weight >= least)
        return sum(not bag.isdisjoint(self.words[word]) for word in telling)

    def news_in(self, bag: frozenset[str]) -> float:
        """Give the share of a bag's terms that the question does not hold."""
        known = {term for alternatives in self.words.values() for term in alternatives}
        return len(bag - known) / len(bag) if bag else 0.0


def asked_of(prompt: Prompt) -> Asked:
    """Read the question of a prompt in its language and in those of the excerpts."""
    languages = tuple(dict.fromkeys((prompt.language, *(e.language for e in prompt.excerpts))))
    words = query_words(prompt.query or prompt.question, languages)
    usual = max(prompt.idf.values(), default=1.0)
    return Asked(words, {word: prompt.idf.get(word, usual) for word in words}, asks_something(prompt.question))


def asks_something(sentence: str) -> bool:
    """Say whether a text ends as a question, in any script."""
    return sentence.rstrip("\"'”’»)*_ ").endswith(("?", "？", "؟", "՞"))
