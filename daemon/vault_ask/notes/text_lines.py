"""The lines of a note that its writer says something in: what a code block shows is an example."""

import re
from collections.abc import Iterator

from vault_ask.notes.model import BlockKind, Note

_FENCE = re.compile(r"[\s>]*(?:`{3,}|~{3,})")
_NO_TEXT = frozenset({BlockKind.FENCE, BlockKind.HTML})


def text_lines(note: Note) -> Iterator[tuple[int, str]]:
    """Give the number, from 1, and the text of each line outside code, markup and what no reader would call text."""
    for block in note.blocks:
        if block.kind in _NO_TEXT or not block.embeddable:
            continue
        is_code = False
        for line in range(block.line_start, block.line_end + 1):
            text = note.lines[line - 1]
            is_code ^= bool(_FENCE.match(text))
            if not is_code:
                yield line, text
