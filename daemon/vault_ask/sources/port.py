"""What a source of notes is to the rest: it lists, it reads, it tells of changes. It never writes."""

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Event
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Entry:
    """A document in a listing. `revision` changes whenever the content may have changed, and is cheap to get."""

    path: str
    revision: str
    size: int
    mtime: float


@dataclass(frozen=True, slots=True)
class Document:
    """A document's bytes as the vault holds them now, with the entry they belong to.

    `resolved_path` differs from the entry's path where a link inside the vault led elsewhere inside it; the stricter
    sensitivity of both paths holds.
    """

    entry: Entry
    content: bytes
    resolved_path: str


@dataclass(frozen=True, slots=True)
class Upserted:
    """The document at this path is new or changed."""

    path: str


@dataclass(frozen=True, slots=True)
class Deleted:
    """There is no document at this path any more."""

    path: str


@dataclass(frozen=True, slots=True)
class Rescan:
    """The source may have missed something: list again and compare."""

    reason: str


Change = Upserted | Deleted | Rescan


@dataclass(frozen=True, slots=True)
class SourceState:
    """How the source is doing, for the status: `mode` is `watching`, `polling`, `waiting` or `stopped`."""

    mode: str
    message: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """A file or folder that could not be taken as it is, and why: `reason` is a clause such as `its name is not UTF-8`.

    `path` is for the owner's eyes only: it is written so that it can be printed, and may name a personal note.
    """

    path: str
    reason: str


class VaultSource(Protocol):
    """A vault that can be listed, read and followed. Paths are vault-relative, `/`-separated, NFC, true case."""

    @property
    def name(self) -> str:
        """The vault's name, as `obsidian://` links want it."""
        ...

    @property
    def identity(self) -> str:
        """Which vault this is, so that an index of another one is not mistaken for its: a resolved path or address."""
        ...

    def listing(self) -> list[Entry]:
        """List every document that may be indexed (Markdown and canvas), sorted by path.

        Raises SourceUnreachable when the vault is away or its emptiness cannot be told from an unmounted disk.
        """
        ...

    def unreadable(self) -> tuple[str, ...]:
        """Name the folders, by vault-relative path, that the last listing could not look into.

        Their notes are missing from that listing without being gone: what is indexed below them stays.
        """
        ...

    def problems(self) -> tuple[Trouble, ...]:
        """Tell what the last listing left out or will not be able to read, sorted by path."""
        ...

    def read(self, path: str) -> Document:
        """Read one document. Raises DocumentVanished when it is not there, SourceUnreachable when the vault is."""
        ...

    def changes(self, stop: Event) -> Iterator[list[Change]]:
        """Yield settled batches of changes until `stop` is set; an empty batch is a sign of life.

        The first batch is a Rescan, once changes can no longer be missed. A batch says what is true when it is
        yielded: departures first, then arrivals, and both sides of a rename are in the same batch.
        """
        ...

    def state(self) -> SourceState:
        """Tell how changes reach us just now, in a sentence for the owner."""
        ...
