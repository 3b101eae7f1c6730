"""Lets only true citations through: a filter over a streamed answer that is split anywhere.

`[n]` stays when excerpt n is in the context and goes when it is not, also in its other spellings. A link to a note of
the context becomes that note's citation; any other link to a note becomes plain words, so that nothing shown tells
whether such a note exists. What stands in code is left alone. The same answer gives the same text however it was cut
into pieces: every decision is made from the text that follows up to a fixed length, and waits until that has come.

Nothing shown is fetched by being looked at. A picture's address could carry note text to a stranger, and a note or a
page can talk a model into writing one; clients render Markdown each in their own way, so outside of code a word joiner
(U+2060) parts the signs that make HTML, pictures, links and their definitions. It has no width and no line breaks at
it, so the text reads the same with and without Markdown. A link into the web that is understood whole stays: following
it takes a click. Where it is not certain that a renderer sees code as we do, it is not left alone as code.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import pairwise
from urllib.parse import parse_qs, unquote, urlsplit

import regex

from vault_ask.answering.context import Excerpt
from vault_ask.notes.fold import fold
from vault_ask.notes.links import choose, link_key, markdown_link, wikilink
from vault_ask.notes.model import Link, LinkKind

_HOLD = 400
"""Characters that are waited for at most before what looks like a link, a marker or code is taken for plain text."""

_CLOSERS = {"[": "]", "【": "】", "［": "］"}
_ADDRESSES = ("obsidian://", "<obsidian://")
_LONGEST_PREFIX = max(map(len, _ADDRESSES)) - 1
_PLAIN = regex.compile(r"(?:(?!<?obsidian://)[^\s`~!\[【［])+", regex.IGNORECASE)
_ADDRESS = regex.compile(r"<?(obsidian://[^\s<>()\[\]\"'“”]*)>?", regex.IGNORECASE)
_BLANKS = regex.compile(rf"[ \t]{{1,{_HOLD}}}")
_SCHEME = regex.compile(r"[a-z][a-z0-9+.-]*:", regex.IGNORECASE)
_WEB = regex.compile(
    r"\((?:https?://|mailto:)(?P<plain>[^\s()<>\[\]`\\]*)(?:\((?P>plain)\)(?P>plain))*(?:[ \t]+\"[^\"<>\[\]`\\]*\")?\)",
    regex.IGNORECASE,
)
_DESTINATION = regex.compile(r"\(\s*<?([^()\n<>]*(?:\([^()\n<>]*\)[^()\n<>]*)*)>?\s*\)")
_WORD = (
    r"(?:sources?|excerpts?|passages?|citations?|refs?|notes?|documents?|docs?|quellen?|auszug|källa|utdrag|kaynak|alıntı|"
    r"fuente|fragmento|extrait|fonte|bron|источник|отрывок|مصدر|المصدر|来源|出典|资料|출처)"
)
_ITEM = rf"(?:{_WORD}\s*[.:#№]?\s*)?\^?\s*(\d{{1,3}})"
_MARKER = regex.compile(rf"\s*{_ITEM}(?:\s*(?:[,;،、&+–-]|and)\s*{_ITEM})*\s*(?:†.*)?", regex.IGNORECASE)
_LONGEST_RANGE = 12

_JOINER = "\u2060"
_PARTED = rf"\g<0>{_JOINER}"
_LIVE = regex.compile(r"<(?=[A-Za-z/!?])|[!\[](?=\[)|\](?=[(:])")
"""The first of two signs that together begin HTML, a picture, a wikilink, a link's destination or its definition."""
_CLOSED_TICKS = regex.compile(r"[^`\\|]*(?:`[^`\\|]+`[^`\\|]*)*")
_SHORTEST_FENCE = 3
_INDENTED_CODE = 4
"""Columns of indentation that make code of a line, in CommonMark; a fence or a list item has fewer."""
_CONTAINERS = regex.compile(r"(?:[ \t>]|(?:[-*+]|[0-9]{1,9}[.)])[ \t])*")
_ITEM_START = regex.compile(r"( *)(?:[-*+]|([0-9]{1,9})[.)]) {1,4}")
_LIKE_AN_ITEM = regex.compile(r"[ \t]*(?:>|(?:[-*+]|[0-9]{1,9}[.)])(?:\s|$))")
_RULE = regex.compile(r"[ \t]*(?:[-*_][ \t]*)+")


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation of excerpt `n` in the shown text; `at` is where its `[n]` begins."""

    n: int
    at: int


class _Kind(Enum):
    """What a text is. Only words may be parted inside."""

    WORDS = auto()
    LINK = auto()
    CODE = auto()
    QUOTE = auto()


@dataclass(frozen=True, slots=True)
class _Taken:
    """What became of the next `length` characters. `marks` are relative to `text`."""

    length: int
    text: str
    marks: tuple[Mark, ...] = ()
    removed: int = 0
    kind: _Kind = _Kind.WORDS


class CitationFilter:
    """Feed it the pieces of an answer; it gives back what may be shown. `marks` and `removed` tell what it met."""

    def __init__(self, excerpts: Sequence[Excerpt]) -> None:
        self._context = _Context(excerpts)
        self._held = ""
        self._page = _Page()
        self._shown = 0
        self.marks: list[Mark] = []
        self.removed = 0

    def feed(self, piece: str) -> str:
        """Take the next piece and give what is now decided; it may be empty."""
        # A carriage return ends a line in Markdown; nobody writes one without a line feed but to be misread.
        self._held += piece.replace("\r", "")
        return self._drain(final=False)

    def close(self) -> str:
        """Give the rest: no more will come. An open fence is closed, lest it swallow or free what others put behind."""
        return self._drain(final=True) + self._show(_Taken(0, self._page.end_of_fence(), kind=_Kind.QUOTE))

    def verbatim(self, text: str) -> str:
        """Pass on words that are not the model's, unjudged, behind what was held."""
        return self.close() + self._show(_Taken(0, text, kind=_Kind.QUOTE))

    def _drain(self, *, final: bool) -> str:
        shown: list[str] = []
        while self._held and (taken := self._take(final=final)):
            self._held = self._held[taken.length :]
            shown.append(self._show(taken))
        return "".join(shown)

    def _show(self, taken: _Taken) -> str:
        text, marks = self._page.add(taken)
        self.marks.extend(Mark(mark.n, self._shown + mark.at) for mark in marks)
        self.removed += taken.removed
        self._shown += len(text)
        return text

    def _take(self, *, final: bool) -> _Taken | None:
        """Decide about the beginning of what is held; None when more must come first."""
        if self._page.fence:
            return self._take_fenced(self._page.fence, final=final)
        first = self._held[0]
        if first in "`~":
            return self._take_code(final=final)
        if first in " \t":
            return self._take_blanks(final=final)
        if first in "![【［":
            return self._take_bracket(0, final=final)
        if self._held[: len(_ADDRESSES[1])].casefold().startswith(_ADDRESSES):
            return self._take_address(final=final)
        return self._take_plain(final=final)

    def _take_plain(self, *, final: bool) -> _Taken | None:
        run = _PLAIN.match(self._held)
        end = run.end() if run else 1
        if not final and end == len(self._held):
            end -= _begun_address(self._held)
        return _Taken(end, self._held[:end]) if end else None

    def _take_blanks(self, *, final: bool) -> _Taken | None:
        """Blanks before a marker that is removed go with it."""
        blanks = _BLANKS.match(self._held)
        end = blanks.end() if blanks else 1
        if end == len(self._held) and end < _HOLD:
            return _Taken(end, self._held) if final else None
        if end == _HOLD or self._held[end] not in "![【［":
            return _Taken(end, self._held[:end])
        taken = self._take_bracket(end, final=final)
        if taken is None:
            return None
        if taken.removed and not taken.text:
            return _Taken(end + taken.length, "", (), taken.removed)
        marks = tuple(Mark(mark.n, end + mark.at) for mark in taken.marks)
        return replace(taken, length=end + taken.length, text=self._held[:end] + taken.text, marks=marks)

    def _take_code(self, *, final: bool) -> _Taken | None:
        window, whole = self._window(0, final=final)
        run = regex.match(r"`+|~+", window)[0]  # type: ignore[index] # the caller saw one
        if run == window and not whole:
            return None
        line, ended, _ = window.partition("\n")
        is_tick, is_cut = run[0] == "`", not ended and len(window) == _HOLD
        # What follows a fence of backticks on its line holds no backtick.
        if self._page.may_open_fence(run) and not (is_tick and "`" in line[len(run) :]):
            if is_tick and not ended and not whole:
                return None
            is_fence = self._page.open_fence(run, is_certain=not is_cut or (not is_tick and run != window))
            return _Taken(len(run), run, kind=_Kind.CODE if is_fence else _Kind.WORDS)
        if is_tick and self._page.may_open_code():
            return self._code_span(run, line, settled=bool(ended) or whole)
        return _Taken(len(run), run)

    def _code_span(self, run: str, line: str, *, settled: bool) -> _Taken | None:
        ends = (close.end() for close in regex.finditer(r"`+", line, pos=len(run)) if close[0] == run)
        # The last backticks of what has come may be followed by more.
        end = next((end for end in ends if end < len(line) or settled), None)
        if end is None:
            return _Taken(len(run), run) if settled else None
        code = line[:end]
        # The cells of a table are parted before code is seen.
        is_plain = "|" in code and bool(_LIVE.search(code) or "[" in code)
        return _Taken(len(run), run) if is_plain else _Taken(end, code, kind=_Kind.CODE)

    def _take_fenced(self, fence: "_Fence", *, final: bool) -> _Taken | None:
        """Pass a fence's lines on as they come, but for a line that may be its end."""
        line, ended, _ = self._held.partition("\n")
        if not self._page.line:
            end = fence.end_at(line[:_HOLD], settled=bool(ended) or final or len(line) >= _HOLD)
            if end is None:
                return None
            if end is not _End.LATER:
                self._page.leave_fence(is_certain=end is not _End.UNCERTAIN)
            if end in {_End.BEFORE, _End.UNCERTAIN}:
                return self._take(final=final)
        return _Taken(len(line) + len(ended), line + ended, kind=_Kind.CODE)

    def _take_address(self, *, final: bool) -> _Taken | None:
        window, whole = self._window(0, final=final)
        address = _ADDRESS.match(window)
        if address is None or (address.end() == len(window) and not whole):
            return _Taken(1, window[0]) if address is None else None
        # A full stop behind an address ends the sentence, not the address.
        text = address[1].rstrip(".,;:!?")
        length = address.end() if address[0].startswith("<") else len(text)
        link = _link_of_address(text)
        return self._link(length, link, link.target.rpartition("/")[2] if link else "")

    def _take_bracket(self, at: int, *, final: bool) -> _Taken | None:
        window, whole = self._window(at, final=final)
        image = window.startswith("!")
        if image and not window.startswith("!["):
            return None if window == "!" and not whole else _Taken(1, "!")
        body = window[1:] if image else window
        skipped = len(window) - len(body)
        if len(body) == 1 and not whole:
            return None
        taken = self._wikilink(body, whole=whole) if body.startswith("[[") else self._single(body, image, whole=whole)
        if taken is None:
            return None
        if taken.text == body[: taken.length]:
            text = window[: skipped + taken.length]
            marks = tuple(Mark(mark.n, skipped + mark.at) for mark in taken.marks)
            return replace(taken, length=len(text), text=text, marks=marks)
        return replace(taken, length=skipped + taken.length)

    def _wikilink(self, body: str, *, whole: bool) -> _Taken | None:
        line, ended, _ = body.partition("\n")
        close = line.find("]]", 2)
        if close < 0:
            return _Taken(2, "[[") if ended or whole else None
        inner = line[2:close]
        link = wikilink(inner, LinkKind.WIKILINK, 0)
        place, _, alias = inner.replace("\\|", "|").partition("|")
        return self._link(close + 2, link, alias.strip() or place.strip(), alone=not alias.strip())

    def _single(self, body: str, image: bool, *, whole: bool) -> _Taken | None:  # noqa: FBT001 # read at its one call
        line, ended, _ = body.partition("\n")
        settled, literal = bool(ended) or whole, _Taken(1, body[0])
        close = line.find(_CLOSERS[body[0]], 1)
        label = line[1:close] if close > 0 else line[1:]
        if any(sign in label for sign in _CLOSERS):
            return literal
        if close < 0 or close + 1 == len(line):
            if not settled:
                return None
            if close < 0:
                return literal
        marker = _MARKER.fullmatch(label)
        if line.startswith("](", close) and body[0] == "[":
            destination = _DESTINATION.match(line, close + 1)
            if destination is None and not settled:
                return None
            if destination is not None and not marker:
                return self._markdown(destination, label, image)
            close = destination.end() - 1 if destination else close
        return self._marker(close + 1, label) if marker else literal

    def _markdown(self, destination: "regex.Match[str]", label: str, image: bool) -> _Taken:  # noqa: FBT001
        """Decide about `[label](destination)`, which is no link into the web: of a picture only its words stay."""
        target = destination[1].strip()
        if target.casefold().startswith("obsidian:"):
            return self._link(destination.end(), _link_of_address(target), label)
        if image or target.startswith("#"):
            return _Taken(destination.end(), label)
        if _WEB.fullmatch(destination[0]):
            words = _LIVE.sub(_PARTED, label)
            return _Taken(destination.end(), f"[{words}]{destination[0]}", kind=_Kind.LINK)
        if _SCHEME.match(target) or target.startswith("//"):
            return _Taken(1, "[")
        return self._link(destination.end(), markdown_link(target, LinkKind.MARKDOWN, 0, alias=None), label)

    def _link(self, length: int, link: Link | None, words: str, *, alone: bool = False) -> _Taken:
        """Turn a link to a note into its citation, or into words; `alone` drops the words where they are the name."""
        n = self._context.find(link) if link else None
        if n is None:
            return _Taken(length, words, (), 1)
        before = "" if alone else f"{words} " if words else ""
        return _Taken(length, f"{before}[{n}]", (Mark(n, len(before)),))

    def _marker(self, length: int, label: str) -> _Taken:
        text, marks, removed = "", [], 0
        for n in dict.fromkeys(_numbers(label)):
            if n in self._context.numbers:
                marks.append(Mark(n, len(text)))
                text += f"[{n}]"
            else:
                removed += 1
        return _Taken(length, text, tuple(marks), removed)

    def _window(self, at: int, *, final: bool) -> tuple[str, bool]:
        """Give the text that a decision may look at, and whether it is all that it will ever be."""
        return self._held[at : at + _HOLD], final or len(self._held) >= at + _HOLD


