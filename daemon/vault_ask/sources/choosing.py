"""The CouchDB while it answers, else the vault's folder: which of the two is read, and why, is always told."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Event, Thread

import structlog

from vault_ask.errors import SourceError, SourceRefused, SourceUnreachable, VaultAskError
from vault_ask.sources.couch_listing import is_much
from vault_ask.sources.couchdb import CouchSource
from vault_ask.sources.filesystem import FolderSource
from vault_ask.sources.port import Change, Document, Entry, Holding, SourceState, Trouble, Unread, VaultSource

log = structlog.get_logger()

STANDING_IN = "stand-in"


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that a CouchDB which worked is waited for before the folder is used, and between two looks for it then.

    One that has not worked since the start is not waited for.
    """

    absent: float = 60.0
    look: float = 30.0


class AutoSource:
    """A vault that is kept in two places, of which the CouchDB is the newer one.

    What was kept for the one is never given to the other: after a change of places everything is compared. `changes`
    runs in one thread at a time, and so does the rest while nothing is followed; `state` may be read from any.
    """

    def __init__(
        self, make_couch: Callable[[], CouchSource], folder: FolderSource, patience: Patience | None = None
    ) -> None:
        self._make_couch = make_couch
        self._couch = make_couch()
        self._folder = folder
        self._patience = patience or Patience()
        self._now: VaultSource = self._couch
        self._why = ""
        self._worked: float | None = None
        self._chosen = False
        self._followed = False

    @property
    def name(self) -> str:
        """The vault's name."""
        return self._now.name

    @property
    def stands_in(self) -> bool:
        """Whether the folder is read: what a conflict or a torn note says of it is known to the CouchDB alone."""
        return self._now is not self._couch

    @property
    def identity(self) -> str:
        """The place that is read now."""
        return self._now.identity

    def close(self) -> None:
        """Hang up."""
        self._couch.close()

    def listing(self) -> list[Entry]:
        """List the notes of the place that can be read. Raises as the port says."""
        self._choose_by_hand()
        try:
            return self._now.listing()
        except SourceUnreachable as error:
            raise self._explained(error) from None

    def unreadable(self) -> tuple[str, ...]:
        """Name the folders that the last listing could not look into."""
        return self._now.unreadable()

    def problems(self) -> tuple[Trouble, ...]:
        """Tell what could not be taken as it is."""
        return self._now.problems()

    def read(self, path: str) -> Document:
        """Read one note."""
        return self._now.read(path)

    def read_all(self, paths: Sequence[str]) -> Iterator[Document | Unread]:
        """Read notes, in this order."""
        return self._now.read_all(paths)

    def memory(self) -> Mapping[str, str]:
        """Give what is to be kept for the place that is read now."""
        return self._now.memory()

    def recall(self, memory: Mapping[str, str]) -> None:
        """Take back what was kept for the place that `identity` names."""
        self._now.recall(memory)

    def changes(self, stop: Event) -> Iterator[list[Change]]:
        """Follow the one place or the other until `stop` is set; see the port. Raises SourceRefused."""
        self._followed = True
        try:
            self._choose()
            while not stop.is_set():
                yield from self._follow_couch(stop) if self._now is self._couch else self._follow_folder(stop)
        finally:
            self._followed = False

    def state(self) -> SourceState:
        """Tell which place is read, and why."""
        state, why = self._now.state(), self._why
        mode = STANDING_IN if self.stands_in and state.mode in {"watching", "polling"} else state.mode
        # How the folder is followed is the lesser news then.
        said = why if mode == STANDING_IN else f"{state.message} {why}".strip()
        return replace(state, mode=mode, message=said)

    def holdings(self, *, deleted: bool = False) -> Iterator[Holding]:
        """List every file of the place that can be read. Raises SourceUnreachable, SourceRefused."""
        self._choose_by_hand()
        return self._now.holdings(deleted=deleted)

    def contents(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unread]]:
        """Give the bytes of files, from the place that was listed last. Raises SourceUnreachable, SourceRefused."""
        if not self._chosen:
            self._choose_by_hand()
        return self._now.contents(paths)

    def _choose_by_hand(self) -> None:
        """Choose where nobody waits for a place to come back. Raises SourceError when neither can be read."""
        if not self._followed and (error := self._choose()):
            raise error

    def _choose(self) -> SourceError | None:
        """Take the CouchDB if it answers, else the folder if it holds the vault; give the error where neither does."""
        self._chosen = True
        try:
            self._couch.reach()
        except SourceError as error:
            self._fall_back(error)
            return self._explained(error) if self._now is self._couch else None
        self._take_couch()
        return None

    def _take_couch(self) -> None:
        if self._now is not self._couch:
            log.info("the CouchDB is used again")
            self._couch.recall({})
        self._now, self._why = self._couch, ""
        self._worked = time.monotonic()

    def _fall_back(self, error: SourceError) -> None:
        """Take the folder, unless it is worth waiting for the CouchDB or the folder holds something else."""
        if self._now is self._couch:
            if self._is_worth_waiting:
                return
            if objection := self._objection():
                self._say(f"The folder is not used in its place: {objection}")
                return
        self._now = self._folder
        self._say(f"The folder is used in place of the CouchDB. {error}")

    @property
    def _is_worth_waiting(self) -> bool:
        return self._worked is not None and time.monotonic() - self._worked < self._patience.absent

    def _objection(self) -> str | None:
        """Say why the folder cannot stand in for the CouchDB, None when it can: half a vault would delete the rest."""
        try:
            there = {entry.path for entry in self._folder.listing()}
        except SourceError as error:
            return str(error)
        known = {entry.path for entry in self._couch.known()}
        lacking = len(known - there)
        if 2 * lacking > len(known) or is_much(lacking, len(known)):
            return f"{lacking} of the {len(known)} notes that were read from the CouchDB are not in it."
        return None

    def _say(self, why: str) -> None:
        if why != self._why:
            log.warning("the CouchDB cannot be used", sentence=why)
        self._why = why

    def _explained(self, error: SourceError) -> SourceError:
        kind = SourceRefused if isinstance(error, SourceRefused) else SourceUnreachable
        return kind(f"{error} {self._why}".strip())

    def _follow_couch(self, stop: Event) -> Iterator[list[Change]]:
        try:
            for batch in self._couch.changes(stop):
                yield batch
                if batch or self._couch.state().mode == "watching":
                    self._worked, self._why = time.monotonic(), ""
                elif not self._is_worth_waiting:
                    self._choose()
                if self._now is not self._couch:
                    return
        except SourceRefused as error:
            self._fall_back(error)
            if self._now is self._couch:
                raise self._explained(error) from None

    def _follow_folder(self, stop: Event) -> Iterator[list[Change]]:
        """Follow the folder until the CouchDB answers, which is looked for in a thread of its own."""
        lookout = _Lookout(self._make_couch, self._patience.look)
        try:
            for batch in self._folder.changes(stop):
                yield batch
                if lookout.found.is_set():
                    self._take_couch()
                    return
        finally:
            lookout.end()


class _Lookout:
    """Looks for the CouchDB again and again until it can be read, each time as if for the first time.

    It shares nothing with whoever follows the folder, so that nobody ever waits for a server that is silent.
    """

    def __init__(self, make_couch: Callable[[], CouchSource], seconds: float) -> None:
        self.found = Event()
        self._make_couch = make_couch
        self._seconds = seconds
        self._over = Event()
        Thread(target=self._look, name="lookout", daemon=True).start()

    def end(self) -> None:
        """Stop looking; an attempt under way is left behind."""
        self._over.set()

    def _look(self) -> None:
        while not self.found.is_set() and not self._over.wait(self._seconds):
            try:
                self._try()
            except VaultAskError:
                continue
            except Exception as error:  # noqa: BLE001 - the outermost handler of this thread
                log.warning("looking for the CouchDB failed", error=type(error).__name__)

    def _try(self) -> None:
        scout = self._make_couch()
        try:
            scout.reach()
        finally:
            scout.close()
        self.found.set()
