"""How a quote is shown inside an answer. Word for word it stands in the citation.

It is shown as reading text, without the marks of Markdown that a single sentence cannot balance: a table's row with the
names of its columns, a callout's title and both sides of a flash card with a colon between. Code is shown as it stands.
"""

import re

from vault_ask.answering.regions import Span, fenced, inside, without_comments
from vault_ask.answering.tables import read_row

_WORD_JOINER = "\u2060"
_LINE_BREAK = re.compile(r"[ \t]*\n[\s>]*")
_WIKILINK = re.compile(r"!?\[\[([^\[\]\n|]*)(?:\\?\|([^\[\]\n]*))?\]\]")
_PICTURE = re.compile(r"!\[([^\[\]\n]*)\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)")
_ATTRIBUTE = r"""\s+(?:style|class|align|color|size|width|dir|lang)\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+)"""
# Marks of HTML that say how words look, and those where a line ends. What strikes words out stays, as `~~` does, and so
# does what is above or below the line: 10<sup>3</sup> is not 103.
_LOOKS = re.compile(
    rf"</?(?:b|i|u|em|strong|mark|small|big|kbd|code|span|font|center)(?:{_ATTRIBUTE})*\s*>", re.IGNORECASE
)
_ENDS_LINE = re.compile(
    rf"(?:</?(?:br|p|div|h[1-6]|ul|ol|li|table|thead|tbody|tr|td|th)(?:{_ATTRIBUTE})*\s*/?>\s*)+", re.IGNORECASE
)
_CODE = re.compile(r"((?<!`)`+[^`]+`+)")
_TAG = re.compile(r"<(?=[A-Za-z/!?])|!(?=\[)")
_STRESS = re.compile(r"\*\*|==")
_MARKER = re.compile(r"([\[【［])(?=\s*\^?\d{1,3}\s*[\]】］])")
_CALLOUT = re.compile(r"[\s>]*\[!\w[^\]\n]*\][+-]?[ \t]*")
_TICKS = re.compile(r"`+")
_SIDES = re.compile(r"\s*(?<!:):{2,3}(?!:)\s*")
"""What stands between the sides of a flash card, and behind the name of one of Dataview's inline fields."""
_BRACKETED = re.compile(r"[\[(]([^\W\d_][\w /-]{0,60}?)::[ \t]+([^\[\]()\n]+)[\])]")
"""An inline field inside of a sentence."""
_CODE_ENDS, _CODE_BEGINS = re.compile(r"[A-Za-z0-9_>]$"), re.compile(r"[A-Za-z_~]")
_CARDS = re.compile(r"(?<!\S)#(?:flash)?cards?\b", re.IGNORECASE)
_ENDS = (":", ".", "!", "?", "：", "。", "！", "？", "؟")


def quoted(text: str, span: Span, n: int) -> str:
    """Show a piece of excerpt `n` as a quote with its citation."""
    if inside(span.start, fenced(text)):
        return f"{_as_code(text, span)}\n[{n}]"
    return f"“{plain(read_row(text, span) or _with_colon(text, span))}” [{n}]"


def plain(text: str) -> str:
    """Make note text fit to read inside an answer: one line of words, with no picture and no false citation.

    What is struck out stays marked as such: it no longer holds. Comments are left out, which no reader sees.
    """
    text = _WIKILINK.sub(lambda link: link[2] or link[1], _LINE_BREAK.sub(" ", without_comments(text)))
    text = "".join(part if at % 2 else _without_html(part) for at, part in enumerate(_CODE.split(text))).strip()
    # A clipped page's pictures would tell a stranger that they are shown.
    text = _TAG.sub(lambda sign: f"{sign[0]}{_WORD_JOINER}", _PICTURE.sub(r"\1", text))
    return _MARKER.sub(rf"\1{_WORD_JOINER}", _STRESS.sub("", text))


def _without_html(text: str) -> str:
    return _ENDS_LINE.sub(_blank, _LOOKS.sub("", text)) if "<" in text else text


def _blank(found: re.Match[str]) -> str:
    return "" if found.string[max(found.start() - 1, 0) : found.start()].isspace() else " "


def _as_code(text: str, span: Span) -> str:
    """Show code in a fence of its own, without what all of its lines begin with.

    The kind of code is not told: Obsidian's plugins run some kinds.
    """
    lead = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    first, *more = span.of(text).split("\n")
    code = "\n".join([first, *(line.removeprefix(lead) for line in more)])
    ticks = "`" * max(3, 1 + max(map(len, _TICKS.findall(code)), default=0))
    return f"{ticks}\n{code}\n{ticks}"


def _with_colon(text: str, span: Span) -> str:
    """Part what a line break or a sign of a plugin parts in the note."""
    words = span.of(text)
    title, line_break, rest = words.partition("\n")
    if line_break and _CALLOUT.fullmatch(text, text.rfind("\n", 0, span.start) + 1, span.start):
        return words if title.rstrip().endswith(_ENDS) else f"{title.rstrip()}:{line_break}{rest}"
    words = _BRACKETED.sub(r"\1: \2", words)
    return _parted(words, is_card=_CARDS.search(text) is not None)


def _parted(words: str, *, is_card: bool) -> str:
    """Part the sides of a card or a field; two colons between names may as well be code (`std::vector`)."""
    found = list(_SIDES.finditer(words))
    if len(found) != 1 or "`" in words:
        return words
    front, sign, back = words[: found[0].start()], found[0][0], words[found[0].end() :]
    is_code = sign == sign.strip() and not is_card and _CODE_ENDS.search(front) and _CODE_BEGINS.match(back)
    if not front or not back or is_code:
        return words
    return f"{front} {back}" if front.endswith(_ENDS) else f"{front}: {back}"
