"""Lists a LiveSync database whole, and doubts a listing in which much is missing: a rebuild looks just like that."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event

import structlog

from vault_ask.errors import SourceUnreachable
from vault_ask.sources.catalogue import Catalogue
from vault_ask.sources.couch_client import CouchClient, Row
from vault_ask.sources.livesync import CHUNKS

log = structlog.get_logger()

PAGE = 500
LONGEST_WAITS = 60
"""A vault that is edited all the time never keeps still: after so many waits two equal listings decide."""

MUCH, FEW = 0.2, 10
"""More than this share of the known files, and more than so many, are not believed gone at first sight."""

Note = Callable[[Row, "Look"], None]


@dataclass(slots=True)
class Look:
    """The database in one listing: its live files, those that cannot be taken as they are, and every id it told of."""

    catalogue: Catalogue = field(default_factory=Catalogue)
    sealed: dict[str, str] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)

    def lacks(self, known: Catalogue) -> frozenset[str]:
        """Name the known documents that the listing told nothing of, not even that they are deleted."""
        return frozenset(doc_id for doc_id in known if doc_id not in self.told)


def is_much(lacking: int, known: int) -> bool:
    """Say whether more is missing than is believed gone at first sight."""
    return lacking > FEW and lacking > MUCH * known


def fingerprint(client: CouchClient) -> tuple[str, int, str]:
    """Give what changes whenever anything is written. Raises SourceError."""
    info = client.info()
    return info.update_seq, info.doc_count, info.instance_start_time


class Listing:
    """Looks at one database until what it sees can be believed. `note` takes a row into a look."""

    def __init__(self, client: CouchClient, note: Note, tell: Callable[[str | None], None], *, quiet: float) -> None:
        self._client = client
        self._note = note
        self._tell = tell
        self._quiet = quiet

    def believed(self, known: Catalogue, stop: Event) -> Look:
        """List everything; where much of what is known is missing, again and again until that does not change.

        Raises SourceUnreachable when told to stop meanwhile, and SourceError.
        """
        look = self._look()
        lacking = look.lacks(known)
        while is_much(len(lacking), len(known)):
            self._wait_and_see(stop, len(lacking), len(known))
            look = self._look()
            before, lacking = lacking, look.lacks(known)
            if lacking == before:
                break
        return look

    def _look(self) -> Look:
        look = Look()
        for start, end in ((None, CHUNKS[0]), (CHUNKS[1], None)):
            for page in self._client.all_docs(start=start, end=end, include_docs=True, limit=PAGE):
                for row in page:
                    look.told.add(row.id)
                    self._note(row, look)
        return look

    def _wait_and_see(self, stop: Event, lacking: int, known: int) -> None:
        """Wait until nothing was written for a while, or for long. Raises SourceUnreachable when told to stop."""
        self._tell(
            f"{lacking} of {known} files are missing from the database, as while LiveSync rebuilds it. Nothing is "
            "deleted until it has kept still for a while."
        )
        before = None
        for _ in range(LONGEST_WAITS):
            if before == (now := fingerprint(self._client)):
                break
            before = now
            log.warning("much is missing; looking again", missing=lacking, known=known, seconds=self._quiet)
            if stop.wait(self._quiet):
                raise SourceUnreachable("The daemon was stopped while the database was being filled anew.")
        self._tell(None)
