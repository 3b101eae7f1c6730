"""What a note's properties say, in the form in which they are compared: as users write a value, so they may ask for it.

A value is a run of folded words, and a number where it is one. Knows nothing of questions or of the index.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import regex

from vault_ask.notes.fold import fold, storable
from vault_ask.notes.links import link_key

_NUMBER = re.compile(r"[+-]?\d{1,300}(?:\.\d{1,300})?", re.ASCII)
_LINK = re.compile(r"!?\[\[([^\[\]\n|]*)(?:\|([^\[\]\n]*))?\]\]")
_AROUND = "\"'“”„«»‘’,;:.!?()[]{}#"
_SPACELESS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")
_HUMP = regex.compile(r"(?<=\p{Ll})(?=\p{Lu})")
_JOINT = regex.compile(r"(?<=[\p{L}\p{M}\p{N}])[ _-](?=[\p{L}\p{M}\p{N}])")
_SIMPLE = regex.compile(r"[\p{L}\p{M}\p{N}]+")
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Property:
    """One item of a property: its folded key, its words (empty where it has no value) and its number, if it is one."""

    key: str
    words: str
    number: float | None = None


def property_key(name: str) -> str:
    """Give the name under which a property is kept and asked for."""
    return fold(storable(name)).strip()


def squeezed(name: str) -> str:
    """Give the name of a property by which `created_at`, `Created At`, `created-at` and `createdAt` are one."""
    return fold(storable(name)).replace(" ", "").replace("_", "").replace("-", "").replace("*", "")


def parted(text: str) -> str:
    """Give a text with those words apart that are written in one, as in `dueDate`: nobody asks for them so."""
    return _HUMP.sub(" ", text)


def as_words(text: str) -> str:
    """Fold a text to its words with one blank between them, marks around a word taken off."""
    bare = (word.strip(_AROUND) or word for word in fold(storable(text)).split())
    return " ".join(bare)


def as_parts(text: str) -> tuple[str, ...]:
    """Give the folded words of a value, of `on-hold`, `on_hold` and `onHold` two.

    Nothing where it does not begin with a letter, as a date and a number do, or has other signs in it: `owed -5` is not
    `owed 5`.
    """
    parts = tuple(_JOINT.split(as_words(parted(storable(text)))))
    return parts if parts[0][:1].isalpha() and all(map(_SIMPLE.fullmatch, parts)) else ()


def as_number(text: str) -> float | None:
    """Read a number as it is written in YAML; None for any other text."""
    return float(text) if _NUMBER.fullmatch(text.strip()) else None


def is_spaceless(word: str) -> bool:
    """Say whether a word is of a script that writes no blanks between words, so that it may be a part of a run."""
    return bool(_SPACELESS.match(word))


def properties(frontmatter: Mapping[str, object]) -> Iterator[Property]:
    """Give each item of each property; a link under its alias and under the name of what it leads to."""
    for name, value in frontmatter.items():
        key = property_key(name)
        items = dict.fromkeys(_items(value, _DEEPEST))
        for words, number in items or {("", None): None}:
            yield Property(key, words, number)


def _items(value: object, depth: int) -> Iterator[tuple[str, float | None]]:
    match value:
        case bool():
            yield str(value).lower(), None
        case int() | float():
            yield from _readings(str(value))
        case str():
            yield from _readings(value)
        case list() if depth:
            yield from (item for one in value for item in _items(one, depth - 1))
        case dict() if depth:
            yield from (item for one in value.values() for item in _items(one, depth - 1))
        case _:
            return


def _readings(text: str) -> Iterator[tuple[str, float | None]]:
    number = as_number(text)
    for reading in (_LINK.sub(_target, text), _LINK.sub(_alias, text)):
        if words := as_words(reading):
            yield words, number


def _target(link: re.Match[str]) -> str:
    return link_key(link[1].partition("#")[0])


def _alias(link: re.Match[str]) -> str:
    return link[2] or _target(link)


def without_links(text: str) -> str:
    """Give a text with each link as the name of what it leads to."""
    return _LINK.sub(_target, text)
