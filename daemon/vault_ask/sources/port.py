"""What a source of notes is to the rest: it lists, it reads, it tells of changes. It never writes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class Entry:
    """A document in a listing. `revision` changes whenever the content may have changed, and is cheap to get."""

    path: str
    revision: str
    size: int
    mtime: float


@dataclass(frozen=True, slots=True)
class OtherVersion:
    """A version of a document that lost a conflict, or a second document at its path; `content` is None if unreadable.

    It is never shown; the note is as personal as its most personal version, and personal while one is unreadable.
    """

    path: str
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Document:
    """A document's bytes as the vault holds them now, with the entry they belong to.

    `resolved_path` differs from the entry's path where a link inside the vault led elsewhere inside it; the stricter
    sensitivity of both paths holds, and of all `others`.
    """

    entry: Entry
    content: bytes
    resolved_path: str
    others: tuple[OtherVersion, ...] = ()


@dataclass(frozen=True, slots=True)
class Unread:
    """A document that cannot be given now: what is indexed of it stays. `reason` is a clause.

    `beginning` is as much of its newest text as is there from the start, and `moved_to` the path of its newest version
    where that is another one: either may say that the note became personal, and so may `others`, as in a Document.
    """

    path: str
    reason: str
    beginning: bytes = b""
    vanished: bool = False
    moved_to: str | None = None
    others: tuple[OtherVersion, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Remember:
    """Values to keep with the index, in the transaction that stores the rest of the batch; None forgets one.

    They come back through `recall`. A batch of nothing else says that the source has come further without news.
    """

    values: Mapping[str, str | None]


Change = Upserted | Deleted | Rescan | Remember


@dataclass(frozen=True, slots=True)
class SourceState:
    """How the source is doing, for the status.

    `mode` is `watching`, `polling`, `stand-in` (a folder is followed in place of the CouchDB), `waiting` or `stopped`.
    `lag` counts changes that the vault holds and we have not taken yet, None where nobody can tell; `last_change` is
    when the source last told of one (seconds since 1970); `waiting` counts notes whose newest version is not whole yet.
    """

    mode: str
    message: str
    kind: Literal["folder", "couchdb"] = "folder"
    lag: int | None = None
    last_change: float | None = None
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Trouble:
    """A file or folder that could not be taken as it is, and why: `reason` is a clause such as `its name is not UTF-8`.

    `path` is for the owner's eyes only: it is written so that it can be printed, and may name a personal note.
    """

    path: str
    reason: str
    code: Literal["left-out", "incomplete", "conflict", "size"] = "left-out"


HoldingState = Literal["ok", "incomplete", "conflicted", "deleted"]


@dataclass(frozen=True, slots=True)
class Holding:
    """A file that the vault holds right now, note or attachment, whether it is indexed or not.

    `path` is spelled as the vault spells it. `size` is in bytes as the vault tells it; None where it does not.
    `problem` is a clause where `state` is not ok.
    """

    path: str
    revision: str
    size: int | None
    state: HoldingState = "ok"
    problem: str | None = None


class VaultSource(Protocol):
    """A vault that can be listed, read and followed. Paths are vault-relative, `/`-separated, NFC, true case."""

    @property
    def name(self) -> str:
        """The vault's name, as `obsidian://` links want it."""
        ...

    @property
    def stands_in(self) -> bool:
        """Whether this is only in place of the vault's own source, and may know less of how personal a note is."""
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
        """Tell what the last listing or `holdings` left out or cannot be read as it is, sorted by path."""
        ...

    def read(self, path: str) -> Document:
        """Read one document.

        Raises DocumentVanished when it is not there, DocumentIncomplete when its newest version is not whole,
        SourceUnreachable when the vault is away.
        """
        ...

    def read_all(self, paths: Sequence[str]) -> Iterator[Document | Unread]:
        """Read some documents, in this order, as `read` would; what it would raise for one is told as Unread.

        Raises SourceUnreachable.
        """
        ...

    def memory(self) -> Mapping[str, str]:
        """Give what is to be kept with an index that has been brought in line with the last listing."""
        ...

    def recall(self, memory: Mapping[str, str]) -> None:
        """Take back what an index kept, before `listing` or `changes`; empty for a new index.

        From then on the source tells what changed against that index, and forgets what it knew of another one.
        """
        ...

    def changes(self, stop: Event) -> Iterator[list[Change]]:
        """Yield settled batches of changes until `stop` is set; an empty batch is a sign of life.

        The first batch is a Rescan, once changes can no longer be missed, or what changed since the state that was
        recalled. A batch says what is true when it is yielded: departures first, then arrivals, and both sides of a
        rename are in the same batch where they are known together.
        """
        ...

    def holdings(self, *, deleted: bool = False) -> Iterator[Holding]:
        """List every file that the vault holds, attachments too, sorted by path; with `deleted` those it remembers.

        Raises SourceUnreachable, SourceRefused.
        """
        ...

    def contents(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unread]]:
        """Give the bytes of files by path, notes or attachments, as they are in the vault.

        Raises SourceUnreachable, SourceRefused.
        """
        ...

    def state(self) -> SourceState:
        """Tell how changes reach us just now, in a sentence for the owner."""
        ...
