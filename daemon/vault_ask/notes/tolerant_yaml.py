"""YAML to JSON-ready values, as an owner meant them: text stays as written, `[[Parent]]` is a link, bombs are refused.

Built on PyYAML's event stream, which neither recurses nor makes Python objects: no date, no tag and no anchor can
raise or grow here. Scalars follow YAML 1.2: only true and false are booleans, and only numbers that would be written
the same way again are numbers.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import yaml

from vault_ask.notes.fold import storable

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 32
_MOST_VALUES = 20_000
_LONGEST = 1_000_000
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"0|-?[1-9]\d{0,14}")
# YAML calls ` #travel` a comment, but who writes no space after the # means a tag or a number.
_HASH_WORD = re.compile(r"[ \t]+#[^\s#].*")
_FLOAT = re.compile(r"-?\d{1,15}\.\d{1,15}")


class UnreadableYaml(Exception):
    """The text is not one YAML document we can take; `line` is 0-based within the text."""

    def __init__(self, line: int) -> None:
        """Remember where."""
        super().__init__("unreadable YAML")
        self.line = line


@dataclass(frozen=True, slots=True)
class Document:
    """The value of a YAML text, and the keys of a top-level mapping as written, each with its 0-based line."""

    value: Any
    keys: tuple[tuple[str, int], ...] = ()


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read."""

    start: Any
    anchor: str | None
    is_mapping: bool
    items: list[Any] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    child: tuple[int, int] | None = None
    weight: int = 1


@dataclass(slots=True)
class _Reader:
    text: str
    stack: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)
    root: Any = None
    keys: list[tuple[str, int]] = field(default_factory=list)

    def put(self, value: Any, weight: int, event: Any, anchor: str | None = None) -> None:  # noqa: ANN401  # JSON value
        if anchor:
            self.anchors[anchor] = (value, weight)
        if not self.stack:
            self.root = value
            return
        top = self.stack[-1]
        top.items.append(value)
        top.lines.append(event.start_mark.line)
        top.weight += weight
        if top.weight > _MOST_VALUES:
            raise UnreadableYaml(event.start_mark.line)

    def alias(self, event: Any) -> None:  # noqa: ANN401  # PyYAML's events are untyped
        if event.anchor not in self.anchors:
            raise UnreadableYaml(event.start_mark.line)
        value, weight = self.anchors[event.anchor]
        self.put(value, weight, event)

    def open(self, event: Any, *, is_mapping: bool) -> None:  # noqa: ANN401  # PyYAML's events are untyped
        if len(self.stack) >= _DEEPEST:
            raise UnreadableYaml(event.start_mark.line)
        self.stack.append(_Open(event, event.anchor, is_mapping))

    def close(self, event: Any) -> None:  # noqa: ANN401  # PyYAML's events are untyped
        done = self.stack.pop()
        span = (done.start.start_mark.index, event.end_mark.index)
        value: Any = self._link(done, span)
        if value is None:
            value = self._mapping(done) if done.is_mapping else done.items
        if self.stack:
            self.stack[-1].child = span
        self.put(value, done.weight, done.start, done.anchor)

    def _link(self, done: _Open, span: tuple[int, int]) -> str | None:
        """A list that holds nothing but an adjacent list was written as a wikilink."""
        inner = (span[0] + 1, span[1] - 1)
        is_link = not done.is_mapping and done.start.flow_style and len(done.items) == 1 and done.child == inner
        return self.text[span[0] : span[1]] if is_link and not isinstance(done.items[0], str) else None

    def _mapping(self, done: _Open) -> dict[str, Any]:
        keys, values, lines = done.items[::2], done.items[1::2], done.lines[::2]
        mapping: dict[str, Any] = {}
        said: dict[str, list[Any]] = {}
        for key, value, line in zip(keys, values, lines, strict=True):
            name = _name(key)
            if not self.stack:
                self.keys.append((name, line))
            merged = value if isinstance(value, list) else [value]
            if name == "<<" and all(isinstance(one, dict) for one in merged):
                mapping = reduce(lambda whole, one: {**one, **whole}, merged, mapping)
                continue
            said.setdefault(name, []).append(value)
        return {**mapping, **{name: all_said(values) for name, values in said.items()}}


def read_yaml(text: str) -> Document:
    """Read one YAML document. Raises UnreadableYaml, and nothing else."""
    if len(text) > _LONGEST:
        raise UnreadableYaml(0)
    reader = _Reader(text)
    documents = 0
    for event in _events(text):
        line = event.start_mark.line
        match event:
            case yaml.DocumentStartEvent():
                documents += 1
                if documents > 1:
                    raise UnreadableYaml(line)
            case yaml.ScalarEvent():
                reader.put(_scalar(event, text), 1, event, event.anchor)
            case yaml.SequenceStartEvent():
                reader.open(event, is_mapping=False)
            case yaml.MappingStartEvent():
                reader.open(event, is_mapping=True)
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                reader.close(event)
            case yaml.AliasEvent():
                reader.alias(event)
            case _:
                pass
    return Document(reader.root, tuple(reader.keys))


def _events(text: str) -> Iterator[Any]:
    try:
        yield from yaml.parse(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        raise UnreadableYaml(mark.line if mark else 0) from None


def _scalar(event: Any, text: str) -> Any:  # noqa: ANN401  # PyYAML's events are untyped; a JSON scalar
    if event.style or not event.implicit[0]:
        return storable(event.value)
    hash_word = _HASH_WORD.match(text, event.end_mark.index)
    return storable(event.value + hash_word[0]).strip() if hash_word else _plain(event.value)


def _plain(text: str) -> Any:  # noqa: ANN401  # a JSON scalar
    """Read an unquoted scalar: what could be told only with loss stays text (dates, 007, 1.10, yes)."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and str(float(text)) == text:
        return float(text)
    return storable(text)


def _name(key: Any) -> str:  # noqa: ANN401  # any JSON value may stand as a key
    if isinstance(key, str):
        return key
    return "" if key is None else json.dumps(key, ensure_ascii=False)


def all_said(values: list[Any]) -> Any:  # noqa: ANN401  # a JSON value
    """The value of a key that was written once or several times: different values stand as a list, for all to see."""
    return values[0] if all(value == values[0] for value in values) else values
