"""Which files are conflict copies by their names, and of what: sync programs keep the loser of a conflict beside it.

Knows names only. A name that merely looks like one is harmless: a copy can only become more personal by what it is
taken to be a copy of. Numbered duplicates (`Note 2.md`, `Note (1).md`) count as notes of their own.

Forms: Syncthing `Note.sync-conflict-20260102-030405-ABCDEFG.md` (docs.syncthing.net, "Syncing"), Dropbox `Note (Ann's
conflicted copy 2026-01-02).md` in many languages, Nextcloud `Note (conflicted copy 2026-01-02 030405).md` and formerly
`Note_conflict-20260102-030405.md`, Obsidian Sync `Note (Conflicted copy phone 202601020304).md`, pCloud `Note
[conflicted].md`, Synology Drive `Note_PC_Jan-02-0304-2026_Conflict.md`.
"""

import re
from collections.abc import Iterable

from vault_ask.notes.fold import fold_loosely

# "Conflict" as file names say it, folded; `confli` is also French, Italian, Spanish, Portuguese and Dutch, `konfli`
# German, the Nordic languages, Polish, Czech, Indonesian and Malay.
_WORD = re.compile("confli|konfli|конфл|ristiriit|ütköz|çakiş|ขัดแย้ง|競合|冲突|衝突|충돌")
_OPENING, _CLOSING = frozenset("([（【"), frozenset(")]）】")
_NUMBER = re.compile(r"\s+(?:\d{1,3}|\(\d{1,3}\))$")
_DATED = re.compile(
    r"[._ ~-]+(?:sync-)?confli\w*(?:[._ -]+cop\w+)?[._ -]+\d{4}-?\d\d-?\d\d(?:(?!confli)[^()\[\]（）【】])*$"
)
_BARE = re.compile(r"\.(?:sync-)?conflict(?:ed)?$")
_SYNOLOGY = re.compile(r"_[^_]+_[a-z]{3}-\d\d-\d{4,6}-\d{4}_\w{0,40}conflict(?:_\d+)?$")


def original_of(path: str) -> tuple[str, int]:
    """Give the folded path of what this is a copy of in the end, and how many times over; 0 for no copy.

    A folder may be a copy as well as a file. A copy of a copy counts twice: it is also a copy of the former.
    """
    folded = fold_loosely(path).strip("/")
    if not _WORD.search(folded):
        return folded, 0
    *folders, name = folded.split("/")
    stem, dot, ending = name.rpartition(".") if "." in name else (name, "", "")
    parts = [_unmarked(part) for part in (*folders, stem)]
    names = [part for part, _ in parts]
    return "/".join((*names[:-1], f"{names[-1]}{dot}{ending}")), sum(times for _, times in parts)


def originals_first(paths: Iterable[str]) -> list[str]:
    """Order paths so that no copy comes before what it is a copy of; else they stay as they are."""
    return sorted(paths, key=lambda path: original_of(path)[1])


def _unmarked(name: str) -> tuple[str, int]:
    times = 0
    while shorter := _without_mark(name):
        name, times = shorter, times + 1
    return name, times


def _without_mark(name: str) -> str:
    """Take the last mark of a copy away; nothing is left where there is none, or nothing but it."""
    name = _NUMBER.sub("", name)
    found = _DATED.search(name) or _BARE.search(name) or _SYNOLOGY.search(name)
    return name[: found.start()].rstrip() if found else _without_group(name)


def _without_group(name: str) -> str:
    """Take away what stands in brackets at the end, if it speaks of a conflict; brackets may hold others."""
    depth = 0
    for at in range(len(name) - 1, -1, -1):
        depth += (name[at] in _CLOSING) - (name[at] in _OPENING)
        if depth <= 0:
            return name[:at].rstrip() if _WORD.search(name, at) else ""
    return ""
