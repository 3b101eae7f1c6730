"""`source: auto`: which of CouchDB and folder is read, when that changes, and what a change of places never does."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event

import pytest
from structlog.testing import capture_logs

from couch_stand_in import CouchStandIn
from fakes import HashEmbedder
from ingest.bench import Bench
from livesync_device import PASSPHRASE, Device
from sources.listening import listening
from sources.vaults import fill
from vault_ask.composition.parts import make_source
from vault_ask.errors import SourceRefused, SourceUnreachable
from vault_ask.ingest.follower import Follower
from vault_ask.scope import Sensitivity
from vault_ask.settings import Settings
from vault_ask.settings.loading import load_settings
from vault_ask.settings.vault import VaultSettings
from vault_ask.sources.choosing import AutoSource, Patience
from vault_ask.sources.couch_waiting import Pace
from vault_ask.sources.couchdb import CouchSource
from vault_ask.sources.filesystem import FolderSource
from vault_ask.sources.port import Deleted, Rescan, Upserted
from waiting import wait_until

NOTES = {f"N{n:02}.md": f"note number {n} of the quince\n" for n in range(30)}
QUICK = Patience(absent=0.2, look=0.1)
NEVER = Patience(absent=600, look=600)
PACE = Pace(quiet=0.1, settle=0.05, sign=0.1, heartbeat=1, retries=(0.1,))


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "sources.following.SIGN_SECONDS",
        "sources.following.RETRY_SECONDS",
        "sources.couch_following.FIRST_RETRY_SECONDS",
        "sources.couch_following.SESSION_SECONDS",
        "ingest.follower.FIRST_RETRY_SECONDS",
        "ingest.follower.IDLE_SECONDS",
    ):
        monkeypatch.setattr(f"vault_ask.{name}", 0.1)
    monkeypatch.setattr("vault_ask.sources.couch_following.LONGEST_RETRY_SECONDS", 0.2)
    monkeypatch.setattr("vault_ask.ingest.follower.LONGEST_RETRY_SECONDS", 0.2)


@dataclass
class Places:
    """One vault in two places: what devices keep in a CouchDB, and a folder beside it."""

    server: CouchStandIn
    device: Device
    vault: Path
    data: Path
    made: list[AutoSource] = field(default_factory=list)

    def source(self, patience: Patience = QUICK, **couchdb: str) -> AutoSource:
        settings = self.settings(**couchdb)
        folder = FolderSource(settings, data=self.data)
        self.made.append(AutoSource(partial(CouchSource, settings, pace=PACE), folder, patience))
        return self.made[-1]

    def close(self) -> None:
        self.device.close()
        for source in self.made:
            source.close()

    def settings(self, **couchdb: str) -> VaultSettings:
        given = {"url": self.server.url, "database": "vault", "passphrase": PASSPHRASE, **couchdb}
        return VaultSettings.model_validate(
            {"path": self.vault, "couchdb": given, "settle_seconds": 0.05, "poll_seconds": 0.1}
        )

    def bench(self, source: AutoSource, embedder: HashEmbedder | None = None) -> Bench:
        return Bench(self.data, source=source, embedder=embedder)  # type: ignore[arg-type]

    @contextmanager
    def followed(
        self, patience: Patience = QUICK, embedder: HashEmbedder | None = None, **couchdb: str
    ) -> Iterator[tuple[Bench, AutoSource, Follower]]:
        """Follow the vault into the index of the data folder, as a daemon does."""
        source = self.source(patience, **couchdb)
        bench = self.bench(source, embedder)
        follower = Follower(bench.workshop, on_damage=lambda: None)
        follower.start()
        try:
            yield bench, source, follower
        finally:
            follower.stop()
            assert not any(thread.is_alive() for thread in follower._threads)
            bench.close()


Placing = Callable[..., Places]


@pytest.fixture
def places(tmp_path: Path, stand_in: CouchStandIn) -> Iterator[Placing]:
    made = []

    def make(notes: Mapping[str, str], folder: Mapping[str, str] | None, *, mode: str = "plain") -> Places:
        device = Device(stand_in.url, "vault", mode=mode)
        device.create_database()
        device.put_many(notes)
        if folder is not None:
            fill(tmp_path / "vault", folder)
        made.append(Places(stand_in, device, tmp_path / "vault", tmp_path / "data"))
        return made[-1]

    yield make
    for each in made:
        each.close()


def kind(source: AutoSource) -> str:
    return source.state().kind


def uses(source: AutoSource, place: str) -> None:
    wait_until(lambda: kind(source) == place and source.state().mode in {"watching", "stand-in"})


def test_the_couchdb_is_read_where_it_answers(places: Placing) -> None:
    both = places({"A.md": "couch\n"}, {"A.md": "folder\n", "B.md": "folder\n"})
    source = both.source()
    with listening(source):
        assert [entry.path for entry in source.listing()] == ["A.md"]
        assert source.read("A.md").content == b"couch\n"
        assert source.identity == f"{both.server.url}/vault"
        wait_until(lambda: source.state().mode == "watching")
        assert "Changes arrive from the CouchDB" in source.state().message
        assert "folder" not in source.state().message


def test_a_couchdb_that_is_away_at_the_start_gives_the_folder_and_says_so(places: Placing) -> None:
    both = places({"A.md": "couch\n"}, {"A.md": "folder\n"})
    both.server.down()
    source = both.source(NEVER)
    with capture_logs() as logs, listening(source) as listener:
        assert [entry.path for entry in source.listing()] == ["A.md"]
        assert source.read("A.md").content == b"folder\n"
        assert (kind(source), source.identity) == ("folder", str(both.vault.resolve()))
        message = source.state().message
        assert "The folder is used in place of the CouchDB. The CouchDB at 127.0.0.1:" in message
        assert "cannot be reached" in message
        (both.vault / "B.md").write_text("new\n")
        listener.wait_for_change(Upserted("B.md"))
    told = [line for line in logs if line["event"] == "the CouchDB cannot be used"]
    assert [line["log_level"] for line in told] == ["warning"]
    assert "The folder is used" in told[0]["sentence"]


def test_a_couchdb_that_refuses_gives_the_folder_and_its_sentence(places: Placing) -> None:
    source = places({"A.md": "couch\n"}, {"A.md": "folder\n"}, mode="v2obf").source(NEVER, passphrase="not this")
    for _ in range(2):
        assert [entry.path for entry in source.listing()] == ["A.md"]
        assert source.read("A.md").content == b"folder\n"
        assert "the passphrase that is set does not open it" in source.state().message


def test_neither_place_is_one_error_that_names_both(places: Placing) -> None:
    both = places(NOTES, None)
    both.server.down()
    source = both.source()
    with pytest.raises(SourceUnreachable, match=r"CouchDB at .* cannot be reached.*The folder is not used"):
        source.listing()
    with pytest.raises(SourceUnreachable, match=r"The folder is not used"):
        list(source.holdings())
    both.vault.mkdir()
    with pytest.raises(SourceUnreachable, match=r"The folder is not used in its place: .*empty"):
        source.listing()


def test_an_index_is_served_while_neither_place_is_there_and_goes_on_when_one_is(places: Placing) -> None:
    both = places(NOTES, NOTES)
    with both.followed() as (bench, source, follower):
        uses(source, "couchdb")
        wait_until(lambda: len(bench.paths()) == 30)
        shutil.move(both.vault, both.vault.with_name("away"))
        both.server.down()
        wait_until(lambda: "The folder is not used in its place" in source.state().message)
        assert (kind(source), source.state().mode) == ("couchdb", "waiting")
        assert bench.found("number 7 quince")[0] == "N07.md"
        shutil.move(both.vault.with_name("away"), both.vault)
        uses(source, "folder")
        assert follower.trouble is None
        assert len(bench.paths()) == 30


def test_the_folder_takes_over_and_gives_back_without_a_vector_made_twice(places: Placing) -> None:
    both = places(NOTES, {**NOTES, "Only here.md": "a fig that only the folder has\n"})
    embedder = HashEmbedder(dimension=384)
    with both.followed(embedder=embedder) as (bench, source, _):
        uses(source, "couchdb")
        wait_until(lambda: len(embedder.embedded) == 30)
        both.server.down()
        uses(source, "folder")
        wait_until(lambda: len(bench.paths()) == 31 and len(embedder.embedded) == 31)
        assert bench.writer.memory() == {}
        both.server.up()
        uses(source, "couchdb")
        wait_until(lambda: bench.paths() == sorted(NOTES))
        both.device.put("Late.md", "written after the return\n")
        wait_until(lambda: "Late.md" in bench.paths())
        wait_until(lambda: len(embedder.embedded) == 32)
        assert bench.writer.meta("vault") == source.identity == f"{both.server.url}/vault"
    assert len(set(embedder.embedded)) == 32


def test_what_devices_wrote_while_the_folder_was_read_is_found_on_return(places: Placing) -> None:
    """The checkpoint from before the change of places would not tell of a note that the folder changed."""
    both = places(NOTES, {**NOTES, "N03.md": "an older text: gooseberry\n"})
    with both.followed() as (bench, source, _):
        uses(source, "couchdb")
        both.server.down()
        wait_until(lambda: bench.found("gooseberry") == ["N03.md"])
        uses(source, "folder")
        both.server.up()
        uses(source, "couchdb")
        wait_until(lambda: bench.found("gooseberry") == [])
        assert bench.found("number 3 quince")[0] == "N03.md"


def test_a_change_of_places_that_was_interrupted_is_not_taken_for_done(places: Placing) -> None:
    both = places(NOTES, {**NOTES, "N03.md": "an older text: gooseberry\n"})
    with both.followed(NEVER) as (bench, source, _):
        uses(source, "couchdb")
        wait_until(lambda: "checkpoint" in bench.writer.memory())
    both.server.down()
    bench = both.bench(both.source())
    bench.ingest.recall()
    stop = Event()
    # It stops once notes of the folder are stored, before the sweep is through.
    bench.ingest._conclude = lambda _gone: None  # type: ignore[method-assign]
    bench.sweep(stop)
    assert bench.found("gooseberry") == ["N03.md"]
    bench.close()
    both.server.up()
    with both.followed(NEVER) as (bench, source, _):
        uses(source, "couchdb")
        wait_until(lambda: bench.found("gooseberry") == [])


def test_a_folder_that_lacks_much_never_stands_in(places: Placing) -> None:
    part = dict(list(NOTES.items())[:18])
    both = places(NOTES, part)
    with both.followed() as (bench, source, follower):
        uses(source, "couchdb")
        wait_until(lambda: len(bench.paths()) == 30)
        both.server.down()
        wait_until(lambda: "12 of the 30 notes" in source.state().message)
        assert kind(source) == "couchdb"
        assert follower.trouble is None
        assert len(bench.paths()) == 30
    # The same in a new process, which knows the CouchDB's notes from the index only.
    with both.followed() as (bench, source, _):
        wait_until(lambda: "12 of the 30 notes" in source.state().message)
        assert len(bench.paths()) == 30
    bench = both.bench(both.source())
    bench.ingest.recall()
    with pytest.raises(SourceUnreachable, match="12 of the 30 notes"):
        bench.sweep()
    bench.close()


def test_a_couchdb_that_is_still_being_filled_does_not_take_the_folders_index_away(places: Placing) -> None:
    both = places(dict(list(NOTES.items())[:18]), NOTES)
    both.server.down()
    with both.followed() as (bench, source, follower):
        uses(source, "folder")
        wait_until(lambda: len(bench.paths()) == 30)
        both.server.up()
        wait_until(lambda: "Only 18 of the 30" in (follower.trouble or ""))
        assert len(bench.paths()) == 30
        both.device.put_many(dict(list(NOTES.items())[18:]))
        wait_until(lambda: follower.trouble is None)
        uses(source, "couchdb")
        assert len(bench.paths()) == 30


def test_a_couchdb_that_worked_is_waited_for_before_the_folder_is_used(places: Placing) -> None:
    both = places(NOTES, NOTES)
    source = both.source(Patience(absent=600, look=600))
    with listening(source) as listener:
        uses(source, "couchdb")
        both.server.down()
        wait_until(lambda: source.state().mode == "waiting")
        silent = len(listener.batches)
        listener.wait_for(lambda: len(listener.batches) > silent)
        assert kind(source) == "couchdb"
        both.server.up()
        uses(source, "couchdb")


def test_a_refusal_of_a_couchdb_that_worked_does_not_bring_the_folder_at_once(places: Placing) -> None:
    both = places(NOTES, NOTES)
    with both.followed(NEVER) as (bench, source, follower):
        uses(source, "couchdb")
        wait_until(lambda: len(bench.paths()) == 30)
        both.server.reply_next(status=404, count=10_000)
        both.server.cut_connections()
        wait_until(lambda: "is not a CouchDB, perhaps a proxy's page" in (follower.trouble or ""))
        assert kind(source) == "couchdb"
        both.server.replies.clear()
        uses(source, "couchdb")
        wait_until(lambda: follower.trouble is None)


def test_a_refusal_in_the_middle_is_waited_out_then_the_folder_is_used(places: Placing) -> None:
    both = places(NOTES, NOTES)
    both.server.users = {"admin": "right", "member": "right"}
    both.server.databases["vault"].security = {"members": {"names": ["member"]}}
    login = {"user": "member", "password": "right"}
    with both.followed(**login) as (bench, source, follower):
        uses(source, "couchdb")
        both.server.users["member"] = "changed"
        both.server.cut_connections()
        wait_until(lambda: kind(source) == "folder")
        uses(source, "folder")
        assert "does not accept the user or the password" in source.state().message
        assert "right" not in source.state().message
        both.server.users["member"] = "right"
        uses(source, "couchdb")
        wait_until(lambda: follower.trouble is None)
        assert len(bench.paths()) == 30


def test_a_folder_that_goes_while_it_is_used_keeps_the_index_and_the_lookout(places: Placing) -> None:
    both = places(NOTES, NOTES)
    both.server.down()
    with both.followed() as (bench, source, _):
        uses(source, "folder")
        wait_until(lambda: len(bench.paths()) == 30)
        shutil.rmtree(both.vault)
        wait_until(lambda: source.state().mode == "waiting")
        assert len(bench.paths()) == 30
        both.server.up()
        uses(source, "couchdb")


def test_a_personal_note_stays_personal_through_a_change_of_places(places: Placing) -> None:
    secret = {"S.md": "---\nsensitivity: personal\n---\nquiet\n"}
    both = places({**NOTES, **secret}, {**NOTES, **secret})
    both.device.conflict("N01.md", "---\nsensitivity: personal\n---\nloser\n")
    with both.followed() as (bench, source, _):
        uses(source, "couchdb")
        wait_until(lambda: len(bench.paths()) == 31)
        for place in ("folder", "couchdb"):
            both.server.down() if place == "folder" else both.server.up()
            uses(source, place)
            assert bench.writer.known()["S.md"].sensitivity is Sensitivity.PERSONAL
        wait_until(lambda: bench.writer.known()["N01.md"].sensitivity is Sensitivity.PERSONAL)


def test_a_stop_does_not_wait_for_a_couchdb_that_is_looked_for_and_silent(places: Placing) -> None:
    both = places(NOTES, NOTES)
    both.server.down()
    with both.followed(Patience(absent=0.1, look=0.05)) as (_, source, follower):
        uses(source, "folder")
        both.server.pause()
        both.server.up()
        asked = len(both.server.requests)
        wait_until(lambda: bool(both.server._connections) or len(both.server.requests) > asked)
        follower.stop(5)
        assert not any(thread.is_alive() for thread in follower._threads)
    both.server.resume()


def test_holdings_and_their_contents_come_from_one_place(places: Placing) -> None:
    both = places({"A.md": "couch\n"}, {"A.md": "folder\n", "B.md": "b\n"})
    source = both.source()
    both.server.down()
    assert [holding.path for holding in source.holdings()] == ["A.md", "B.md"]
    both.server.up()
    assert dict(source.contents(["A.md", "B.md"])) == {"A.md": b"folder\n", "B.md": b"b\n"}
    assert [holding.path for holding in source.holdings()] == ["A.md"]
    assert dict(source.contents(["A.md"])) == {"A.md": b"couch\n"}


def test_changes_of_both_places_arrive_and_every_change_of_places_is_a_rescan(places: Placing) -> None:
    both = places({"A.md": "a\n", "B.md": "b\n"}, {"A.md": "a\n", "B.md": "b\n"})
    source = both.source()
    with listening(source) as listener:
        uses(source, "couchdb")
        both.device.delete("B.md")
        listener.wait_for_change(Deleted("B.md"))
        rescans = sum(isinstance(change, Rescan) for change in listener.changes)
        both.server.down()
        uses(source, "folder")
        listener.wait_for(lambda: sum(isinstance(change, Rescan) for change in listener.changes) == rescans + 1)
        (both.vault / "B.md").unlink()
        (both.vault / "C.md").write_text("c\n")
        listener.wait_for_change(Upserted("C.md"))
        both.server.up()
        uses(source, "couchdb")
        listener.wait_for(lambda: sum(isinstance(change, Rescan) for change in listener.changes) == rescans + 2)
        assert source.memory()


@pytest.mark.parametrize("named", ["environment", "file"])
def test_the_sample_vault_of_the_configuration_never_stands_in_for_a_couchdb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    fill(tmp_path / "tests" / "vaults" / "sample", {"Sample.md": "not mine\n"})
    config = tmp_path / "config.yaml"
    url, database = "http://127.0.0.1:9", "notes"
    couchdb = f"{{url: '{url}', database: {database}}}" if named == "file" else "{url: null}"
    config.write_text(f"vault:\n  path: tests/vaults/sample\n  couchdb: {couchdb}\n")
    assert (load_settings(config=config).vault.path is None) == (named == "file")
    monkeypatch.setenv("VAULTASK_VAULT__COUCHDB__URL", url)
    monkeypatch.setenv("VAULTASK_VAULT__COUCHDB__DATABASE", database)
    settings = load_settings(config=config, overrides={"data": tmp_path / "data"})
    source = make_source(settings)
    with pytest.raises(SourceUnreachable, match=r"CouchDB at 127\.0\.0\.1:9 cannot be reached"):
        source.listing()
    monkeypatch.setenv("VAULTASK_VAULT__PATH", str(tmp_path / "tests" / "vaults" / "sample"))
    assert [entry.path for entry in make_source(load_settings(config=config)).listing()] == ["Sample.md"]
    monkeypatch.delenv("VAULTASK_VAULT__PATH")
    monkeypatch.setenv("VAULTASK_VAULT__SOURCE", "folder")
    assert [entry.path for entry in make_source(load_settings(config=config)).listing()] == ["Sample.md"]


def test_only_what_is_configured_is_chosen_from(tmp_path: Path) -> None:
    couchdb = {"url": "http://127.0.0.1:9", "database": "notes"}

    def made(**vault: object) -> type:
        return type(make_source(Settings.model_validate({"data": tmp_path / "data", "vault": vault})))

    assert made(path=tmp_path / "v") is FolderSource
    assert made(path=tmp_path / "v", couchdb=couchdb) is AutoSource
    assert made(couchdb=couchdb) is CouchSource
    assert made(source="folder", path=tmp_path / "v", couchdb=couchdb) is FolderSource
    assert made(source="couchdb", path=tmp_path / "v", couchdb=couchdb) is CouchSource


def test_a_refusal_is_a_refusal_where_there_is_no_folder(places: Placing) -> None:
    both = places(NOTES, None, mode="v2")
    source = both.source(database="nosuch")
    with pytest.raises(SourceUnreachable, match="holds no database nosuch"):
        source.listing()
    with pytest.raises(SourceRefused, match=r"does not open it.*The folder is not used"):
        both.source(passphrase="wrong").listing()
