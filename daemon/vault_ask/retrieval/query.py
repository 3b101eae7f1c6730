"""A question as retrieval reads it: its filters, the time it names, its language, and the words that are left.

Knows the vault's days and frequencies; knows nothing of passages and scores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime

from vault_ask.index.view import VaultView
from vault_ask.index.within import Filter, Within
from vault_ask.notes.calendar import Weekday
from vault_ask.notes.language import LanguageDetector
from vault_ask.retrieval.filters import Filtered, read_filters
from vault_ask.retrieval.hits import S, Understanding
from vault_ask.retrieval.when import When, read_when
from vault_ask.retrieval.words import Words, is_idle, is_wordless, read_words
from vault_ask.settings import TimeSettings


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for. `text` is the question without its filters.

    Passages have to be `within`; those that are `dated` too are preferred, which is None where no time is named or no
    note in sight is of it.
    """

    text: str
    language: str
    words: Words
    within: Within
    dated: Within | None
    when: When
    understood: Understanding | None
    notice: str | None = None

    @property
    def lists(self) -> bool:
        """Whether it asks for whatever fits: it says nothing beyond its filters and its time."""
        if self.dated is not None:
            return is_wordless(self.when.rest) or is_idle(self.when.rest, self.language)
        return bool(self.within) and is_wordless(self.text)


class QueryReader:
    """Reads questions in the owner's time zone, at the moment that `clock` tells."""

    def __init__(self, languages: LanguageDetector, time: TimeSettings, clock: Callable[[], datetime]) -> None:
        self._languages = languages
        self._time = time
        self._week_start = Weekday[time.week_start.upper()]
        self._clock = clock

    def read(self, view: VaultView[S], question: str, filters: tuple[Filter, ...] | None = None) -> Query:
        """Read a question against what a view holds; `filters` where they are out of it already."""
        filtered = read_filters(question) if filters is None else Filtered(question, filters)
        language = self._language(view, filtered.rest)
        now = self._clock().astimezone(self._time.tzinfo)
        when = read_when(filtered.rest, language=language, now=now, week_start=self._week_start)
        within = Within(filtered.filters)
        dated = Within(filtered.filters, days=when.days) if when.days else None
        if dated is not None and not view.has_any(dated):
            dated = None
        # Words that name a day say nothing more once it is known which passages are of it.
        words = read_words(when.rest if dated else filtered.rest, view, language)
        return Query(
            text=filtered.rest,
            language=language,
            words=words,
            within=within,
            dated=dated,
            when=when,
            understood=_understood(view, within, filtered.rest, [each.written for each in filtered.filters], when),
            notice=_nothing_dated(when) if when.days and dated is None else None,
        )

    def _language(self, view: VaultView[S], question: str) -> str:
        found = self._languages.detect(question)
        if found != "und":
            return found
        spoken = view.tallies().by_language
        most: str = max(spoken, key=lambda language: spoken[language], default="und")
        return most


def _understood(view: VaultView[S], within: Within, text: str, filters: list[str], when: When) -> Understanding | None:
    if not filters and when.days is None and when.order is None:
        return None
    return Understanding(
        text=text,
        filters=tuple(filters),
        days=when.days,
        days_words=when.words if when.days else "",
        order=when.order,
        fits=not within or view.has_any(within),
    )


def _nothing_dated(when: When) -> str:
    first, last = (date.fromordinal(day).isoformat() for day in when.days or (1, 1))
    span = first if first == last else f"{first} to {last}"
    return f"No note in sight is dated {span}, so notes of any time were looked at."
