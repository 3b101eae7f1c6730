"""What every VaultSource does, whatever it is made of."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from uuid import uuid4

import pytest

from couch_stand_in import CouchStandIn
from fakes import FakeSource
from livesync_device import PASSPHRASE, Device
from sources.listening import PATIENCE, Listener, listening
from sources.privileges import without_privileges
from vault_ask.errors import DocumentIncomplete, DocumentVanished, SourceUnreachable
from vault_ask.settings.vault import VaultSettings
from vault_ask.sources.couch_waiting import Pace
from vault_ask.sources.couchdb import CouchSource
from vault_ask.sources.filesystem import FolderSource
from vault_ask.sources.port import (
    Change,
    Deleted,
    Document,
    Holding,
    OtherVersion,
    Remember,
    Rescan,
    Unread,
    Upserted,
    VaultSource,
)

NOTES = {"Hub.md": b"[[geometry]]\n", "math/sets.md": b"sets\n", "math/Board.canvas": b"{}", "geometry.md": b"angles\n"}


class Owner(Protocol):
    """A vault with a person at it. What a vault of this kind cannot do skips the test that asks for it."""

    source: VaultSource

    def put(self, path: str, content: bytes) -> None: ...
    def remove(self, path: str) -> None: ...
    def move(self, old: str, new: str) -> None: ...
    def link(self, path: str, target: str) -> None: ...
    def break_off(self, path: str) -> None: ...
    def conflict(self, path: str, loser: bytes) -> None: ...
    def unmount(self) -> None: ...
    def mount(self) -> None: ...
    @contextmanager
    def closed(self, folder: str) -> Iterator[None]: ...


class OwnerOfFake:
    def __init__(self) -> None:
        self.source = FakeSource(NOTES)
        self.put, self.remove, self.move, self.link = (
            self.source.put,
            self.source.remove,
            self.source.move,
            self.source.link,
        )
        self.unmount, self.mount = self.source.go_away, self.source.come_back

    def break_off(self, path: str) -> None:
        self.source.hold_back(path, "a part of it is missing")

    def conflict(self, path: str, loser: bytes) -> None:
        self.source.conflict(path, OtherVersion(path, loser))

    @contextmanager
    def closed(self, folder: str) -> Iterator[None]:
        self.source.close(folder)
        yield
        self.source.close()


class OwnerOfFolder:
    def __init__(self, folder: Path, watch: str) -> None:
        self.vault = folder / "vault"
        self.vault.mkdir()
        for path, content in NOTES.items():
            self.put(path, content)
        settings = VaultSettings.model_validate(
            {"path": self.vault, "watch": watch, "settle_seconds": 0.1, "poll_seconds": 0.1}
        )
        self.source = FolderSource(settings)

    def put(self, path: str, content: bytes) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def remove(self, path: str) -> None:
        (self.vault / path).unlink()

    def move(self, old: str, new: str) -> None:
        (self.vault / old).rename(self.vault / new)

    def link(self, path: str, target: str) -> None:
        (self.vault / path).symlink_to(os.path.relpath(self.vault / target, (self.vault / path).parent))

    def break_off(self, path: str) -> None:
        pytest.skip("a file is always whole")

    def conflict(self, path: str, loser: bytes) -> None:
        pytest.skip("a file has one version")

    def unmount(self) -> None:
        self.vault.rename(self.vault.with_name("elsewhere"))

    def mount(self) -> None:
        self.vault.with_name("elsewhere").rename(self.vault)

    @contextmanager
    def closed(self, folder: str) -> Iterator[None]:
        (self.vault / folder).chmod(0)
        with without_privileges():
            yield
        (self.vault / folder).chmod(stat.S_IRWXU)


class OwnerOfCouch:
    """A vault that LiveSync keeps, in a real server without encryption or in the stand-in with all of it."""

    def __init__(self, url: str, mode: str, stand_in: CouchStandIn | None) -> None:
        self._stand_in = stand_in
        name = f"contract-{uuid4().hex}"
        self._device = Device(url, name, mode=mode)
        self._device.create_database()
        for path, content in NOTES.items():
            self.put(path, content)
        couchdb = {"url": url, "database": name, "passphrase": PASSPHRASE}
        settings = VaultSettings.model_validate({"source": "couchdb", "couchdb": couchdb})
        self.source = CouchSource(settings, pace=Pace(settle=0.05, sign=0.1, quiet=0.1))

    def put(self, path: str, content: bytes) -> None:
        text = path.endswith((".md", ".canvas", ".csv"))
        self._device.put(path, content.decode("utf-8", "replace") if text else content)

    def remove(self, path: str) -> None:
        self._device.delete(path)

    def move(self, old: str, new: str) -> None:
        move = self._device.recase if old.lower() == new.lower() else self._device.rename
        move(old, new)

    def link(self, path: str, target: str) -> None:
        pytest.skip("LiveSync keeps no links")

    def break_off(self, path: str) -> None:
        self._device.put_without_chunks(path, "its chunks are on the way")

    def conflict(self, path: str, loser: bytes) -> None:
        self._device.conflict(path, loser.decode())

    def unmount(self) -> None:
        if self._stand_in is None:
            pytest.skip("the real server is there for the other tests, too")
        self._stand_in.down()

    def mount(self) -> None:
        assert self._stand_in is not None
        self._stand_in.up()

    @contextmanager
    def closed(self, folder: str) -> Iterator[None]:
        pytest.skip("a database has no folders to close")
        yield

    def close(self) -> None:
        self.source.close()
        self._device.close()


@pytest.fixture(params=["fake", "folder-native", "folder-polling", "couchdb-stand_in", "couchdb-pouchdb"])
def owner(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Owner]:
    kind, _, how = request.param.partition("-")
    if kind == "fake":
        yield OwnerOfFake()
    elif kind == "folder":
        yield OwnerOfFolder(tmp_path, how)
    else:
        server = request.getfixturevalue(how)
        is_ours = isinstance(server, CouchStandIn)
        couch = OwnerOfCouch(
            server.url if is_ours else server, "v2obf" if is_ours else "plain", server if is_ours else None
        )
        yield couch
        couch.close()


def news(batch: list[Change]) -> list[Change]:
    """Leave out what the source only wants kept."""
    return [change for change in batch if not isinstance(change, Remember)]


def listed(source: VaultSource) -> list[str]:
    return [entry.path for entry in source.listing()]


def held(source: VaultSource) -> dict[str, Holding]:
    return {holding.path: holding for holding in source.holdings()}


def is_clause(reason: str) -> bool:
    return bool(reason) and reason[0].islower() and not reason.endswith(".")


def test_listing_names_every_note_and_canvas_sorted_by_path(owner: Owner) -> None:
    assert listed(owner.source) == ["Hub.md", "geometry.md", "math/Board.canvas", "math/sets.md"]


def test_entry_tells_size_and_age_of_the_note(owner: Owner) -> None:
    entry = next(entry for entry in owner.source.listing() if entry.path == "geometry.md")
    assert entry.size == len(NOTES["geometry.md"])
    assert entry.mtime > 1_600_000_000
    assert entry.revision


def test_read_gives_the_bytes_and_the_entry_of_the_listing(owner: Owner) -> None:
    for entry in owner.source.listing():
        document = owner.source.read(entry.path)
        assert document.content == NOTES[entry.path]
        assert document.entry == entry
        assert document.resolved_path == entry.path


def test_revision_changes_with_the_content_and_only_then(owner: Owner) -> None:
    before = {entry.path: entry.revision for entry in owner.source.listing()}
    owner.put("geometry.md", b"other, and longer\n")
    after = {entry.path: entry.revision for entry in owner.source.listing()}
    assert {path for path in before if before[path] != after[path]} == {"geometry.md"}


def test_reading_what_is_not_there_vanishes(owner: Owner) -> None:
    for path in ("nowhere.md", "math", "math/nowhere.md", "../Hub.md", ""):
        with pytest.raises(DocumentVanished):
            owner.source.read(path)


def test_link_inside_the_vault_is_not_listed_and_reads_as_its_target(owner: Owner) -> None:
    owner.link("alias.md", "math/sets.md")
    assert "alias.md" not in listed(owner.source)
    document = owner.source.read("alias.md")
    assert (document.entry.path, document.resolved_path) == ("alias.md", "math/sets.md")
    assert document.content == NOTES["math/sets.md"]


def test_vault_that_is_away_is_unreachable_and_not_empty(owner: Owner) -> None:
    owner.unmount()
    with pytest.raises(SourceUnreachable):
        owner.source.listing()
    with pytest.raises(SourceUnreachable):
        owner.source.read("Hub.md")
    owner.mount()
    assert "Hub.md" in listed(owner.source)


def test_closed_folder_is_named_and_its_notes_are_missing_from_the_listing(owner: Owner) -> None:
    assert listed(owner.source)
    assert owner.source.unreadable() == ()
    with owner.closed("math"):
        assert listed(owner.source) == ["Hub.md", "geometry.md"]
        assert owner.source.unreadable() == ("math",)
        with pytest.raises(DocumentVanished):
            owner.source.read("math/sets.md")
    assert "math/sets.md" in listed(owner.source)
    assert owner.source.unreadable() == ()


def test_reading_all_gives_each_in_the_order_asked_for_and_tells_what_is_gone(owner: Owner) -> None:
    found = list(owner.source.read_all(["math/sets.md", "nowhere.md", "Hub.md"]))
    assert found[0] == owner.source.read("math/sets.md")
    assert found[2] == owner.source.read("Hub.md")
    match found[1]:
        case Unread(path="nowhere.md", vanished=True, beginning=b"") as unread:
            assert is_clause(unread.reason)
        case other:
            pytest.fail(f"read_all gave {other}")


def test_note_that_is_not_whole_is_told_and_the_rest_is_read(owner: Owner) -> None:
    before = {entry.path: entry.revision for entry in owner.source.listing()}
    owner.break_off("geometry.md")
    with pytest.raises(DocumentIncomplete) as caught:
        owner.source.read("geometry.md")
    assert is_clause(str(caught.value))
    unread, document = owner.source.read_all(["geometry.md", "Hub.md"])
    assert unread == Unread("geometry.md", str(caught.value), caught.value.beginning)
    assert isinstance(document, Document)
    assert {entry.path: entry.revision for entry in owner.source.listing()}["geometry.md"] != before["geometry.md"]
    assert held(owner.source)["geometry.md"].state == "incomplete"
    assert [content for _, content in owner.source.contents(["geometry.md"])] == [unread]
    owner.put("geometry.md", b"whole again\n")
    assert owner.source.read("geometry.md").content == b"whole again\n"


def test_version_that_lost_a_conflict_comes_with_the_note_and_changes_its_revision(owner: Owner) -> None:
    before = {entry.path: entry.revision for entry in owner.source.listing()}
    owner.conflict("geometry.md", b"what lost\n")
    document = owner.source.read("geometry.md")
    versions = {document.content, *(other.content for other in document.others)}
    assert versions == {NOTES["geometry.md"], b"what lost\n"}
    assert document.entry.revision != before["geometry.md"]
    assert held(owner.source)["geometry.md"].state == "conflicted"


def test_what_is_to_be_remembered_can_be_recalled_and_the_listing_stays_the_same(owner: Owner) -> None:
    before = owner.source.listing()
    memory = owner.source.memory()
    assert all(isinstance(part, str) for item in memory.items() for part in item)
    for recalled in (memory, {}):
        owner.source.recall(recalled)
        assert owner.source.listing() == before


def test_holdings_are_all_files_sorted_and_nothing_hidden(owner: Owner) -> None:
    for path in ("math/plot.png", "math.csv", "Zebra/empty.bin", ".obsidian/app.json", "math/.hidden", ".trash/old.md"):
        owner.put(path, b"" if path == "Zebra/empty.bin" else b"\0\xff")
    holdings = held(owner.source)
    assert list(holdings) == sorted([*NOTES, "math/plot.png", "math.csv", "Zebra/empty.bin"])
    assert {holding.state for holding in holdings.values()} == {"ok"}
    assert (holdings["math/plot.png"].size, holdings["Zebra/empty.bin"].size) == (2, 0)
    assert listed(owner.source) == sorted(NOTES)


def test_holding_of_a_note_has_the_size_and_revision_of_its_entry(owner: Owner) -> None:
    holdings = held(owner.source)
    for entry in owner.source.listing():
        assert (holdings[entry.path].revision, holdings[entry.path].size) == (entry.revision, entry.size)


def test_link_is_not_held_twice(owner: Owner) -> None:
    owner.link("alias.md", "math/sets.md")
    assert list(held(owner.source)) == sorted(NOTES)


def test_deleted_file_is_held_no_more_and_listed_as_deleted_at_most(owner: Owner) -> None:
    owner.remove("math/sets.md")
    assert "math/sets.md" not in held(owner.source)
    with_deleted = {holding.path: holding for holding in owner.source.holdings(deleted=True)}
    assert {path for path, holding in with_deleted.items() if holding.state != "deleted"} == set(held(owner.source))
    assert {path for path, holding in with_deleted.items() if holding.state == "deleted"} <= {"math/sets.md"}


def test_contents_are_the_bytes_of_any_file_in_the_order_asked_for(owner: Owner) -> None:
    everything = bytes(range(256)) * 5
    owner.put("math/plot.png", everything)
    owner.put("empty.bin", b"")
    wanted = ["math/plot.png", "Hub.md", "empty.bin"]
    found = list(owner.source.contents(wanted))
    assert found == [("math/plot.png", everything), ("Hub.md", NOTES["Hub.md"]), ("empty.bin", b"")]


def test_contents_of_what_is_not_held_vanish(owner: Owner) -> None:
    owner.put(".obsidian/app.json", b"{}")
    wanted = ["nowhere.md", "math", ".obsidian/app.json", "../Hub.md", ""]
    found = list(owner.source.contents(wanted))
    assert [path for path, _ in found] == wanted
    for path, unread in found:
        assert isinstance(unread, Unread)
        assert (unread.path, unread.vanished, is_clause(unread.reason)) == (path, True, True)


def test_vault_that_is_away_holds_neither_something_nor_nothing(owner: Owner) -> None:
    owner.unmount()
    with pytest.raises(SourceUnreachable):
        list(owner.source.holdings())
    with pytest.raises(SourceUnreachable):
        list(owner.source.contents(["Hub.md"]))
    with pytest.raises(SourceUnreachable):
        list(owner.source.read_all(["Hub.md"]))
    owner.mount()
    assert "Hub.md" in held(owner.source)


def test_first_batch_asks_for_a_listing(owner: Owner) -> None:
    with listening(owner.source) as listener:
        assert isinstance(listener.batches[0][0], Rescan)


def test_changed_note_is_told(owner: Owner) -> None:
    with listening(owner.source) as listener:
        owner.put("geometry.md", b"angles and more\n")
        listener.wait_for_change(Upserted("geometry.md"))
        owner.put("new.md", b"new\n")
        listener.wait_for_change(Upserted("new.md"))
    assert not any(isinstance(change, Deleted) for change in listener.changes)


def test_deleted_note_is_told(owner: Owner) -> None:
    with listening(owner.source) as listener:
        owner.remove("math/sets.md")
        assert news(listener.wait_for_change(Deleted("math/sets.md"))) == [Deleted("math/sets.md")]


def test_both_sides_of_a_rename_are_in_one_batch_departure_first(owner: Owner) -> None:
    with listening(owner.source) as listener:
        owner.move("geometry.md", "Geometry.md")
        batch = listener.wait_for_change(Upserted("Geometry.md"))
        assert news(batch) == [Deleted("geometry.md"), Upserted("Geometry.md")]


def test_vault_that_comes_back_is_followed_again_and_nothing_was_deleted(owner: Owner) -> None:
    with listening(owner.source) as listener:
        owner.unmount()
        listener.wait_for(lambda: owner.source.state().mode == "waiting")
        owner.mount()
        owner.put("later.md", b"written since\n")
        # Either it is told what changed, or that everything should be compared.
        listener.wait_for(
            lambda: (
                Upserted("later.md") in listener.changes
                or sum(isinstance(change, Rescan) for change in listener.changes) > 1
            )
        )
        listener.wait_for(lambda: owner.source.state().mode in {"watching", "polling"})
    assert not any(isinstance(change, Deleted) for change in listener.changes)


def test_state_says_how_it_goes_in_a_sentence(owner: Owner) -> None:
    assert owner.source.state().mode == "stopped"
    with listening(owner.source) as listener:
        listener.wait_for(lambda: owner.source.state().mode in {"watching", "polling"})
        assert owner.source.state().message.endswith(".")
    assert owner.source.state().mode == "stopped"


def test_changes_end_soon_after_stop_is_set(owner: Owner) -> None:
    listener = Listener(owner.source).wait_until_armed()
    listener.stop.set()
    listener.thread.join(0.5)
    assert not listener.thread.is_alive()
    listener.thread.join(PATIENCE)
