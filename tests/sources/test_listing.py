import errno
import os
import socket
import unicodedata
from pathlib import Path

import pytest

from sources.privileges import without_privileges
from sources.vaults import fill, folder_source, listed
from vault_ask.errors import ConfigError, SourceUnreachable
from vault_ask.settings.vault import VaultSettings
from vault_ask.sources import walk
from vault_ask.sources.filesystem import FolderSource

CASE_34 = {"Private/a.md": "CANARY-S\n", "Work/w.md": "w\n"}


def case_34(folder: Path) -> Path:
    vault = fill(folder / "vault", CASE_34)
    (vault / "Work/alias.md").symlink_to("../Private/a.md")
    (vault / "Work/out.md").symlink_to("/etc/hostname")
    (vault / "Work/out").symlink_to("/etc")
    (vault / "Work/loop").symlink_to("..")
    (vault / "Work/nothing.md").symlink_to("nothing.md")
    os.mkfifo(vault / "Work/pipe.md")
    return vault


@pytest.mark.timeout(10)
def test_each_real_file_is_listed_once_and_nothing_outside(tmp_path: Path) -> None:
    source = folder_source(case_34(tmp_path))
    assert listed(source) == ["Private/a.md", "Work/w.md"]
    assert {trouble.path: trouble.reason for trouble in source.problems()} == {
        "Work/out": "the link leads out of the vault",
        "Work/out.md": "the link leads out of the vault",
        "Work/pipe.md": "it is a pipe, socket or device",
    }


def test_socket_is_left_out_and_told(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.md": "a"})
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(vault / "s.md"))
        source = folder_source(vault)
        assert listed(source) == ["a.md"]
        assert [trouble.path for trouble in source.problems()] == ["s.md"]


def test_hard_links_are_two_notes(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.md": "a"})
    (vault / "b.md").hardlink_to(vault / "a.md")
    assert listed(folder_source(vault)) == ["a.md", "b.md"]


def test_vault_that_is_a_link_is_followed(tmp_path: Path) -> None:
    fill(tmp_path / "real", {"a.md": "a", "Work/b.md": "b"})
    (tmp_path / "vault").symlink_to("real")
    source = folder_source(tmp_path / "vault")
    assert (listed(source), source.name) == (["Work/b.md", "a.md"], "vault")
    assert source.read("Work/b.md").content == b"b"


def test_hidden_temporary_and_other_files_are_skipped_in_silence(tmp_path: Path) -> None:
    skipped = [
        "#recycle/old.md",
        "Work/@eaDir/a.md",
        "$RECYCLE.BIN/b.md",
        ".trash/old.md",
        ".obsidian/x.md",
        "a.md~",
        ".a.md.swp",
        "a.md.tmp-83",
        "~$a.md",
        "picture.png",
    ]
    vault = fill(tmp_path, dict.fromkeys(["a.md", "Board.canvas", "folder.md/inside.md", *skipped], "x"))
    source = folder_source(vault)
    assert listed(source) == ["Board.canvas", "a.md", "folder.md/inside.md"]
    assert source.problems() == ()


def test_include_and_exclude_are_applied(tmp_path: Path) -> None:
    vault = fill(tmp_path, dict.fromkeys(["Work/a.md", "Work/Drafts/b.md", "Home/c.md"], "x"))
    assert listed(folder_source(vault, include=["work/**"], exclude=["WORK/drafts"])) == ["Work/a.md"]


def test_names_that_no_text_can_hold_are_left_out_and_told(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"Good björnbär.md": "good"})
    for name in (b"caf\xe9.md", b"two\nlines.md", b"back\\slash.md", b"caf\xe9.png"):
        (vault / os.fsdecode(name)).write_text("x")
    (vault / os.fsdecode(b"f\xe9")).mkdir()
    (vault / os.fsdecode(b"f\xe9") / "below.md").write_text("x")
    source = folder_source(vault)
    assert listed(source) == ["Good björnbär.md"]
    assert [trouble.path for trouble in source.problems()] == [
        "back\\slash.md",
        "caf\\xe9.md",
        "f\\xe9",
        "two\\nlines.md",
    ]
    assert "4 files or folders" in source.state().message


def test_decomposed_names_are_listed_composed_and_opened_as_they_are(tmp_path: Path) -> None:
    vault = fill(tmp_path, {unicodedata.normalize("NFD", "Küche/Café.md"): "coffee"})
    source = folder_source(vault)
    assert listed(source) == ["Küche/Café.md"]
    assert source.read("Küche/Café.md").content == b"coffee"


def test_two_files_that_differ_by_normalisation_or_case_are_two_notes(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "é.md")
    vault = fill(tmp_path, {"é.md": "one", decomposed: "two", "A.md": "three", "a.md": "four"})
    source = folder_source(vault)
    content = {entry.path: source.read(entry.path).content for entry in source.listing()}
    assert content == {"é.md": b"one", decomposed: b"two", "A.md": b"three", "a.md": b"four"}


