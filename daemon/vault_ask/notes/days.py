"""Which days a note and its chunks are of: from its name, its properties, its folders and its headings.

A file's time says nothing here: a sync gives all files the time of the sync. Where nothing tells, there are no days.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from functools import cached_property
from itertools import takewhile
from pathlib import PurePosixPath
from typing import Any

from vault_ask.notes.calendar import Days, common_year, day_of, year_of
from vault_ask.notes.copies import original_of
from vault_ask.notes.fold import fold_loosely
from vault_ask.notes.model import FrontmatterState, Note
from vault_ask.notes.properties import squeezed
from vault_ask.notes.text_lines import text_lines
from vault_ask.notes.written_dates import DayOrder, orders_in, read_date, read_part

DATE_PROPERTIES = (
    *(
        "date",
        "day",
        "created",
        "date created",
        "created at",
        "created on",
        "creation date",
        "creation time",
        "created time",
        "ctime",
    ),
    "journal date",
    *("datum", "erstellt", "erstellt am", "erstelldatum", "angelegt", "skapad", "skapat", "dato", "oprettet"),
    *("opprettet", "päivä", "päivämäärä", "luotu", "fecha", "creado", "fecha de creación", "créé", "créé le"),
    *("date de création", "data", "creato", "data di creazione", "criado", "criado em", "data de criação"),
    *("gemaakt", "aangemaakt", "tarih", "oluşturuldu", "oluşturma tarihi", "дата", "создано", "создан"),
    *("дата создания", "створено", "utworzono", "data utworzenia", "vytvořeno", "létrehozva", "dátum"),
    *("ημερομηνία", "日期", "创建", "创建时间", "创建日期", "建立日期", "日付", "作成日", "作成日時", "날짜", "생성일"),
    *("تاريخ", "التاريخ", "تاريخ الإنشاء", "תאריך", "dg-created"),
)
"""The properties that hold a note's date, those that come first before the others."""

_POINT = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,]\d+)? ?(Z|[+-]\d{2}:?\d{2})?")
_EPOCH_DIGITS = {10: 1.0, 13: 1000.0}
"""Digits of a Unix time in seconds and in milliseconds, as plugins write it."""
_WIKILINK = re.compile(r"\[\[([^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|([^\[\]]*))?\]\]")
_INLINE = re.compile(r"(?:^|[\[(])[\s>*+-]*\**([^\W\d_][\w \-]{0,40}?)\**::\**[ \t]*([^\])\n]+)")
_INLINE_LINES = 200
_DATELIKE_WORDS = 6


@dataclass(frozen=True)
class Dating:
    """How dates are read in a vault: in which zone a point in time is a day (None: the machine's), by which keys.

    `order` is how 03/08/2026 is read where the vault makes it clear.
    """

    zone: tzinfo | None = None
    properties: tuple[str, ...] = DATE_PROPERTIES
    order: DayOrder | None = None

    @cached_property
    def keys(self) -> Mapping[str, int]:
        """The properties as they are compared, with their place in the order of authority."""
        return {squeezed(name): place for place, name in reversed(tuple(enumerate(self.properties)))}


def note_days(note: Note, dating: Dating) -> Days | None:
    """Give the days a note is of, by its name before its properties before its folders."""
    path = PurePosixPath(note.path)
    by_path, is_by_name = _days_of_path(path, dating)
    if by_path and is_by_name:
        return by_path
    return _days_of_properties(note, dating) or by_path


def heading_days(heading_path: Sequence[str], days: Days | None, dating: Dating) -> Days | None:
    """Give the days of a chunk below some headings in a note of some days: those of the innermost that is a date."""
    for heading in heading_path:
        days = _days_of_heading(heading, days, dating) or days
    return days


def orders_told(path: str, properties: Mapping[str, object], dating: Dating) -> set[DayOrder | None]:
    """Tell which order of day and month a note's name and properties make clear; None for a date that may mean both."""
    values = (value for name, value in properties.items() if squeezed(name) in dating.keys)
    texts = [
        text for value in values for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)
    ]
    return set().union(*map(orders_in, (_without_marks(PurePosixPath(path)).name, *texts)))


def clear_order(told: Iterable[set[DayOrder | None]]) -> DayOrder | None:
    """Give the order that some notes make clear and none contradicts."""
    orders = set[DayOrder | None]().union(*told) - {None}
    return orders.pop() if len(orders) == 1 else None


