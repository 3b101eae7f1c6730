"""What a generator is given to word an answer from. What must not stand side by side is no value that can be written.

Evidence is either the vault alone, in one scope, or open notes with web pages beside them. Since `WithWeb` takes a
context, a conversation and selected words of an open scope only, neither a personal note nor an answer that quoted one
can share a prompt with the web.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic

from vault_ask.answering.context import Context, Excerpt
from vault_ask.answering.conversation import Conversation, Turn
from vault_ask.index.within import Tasks
from vault_ask.scope import OpenScope, PrivateScope, S, Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """A page that a web search found: plain text on one line each, and an http(s) address with no one's password."""

    title: str
    url: str
    text: str


@dataclass(frozen=True)
class Selection(Generic[S]):
    """Words of the note in question that the question is about; under an open scope that note is in sight of it."""

    text: str
    scope: S

    @property
    def sensitivity(self) -> Sensitivity:
        """The highest level they may have: they come from the caller, and may be of any note that the scope sees."""
        return self.scope.ceiling


@dataclass(frozen=True)
class VaultOnly(Generic[S]):
    """The vault alone."""

    context: Context[S]
    talk: Conversation[S]
    selected: Selection[S] | None = None


@dataclass(frozen=True)
class WithWeb:
    """Open notes, and pages of the web beside them; page i is cited as `[i + 1]`."""

    context: Context[OpenScope]
    talk: Conversation[OpenScope]
    pages: tuple[WebPage, ...]
    selected: Selection[OpenScope] | None = None


Evidence = VaultOnly[OpenScope] | VaultOnly[PrivateScope] | WithWeb


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """All that a generator may know.

    `question` is empty where nothing was asked but what fits some filters. `query` is what was searched for: the
    question, with the earlier turns it leans on. `idf` maps the words of the query, as `index.terms.query_words` names
    them, to their inverse document frequency in the vault. `language` is that of the question, `answer_in` the BCP 47
    tag of one that the answer is wished in. `is_broad` tells that no passage of the note in question stands out, as
    where the question is about it as a whole; `is_listing` that whatever fits some filters or a time answers it.
    `tasks` are those that the question is after, if it is after any, `is_of_a_time` tells that it asks what was then.
    """

    question: str
    language: str
    evidence: Evidence
    query: str = ""
    idf: Mapping[str, float] = field(default_factory=dict)
    answer_in: str | None = None
    is_broad: bool = False
    is_listing: bool = False
    tasks: tuple[Tasks, ...] = ()
    is_of_a_time: bool = False

    @property
    def excerpts(self) -> tuple[Excerpt, ...]:
        """The numbered passages of the vault."""
        return self.evidence.context.excerpts

    @property
    def is_about_a_note(self) -> bool:
        """Whether some of them are of the note that the question is about."""
        return any(excerpt.in_question for excerpt in self.excerpts)

    @property
    def selection(self) -> str | None:
        """The selected words that the question is about."""
        return self.evidence.selected.text if self.evidence.selected else None

    @property
    def history(self) -> tuple[Turn, ...]:
        """The earlier turns that the scope may remember."""
        return self.evidence.talk.turns

    @property
    def sensitivity(self) -> Sensitivity:
        """The highest level among the excerpts, the turns and the selected words."""
        selected = self.evidence.selected.sensitivity if self.evidence.selected else Sensitivity.OPEN
        return max(self.evidence.context.sensitivity, self.evidence.talk.sensitivity, selected)
