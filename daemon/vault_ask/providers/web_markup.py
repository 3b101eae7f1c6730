"""HTML as its words, in time that grows with its length and not faster, whatever is broken in it.

Not a parser: `html.parser` takes the square of the length of tags that are never closed, and raises on some
declarations. A snippet needs no tree, only its tags gone. What is left may look like a tag again (`<scr<b>ipt>`), so it
is text for whoever shows it and never HTML.
"""

import re

_REST_OF_TAG = r"""(?:[^<>=]|=\s*+(?:"[^"<]*+"?|'[^'<]*+'?)?)*+>"""
"""Up to its end or, where it has none, to the next tag; a `>` in a quoted value is no end."""
_UNREAD = r"script|style|template|noscript|iframe|object|svg|math"
_MARKUP = re.compile(
    r"<!--(?:.*?-->|.*)"  # a comment, or one that is never closed
    rf"|<(?P<unread>{_UNREAD})\b{_REST_OF_TAG}(?<!/>)(?:.*?(?=</(?P=unread)\b)|.*)"
    rf"|<(?P<line>br|p|li|div|td|tr|h[1-6])\b{_REST_OF_TAG}"
    rf"|</?[a-z]{_REST_OF_TAG}"
    r"|<[!?][^<>]*+>",
    re.IGNORECASE | re.DOTALL,
)
"""No branch fails after it looked beyond the next `<`: that is what keeps it linear."""


def without_markup(text: str) -> str:
    """Leave out tags, comments, declarations and what is never read, such as scripts; entities stay as they are."""
    return _MARKUP.sub(_between, text)


def _between(markup: re.Match[str]) -> str:
    """Give what stands where markup stood: a space where it begins a line, so that words do not run together."""
    return " " if markup["line"] else ""
