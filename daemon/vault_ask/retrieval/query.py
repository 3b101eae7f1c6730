"""A question as retrieval reads it: its filters, the time it names, its language, and the words that are left.

Knows the vault's days and frequencies; knows nothing of passages and scores.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime

from vault_ask.index.view import VaultView
from vault_ask.index.within import Filter, Tasks, Within, having
from vault_ask.notes.calendar import Weekday
from vault_ask.notes.fold import storable
from vault_ask.notes.language import LanguageDetector
from vault_ask.notes.written_dates import orders_in
from vault_ask.retrieval.filter_telling import slips, unmet
from vault_ask.retrieval.filters import Filtered, read_filters
from vault_ask.retrieval.helpers import helpers_of, without_asking
from vault_ask.retrieval.hits import Understanding
from vault_ask.retrieval.todo import asked_state, asks_for_tasks_alone
from vault_ask.retrieval.when import When, asks_what_happened, read_when
from vault_ask.retrieval.words import Words, is_wordless, read_words
from vault_ask.scope import S
from vault_ask.settings.vault import TimeSettings


@dataclass(frozen=True, slots=True)
class Query:
    """What is searched for. `text` is the question without its filters.

    Passages have to be `within`. Of these some may be `preferred`: those of the time that it names, or with tasks in
    the state that it asks for; None where it does neither, or no passage in sight is such. `days` and `tasks` are what
    they are preferred for.
    """

    text: str
    language: str
    words: Words
    within: Within
    preferred: Within | None
    when: When
    days: tuple[int, int] | None
    until: int
    """The day up to which the latest is looked for: today, or the last of the days that are named."""
    tasks: Tasks | None
    is_whole: bool
    """Whether all of it was typed, and is no selection from a note."""
    understood: Understanding | None
    notices: tuple[str, ...] = ()

    @property
    def lists(self) -> bool:
        """Whether it asks for whatever fits: it says nothing beyond its filters, its time and its order."""
        if not self.is_whole:
            return False
        if self.tasks is not None:
            return asks_for_tasks_alone(without_asking(self.when.rest, self.language), helpers_of(self.language))
        narrows = self.preferred is not None or bool(self.within) or self.when.order in ("latest", "earliest")
        return narrows and (is_wordless(self.when.rest) or asks_what_happened(self.when.rest, self.language))


class QueryReader:
    """Reads questions in the owner's time zone, at the moment that `clock` tells."""

    def __init__(self, languages: LanguageDetector, time: TimeSettings, clock: Callable[[], datetime]) -> None:
        self._languages = languages
        self._time = time
        self._week_start = Weekday[time.week_start.upper()]
        self._clock = clock

    def read(
        self,
        view: VaultView[S],
        question: str,
        filters: tuple[Filter, ...] | None = None,
        *,
        typed: str | None = None,
    ) -> Query:
        """Read a question against what a view holds; `filters` where they are out of it already.

        `typed` is that part of the question that somebody typed, where the rest are words of a note: they name no time.
        """
        # What no file and no index can hold is in no question either.
        question = storable(question)
        filtered = read_filters(question) if filters is None else Filtered(question, filters)
        language = self._language(view, filtered.rest)
        now = self._clock().astimezone(self._time.tzinfo)
        said = filtered.rest if typed is None else storable(typed)
        # Few dates may mean two days; only for those it matters how the vault writes them.
        order = view.state.day_order if None in orders_in(said) else None
        when = read_when(said, language=language, now=now, week_start=self._week_start, order=order)
        within = Within(filtered.filters)
        # `Can you tell me what is still open?` is no question whether somebody can.
        state = asked_state(without_asking(when.rest, language))
        days, tasks = _there(view, filtered.filters, when.days, None if state is None else Tasks((state,)))
        # Words that name a day say nothing more once it is known which passages are of it.
        rest = filtered.rest.replace(said, when.rest, 1) if days else filtered.rest
        words = read_words(rest, view, language)
        return Query(
            text=filtered.rest,
            language=language,
            words=words,
            within=within,
            preferred=_narrowed(filtered.filters, days, tasks) if days or tasks else None,
            when=when,
            days=days,
            until=max(now.date().toordinal(), days[1] if days else 0),
            tasks=tasks,
            is_whole=typed is None,
            understood=_understood(view, within, said, [each.written for each in filtered.filters], when),
            notices=tuple(slips(said) + unmet(view, filtered.filters) + _nothing_dated(view, within, when, days)),
        )

    def _language(self, view: VaultView[S], question: str) -> str:
        found = self._languages.detect(question)
        if found != "und":
            return found
        spoken = view.words.tallies().by_language
        most: str = max(spoken, key=lambda language: spoken[language], default="und")
        return most


def _there(
    view: VaultView[S], filters: tuple[Filter, ...], days: tuple[int, int] | None, tasks: Tasks | None
) -> tuple[tuple[int, int] | None, Tasks | None]:
    """Keep of what passages may be preferred for as much as some passage in sight has together."""
    for one, other in ((days, tasks), (days, None), (None, tasks)):
        if (one or other) and view.filters.has_any(_narrowed(filters, one, other)):
            return one, other
    return None, None


def _narrowed(filters: tuple[Filter, ...], days: tuple[int, int] | None, tasks: Tasks | None) -> Within:
    return Within((*filters, having(tasks)) if tasks else filters, days=days)


def _understood(view: VaultView[S], within: Within, text: str, filters: list[str], when: When) -> Understanding | None:
    if not filters and when.days is None and when.order is None:
        return None
    return Understanding(
        text=text,
        filters=tuple(filters),
        days=when.days,
        days_words=when.words if when.days else "",
        order=when.order,
        fits=not within or view.filters.has_any(within),
    )


def _nothing_dated(view: VaultView[S], within: Within, when: When, days: tuple[int, int] | None) -> list[str]:
    """Say that no note is of the days that a question names, where any fits its filters."""
    if when.days is None or days is not None or (within and not view.filters.has_any(within)):
        return []
    first, last = (date.fromordinal(day).isoformat() for day in when.days)
    span = first if first == last else f"{first} to {last}"
    return [f"No note in sight is dated {span}, so notes of any time were looked at."]
