"""Following a real folder: by inotify and by polling, and what happens where either cannot be had."""

import json
import os
import time
from pathlib import Path
from threading import Event

import pytest

from sources.listening import Listener, listening
from sources.privileges import without_privileges
from sources.test_watchers import ScriptedNotifier
from sources.vaults import fill, folder_source, listed
from vault_ask.settings.vault import VaultSettings
from vault_ask.sources.filesystem import FolderSource
from vault_ask.sources.port import Deleted, Rescan, Upserted
from vault_ask.sources.watchers import Notifier, arm_native

NAS = "27 1 254:0 / / rw - ext4 /dev/vda rw\n41 27 0:38 / {vault} rw - nfs4 nas.local:/volume1 rw\n"
BOTH = pytest.mark.parametrize("watch", ["native", "polling"])


@BOTH
def test_burst_of_atomic_saves_is_a_few_arrivals_and_never_a_departure(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path, {"Plan.md": "version one apple\n", "Other.md": "o"})
    with listening(folder_source(vault, watch=watch)) as listener:
        for version in range(2, 22):
            save_atomically(vault / "Plan.md", f"version {version} pear\n")
            (vault / ".Plan.md.swp").write_text("swap")
            (vault / ".Plan.md.swp").unlink()
        listener.wait_for_change(Upserted("Plan.md"))
        finish(vault, listener)
    told = set(listener.changes)
    assert told == {Rescan("started"), Upserted("Plan.md"), Upserted("Last.md")}
    assert listener.changes.count(Upserted("Plan.md")) <= 5


@BOTH
def test_stream_that_never_pauses_is_told_all_the_same(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path, {"Log.md": "0", "Other.md": "o"})
    with listening(folder_source(vault, watch=watch, settle_seconds=0.3)) as listener:
        began = time.monotonic()
        while Upserted("Log.md") not in listener.changes:
            save_atomically(vault / "Log.md", str(time.monotonic()))
            assert time.monotonic() - began < 10
            Event().wait(0.02)
    assert not any(isinstance(change, Deleted) for change in listener.changes)


def test_note_that_is_gone_between_two_halves_of_a_save_is_not_deleted(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"Plan.md": "0", "Other.md": "o"})

    class SavesByRemovingFirst(Event):
        """Removes the note before the source looks, and writes it before the source looks again."""

        def wait(self, timeout: float | None = None) -> bool:
            note = vault / "Plan.md"
            note.unlink() if note.exists() else note.write_text("again")
            return super().wait(timeout)

    changes = folder_source(vault, watch="polling").changes(SavesByRemovingFirst())
    assert [next(changes), next(changes)] == [[Rescan("started")], [Upserted("Plan.md")]]
    changes.close()


@BOTH
def test_folder_renamed_by_case_only_takes_its_notes_along(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path, {"math/sets.md": "s", "math/deep/maps.md": "m", "Hub.md": "h"})
    with listening(folder_source(vault, watch=watch)) as listener:
        (vault / "math").rename(vault / "Math")
        batch = listener.wait_for_change(Upserted("Math/sets.md"))
        assert batch == [
            Deleted("math/deep/maps.md"),
            Deleted("math/sets.md"),
            Upserted("Math/deep/maps.md"),
            Upserted("Math/sets.md"),
        ]
        (vault / "Math/deep/maps.md").write_text("changed in its new place")
        listener.wait_for(lambda: listener.changes.count(Upserted("Math/deep/maps.md")) > 1)


@BOTH
def test_folder_moved_in_is_its_notes_and_moved_out_again_too(tmp_path: Path, watch: str) -> None:
    vault, outside = fill(tmp_path / "vault", {"Hub.md": "h"}), tmp_path / "outside"
    fill(outside, {"a.md": "a", "deep/b.md": "b", ".git/c.md": "c", "d.png": "d"})
    with listening(folder_source(vault, watch=watch)) as listener:
        outside.rename(vault / "In")
        assert listener.wait_for_change(Upserted("In/a.md")) == [Upserted("In/a.md"), Upserted("In/deep/b.md")]
        (vault / "In").rename(outside)
        assert listener.wait_for_change(Deleted("In/a.md")) == [Deleted("In/a.md"), Deleted("In/deep/b.md")]


