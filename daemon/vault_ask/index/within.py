"""What narrows a search before the best are counted: filters and days, as one condition over a reader's views.

Each condition names views only, so that a hidden note neither fits nor keeps another from fitting.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from vault_ask.index.database import Views
from vault_ask.notes.properties import as_number, as_parts, as_words, is_spaceless, without_links
from vault_ask.notes.tasks import Task, TaskState


class Condition(NamedTuple):
    """SQL that holds for a row `c` of the chunks' view, and what is bound in it."""

    sql: str
    bound: Sequence[object] = ()


Comparison = Literal["=", "<", "<=", ">", ">="]

_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?", re.ASCII)
_ANY_DATE = " [0-9][0-9][0-9][0-9]-[0-9][0-9]*"


@dataclass(frozen=True, slots=True)
class Tag:
    """The note has a tag (folded, without `#`) or one nested below it."""

    name: str

    def condition(self, views: Views) -> Condition:
        """Give the condition."""
        # "0" is the sign after "/": the tags in between are those below.
        return Condition(
            f"c.note IN (SELECT note FROM {views.tags} WHERE key = ? OR (key > ? AND key < ?))",
            (self.name, f"{self.name}/", f"{self.name}0"),
        )


@dataclass(frozen=True, slots=True)
class Path:
    """The note's path, or what is left of it below one of its folders, begins so (folded)."""

    beginning: str

    def condition(self, views: Views) -> Condition:
        """Give the condition."""
        within = f"SELECT id FROM {views.notes} WHERE instr('/' || place, ?) > 0"
        return Condition(f"c.note IN ({within})", (f"/{self.beginning}",))


@dataclass(frozen=True, slots=True)
class File:
    """The name of the note's file holds this (folded, without `.md`)."""

    part: str

    def condition(self, views: Views) -> Condition:
        """Give the condition."""
        # What is cut off at the right end of a path, all that is no slash, is its name.
        name = "substr(place, 1 + length(rtrim(place, replace(place, '/', ''))))"
        stem = f"replace({name} || '/', '.md/', '')"
        named = f"SELECT id FROM {views.notes} WHERE instr(place, ?) > 0 AND instr({stem}, ?) > 0"
        return Condition(f"c.note IN ({named})", (self.part, self.part))


@dataclass(frozen=True, slots=True)
class Property:
    """The note has a property; with a value, one whose item says it; with `""`, one that has no value."""

    key: str
    value: str | None = None
    how: Comparison = "="

    def condition(self, views: Views) -> Condition:
        """Give the condition."""
        said = self._said()
        having = f"SELECT note FROM {views.properties} WHERE key = ? AND {said.sql}"
        return Condition(f"c.note IN ({having})", (self.key, *said.bound))

    def _said(self) -> Condition:
        if self.value is None:
            return Condition("1")
        bare = without_links(self.value)
        words = as_words(bare)
        if not words:
            return Condition("words = ''")
        return _any([*_equal(words), *_joined_otherwise(bare)]) if self.how == "=" else _compared(words, self.how)


@dataclass(frozen=True, slots=True)
class Tasks:
    """The passage holds a task in one of these states that holds all these words, each perhaps a word's beginning."""

    states: tuple[TaskState, ...]
    words: str = ""

    def condition(self, views: Views) -> Condition:
        """Give the condition."""
        return Condition(f"c.id IN (SELECT t.chunk FROM {views.tasks} AS t WHERE {self._fits})", self._bound)

    def of_notes(self, views: Views) -> Condition:
        """Give the condition that some passage of the note holds one."""
        holders = f"SELECT h.note FROM {views.tasks} AS t JOIN {views.chunks} AS h ON h.id = t.chunk"
        return Condition(f"c.note IN ({holders} WHERE {self._fits})", self._bound)

    def holds(self, task: Task) -> bool:
        """Say whether a task is one of these; what the condition says in SQL."""
        words = f" {task.words} "
        return task.state in self.states and all(str(begins) in words for begins in self._bound)

    @property
    def _fits(self) -> str:
        states = ", ".join(f"'{state}'" for state in self.states)
        return " AND ".join((f"t.state IN ({states})", *("instr(t.words, ?) > 0" for _ in self.words.split())))

    @property
    def _bound(self) -> Sequence[object]:
        return tuple(word if is_spaceless(word) else f" {word}" for word in self.words.split())