class _End(Enum):
    """Where a fence ends, seen from the beginning of one of its lines."""

    LATER = auto()
    HERE = auto()
    BEFORE = auto()
    UNCERTAIN = auto()


@dataclass(frozen=True, slots=True)
class _Fence:
    """An open fence: its backticks or tildes, and the least and the most columns that what it stands in is indented."""

    run: str
    low: int
    high: int

    def end_at(self, line: str, *, settled: bool) -> _End | None:
        """Tell what a line does to the fence; None when more of it must be seen."""
        bare = line.strip(" \t")
        if not bare:
            return _End.LATER if settled else None
        column = _column(line)
        if column < self.high:
            return _End.BEFORE if column < self.low else _End.UNCERTAIN
        if bare.strip(self.run[0]):
            return _End.LATER
        if not settled:
            return None
        if len(bare) < len(self.run) or column >= self.high + _INDENTED_CODE:
            return _End.LATER
        return _End.HERE if column < self.low + _INDENTED_CODE and len(line) < _HOLD else _End.UNCERTAIN


class _Page:
    """What a renderer of Markdown makes of the text shown so far: just as much as tells code from words for certain.

    The rules are CommonMark's. Where it takes more than is kept here to tell whether a fence begins or ends, no fence
    is seen from there on: what stands in it is parted and judged like words, and words are never taken for code.
    """

    def __init__(self) -> None:
        self.line = ""
        """The beginning of the line that is being shown."""
        self.fence: _Fence | None = None
        self._item = 0
        """The column at which the text of the list item begins that the line is in; 0 where that is not known."""
        self._last = ""
        self._is_lost = False
        self._is_stray = False
        """Whether this paragraph has backticks that opened nothing here: a later line may close them elsewhere."""
        self._is_after_blank = True

    def add(self, taken: _Taken) -> tuple[str, Sequence[Mark]]:
        """Give the text as it is shown behind what was shown before, and where its marks are."""
        whole, start = self._last + taken.text, len(self._last)
        places = [] if self.fence else self._live(whole, inside=taken.kind is _Kind.WORDS)
        bounds = [0, *places, len(whole)]
        text = _JOINER.join(whole[a:b] for a, b in pairwise(bounds))[start:]
        marks = tuple(Mark(mark.n, mark.at + bisect_right(places, mark.at + start)) for mark in taken.marks)
        self._follow(text)
        if not self.fence and "`" in text:
            self._is_stray |= not self._is_settled(taken)
        self._last = text[-1:] or self._last
        return text, marks

    def end_of_fence(self) -> str:
        """Close an open fence and give what closes it."""
        if not (fence := self.fence):
            return ""
        self.leave_fence(is_certain=True)
        return ("\n" if self.line else "") + " " * fence.high + fence.run + "\n"

    def may_open_code(self) -> bool:
        """Whether backticks here open code, if others close it on this line."""
        return not self._is_stray and self._last != "\\"

    def may_open_fence(self, run: str) -> bool:
        """Whether these signs may open a fence where they stand."""
        is_first = _CONTAINERS.fullmatch(self.line) is not None
        return is_first and len(run) >= _SHORTEST_FENCE and not self._is_lost

    def open_fence(self, run: str, *, is_certain: bool) -> bool:
        """Open a fence behind `line`; tell whether it is certain that it is one."""
        columns = self._columns_of_fence() if is_certain else None
        if columns is None:
            self._is_lost = True
            return False
        low, high = columns
        self.fence = _Fence(run, low, high)
        self._item = low if low == high else 0
        self._is_stray = self._is_after_blank = False
        return True

    def leave_fence(self, *, is_certain: bool) -> None:
        """Be out of the fence."""
        self.fence = None
        self._is_lost |= not is_certain

    def _live(self, whole: str, *, inside: bool) -> list[int]:
        """Find where to part: everywhere, or only where the new text meets the last sign before it."""
        start = len(self._last)
        places = [found.end() for found in _LIVE.finditer(whole) if inside or found.end() == start]
        return [start, *places] if start and whole.startswith("``", start - 1) else places

    def _is_settled(self, taken: _Taken) -> bool:
        """Tell whether the backticks of a text close all that they open; in a table a `|` would part them."""
        if taken.kind is _Kind.CODE:
            return "|" not in taken.text
        return taken.kind is not _Kind.QUOTE and _CLOSED_TICKS.fullmatch(self._last + taken.text) is not None

    def _follow(self, text: str) -> None:
        *ended, line = (self.line + text).split("\n")
        self.line = line[:_HOLD]
        if not self.fence:
            for each in ended:
                self._end_line(each[:_HOLD])

    def _end_line(self, line: str) -> None:
        """Know which list item the next line may belong to, and whether a paragraph goes on."""
        if not line.strip(" \t"):
            self._is_stray, self._is_after_blank = False, True
            return
        found = _ITEM_START.match(line)
        if found and self._is_item(found):
            text = line[found.end() :]
            is_simple = text[:1].strip() and not _LIKE_AN_ITEM.match(text) and not _RULE.fullmatch(line)
            self._item = found.end() if is_simple else 0
        elif _column(line) < self._item or _LIKE_AN_ITEM.match(line):
            self._item = 0
        self._is_after_blank = False

    def _is_item(self, found: "regex.Match[str]") -> bool:
        """Tell whether this surely begins a list item: it may be code, or go on with a paragraph."""
        column, number = len(found[1]), found[2]
        is_code = column >= _INDENTED_CODE and not self._is_in_item(column)
        return not is_code and (not number or int(number) == 1 or self._is_after_blank or column < self._item)

    def _is_in_item(self, column: int) -> bool:
        return 0 < self._item <= column < self._item + _INDENTED_CODE

    def _columns_of_fence(self) -> tuple[int, int] | None:
        """Give the least and the most that the text around a fence behind `line` is indented; None where unknown."""
        column, found = len(self.line), _ITEM_START.fullmatch(self.line)
        if found:
            return (column, column) if self._is_item(found) else None
        if self.line.strip(" "):
            return None
        if self._is_in_item(column):
            return self._item, self._item
        return (0, column) if column < _INDENTED_CODE else None