@BOTH
def test_folder_replaced_by_another_of_its_name_is_looked_at_to_the_bottom(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path / "vault", {"Work/deep/a.md": "a", "Work/deep/b.md": "b", "Hub.md": "h"})
    fill(tmp_path / "other", {"deep/b.md": "another b", "deep/c.md": "c"})
    with listening(folder_source(vault, watch=watch)) as listener:
        (vault / "Work").rename(tmp_path / "old")
        (tmp_path / "other").rename(vault / "Work")
        batch = listener.wait_for_change(Upserted("Work/deep/c.md"))
        assert batch == [Deleted("Work/deep/a.md"), Upserted("Work/deep/b.md"), Upserted("Work/deep/c.md")]


@BOTH
def test_notes_in_folders_made_while_following_are_told(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path, {"Hub.md": "h"})
    with listening(folder_source(vault, watch=watch)) as listener:
        for number in range(5):
            path = "/".join(["new"] * (number + 1)) + f"/{number}.md"
            fill(vault, {path: "n"})
            listener.wait_for_change(Upserted(path))
        fill(vault, {"new/new/1.md": "changed"})
        listener.wait_for(lambda: listener.changes.count(Upserted("new/new/1.md")) > 1)


@BOTH
def test_files_that_are_no_notes_are_never_told(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path, {"Hub.md": "h", "Private/p.md": "p"})
    with listening(folder_source(vault, watch=watch, exclude=["Private"])) as listener:
        fill(vault, {".trash/Hub.md": "x", "a.png": "x", "a.md~": "x", ".obsidian/a.md": "x", "Private/p.md": "y"})
        os.mkfifo(vault / "pipe.md")
        (vault / "link.md").symlink_to("Hub.md")
        (vault / "Out").symlink_to(tmp_path.parent)
        finish(vault, listener)
    assert set(listener.changes) == {Rescan("started"), Upserted("Last.md")}


@BOTH
def test_reading_and_listing_are_no_changes(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path, {"Hub.md": "h", "a.md": "a"})
    source = folder_source(vault, watch=watch)
    with listening(source) as listener:
        for path in listed(source) * 20:
            source.read(path)
        finish(vault, listener)
    assert listener.changes == [Rescan("started"), Upserted("Last.md")]


@BOTH
def test_listing_by_another_does_not_swallow_a_change(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path, {"a.md": "a"})
    source = folder_source(vault, watch=watch, settle_seconds=0.3)
    with listening(source) as listener:
        (vault / "a.md").write_text("changed")
        assert listed(source) == ["a.md"]
        listener.wait_for_change(Upserted("a.md"))


def test_edit_within_one_tick_of_the_clock_is_told_because_it_was_heard(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.md": "a", "b.md": "b"})
    heard = {(2, str(vault / "a.md")), (2, str(vault / "a.png")), (1, str(vault / "gone.md"))}
    source = folder_source(vault, watch="native", arm=lambda _: ScriptedNotifier(heard, "timeout"))
    with listening(source) as listener:
        assert listener.wait_for_change(Upserted("a.md")) == [Upserted("a.md")]


def test_names_that_are_no_utf8_do_not_deafen_the_watch(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"Hub.md": "h"})
    armed: list[list[str]] = []

    def arm(folders: list[str]) -> Notifier:
        armed.append(folders)
        return arm_native(folders)

    with listening(folder_source(vault, watch="native", arm=arm)) as listener:
        for number in range(3):
            (vault / os.fsdecode(b"caf\xe9%d.md" % number)).write_text("x")
            fill(vault, {f"n{number}.md": "n"})
            listener.wait_for_change(Upserted(f"n{number}.md"))
            listener.wait_for(lambda times=number + 2: len(armed) >= times)
    assert not any(isinstance(change, Deleted) for change in listener.changes)


@BOTH
def test_decomposed_names_are_told_composed(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path, {"Hub.md": "h"})
    with listening(folder_source(vault, watch=watch)) as listener:
        fill(vault, {"Ku\u0308che/Cafe\u0301.md": "coffee"})
        listener.wait_for_change(Upserted("K\u00fcche/Caf\u00e9.md"))
        fill(vault, {"Ku\u0308che/Cafe\u0301.md": "tea"})
        listener.wait_for(lambda: listener.changes.count(Upserted("K\u00fcche/Caf\u00e9.md")) > 1)
        (vault / "Ku\u0308che/Cafe\u0301.md").unlink()
        listener.wait_for_change(Deleted("K\u00fcche/Caf\u00e9.md"))


