r"""Which notes are personal: the owner's path patterns and the note's own key. In doubt, personal.

Paths are compared in NFC and without case, by anchored patterns: `Private`, `/Private/`, `Private/**` and `Private\`
all mean the folder of that name at the vault's root and everything below it. A pattern that cannot be read stops the
start; it is never dropped.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from wcmatch import glob

from vault_ask.errors import ConfigError
from vault_ask.notes.fold import fold_loosely, storable
from vault_ask.notes.model import FrontmatterState, Problem
from vault_ask.scope import Sensitivity

_FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.BRACE | glob.FORCEUNIX | glob.IGNORECASE
_CLASS = re.compile(r"\[[!^]?\]?(?:\[:\w+:\]|[^\[\]])*\]")
_BRACES = re.compile(r"\{[^{}]*\}")
_RANGE = re.compile(r"(?<=[\[!^\w])(\w)-(\w)")
_LONGEST = 1024
_FORMAT = "1"  # change when the same rules come to mean something else


@dataclass(frozen=True, slots=True)
class _Pattern:
    written: str
    folder: str
    """The folded pattern, read literally: a folder may be called `[2020]`. Empty means the whole vault."""
    globs: tuple[re.Pattern[str], ...]

    def matches(self, folded: str) -> bool:
        return not self.folder or any(self._holds(path) for path in _self_and_parents(folded))

    def _holds(self, path: str) -> bool:
        return path == self.folder or any(expression.fullmatch(path) for expression in self.globs)


@dataclass(frozen=True, slots=True)
class Rules:
    """The owner's rules, compiled once."""

    key: str
    patterns: tuple[_Pattern, ...] = field(repr=False)

    @classmethod
    def compile(cls, personal_paths: Iterable[str], frontmatter_key: str) -> "Rules":
        """Read the owner's patterns and key. Raises ConfigError for one that cannot be read."""
        key = fold_loosely(frontmatter_key).strip()
        if not key:
            raise ConfigError(
                "sensitivity.frontmatter_key is blank, so no note could name itself personal. Name a key."
            )
        return cls(key, tuple(_compile(pattern) for pattern in personal_paths))

    @property
    def fingerprint(self) -> str:
        """A short name that changes whenever the rules may classify a note differently."""
        parts = "\x1f".join((_FORMAT, self.key, *sorted({pattern.folder for pattern in self.patterns})))
        return sha256(storable(parts).encode()).hexdigest()[:16]

    def matches(self, path: str) -> tuple[str, ...]:
        """Tell which patterns, as written, make this vault path personal."""
        folded = fold_loosely(path).strip("/")
        return tuple(pattern.written for pattern in self.patterns if pattern.matches(folded))

    def classify(
        self, path: str, resolved_path: str | None, frontmatter: Mapping[str, Any], state: FrontmatterState
    ) -> Sensitivity:
        """Decide how a note may travel.

        Frontmatter that cannot be read is personal, and so is an unclosed block that names the key. Else the note's
        own key decides, and without it the stricter of the note's path and the path its link resolves to.
        """
        said = tuple(self._said(frontmatter))
        if state is FrontmatterState.UNREADABLE or (state is FrontmatterState.UNCLOSED and said):
            return Sensitivity.PERSONAL
        if said:
            return Sensitivity.OPEN if all(_word(value) == "open" for value in said) else Sensitivity.PERSONAL
        paths = {path, resolved_path or path}
        return Sensitivity.PERSONAL if any(map(self.matches, paths)) else Sensitivity.OPEN

    def problem(self, frontmatter: Mapping[str, Any], *, line: int | None = None) -> Problem | None:
        """Say so when the note's key holds a value that is no word of ours; the note counts as personal."""
        if all(_word(value) in {"open", "personal", "true"} for value in self._said(frontmatter)):
            return None
        message = f"`{self.key}` is neither open nor personal, so the note counts as personal. Write one of the two."
        return Problem(code="sensitivity-value", message=message, line=line)

    def names_key(self, key: str) -> bool:
        """Tell whether a frontmatter key, as written, is the key of these rules."""
        return fold_loosely(key).strip() == self.key

    def _said(self, frontmatter: Mapping[str, Any]) -> Iterator[Any]:
        return (value for key, value in frontmatter.items() if self.names_key(key))


def _word(value: object) -> str:
    """The value as one word, without case; a list of words is none."""
    return fold_loosely(value).strip() if isinstance(value, str) else {True: "true"}.get(value is True, "")


def _self_and_parents(path: str) -> Iterator[str]:
    yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _compile(written: str) -> _Pattern:
    folder = _anchor(written)
    if not folder:
        return _Pattern(written.strip(), "", ())
    try:
        expressions, _ = glob.translate(folder, flags=_FLAGS)
        return _Pattern(written.strip(), folder, tuple(re.compile(expression) for expression in expressions))
    except (re.error, ValueError, RecursionError):
        raise _unreadable(written) from None


def _anchor(written: str) -> str:
    """Reduce a pattern to the folded folder or glob it means, anchored at the vault's root, or refuse it."""
    segments = fold_loosely(written).strip().replace("\\", "/").split("/")
    kept = [segment.strip() for segment in segments if segment.strip() not in {"", "."}]
    while kept and kept[-1] == "**":
        kept.pop()
    folder = "/".join(kept)
    if not written.strip() or ".." in kept or not _is_balanced(folder) or len(folder) > _LONGEST:
        raise _unreadable(written)
    return folder


def _is_balanced(pattern: str) -> bool:
    """Tell whether brackets and braces close, and every range of letters runs upwards."""
    without_classes = _CLASS.sub("", pattern)
    descends = any(low > high for part in _CLASS.findall(pattern) for low, high in _RANGE.findall(part))
    return not (descends or re.search(r"[\[\]{}]", _fixed_point(without_classes)))


def _fixed_point(pattern: str) -> str:
    """Remove closed braces from the inside out."""
    while (shorter := _BRACES.sub("", pattern)) != pattern:
        pattern = shorter
    return pattern


def _unreadable(written: str) -> ConfigError:
    return ConfigError(
        f"sensitivity.personal_paths holds {written!r}, which cannot be read as a folder or glob inside the vault. "
        'Write it like "Private/**" and start again; nothing is indexed until then.'
    )