@dataclass(frozen=True, slots=True)
class Wanted:
    """One thing that is to hold, or that is not to."""

    has: Tag | Path | File | Property | Tasks
    negated: bool = False

    def condition(self, views: Views) -> Condition:
        """Give the condition. A note without a task is one none of whose passages holds it."""
        if not self.negated:
            return self.has.condition(views)
        held = self.has.of_notes(views) if isinstance(self.has, Tasks) else self.has.condition(views)
        return Condition(f"NOT {held.sql}", held.bound)


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter as it was written, and the things of which one has to hold."""

    written: str
    any_of: tuple[Wanted, ...]

    def condition(self, views: Views) -> Condition:
        """Give the condition."""
        return _any([wanted.condition(views) for wanted in self.any_of])


@dataclass(frozen=True, slots=True)
class Within:
    """What chunks have to fit to take part: every filter, and some day among `days`.

    `days` are the first and the last one, as ordinals of `datetime.date`; a chunk whose day nobody knows is in none.
    """

    filters: tuple[Filter, ...] = ()
    days: tuple[int, int] | None = None

    def __bool__(self) -> bool:
        """Say whether it narrows anything."""
        return bool(self.filters) or self.days is not None

    def condition(self, views: Views) -> Condition:
        """Give the condition: one that always holds where nothing is to be narrowed."""
        parts = [each.condition(views) for each in self.filters]
        if self.days is not None:
            first, last = self.days
            parts.append(Condition("c.day_first <= ? AND c.day_last >= ?", (last, first)))
        return _joined(" AND ", parts) if parts else Condition("1")


def having(tasks: Tasks) -> Filter:
    """Make a filter that nobody wrote, of passages with such tasks."""
    return Filter("", (Wanted(tasks),))


def is_comparable(value: str) -> bool:
    """Say whether more and less are defined for a value: a number, a date, or a month or a year as `2026-03`."""
    return as_number(value) is not None or bool(_DATE.fullmatch(value))


def _equal(words: str) -> list[Condition]:
    """Find a run of whole words; a number however it is written, and a date in its month or year."""
    run = words if is_spaceless(words) else f" {words} "
    tests = [Condition("instr(words, ?) > 0", (run,))]
    if (number := as_number(words)) is not None:
        tests.append(Condition("number = ?", (number,)))
    if _DATE.fullmatch(words):
        tests += [Condition("instr(words, ?) = 1", (f" {words}{sign}",)) for sign in "-t"]
    return tests


def _joined_otherwise(value: str) -> list[Condition]:
    """Find `on hold` where it is written `on-hold`, `on_hold` or `onHold`, and the other way round.

    With a figure in it only as the whole item: `phase 2` is `phase-2`, and no part of `phase-2-3`.
    """
    parts = as_parts(value)
    if len(parts) < 2:  # noqa: PLR2004 - one word is joined to nothing
        return []
    spaced = "replace(replace(words, '-', ' '), '_', ' ')"
    run = f" {' '.join(parts)} "
    if any(map(str.isnumeric, "".join(parts))):
        return [Condition(f"{spaced} = ?", (run,))]
    return [
        Condition(f"instr({spaced}, ?) > 0", (run,)),
        Condition(f"replace({spaced}, ' ', '') = ?", ("".join(parts),)),
    ]


def _compared(words: str, how: Comparison) -> Condition:
    """Compare numbers with a number, and dates, as far as they are given, with a date."""
    tests: list[Condition] = []
    if (number := as_number(words)) is not None:
        tests.append(Condition(f"number {how} ?", (number,)))
    if _DATE.fullmatch(words):
        as_far = f"words GLOB '{_ANY_DATE}' AND substr(words, 2, {len(words)})"
        tests.append(Condition(f"({as_far} {how} ?)", (words,)))
    return _any(tests or [Condition("0")])


def _any(conditions: Sequence[Condition]) -> Condition:
    either = _joined(" OR ", conditions)
    return Condition(f"({either.sql})", either.bound)


def _joined(word: str, conditions: Sequence[Condition]) -> Condition:
    return Condition(
        word.join(each.sql for each in conditions), tuple(value for each in conditions for value in each.bound)
    )


__all__ = [
    "Comparison",
    "Condition",
    "File",
    "Filter",
    "Path",
    "Property",
    "Tag",
    "Tasks",
    "Wanted",
    "Within",
    "having",
    "is_comparable",
]