@BOTH
def test_folder_that_is_closed_loses_nothing_and_is_followed_again_when_open(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path, {"Hub.md": "h", "Work/a.md": "a", "Work/deep/b.md": "b"})
    source = folder_source(vault, watch=watch)
    with listening_without_privileges(source) as listener:
        (vault / "Work").chmod(0)
        finish(vault, listener)
        assert listener.changes == [Rescan("started"), Upserted("Last.md")]
        (vault / "Work").chmod(0o755)
        fill(vault, {"Work/deep/c.md": "c"})
        listener.wait_for_change(Upserted("Work/deep/c.md"))
    assert not any(isinstance(change, Deleted) for change in listener.changes)


@BOTH
def test_all_notes_removed_at_once_make_it_wait_and_not_forget(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path, {".obsidian/app.json": "{}", "a.md": "a", "Work/b.md": "b"})
    source = folder_source(vault, watch=watch)
    with listening(source) as listener:
        (vault / "a.md").rename(tmp_path.with_name(f"{tmp_path.name}-a.md"))
        (vault / "Work").rename(tmp_path.with_name(f"{tmp_path.name}-Work"))
        listener.wait_for(lambda: source.state().mode == "waiting")
        assert "not taken for a deletion" in source.state().message
        fill(vault, {"a.md": "a"})
        listener.wait_for_change(Rescan("the vault is back"))
    assert not any(isinstance(change, Deleted) for change in listener.changes)


@BOTH
def test_last_note_of_a_vault_may_be_deleted(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path, {".obsidian/app.json": "{}", "a.md": "a", "b.md": "b"})
    with listening(folder_source(vault, watch=watch)) as listener:
        for path in ("a.md", "b.md"):
            (vault / path).unlink()
            listener.wait_for_change(Deleted(path))


@BOTH
def test_another_folder_in_the_vaults_place_is_listed_anew(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path / "vault", {"a.md": "a", "b.md": "b"})
    fill(tmp_path / "restored", {"a.md": "a", "c.md": "c"})
    with listening(folder_source(vault, watch=watch)) as listener:
        vault.rename(tmp_path / "broken")
        (tmp_path / "restored").rename(vault)
        listener.wait_for(lambda: sum(isinstance(change, Rescan) for change in listener.changes) > 1)
        fill(vault, {"d.md": "d"})
        listener.wait_for_change(Upserted("d.md"))


def test_vault_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    source = folder_source(tmp_path / "vault")
    listener = Listener(source)
    listener.wait_for(lambda: source.state().mode == "waiting" and [] in listener.batches)
    fill(tmp_path / "vault", {"a.md": "a"})
    listener.wait_until_armed()
    listener.stop.set()
    listener.thread.join(0.5)
    assert not listener.thread.is_alive()


@BOTH
def test_rescan_is_asked_for_now_and_then(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path, {"a.md": "a"})
    with listening(folder_source(vault, watch=watch, rescan_minutes=0.001)) as listener:
        listener.wait_for(lambda: listener.changes.count(Rescan("periodic")) >= 2)


@BOTH
def test_quiet_vault_gives_signs_of_life(tmp_path: Path, watch: str) -> None:
    vault = fill(tmp_path, {"a.md": "a"})
    with listening(folder_source(vault, watch=watch)) as listener:
        listener.wait_for(lambda: [] in listener.batches)
    assert listener.changes == [Rescan("started")]


def test_auto_watches_a_disk_of_ones_own(tmp_path: Path) -> None:
    source = folder_source(fill(tmp_path, {"a.md": "a", "Work/b.md": "b"}))
    with listening(source):
        assert source.state().mode == "watching"
        assert source.state().message == "Watching 2 folders for changes."


def test_auto_polls_on_a_share_and_says_so(tmp_path: Path) -> None:
    vault = fill(tmp_path / "vault", {"Deep/Folder/N.md": "n", "M.md": "m", "Hub.md": "h"})
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(NAS.format(vault=vault))
    settings = VaultSettings(path=vault, poll_seconds=0.1, settle_seconds=0.1)
    source = FolderSource(settings, mountinfo=mountinfo, arm=arm_deaf)
    with listening(source) as listener:
        assert source.state().mode == "polling"
        assert "every 0.1 seconds: the vault lies on a nfs4 file system" in source.state().message
        fill(vault, {"Deep/Folder/N.md": "edited elsewhere"})
        (vault / "M.md").unlink()
        listener.wait_for(lambda: {Upserted("Deep/Folder/N.md"), Deleted("M.md")} <= set(listener.changes))


