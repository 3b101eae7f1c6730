"""What a record says, how it is written as one line, and which ones somebody wants; knows no file.

A line is one JSON object in ASCII, so that every reader agrees where it ends and nothing in it steers a terminal.
"""

import hmac
import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from vault_ask.scope import OpenScope, Scope

_HALF_LETTER = re.compile("[\ud800-\udfff]")

Door = Literal["rest", "cli", "openai", "mcp"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebUse:
    """The web was asked, so the question went to this provider; `results` is None where it gave no answer."""

    provider: str
    results: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What became of one question or search, or of one look at a note or at the notes near it.

    `scope` is the one it ended with, after any narrowing. `question` is what was typed: of a note its path. `notes` are
    the vault paths whose text was read into the answer or shown, and of those named beside it. `outcome` is done,
    silent, stopped or error:<code>. `reranker` is who was given passages to put in order, more of them than were read.
    """

    door: Door
    action: Literal["ask", "search", "note", "near"]
    scope: Scope
    question: str
    notes: tuple[str, ...]
    model: str | None
    web: WebUse | None
    outcome: str
    seconds: float
    reranker: str | None = None


class Entry(BaseModel):
    """A record as it was kept; what a later version may add to it is passed over.

    `question` is its keyed hash or its text, and not set where it was not kept.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    # Years that every time zone can show.
    at: Annotated[AwareDatetime, Field(ge=datetime(1970, 1, 2, tzinfo=UTC), le=datetime(9998, 1, 1, tzinfo=UTC))]
    door: str
    action: str
    scope: Literal["open", "personal"]
    web_allowed: bool
    web: WebUse | None
    notes: tuple[str, ...]
    model: str | None
    question: str | None = None
    outcome: str
    seconds: float
    reranker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which entries to give: from a moment on, of one door, only where the web was asked, of one question."""

    since: datetime | None = None
    door: Door | None = None
    web: bool = False
    question: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Entries, the newest last; how many earlier ones fit too, how many do not, and how many lines are no entries."""

    entries: tuple[Entry, ...]
    earlier: int
    others: int
    unreadable: int


def line_of(record: Record, *, at: datetime, question: str | None) -> bytes:
    """Write a record of a moment as a line; `question` is what is kept of the question."""
    kept = {} if question is None else {"question": _whole(question)}
    given = {} if record.reranker is None else {"reranker": _whole(record.reranker)}
    line = {
        "at": at.isoformat(timespec="milliseconds"),
        "door": record.door,
        "action": record.action,
        "scope": record.scope.ceiling.word,
        "web_allowed": isinstance(record.scope, OpenScope) and record.scope.web_allowed,
        "web": asdict(record.web) if record.web else None,
        "notes": [_whole(path) for path in record.notes],
        "model": record.model and _whole(record.model),
        **given,
        **kept,
        "outcome": record.outcome,
        "seconds": round(record.seconds, 3),
    }
    return json.dumps(line).encode("ascii") + b"\n"


def entry_of(line: bytes) -> Entry | None:
    """Read a line again; None where it holds no record."""
    try:
        return Entry.model_validate_json(line)
    except ValidationError:
        return None


def hashed(question: str, key: bytes) -> str:
    """Hash a question under a key, the same however it was typed."""
    return "hmac:" + hmac.new(key, _same(question).encode(), "sha256").hexdigest()


def matcher(wanted: Wanted, key: bytes | None) -> Callable[[Entry], bool]:
    """Make the test of an entry; a question fits its hash under the key, its text, and its hash as written."""
    same = None if wanted.question is None else _same(wanted.question)
    fingerprint = None if wanted.question is None or key is None else hashed(wanted.question, key)

    def fits(entry: Entry) -> bool:
        asked = same is None or (
            entry.question is not None and (entry.question == fingerprint or _same(entry.question) == same)
        )
        return (
            asked
            and (wanted.since is None or entry.at >= wanted.since)
            and (wanted.door is None or entry.door == wanted.door)
            and (entry.web is not None or not wanted.web)
        )

    return fits


def _whole(text: str) -> str:
    """Replace half letters (lone surrogates), which no strict reader of JSON takes."""
    return _HALF_LETTER.sub("\ufffd", text)


def _same(question: str) -> str:
    """Write a question as anybody would who types it again: one Unicode form, without case, single spaces."""
    return " ".join(unicodedata.normalize("NFC", _whole(question)).casefold().split())
