"""What the frontmatter of a note says, in Obsidian's properties: title, aliases, tags, topics, links in any of them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from vault_ask.notes.fold import fold
from vault_ask.notes.links import tag_key, wikilink
from vault_ask.notes.model import FrontmatterState, Link, LinkKind, Problem
from vault_ask.notes.tolerant_yaml import all_said

_WIKILINK = re.compile(r"!?\[\[([^\[\]\n]+)\]\]")
_TAG_KEYS = frozenset({"tag", "tags"})
_TOPIC_KEYS = frozenset({"topic", "topics", "up", "parent", "parents"})
_ABOUT_KEYS = _TOPIC_KEYS | {"category", "categories"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    """What the block says. `values` are JSON-ready; `keys` are all keys in order, each with its line of the file."""

    state: FrontmatterState = FrontmatterState.NONE
    values: Mapping[str, Any] = field(default_factory=dict)
    keys: tuple[tuple[str, int], ...] = ()
    perhaps: Mapping[str, Any] = field(default_factory=dict)
    """What is in doubt: of a block that has no clear end, what every line of the note that looks like a key says, as
    text; of further blocks below the first, what each of their keys says, as a list, which is no word of any rule."""
    body_line: int = 1
    problems: tuple[Problem, ...] = ()

    @property
    def key_lines(self) -> Mapping[str, int]:
        """The line of the file in which each key stands first."""
        return dict(reversed(self.keys))

    def get(self, *names: str) -> list[Any]:
        """The values of every key that is one of these names without case."""
        return [value for key, value in self.values.items() if fold(key).strip() in names]

    @property
    def claims(self) -> Mapping[str, Any]:
        """What the rules look at: the values, and what a block without a clear end perhaps says."""
        both = self.values.keys() & self.perhaps.keys()
        return {**self.perhaps, **self.values, **{key: all_said([self.values[key], self.perhaps[key]]) for key in both}}

    @property
    def title(self) -> str | None:
        """The title when the block gives one as text (a date or number counts as written); of several the first."""
        is_repeated = [fold(key).strip() for key, _ in self.keys].count("title") > 1
        values = self.get("title")
        given = [one for value in values for one in (value if is_repeated and isinstance(value, list) else [value])]
        texts = [_shown(value) for value in given if _is_text(value)]
        return next((text for text in texts if text), None)

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names, from a list, one text, or a text with commas."""
        found = (alias for value in self.get("aliases", "alias") for alias in _names(value, separators=","))
        return tuple(dict.fromkeys(found))

    @property
    def tags(self) -> tuple[str, ...]:
        """Folded tags without `#`, from a list or from a text with commas or spaces."""
        found = (tag_key(tag) for value in self.get(*_TAG_KEYS) for tag in _tag_names(value))
        return tuple(dict.fromkeys(tag for tag in found if tag))

    @property
    def topics(self) -> tuple[str, ...]:
        """What the note is filed under, as a person would say it."""
        found = (_shown(name) for value in self.get(*_ABOUT_KEYS) for name in _names(value, separators=""))
        return tuple(dict.fromkeys(name for name in found if name))

    @property
    def links(self) -> tuple[Link, ...]:
        """The wikilinks in any property, with the line of their key."""
        lines = self.key_lines
        return tuple(
            link
            for key, value in self.values.items()
            for text in _texts(value)
            for link in _links_in(text, _kind(key), lines.get(key, 1))
        )


def holds_tags(key: str) -> bool:
    """Tell whether a property is one of Obsidian's for tags."""
    return fold(key).strip() in _TAG_KEYS


def topics_of(values: Mapping[str, Any]) -> tuple[str, ...]:
    """What a note with these properties is filed under, as a person would say it."""
    return Frontmatter(values=values).topics


def _is_text(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _shown(value: object) -> str:
    """A value as one line of text, a wikilink as a reader sees it."""
    text = _WIKILINK.sub(lambda found: _display(found[1]), str(value))
    return " ".join(text.split())


def _display(inner: str) -> str:
    place, _, alias = inner.partition("|")
    return alias.strip() or place.partition("#")[0].strip().removesuffix(".md").rpartition("/")[2]


def _names(value: object, *, separators: str) -> Iterator[str]:
    """The names a property lists; only a lone text is parted at separators, a list's items are whole."""
    match value:
        case list():
            yield from (name for item in value for name in _names(item, separators=""))
        case str() if separators and not value.startswith("[["):
            yield from (name for part in value.split(separators) if (name := " ".join(part.split())))
        case str() | int() | float():
            yield from filter(None, [" ".join(str(value).split())])
        case _:
            return


def _tag_names(value: object) -> Iterator[str]:
    for name in _names(value, separators=""):
        yield from (tag.strip("[]\"'") for tag in re.split(r"[,\s]+", name))


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            yield from (text for item in value for text in _texts(item))
        case dict():
            yield from (text for item in value.items() for part in item for text in _texts(part))
        case _:
            return


def _kind(key: str) -> LinkKind:
    return LinkKind.TOPIC if fold(key).strip() in _TOPIC_KEYS else LinkKind.WIKILINK


def _links_in(text: str, kind: LinkKind, line: int) -> Iterator[Link]:
    for found in _WIKILINK.finditer(text):
        if link := wikilink(found[1], kind, line):
            yield link
