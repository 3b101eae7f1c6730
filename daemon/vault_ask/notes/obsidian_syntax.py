"""Obsidian's additions to CommonMark, as rules of markdown-it: `[[links]]`, `%% comments %%`, `$math$`.

Each rule looks at a bounded stretch, so that no input makes it slow. Tokens carry `meta["at"]`: where in the inline
text they start.
"""

import re
from collections.abc import Callable

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, autolink, image, link

NESTING = 40  # a level costs about six frames of Python's thousand
LONGEST_INLINE = 32 * 1024
MOST_BRACKETS = 100_000  # an unmatched [ costs 30 us
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\n]{1,2000})\]\]")
_MATH = re.compile(r"\$\$[^$]{1,4000}\$\$|\$(?![\s$])[^$\n]{0,999}(?<![\s\\])\$(?!\d)")
_PLACES = frozenset({"link_open", "image"})


def obsidian_markdown() -> MarkdownIt:
    """Make a parser that finds structure and links; nothing is ever rendered with it."""
    md = MarkdownIt("commonmark", {"maxNesting": NESTING}).enable(["table", "strikethrough"])
    md.normalizeLink = _verbatim  # type: ignore[method-assign]  # markdown-it documents these two as replaceable
    md.validateLink = _any_link  # type: ignore[method-assign]
    md.core.ruler.at("inline", _inline)
    md.core.ruler.disable("text_join")  # it would turn an escaped \# into an ordinary one
    md.block.ruler.before("fence", "comment_block", _region("%%", "comment_block", to_end=True), _INTERRUPTS)
    md.block.ruler.before("fence", "math_block", _region("$$", "math_block", to_end=False), _INTERRUPTS)
    md.block.ruler.at("reference", _reference)
    md.inline.ruler.before("escape", "math", _math)
    md.inline.ruler.before("backticks", "comment", _comment)
    md.inline.ruler.before("link", "wikilink", _wikilink)
    for name, rule in (("link", link), ("image", image), ("autolink", autolink)):
        md.inline.ruler.at(name, _placed(rule))
    return md


_INTERRUPTS: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}


def _verbatim(url: str) -> str:
    return url


def _any_link(url: str) -> bool:  # noqa: ARG001  # markdown-it's form
    return True


def _inline(state: StateCore) -> None:
    """Parse the inline text that can hold something we look for; the rest is plain words already."""
    is_heading = False
    brackets = MOST_BRACKETS
    for token in state.tokens:
        if token.type == "inline" and (is_heading or "[" in token.content or "#" in token.content):
            brackets -= token.content.count("[")
            if len(token.content) <= LONGEST_INLINE and brackets >= 0:
                token.children = []
                state.md.inline.parse(token.content, state.md, state.env, token.children)
            else:
                token.meta["unread"] = True
        is_heading = token.type == "heading_open"


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  # markdown-it's form
    """A footnote's text `[^1]: ...` is a paragraph, not the definition of a link."""
    at = state.bMarks[start] + state.tShift[start]
    return not state.src.startswith("[^", at) and reference(state, start, end, silent)


def _region(mark: str, kind: str, *, to_end: bool) -> Callable[[StateBlock, int, int, bool], bool]:
    """A block from a line that starts with the mark to the next mark; without one, to the end or none."""

    def rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  # markdown-it's form
        first = _line(state, start)
        if state.is_code_block(start) or not first.startswith(mark):
            return False
        last = _closing(state, start, end, mark, to_end=to_end)
        if last is None:
            return False
        if not silent:
            token = state.push(kind, "", 0)
            token.map = [start, last + 1]
            token.hidden = True
            _push_rest(state, last, mark if last > start else "\n")
            state.line = last + 1
        return True

    return rule


def _push_rest(state: StateBlock, line: int, mark: str) -> None:
    """What stands behind the mark that closes a region is text again."""
    rest = _line(state, line).partition(mark)[2]
    if rest.strip():
        token = state.push("inline", "", 0)
        token.content, token.map, token.children = rest, [line, line + 1], []


def _closing(state: StateBlock, start: int, end: int, mark: str, *, to_end: bool) -> int | None:
    """The line that closes a region; None when the line goes on after it, or nothing closes what must be closed."""
    rest = _line(state, start)[len(mark) :]
    if mark in rest:
        return start if rest.rstrip().endswith(mark) else None
    if start >= state.env.get(f"unclosed {mark}", end):
        return None
    for line in range(start + 1, end):
        if state.sCount[line] < state.blkIndent and _line(state, line):
            return line - 1 if to_end else None
        if mark in _line(state, line):
            return line
    if not to_end:
        state.env[f"unclosed {mark}"] = start  # or each mark would search to the end again
    return end - 1 if to_end else None


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _wikilink(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  # markdown-it's form
    found = _WIKILINK.match(state.src, state.pos, state.posMax) if state.src[state.pos] in "![" else None
    if not found:
        return False
    if not silent:
        token = state.push("wikilink", "", 0)
        token.content, token.markup = found[2], found[1]
        token.meta = {"at": state.pos}
    state.pos = found.end()
    return True


def _math(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  # markdown-it's form
    found = _MATH.match(state.src, state.pos, state.posMax) if state.src[state.pos] == "$" else None
    if not found:
        return False
    if not silent:
        state.push("math_inline", "", 0).content = found[0].strip("$")
    state.pos = found.end()
    return True


def _comment(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  # markdown-it's form
    """A comment that is not closed hides the rest, as in Obsidian."""
    if not state.src.startswith("%%", state.pos):
        return False
    close = state.src.find("%%", state.pos + 2, state.posMax)
    if not silent:
        state.push("comment", "", 0)
    state.pos = close + 2 if close >= 0 else state.posMax
    return True


def _placed(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    """Let a rule of markdown-it remember where its link started."""

    def placed(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  # markdown-it's form
        at, known = state.pos, len(state.tokens)
        if not rule(state, silent):
            return False
        for token in state.tokens[known : known + 2]:  # pending text may have been pushed before it
            if token.type in _PLACES:
                token.meta.setdefault("at", at)
        return True

    return placed
