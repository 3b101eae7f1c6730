"""Who may see what, and in what company: the whole policy, decided before anything is read.

There are two scopes and no third. An open scope sees open notes only and may allow the web; a private scope sees
everything and has no field that could allow the web. Adapters state facts about a request; `decide` alone makes a
scope of them.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar, final

from vault_ask.errors import BadRequest


class Sensitivity(IntEnum):
    """How a note may travel; a reader with ceiling c sees the levels <= c."""

    OPEN = 0
    PERSONAL = 1

    @property
    def word(self) -> str:
        """The name used in frontmatter, settings and on the wire."""
        return self.name.lower()


@final
@dataclass(frozen=True, slots=True)
class OpenScope:
    """Sees open notes; the web may stand beside them where the request allows it."""

    web_allowed: bool

    @property
    def ceiling(self) -> Sensitivity:
        """The highest level this scope may read."""
        return Sensitivity.OPEN


@final
@dataclass(frozen=True, slots=True)
class PrivateScope:
    """Sees every note; nothing in it could allow the web."""

    @property
    def ceiling(self) -> Sensitivity:
        """The highest level this scope may read."""
        return Sensitivity.PERSONAL


Scope = OpenScope | PrivateScope
S = TypeVar("S", OpenScope, PrivateScope)
S_co = TypeVar("S_co", OpenScope, PrivateScope, covariant=True)


@dataclass(frozen=True, slots=True)
class Question:
    """The user's own words, minted in adapters only: note text never becomes one."""

    text: str


def decide(*, include_personal: bool, allow_web: bool, ceiling: Sensitivity) -> Scope:
    """Make the scope of one request; the adapter's ceiling narrows what the caller asked for, never widens it.

    Raises BadRequest when personal notes and the web are asked for together.
    """
    if include_personal and allow_web:
        raise BadRequest(
            "include_personal and allow_web were both true: personal notes never share an answer with the web. "
            "Set one of them to false."
        )
    if include_personal and ceiling >= Sensitivity.PERSONAL:
        return PrivateScope()
    return OpenScope(web_allowed=allow_web)


def may_leave(sensitivity: Sensitivity, *, to_local_model: bool, personal_to_remote_model: bool) -> bool:
    """Say whether text of this sensitivity may be sent to a model that is, or is not, on the owner's machines."""
    return sensitivity == Sensitivity.OPEN or to_local_model or personal_to_remote_model