def test_closed_file_stays_listed_and_is_told(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.md": "a", "b.md": "b"})
    (vault / "a.md").chmod(0)
    source = folder_source(vault)
    with without_privileges():
        assert listed(source) == ["a.md", "b.md"]
    assert [(trouble.path, trouble.reason) for trouble in source.problems()] == [("a.md", "it cannot be opened")]


def test_monstrous_file_is_left_out_and_told(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.md": "a"})
    with (vault / "dump.md").open("wb") as file:
        file.truncate(walk.LARGEST_NOTE + 1)
    source = folder_source(vault)
    assert listed(source) == ["a.md"]
    assert source.problems()[0].reason == "it is larger than 64 MiB"


@pytest.mark.parametrize("what", ["nothing", "a file", "a closed folder", "an empty folder"])
def test_vault_that_is_not_there_is_unreachable_and_may_come_later(tmp_path: Path, what: str) -> None:
    vault = tmp_path / "vault"
    if what == "a file":
        vault.write_text("x")
    elif what != "nothing":
        vault.mkdir(mode=0 if what == "a closed folder" else 0o755)
    source = folder_source(vault)
    with without_privileges(), pytest.raises(SourceUnreachable, match=r"indexed is kept.*\."):
        source.listing()
    if what == "a file":
        vault.unlink()
    fill(vault, {"a.md": "a"}) if what != "a closed folder" else vault.chmod(0o755)
    (vault / "a.md").write_text("a")
    assert listed(source) == ["a.md"]


def test_vault_without_notes_is_a_vault_when_it_holds_its_settings(tmp_path: Path) -> None:
    assert listed(folder_source(fill(tmp_path, {".obsidian/app.json": "{}"}))) == []


def test_all_notes_gone_at_once_is_no_deletion(tmp_path: Path) -> None:
    vault = fill(tmp_path, {".obsidian/app.json": "{}", "a.md": "a", "b.md": "b"})
    source = folder_source(vault)
    assert listed(source) == ["a.md", "b.md"]
    (vault / "a.md").unlink()
    (vault / "b.md").unlink()
    for _ in range(2):
        with pytest.raises(SourceUnreachable, match="gone at once"):
            source.listing()
    fill(vault, {"b.md": "b"})
    assert listed(source) == ["b.md"]
    (vault / "b.md").unlink()
    assert listed(source) == []


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.ENOTCONN])
def test_failing_disk_below_makes_the_vault_unreachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    vault = fill(tmp_path, {"a.md": "a", "Work/b.md": "b"})
    opening = os.open

    def failing(path: str, *args: int, **more: int) -> int:
        if path == str(vault / "Work"):
            raise OSError(number, os.strerror(number))
        return opening(path, *args, **more)

    source = folder_source(vault)
    monkeypatch.setattr(os, "open", failing)
    with pytest.raises(SourceUnreachable, match="mounted"):
        source.listing()


def test_vault_replaced_while_it_is_listed_is_not_half_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = fill(tmp_path / "vault", {"a.md": "a", "Work/b.md": "b", "Work/c.md": "c"})
    fill(tmp_path / "other", {"a.md": "a"})
    opening = os.open

    def replacing(path: str, *args: int, **more: int) -> int:
        if path == str(vault / "Work") and (tmp_path / "other").exists():
            vault.rename(tmp_path / "elsewhere")
            (tmp_path / "other").rename(vault)
        return opening(path, *args, **more)

    source = folder_source(vault)
    monkeypatch.setattr(os, "open", replacing)
    with pytest.raises(SourceUnreachable, match="while it was read"):
        source.listing()
    assert listed(source) == ["a.md"]


def test_closed_folder_never_seen_before_is_named(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.md": "a", "Work/Deep/b.md": "b"})
    (vault / "Work").chmod(0)
    source = folder_source(vault)
    with without_privileges():
        assert listed(source) == ["a.md"]
    assert source.unreadable() == ("Work",)
    assert source.problems()[0].reason == "the folder cannot be opened"


def test_revision_tells_an_edit_that_keeps_size_and_time(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.md": "one"})
    source = folder_source(vault)
    before, status = source.listing()[0], (vault / "a.md").stat()
    (vault / "a.md").write_text("two")
    os.utime(vault / "a.md", ns=(status.st_atime_ns, status.st_mtime_ns))
    after = source.listing()[0]
    assert (before.size, before.mtime) == (after.size, after.mtime)
    assert before.revision != after.revision


def test_no_vault_named_is_a_mistake_of_the_configuration() -> None:
    with pytest.raises(ConfigError, match=r"vault\.path"):
        FolderSource(VaultSettings())


def test_index_inside_the_vault_is_refused(tmp_path: Path) -> None:
    vault = fill(tmp_path / "vault", {"a.md": "a"})
    (tmp_path / "way").symlink_to(vault)
    for data in (vault, vault / "data", tmp_path / "way" / ".index"):
        with pytest.raises(ConfigError, match="inside the vault"):
            FolderSource(VaultSettings(path=vault), data=data)
    assert listed(FolderSource(VaultSettings(path=vault), data=tmp_path / "vault-data")) == ["a.md"]


def test_name_is_the_configured_one_or_the_folders(tmp_path: Path) -> None:
    assert folder_source(tmp_path / "My Vault").name == "My Vault"
    assert folder_source(tmp_path / "My Vault", name="Home").name == "Home"
