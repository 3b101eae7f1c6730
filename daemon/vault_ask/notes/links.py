"""What a link points to, by name: the keys that links and notes meet under, and the choice among several notes.

Knows Obsidian's resolution; knows nothing of the index that holds the candidates.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote

from vault_ask.notes.fold import fold, storable
from vault_ask.notes.model import Link, LinkKind

_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]+:", re.IGNORECASE)
_SCHEMES_WITHOUT_SLASHES = re.compile(r"(?:javascript|vbscript|data|mailto|tel|sms|about|blob|magnet):", re.IGNORECASE)
_HARD_BLANKS = str.maketrans("\u00a0\u202f", "  ")
_BLOCK = re.compile(r"(.*?)#\^([\w-]+)\s*", re.DOTALL)


def link_key(text: str) -> str:
    """The name under which a link target and a note's path meet: last segment, folded, without `.md`."""
    return folded_name(text.strip().rpartition("/")[2]).strip().removesuffix(".md")


def tag_key(text: str) -> str:
    """A tag's folded name without `#`: `#Work/Urgent` is `work/urgent`."""
    return fold(text.strip().lstrip("#")).strip("/ ")


def wikilink(inner: str, kind: LinkKind, line: int) -> Link | None:
    """Read what stands between `[[` and `]]`; None for an address, which is no note."""
    place, _, alias = inner.replace("\\|", "|").partition("|")
    place = storable(place).strip()
    if _SCHEMES_WITHOUT_SLASHES.match(place) or (_SCHEME.match(place) and "://" in place):
        return None
    return _link(place, kind, line, alias=alias.strip() or None)


def markdown_link(destination: str, kind: LinkKind, line: int, *, alias: str | None) -> Link | None:
    """Read a Markdown link's destination, percent signs decoded; None for an address, which is no note."""
    if _SCHEME.match(destination) or destination.startswith(("//", "\\\\")):
        return None
    path, _, fragment = destination.partition("#")
    # Decoded after the parting, so that an encoded # in a name stays part of the name.
    target, heading = storable(unquote(path)).strip(), storable(unquote(fragment)).strip()
    block = heading.removeprefix("^") if heading.startswith("^") else None
    if not target and not heading:
        return None
    return Link(
        kind=kind, target=target, heading=None if block else heading or None, block=block, alias=alias, line=line
    )


def choose(target: str, from_path: str, candidates: Sequence[str]) -> str | None:
    """Choose the note a target means among vault paths that share its key, as Obsidian does; None for none.

    An exact vault path wins, then a path from the linking note's folder, then the end of a path: same folder first,
    then the shortest. A target that starts with `./` or `../` means that one path only.
    """
    wanted = _stem(target.strip())
    by_stem = sorted(candidates, key=lambda path: (path.count("/"), len(path), path))
    folder = folded_name(from_path).rpartition("/")[0]
    if wanted.startswith(("./", "../")):
        return _exact(_join(folder, wanted), by_stem)
    wanted = wanted.strip("/") if not target.strip().startswith("/") else wanted
    if wanted.startswith("/"):
        return _exact(wanted.strip("/"), by_stem)
    exact = _exact(wanted, by_stem) or _exact(_join(folder, wanted), by_stem)
    return exact or next((path for path in by_stem if f"/{_stem(path)}".endswith(f"/{wanted}")), None)


def _exact(wanted: str | None, candidates: Sequence[str]) -> str | None:
    return next((path for path in candidates if wanted and _stem(path) == wanted), None)


def _stem(path: str) -> str:
    return folded_name(path).removesuffix(".md")


def folded_name(name: str) -> str:
    """Fold a name; hard blanks, which some keyboards make, are blanks to Obsidian too."""
    return fold(name.translate(_HARD_BLANKS))


def _join(folder: str, relative: str) -> str | None:
    """Walk a relative path from a folder; None when it leaves the vault."""
    walked = list(PurePosixPath(folder).parts)
    for part in relative.split("/"):
        if part == "..":
            if not walked:
                return None
            walked.pop()
        elif part not in {"", "."}:
            walked.append(part)
    return "/".join(walked)


def _link(place: str, kind: LinkKind, line: int, *, alias: str | None) -> Link | None:
    """Part a place into target, heading and block; None for no place at all."""
    block = None
    if found := _BLOCK.fullmatch(place):
        place, block = found.groups()
    target, _, heading = place.partition("#")
    target, heading = target.strip(), heading.strip()
    if not (target or heading or block):
        return None
    return Link(kind=kind, target=target, heading=heading or None, block=block, alias=alias, line=line)
