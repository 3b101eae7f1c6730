"""What of a conversation may take part in the next answer: which turns are kept, and what is searched for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vault_ask.answering.context import tokens
from vault_ask.answering.ports import Turn
from vault_ask.index.terms import query_words
from vault_ask.notes.links import link_key
from vault_ask.retrieval.hits import Hit, S
from vault_ask.scope import OpenScope, Scope

_SHORT_WORDS = 6
"""A question of at most so many words (pairs of characters in scripts without spaces) may lean on the turn before."""
_LEANS_ON = 2
"""User turns that a short question is searched together with: `And how much?` often follows `And since when?`."""
_MENTION = re.compile(r"\[\[([^\[\]|#^\n]+)|(?:^|[\s\"'“(])([^\s\"'“()\[\]][^\"“()\[\]\n]*?)\.md\b")


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns that a scope may remember, oldest first."""

    turns: tuple[Turn, ...]

    def query(self, question: str) -> str:
        """Give what to search for: the question, after the user's last words where it is too short to stand alone."""
        if len(query_words(question, ("und",))) > _SHORT_WORDS:
            return question
        said = [turn.text for turn in self.turns if turn.role == "user"]
        return "\n".join((*said[-_LEANS_ON:], question))

    def within(self, room: int) -> tuple[Turn, ...]:
        """Keep the newest turns that fit into `room` tokens together."""
        kept: list[Turn] = []
        for turn in reversed(self.turns):
            room -= tokens(turn.text)
            if room < 0:
                break
            kept.append(turn)
        return tuple(reversed(kept))


def remember(history: Sequence[Turn], scope: Scope) -> Conversation:
    """Keep of the history what the scope may know: under an open one, only what the user typed.

    An earlier answer may quote a note that is, or has become, personal; nobody can tell from its text.
    """
    if isinstance(scope, OpenScope):
        return Conversation(tuple(turn for turn in history if turn.role == "user"))
    return Conversation(tuple(history))


def unmet_mentions(question: str, note: str | None, hits: Sequence[Hit[S]]) -> tuple[str, ...]:
    """List the notes that the question names (`[[Name]]`, `path.md`, the current note) and no hit is from.

    Whether such a note exists is not asked, so that the answer is the same for a hidden note and for none.
    """
    named = [wikilink or path for wikilink, path in _MENTION.findall(question)] + ([note] if note else [])
    met = {name for hit in hits for name in (link_key(hit.path), link_key(hit.title))}
    return tuple(dict.fromkeys(name.strip() for name in named if link_key(name) not in met))
