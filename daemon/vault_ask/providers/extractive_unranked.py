"""What is quoted where there is nothing to rank by: tasks and beginnings of whatever fits, a line of headings alone."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from vault_ask.answering.context import Excerpt
from vault_ask.answering.evidence import Prompt
from vault_ask.answering.ports import Quoted
from vault_ask.answering.regions import Span, comments, inside
from vault_ask.answering.standalone import Statement, standalone
from vault_ask.index.terms import terms
from vault_ask.index.within import Tasks
from vault_ask.notes.tasks import boxed
from vault_ask.providers.extractive_choice import Candidate
from vault_ask.providers.extractive_words import asked_of

MOST_LISTED = 12


def said_in(excerpt: Excerpt, longest: int) -> list[Statement]:
    """List what can be quoted of an excerpt."""
    return standalone(excerpt.text, excerpt.title, longest, of_properties=excerpt.of_properties)


def is_wanted(sentence: str, tasks: Sequence[Tasks]) -> int:
    """Give 1 for a task that is asked for, -1 for one of another state, 0 for any other sentence."""
    task = boxed(sentence) if tasks else None
    if task is None:
        return 0
    return 1 if any(wanted.holds(task) for wanted in tasks) else -1


def listed(prompt: Prompt, longest: int) -> list[Candidate]:
    """Take by turns from each passage the tasks that are asked for, else how it begins: there is nothing to rank by."""
    of_each: list[list[Candidate]] = []
    for excerpt in prompt.excerpts:
        said = [Candidate(excerpt, statement, 0.0, 0.0) for statement in said_in(excerpt, longest)]
        wanted = [candidate for candidate in said if is_wanted(candidate.text, prompt.tasks) > 0]
        of_each.append(wanted or said[:1])
    by_turns = (one for turn in zip_longest(*of_each) for one in turn if one is not None)
    return list(by_turns)[:MOST_LISTED]


def opening(prompt: Prompt, room: int) -> list[Quoted]:
    """Quote a line of the best excerpt that has one, for passages that hold headings and nothing else."""
    spoken = (excerpt for excerpt in prompt.excerpts if excerpt.text.strip())
    best = max(spoken, key=lambda excerpt: (excerpt.in_question, excerpt.score), default=None)
    if best is None:
        return []
    asked = asked_of(prompt)
    bags = {line: frozenset(terms(line.of(best.text), best.language)) for line in _spoken_lines(best.text, room)}
    # A rule, an empty box or the frame of a table says nothing.
    shares = {line: asked.share_in(bag) for line, bag in bags.items() if bag}
    line = max(shares, key=lambda line: shares[line], default=None)
    # An empty note has no answer, and another note's heading is none to a question about it.
    is_elsewhere = prompt.is_about_a_note and not best.in_question
    if line is None or (is_elsewhere and not shares[line]):
        return []
    return [Quoted(best.n, line.start, line.end)]


def _spoken_lines(text: str, room: int) -> Iterable[Span]:
    """Give the lines of a text that are not blank, each without blanks around it and no longer than `room`."""
    start = 0
    hidden = comments(text)
    for line in text.split("\n"):
        words = line.strip()
        first = start + line.index(words)
        if words and inside(first, hidden) is None:
            yield Span(first, first + len(words[:room].rstrip()))
        start += len(line) + 1
