"""Rows of Markdown's tables, read with the head of their table."""

import re

from vault_ask.answering.regions import Span

_RULE = re.compile(r"[ \t]*(?:>[ \t]?)*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_BAR = re.compile(r"(?<!\\)\|")


def read_row(text: str, row: Span) -> str | None:
    """Read a table's row with its head, as `Zone: Harbour, Price: 450`; None without a head above.

    Empty cells are left out, and so are the names of columns that have none.
    """
    head = _head(text, row.start) if "|" in row.of(text) else None
    if head is None:
        return None
    named = zip(_cells(head), _cells(row.of(text)), strict=False)
    return ", ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def _head(text: str, at: int) -> str | None:
    """Find the head of the table whose row begins at a place: above the rule, with nothing but rows between."""
    above = text[: text.rfind("\n", 0, at) + 1].split("\n")[:-1]
    while above and "|" in above[-1]:
        line = above.pop()
        if _RULE.fullmatch(line):
            return above[-1] if above and "|" in above[-1] else None
    return None


def _cells(row: str) -> list[str]:
    """Cut a row at its bars; those that open and close it are not between cells."""
    cells = [cell.strip() for cell in _BAR.split(row.strip().lstrip("> \t"))]
    if cells and not cells[0]:
        cells.pop(0)
    if cells and not cells[-1]:
        cells.pop()
    return cells
