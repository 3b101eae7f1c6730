"""Notes to chunks: sections by their headings, blocks packed up to the target, cuts only where one block is too large.

A chunk never mixes the text of two sections, so that its heading path holds for all of it; headings without text go
with the next section that has some. Knows nothing of models but a function that counts tokens.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import accumulate

from vault_ask.notes.canvas import canvas_texts
from vault_ask.notes.fold import storable
from vault_ask.notes.frontmatter import topics_of
from vault_ask.notes.model import PROPERTIES, Block, BlockKind, Chunk, Heading, Note
from vault_ask.notes.prelude import PreludeWriter
from vault_ask.notes.property_lines import PropertyPassage, property_passages
from vault_ask.notes.split import Piece, Sizes, cut, parted
from vault_ask.notes.written_dates import is_only_a_date
from vault_ask.settings.vault import ChunkSettings

_Count = Callable[[str], int]
_Path = tuple[str, ...]
_Section = tuple[int, _Path]
"""The line of the heading that opens a section (two may have the same name), and the path to it."""
_SURELY_LONG = 64  # no tokenizer in use makes fewer tokens than one for so many characters


@dataclass(frozen=True, slots=True)
class _Passage:
    """A chunk to be: a span of the text, its tokens, and what it belongs to."""

    section: _Section
    piece: Piece
    only_headings: bool = False
    extra: str = ""


def chunk(note: Note, *, count: Callable[[str], int], options: ChunkSettings) -> list[Chunk]:
    """Cut a note. `count` gives the tokens of a text; every chunk's tokens are of its body alone, 0 if not embedded.

    What its properties say comes last. A note without text or such properties gives one chunk with an empty body, so
    that it is found by its prelude.
    """
    text = "\n".join(note.lines)
    passages = _canvas_passages(note, text, count, options)
    if passages is None:
        passages = _joined(_packed(note, text, count, options), options)
    said = property_passages(
        note.property_lines, note.lines, count=count, target=options.target_tokens, most=options.max_tokens
    )
    has_text = any(passage.piece.embeddable for passage in passages)
    if not has_text and not said:
        passages = [_Passage((0, ()), Piece(0, 0, 0, 0)), *passages]
    preludes = PreludeWriter(note, topics_of(note.frontmatter), count)
    return _chunks(note, text, passages, preludes) + _property_chunks(note, said, preludes)


def _packed(note: Note, text: str, count: _Count, options: ChunkSettings) -> Iterator[_Passage]:
    """Fill passages section by section, up to the target."""
    open_: _Passage | None = None
    for section, is_heading, piece in _pieces(note, text, count, options):
        added = _extended(open_, section, piece, is_heading=is_heading, options=options)
        if added is None:
            if open_:
                yield open_
            added = _Passage(section, piece, only_headings=is_heading)
        open_ = added
    if open_:
        yield open_


def _extended(
    open_: _Passage | None, section: _Section, piece: Piece, *, is_heading: bool, options: ChunkSettings
) -> _Passage | None:
    """The open passage with this piece, or None where a new one must begin."""
    if open_ is None or open_.piece.embeddable != piece.embeddable or piece.overlap_start < piece.start:
        return None
    if open_.section != section and not open_.only_headings:
        return None
    small = open_.only_headings or open_.piece.tokens < options.min_tokens
    limit = options.max_tokens if small and not is_heading else options.target_tokens
    total = open_.piece.tokens + piece.tokens
    if piece.embeddable and total > limit:
        return None
    grown = replace(open_.piece, end=piece.end, tokens=total)
    return _Passage(section, grown, only_headings=open_.only_headings and is_heading)


def _joined(passages: Iterator[_Passage], options: ChunkSettings) -> list[_Passage]:
    """Let a runt join the passage before it in its section, and headings with nothing below them the one before."""
    joined: list[_Passage] = []
    for passage in passages:
        last = joined[-1] if joined else None
        if last and _may_join(last, passage, options):
            total = last.piece.tokens + passage.piece.tokens
            joined[-1] = replace(last, piece=replace(last.piece, end=passage.piece.end, tokens=total))
        else:
            joined.append(passage)
    return joined


def _may_join(last: _Passage, passage: _Passage, options: ChunkSettings) -> bool:
    is_runt = passage.piece.tokens < options.min_tokens and (last.section == passage.section or passage.only_headings)
    both_text = last.piece.embeddable and passage.piece.embeddable
    return is_runt and both_text and last.piece.tokens + passage.piece.tokens <= options.max_tokens


def _pieces(note: Note, text: str, count: _Count, options: ChunkSettings) -> Iterator[tuple[_Section, bool, Piece]]:
    """Each block, or each part of one that is too large, under its heading path."""
    starts = _line_starts(note.lines)
    headings = {heading.line: heading for heading in note.headings}
    stack: list[Heading] = []
    for block in note.blocks:
        is_heading = block.kind is BlockKind.HEADING and block.line_start in headings
        if is_heading:
            stack = _under(stack, headings[block.line_start])
        section = (stack[-1].line if stack else 0, tuple(heading.text for heading in stack if heading.text))
        start, end = starts[block.line_start - 1], starts[block.line_end] - 1
        for piece in _block_pieces(block, text, start, end, count=count, options=options):
            yield section, is_heading, piece


def _block_pieces(
    block: Block, text: str, start: int, end: int, *, count: _Count, options: ChunkSettings
) -> Iterator[Piece]:
    if not block.embeddable:
        yield Piece(start, end, 0, start, embeddable=False)
        return
    sizes = Sizes(options.target_tokens, options.max_tokens, options.overlap_tokens)
    for first, last, is_text in parted(text, start, end):
        if not is_text:
            yield Piece(first, last, 0, first, embeddable=False)
            continue
        tokens = (
            count(text[first:last]) if last - first <= options.max_tokens * _SURELY_LONG else options.max_tokens + 1
        )
        if tokens <= options.max_tokens:
            yield Piece(first, last, tokens, first)
        else:
            yield from cut(text, first, last, block.kind, sizes, count)


def _under(stack: Sequence[Heading], heading: Heading) -> list[Heading]:
    return [*(above for above in stack if above.level < heading.level), heading]


def _canvas_passages(note: Note, text: str, count: _Count, options: ChunkSettings) -> list[_Passage] | None:
    """A canvas gives each line of each card, verbatim in the JSON; None for everything else."""
    found = canvas_texts(note.path, text)
    if found is None:
        return None
    sizes = Sizes(options.target_tokens, options.max_tokens, options.overlap_tokens)
    return [
        _Passage((0, card.heading_path), piece, extra=card.decoded)
        for card in found
        for piece in cut(text, card.start, card.end, BlockKind.PARAGRAPH, sizes, count)
    ]


def _line_starts(lines: Sequence[str]) -> list[int]:
    """Where each line starts in the text, and one more: past the end."""
    return list(accumulate((len(line) + 1 for line in lines), initial=0))


def _chunks(note: Note, text: str, passages: Sequence[_Passage], preludes: PreludeWriter) -> list[Chunk]:
    starts = _line_starts(note.lines)
    markers = sorted((line, name) for name, line in note.block_ids.items())
    seen: Counter[str] = Counter()
    chunks = []
    for ordinal, passage in enumerate(passages):
        piece, path = passage.piece, passage.section[1]
        body = text[piece.overlap_start : piece.end].rstrip("\n")
        lines = _lines(starts, piece.overlap_start, piece.overlap_start + len(body))
        chunks.append(
            Chunk(
                id=_id(note.path, path, body, seen),
                ordinal=ordinal,
                heading_path=path,
                prelude=preludes.write(path, passage.extra),
                body=body,
                line_start=lines[0],
                line_end=lines[1],
                tokens=piece.tokens,
                block=_marker(markers, lines, body),
                embeddable=piece.embeddable,
                overlap=piece.start - piece.overlap_start,
            )
        )
    return chunks


def _property_chunks(note: Note, passages: Sequence[PropertyPassage], preludes: PreludeWriter) -> list[Chunk]:
    seen: Counter[str] = Counter()
    heading = _main_heading(note)
    return [
        Chunk(
            id=_id(f"{note.path}\x1f---", (), passage.text, seen),
            ordinal=PROPERTIES + place,
            heading_path=(),
            prelude=preludes.write(heading, passage.parted_words),
            body=passage.text,
            line_start=passage.line_start,
            line_end=passage.line_end,
            tokens=passage.tokens,
        )
        for place, passage in enumerate(passages)
    ]


def _main_heading(note: Note) -> _Path:
    """Give the heading that is the note's name inside it: its first one, where no other is of the first level.

    A date is no name, and what a daily note is of stands in front anyway.
    """
    main = [heading for heading in note.headings if heading.level == 1]
    if len(main) != 1 or main[0] is not note.headings[0] or is_only_a_date(main[0].text):
        return ()
    return (main[0].text,)


def _lines(starts: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """The 1-based lines of the characters `start` to `end`, exclusive."""
    first = max(1, bisect_right(starts, start))
    return first, max(first, bisect_right(starts, end - 1))


def _marker(markers: Sequence[tuple[int, str]], lines: tuple[int, int], body: str) -> str | None:
    at = bisect_right(markers, (lines[0], ""))
    while at < len(markers) and markers[at][0] <= lines[1]:
        if f"^{markers[at][1]}" in body:
            return markers[at][1]
        at += 1
    return None


def _id(path: str, heading_path: _Path, body: str, seen: Counter[str]) -> str:
    """A hash of what the chunk is and where; equal chunks of a note are told apart by their order."""
    key = "\x1f".join((path, *heading_path, "\x1e", body))
    seen[key] += 1
    return sha256(storable(f"{key}\x1f{seen[key]}").encode()).hexdigest()[:32]
