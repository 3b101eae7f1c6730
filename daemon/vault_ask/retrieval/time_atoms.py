"""The phrases, numbers and signs of a question in a row, each with what it may be for time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MOST_LITTLE = 3


@dataclass(frozen=True, slots=True)
class Atom:
    """A phrase, number or sign of a question: what it may be for time, and which characters it is."""

    roles: Mapping[str, Any]
    start: int
    end: int
    is_weak: bool = False
    is_strict: bool = False
    is_capital: bool = False
    is_owner: bool = False
    """Whether it has a genitive's ending, as a person who has something."""


class Atoms:
    """The atoms of one question, asked by their places; what lies outside is nothing."""

    def __init__(self, atoms: Sequence[Atom]) -> None:
        self._atoms = atoms

    def _skip(self, at: int, *roles: str) -> int:
        """Give the place behind words that have one of some roles, and mean no time themselves."""
        start = at
        while at - start < _MOST_LITTLE and self._is_any(at, roles) and self._unit(at) is None:
            at += 1
        return at

    def _is(self, at: int, role: str) -> bool:
        return 0 <= at < len(self._atoms) and role in self._atoms[at].roles

    def _is_any(self, at: int, roles: Sequence[str]) -> bool:
        return 0 <= at < len(self._atoms) and not self._atoms[at].roles.keys().isdisjoint(roles)

    def _is_kind(self, at: int, kind: str) -> bool:
        part = self._atoms[at].roles.get("part") if 0 <= at < len(self._atoms) else None
        return part is not None and part.kind == kind

    def _unit(self, at: int) -> str | None:
        return self._atoms[at].roles.get("unit") if 0 <= at < len(self._atoms) else None
