"""What was said at a door: canaries that nobody typed, and what has to be the same without the personal notes.

Statistics of the whole vault may move the scores of an open answer (HOUSE.md, "Decided by the owner"). Where they are
held still, all that is said has to be equal to the letter but for times. Where they move, everything that no score
decides has to be equal, and how many hits a search gives; what they moved of an answer is counted.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gate.random_vaults import CANARY, Ask, Call, Request, Search, Setup
from vault_ask.answering.evidence import Prompt, WithWeb
from vault_ask.answering.prompts import messages
from vault_ask.retrieval.filters import read_filters

_TIMES = {"seconds", "at"}
_WHEN = {"indexed_at", "last_indexed", "last_change_indexed", "last_change_seen", "next_try_seconds"}
_MOVED_IN_RECORD = {"notes", "web", "model", "reranker", "outcome"}
NEVER = {"web", "beside the web", "prompt of made/remote", "hosted reranker", "log"}
"""Where no canary belongs, whatever the request may see."""
_USERS_WORDS = ("web", "embedder")
"""Where nothing but whole turns of the user belongs, not even a word of an open note."""
_FAILURES = (
    "Something went wrong inside vault-ask",
    "something failed that should not have",
    "so it was not given personal notes",
)
"""A door that breaks says nothing, and so proves nothing; the last one before a model is to stay unused."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What came out of one door: all of it as text, and what of it has to be the same without personal notes.

    `moved` is what statistics may move.
    """

    door: str
    text: str
    permitted: Any = None
    moved: Any = None


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not be: at which door, what kind of thing, and what was said there."""

    door: str
    kind: str
    said: str


@dataclass(slots=True)
class Tally:
    """What was tried so far, by door, and what was found that must not be."""

    examples: int = 0
    requests: int = 0
    heard: Counter[str] = field(default_factory=Counter)
    forbidden: Counter[str] = field(default_factory=Counter)
    compared: Counter[str] = field(default_factory=Counter)
    moved: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, request: Request, setup: Setup, full: Sequence[Heard], bare: Sequence[Heard]) -> list[Finding]:
        """Judge what one request brought out, and count it."""
        found = list(judge(request, setup, full, bare))
        opened = is_open(request, setup)
        for heard, other in zip(full, bare, strict=True):
            self.heard[heard.door] += 1
            self.forbidden[heard.door] += opened or heard.door in NEVER
            self.compared[heard.door] += opened and heard.permitted is not None
            self.moved[heard.door] += opened and heard.moved != other.moved
        self.requests += 1
        self.findings += found
        return found

    def include(self, other: "Tally") -> None:
        """Add what was tried elsewhere."""
        self.examples += other.examples
        self.requests += other.requests
        self.findings += other.findings
        for mine, theirs in (
            (self.heard, other.heard),
            (self.forbidden, other.forbidden),
            (self.compared, other.compared),
            (self.moved, other.moved),
        ):
            mine.update(theirs)


def judge(request: Request, setup: Setup, full: Sequence[Heard], bare: Sequence[Heard]) -> Iterator[Finding]:
    """Find what a request brought out that it must not, with and without the personal notes."""
    opened = is_open(request, setup)
    for heard, other in zip(full, bare, strict=True):
        if opened or heard.door in NEVER:
            words = strays(heard.text, typed(request, heard.door, setup))
            if words:
                yield Finding(heard.door, "canary", f"{words} in {heard.text}")
        if any(failure in heard.text for failure in _FAILURES):
            yield Finding(heard.door, "failure", heard.text)
        if heard.door in _USERS_WORDS and (others := set(heard.text.splitlines()) - said_by_user(request, heard.door)):
            yield Finding(heard.door, "words that are not the user's", repr(others))
        if heard.door == "web" and heard.text and request.personal:
            yield Finding(heard.door, "web beside personal notes", heard.text)
        if opened and heard.permitted != other.permitted:
            yield Finding(heard.door, "difference", f"{heard.permitted}\n  without personal notes:\n{other.permitted}")


def is_open(request: Request, setup: Setup) -> bool:
    """Say whether a request may see open notes only."""
    match request:
        case Ask():
            return not request.personal or request.ceiling == "open" or setup.generation == "remote"
        case Search():
            return not request.personal or request.ceiling == "open"
        case Call():
            return not request.personal


def typed(request: Request, door: str, setup: Setup) -> str:
    """Give what the caller said, and of that what may reach this door: no log, and no record unless it keeps text."""
    if door == "log" or (door in {"audit", "cli audit"} and setup.questions != "text"):
        return ""
    if isinstance(request, Call):
        return f"{request.address} {json.dumps(request.body)}"
    own = " ".join(said_by_user(request, door))
    # The path of the current note is for retrieval alone.
    if isinstance(request, Search) or door == "web" or door.startswith("prompt") or door.endswith("reranker"):
        return own
    return f"{own} {request.note or ''}"