def _days_of_path(path: PurePosixPath, dating: Dating) -> tuple[Days | None, bool]:
    """Read a path from left to right, each part within what those before it told; say whether the name told a day."""
    path, days = _without_marks(path), None
    for folder in path.parts[:-1]:
        part = read_part(folder, days, in_path=True) if days else None
        days = part or read_date(folder, order=dating.order) or days
    by_name = read_date(path.stem, order=dating.order)
    if by_name is None and days:
        by_name = read_part(path.stem, days, in_path=True)
    return by_name or days, by_name is not None


def _without_marks(path: PurePosixPath) -> PurePosixPath:
    """Take the marks of a conflict out of a path: their date is of the conflict."""
    original, times = original_of(str(path))
    if not times:
        return path
    parts = zip(str(path).strip("/").split("/"), original.split("/"), strict=True)
    return PurePosixPath(*(_as_spelled(part, PurePosixPath(folded)) for part, folded in parts))


def _as_spelled(part: str, folded: PurePosixPath) -> str:
    """Give a part of a path without its mark as it is written, for `Kasım` is no `kasim`; else folded."""
    stem = part[: len(folded.stem)]
    return f"{stem}{folded.suffix}" if fold_loosely(stem) == folded.stem else folded.name


def _days_of_heading(heading: str, days: Days | None, dating: Dating) -> Days | None:
    if whole := read_date(heading, order=dating.order):
        return whole if _is_about_its_date(heading) else None
    if days is None:
        return None
    year = common_year((days[0], days[0]))
    rest_of_year = year_of(year) if year else None
    return read_part(heading, days) or (read_part(heading, (days[0], rest_of_year[1])) if rest_of_year else None)


def _is_about_its_date(heading: str) -> bool:
    """Say whether a heading is a date, with a few words to it; a sentence only speaks of one."""
    return len(heading.split()) <= _DATELIKE_WORDS


def _days_of_properties(note: Note, dating: Dating) -> Days | None:
    # A block that is never closed is text.
    said = note.frontmatter if note.frontmatter_state is not FrontmatterState.UNCLOSED else {}
    named = [(dating.keys[key], value) for name, value in said.items() if (key := squeezed(name)) in dating.keys]
    for _, value in sorted((*named, *_inline(note, dating)), key=lambda item: item[0]):
        if days := _days_of_value(value, dating):
            return days
    return None


def _inline(note: Note, dating: Dating) -> Iterator[tuple[int, str]]:
    """Give Dataview's inline fields (`date:: 2026-03-08`) near the top of a note."""
    near = takewhile(lambda found: found[0] < note.body_line + _INLINE_LINES, text_lines(note))
    for _, text in near:
        if "::" in text:
            for name, value in _INLINE.findall(text):
                if (place := dating.keys.get(squeezed(name))) is not None:
                    yield place, value


def _days_of_value(value: Any, dating: Dating) -> Days | None:  # noqa: ANN401 - any JSON value
    match value:
        case bool() | float() | None:
            return None
        case int():
            return _days_of_number(value, dating)
        case str():
            return _days_of_text(value, dating)
        case list():
            return _hull([days for item in value if (days := _days_of_value(item, dating))])
        case _:
            return None


def _hull(found: Sequence[Days]) -> Days | None:
    return (min(first for first, _ in found), max(last for _, last in found)) if found else None


def _days_of_number(number: int, dating: Dating) -> Days | None:
    per_second = _EPOCH_DIGITS.get(len(str(number)))
    if per_second is None:
        return read_date(str(number))
    try:
        moment = datetime.fromtimestamp(number / per_second, dating.zone)
    except (OverflowError, ValueError, OSError):
        return None
    return day_of(moment.year, moment.month, moment.day)


def _days_of_text(text: str, dating: Dating) -> Days | None:
    if text.isdecimal():
        return _days_of_number(int(text), dating)
    if link := _WIKILINK.search(text):
        # [[Daily/2026-03-08|yesterday]]: the note it leads to is the day.
        target = PurePosixPath(link[1].strip().removesuffix(".md") + ".md")
        return _days_of_path(target, dating)[0] or read_date(link[2] or "", order=dating.order)
    if point := _POINT.match(text.strip()):
        return _day_of_point(point[1], point[2], point[3], dating)
    return read_date(text, order=dating.order)


def _day_of_point(day: str, time: str, offset: str | None, dating: Dating) -> Days | None:
    """Give the day of a point in time in the owner's zone; without an offset it was written by a clock there."""
    try:
        moment = datetime.fromisoformat(f"{day}T{time}{(offset or '').replace('Z', '+00:00')}")
        local = moment.astimezone(dating.zone) if offset else moment
    except (OverflowError, ValueError, OSError):
        return None
    return day_of(local.year, local.month, local.day)


__all__ = ["DATE_PROPERTIES", "Dating", "Days", "clear_order", "heading_days", "note_days", "orders_told"]
