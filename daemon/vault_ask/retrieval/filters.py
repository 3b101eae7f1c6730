"""The filters in a question, in the words of Obsidian's own search: `tag:#x`, `path:Area/`, `[status:open]`, ...

Whatever is no filter is text, as it was; nothing is ever an error. What could be either is text: `path:A` (a path has a
slash in it, or quotes around it), `tag: none`, `[text](url)`, `[[Note]]`, `12:30`, `[note: see below]`, and a word in
brackets beside other words (`[sic]`). docs/filters.md tells users what there is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import regex

from vault_ask.index.within import Filter, Property, Wanted
from vault_ask.notes.fold import storable
from vault_ask.notes.properties import property_key
from vault_ask.retrieval.filter_values import of_name, of_property, unquoted
from vault_ask.retrieval.words import is_wordless

MOST = 32
"""More filters than anybody writes; what comes after them is text."""

_MOST_BEGUN = 1_000
"""Places in a text where a filter may begin; a text with more of them is no question."""

_BLANK = r"\s\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_QUOTED = r"""(?:"(?:\\.|[^"\\\n]){0,500}"|[“„](?:[^“”„\n]){0,500}[“”])"""
_CLOSING = ".,;!?…。、，！？"
_ENDS = rf"(?=[{_CLOSING}]*+(?:[{_BLANK}]|$))"
_NO_VALUE = rf"""{_BLANK}"“”„()\[\]<>:|*?\\"""
_START = regex.compile(
    rf"(?<![^{_BLANK}])(?=[-–−]?(?:\(|\[|(?:tag|path|file|task(?:-todo|-done)?):))", regex.IGNORECASE
)
_MINUS = regex.compile("[-–−]")
_OR = regex.compile(rf"(?<![{_BLANK}])[{_BLANK}]++OR[{_BLANK}]++")
_OPEN, _CLOSED = regex.compile(rf"\([{_BLANK}]*"), regex.compile(rf"[{_BLANK}]*\)")
_END = regex.compile(_ENDS)
_NAMED = regex.compile(
    rf"""(?P<name>tag|path|file|task-todo|task-done|task):(?:
      (?P<quoted>{_QUOTED})
    | \((?P<group>(?:{_QUOTED}|[^()"“”„\n]){{1,500}})\)
    | (?P<bare>(?!//)[^{_NO_VALUE}](?:[{_CLOSING}]*+[^{_NO_VALUE}{_CLOSING}]++)*+)(?={_ENDS}|\))
    | (?P<nothing>(?={_ENDS}|\)))
    )""",
    regex.IGNORECASE | regex.VERBOSE,
)
_PROPERTY = regex.compile(
    rf"""\[(?:(?P<key>{_QUOTED})|(?P<word>[\p{{L}}\p{{N}}_][\p{{L}}\p{{M}}\p{{N}}_./-]*))
    (?P<said>:(?P<value>(?![\s\\]|//)(?>{_QUOTED}|\[\[[^\[\]\n]{{1,300}}\]\]|[^\[\]\n"])+?))?\]""",
    regex.VERBOSE,
)
_LETTERS = regex.compile(r"\p{L}[\p{M}\p{N}_./-]*\p{L}")


@dataclass(frozen=True, slots=True)
class Filtered:
    """A question without its filters, and the filters; where there are none, `rest` is the question to the letter."""

    rest: str
    filters: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True)
class _Item:
    """Filters that stand for each other, with where in the text their writing ends."""

    any_of: tuple[tuple[str, Wanted], ...]
    end: int
    is_loose: bool = False
    """Whether it is a word in brackets, which is a filter only among filters."""


def read_filters(question: str) -> Filtered:
    """Part a question into its filters and the rest."""
    text = storable(question)
    found = list(_found(text, loose=True))
    if any(item.is_loose for _, item, _ in found) and not is_wordless(_rest(text, found)):
        found = list(_found(text, loose=False))
    filters = tuple(dict.fromkeys(one for _, _, made in found for one in made))
    return Filtered(_rest(text, found), filters) if filters else Filtered(question)


_Found = tuple[int, _Item, tuple[Filter, ...]]


def _found(text: str, *, loose: bool) -> Iterator[_Found]:
    """Give where a filter begins, what it is made of, and the filters it comes to."""
    end = made = 0
    for start in islice(_START.finditer(text), _MOST_BEGUN):
        if start.start() < end or made >= MOST:
            continue
        found = _chain(text, start.start()) or _negated_group(text, start.start())
        if found is None or not _END.match(text, found[0].end) or (found[0].is_loose and not loose):
            continue
        end, made = found[0].end, made + sum(len(each.any_of) for each in found[1])
        yield start.start(), *found


