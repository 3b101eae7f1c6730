"""What is told about filters: those that were mistyped and read as words, and those that nothing in sight fits.

A question is never an error, so that a filter with a slip in it is words; nobody should have to guess that. Whether
something fits is asked of a view, so that what only hidden notes have is told as what nobody has.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from string import ascii_lowercase

import regex

from vault_ask.index.view import VaultView
from vault_ask.index.within import Filter, Within
from vault_ask.scope import S

MOST_TOLD = 3
_MOST_ASKED = 16
"""Filters that are looked for alone; each is a look into the index."""
_LOOKED_AT = 2_000
"""Characters of a question in which slips are looked for; beyond it is a text."""

_NAMES = ("tag", "path", "file", "task", "task-todo", "task-done")
_INSIDE = frozenset({"line", "section", "block", "content", "match-case", "ignore-case"})
"""Obsidian's operators that search inside notes, which there are none of here."""

_NONE_FITS_ALL = "No passage in sight fits all of the filters together."
_CLOSING = ".,;!?…。、，！？)"
_NAMED = regex.compile(r'(?<![^\s(])[-–−]?(?P<name>\p{L}[\p{L}-]{1,11}):(?P<value>"[^"\n]{0,100}+"|\S{0,100}+)')
_BRACKETED = regex.compile(
    r"""(?<![^\s(\-])\[(?P<key>[\p{L}_"][^\[\]\n:=]{0,40}+)(?P<sign>=|:[ \t])[ \t]{0,3}+"""
    r"""(?P<value>[^\[\]\n]{1,60}+)\](?!\()"""
)


@dataclass(frozen=True, slots=True)
class Slip:
    """What looks like a filter and is none: where it stands in a text, and what is wrong with it."""

    start: int
    end: int
    why: str


def mistyped(text: str) -> list[Slip]:
    """List what looks like a filter in a text whose filters were taken out, in order."""
    return sorted((*_misnamed(text), *_misbracketed(text)), key=lambda slip: slip.start)


def without_mistyped(text: str) -> str:
    """Take out of a text what looks like a filter: it may name what is personal, and helps nobody else."""
    kept, at = list[str](), 0
    for slip in mistyped(text):
        kept.append(text[at : slip.start])
        at = max(at, slip.end)
    return "".join((*kept, text[at:])).strip() if at else text


def slips(text: str) -> list[str]:
    """Say in a sentence each which parts of a question were read as words and may have been meant as filters."""
    found = [(text[slip.start : slip.end], slip.why) for slip in mistyped(text[:_LOOKED_AT])]
    told = dict.fromkeys(f"“{written}” was read as words and not as a filter: {why}." for written, why in found)
    return list(told)[:MOST_TOLD]


def unmet(view: VaultView[S], filters: Sequence[Filter]) -> list[str]:
    """Say which filters no passage in sight fits, or that none fits all of them; nothing where it is well."""
    fits = not filters or view.filters.has_any(Within(tuple(filters)))
    # Where all of them fit something, so does each, but for what is left out.
    asked = [_positive(each) for each in filters[:_MOST_ASKED] if not fits or _leaves_out(each)]
    nothing = [each.written for each in asked if not view.filters.has_any(Within((each,)))]
    if nothing:
        return [f"No passage in sight fits {', '.join(dict.fromkeys(nothing))}."]
    return [] if fits else [_NONE_FITS_ALL]


def _leaves_out(each: Filter) -> bool:
    return len(each.any_of) == 1 and each.any_of[0].negated


def _positive(each: Filter) -> Filter:
    """Give what a filter leaves out, where it leaves something out: nothing may be a slip as well."""
    if not _leaves_out(each):
        return each
    return Filter(each.written.lstrip("-–−"), (replace(each.any_of[0], negated=False),))


def _misnamed(text: str) -> Iterator[Slip]:
    for found in _NAMED.finditer(text):
        name, value = found["name"].lower(), found["value"]
        why = None if value.startswith("//") else _why_unread(name, value)
        if why:
            yield Slip(found.start(), found.start() + len(found[0].rstrip(_CLOSING)), why)


def _why_unread(name: str, value: str) -> str | None:
    if name in _INSIDE:
        return f"there is no “{name}:” here" if value else None
    if name in _NAMES:
        return _why_no_value(name, value)
    near = _one_slip_away().get(name) if value[:1] in {"#", '"', "“"} or "/" in value else None
    return f"there is no “{name}:”, but there is “{near}:”" if near else None


@cache
def _one_slip_away() -> Mapping[str, str]:
    """Give what becomes of our names by one letter too many, too few, another one, or two exchanged."""
    slipped: dict[str, str] = {}
    for name in _NAMES:
        for at in range(len(name) + 1):
            before, behind = name[:at], name[at:]
            each = (before + letter + rest for letter in (*ascii_lowercase, "-", "") for rest in (behind, behind[1:]))
            slipped.update(dict.fromkeys((*each, before + behind[1:2] + behind[:1] + behind[2:]), name))
    return {slip: name for slip, name in slipped.items() if slip not in _NAMES}


def _why_no_value(name: str, value: str) -> str | None:
    if value == "":
        return "what it looks for has to follow the colon at once" if name in {"tag", "path"} else None
    # A regular expression, a path of Windows, a name of C++ or Rust.
    if "\\" in value or value[0] == ":":
        return None
    if name == "path":
        return "a path has a “/” in it and none in front, or quotes around it"
    return "what follows the colon is none that could be looked for"


def _misbracketed(text: str) -> Iterator[Slip]:
    for found in _BRACKETED.finditer(text):
        key, value = found["key"].strip(), found["value"].strip()
        # Behind a colon and a blank several words are a remark ([note: see below]), and so is one of a language.
        is_remark = len(value.split()) > 1 or key != key.lower()
        if value and (found["sign"] == "=" or not is_remark):
            yield Slip(found.start(), found.end(), f"a property is written [{key}:{value}]")
