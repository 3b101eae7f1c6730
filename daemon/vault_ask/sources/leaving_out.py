"""Which patterns of `vault.exclude` leave nothing out of a folder: a slip of the pen leaves its notes in."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from vault_ask.sources.selection import Selection, is_kept_aside


def idle_exclusions(root: Path, patterns: Iterable[str]) -> list[str]:
    """List the patterns that no file and no folder below a root matches. Reads names, and none in hidden folders."""
    left = {pattern: Selection.of((), (pattern,)) for pattern in patterns}
    for path in _names(root) if left else ():
        left = {pattern: selection for pattern, selection in left.items() if selection.includes(path)}
        if not left:
            break
    return list(left)


def _names(root: Path) -> Iterator[str]:
    for folder, below, files in os.walk(root):
        at = Path(folder).relative_to(root)
        yield from ((at / name).as_posix() for name in (*below, *files))
        below[:] = [name for name in below if not is_kept_aside(name)]