def _rest(text: str, found: list[_Found]) -> str:
    ends = [0, *(item.end for _, item, _ in found)]
    starts = [*(start for start, _, _ in found), len(text)]
    pieces = (text[end:start].strip() for end, start in zip(ends, starts, strict=True))
    return " ".join(piece for piece in pieces if piece)


def _chain(text: str, at: int) -> tuple[_Item, tuple[Filter, ...]] | None:
    """Read one filter, or several with OR between them, perhaps in parentheses."""
    opened = _OPEN.match(text, at)
    item = _alternatives(text, opened.end() if opened else at)
    if item is None or not opened:
        return None if item is None else (item, (_one(text[at : item.end], item),))
    closed = _CLOSED.match(text, item.end)
    if closed is None:
        return None
    return replace(item, end=closed.end(), is_loose=False), (_one(text[at : closed.end()], item),)


def _negated_group(text: str, at: int) -> tuple[_Item, tuple[Filter, ...]] | None:
    """Read a minus before several values or filters: none of them may hold."""
    minus = _MINUS.match(text, at)
    opened = _OPEN.match(text, minus.end()) if minus else None
    if minus is None:
        return None
    item = _alternatives(text, opened.end()) if opened else _single(text, minus.end())
    closed = _CLOSED.match(text, item.end) if item and opened else None
    if item is None or (opened and not closed):
        return None
    each = tuple(Filter(_turned(written), (_against(wanted),)) for written, wanted in item.any_of)
    return replace(item, end=closed.end() if closed else item.end, is_loose=False), each


def _one(written: str, item: _Item) -> Filter:
    return Filter(" ".join(written.split()), tuple(wanted for _, wanted in item.any_of))


def _turned(written: str) -> str:
    return written[1:] if _MINUS.match(written) else f"-{written}"


def _against(wanted: Wanted) -> Wanted:
    return replace(wanted, negated=not wanted.negated)


def _alternatives(text: str, at: int) -> _Item | None:
    """Read filters with OR between them, as many as there are."""
    item = _signed(text, at)
    while item is not None and (joined := _OR.match(text, item.end)):
        following = _signed(text, joined.end())
        if following is None or len(item.any_of) >= MOST:
            break
        item = _Item((*item.any_of, *following.any_of), following.end)
    return item


def _signed(text: str, at: int) -> _Item | None:
    """Read a filter, perhaps with a minus; a minus before several values is no alternative to anything."""
    minus = _MINUS.match(text, at)
    if minus is None:
        return _single(text, at)
    item = _single(text, minus.end())
    if item is None or len(item.any_of) > 1:
        return None
    (written, wanted), *_ = item.any_of
    return _Item(((f"-{written}", _against(wanted)),), item.end)


def _single(text: str, at: int) -> _Item | None:
    return _named(text, at) or _bracketed(text, at)


def _named(text: str, at: int) -> _Item | None:
    """Read `name:value`, `name:"several words"` or `name:(one OR other)`."""
    found = _NAMED.match(text, at)
    if found is None:
        return None
    name = found["name"].lower()
    made = [(value, of_name(name, value)) for value in _values(found)]
    any_of = tuple((f"{name}:{value}", Wanted(has)) for value, has in made if has is not None)
    return _Item(any_of, found.end()) if any_of and len(any_of) == len(made) else None


def _values(found: "regex.Match[str]") -> list[str]:
    if found["group"] is not None:
        return [value.strip() for value in _OR.split(found["group"])][:MOST]
    return [found["quoted"] or found["bare"] or ""]


def _bracketed(text: str, at: int) -> _Item | None:
    """Read `[property]`, `[property:value]` or `[property:one OR other]`."""
    found = _PROPERTY.match(text, at)
    if found is None or not (found["key"] or _LETTERS.search(found["word"]) or _is_value_of(found)):
        return None
    key = property_key(unquoted(found["key"] or found["word"]))
    if not key:
        return None
    if found["said"] is None:
        return _Item(((found[0], Wanted(Property(key))),), found.end(), is_loose=not found["key"])
    values = _OR.split(_inside(found["value"]))[:MOST]
    made = [of_property(key, value.strip()) for value in values]
    any_of = tuple(
        (f"[{found['key'] or found['word']}:{value.strip()}]", Wanted(has))
        for value, has in zip(values, made, strict=True)
        if has is not None
    )
    return _Item(any_of, found.end()) if len(any_of) == len(made) else None


def _is_value_of(found: "regex.Match[str]") -> bool:
    """Say whether a key of one letter has a value; a figure before a colon is a time or a place in a book."""
    return found["said"] is not None and bool(regex.search(r"\p{L}", found["word"]))


def _inside(value: str) -> str:
    return value[1:-1] if value.startswith("(") and value.endswith(")") else value
