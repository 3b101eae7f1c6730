"""The time that a question names, as a span of days: "last week", "in April", "på tisdag", "geçen ay", "2026-03".

To miss a time costs little, to see one where none is meant costs the answer; so a name alone ("April", "2025", "May I")
is no time, and becomes one by what stands beside it. Of an April or a Tuesday the last one is meant, for notes tell
what was, or today's; a question that looks ahead ("what will I do on Friday?") means the next one.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from vault_ask.notes.calendar import Days, Weekday
from vault_ask.retrieval.time_calendar import Calendar
from vault_ask.retrieval.time_reading import ORDERS, Named, Order, Reading
from vault_ask.retrieval.time_tokens import Phrase, Token, tokens_of, without_accents
from vault_ask.retrieval.time_words import languages_by_word, lexicon_of, table_of
from vault_ask.retrieval.words import helpers_of, is_wordless

LONGEST = 2_000
"""Characters of a question that are looked at; beyond it is a text."""

_LONGEST_PHRASE = 6
"""Tokens of a phrase that says only that something was."""
_GUESSES = 3
"""Languages that a question is read in besides its own and English."""


@dataclass(frozen=True, slots=True)
class When:
    """The time a question names.

    `days` are ordinals of `datetime.date`, first and last, inclusive; `words` are the words of the question that named
    them, `rest` is the question without these. `order` is which of the notes are wanted: the latest, the earliest, or
    all of them to count.
    """

    days: Days | None
    words: str
    order: Order | None
    rest: str


def read_when(question: str, *, language: str, now: datetime, week_start: Weekday | int = Weekday.MONDAY) -> When:
    """Read the time that a question names.

    `language` is the question's ISO 639 code, or "und"; English and what is plainly of another language is read all
    the same. `now` is the moment of asking in the owner's zone: its date is today.
    """
    text = question[:LONGEST]
    tokens = tokens_of(text)
    calendar = Calendar(now.date().toordinal(), Weekday(week_start))
    named, order = _in_first_language(text, tokens, language, calendar)
    if named is None:
        return When(None, "", order, question)
    start, end, days = named
    return When(days, question[start:end], order, _without(question, start, end))


def asks_what_happened(rest: str, language: str) -> bool:
    """Say whether what is left of a question without its time says only that something was: "what did I do".

    `language` is the question's ISO 639 code; English is understood all the same. True where no word is left.
    """
    words = [token.text for token in tokens_of(rest[:LONGEST]) if not is_wordless(token.text)]
    return any(_says_only(words, _idle_phrases(name)) for name in dict.fromkeys((table_of(language), "en")))


def load_words() -> None:
    """Load the tables of all languages, which the first question would wait for: a tenth of a second."""
    languages_by_word()


def _says_only(words: Sequence[str], phrases: AbstractSet[Phrase]) -> bool:
    """Say whether words are nothing but phrases one behind the other; where scripts write no spaces, in any parting."""
    reached = {0}
    for at in range(len(words)):
        if at in reached:
            ends = range(at + 1, min(at + _LONGEST_PHRASE, len(words)) + 1)
            reached.update(end for end in ends if tuple(words[at:end]) in phrases)
    return len(words) in reached


@cache
def _idle_phrases(language: str) -> frozenset[Phrase]:
    """List the phrases of a language that tell nothing but that something was, with and without accents."""
    helpers = {tuple(token.text for token in tokens_of(word)) for word in helpers_of(language)}
    lexicon = lexicon_of(language)
    phrases = (helpers - lexicon.content) | lexicon.happened
    return frozenset(phrases | set(map(without_accents, phrases)))


def _in_first_language(
    text: str, tokens: Sequence[Token], language: str, calendar: Calendar
) -> tuple[Named | None, Order | None]:
    """Read in the question's language, in English, and in those that know most of its words; the first one wins."""
    order: Order | None = None
    own = tuple(dict.fromkeys((language, "en")))
    words = {token.text for token in tokens}
    has_numbers = any(map(str.isdecimal, words))
    for name in (*own, *_guessed(words, own)):
        if not has_numbers and lexicon_of(name).telling.isdisjoint(words):
            continue
        others = () if name in own else tuple(map(lexicon_of, own))
        reading = Reading(text, tokens, lexicon_of(name), calendar, others)
        order = order or reading.order
        if named := reading.named:
            return named, order
    return None, order


def _guessed(words: AbstractSet[str], own: Sequence[str]) -> list[str]:
    by_word, hits = languages_by_word(), dict[str, int]()
    for word in words:
        for language in by_word.get(word, ()):
            hits[language] = hits.get(language, 0) + 1
    likely = [language for language in hits if language not in own]
    return sorted(likely, key=lambda language: (-hits[language], language))[:_GUESSES]


def _without(question: str, start: int, end: int) -> str:
    """Take words out of a question, with one of the spaces around them."""
    before, after = question[:start], question[end:]
    if before.endswith(" ") and (not after or after[0].isspace() or not after[0].isalnum()):
        before = before[:-1]
    return f"{before}{after}" if before else after.lstrip()


__all__ = ["ORDERS", "Order", "Weekday", "When", "asks_what_happened", "load_words", "read_when"]
