"""Patterns in the settings that match no note: each is told, since a slip of the pen protects, takes or lists nothing.

Told to the owner alone: whether a pattern matches may hang on a personal note.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from vault_ask.index.view import Index, VaultView
from vault_ask.notes.fold import fold_loosely
from vault_ask.notes.patterns import path_pattern
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import OpenScope, PrivateScope
from vault_ask.sources.selection import Selection


@dataclass(frozen=True, slots=True)
class Globs:
    """The folders and globs of `topics.paths` and `vault.include`, as they are written."""

    topics: tuple[str, ...] = ()
    include: tuple[str, ...] = ()


NO_GLOBS = Globs()


def idle_rules(index: Index, rules: Rules, globs: Globs) -> tuple[str, ...]:
    """Warn of patterns that match no note of the index in use. Raises NoIndex."""
    with index.open(PrivateScope()) as view:
        return warnings(view, matches(view, rules), globs)


def matches(view: VaultView[PrivateScope] | VaultView[OpenScope], rules: Rules) -> dict[str, int]:
    """Count the notes that each rule about what is personal speaks of."""
    tags = view.notes.tags()
    return rules.count(({path, resolved}, tags.get(path, ())) for path, resolved in view.notes.resolved_paths())


def warnings(
    view: VaultView[PrivateScope] | VaultView[OpenScope], matched: dict[str, int], globs: Globs
) -> tuple[str, ...]:
    """Word what matches nothing, in a sentence a pattern."""
    of_rules = (_of_rule(pattern) for pattern, count in matched.items() if count == 0)
    return (*of_rules, *(_of_globs(list(view.notes.paths()), globs) if globs != NO_GLOBS else ()))


def _of_rule(pattern: str) -> str:
    if pattern.startswith("#"):
        return f"The personal tag {pattern!r} is on no note, so it protects nothing. Check its spelling."
    return f"The personal pattern {pattern!r} matches no note, so it protects nothing. Check its spelling."


def _of_globs(paths: list[str], globs: Globs) -> Iterator[str]:
    for written in globs.topics:
        pattern = path_pattern(written, "topics.paths")
        if not any(pattern.matches(fold_loosely(path)) for path in paths):
            yield f"The pattern {written!r} of topics.paths matches no note, so it names no topic. Check its spelling."
    for written in globs.include:
        selection = Selection.of((written,), ())
        if not any(selection.includes(path) for path in paths):
            yield f"The pattern {written!r} of vault.include matches no note, so it takes none in. Check its spelling."
