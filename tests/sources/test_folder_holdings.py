import os
import time
import unicodedata
from pathlib import Path

import pytest

from sources.privileges import without_privileges
from sources.test_listing import case_34
from sources.vaults import fill, folder_source
from vault_ask.errors import SourceUnreachable
from vault_ask.sources import holdings
from vault_ask.sources.filesystem import FolderSource
from vault_ask.sources.port import Holding, Unread

SKIPPED = [".trash/old.md", ".obsidian/x.md", "a.md~", ".a.md.swp", "a.md.tmp-83", "~$a.docx", "b.tmp", "c.swp"]


def held(source: FolderSource) -> dict[str, Holding]:
    return {holding.path: holding for holding in source.holdings()}


def content(source: FolderSource, path: str) -> bytes | Unread:
    ((told, found),) = source.contents([path])
    assert told == path
    return found


@pytest.mark.timeout(10)
def test_each_real_file_is_held_once_and_nothing_outside(tmp_path: Path) -> None:
    vault = fill(case_34(tmp_path), {"Work/pic.png": "png"})
    (vault / "Work/pic-alias.png").symlink_to("pic.png")
    (vault / "Work/broken.png").symlink_to("nothing.png")
    os.mkfifo(vault / "Work/pipe.png")
    source = folder_source(vault)
    assert list(held(source)) == ["Private/a.md", "Work/pic.png", "Work/w.md"]
    assert {trouble.path: trouble.reason for trouble in source.problems()} == {
        "Work/out": "the link leads out of the vault",
        "Work/out.md": "the link leads out of the vault",
        "Work/pipe.md": "it is a pipe, socket or device",
        "Work/pipe.png": "it is a pipe, socket or device",
    }


def test_hidden_and_temporary_files_are_skipped_in_silence(tmp_path: Path) -> None:
    vault = fill(tmp_path, dict.fromkeys(["a.md", "Board.canvas", "folder.md/pic.PNG", "no-suffix", *SKIPPED], "x"))
    source = folder_source(vault)
    assert list(held(source)) == ["Board.canvas", "a.md", "folder.md/pic.PNG", "no-suffix"]
    assert source.problems() == ()
    assert all(isinstance(found, Unread) and found.vanished for _, found in source.contents(SKIPPED))


def test_files_are_sorted_by_their_whole_path(tmp_path: Path) -> None:
    paths = ["a/b.md", "a.md", "a!/z", "a/b/c", "a0", "a/B", "Ä/x", "ä", "🦉/n.md", "z", "a-/x", "a/b.md.bak/x"]
    source = folder_source(fill(tmp_path, dict.fromkeys(paths, "x")))
    assert list(held(source)) == sorted(paths)


def test_include_and_exclude_hold_for_attachments(tmp_path: Path) -> None:
    vault = fill(
        tmp_path, dict.fromkeys(["Work/a.md", "Work/p.png", "Work/Drafts/b.png", "Home/c.png", "Work/f.mp4"], "x")
    )
    source = folder_source(vault, include=["work/**"], exclude=["WORK/drafts", "**/*.MP4"])
    assert list(held(source)) == ["Work/a.md", "Work/p.png"]
    assert content(source, "Work/p.png") == b"x"
    for path in ("Work/Drafts/b.png", "Home/c.png", "Work/f.mp4"):
        assert isinstance(content(source, path), Unread)


def test_names_that_no_path_can_hold_are_left_out_and_told_of_attachments_too(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"Good björnbär.png": "good"})
    for name in (b"caf\xe9.png", b"two\nlines.pdf", b"back\\slash.md", b".hidden\xe9"):
        (vault / os.fsdecode(name)).write_text("x")
    source = folder_source(vault)
    assert list(held(source)) == ["Good björnbär.png"]
    assert [trouble.path for trouble in source.problems()] == ["back\\slash.md", "caf\\xe9.png", "two\\nlines.pdf"]


def test_trouble_that_both_lists_met_is_told_once(tmp_path: Path) -> None:
    source = folder_source(case_34(tmp_path))
    source.listing()
    before = source.problems()
    assert held(source)
    assert source.problems() == before


def test_decomposed_names_are_held_composed_and_opened_under_both_spellings(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "Küche/Café.png")
    source = folder_source(fill(tmp_path, {decomposed: "coffee"}))
    assert list(held(source)) == ["Küche/Café.png"]
    assert content(source, "Küche/Café.png") == content(source, decomposed) == b"coffee"


def test_two_files_that_differ_by_normalisation_or_case_are_two(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "é.png")
    files = {"é.png": "one", decomposed: "two", "A.png": "three", "a.png": "four"}
    source = folder_source(fill(tmp_path, files))
    assert {path: content(source, path) for path in held(source)} == {p: text.encode() for p, text in files.items()}


def test_file_too_large_for_a_note_is_held_and_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = fill(tmp_path, {"a.md": "a"})
    for name in ("film.mp4", "dump.md"):
        with (vault / name).open("wb") as file:
            file.truncate(65 * 1024 * 1024)
    source = folder_source(vault)
    assert held(source)["film.mp4"].size == held(source)["dump.md"].size == 65 * 1024 * 1024
    found = content(source, "film.mp4")
    assert isinstance(found, bytes)
    assert len(found) == 65 * 1024 * 1024
    monkeypatch.setattr(holdings, "LARGEST_FILE", 64 * 1024 * 1024)
    assert content(source, "film.mp4") == Unread("film.mp4", "it is larger than 64 MiB")


