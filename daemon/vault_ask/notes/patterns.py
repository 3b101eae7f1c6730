r"""The owner's patterns of folders and tags, compiled. Knows how they are written, not what they are for.

Both are compared in NFC and without case, and anchored: `Private`, `/Private/`, `Private/**` and `Private\` all mean
the folder of that name at the vault's root and everything below it; `#Work/Secret` means that tag and the tags nested
in it. A pattern that cannot be read stops the start; it is never dropped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wcmatch import glob

from vault_ask.errors import ConfigError
from vault_ask.notes.fold import fold_loosely

_FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.BRACE | glob.FORCEUNIX | glob.IGNORECASE
_CLASS = re.compile(r"\[[!^]?\]?(?:\[:\w+:\]|[^\[\]])*\]")
_BRACES = re.compile(r"\{[^{}]*\}")
_RANGE = re.compile(r"(?<=[\[!^\w])(\w)-(\w)")
_LONGEST = 1024


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern as the owner wrote it (`label`), and what it means."""

    label: str
    folded: str
    """Read literally as well as as a glob: a folder may be called `[2020]`. Empty means everything."""
    globs: tuple[re.Pattern[str], ...]

    def matches(self, folded: str) -> bool:
        """Tell whether a folded path or tag, or anything it lies below, is meant."""
        return not self.folded or any(self._holds(name) for name in _self_and_parents(folded))

    def _holds(self, name: str) -> bool:
        return name == self.folded or any(expression.fullmatch(name) for expression in self.globs)


def path_pattern(written: str, setting: str = "sensitivity.personal_paths") -> Pattern:
    """Read a folder or glob inside the vault, of a setting. Raises ConfigError."""
    label = written.strip()
    # A leading # tells tags from paths where both are listed; a slash before it changes nothing.
    return _compiled(
        f"/{label}" if label.startswith("#") else label,
        _path(written),
        f"{setting} holds {written!r}, which cannot be read as a folder or glob inside the vault. "
        'Write it like "Private/**" and start again; nothing is indexed until then.',
    )


def tag_pattern(written: str) -> Pattern:
    """Read a tag or glob of tags, with or without `#`. Raises ConfigError."""
    name = written.strip().lstrip("#").strip()
    return _compiled(
        f"#{name}",
        _tag(name),
        f"sensitivity.personal_tags holds {written!r}, which cannot be read as a tag or glob of tags. "
        'Write it like "#private" or "work/secret" and start again; nothing is indexed until then.',
    )


def folded_tag(tag: str) -> str:
    """Fold a tag as the patterns are folded: a false match is the safe side."""
    return fold_loosely(tag).strip().lstrip("#").strip("/")


def _path(written: str) -> str | None:
    """The folded folder or glob that is meant, anchored at the vault's root; None for none."""
    kept = _segments(written)
    while kept and kept[-1] == "**":
        kept.pop()
    return "/".join(kept) if written.strip() else None


def _tag(name: str) -> str | None:
    """The folded tag or glob that is meant; None for none. No tag has white space in it."""
    kept = _segments(name)
    while len(kept) > 1 and kept[-1] == "**":
        kept.pop()
    return "/".join(kept) if kept and not re.search(r"\s", name) else None


def _segments(written: str) -> list[str]:
    segments = fold_loosely(written).strip().replace("\\", "/").split("/")
    return [segment.strip() for segment in segments if segment.strip() not in {"", "."}]


def _compiled(label: str, folded: str | None, complaint: str) -> Pattern:
    if folded is None or ".." in folded.split("/") or not _is_balanced(folded) or len(folded) > _LONGEST:
        raise ConfigError(complaint)
    if not folded:
        return Pattern(label, "", ())
    try:
        expressions, _ = glob.translate(folded, flags=_FLAGS)
        return Pattern(label, folded, tuple(re.compile(expression) for expression in expressions))
    except (re.error, ValueError, RecursionError):
        raise ConfigError(complaint) from None


def _self_and_parents(path: str) -> Iterator[str]:
    yield path
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


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
