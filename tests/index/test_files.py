import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes import HashEmbedder
from vault_ask.errors import ConfigError, IndexBusy, NoIndex
from vault_ask.index.database import connect_writer
from vault_ask.index.files import POINTER, IndexFiles
from vault_ask.index.migrations import MIGRATIONS
from vault_ask.index.view import Index
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.workshop import open_writer
from vault_building import OPEN, Building, faults

NOTES = {f"n{number}.md": f"text {number} [[n{number + 1}]] " + "word " * number for number in range(40)}


def paths(files: IndexFiles) -> list[str]:
    with Index(files).open(OPEN) as view:
        return view.notes.paths()


def written(file: Path, *notes: str) -> None:
    building = Building(file.parent)
    building.writer.close()
    building.writer = IndexWriter(file)
    building.put(dict.fromkeys(notes, "text"))
    building.close()


def test_a_rebuilt_file_takes_over_and_the_former_one_goes(tmp_path: Path) -> None:
    files = IndexFiles(tmp_path)
    written(files.current, "old.md")
    index = Index(files)
    with index.open(OPEN) as view:
        written(files.building, "new.md")
        files.promote()
        # Whoever reads the former file reads it to the end.
        assert view.notes.paths() == ["old.md"]
    with index.open(OPEN) as view:
        assert view.notes.paths() == ["new.md"]
    assert [file.name for file in sorted(tmp_path.iterdir()) if file.suffix == ".sqlite"] == ["index-2.sqlite"]
    assert files.building.name == "index-3.sqlite"


class MovingFiles(IndexFiles):
    """Files of which the one in use is changed over right after somebody was told of it, once."""

    moved = False

    @property
    def current(self) -> Path:
        told = super().current
        if not self.moved and self.building.exists():
            self.moved = True
            self.promote()
        return told


@pytest.mark.parametrize("former", ["gone before the look for it", "gone after the look for it"])
def test_who_opens_the_index_while_it_is_changed_over_finds_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, former: str
) -> None:
    files = MovingFiles(tmp_path)
    IndexWriter(files.current).close()
    IndexWriter(files.building).close()
    if former == "gone after the look for it":
        monkeypatch.setattr(Path, "exists", lambda _: True)
    with Index(files).open(OPEN) as view:
        assert view.notes.paths() == []
    assert files.moved
    assert files.current.name == "index-2.sqlite"


def test_a_former_file_that_was_left_behind_goes_when_the_folder_is_owned_again(tmp_path: Path) -> None:
    files = IndexFiles(tmp_path)
    written(files.current, "deleted since.md")
    written(files.building, "new.md")
    former = files.current
    (tmp_path / POINTER).write_text("2")  # as a kill in the middle of `promote` leaves it
    kept = tmp_path / "index-1.damaged-20260101T000000.sqlite"
    kept.write_bytes(b"x")
    with files.owned():
        assert not former.exists()
        assert paths(files) == ["new.md"]
    assert kept.exists()


def test_without_an_index_the_command_to_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoIndex, match="vault-ask index"):
        paths(IndexFiles(tmp_path))


@pytest.mark.parametrize("pointer", ["", "x", "\0"])
def test_a_broken_pointer_starts_with_the_first_number(tmp_path: Path, pointer: str) -> None:
    (tmp_path / POINTER).write_text(pointer)
    assert IndexFiles(tmp_path).current.name == "index-1.sqlite"


