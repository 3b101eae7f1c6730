import os
from pathlib import Path
from threading import Event, Thread
from typing import Self

import pytest

from sources.privileges import without_privileges
from sources.test_listing import case_34
from sources.vaults import fill, folder_source, listed
from vault_ask.errors import DocumentVanished, SourceUnreachable
from vault_ask.sources import reading


@pytest.mark.parametrize(
    "path",
    [
        *("../../etc/hostname", "%2e%2e/%2e%2e/etc/hostname", "/etc/hostname", "Work/../Private/a.md"),
        *(
            "Work\\..\\Private\\a.md",
            "work/W.MD\0.png",
            "work/W.MD",
            "Work/nowhere.md",
            "Work/out.md",
            "Work/out/hostname",
        ),
        *("Work/pipe.md", "Work/nothing.md", "Work", "", "a" * 5000 + ".md", "/".join(["a"] * 3000) + ".md"),
        *(".obsidian/app.md", "Work/w.md/", "Work/w.md/x.md", "Private%2fa.md", "Work/\udcff.md", "Work/w\u0301.md"),
    ],
)
@pytest.mark.timeout(10)
def test_whatever_is_no_note_of_the_vault_gets_one_and_the_same_answer(tmp_path: Path, path: str) -> None:
    source = folder_source(fill(case_34(tmp_path), {".obsidian/app.md": "hidden"}))
    with pytest.raises(DocumentVanished, match=r"^The vault holds no note at this path that can be opened\.$"):
        source.read(path)


def test_link_to_a_note_reads_as_the_note_it_leads_to(tmp_path: Path) -> None:
    vault = case_34(tmp_path)
    (vault / "Work/folder").symlink_to("../Private")
    (vault / "chain.md").symlink_to("Work/alias.md")
    (vault / "round.md").symlink_to(tmp_path / "way" / "Private/a.md")
    (tmp_path / "way").symlink_to(vault)
    source = folder_source(vault)
    for path in (
        "Work/alias.md",
        "Work/folder/a.md",
        "chain.md",
        "round.md",
        "Work/loop/Private/a.md",
        "Work/loop/Work/alias.md",
    ):
        document = source.read(path)
        assert (document.entry.path, document.resolved_path) == (path, "Private/a.md")
        assert document.content == b"CANARY-S\n"


def test_link_to_a_note_outside_the_vault_is_not_read(tmp_path: Path) -> None:
    vault, outside = fill(tmp_path / "vault", {"a.md": "a"}), fill(tmp_path / "vault-outside", {"Deep/b.md": "OUTSIDE"})
    (vault / "file.md").symlink_to(outside / "Deep/b.md")
    (vault / "folder").symlink_to("../vault-outside")
    for path in ("file.md", "folder/Deep/b.md"):
        with pytest.raises(DocumentVanished):
            folder_source(vault).read(path)


def test_link_does_not_bring_back_what_is_excluded_or_hidden(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"Private/a.md": "p", ".trash/t.md": "t", "Work/w.md": "w"})
    (vault / "Work/p.md").symlink_to("../Private/a.md")
    (vault / "Work/t.md").symlink_to("../.trash/t.md")
    source = folder_source(vault, exclude=["Private/**"])
    for path in ("Private/a.md", "Work/p.md", "Work/t.md"):
        with pytest.raises(DocumentVanished):
            source.read(path)
    assert source.read("Work/w.md").content == b"w"


def test_closed_note_vanishes_and_does_not_end_the_run(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.md": "a"})
    (vault / "a.md").chmod(0)
    with without_privileges(), pytest.raises(DocumentVanished):
        folder_source(vault).read("a.md")


def test_note_below_an_empty_root_is_unreachable_and_not_vanished(tmp_path: Path) -> None:
    with pytest.raises(SourceUnreachable):
        folder_source(tmp_path).read("a.md")


def test_folder_swapped_for_a_link_out_of_the_vault_is_not_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, outside = fill(tmp_path / "vault", {"Work/a.md": "inside"}), fill(tmp_path / "out", {"a.md": "OUTSIDE"})
    opening = os.open

    def swapping(path: str, *args: int, **more: int) -> int:
        if path == "Work" and not (vault / "Work").is_symlink():
            (vault / "Work").rename(vault / "Old")
            (vault / "Work").symlink_to(outside)
        return opening(path, *args, **more)

    monkeypatch.setattr(os, "open", swapping)
    with pytest.raises(DocumentVanished):
        folder_source(vault).read("Work/a.md")
    assert (vault / "Work").is_symlink()


@pytest.mark.timeout(10)
def test_note_swapped_for_a_pipe_does_not_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = fill(tmp_path, {"a.md": "a", "b.md": "b"})
    opening = os.open

    def swapping(path: str, *args: int, **more: int) -> int:
        if path == "a.md":
            (vault / "a.md").unlink()
            os.mkfifo(vault / "a.md")
        return opening(path, *args, **more)

    monkeypatch.setattr(os, "open", swapping)
    with pytest.raises(DocumentVanished):
        folder_source(vault).read("a.md")


def test_spelling_must_be_the_one_on_disk_where_the_disk_folds_case(tmp_path: Path) -> None:
    # A disk that folds case finds one file under both spellings; two names for one inode look the same to lstat.
    vault = fill(tmp_path, {"Geometry.md": "angles"})
    (vault / "gEOMETRY.MD").hardlink_to(vault / "Geometry.md")
    handle = os.open(vault, os.O_RDONLY)
    try:
        assert not reading._is_exact(handle, "Geometry.md")
        assert reading._name_in(handle, "Geometry.md") == ("Geometry.md", "Geometry.md")
    finally:
        os.close(handle)


def test_note_that_changes_while_it_is_read_is_read_once_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = fill(tmp_path, {"a.md": "old"})
    opening, opened = os.fdopen, []

    def writing(handle: int, mode: str) -> object:
        opened.append(handle)
        file = opening(handle, mode)
        if len(opened) == 1:
            return _WrittenMeanwhile(file, lambda: (vault / "a.md").write_text("new text"))
        return file

    monkeypatch.setattr(os, "fdopen", writing)
    document = folder_source(vault).read("a.md")
    assert (document.content, len(opened)) == (b"new text", 2)
    monkeypatch.undo()
    assert [document.entry] == folder_source(vault).listing()


def test_content_and_entry_belong_together_while_a_writer_is_at_work(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.md": "0", "b.md": "b"})
    source, done = folder_source(vault), Event()

    def write() -> None:
        for version in range(300):
            (vault / "a.md.tmp").write_text("x" * version)
            (vault / "a.md.tmp").replace(vault / "a.md")
        done.set()

    writer = Thread(target=write)
    writer.start()
    while not done.is_set():
        document = source.read("a.md")
        assert document.entry.size == len(document.content)
        assert listed(source) == ["a.md", "b.md"]
    writer.join()
    assert source.read("a.md").content == b"x" * 299


class _WrittenMeanwhile:
    """A file that somebody writes to between our reading it and our looking at it again."""

    def __init__(self, file: object, write: object) -> None:
        self._file = file
        self._write = write

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def fileno(self) -> int:
        return self._file.fileno()

    def read(self) -> bytes:
        content = self._file.read()
        self._write()
        return content
