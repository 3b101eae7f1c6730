"""A LiveSync vault at work: a device that writes, a real server, the source, the ingest and a real index, one thread.

The test takes the source's batches one by one, so that it can stop between any two of them. Fixtures, made known by
tests/conftest.py: `livesync` makes benches, `followed` is one of two notes on each server, `sealed` on the stand-in.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Event
from typing import Any
from uuid import uuid4

import pytest

from couch_stand_in import CouchStandIn
from ingest.bench import Bench
from livesync_device import PASSPHRASE, Cipher, Device
from vault_ask.scope import PrivateScope, Sensitivity
from vault_ask.settings.vault import VaultSettings
from vault_ask.sources import ciphers, couch_following
from vault_ask.sources.couch_waiting import Pace
from vault_ask.sources.couchdb import CouchSource
from vault_ask.sources.port import Change, Remember

OPEN, PERSONAL = Sensitivity.OPEN, Sensitivity.PERSONAL
SECRET = "---\nsensitivity: personal\n---\n"
PACE = Pace(quiet=0.05, settle=0.03, longest_settle=0.5, heartbeat=5.0, look=60.0, sign=0.02, retries=(0.03,))
NEVER = 3600.0
LONG = "# Trees\n" + "quince and medlar " * 80 + "\n\n# Bees\n" + "honey and wax " * 80 + "\n"
TWO_NOTES = {"Hub.md": "[[geometry]] and [[sets]]\n", "geometry.md": LONG}
PATIENCE = 15.0

Condition = Callable[[], object]
Making = Callable[..., "LiveSyncBench"]


def couch_source(url: str, database: str, *, pace: Pace = PACE, **vault: Any) -> CouchSource:  # noqa: ANN401 - settings
    """Make the source of a database, with further settings of the vault; a refusal is asked again soon."""
    couchdb = {"url": url, "database": database, "passphrase": PASSPHRASE, **vault.pop("couchdb", {})}
    source = CouchSource(VaultSettings.model_validate({"source": "couchdb", "couchdb": couchdb, **vault}), pace=pace)
    source._client._requests._backoff_seconds = 0.01
    return source


class LiveSyncBench(Bench):
    """One vault in one database, followed into one index from the first `until` on."""

    def __init__(
        self,
        data: Path,
        url: str,
        notes: Mapping[str, str | bytes] | None = None,
        *,
        mode: str = "plain",
        pace: Pace = PACE,
        personal: tuple[str, ...] = (),
        cut: int = 1000,
        database: str = "",
        **vault: Any,  # noqa: ANN401 - settings
    ) -> None:
        self.url, self.database = url, database or f"v{uuid4().hex}"
        self._pace, self._vault = pace, vault
        self.device = Device(url, self.database, mode=mode, cut=cut)
        if not database:
            self.device.create_database()
        self.device.put_many(notes or {})
        self.batches: list[list[Change]] = []
        super().__init__(data, source=self._new_source(), personal=personal)
        self._begin()

    def device_of(self, mode: str) -> Device:
        """Give another device at the same database, with other settings than the first."""
        return Device(self.url, self.database, mode=mode)

    # Driving

    def take(self) -> list[Change]:
        """Take one batch into the index."""
        batch = self.next_batch()
        if batch:
            self.batches.append(batch)
            self.ingest.apply(batch)
            assert self.backlog.drain(Event())
        return batch

    def next_batch(self) -> list[Change]:
        """Take one batch out of the source, and leave the index as it is."""
        return next(self._changes)

    def until(self, condition: Condition, *, seconds: float = PATIENCE) -> None:
        """Take batches until the condition holds. Fails when it does not in time."""
        end = time.monotonic() + seconds
        while not condition():
            self.take()
            assert time.monotonic() < end, f"waited in vain; {self.source.state().message}"

    def catch_up(self) -> None:
        """Take batches until the database is followed, and once more until it is quiet."""
        self.until(lambda: self.source.state().mode == "watching")
        self.until(lambda: not self.take())

    def restart(
        self, *, personal: tuple[str, ...] = (), pace: Pace | None = None, before: Condition = lambda: None
    ) -> None:
        """End the process and begin again from what the index holds; `before` is done while nobody listens."""
        self.hang_up()
        before()
        self._pace = pace or self._pace
        self.source = self._new_source()
        self.writer.close()
        self._open(personal, None)
        self._begin()

    def hang_up(self) -> None:
        """Stop following."""
        self._stop.set()
        self._changes.close()
        self.source.close()

    def close(self) -> None:
        self.hang_up()
        super().close()

    # Looking

    @property
    def remembered(self) -> dict[str, str]:
        return self.writer.memory()

    @property
    def checkpoint(self) -> str:
        """The sequence that the index keeps."""
        return str(json.loads(self.remembered["checkpoint"])[0])

    def level(self, path: str) -> Sensitivity:
        return self.writer.known()[path].sensitivity

    def text(self, path: str) -> str:
        """Give what the index holds of a note."""
        return "\n".join(passage.body for passage in self.passages(path)).strip()

    def troubles(self, code: str = "") -> dict[str, str]:
        """Give what the source tells as trouble, by path."""
        return {trouble.path: trouble.reason for trouble in self.source.problems() if code in {"", trouble.code}}

    def kept_troubles(self) -> list[tuple[str, str]]:
        """Give the paths and codes of the troubles that the index keeps, as a status in another process sees them."""
        with self.index.open(PrivateScope()) as view:
            return [(trouble.path, trouble.code) for trouble in view.state.troubles()]

    def news(self) -> list[Change]:
        """Give the changes of the batches so far, in order."""
        return [change for batch in self.batches for change in batch]

    def raw(self) -> bytes:
        """Give every byte of the data folder."""
        return b"".join(file.read_bytes() for file in sorted(self.files.data.iterdir()) if file.is_file())

    def _begin(self) -> None:
        self.ingest.recall()
        self._stop = Event()
        self._changes = self.source.changes(self._stop)

    def _new_source(self) -> CouchSource:
        return couch_source(self.url, self.database, pace=self._pace, **self._vault)


@pytest.fixture
def livesync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Making]:
    """Makes benches over data folders of the test, whose sources are impatient, and closes them."""
    for name in ("TICK_SECONDS", "SESSION_SECONDS", "FIRST_RETRY_SECONDS"):
        monkeypatch.setattr(couch_following, name, 0.02)
    # The device, the source, and the source after every restart derive the same key, which takes 0.1 s each time.
    derived = lru_cache(ciphers._pbkdf2)
    monkeypatch.setattr(ciphers, "_pbkdf2", derived)
    monkeypatch.setattr(Cipher, "_derive_master", lambda self: derived(self._secret, self._salt, 310_000))
    made: list[LiveSyncBench] = []

    def make(*arguments: Any, **how: Any) -> LiveSyncBench:  # noqa: ANN401 - as LiveSyncBench takes them
        made.append(LiveSyncBench(tmp_path / f"data{len(made)}", *arguments, **how))
        return made[-1]

    yield make
    for bench in made:
        bench.close()
        bench.device.close()


@pytest.fixture(params=["v2obf on stand_in", "plain on pouchdb"])
def followed(request: pytest.FixtureRequest, livesync: Making) -> LiveSyncBench:
    """A vault of two notes, followed and embedded: encrypted with rows in any order, and plain on a real server."""
    mode, _, which = request.param.split()
    server = request.getfixturevalue(which)
    if isinstance(server, CouchStandIn):
        server.shuffle, server.repeats = 7, True
    return _two_notes(livesync, server.url if isinstance(server, CouchStandIn) else server, mode)


@pytest.fixture
def sealed(livesync: Making, stand_in: CouchStandIn) -> LiveSyncBench:
    """A vault of two notes, followed and embedded, everything encrypted."""
    return _two_notes(livesync, stand_in.url, "v2obf")


def _two_notes(livesync: Making, url: str, mode: str) -> LiveSyncBench:
    bench = livesync(url, TWO_NOTES, mode=mode)
    bench.catch_up()
    bench.embedder.embedded.clear()
    return bench


def listings(server: CouchStandIn) -> list[str]:
    """Give the requests that listed a range of documents; a look at the first five of one is none."""
    return [one.path for one in server.requests if "_key=" in one.path and "limit=5&" not in one.path]


def asked_since(server: CouchStandIn, requests: int, part: str) -> list[str]:
    """Give the paths of later requests that hold a part."""
    return [one.path for one in server.requests[requests:] if part in one.path]


def spelled(changes: Sequence[Change]) -> list[str]:
    """Write changes short: `+path`, `-path`, `!` for a comparison of everything."""
    signs = {"Upserted": "+", "Deleted": "-", "Rescan": "!"}
    told = [change for change in changes if not isinstance(change, Remember)]
    return [signs[type(change).__name__] + getattr(change, "path", "") for change in told]