OWNER = """
import sys
from pathlib import Path
from vault_ask.index.files import IndexFiles

with IndexFiles(Path(sys.argv[1])).owned():
    print("owned", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_owner(data: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", OWNER, str(data)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "owned\n"
        yield process
        process.kill()


def test_a_second_process_is_turned_away_and_touches_nothing(tmp_path: Path) -> None:
    files = IndexFiles(tmp_path)
    with another_owner(tmp_path) as process:
        before = sorted(tmp_path.iterdir())
        with pytest.raises(IndexBusy, match="already running") as caught, files.owned():
            pass
        assert str(tmp_path) in str(caught.value)
        assert sorted(tmp_path.iterdir()) == before
        process.kill()
        process.wait(timeout=10)
        # A lock dies with its owner, however it died.
        with files.owned():
            assert files.current == before[0].with_name("index-1.sqlite")


def test_a_data_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="--data"), IndexFiles(tmp_path / "file" / "data").owned():
        pass


def damaged(data: Path, kind: str) -> IndexFiles:
    building = Building(data, HashEmbedder())
    building.put(NOTES)
    building.close()
    file = building.files.current
    content = bytearray(file.read_bytes())
    middle = len(content) // 8192 * 4096
    match kind:
        case "header":
            content[:100] = b"\xff" * 100
        case "schema":
            content[100:400] = bytes(300)
        case "middle":
            content[middle : middle + 8 * 4096] = b"\x55" * 8 * 4096
        case "flipped":
            content[:] = bytes(byte ^ 0x40 if at % 997 == 0 else byte for at, byte in enumerate(content))
        case "cut":
            del content[middle + 17 :]
        case "not ours":
            content[:] = b"This is no database. " * 400
    file.write_bytes(content)
    return building.files


@pytest.mark.parametrize("kind", ["header", "schema", "middle", "flipped", "cut", "not ours"])
def test_a_damaged_file_is_set_aside_and_a_new_index_begun(tmp_path: Path, kind: str) -> None:
    files = damaged(tmp_path, kind)
    bytes_before = files.current.read_bytes()
    writer, warning = open_writer(files)
    kept = [file for file in tmp_path.iterdir() if ".damaged-" in file.name]
    assert [file.read_bytes() for file in kept] == [bytes_before]
    assert warning is not None
    assert kept[0].name in warning
    assert (writer.path.name, writer.known(), faults(writer)) == ("index-2.sqlite", {}, [])
    writer.close()
    again, warning = open_writer(files)
    assert (again.path.name, warning) == ("index-2.sqlite", None)
    again.close()


def test_a_sound_file_is_opened_and_kept(tmp_path: Path) -> None:
    written(IndexFiles(tmp_path).current, "a.md")
    writer, warning = open_writer(IndexFiles(tmp_path))
    assert (list(writer.known()), warning) == (["a.md"], None)
    writer.close()


def test_an_empty_file_is_the_beginning_of_an_index(tmp_path: Path) -> None:
    IndexFiles(tmp_path).current.touch()
    writer, warning = open_writer(IndexFiles(tmp_path))
    assert (writer.known(), warning) == ({}, None)
    writer.close()


def test_an_index_of_a_newer_version_is_refused_and_kept(tmp_path: Path) -> None:
    files = IndexFiles(tmp_path)
    written(files.current, "a.md")
    writer = IndexWriter(files.current)
    writer._db.pragma("user_version", len(MIGRATIONS) + 1)
    writer.close()
    with pytest.raises(ConfigError, match="newer vault-ask") as caught:
        open_writer(files)
    assert "Update vault-ask" in str(caught.value)
    assert paths(files) == ["a.md"]


def test_migrations_run_once_and_a_failing_one_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "index.sqlite"
    IndexWriter(file).close()
    ran = []

    def second(connection: object) -> None:
        ran.append("second")
        connection.execute("CREATE TABLE later (x)")

    def failing(connection: object) -> None:
        connection.execute("CREATE TABLE never (x)")
        raise RuntimeError

    monkeypatch.setattr("vault_ask.index.migrations.MIGRATIONS", (*MIGRATIONS, second, failing))
    with pytest.raises(RuntimeError):
        connect_writer(file)
    monkeypatch.setattr("vault_ask.index.migrations.MIGRATIONS", (*MIGRATIONS, second))
    connection = connect_writer(file)
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert ran == ["second"]
    assert "later" in names
    assert "never" not in names
    assert connection.pragma("user_version") == len(MIGRATIONS) + 1
    connection.close()
