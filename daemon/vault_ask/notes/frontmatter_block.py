"""Where the YAML block of a note is and where it ends, and what can be told when it is broken or out of its place.

Never fails: a wrong block costs the block, not the note.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from vault_ask.notes.entries import entry_by_entry, is_entry, is_yaml_like, said_loosely, seen
from vault_ask.notes.frontmatter import Frontmatter
from vault_ask.notes.model import FrontmatterState, Problem
from vault_ask.notes.tolerant_yaml import Document, UnreadableYaml, read_yaml

UNCLOSED, MISPLACED, UNCLEAR = "frontmatter-unclosed", "frontmatter-misplaced", "frontmatter-unclear"
"""Codes of problems. A block that is misplaced, or hardly looks like one, matters only to rules that it speaks of."""

_HEADING = re.compile(r"#{1,6}\s")
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
        for key, value in entry_by_entry(list(_block_like(map(seen, inside))))[0].items():
            said.setdefault(key, []).append(value)
        first = first or at + 1
        start = at + len(inside) + 2
    return first, dict(said)


def _opening(lines: Sequence[str], start: int) -> int | None:
    """Find the rule that opens a block with nothing but asides above it: its line, from 0.

    Where it was lost, entries alone stand above the rule that closes, and it is the line before the first of them.
    """
    at = _first_line(lines, start)
    if at is None or _OPENS_LOOSELY.match(seen(lines[at])):
        return at
    if not is_entry(seen(lines[at])):
        return None
    entries = list(takewhile(_is_inside, lines[at : at + _UNCLOSED_LINES]))
    is_closed = at + len(entries) < len(lines) and len(entries) < _UNCLOSED_LINES
    return at - 1 if is_closed and all(map(is_yaml_like, map(seen, entries))) else None


def _first_line(lines: Sequence[str], start: int) -> int | None:
    """Find the first line that is neither blank nor an aside, among the next few."""
    places = range(start, min(start + _LINES_ABOVE, len(lines)))
    return next((at for at in places if not _is_aside(lines[at])), None)


def _is_aside(line: str) -> bool:
    visible = seen(line)
    return not visible.strip() or bool(_CONFLICT.match(visible) or _ASIDE.match(visible))


def _is_inside(line: str) -> bool:
    return not _OPENS_ASKEW.fullmatch(seen(line))


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
    values, keys = entry_by_entry(block)
    return Frontmatter(
        state=FrontmatterState.UNREADABLE,
        values=values,
        keys=keys,
        body_line=body_line if values else 1,
        problems=(problem,),
    )


def _unclosed(lines: Sequence[str]) -> Frontmatter:
    """A block without an end is body, but its lines may still name the key that makes the note personal."""
    values, keys = entry_by_entry(list(_block_like(lines[1:_UNCLOSED_LINES])))
    perhaps = said_loosely(lines[1:])
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
    values, _ = entry_by_entry(list(_block_like(map(seen, inside[:_UNCLOSED_LINES]))))
    # Below a heading a rule is a rule, and what comes after it is text.
    is_below_text = any(_ASIDE.match(seen(line)) for line in lines[: max(start, 0)])
    loosely = {} if is_below_text else said_loosely(inside)
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


def _block_like(lines: Iterable[str]) -> Iterator[str]:
    """The lines up to a blank line after which a heading comes, or no more keys. Above one a heading is a comment."""
    after_blank = False
    for line in lines:
        if after_blank and line.strip() and (_HEADING.match(line) or not is_yaml_like(line)):
            return
        after_blank = after_blank or not line.strip()
        yield line
