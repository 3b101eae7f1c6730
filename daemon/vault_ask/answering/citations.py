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

from collections.abc import Sequence
from dataclasses import replace

import regex

from vault_ask.answering.cited import CitedNotes, link_of_address, numbers_of
from vault_ask.answering.context import Excerpt
from vault_ask.answering.page import HOLD, LIVE, PARTED, End, Fence, Kind, Mark, Page, Taken
from vault_ask.notes.links import markdown_link, wikilink
from vault_ask.notes.model import Link, LinkKind

_CLOSERS = {"[": "]", "【": "】", "［": "］"}
_ADDRESSES = ("obsidian://", "<obsidian://")
_LONGEST_PREFIX = max(map(len, _ADDRESSES)) - 1
_PLAIN = regex.compile(r"(?:(?!<?obsidian://)[^\s`~!\[【［])+", regex.IGNORECASE)
_ADDRESS = regex.compile(r"<?(obsidian://[^\s<>()\[\]\"'“”]*)>?", regex.IGNORECASE)
_BLANKS = regex.compile(rf"[ \t]{{1,{HOLD}}}")
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


class CitationFilter:
    """Feed it the pieces of an answer; it gives back what may be shown. `marks` and `removed` tell what it met."""

    def __init__(self, excerpts: Sequence[Excerpt]) -> None:
        self._context = CitedNotes(excerpts)
        self._held = ""
        self._page = Page()
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
        return self._drain(final=True) + self._show(Taken(0, self._page.end_of_fence(), kind=Kind.QUOTE))

    def verbatim(self, text: str) -> str:
        """Pass on words that are not the model's, unjudged, behind what was held."""
        return self.close() + self._show(Taken(0, text, kind=Kind.QUOTE))

    def _drain(self, *, final: bool) -> str:
        shown: list[str] = []
        while self._held and (taken := self._take(final=final)):
            self._held = self._held[taken.length :]
            shown.append(self._show(taken))
        return "".join(shown)

    def _show(self, taken: Taken) -> str:
        text, marks = self._page.add(taken)
        self.marks.extend(Mark(mark.n, self._shown + mark.at) for mark in marks)
        self.removed += taken.removed
        self._shown += len(text)
        return text

    def _take(self, *, final: bool) -> Taken | None:
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

    def _take_plain(self, *, final: bool) -> Taken | None:
        run = _PLAIN.match(self._held)
        end = run.end() if run else 1
        if not final and end == len(self._held):
            end -= _begun_address(self._held)
        return Taken(end, self._held[:end]) if end else None

    def _take_blanks(self, *, final: bool) -> Taken | None:
        """Blanks before a marker that is removed go with it."""
        blanks = _BLANKS.match(self._held)
        end = blanks.end() if blanks else 1
        if end == len(self._held) and end < HOLD:
            return Taken(end, self._held) if final else None
        if end == HOLD or self._held[end] not in "![【［":
            return Taken(end, self._held[:end])
        taken = self._take_bracket(end, final=final)
        if taken is None:
            return None
        if taken.removed and not taken.text:
            return Taken(end + taken.length, "", (), taken.removed)
        marks = tuple(Mark(mark.n, end + mark.at) for mark in taken.marks)
        return replace(taken, length=end + taken.length, text=self._held[:end] + taken.text, marks=marks)

    def _take_code(self, *, final: bool) -> Taken | None:
        window, whole = self._window(0, final=final)
        run = regex.match(r"`+|~+", window)[0]  # type: ignore[index] # the caller saw one
        if run == window and not whole:
            return None
        line, ended, _ = window.partition("\n")
        is_tick, is_cut = run[0] == "`", not ended and len(window) == HOLD
        # What follows a fence of backticks on its line holds no backtick.
        if self._page.may_open_fence(run) and not (is_tick and "`" in line[len(run) :]):
            if is_tick and not ended and not whole:
                return None
            is_fence = self._page.open_fence(run, is_certain=not is_cut or (not is_tick and run != window))
            return Taken(len(run), run, kind=Kind.CODE if is_fence else Kind.WORDS)
        if is_tick and self._page.may_open_code():
            return self._code_span(run, line, settled=bool(ended) or whole)
        return Taken(len(run), run)

    def _code_span(self, run: str, line: str, *, settled: bool) -> Taken | None:
        ends = (close.end() for close in regex.finditer(r"`+", line, pos=len(run)) if close[0] == run)
        # The last backticks of what has come may be followed by more.
        end = next((end for end in ends if end < len(line) or settled), None)
        if end is None:
            return Taken(len(run), run) if settled else None
        code = line[:end]
        # The cells of a table are parted before code is seen.
        is_plain = "|" in code and bool(LIVE.search(code) or "[" in code)
        return Taken(len(run), run) if is_plain else Taken(end, code, kind=Kind.CODE)

    def _take_fenced(self, fence: "Fence", *, final: bool) -> Taken | None:
        """Pass a fence's lines on as they come, but for a line that may be its end."""
        line, ended, _ = self._held.partition("\n")
        if not self._page.line:
            end = fence.end_at(line[:HOLD], settled=bool(ended) or final or len(line) >= HOLD)
            if end is None:
                return None
            if end is not End.LATER:
                self._page.leave_fence(is_certain=end is not End.UNCERTAIN)
            if end in {End.BEFORE, End.UNCERTAIN}:
                return self._take(final=final)
        return Taken(len(line) + len(ended), line + ended, kind=Kind.CODE)

    def _take_address(self, *, final: bool) -> Taken | None:
        window, whole = self._window(0, final=final)
        address = _ADDRESS.match(window)
        if address is None or (address.end() == len(window) and not whole):
            return Taken(1, window[0]) if address is None else None
        # A full stop behind an address ends the sentence, not the address.
        text = address[1].rstrip(".,;:!?")
        length = address.end() if address[0].startswith("<") else len(text)
        link = link_of_address(text)
        return self._link(length, link, link.target.rpartition("/")[2] if link else "")

    def _take_bracket(self, at: int, *, final: bool) -> Taken | None:
        window, whole = self._window(at, final=final)
        image = window.startswith("!")
        if image and not window.startswith("!["):
            return None if window == "!" and not whole else Taken(1, "!")
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

    def _wikilink(self, body: str, *, whole: bool) -> Taken | None:
        line, ended, _ = body.partition("\n")
        close = line.find("]]", 2)
        if close < 0:
            return Taken(2, "[[") if ended or whole else None
        inner = line[2:close]
        link = wikilink(inner, LinkKind.WIKILINK, 0)
        if self._is_doubled_marker(inner, link):
            return self._marker(close + 2, inner)
        place, _, alias = inner.replace("\\|", "|").partition("|")
        return self._link(close + 2, link, alias.strip() or place.strip(), alone=not alias.strip())

    def _is_doubled_marker(self, inner: str, link: Link | None) -> bool:
        """Whether `[[1]]` is a number between two pairs of brackets, as models that read many wikilinks write it."""
        is_number = _MARKER.fullmatch(inner) is not None and not self._context.numbers.isdisjoint(numbers_of(inner))
        return is_number and (link is None or self._context.find(link) is None)

    def _single(self, body: str, image: bool, *, whole: bool) -> Taken | None:  # noqa: FBT001 # read at its one call
        line, ended, _ = body.partition("\n")
        settled, literal = bool(ended) or whole, Taken(1, body[0])
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

    def _markdown(self, destination: "regex.Match[str]", label: str, image: bool) -> Taken:  # noqa: FBT001
        """Decide about `[label](destination)`, which is no link into the web: of a picture only its words stay."""
        target = destination[1].strip()
        if target.casefold().startswith("obsidian:"):
            return self._link(destination.end(), link_of_address(target), label)
        if image or target.startswith("#"):
            return Taken(destination.end(), label)
        if _WEB.fullmatch(destination[0]):
            words = LIVE.sub(PARTED, label)
            return Taken(destination.end(), f"[{words}]{destination[0]}", kind=Kind.LINK)
        if _SCHEME.match(target) or target.startswith("//"):
            return Taken(1, "[")
        return self._link(destination.end(), markdown_link(target, LinkKind.MARKDOWN, 0, alias=None), label)

    def _link(self, length: int, link: Link | None, words: str, *, alone: bool = False) -> Taken:
        """Turn a link to a note into its citation, or into words; `alone` drops the words where they are the name."""
        n = self._context.find(link) if link else None
        if n is None:
            return Taken(length, words, (), 1)
        before = "" if alone else f"{words} " if words else ""
        return Taken(length, f"{before}[{n}]", (Mark(n, len(before)),))

    def _marker(self, length: int, label: str) -> Taken:
        text, marks, removed = "", [], 0
        for n in dict.fromkeys(numbers_of(label)):
            if n in self._context.numbers:
                marks.append(Mark(n, len(text)))
                text += f"[{n}]"
            else:
                removed += 1
        return Taken(length, text, tuple(marks), removed)

    def _window(self, at: int, *, final: bool) -> tuple[str, bool]:
        """Give the text that a decision may look at, and whether it is all that it will ever be."""
        return self._held[at : at + HOLD], final or len(self._held) >= at + HOLD


def _begun_address(text: str) -> int:
    """Give how many characters at the end may be the start of an obsidian:// address."""
    tail = text[-_LONGEST_PREFIX:].casefold()
    lengths = range(len(tail), 0, -1)
    return next((n for n in lengths if any(address.startswith(tail[-n:]) for address in _ADDRESSES)), 0)
