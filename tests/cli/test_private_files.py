"""The files of an index are their owner's alone under the usual umask, and looser ones are closed without a word."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import Making
from vault_ask.index.files import IndexFiles, make_private
from vault_ask.index.writer import IndexWriter
from vault_building import Building

NOTES = {"Mill.md": "The mill is 31 metres high.\n"}
USUAL, PRIVATE, LOOSE = 0o022, 0o600, 0o644


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    """Set the umask that most systems come with."""
    former = os.umask(USUAL)
    yield
    os.umask(former)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def modes(data: Path) -> dict[str, int]:
    return {path.name: mode(path) for path in data.iterdir() if path.name.startswith("index")}


def test_an_index_and_its_folder_are_made_for_their_owner_alone_its_journals_too(tmp_path: Path) -> None:
    data = tmp_path / "data"
    files = IndexFiles(data)
    with files.owned():
        writer = IndexWriter(files.building)
        open_ = modes(data)
        writer.close()
        files.promote()
    assert mode(data) == 0o700
    assert open_.keys() >= {"index-2.sqlite", "index-2.sqlite-wal", "index-2.sqlite-shm"}
    assert set(open_.values()) == {PRIVATE}
    assert modes(data) == {"index-2.sqlite": PRIVATE, "index.current": PRIVATE, "index.lock": PRIVATE}


def test_looser_files_of_an_index_are_closed_and_what_is_not_its_own_stays(commands: Making, tmp_path: Path) -> None:
    vault_ask, data = commands(NOTES), tmp_path / "data"
    building = Building(data)
    building.put(NOTES)
    building.close()
    damaged = data / "index-0.damaged-20260101T000000.sqlite"
    for other in (damaged, data / "notes.txt", tmp_path / "elsewhere"):
        other.write_text("text of notes", encoding="utf-8")
    (data / "index-link").symlink_to(tmp_path / "elsewhere")
    (data / "index-1.sqlite").chmod(LOOSE)
    said = vault_ask("index", "--no-embed")
    assert (said.code, "ermission" in said.err) == (0, False)
    assert {modes(data)[name] for name in ("index-1.sqlite", damaged.name)} == {PRIVATE}
    assert [mode(other) for other in (data / "notes.txt", tmp_path / "elsewhere", data)] == [LOOSE, LOOSE, 0o755]


def test_a_file_system_that_refuses_modes_is_borne(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loose = tmp_path / "index-7.sqlite"
    loose.write_bytes(b"")
    loose.chmod(LOOSE)

    def refused(_path: Path, _mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as smb:
        smb.setattr(Path, "chmod", refused)
        with IndexFiles(tmp_path).owned():
            assert mode(loose) == LOOSE
    with IndexFiles(tmp_path).owned():
        assert mode(loose) == PRIVATE


def test_a_place_that_is_made_twice_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "data" / "index-1.sqlite"
    make_private(file)
    assert (mode(file), mode(file.parent)) == (PRIVATE, 0o700)
    file.write_bytes(b"an index")
    file.chmod(0o640)
    make_private(file)
    assert (file.read_bytes(), mode(file)) == (b"an index", 0o640)
