"""What of a conversation may take part in the next answer: which turns are kept, and what is searched for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Generic

import regex

from vault_ask.answering.context import tokens
from vault_ask.retrieval.filter_telling import without_mistyped
from vault_ask.retrieval.filters import read_filters
from vault_ask.retrieval.when import follows_in_time, may_name_time, read_when
from vault_ask.scope import OpenScope, Question, S, Sensitivity

_LEANS_ON = 2
"""User turns that a leaning question is searched together with: `And how much?` often follows `And since when?`."""
_LONGEST_LEANING = 12
"""A question of more words names its subject, even if each of them is common."""
_LONGEST_RUN = 40
"""Characters without a space that may be common words in a row; of more some say what they are about."""
_RUN = regex.compile(r"\S+")
_NEARLY_A_FILTER = regex.compile(r"(?<!\w)(?:tag|path|file|task|task-todo|task-done):\S")
"""What somebody may have meant as a filter and mistyped, in a run of signs: it may name what is personal."""
_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)
"""Which days a former turn named does not matter, where only its other words are wanted."""
_WORDS = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_SPACELESS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An earlier turn of the conversation; `role` is `user` or `assistant`.

    `personal` says that personal notes took part in it.
    """

    role: str
    text: str
    personal: bool = False


@dataclass(frozen=True)
class Conversation(Generic[S]):
    """The turns that a scope may remember, oldest first, without their filters."""

    turns: tuple[Turn, ...]

    @property
    def sensitivity(self) -> Sensitivity:
        """The highest level among the turns: an earlier answer may quote any note that its scope could see."""
        answered = any(turn.role == "assistant" for turn in self.turns)
        return Sensitivity.PERSONAL if answered else Sensitivity.OPEN

    def query(self, question: str) -> str:
        """Give what to search for: the question, after the user's last words where it has no subject of its own.

        All without filters: those of a former turn were for that turn, and a question that has some has its subject. A
        time was for its turn too, for one that leans on it, and for those that tell theirs by it.
        """
        filtered = read_filters(question)
        said: list[str] = [turn.text for turn in self.turns if turn.role == "user"]
        if not said or filtered.filters:
            return filtered.rest
        if _names_another_time(filtered.rest, said):
            return "\n".join((*_leant_on(said, alone=not leans(said[_base(said)])), filtered.rest))
        return "\n".join((*_leant_on(said), filtered.rest)) if leans(filtered.rest) else filtered.rest

    def web_question(self, question: Question) -> Question:
        """Give what the web may be asked: the question, after the user's last words where it has no subject of its own.

        Words typed while personal notes took part stay at home: they may well repeat what a personal note said.
        """
        outside: Conversation[S] = Conversation(tuple(turn for turn in self.turns if not turn.personal))
        return Question(_without_near_filters(outside.query(question.text)))

    def within(self, room: int) -> "Conversation[S]":
        """Keep the newest turns that fit into `room` tokens together."""
        kept: list[Turn] = []
        for turn in reversed(self.turns):
            room -= tokens(turn.text)
            if room < 0:
                break
            kept.append(turn)
        return Conversation(tuple(reversed(kept)))


def _without_near_filters(question: str) -> str:
    kept = without_mistyped(question)
    return _RUN.sub(lambda run: "" if _NEARLY_A_FILTER.search(run[0]) else run[0], kept)


def _names_another_time(question: str, said: Sequence[str]) -> bool:
    """Say whether a question names nothing but another time than the turns before, which name one."""
    return follows_in_time(question) and may_name_time(said[_base(said)])


def _base(said: Sequence[str]) -> int:
    """Give the place of the last turn that says more than another time than the one before it."""
    return next((at for at in range(len(said) - 1, 0, -1) if not follows_in_time(said[at])), 0)


def _leant_on(said: Sequence[str], *, alone: bool = False) -> list[str]:
    """Give the turns that a question leans on: the last, those that its time is told by, and what that one leans on."""
    base = _base(said)
    former = () if alone else said[max(0, base - _LEANS_ON + 1) : base]
    return [*map(_without_time, former), *said[base:]]


def _without_time(said: str) -> str:
    return read_when(said, language="und", now=_ANY_DAY).rest


def leans(question: str) -> bool:
    """Say whether a question is made of common words only (`And how much of it?`), so that it means nothing alone.

    A new subject, however short (`What is my salary?`), must not be searched together with the former one.
    """
    words = _WORDS.findall(question.casefold())
    if not words or len(words) > _LONGEST_LEANING:
        return not words
    return any(all(_is_common(word, common) for word in words) for common in _common_words())


def _is_common(word: str, common: frozenset[str]) -> bool:
    """Look a word up; a run of a script without spaces is common if it can be cut into common words."""
    if word in common or len(word) > _LONGEST_RUN or not _SPACELESS.match(word):
        return word in common
    reached = {0}
    for end in range(1, len(word) + 1):
        if any(word[start:end] in common for start in reached):
            reached.add(end)
    return len(word) in reached


@cache
def _common_words() -> tuple[frozenset[str], ...]:
    """Load the stop words of 58 languages, a set a language; half a megabyte, so only when a conversation needs it."""
    import stopwordsiso  # noqa: PLC0415

    return tuple(frozenset(stopwordsiso.stopwords(language)) for language in stopwordsiso.langs())


def remember(history: Sequence[Turn], scope: S) -> Conversation[S]:
    """Keep of the history what the scope may know: under an open one, only what the user typed.

    An earlier answer may quote a note that is, or has become, personal; nobody can tell from its text.
    """
    turns = (turn for turn in history if turn.role == "user" or not isinstance(scope, OpenScope))
    return Conversation(tuple(map(_without_filters, turns)))


def _without_filters(turn: Turn) -> Turn:
    """Take the filters out of what the user typed: they narrowed a search, and no model is told of them."""
    return replace(turn, text=without_mistyped(read_filters(turn.text).rest)) if turn.role == "user" else turn
