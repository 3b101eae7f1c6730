"""What is no text although it lies in a note: base64 images, wrapped key blocks, endless runs of signs.

Only runs of ASCII count: Thai, Chinese or Japanese text has no spaces either, and stays text.
"""

import re
from collections.abc import Sequence

_SPAN = re.compile(
    r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/=%_-]{64,}"
    r"|data:[\w.+-]{1,40}/[\w.+-]{1,40}(?:;[\w=.+-]{1,40}){0,9},[!#-&*-;=?-\[\\^-{}~]{64,}"  # escaped signs
    r"|(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/=_-]{256,}"  # the alphabet of base64; no word or web path is as long
    r"|(?<![!-~])(?![!-~]{0,300}?data:[\w.+-]{1,40}/)[!-~]{2000,}"  # other packed data: base85, escaped bytes
)
_WRAPPED = re.compile(r"[\s>]*[A-Za-z0-9+/]{60,}={0,2}\s*")
_LAST_WRAPPED = re.compile(r"[\s>]*[A-Za-z0-9+/]{1,}={0,2}\s*")
_SHORTEST_LINE = 100
_SHORTEST_RUN = 64
_WRAPPED_LINES = 3
# What stands around an image in Markdown, HTML or JSON; any other word may be its caption, to be found by.
_FRAME = re.compile(
    r"\b(?:img|image|src|alt|href|url|data|dataurl|style|width|height|class|id|\w*\d\w*)\b", re.IGNORECASE
)
_FEW_LETTERS = 2


def blob_spans(text: str) -> list[tuple[int, int]]:
    """The half-open spans of one line that are packed data."""
    # Every span holds a long run without a space, and a line of words is known by having none.
    if len(text) < _SHORTEST_LINE or max(map(len, text.split()), default=0) < _SHORTEST_RUN:
        return []
    return [found.span() for found in _SPAN.finditer(text)]


def blob_lines(lines: Sequence[str]) -> frozenset[int]:
    """The 0-based indexes of lines that hold nothing but packed data, up to a few letters around it."""
    alone = {at for at, line in enumerate(lines) if len(line) >= _SHORTEST_LINE and _is_mostly_blob(line)}
    return frozenset(alone | _wrapped(lines))


def _is_mostly_blob(line: str) -> bool:
    spans = blob_spans(line)
    if not spans:
        return False
    rest = _FRAME.sub("", _SPAN.sub(" ", line))
    return sum(map(str.isalnum, rest)) <= _FEW_LETTERS


def _wrapped(lines: Sequence[str]) -> set[int]:
    """Base64 wrapped at a column, as in mails and keys: several full lines and the shorter one that ends them."""
    found: set[int] = set()
    run: list[int] = []
    for at, line in enumerate((*lines, "")):
        if _WRAPPED.fullmatch(line):
            run.append(at)
            continue
        if len(run) >= _WRAPPED_LINES:
            found.update(run, [at] if _LAST_WRAPPED.fullmatch(line) else [])
        run = []
    return found