def test_native_watching_on_a_share_is_had_by_asking(tmp_path: Path) -> None:
    vault = fill(tmp_path / "vault", {"a.md": "a"})
    mountinfo = tmp_path / "mountinfo"
    mountinfo.write_text(NAS.format(vault=vault))
    source = FolderSource(VaultSettings(path=vault, watch="native"), mountinfo=mountinfo)
    with listening(source):
        assert source.state().mode == "watching"


def test_watcher_that_cannot_start_gives_way_to_polling_and_names_the_remedy(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.md": "a", "b.md": "b"})
    source = FolderSource(VaultSettings(path=vault, poll_seconds=0.1, settle_seconds=0.1), arm=arm_refused)
    with listening(source) as listener:
        assert source.state().mode == "polling"
        assert "fs.inotify.max_user_watches" in source.state().message
        assert "vault.watch" in source.state().message
        (vault / "a.md").unlink()
        listener.wait_for_change(Deleted("a.md"))


def test_native_watching_is_tried_again_at_the_next_rescan(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.md": "a"})
    refusals = iter([True])

    def arm(folders: list[str]) -> Notifier:
        return arm_refused(folders) if next(refusals, False) else arm_native(folders)

    settings = VaultSettings(path=vault, poll_seconds=0.1, settle_seconds=0.1, rescan_minutes=0.002)
    source = FolderSource(settings, arm=arm)
    with listening(source) as listener:
        listener.wait_for(lambda: source.state().mode == "watching")
        fill(vault, {"b.md": "b"})
        listener.wait_for_change(Upserted("b.md"))


def test_folders_that_come_and_go_while_arming_are_looked_at_again(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.md": "a", "Gone/b.md": "b"})
    armed: list[list[str]] = []

    def arm(folders: list[str]) -> Notifier:
        armed.append(folders)
        if len(armed) == 1:
            (vault / "Gone/b.md").unlink()
            (vault / "Gone").rmdir()
        if len(armed) == 2:
            fill(vault, {"Come/c.md": "c"})
        return arm_native(folders)

    with listening(folder_source(vault, watch="native", arm=arm)) as listener:
        assert armed[-1] == [str(vault), str(vault / "Come")]
        fill(vault, {"Come/d.md": "d"})
        listener.wait_for_change(Upserted("Come/d.md"))


def test_links_and_skipped_folders_take_no_watches(tmp_path: Path) -> None:
    vault = fill(tmp_path / "vault", {"a.md": "a", ".git/objects/x": "x", ".obsidian/y/z": "z", "Old/o.md": "o"})
    (vault / "out").symlink_to("/usr")
    (vault / "loop").symlink_to(".")
    armed: list[list[str]] = []

    def arm(folders: list[str]) -> Notifier:
        armed.append(folders)
        return arm_native(folders)

    with listening(folder_source(vault, exclude=["old"], arm=arm)):
        assert armed == [[str(vault)]]


def save_atomically(note: Path, text: str) -> None:
    temporary = note.with_name(f"{note.name}.tmp-83")
    with temporary.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(note)


def finish(vault: Path, listener: Listener) -> None:
    """Make a last change and wait for it: what was to be told of the earlier ones has been told then."""
    fill(vault, {"Last.md": "last"})
    listener.wait_for_change(Upserted("Last.md"))


def arm_refused(folders: list[str]) -> Notifier:
    raise OSError(f"OS file watch limit reached. about {json.dumps(folders)}")


def arm_deaf(_: list[str]) -> Notifier:
    pytest.fail("a share was watched natively")


def listening_without_privileges(source: FolderSource) -> object:
    class Unprivileged:
        name, listing, read, state = source.name, source.listing, source.read, source.state
        unreadable, problems = source.unreadable, source.problems

        def changes(self, stop: Event) -> object:
            with without_privileges():
                yield from source.changes(stop)

    return listening(Unprivileged())
