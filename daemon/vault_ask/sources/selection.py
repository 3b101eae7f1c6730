"""Which names in a vault are notes: rules about names alone, with no disk behind them.

A path here is vault-relative, `/`-separated and NFC, except where two files on disk differ only by normalisation: then
the second keeps its own spelling, so that both can be told apart.
"""

import os
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from wcmatch import glob

_SUFFIXES = (".md", ".canvas")
# Word processors and Syncthing keep unfinished files under these next to the real one; all else that is temporary
# ends in another suffix (`.swp`, `.tmp`, `~`, `.icloud`) or starts with a dot.
_UNFINISHED = ("~$", "~syncthing~")
# Control characters and line separators break logs, links and line-based tools; a backslash is a separator elsewhere.
_UNUSABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\\\\]")
# Where a NAS or Windows keeps what was deleted, snapshots and thumbnails; none of it is a part of the vault any more.
_KEPT_ASIDE = frozenset(
    {"#recycle", "#snapshot", "@recycle", "@recently-snapshot", "@eadir", "@tmp", "@sharesnap", "$recycle.bin"}
    | {"lost+found", "system volume information"}
)
_FLAGS = glob.GLOBSTAR | glob.DOTGLOB | glob.FORCEUNIX


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a vault is indexed. Patterns are matched without case, from the vault's root, against whole paths.

    A pattern that names a folder stands for everything below it: `Archive`, `Archive/` and `Archive/**` are the same.
    """

    include: glob.WcMatcher[str] | None
    exclude: glob.WcMatcher[str] | None

    @classmethod
    def of(cls, include: Iterable[str], exclude: Iterable[str]) -> Self:
        """Compile the patterns; no include pattern means that everything is included."""
        return cls(_compiled(include), _compiled(exclude))

    def enters(self, folder: str) -> bool:
        """Whether the folder at this path may hold notes for us; its parents are taken for granted."""
        return not is_kept_aside(folder.rpartition("/")[2]) and not matches_any(self.exclude, folder)

    def takes(self, path: str) -> bool:
        """Whether the file at this path is a note for us; its folders are taken for granted."""
        if not is_note_name(path.rpartition("/")[2]) or matches_any(self.exclude, path):
            return False
        return self.include is None or matches_any(self.include, path)

    def includes(self, path: str) -> bool:
        """Whether the owner's patterns leave the file at this path in, note or not."""
        parts = path.split("/")
        kept = not any(matches_any(self.exclude, "/".join(parts[:depth])) for depth in range(1, len(parts) + 1))
        return kept and (self.include is None or matches_any(self.include, path))

    def lists(self, path: str) -> bool:
        """Whether a listing would hold this path if there were a regular file at it."""
        parts = path.split("/")
        return self.takes(path) and all(self.enters("/".join(parts[:depth])) for depth in range(1, len(parts)))


def is_kept_aside(folder: str) -> bool:
    """Whether a folder of this name holds settings, deleted files or other things that are no notes of the vault."""
    return folder.startswith(".") or folder.casefold() in _KEPT_ASIDE


def is_note_name(name: str) -> bool:
    """Whether a file of this name is a note or canvas, and not hidden, temporary or unfinished."""
    return name.casefold().endswith(_SUFFIXES) and not name.startswith((".", *_UNFINISHED))


def path_parts(path: str) -> list[str] | None:
    """Cut a vault-relative path at its slashes; None where it is absolute, climbs, or is no path of ours at all."""
    parts = path.split("/")
    return None if _UNUSABLE.search(path) or any(part in {"", ".", ".."} for part in parts) else parts


def name_text(name: str) -> str:
    """Give the text of a name as the operating system returned it.

    Python decodes names by the locale, vaults hold UTF-8 whatever the locale says. Raises ValueError with a reason
    where the name is no UTF-8 or cannot be used as part of a path.
    """
    try:
        text = os.fsencode(name).decode("utf-8")
    except UnicodeError:
        raise ValueError("its name is not UTF-8") from None
    if _UNUSABLE.search(text):
        raise ValueError("its name holds a line break, a control character or a backslash")
    return text


def disk_name(text: str) -> str:
    """Give the name under which the operating system's calls find this text; the reverse of `name_text`."""
    return os.fsdecode(text.encode("utf-8"))


def shown_names(texts: Iterable[str]) -> dict[str, str]:
    """Map the texts of one folder's names to the spelling we show: NFC, unless another file already has that one."""
    texts = sorted(texts)
    shown = {text: text for text in texts if unicodedata.is_normalized("NFC", text)}
    taken = set(shown)
    for text in texts:
        if text not in shown:
            composed = unicodedata.normalize("NFC", text)
            shown[text] = text if composed in taken else composed
            taken.add(shown[text])
    return shown


def _compiled(patterns: Iterable[str]) -> glob.WcMatcher[str] | None:
    stems = [stem for pattern in patterns if (stem := _stem(pattern))]
    return glob.compile([*stems, *(f"{stem}/**" for stem in stems)], flags=_FLAGS, limit=0) if stems else None


def _stem(pattern: str) -> str:
    return _folded(pattern.strip()).removeprefix("./").lstrip("/").rstrip("/").removesuffix("/**")


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def matches_any(patterns: glob.WcMatcher[str] | None, path: str) -> bool:
    """Say whether any of some compiled patterns matches a path."""
    return patterns is not None and patterns.match(_folded(path))
