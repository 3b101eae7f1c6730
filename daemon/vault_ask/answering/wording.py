"""What the reader sees of an answer: a model's words through the citation filter, and quotes."""

from collections.abc import Sequence
from typing import assert_never

from vault_ask.answering.citations import CitationFilter
from vault_ask.answering.context import Excerpt
from vault_ask.answering.page import Mark
from vault_ask.answering.ports import CutShort, Piece, Quoted
from vault_ask.answering.quoting import quoted
from vault_ask.answering.regions import Span
from vault_ask.errors import ModelUnreachable


class Wording:
    """Add the pieces as they come; each call gives what to show now. The rest tells what the whole is made of."""

    def __init__(self, excerpts: Sequence[Excerpt]) -> None:
        self._excerpts = {excerpt.n: excerpt for excerpt in excerpts}
        self._filter = CitationFilter(excerpts)
        self.text = ""
        self.quotes: list[Quoted] = []
        self.cut_short = False

    @property
    def marks(self) -> Sequence[Mark]:
        """The model's own citations, by their place in `text`."""
        return self._filter.marks

    @property
    def removed(self) -> int:
        """How many citations were taken out."""
        return self._filter.removed

    def add(self, piece: Piece) -> str:
        """Take the next piece and give what to show; it may be empty."""
        match piece:
            case str():
                return self._show(self._filter.feed(piece))
            case Quoted():
                return self._show(self._filter.verbatim(self._quoted(piece)))
            case CutShort():
                self.cut_short = True
                return ""
            case _:
                assert_never(piece)

    def close(self) -> str:
        """Give what is left to show. Raises ModelUnreachable when there was no word at all."""
        shown = self._show(self._filter.close())
        if not self.text.strip():
            raise ModelUnreachable(
                "The model ended without a word. Try again; if it thinks before it answers, raise models.reply_tokens."
            )
        return shown

    def _show(self, text: str) -> str:
        self.text += text
        return text

    def _quoted(self, quote: Quoted) -> str:
        text, span = self._excerpts[quote.n].text, Span(quote.start, quote.end)
        between = "\n\n" if self.quotes else ""
        self.quotes.append(quote)
        return f"{between}{quoted(text, span, quote.n)}"
