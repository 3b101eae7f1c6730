"""The YAML block at the top of a note: where it ends, what it says, and what can be told when it is broken.

Knows Obsidian's properties (title, aliases, tags, links in any of them). Never fails: a wrong block costs the block,
not the note.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from typing import Any

import regex

from vault_ask.notes.fold import fold, storable
from vault_ask.notes.links import tag_key, wikilink
from vault_ask.notes.model import FrontmatterState, Link, LinkKind, Problem
from vault_ask.notes.tolerant_yaml import Document, UnreadableYaml, all_said, read_yaml

UNCLOSED, MISPLACED, UNCLEAR = "frontmatter-unclosed", "frontmatter-misplaced", "frontmatter-unclear"
"""Codes of problems. A block that is misplaced, or hardly looks like one, matters only to rules that it speaks of."""

_KEY = re.compile(
    r"""\s*(?:"([^"]{1,200})"|'([^']{1,200})'|([^\s#\[\]{}"'|>,&*!%@`:-][^:]{0,199}?))\s*:(?:\s+(.*))?$"""
)
# TOML has an equals sign where YAML has a colon.
_SAID_LOOSELY = re.compile(r"""[\s"'{-]*([^\s"'{:：=-][^:：=]{0,199})[:：=](.*)$""")
_HEADING = re.compile(r"#{1,6}\s")
_YAML_LIKE = re.compile(r"\s+\S|-\s|#")
_WIKILINK = re.compile(r"!?\[\[([^\[\]\n]+)\]\]")
_TAG_KEYS = frozenset({"tag", "tags"})
_TOPIC_KEYS = frozenset({"topic", "topics", "up", "parent", "parents"})
_ABOUT_KEYS = _TOPIC_KEYS | {"category", "categories"}
_UNCLOSED_LINES = 500
_OPENS_ASKEW = re.compile(r"\s*(?:-{3,}\s*(?:#.*|[Yy][Aa]?[Mm][Ll])?|\+{3}\s*)$")
# Keyboards make dashes of hyphens, and words behind them change nothing of what was meant. Plus signs are TOML's.
_OPENS_LOOSELY = re.compile(r"\s*(?:-{3}|(?:--|[-–—]*[–—][-–—]*|\+{3})\s*$)")
_LINES_ABOVE = 10
_MOST_FURTHER = 20
# What may stand above a block that was at the top once: marks of a conflict in git, a heading, and lines of nothing but
# a comment, a template's code, links (a banner, the way home) or tags.
_CONFLICT = re.compile(r"<{7}|={7}\s*$|>{7}|\|{7}")
_ASIDE = re.compile(r"#{1,6}\s|%%.*%%\s*$|<!--.*-->\s*$|<%.*%>\s*$|!?\[.*[\])]\s*$|#[^\s#]+(?:\s+#[^\s#]+)*\s*$")
_INVISIBLE = regex.compile(r"[\p{Cf}\ufffe]+")
_MOST_ENTRIES = 1_000


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


def read_frontmatter(lines: Sequence[str]) -> Frontmatter:
    """Read the block that starts at the very first line, if there is one, and what further blocks below it say.

    Other programs put a block of their own above the one that is there, and a conflict in git leaves both sides'.
    """
    if not lines or lines[0].rstrip(" \t") != "---":
        return _misplaced(lines)
    close = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip(" \t") == "---"), None)
    if close is None:
        return _unclosed(lines)
    block = lines[1:close]
    try:
        document = read_yaml("\n".join(block))
    except UnreadableYaml as error:
        return _unreadable(block, error.line, body_line=close + 2)
    return _with_further(_read(document, block, body_line=close + 2), lines, close + 1)


def _with_further(front: Frontmatter, lines: Sequence[str], start: int) -> Frontmatter:
    line, said = _further(lines, start)
    if front.state is FrontmatterState.UNREADABLE or not said:
        return front
    return replace(front, perhaps=said, problems=(*front.problems, _misplaced_at(line)))


def _further(lines: Sequence[str], start: int) -> tuple[int, dict[str, Any]]:
    """Read blocks with nothing of the note's text above them: the line of the first, from 1, and what the keys say."""
    first, said = 0, dict[str, list[Any]]()
    for _ in range(_MOST_FURTHER):
        at = _opening(lines, start)
        if at is None:
            break
        inside = list(takewhile(_is_inside, lines[at + 1 : at + 1 + _UNCLOSED_LINES]))
        for key, value in _entry_by_entry(list(_block_like(map(_seen, inside))))[0].items():
            said.setdefault(key, []).append(value)
        first = first or at + 1
        start = at + len(inside) + 2
    return first, dict(said)


def _opening(lines: Sequence[str], start: int) -> int | None:
    """Find the rule that opens a block with nothing but asides above it: its line, from 0.

    Where it was lost, entries alone stand above the rule that closes, and it is the line before the first of them.
    """
    at = _first_line(lines, start)
    if at is None or _OPENS_LOOSELY.match(_seen(lines[at])):
        return at
    if not _KEY.match(_seen(lines[at])):
        return None
    entries = list(takewhile(_is_inside, lines[at : at + _UNCLOSED_LINES]))
    is_closed = at + len(entries) < len(lines) and len(entries) < _UNCLOSED_LINES
    return at - 1 if is_closed and all(map(_is_yaml_like, map(_seen, entries))) else None


def _first_line(lines: Sequence[str], start: int) -> int | None:
    """Find the first line that is neither blank nor an aside, among the next few."""
    places = range(start, min(start + _LINES_ABOVE, len(lines)))
    return next((at for at in places if not _is_aside(lines[at])), None)


