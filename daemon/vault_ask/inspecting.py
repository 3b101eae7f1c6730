"""The source commands: a vault as its source sees it just now. They need no index and no model, and write nothing."""

import hashlib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from vault_ask.composition.parts import make_source
from vault_ask.errors import DocumentIncomplete, DocumentVanished
from vault_ask.settings import Settings
from vault_ask.sources.port import Holding, Unread, VaultSource

BATCH = 64
"""Files asked for at once: enough to spare a server round trips, few enough that a list keeps coming."""


@dataclass(frozen=True, slots=True)
class Held:
    """A line of the list: what the vault holds and, where the file was read, the SHA-256 of its bytes in hex.

    Where it was read, the size is that of the bytes. `hashed` tells a list of files that were to be read.
    """

    holding: Holding
    sha256: str | None = None
    hashed: bool = False


@dataclass(frozen=True, slots=True)
class _Fingerprint:
    size: int
    sha256: str


class Inspection:
    """The vault of these settings, looked at once. Raises ConfigError."""

    def __init__(self, settings: Settings) -> None:
        self._source = make_source(settings)

    def files(self, *, hashed: bool, deleted: bool) -> Iterator[Held]:
        """List every file, sorted by path, as it comes. Raises SourceUnreachable and SourceRefused, also on the way."""
        holdings = self._source.holdings(deleted=deleted)
        if hashed:
            return _hashed(self._source, holdings)
        return map(Held, holdings)

    def left_out(self) -> tuple[str, ...]:
        """Say, for each file or folder that the list had to leave out, which and why; when the list is through."""
        troubles = (trouble for trouble in self._source.problems() if trouble.code == "left-out")
        return tuple(f"{trouble.path} ({trouble.reason})" for trouble in troubles)

    def content(self, path: str) -> bytes:
        """Give a file's bytes; the path may be composed or decomposed, whichever way the vault spells it.

        Raises DocumentVanished when there is no such file, DocumentIncomplete when it cannot be given whole,
        SourceUnreachable, SourceRefused.
        """
        content = _content(self._source, path)
        if isinstance(content, Unread) and content.vanished:
            content = _under_another_spelling(self._source, path) or content
        match content:
            case bytes():
                return content
            case Unread(vanished=True):
                raise DocumentVanished(
                    "The vault holds no file at this path. `vault-ask source ls` lists what it holds; a path is "
                    "spelled in full and with its case."
                )
            case Unread(reason=reason):
                raise DocumentIncomplete(f"This file cannot be given: {reason}.")


def _content(source: VaultSource, path: str) -> bytes | Unread:
    return next(content for _, content in source.contents([path]))


def _under_another_spelling(source: VaultSource, path: str) -> bytes | Unread | None:
    composed = unicodedata.normalize("NFC", path)
    for holding in source.holdings():
        if holding.path != path and unicodedata.normalize("NFC", holding.path) == composed:
            return _content(source, holding.path)
    return None


def _hashed(source: VaultSource, holdings: Iterator[Holding]) -> Iterator[Held]:
    while batch := list(islice(holdings, BATCH)):
        paths = [holding.path for holding in batch if _can_be_read(holding)]
        # `map`, because a loop's variable would hold one file while the next is read.
        prints = dict(map(_fingerprint, source.contents(paths)))
        for holding in batch:
            yield _held(holding, prints[holding.path] if _can_be_read(holding) else None)


def _can_be_read(holding: Holding) -> bool:
    return holding.state in {"ok", "conflicted"}


def _fingerprint(file: tuple[str, bytes | Unread]) -> tuple[str, _Fingerprint | Unread]:
    path, content = file
    if isinstance(content, Unread):
        return path, content
    return path, _Fingerprint(len(content), hashlib.sha256(content).hexdigest())


def _held(holding: Holding, found: _Fingerprint | Unread | None) -> Held:
    match found:
        case None:
            return Held(holding, hashed=True)
        case Unread():
            problem = "it was gone when it was read" if found.vanished else found.reason
            return Held(replace(holding, state="incomplete", problem=problem), hashed=True)
        case _Fingerprint():
            return Held(replace(holding, size=found.size), found.sha256, hashed=True)
