"""The time that a question names, as a span of days: "last week", "in April", "på tisdag", "geçen ay", "2026-03".

To miss a time costs little, to see one where none is meant costs the answer; so a name alone ("April", "2025", "May I")
is no time, and becomes one by what stands beside it. Of an April or a Tuesday the last one is meant, for notes tell
what was, or today's; a question that looks ahead ("what will I do on Friday?") means the next one.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache

from vault_ask.notes.calendar import Days, Weekday, common_year
from vault_ask.notes.written_dates import DayOrder
from vault_ask.retrieval.helpers import helpers_of
from vault_ask.retrieval.time_calendar import Calendar
from vault_ask.retrieval.time_numbers import month_alone
from vault_ask.retrieval.time_reading import ORDERS, Named, Order, Reading
from vault_ask.retrieval.time_tokens import Phrase, Token, tokens_of, without_accents
from vault_ask.retrieval.time_words import languages_by_word, lexicon_of, table_of
from vault_ask.retrieval.words import is_wordless

LONGEST = 2_000
"""Characters of a question that are looked at; beyond it is a text."""

_MOST_TURNS = 8
"""Lines at the end of a question that may each follow the one before."""
_MOST_FOLLOWING = 40
"""Tokens of a turn that only names another time."""
_SOME_DAY = date(2030, 1, 1).toordinal()
"""Which days a turn names does not matter, where it is asked only whether it names another time."""
_FEW = 500
"""The same, where all likely languages are tried."""
_MOST_TOKENS = 600
"""The same in tokens, of which a text in Chinese or made of signs has one a character."""
_LONGEST_PHRASE = 6
"""Tokens of a phrase that says only that something was."""
_GUESSES = 3
"""Languages that a question is read in besides its own and English."""
_GUESSES_OF_FEW_WORDS = 6
"""The same of a turn that only names another time: a word or two are of many languages."""


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


def read_when(
    question: str,
    *,
    language: str,
    now: datetime,
    week_start: Weekday | int = Weekday.MONDAY,
    order: DayOrder | None = None,
) -> When:
    """Read the time that a question names; in a conversation its lines are turns, of which the last one is asked.

    `language` is the question's ISO 639 code, or "und"; English and what is plainly of another language is read all
    the same. `now` is the moment of asking in the owner's zone: its date is today. `order` is how the owner writes
    03/08/2026, where the language does not tell.
    """
    calendar = Calendar(now.date().toordinal(), Weekday(week_start), order=order)
    return _read_turns(question, language, calendar) or _read_turn(question, language, calendar)


def follows_in_time(question: str) -> bool:
    """Say whether a turn of a conversation only names another time than the turn before, or one told by its time.

    In whatever language it is: "and in May?", "och veckan innan?".
    """
    some_day = Calendar(_SOME_DAY, Weekday.MONDAY)
    return _following(question, "und", some_day, When((_SOME_DAY, _SOME_DAY), "", None, "")) is not None


def may_name_time(question: str) -> bool:
    """Say whether a question names a time in some language, where nobody knows in which it is."""
    question = question[:_FEW]
    words = {token.text for token in tokens_of(question)}
    some_day = Calendar(_SOME_DAY, Weekday.MONDAY)
    languages = ("en", *_guessed(words, ("en",), _GUESSES_OF_FEW_WORDS))
    return any(_read_turn(question, language, some_day).days for language in languages)


def _read_turn(question: str, language: str, calendar: Calendar) -> When:
    named, order = _in_first_language(*_looked_at(question), language, calendar)
    named = named or month_alone(question)
    return _with(question, named, order) if named else When(None, "", order, question)


def _read_turns(question: str, language: str, calendar: Calendar) -> When | None:
    """Read a question whose last lines are turns of a conversation; None where none of them follows in time."""
    first, *turns = question.rsplit("\n", _MOST_TURNS)
    if not turns:
        return None
    when, is_followed = _read_turn(first, language, calendar), False
    for turn in turns:
        following = _following(turn, language, calendar, when) if when.days else None
        is_followed = is_followed or following is not None
        when = _joined(when, following or _read_turn(turn, language, calendar))
    return when if is_followed else None


def _following(turn: str, language: str, calendar: Calendar, before: When) -> When | None:
    """Read a turn that follows one with a time."""
    text, tokens = _looked_at(turn)
    if before.days is None or len(tokens) > _MOST_FOLLOWING:
        return None
    year = common_year(before.days)
    said = year if year and str(year) in before.words else None
    for reading in _readings(text, tokens, language, calendar, most=_GUESSES_OF_FEW_WORDS):
        if named := reading.follows(before.days, said):
            return _with(turn, named, None)
    return None


def _looked_at(question: str) -> tuple[str, list[Token]]:
    """Give that part of a question that is read for times, and its tokens."""
    text = question[:LONGEST]
    tokens = tokens_of(text)
    return (text[: tokens[_MOST_TOKENS].start], tokens[:_MOST_TOKENS]) if len(tokens) > _MOST_TOKENS else (text, tokens)


def _joined(before: When, turn: When) -> When:
    """Put two turns together: the time of the later one is meant, where it names one."""
    rest = f"{before.rest}\n{turn.rest}"
    meant = turn if turn.days else before
    return When(meant.days, meant.words, before.order or turn.order, rest)


def _with(question: str, named: Named, order: Order | None) -> When:
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
    for reading in _readings(text, tokens, language, calendar):
        order = order or reading.order
        if named := reading.named:
            return named, order
    return None, order


def _readings(
    text: str, tokens: Sequence[Token], language: str, calendar: Calendar, *, most: int = _GUESSES
) -> Iterator[Reading]:
    """Give the readings of a text in those languages that have some word of theirs for a time in it."""
    own = tuple(dict.fromkeys((language, "en")))
    words = {token.text for token in tokens}
    has_numbers = any(map(str.isdecimal, words))
    for name in (*own, *_guessed(words, own, most)):
        if has_numbers or not lexicon_of(name).telling.isdisjoint(words):
            yield Reading(text, tokens, lexicon_of(name), calendar, () if name in own else tuple(map(lexicon_of, own)))


def _guessed(words: AbstractSet[str], own: Sequence[str], most: int) -> list[str]:
    by_word, hits = languages_by_word(), dict[str, int]()
    for word in words:
        for language in by_word.get(word, ()):
            hits[language] = hits.get(language, 0) + 1
    likely = [language for language in hits if language not in own]
    return sorted(likely, key=lambda language: (-hits[language], language))[:most]


def _without(question: str, start: int, end: int) -> str:
    """Take words out of a question, with one of the spaces around them."""
    before, after = question[:start], question[end:]
    if before.endswith(" ") and (not after or after[0].isspace() or not after[0].isalnum()):
        before = before[:-1]
    return f"{before}{after}" if before else after.lstrip()


__all__ = [
    "ORDERS",
    "Order",
    "Weekday",
    "When",
    "asks_what_happened",
    "follows_in_time",
    "load_words",
    "may_name_time",
    "read_when",
]
