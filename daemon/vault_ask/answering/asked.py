"""The state of one answer: what was asked, how it is to be answered, and what the vault says of it."""

from dataclasses import dataclass, field, replace
from typing import Generic

from vault_ask.answering.context import tokens
from vault_ask.answering.conversation import Conversation, Turn
from vault_ask.answering.evidence import Evidence, Prompt, Selection
from vault_ask.answering.ports import Generator, Window
from vault_ask.answering.searching import named_notes
from vault_ask.audit import Door, Record, WebUse
from vault_ask.index.within import Tasks
from vault_ask.retrieval.filters import Filtered, read_filters
from vault_ask.retrieval.helpers import without_asking
from vault_ask.retrieval.hits import Retrieved
from vault_ask.retrieval.todo import asked_state
from vault_ask.retrieval.words import is_wordless
from vault_ask.scope import Question, S, Scope
from vault_ask.wire import AnswerEvent, DoneEvent, ErrorEvent, SourcesEvent

_HISTORY_SHARE = 4
"""The history takes at most one part in so many of the room that rules and question leave."""
_MARGIN = 64
"""Tokens a chat template puts around the messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a caller may wish of an answer besides its scope; None for as usual.

    `note` is the path of the note the question is about, `selection` words of it that were selected, `k` how many
    passages the answer may rest on at most, and `language` the BCP 47 tag of the language it is to be in.
    """

    note: str | None = None
    selection: str | None = None
    k: int | None = None
    language: str | None = None


AS_USUAL = Wishes()


@dataclass(slots=True)
class Asked:
    """What came in, and what has become of it so far."""

    question: Question
    history: tuple[Turn, ...]
    wishes: Wishes
    door: Door
    started: float
    scope: Scope
    web: WebUse | None = None
    shown: SourcesEvent | None = None
    outcome: str = "stopped"
    reranker: str | None = None
    filtered: Filtered = field(init=False)

    def __post_init__(self) -> None:
        """Part the question from its filters."""
        self.filtered = read_filters(self.question.text)

    @property
    def words(self) -> str:
        """The question without its filters, which concern the vault alone."""
        return self.filtered.rest

    def tasks(self, language: str) -> tuple[Tasks, ...]:
        """The tasks that the question, in some language, is after, by a filter or in words; none where after none."""
        wanted = (one for each in self.filtered.filters for one in each.any_of if not one.negated)
        filtered = tuple(one.has for one in wanted if isinstance(one.has, Tasks))
        state = asked_state(without_asking(self.words, language))
        return filtered or ((Tasks((state,)),) if state else ())

    def see(self, event: AnswerEvent) -> None:
        """Keep what the record tells."""
        match event:
            case SourcesEvent():
                self.shown = event
            case DoneEvent():
                self.outcome = "silent" if self.shown is not None and self.shown.silent else "done"
            case ErrorEvent():
                self.outcome = f"error:{event.code}"

    def record(self, now: float) -> Record:
        """Tell what the record keeps of it."""
        sources_shown = self.shown.sources if self.shown else ()
        return Record(
            door=self.door,
            action="ask",
            scope=self.scope,
            question=self.question.text,
            notes=named_notes(sources_shown),
            model=self.shown.generator if self.shown else None,
            web=self.web,
            outcome=self.outcome,
            seconds=now - self.started,
            reranker=self.reranker,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """Who words this answer, in which scope, and what the reader must be told."""

    generator: Generator
    scope: Scope
    notices: tuple[str, ...] = ()

    def telling(self, *notices: str) -> "Plan":
        """Add notices, each once."""
        return replace(self, notices=tuple(dict.fromkeys((*self.notices, *notices))))


@dataclass(frozen=True)
class Consulted(Generic[S]):
    """What the vault says: the conversation and query it was searched with, the hits, and what was named in vain.

    The selected words were searched for as well, but are not in `query`: quotes are chosen by what was typed.
    """

    talk: Conversation[S]
    query: str
    found: Retrieved[S]
    unmet: tuple[str, ...]
    is_silent: bool
    selected: Selection[S] | None = None

    @property
    def nothing_fits(self) -> bool:
        """Whether no passage in sight fits the filters."""
        understood = self.found.understood
        return understood is not None and bool(understood.filters) and not understood.fits

    def prompt(self, asked: Asked, evidence: Evidence) -> Prompt:
        """Put a prompt together. Filters are no question: where there was nothing else, none was asked."""
        return Prompt(
            question="" if is_wordless(asked.words) else asked.words,
            language=self.found.language,
            evidence=evidence,
            query=self.query,
            idf=self.found.idf,
            answer_in=asked.wishes.language,
            is_broad=self.found.is_broad,
            is_listing=self.found.is_listing,
            tasks=asked.tasks(self.found.language),
            is_of_a_time=self.found.understood is not None and self.found.understood.is_of_a_time,
        )


def share_out(
    window: Window | None, question: str, talk: Conversation[S], taken: int
) -> tuple[Conversation[S], int | None]:
    """Divide a window: `taken` tokens, question and reply come first, then some history; the rest is for excerpts."""
    if window is None:
        return talk, None
    left = window.tokens - window.reply - taken - tokens(question) - _MARGIN
    kept = talk.within(left // _HISTORY_SHARE)
    return kept, left - sum(tokens(turn.text) for turn in kept.turns)