def _is_aside(line: str) -> bool:
    seen = _seen(line)
    return not seen.strip() or bool(_CONFLICT.match(seen) or _ASIDE.match(seen))


def _is_inside(line: str) -> bool:
    return not _OPENS_ASKEW.fullmatch(_seen(line))


def _seen(line: str) -> str:
    """Give a line without signs that nobody sees."""
    return line if line.isascii() else _INVISIBLE.sub("", line)


def _read(document: Document, block: Sequence[str], *, body_line: int) -> Frontmatter:
    if document.value is None:
        return Frontmatter(state=FrontmatterState.READ, body_line=body_line)
    if not isinstance(document.value, dict):
        return _unreadable(block, 0, body_line=body_line)
    keys = tuple((key, line + 2) for key, line in document.keys)
    return Frontmatter(state=FrontmatterState.READ, values=document.value, keys=keys, body_line=body_line)


def _unreadable(block: Sequence[str], line: int, *, body_line: int) -> Frontmatter:
    """Keep what can be told entry by entry; text between two rules that names no key stays in the body."""
    line = min(line, max(len(block) - 1, 0)) + 2
    problem = Problem(
        code="frontmatter-unreadable",
        message=f"The frontmatter is not valid YAML near line {line}, so the note counts as personal until mended.",
        line=line,
    )
    values, keys = _entry_by_entry(block)
    return Frontmatter(
        state=FrontmatterState.UNREADABLE,
        values=values,
        keys=keys,
        body_line=body_line if values else 1,
        problems=(problem,),
    )


def _unclosed(lines: Sequence[str]) -> Frontmatter:
    """A block without an end is body, but its lines may still name the key that makes the note personal."""
    values, keys = _entry_by_entry(list(_block_like(lines[1:_UNCLOSED_LINES])))
    perhaps = _said_loosely(lines[1:])
    if not perhaps and not values:
        return Frontmatter(state=FrontmatterState.UNCLOSED)
    begins_as_text = _HEADING.match(next((line for line in lines[1:] if line.strip()), ""))
    problem = Problem(
        code=UNCLEAR if begins_as_text or not values else UNCLOSED,
        message="The frontmatter that starts at line 1 has no closing line `---`, so it is read as text; a note that "
        "names its sensitivity in it counts as personal. Close it.",
        line=1,
    )
    return Frontmatter(state=FrontmatterState.UNCLOSED, values=values, keys=keys, perhaps=perhaps, problems=(problem,))


def _misplaced(lines: Sequence[str]) -> Frontmatter:
    """A block below blank lines, or with an odd first line, is body; but who names a note personal in it means that."""
    start = _opening(lines, 0)
    if start is None:
        return Frontmatter()
    inside = list(takewhile(_is_inside, lines[start + 1 :]))
    values, _ = _entry_by_entry(list(_block_like(map(_seen, inside[:_UNCLOSED_LINES]))))
    # Below a heading a rule is a rule, and what comes after it is text.
    is_below_text = any(_ASIDE.match(_seen(line)) for line in lines[: max(start, 0)])
    loosely = {} if is_below_text else _said_loosely(inside)
    perhaps = {**_further(lines, start + len(inside) + 2)[1], **loosely}
    if not perhaps and not values:
        return Frontmatter()
    problem = _misplaced_at(max(start + 1, 1))
    return Frontmatter(state=FrontmatterState.UNCLOSED, values=values, perhaps=perhaps, problems=(problem,))


def _misplaced_at(line: int) -> Problem:
    return Problem(
        code=MISPLACED,
        message=f"Frontmatter that does not start with `---` alone in the first line but near line {line} is read as "
        "text, and names the note's sensitivity, so the note counts as personal. Move it to the top.",
        line=line,
    )


def _said_loosely(lines: Iterable[str]) -> dict[str, Any]:
    """Every line that looks like a key, with the list or the indented lines below it, as text.

    Where nobody can tell where a block ends, nobody can tell a comment from a heading either. Takes time in proportion
    to the text.
    """
    said: dict[str, list[Any]] = {}
    last: list[Any] | None = None
    for line in lines:
        text = storable(_seen(line))
        if last is not None and text[:1] in {" ", "\t", "-"} and (item := text.strip(" \t-")):
            last.append(item)
        if found := _SAID_LOOSELY.match(text):
            last = said.setdefault(found[1].strip(" \t\"'"), [])
            last.append(found[2].strip())
        elif text[:1] not in {" ", "\t", "-"}:
            last = None
    return {key: all_said(values) for key, values in said.items()}


def holds_tags(key: str) -> bool:
    """Tell whether a property is one of Obsidian's for tags."""
    return fold(key).strip() in _TAG_KEYS


def key_of_line(line: str) -> str | None:
    """Give what looks like a key at the beginning of a line, whatever stands around it; None where nothing does."""
    found = _SAID_LOOSELY.match(storable(_seen(line)))
    return found[1].strip(" \t\"'") if found else None


def _block_like(lines: Iterable[str]) -> Iterator[str]:
    """The lines up to a blank line after which a heading comes, or no more keys. Above one a heading is a comment."""
    after_blank = False
    for line in lines:
        if after_blank and line.strip() and (_HEADING.match(line) or not _is_yaml_like(line)):
            return
        after_blank = after_blank or not line.strip()
        yield line


def _is_yaml_like(line: str) -> bool:
    return bool(_KEY.match(line) or _YAML_LIKE.match(line))


def _entry_by_entry(block: Sequence[str]) -> tuple[dict[str, Any], tuple[tuple[str, int], ...]]:
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


def topics_of(values: Mapping[str, Any]) -> tuple[str, ...]:
    """What a note with these properties is filed under, as a person would say it."""
    return Frontmatter(values=values).topics