def _column(line: str) -> int:
    """Count the columns before the first sign of a line, tabs counted as Markdown does."""
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(_INDENTED_CODE))


class _Context:
    """The excerpts by number and by the names a model may call their notes."""

    def __init__(self, excerpts: Sequence[Excerpt]) -> None:
        self.numbers = frozenset(excerpt.n for excerpt in excerpts)
        self._excerpts = excerpts

    def find(self, link: Link) -> int | None:
        """Give the number of the excerpt a link means: under its heading where there is one, else the note's first."""
        key = link_key(link.target)
        path = choose(link.target, "", [e.path for e in self._excerpts if link_key(e.path) == key])
        titled = (e.path for e in self._excerpts if fold(e.title) == fold(link.target).strip())
        path = path or next(titled, None)
        ours = [excerpt for excerpt in self._excerpts if excerpt.path == path]
        heading = fold(link.heading or "").rpartition("#")[2].strip()
        under = [e for e in ours if any(fold(h) == heading for h in e.heading_path)]
        return next((excerpt.n for excerpt in (*under, *ours)), None)


def _numbers(label: str) -> list[int]:
    """List the numbers of a marker; `2-4` is a range."""
    first: list[int] = []
    for sign, digits in regex.findall(r"([–-]?)\s*[^\d–-]*(\d{1,3})", label.partition("†")[0]):
        n = int(digits)
        if sign and first and first[-1] < n <= first[-1] + _LONGEST_RANGE:
            first.extend(range(first[-1] + 1, n))
        first.append(n)
    return first


def _link_of_address(address: str) -> Link | None:
    """Read the note that an obsidian:// address names."""
    query = parse_qs(urlsplit(address).query, keep_blank_values=True)
    file = (query.get("file") or query.get("path") or [""])[0]
    return wikilink(file or unquote(address.rpartition("/")[2]), LinkKind.WIKILINK, 0)


def _begun_address(text: str) -> int:
    """Give how many characters at the end may be the start of an obsidian:// address."""
    tail = text[-_LONGEST_PREFIX:].casefold()
    lengths = range(len(tail), 0, -1)
    return next((n for n in lengths if any(address.startswith(tail[-n:]) for address in _ADDRESSES)), 0)
