"""A vault in the CouchDB of Self-hosted LiveSync, as a source of notes: lists, reads and follows, and never writes."""

from collections.abc import Iterator, Mapping, Sequence
from threading import Event

from vault_ask.errors import DocumentIncomplete, DocumentVanished
from vault_ask.settings.vault import VaultSettings
from vault_ask.sources.couch_client import CouchClient
from vault_ask.sources.couch_following import Following
from vault_ask.sources.couch_holdings import Holdings
from vault_ask.sources.couch_replica import Replica
from vault_ask.sources.couch_waiting import Pace
from vault_ask.sources.port import Change, Document, Entry, Holding, SourceState, Trouble, Unread
from vault_ask.sources.selection import Selection


class CouchSource:
    """The vault in one database."""

    def __init__(self, settings: VaultSettings, *, pace: Pace | None = None) -> None:
        """Prepare; nothing is asked of the server yet. Raises ConfigError."""
        couch = settings.couchdb
        self._client = CouchClient(couch)
        self._given_name = settings.name
        self._database = couch.database or "vault"
        self._stop = Event()
        self._selection = Selection.of(settings.include, settings.exclude)
        self._replica = Replica(
            self._client,
            self._selection,
            passphrase=couch.passphrase.get_secret_value() if couch.passphrase else None,
            pace=pace or Pace(),
        )
        self._following = Following(
            self._replica, self._selection, pace or Pace(), rescan_seconds=settings.rescan_minutes * 60
        )

    @property
    def name(self) -> str:
        """The vault's name as configured, else as the device calls it that synced last, else the database's."""
        facts = self._replica.facts
        return self._given_name or (facts.name if facts else None) or self._database

    @property
    def stands_in(self) -> bool:
        """Never: it is the vault's own source."""
        return False

    @property
    def identity(self) -> str:
        """The database's address."""
        return self._client.address

    def close(self) -> None:
        """Hang up."""
        self._client.close()

    def reach(self) -> None:
        """Connect once, to see whether the vault can be read. Raises SourceError."""
        self._replica.connect()

    def listing(self) -> list[Entry]:
        """List the notes, sorted by path. Raises SourceUnreachable, SourceRefused."""
        if not self._replica.is_fresh:
            self._replica.list_all(self._stop)
        self._replica.is_fresh = False
        return self._replica.entries()

    def known(self) -> list[Entry]:
        """List the notes as they were listed last or recalled, asking nothing of the server."""
        return self._replica.entries()

    def unreadable(self) -> tuple[str, ...]:
        """Name no folder: a database has none that could be closed."""
        return ()

    def problems(self) -> tuple[Trouble, ...]:
        """Tell what is incomplete, in conflict or cannot be taken as it is."""
        return self._replica.troubles()

    def read(self, path: str) -> Document:
        """Read one note. Raises as the port says."""
        found = next(iter(self.read_all([path])))
        if not isinstance(found, Unread):
            return found
        if found.vanished:
            raise DocumentVanished("The vault holds no note at this path that can be opened.")
        raise DocumentIncomplete(found.reason, found.beginning)

    def read_all(self, paths: Sequence[str]) -> Iterator[Document | Unread]:
        """Read notes, in this order."""
        for document in self._replica.read_all(paths):
            if isinstance(document, Document) and not self._selection.lists(document.entry.path):
                yield Unread(document.entry.path, "it is no note that is indexed", vanished=True)
            else:
                yield document

    def memory(self) -> Mapping[str, str]:
        """Give the facts of every file, the salts, and how far the changes were taken."""
        return self._replica.memory()

    def recall(self, memory: Mapping[str, str]) -> None:
        """Go on from where an index stopped."""
        self._replica.recall(memory)

    def changes(self, stop: Event) -> Iterator[list[Change]]:
        """Follow the database until `stop` is set; see the port. Raises SourceRefused."""
        self._stop = stop
        return self._following.changes(stop)

    def state(self) -> SourceState:
        """Tell how changes reach us."""
        return self._following.state

    def holdings(self, *, deleted: bool = False) -> Iterator[Holding]:
        """List every file of the vault."""
        return Holdings(self._replica, self._selection).all(deleted=deleted)

    def contents(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unread]]:
        """Give the bytes of files."""
        return Holdings(self._replica, self._selection).contents(paths)
