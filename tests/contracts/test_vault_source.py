"""What every VaultSource does, whatever it is made of."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from fakes import FakeSource
from sources.listening import PATIENCE, Listener, listening
from sources.privileges import without_privileges
from vault_ask.errors import DocumentVanished, SourceUnreachable
from vault_ask.settings import VaultSettings
from vault_ask.sources.filesystem import FolderSource
from vault_ask.sources.port import Deleted, Rescan, Upserted, VaultSource

NOTES = {"Hub.md": b"[[geometry]]\n", "math/sets.md": b"sets\n", "math/Board.canvas": b"{}", "geometry.md": b"angles\n"}


class Owner(Protocol):
    """A vault with a person at it."""

    source: VaultSource

    def put(self, path: str, content: bytes) -> None: ...
    def remove(self, path: str) -> None: ...
    def move(self, old: str, new: str) -> None: ...
    def link(self, path: str, target: str) -> None: ...
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


@pytest.fixture(params=["fake", "folder-native", "folder-polling"])
def owner(request: pytest.FixtureRequest, tmp_path: Path) -> Owner:
    if request.param == "fake":
        return OwnerOfFake()
    return OwnerOfFolder(tmp_path, request.param.removeprefix("folder-"))


def listed(source: VaultSource) -> list[str]:
    return [entry.path for entry in source.listing()]


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
        assert listener.wait_for_change(Deleted("math/sets.md")) == [Deleted("math/sets.md")]


def test_both_sides_of_a_rename_are_in_one_batch_departure_first(owner: Owner) -> None:
    with listening(owner.source) as listener:
        owner.move("geometry.md", "Geometry.md")
        batch = listener.wait_for_change(Upserted("Geometry.md"))
        assert batch == [Deleted("geometry.md"), Upserted("Geometry.md")]


def test_vault_that_comes_back_asks_for_a_listing_and_nothing_was_deleted(owner: Owner) -> None:
    with listening(owner.source) as listener:
        owner.unmount()
        listener.wait_for(lambda: owner.source.state().mode == "waiting")
        owner.mount()
        listener.wait_for(lambda: sum(isinstance(change, Rescan) for change in listener.changes) > 1)
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