def said_by_user(request: Request, door: str) -> set[str]:
    """Give the user's own turns and selected words; the latter, and turns about personal notes, never reach the web.

    Filters are for the vault alone.
    """
    match request:
        case Ask():
            turns = (turn for turn in request.history if turn.role == "user" and not (door == "web" and turn.personal))
            # Selected words are searched for here, and never by the web.
            selected = [request.selection] if request.selection and door != "web" else []
            said = {request.question, *(turn.text for turn in turns)}
        case Search():
            selected, said = [], {request.query}
        case Call():
            return set()
    words = {read_filters(text).rest for text in said}
    return words | set(selected) if door in _USERS_WORDS else words | set(selected) | said


def strays(text: str, own_words: str) -> list[str]:
    """List the canaries in a text that the caller did not type; one cut short counts as the word it begins."""
    known = {word.casefold() for word in CANARY.findall(own_words)}
    found = dict.fromkeys(word.casefold() for word in CANARY.findall(text))
    return [word for word in found if not any(one.startswith(word) for one in known)]


def heard_at(door: str, said: str, *, still: bool) -> Heard:
    """Take apart what a door said."""
    head, told = _read(said)
    if still:
        return Heard(door, said, (head, told))
    if door.startswith("search"):
        return Heard(door, said, (head, _found(told)))
    if door.startswith("ask"):
        # Of a command the head is its exit code, which tells whether the vault was silent.
        return Heard(door, said, None if "cli" in door else head, _answered(told))
    if door == "/api/related" and "related" in told:
        # Which notes come near enough by meaning is decided by scores.
        return Heard(door, said, (head, told["path"], told["notices"]), len(told["related"]))
    return Heard(door, said, (head, told))


def _found(told: Any) -> Any:  # noqa: ANN401 - only compared
    return told.count("\n") if isinstance(told, str) else (len(told["hits"]), told["notices"])


def _answered(told: Any) -> Any:  # noqa: ANN401 - only compared
    """Tell how many sources an answer has, and whether the vault was silent."""
    if isinstance(told, str):
        return told.count("\n")
    sources = told[0] if isinstance(told, list) else told
    if "sources" not in sources:
        return sources
    return len(sources["sources"]), sources["silent"]


def _read(said: str) -> tuple[str, Any]:
    """Read JSON, events or lines, without times."""
    head, _, body = said.partition("\n\n")
    if body.startswith("event:"):
        return head, [_without(_TIMES, json.loads(line[6:])) for line in body.splitlines() if line.startswith("data: ")]
    try:
        return head, _without(_TIMES, json.loads(body))
    except ValueError:
        return head, body


def _without(names: set[str], value: Any) -> Any:  # noqa: ANN401 - any JSON
    match value:
        case dict():
            kept = {key: _without(names, item) for key, item in value.items() if key not in names}
            return {key: item is not None if key in _WHEN else item for key, item in kept.items()}
        case list():
            return [_without(names, item) for item in value]
        case _:
            return value


def prompts_at(door: str, prompts: Sequence[Prompt], *, still: bool) -> Heard:
    """Take apart what a model was given. Whether it was asked at all is decided by scores."""
    permitted = [_laid_out(prompt) for prompt in prompts] if still else None
    return Heard(door, "\n".join(map(repr, prompts)), permitted, len(prompts))


def _laid_out(prompt: Prompt) -> Any:  # noqa: ANN401 - only compared
    pages = prompt.evidence.pages if isinstance(prompt.evidence, WithWeb) else ()
    return messages(prompt), prompt.query, prompt.language, prompt.excerpts, pages, dict(prompt.idf), prompt.is_broad


def reranked_at(door: str, asked: Sequence[str], read: Sequence[Sequence[str]], *, still: bool) -> Heard:
    """Take apart what a reranker was given. Which passages come into question is decided by scores."""
    given = list(zip(asked, read, strict=True))
    return Heard(door, repr(given), given if still else None, len(given))


def recorded(lines: Sequence[str], *, still: bool) -> Heard:
    """Take apart lines of the audit log; each data folder hashes questions with a key of its own."""
    entries = [_without(_TIMES, json.loads(line)) for line in lines]
    for entry in entries:
        if str(entry.get("question")).startswith("hmac:"):
            entry["question"] = "hashed"
    unmoved = [_without(_MOVED_IN_RECORD, entry) for entry in entries]
    return Heard("audit", "\n".join(lines), entries if still else unmoved)
