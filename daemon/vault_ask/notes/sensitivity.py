"""Which notes are personal: the owner's patterns of paths and tags, and the note's own key. In doubt, personal."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from vault_ask.errors import ConfigError
from vault_ask.notes.copies import original_of
from vault_ask.notes.fold import fold, fold_loosely
from vault_ask.notes.frontmatter import Frontmatter, holds_tags
from vault_ask.notes.model import FrontmatterState, Problem
from vault_ask.notes.patterns import Pattern, folded_tag, path_pattern, tag_pattern
from vault_ask.scope import Sensitivity

_FORMAT = "4"  # change when the same rules come to mean something else


@dataclass(frozen=True, slots=True)
class Rules:
    """The owner's rules, compiled once."""

    key: str
    paths: tuple[Pattern, ...] = field(repr=False)
    tags: tuple[Pattern, ...] = field(default=(), repr=False)
    default: Sensitivity = Sensitivity.OPEN

    @classmethod
    def compile(
        cls,
        personal_paths: Iterable[str],
        frontmatter_key: str,
        *,
        personal_tags: Iterable[str] = (),
        default: Sensitivity = Sensitivity.OPEN,
    ) -> "Rules":
        """Read the owner's patterns and key; `default` is for what none of them speaks of.

        Raises ConfigError for one that cannot be read.
        """
        key = fold_loosely(frontmatter_key).strip()
        if not key:
            raise ConfigError(
                "sensitivity.frontmatter_key is blank, so no note could name itself personal. Name a key."
            )
        return cls(key, tuple(map(path_pattern, personal_paths)), tuple(map(tag_pattern, personal_tags)), default)

    @property
    def fingerprint(self) -> str:
        """A short name that changes whenever the rules may classify a note differently."""
        # Under a personal default a pattern says nothing that is not said already.
        decide = self.default is Sensitivity.OPEN
        patterns = [sorted({pattern.folded for pattern in some if decide}) for some in (self.paths, self.tags)]
        return sha256(json.dumps([_FORMAT, self.key, self.default.word, *patterns]).encode()).hexdigest()[:16]

    def matches(self, path: str) -> tuple[str, ...]:
        """Tell which patterns make this vault path personal: by itself, or by what it is a conflict copy of."""
        names = {_without_margins(name) for name in (fold_loosely(path), original_of(path)[0])}
        # Obsidian shows a note without its suffix, so that is how it is written.
        names |= {shown for name in names if not (shown := name.removesuffix(".md")).endswith(".md")}
        return tuple(pattern.label for pattern in self.paths if any(map(pattern.matches, names)))

    def matches_tags(self, tags: Iterable[str]) -> tuple[str, ...]:
        """Tell which patterns make a note with these tags personal."""
        names = {folded_tag(tag) for tag in tags}
        return tuple(pattern.label for pattern in self.tags if any(map(pattern.matches, names)))

    def count(self, notes: Iterable[tuple[Iterable[str], Iterable[str]]]) -> dict[str, int]:
        """Count for each pattern, as written and tags with `#`, the notes it matches, given their paths and tags."""
        counted = Counter(dict.fromkeys((pattern.label for pattern in (*self.paths, *self.tags)), 0))
        for paths, tags in notes:
            counted.update({label for path in paths for label in self.matches(path)} | {*self.matches_tags(tags)})
        return dict(counted)

    def classify(
        self,
        path: str,
        resolved_path: str | None,
        frontmatter: Mapping[str, Any],
        state: FrontmatterState,
        tags: Iterable[str] | None = (),
    ) -> Sensitivity:
        """Decide how a note may travel. `tags` are those of its text, None where nobody can tell.

        Frontmatter that cannot be read is personal, and so is an unclosed block that names the key. Else the note's
        own key decides, and without it the strictest of the default, the note's path, the path its link resolves to
        and its tags, also those in a block that is read as text otherwise.
        """
        said = tuple(self._said(frontmatter))
        if state is FrontmatterState.UNREADABLE or (state is FrontmatterState.UNCLOSED and said):
            return Sensitivity.PERSONAL
        if said:
            return Sensitivity.OPEN if all(_word(value) == "open" for value in said) else Sensitivity.PERSONAL
        if any(map(self.matches, {path, resolved_path or path})) or self._is_tagged(frontmatter, tags):
            return Sensitivity.PERSONAL
        return self.default

    def speaks_of(self, frontmatter: Mapping[str, Any]) -> bool:
        """Tell whether a block holds the key or a personal tag."""
        return any(map(self.names_key, frontmatter)) or self._is_tagged(frontmatter, ())

    def concerned(self, frontmatter: Mapping[str, Any]) -> dict[str, Any]:
        """Give what the key of these rules, and tags, which any rules may ask for, say in a block."""
        return {key: value for key, value in frontmatter.items() if self.names_key(key) or holds_tags(key)}

    def problem(self, frontmatter: Mapping[str, Any], *, line: int | None = None) -> Problem | None:
        """Say so when the note's key holds a value that is no word of ours; the note counts as personal."""
        if all(_word(value) in {"open", "personal", "true"} for value in self._said(frontmatter)):
            return None
        message = f"`{self.key}` is neither open nor personal, so the note counts as personal. Write one of the two."
        return Problem(code="sensitivity-value", message=message, line=line)

    def names_key(self, key: str) -> bool:
        """Tell whether a frontmatter key, as written, is the key of these rules; Dataview's has two colons."""
        return fold_loosely(key).strip().removesuffix(":") == self.key

    def _is_tagged(self, frontmatter: Mapping[str, Any], tags: Iterable[str] | None) -> bool:
        if not self.tags:
            return False
        return tags is None or bool(self.matches_tags((*tags, *Frontmatter(values=frontmatter).tags)))

    def _said(self, frontmatter: Mapping[str, Any]) -> Iterator[Any]:
        return (value for key, value in frontmatter.items() if self.names_key(key))


def _without_margins(path: str) -> str:
    """Take blanks away from both ends of each name in a folded path: nobody sees them behind a folder's name."""
    return "/".join(name.strip() for name in path.split("/")).strip("/")


def _word(value: object) -> str:
    """The value as one word, without case; a list of words is none. Not folded loosely: `open` opens."""
    return fold(value).strip() if isinstance(value, str) else {True: "true"}.get(value is True, "")