def test_one_file_at_a_time_is_read(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.png": "a", "b.png": "b"})
    contents = folder_source(vault).contents(["a.png", "b.png"])
    assert next(contents) == ("a.png", b"a")
    fill(vault, {"b.png": "read late"})
    assert next(contents) == ("b.png", b"read late")


def test_closed_file_is_held_as_incomplete(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.png": "a", "b.png": "b"})
    (vault / "a.png").chmod(0)
    source = folder_source(vault)
    with without_privileges():
        files, found = held(source), content(source, "a.png")
    assert [(file.path, file.state, file.problem) for file in files.values()] == [
        ("a.png", "incomplete", "it cannot be opened"),
        ("b.png", "ok", None),
    ]
    assert found == Unread("a.png", "it cannot be opened")


def test_closed_folder_is_told_and_the_rest_is_held(tmp_path: Path) -> None:
    vault = fill(tmp_path, {"a.md": "a", "Work/b.png": "b"})
    (vault / "Work").chmod(0)
    source = folder_source(vault)
    with without_privileges():
        assert list(held(source)) == ["a.md"]
    assert [(one.path, one.reason) for one in source.problems()] == [("Work", "the folder cannot be opened")]


@pytest.mark.parametrize(
    "path",
    [
        *("../../etc/hostname", "/etc/hostname", "Work/../Private/p.png", "Work\\..\\Private\\p.png", "Work/out.md"),
        *("Work/out/hostname", "Work/pipe.md", "Work/nothing.md", "Work", "", "a" * 5000, "Private/p.png/x"),
        *("private/P.PNG", "Private/p.png\0", "Work/\udcff.md", "Private/./p.png", "Work/hidden.png"),
    ],
)
@pytest.mark.timeout(10)
def test_whatever_is_no_file_of_the_vault_vanishes(tmp_path: Path, path: str) -> None:
    vault = fill(case_34(tmp_path), {"Private/p.png": "p", ".obsidian/hidden.png": "hidden"})
    (vault / "Work/hidden.png").symlink_to("../.obsidian/hidden.png")
    found = content(folder_source(vault), path)
    assert found == Unread(path, "the vault holds no file at this path", vanished=True)


def test_link_within_the_vault_gives_what_it_leads_to(tmp_path: Path) -> None:
    vault = fill(case_34(tmp_path), {"Private/p.png": "p"})
    (vault / "Work/p.png").symlink_to("../Private/p.png")
    assert content(folder_source(vault), "Work/p.png") == b"p"


def test_folder_swapped_for_a_link_out_of_the_vault_is_not_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, outside = fill(tmp_path / "vault", {"Work/a.png": "in", "b.md": "b"}), fill(tmp_path / "out", {"a.png": "O"})
    opening = os.open

    def swapping(path: str, *args: int, **more: int) -> int:
        if path in {"Work", str(vault / "Work")} and not (vault / "Work").is_symlink():
            (vault / "Work").rename(vault / ".old")
            (vault / "Work").symlink_to(outside)
        return opening(path, *args, **more)

    source = folder_source(vault)
    monkeypatch.setattr(os, "open", swapping)
    assert list(held(source)) == ["b.md"]
    (vault / "Work").unlink()
    (vault / ".old").rename(vault / "Work")
    assert isinstance(content(source, "Work/a.png"), Unread)
    assert (vault / "Work").is_symlink()


def test_file_that_changes_while_it_is_read_is_read_once_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = fill(tmp_path, {"a.png": "old"})
    stamping, stamps = holdings.revision, []

    def writing(status: os.stat_result) -> str:
        stamps.append(status)
        if len(stamps) == 1:  # the stamp after the first reading
            fill(vault, {"a.png": "newer"})
            status = (vault / "a.png").stat()
        return stamping(status)

    monkeypatch.setattr(holdings, "revision", writing)
    assert content(folder_source(vault), "a.png") == b"newer"
    assert len(stamps) == 4


@pytest.mark.parametrize("what", ["nothing", "a file", "an empty folder"])
def test_vault_that_is_not_there_holds_neither_something_nor_nothing(tmp_path: Path, what: str) -> None:
    vault = tmp_path / "vault"
    if what == "a file":
        vault.write_text("x")
    elif what == "an empty folder":
        vault.mkdir()
    with pytest.raises(SourceUnreachable, match=r"\.$"):
        list(folder_source(vault).holdings())


def test_vault_with_nothing_but_its_settings_holds_nothing(tmp_path: Path) -> None:
    assert held(folder_source(fill(tmp_path, {".obsidian/app.json": "{}"}))) == {}


def test_disk_taken_away_while_it_is_listed_ends_the_list_with_an_error(tmp_path: Path) -> None:
    vault = fill(tmp_path / "vault", {"a.md": "a", "b.md": "b"})
    walk = folder_source(vault).holdings()
    assert next(walk).path == "a.md"
    vault.rename(tmp_path / "elsewhere")
    fill(vault, {"other.md": "x"})
    with pytest.raises(SourceUnreachable, match="not whole"):
        list(walk)


def test_large_folder_is_listed_quickly_and_begins_at_once(tmp_path: Path) -> None:
    for folder in range(40):
        (tmp_path / f"{folder:02}").mkdir()
        for name in range(100):
            (tmp_path / f"{folder:02}" / f"{name}.png").touch()
    begun = time.monotonic()
    assert len(held(folder_source(tmp_path))) == 4_000
    assert time.monotonic() - begun < 2, "0.05 s is usual"
