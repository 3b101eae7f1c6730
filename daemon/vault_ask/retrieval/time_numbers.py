"""What a question writes in figures: dates, weeks, months as 12/2025, parts of dates as `8.3.`, ordinals, 3月."""

from collections.abc import Iterator
from typing import Any

import regex

from vault_ask.notes.calendar import Days, month_of
from vault_ask.notes.written_dates import month_called, numeric_dates
from vault_ask.retrieval.time_atoms import Atom
from vault_ask.retrieval.time_calendar import Calendar, Part
from vault_ask.retrieval.time_words import Lexicon

_QUARTER = regex.compile(r"(?<!\w)(?<!\d )Q([1-4])(?!\w)")
_WEEK = regex.compile(r"(?<!\w)W(\d{1,2})(?!\w)|第\s?(\d{1,2})\s?[周週]")
_ORDINAL = regex.compile(r"(?<!\w)(\d{1,2})(?:st|nd|rd|th|er|e|º|ª|:e|-?го|\.)(?!\w)", regex.IGNORECASE)
_EAST_ASIAN = regex.compile(r"(?<!\d)(\d{1,2})\s?[月월](?:\s?(\d{1,2})\s?[日号號일])?(?:份)?")
_DOTTED = regex.compile(r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.(?!\s?\d)")

_YEAR, _MONTH = r"(?P<year>(?:19|20)\d\d)", r"(?P<month>0[1-9]|1[0-2])"
_WORD = r"[^\W\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]"
_MONTHS = regex.compile(
    rf"(?<![-./,:€$£¥#]|{_WORD})(?:{_YEAR}(?P<sign>[./]){_MONTH}|{_MONTH}(?P<sign>[./]){_YEAR})"
    rf"(?![-./,:]?{_WORD}|\s?[%€$£¥])"
)
_CALLED_A_DATE = regex.compile(
    r"(?:^|[^\p{L}\p{M}])(?:dated?|dates|datum|datiert|daterad|dateret|fecha|data|дат[аыуо]й?|date|dat[ęęaąouy]"
    r"|tarih(?:i|li)?|päivä(?:ys|määrä)|تاريخ|month|monat|månad(?:en)?|måned(?:en)?|maand|mois|mes|mês|mese|месяц|місяць"
    r"|miesiąc|měsíc|kuukausi)[\s:=\"“'’]*$|(?:日期|日付|날짜|在)\s?$",
    regex.IGNORECASE,
)
_OF_IT = regex.compile(r"\s?[のにはから的份]")
_MONTH_ALONE = regex.compile(rf"\W*(?P<all>(?P<name>\p{{L}}[\p{{L}}\p{{M}}]{{2,20}})[.,]?[\s_-]{{1,3}}{_YEAR})\W*")
_LABEL = 24
"""Characters in front of a month that are looked at for what it is called."""


def numbers_in(text: str, lexicon: Lexicon, calendar: Calendar) -> dict[int, Atom]:
    """Give what is written in figures, by the character where it begins.

    `03/08/2026` is read in the order of the language, else in the calendar's owner's.
    """
    if not any(map(str.isdecimal, text)):
        return {}
    dates = numeric_dates(text, order=lexicon.order or calendar.order)
    found = {start: Atom({"days": days}, start, end) for start, end, days in dates}
    taken = [(atom.start, atom.end) for atom in found.values()]
    for match, roles, is_weak in (*_months(text), *_parts(text, lexicon, calendar)):
        if all(match.end() <= start or end <= match.start() for start, end in taken):
            found.setdefault(match.start(), Atom(roles, match.start(), match.end(), is_weak=is_weak))
    return found


def month_alone(text: str) -> tuple[int, int, Days] | None:
    """Read a month and its year as (start, end, days) where a text says nothing else: `Dez 2025` in any language."""
    found = _MONTH_ALONE.fullmatch(text)
    month = month_called(found["name"]) if found else None
    days = month_of(int(found["year"]), month) if found and month else None
    return (*found.span("all"), days) if found and days else None


_Found = tuple[Any, dict[str, Any], bool]
"""A match, its roles, and whether something beside it has to make it a time."""


def _months(text: str) -> Iterator[_Found]:
    """Find months of a year with a dot or a slash, which is as well a version, a law or a share.

    So one is a time only where something makes it one: a word for a date, a preposition, or that there is nothing else.
    """
    for match in _MONTHS.finditer(text):
        days: Days | None = month_of(int(match["year"]), int(match["month"]))
        if days:
            called = _CALLED_A_DATE.search(text, max(0, match.start() - _LABEL), match.start())
            begins = match["sign"] == "/" and not text[: match.start()].strip()
            yield match, {"days": days}, not (called or begins or _OF_IT.match(text, match.end()))


def _parts(text: str, lexicon: Lexicon, calendar: Calendar) -> Iterator[_Found]:
    """Find what is a part of a date only, where there is such a part."""
    for match in _QUARTER.finditer(text):
        yield match, {"part": Part("quarter", int(match[1]))}, False
    for match in _EAST_ASIAN.finditer(text):
        part = Part("date", int(match[1]), int(match[2])) if match[2] else Part("month", int(match[1]))
        if calendar.meant(part):
            yield match, {"part": part}, False
    for match in _WEEK.finditer(text):
        if calendar.meant(part := Part("week", int(match[1] or match[2]))):
            yield match, {"part": part}, True
    is_dotted = lexicon.is_dotted or _DOTTED.fullmatch(text.strip())
    for match in _DOTTED.finditer(text) if is_dotted else ():
        part = Part("date", int(match[2]), int(match[1]))
        if calendar.meant(part):
            yield match, {"part": part}, True
    for match in _ORDINAL.finditer(text):
        yield match, {"day": int(match[1]), "ordinal": True}, False
