"""Lets only true citations through: a filter over a streamed answer that is split anywhere.

`[n]` stays when excerpt n is in the context and goes when it is not, also in its other spellings. A link to a note of
the context becomes that note's citation; any other link to a note becomes plain words, so that nothing shown tells
whether such a note exists. What stands in code is left alone. The same answer gives the same text however it was cut
into pieces: every decision is made from the text that follows up to a fixed length, and waits until that has come.
"""

from collections.abc import Sequence
from dataclasses import dataclass
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
_BLANKS = regex.compile(r"[ \t]+")
_BLANK_LINE = regex.compile(r"[\s>]*(?:[-*+]|\d{1,9}[.)])?\s*")
_SCHEME = regex.compile(r"[a-z][a-z0-9+.-]*:", regex.IGNORECASE)
_DESTINATION = regex.compile(r"\(\s*<?([^()\n<>]*(?:\([^()\n<>]*\)[^()\n<>]*)*)>?\s*\)")
_WORD = (
    r"(?:sources?|excerpts?|passages?|citations?|refs?|notes?|documents?|docs?|quellen?|auszug|källa|utdrag|kaynak|alıntı|"
    r"fuente|fragmento|extrait|fonte|bron|источник|отрывок|مصدر|المصدر|来源|出典|资料|출처)"
)
_ITEM = rf"(?:{_WORD}\s*[.:#№]?\s*)?\^?\s*(\d{{1,3}})"
_MARKER = regex.compile(rf"\s*{_ITEM}(?:\s*(?:[,;،、&+–-]|and)\s*{_ITEM})*\s*(?:†.*)?", regex.IGNORECASE)
_LONGEST_RANGE = 12


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation of excerpt `n` in the shown text; `at` is where its `[n]` begins."""

    n: int
    at: int


@dataclass(frozen=True, slots=True)
class _Taken:
    """What became of the next `length` characters. `marks` are relative to `text`."""

    length: int
    text: str
    marks: tuple[Mark, ...] = ()
    removed: int = 0


class CitationFilter:
    """Feed it the pieces of an answer; it gives back what may be shown. `marks` and `removed` tell what it met."""

    def __init__(self, excerpts: Sequence[Excerpt]) -> None:
        self._context = _Context(excerpts)
        self._held = ""
        self._line = ""
        self._fence = ""
        self._shown = 0
        self.marks: list[Mark] = []
        self.removed = 0

    def feed(self, piece: str) -> str:
        """Take the next piece and give what is now decided; it may be empty."""
        self._held += piece
        return self._drain(final=False)

    def close(self) -> str:
        """Give the rest: no more will come."""
        return self._drain(final=True)

    def verbatim(self, text: str) -> str:
        """Pass on words that are not the model's, unjudged, behind what was held."""
        shown = self.close() + text
        self._line = ""
        self._shown += len(text)
        return shown

    def _drain(self, *, final: bool) -> str:
        shown: list[str] = []
        while self._held and (taken := self._take(final=final)):
            raw, self._held = self._held[: taken.length], self._held[taken.length :]
            self._line = (raw.rpartition("\n")[2] if "\n" in raw else self._line + raw)[:_HOLD]
            self.marks.extend(Mark(mark.n, self._shown + mark.at) for mark in taken.marks)
            self.removed += taken.removed
            self._shown += len(taken.text)
            shown.append(taken.text)
        return "".join(shown)

    def _take(self, *, final: bool) -> _Taken | None:
        """Decide about the beginning of what is held; None when more must come first."""
        if self._fence:
            return self._take_fenced(final=final)
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
        if end == len(self._held):
            return _Taken(end, self._held) if final else None
        if self._held[end] not in "![【［":
            return _Taken(end, self._held[:end])
        taken = self._take_bracket(end, final=final)
        if taken is None:
            return None
        if taken.removed and not taken.text:
            return _Taken(end + taken.length, "", (), taken.removed)
        marks = tuple(Mark(mark.n, end + mark.at) for mark in taken.marks)
        return _Taken(end + taken.length, self._held[:end] + taken.text, marks, taken.removed)

    def _take_code(self, *, final: bool) -> _Taken | None:
        window, whole = self._window(0, final=final)
        run = regex.match(r"`+|~+", window)[0]  # type: ignore[index] # the caller saw one
        if run == window and not whole:
            return None
        if len(run) >= 3 and _BLANK_LINE.fullmatch(self._line):  # noqa: PLR2004 # CommonMark's shortest fence
            self._fence = run
            return _Taken(len(run), run)
        line, ended, _ = window.partition("\n")
        if run[0] == "`":
            for close in regex.finditer(r"`+", line, pos=len(run)):
                if close[0] == run and (ended or whole or close.end() < len(line)):
                    return _Taken(close.end(), window[: close.end()])
            if not ended and not whole:
                return None
        return _Taken(len(run), run)

    def _take_fenced(self, *, final: bool) -> _Taken | None:
        """Pass a fence's lines on as they come, but for a line that may be its end."""
        line, ended, _ = self._held.partition("\n")
        if _BLANK_LINE.fullmatch(self._line):
            bare = line.strip(" \t>")
            if not bare.strip(self._fence[0]):
                if not ended and not final:
                    return None
                if len(bare) >= len(self._fence):
                    self._fence = ""
        return _Taken(len(line) + len(ended), line + ended)

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
            return _Taken(skipped + taken.length, window[: skipped + taken.length], taken.marks, taken.removed)
        return _Taken(skipped + taken.length, taken.text, taken.marks, taken.removed)

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
                return self._markdown(destination, label, body, image)
            close = destination.end() - 1 if destination else close
        return self._marker(close + 1, label) if marker else literal

    def _markdown(self, destination: "regex.Match[str]", label: str, body: str, image: bool) -> _Taken:  # noqa: FBT001
        """Decide about `[label](destination)`.

        A link into the web is not ours to judge: following it takes a click. A picture would be fetched by merely being
        shown, and its address could carry note text to a stranger, so only its words stay.
        """
        target = destination[1].strip()
        if target.casefold().startswith("obsidian:"):
            return self._link(destination.end(), _link_of_address(target), label)
        is_elsewhere = bool(_SCHEME.match(target)) or target.startswith("//")
        if image and is_elsewhere:
            return _Taken(destination.end(), label)
        if image or is_elsewhere or target.startswith("#"):
            return _Taken(destination.end(), body[: destination.end()])
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
