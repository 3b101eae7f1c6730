"""Where the sentences of a passage of Markdown lie, in any language: offsets into the text, which stays untouched.

Knows the marks that end a sentence and the marks that Markdown puts around one; knows nothing of meaning. A heading,
a rule, a comment and the frame of a table or a fence are nobody's sentence; a table row, a list item and a line that
opens with a speaker's name are one each, or more when they hold more.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import regex

from vault_ask.answering.regions import Span, comments, inside

LONGEST = 400
"""Characters. A longer sentence is quoted in pieces, cut at the clause or the word nearest before this."""

_WORDLESS = regex.compile(r"[^\p{L}\p{N}]*")
_FENCE = regex.compile(r"\s*(?:>\s?)*(`{3,}|~{3,})")
_SKIPPED = regex.compile(
    r"""\s*(?:>\s?)*(?:
      \#{1,6}(?:\s.*)?                      # a heading
    | (?:[-*_]\s*){3,}                      # a rule
    | =+                                    # the underline of a setext heading
    | \|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|? # the line below a table's head
    | <!--.*-->                             # a comment of HTML
    | (?:</?[A-Za-z][A-Za-z0-9]*\s*/?>\s*)++ # nothing but marks of HTML
    | \^[\w-]+                              # a block id alone
    | (?:\#[^\s\#]+\s*)+                    # nothing but tags
    | (?:[-*+]\s+)?(?:!\[\[[^\[\]\n]*\]\]\s*)+   # nothing but embeds: their words stand elsewhere
    | [^\p{L}\p{N}\[]*(?:\[\[[^\p{L}\[\]\n]+\]\][^\p{L}\p{N}\[]*)+ # nothing but links to notes that are numbers
    )\s*""",
    regex.VERBOSE,
)
_LEAD = regex.compile(r"(?:\s*(?:>|[-*+•](?=\s)|\d{1,9}[.)](?=\s)|\[!\w[^\]\n]*\][+-]?))*\s*")
"""What stands before the words of a line: quote and list marks, a callout's kind. A task's box tells its state."""
_EMPTY_BOX = regex.compile(r"\[[^\]\n]\]\s*")
FIELD = r"\p{L}[\p{L}\p{M}\p{N}_ -]{0,60}::(?:\s|$)"
"""The beginning of a line with an inline field of Dataview's, or a property of Logseq's."""
_OPENS_UNIT = regex.compile(rf"\s*(?:>\s?)*(?:[-*+•]\s|\d{{1,9}}[.)]\s|\||\*\*[^*\n]{{1,60}}:?\*\*:?|>\s*\[!|{FIELD})")
_STANDS_ALONE = regex.compile(rf"\s*(?:\||>\s*\[!|{FIELD})")
"""A table row, the first line of a callout, an inline field."""
_TAIL = regex.compile(r"(?:\s+\^[\w-]+)?\s*$")
_WRAPPED_FROM = 50
"""A line at least this long that ends without a mark was probably wrapped by hand: its sentence goes on below."""

_WORDS_BEFORE = regex.compile(r"(?:(\p{L}[\p{L}\p{M}.]*)\.\s)?([\p{L}\p{M}\p{N}.]*)$")
_END = regex.compile(
    r"""(?P<wide>[。！？｡！？]+["'”’」』）)】》]*)        # these need no space behind them
      | (?P<mark>[.!?…؟۔।॥։።။။؛]+)["'”’»«)\]*_]*(?=\s|$)
    """,
    regex.VERBOSE,
)
_YEAR_OF_A_DATE = regex.compile(r"(?:19|20)\d\d\.\s?\d{1,2}\.")
"""As Hungarians and Koreans begin a date: `2026. 5. 9.`"""
_CLAUSE = regex.compile(r"[;:,،、，；：–—](?:\s|(?=\p{Han}))|[、，；：]|\s\|\s|\n")
_ABBREVIATIONS = frozenset(
    """mr mrs ms dr prof st jr sr vs etc cf eg ie al no nr fig vol pp approx dept est inc ltd co corp gen col capt rev
    bzw ca usw evtl ggf inkl vgl abs art str bd hr fr nat z.b u.a d.h z.t s.o u.s e.g i.e a.m p.m
    bl.a t.ex s.k m.m m.fl o.s.v osv kl resp dvs f.d
    sra dra ud uds pág núm av m.me mme mlle p.ex env
    г гг в вв им ул др проф т.е т.д т.п т.к н.э до.н.э стр рис
    vb vd örn yy dn bkz doç yrd m.ö m.s hz
    os m.in np tzn tzw ul pl tj tzv např apod
    incl excl inkl exkl zzgl abzgl bzgl ggfs evt enz ecc dott tlf jf wg tys mln esim mm""".split()  # noqa: SIM905 # a hundred quoted strings read worse
)
_BEHIND_ANOTHER = frozenset("ej ex med phil jur rer nat vet".split())  # noqa: SIM905 # as above
"""Words that are abbreviations behind another one alone: `p. ej.`, `t. ex.`, `Dr. med.`."""
_BEFORE_FIGURES = frozenset("max min kap abb sec sect ch tel kl p s str".split())  # noqa: SIM905 # as above
"""Words that are abbreviations before a figure alone: `max. 20`."""


def sentences(text: str, longest: int = LONGEST) -> list[Span]:
    """List the sentences of a passage in order. They do not overlap, and none is longer than `longest` characters."""
    return [sentence for unit in units(text, longest) for sentence in unit]


def units(text: str, longest: int = LONGEST) -> list[list[Span]]:
    """List the sentences of a passage by paragraph, list item or other line that is one by itself; none is empty."""
    hidden = comments(text)
    found = (
        [
            piece
            for sentence in _split(text, unit)
            for shown in _outside(text, sentence, hidden)
            for piece in _pieces(text, shown, longest)
            if not _WORDLESS.fullmatch(text, piece.start, piece.end)
        ]
        for unit in _units(text, hidden)
    )
    return [listed for listed in found if listed]


def _outside(text: str, sentence: Span, hidden: Sequence[Span]) -> Iterator[Span]:
    """Take comments off both ends of a sentence; one inside of it stays, since a quote is one piece of the text."""
    start, end = sentence.start, sentence.end
    for comment in hidden:
        if comment.start <= start < comment.end:
            start = comment.end
    for comment in reversed(hidden):
        if comment.start < end <= comment.end:
            end = comment.start
    yield from _without_blanks(text, Span(start, max(start, end)))


def _units(text: str, hidden: Sequence[Span]) -> Iterator[Span]:
    """Give the runs of lines that no sentence crosses."""
    open_unit: Span | None = None
    fence = ""
    lines = list(_lines(text))
    for index, line in enumerate(lines):
        mark = _FENCE.match(text, line.start, line.end)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            is_text = False
        else:
            is_text = not _is_hidden(line, hidden) and (not _is_frame(text, lines, index) or bool(fence))
        joins = is_text and open_unit is not None and not fence and _continues(text, open_unit, line)
        if open_unit is not None and not joins:
            yield from _trimmed(text, open_unit)
            open_unit = None
        if is_text:
            open_unit = Span(open_unit.start if open_unit else line.start, line.end)
    if open_unit is not None:
        yield from _trimmed(text, open_unit)


def _lines(text: str) -> Iterator[Span]:
    start = 0
    for line in text.split("\n"):
        yield Span(start, start + len(line))
        start += len(line) + 1


def _is_hidden(line: Span, hidden: Sequence[Span]) -> bool:
    comment = inside(line.start, hidden)
    return comment is not None and line.end <= comment.end


def _is_frame(text: str, lines: list[Span], index: int) -> bool:
    """Tell a line that is no text: blank, heading, rule, comment, or the head of a table."""
    line = lines[index]
    if not line.of(text).strip() or _SKIPPED.fullmatch(text, line.start, line.end):
        return True
    below = lines[index + 1].of(text).strip() if index + 1 < len(lines) else ""
    return "|" in line.of(text) and "|" in below and "-" in below and not below.strip("|-: ")


def _continues(text: str, unit: Span, line: Span) -> bool:
    """Tell whether the sentence that a line leaves open goes on in the next line."""
    last = text[max(unit.start, text.rfind("\n", unit.start, unit.end) + 1) : unit.end]
    if _OPENS_UNIT.match(text, line.start, line.end) or _STANDS_ALONE.match(last):
        return False
    opening = text[_LEAD.match(text, line.start, line.end).end() : line.end][:1]  # type: ignore[union-attr] # matches always
    return len(last) >= _WRAPPED_FROM or opening.islower()


def _trimmed(text: str, unit: Span) -> Iterator[Span]:
    """Take off the marks around a unit's words; nothing is left of a unit without words."""
    lead = _LEAD.match(text, unit.start, unit.end)
    start = lead.end() if lead else unit.start
    tail = _TAIL.search(text, start, unit.end)
    end = tail.start() if tail else unit.end
    if start < end and not _EMPTY_BOX.fullmatch(text, start, end):
        yield Span(start, end)


def _split(text: str, unit: Span) -> Iterator[Span]:
    cuts = [end.end() for end in _END.finditer(text, unit.start, unit.end) if _is_end(text, unit, end)]
    for start, end in pairwise([unit.start, *cuts, unit.end]):
        yield from _without_blanks(text, Span(start, end))


def _is_end(text: str, unit: Span, end: "regex.Match[str]") -> bool:
    if end["wide"]:
        return True
    following = text[end.end() : unit.end].lstrip(" \t\n>\"'“„«(¿¡*_")[:1]
    if following.islower():
        return False
    if _YEAR_OF_A_DATE.match(text, max(unit.start, end.start() - 4), unit.end):
        return False
    before = text[max(unit.start, end.start() - 24) : end.start()]
    return end["mark"] != "." or not _is_abbreviated(before, following)


def _is_abbreviated(before: str, following: str) -> bool:
    """Tell the dot of an initial, an abbreviation or an ordinal number from the dot that ends a sentence."""
    words = _WORDS_BEFORE.search(before)
    another, last = (words[1], words[2].casefold()) if words else (None, "")
    if last in _ABBREVIATIONS or (len(last) == 1 and last.isalpha()):
        return True
    if (another and last in _BEHIND_ANOTHER) or (following.isdigit() and last in _BEFORE_FIGURES):
        return True
    # `am 3. Mai`, `19. Jahrhundert`: two digits and a dot more often count than end.
    return last.isdigit() and len(last) <= 2  # noqa: PLR2004 # as the comment says


def _pieces(text: str, sentence: Span, longest: int) -> Iterator[Span]:
    """Cut an over-long sentence at clauses, else at a blank, else anywhere."""
    start = sentence.start
    while sentence.end - start > longest:
        window = start + longest
        clauses = [c.end() for c in _CLAUSE.finditer(text, start + longest // 3, window)]
        blank = text.rfind(" ", start + 1, window)
        cut = clauses[-1] if clauses else blank if blank > 0 else window
        yield from _without_blanks(text, Span(start, cut))
        start = cut
    yield from _without_blanks(text, Span(start, sentence.end))


def _without_blanks(text: str, span: Span) -> Iterator[Span]:
    piece = span.of(text)
    start = span.start + len(piece) - len(piece.lstrip())
    end = span.end - (len(piece) - len(piece.rstrip()))
    if start < end:
        yield Span(start, end)
