"""Lines that look like entries of YAML, read one by one where they are no block that YAML can read as a whole."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import regex

from vault_ask.notes.fold import storable
from vault_ask.notes.tolerant_yaml import UnreadableYaml, all_said, read_yaml

_KEY = re.compile(
    r"""\s*(?:"([^"]{1,200})"|'([^']{1,200})'|([^\s#\[\]{}"'|>,&*!%@`:-][^:]{0,199}?))\s*:(?:\s+(.*))?$"""
)
# TOML has an equals sign where YAML has a colon.
_SAID_LOOSELY = re.compile(r"""[\s"'{-]*([^\s"'{:：=-][^:：=]{0,199})[:：=](.*)$""")
_YAML_LIKE = re.compile(r"\s+\S|-\s|#")
_INVISIBLE = regex.compile(r"[\p{Cf}\ufffe]+")
_MOST_ENTRIES = 1_000


def entry_by_entry(block: Sequence[str]) -> tuple[dict[str, Any], tuple[tuple[str, int], ...]]:
    """Read each top-level key with the lines that belong to it by itself, as YAML or else as text."""
    said: dict[str, list[Any]] = {}
    keys: list[tuple[str, int]] = []
    starts = [at for at, line in enumerate(block) if _KEY.match(line) and not line[:1].isspace()]
    starts = starts or [at for at, line in enumerate(block) if _KEY.match(line)]
    for start, end in pairwise([*starts[:_MOST_ENTRIES], *starts[_MOST_ENTRIES : _MOST_ENTRIES + 1], len(block)]):
        key, value = _entry(block[start:end])
        said.setdefault(key, []).append(value)
        keys.append((key, start + 2))
    return {key: all_said(values) for key, values in said.items()}, tuple(keys)


def said_loosely(lines: Iterable[str]) -> dict[str, Any]:
    """Every line that looks like a key, with the list or the indented lines below it, as text.

    Where nobody can tell where a block ends, nobody can tell a comment from a heading either. Takes time in proportion
    to the text.
    """
    said: dict[str, list[Any]] = {}
    last: list[Any] | None = None
    for line in lines:
        text = storable(seen(line))
        if last is not None and text[:1] in {" ", "\t", "-"} and (item := text.strip(" \t-")):
            last.append(item)
        if found := _SAID_LOOSELY.match(text):
            last = said.setdefault(found[1].strip(" \t\"'"), [])
            last.append(found[2].strip())
        elif text[:1] not in {" ", "\t", "-"}:
            last = None
    return {key: all_said(values) for key, values in said.items()}


def key_of_line(line: str) -> str | None:
    """Give what looks like a key at the beginning of a line, whatever stands around it; None where nothing does."""
    found = _SAID_LOOSELY.match(storable(seen(line)))
    return found[1].strip(" \t\"'") if found else None


def seen(line: str) -> str:
    """Give a line without signs that nobody sees."""
    return line if line.isascii() else _INVISIBLE.sub("", line)


def is_yaml_like(line: str) -> bool:
    """Tell whether a line can stand in a block: an entry, what belongs to one, or a comment."""
    return bool(_KEY.match(line) or _YAML_LIKE.match(line))


def is_entry(line: str) -> bool:
    """Tell whether a line begins with a key."""
    return bool(_KEY.match(line))


def _entry(lines: Sequence[str]) -> tuple[str, Any]:
    found = _KEY.match(lines[0])
    assert found is not None  # noqa: S101  # the caller matched this line  # narrows the type
    key = storable(found[1] or found[2] or found[3]).strip()
    for text in ("\n".join(lines), lines[0]):
        try:
            value = read_yaml(text).value
        except UnreadableYaml:
            continue
        if isinstance(value, dict) and len(value) == 1:
            return key, next(iter(value.values()))
    return key, storable(found[4] or "").strip().strip("\"'") or None
