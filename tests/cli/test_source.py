"""`vault-ask source`, over a folder: what a person and a program see of it."""

import hashlib
import json
import os
import stat
import subprocess
import sys
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.commands import Commands, write
from fakes import FakeSource
from sources.privileges import without_privileges
from vault_ask import inspecting
from vault_ask.console.files import print_files
from vault_ask.errors import DocumentIncomplete, DocumentVanished
from vault_ask.inspecting import Held, Inspection
from vault_ask.settings import Settings
from vault_ask.settings.vault import VaultSettings
from vault_ask.sources.port import Holding, OtherVersion

EVERY_BYTE = bytes(range(256)) * 9
FILES: Mapping[str, str | bytes] = {
    "Hub.md": "See [[geometry]] and CANARY-TEXT.\n",
    "Kök/Svamp.md": "Kantareller\r\n",
    "math/plot.png": EVERY_BYTE,
    "math.csv": "",
    "日本/メモ.md": "メモ\n",
    ".obsidian/app.json": "{}",
    ".trash/old.md": "gone\n",
}
SHOWN = sorted(path for path in FILES if not path.startswith("."))


def over(tmp_path: Path, files: Mapping[str, str | bytes] = FILES) -> Commands:
    (tmp_path / "empty").mkdir()
    vault = write(tmp_path / "vault", files)
    return Commands(tmp_path / "empty", environment={"VAULTASK_VAULT__PATH": str(vault)})


def looking_at(vault: Path, files: Mapping[str, str | bytes] = FILES) -> Inspection:
    return Inspection(Settings(vault=VaultSettings(path=write(vault, files))))


def blob(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def test_json_has_a_line_of_exactly_six_values_for_each_file_in_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    said = over(tmp_path)("source", "ls", "--json", "--hash", PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
    assert (said.code, said.err) == (0, "")
    listed = [json.loads(line) for line in said.out.split("\n")[:-1]]
    assert [row["path"] for row in listed] == SHOWN
    for row in listed:
        content = blob(FILES[row["path"]])
        assert list(row) == ["path", "bytes", "sha256", "rev", "state", "problem"]
        assert (row["bytes"], row["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
        assert (row["state"], row["problem"], isinstance(row["rev"], str)) == ("ok", None, True)
    assert "日本/メモ.md" in said.out
    assert "CANARY-TEXT" not in said.out


def test_list_for_a_person_is_size_and_path_and_the_rest_is_told_beside_it(tmp_path: Path) -> None:
    commands = over(tmp_path)
    (tmp_path / "vault" / os.fsdecode(b"caf\xe9.png")).write_text("x")
    (tmp_path / "vault/out.png").symlink_to("/etc/hostname")
    (tmp_path / "vault/broken.png").symlink_to("nowhere.png")
    said = commands("source", "ls")
    assert said.code == 0
    assert [line[13:] for line in said.out.splitlines()] == SHOWN
    assert [int(line[:11]) for line in said.out.splitlines()] == [len(blob(FILES[path])) for path in SHOWN]
    assert said.err.splitlines() == [
        "5 files.",
        "Left out: caf\\xe9.png (its name is not UTF-8)",
        "Left out: out.png (the link leads out of the vault)",
    ]
    assert list(commands.folder.iterdir()) == []


def test_cat_writes_the_bytes_unchanged(tmp_path: Path) -> None:
    commands = over(tmp_path)
    line = commands.line("source", "cat", "math/plot.png")
    said = subprocess.run(line, cwd=commands.folder, env=commands.clean(), capture_output=True, check=False)
    assert (said.returncode, said.stdout, said.stderr) == (0, EVERY_BYTE, b"")
    assert list(commands.folder.iterdir()) == []


def test_cat_of_what_is_not_held_is_one_sentence(tmp_path: Path) -> None:
    assert "holds no file at this path" in over(tmp_path)("source", "cat", "nowhere.md").sentence(code=1)


def test_vault_that_is_away_ends_with_its_code(tmp_path: Path) -> None:
    commands = over(tmp_path)
    (tmp_path / "vault").rename(tmp_path / "elsewhere")
    assert "cannot be read just now" in commands("source", "ls", "--json").sentence(code=3)


@pytest.mark.parametrize("command", ["ls --json | head -n 1", "cat big.bin | head -c 4"])
def test_reader_that_has_enough_ends_it_in_silence(tmp_path: Path, command: str) -> None:
    commands = over(tmp_path, {"big.bin": b"BIG!" * 1_000_000, **{f"{n:0200}": "" for n in range(2_000)}})
    said = subprocess.run(
        ["/bin/sh", "-c", f'"$0" -m vault_ask source {command}', sys.executable],
        cwd=commands.folder,
        env=commands.clean(),
        capture_output=True,
        check=False,
    )
    assert (said.returncode, said.stderr) == (0, b"")
    assert said.stdout.count(b"\n") == 1 or said.stdout == b"BIG!"


def test_each_file_of_many_gets_its_own_hash(tmp_path: Path) -> None:
    many = {f"n{number:03}.md": f"{number}\n" for number in range(2 * inspecting.BATCH + 1)}
    files = list(looking_at(tmp_path, many).files(hashed=True, deleted=True))
    assert {file.holding.path: file.sha256 for file in files} == {
        path: hashlib.sha256(text.encode()).hexdigest() for path, text in many.items()
    }


@pytest.mark.parametrize("path", SHOWN)
def test_every_listed_path_gives_its_file(tmp_path: Path, path: str) -> None:
    assert looking_at(tmp_path).content(path) == blob(FILES[path])


@pytest.mark.parametrize("on_disk", ["NFC", "NFD"])
@pytest.mark.parametrize("typed", ["NFC", "NFD"])
def test_path_is_found_composed_or_decomposed(tmp_path: Path, on_disk: str, typed: str) -> None:
    view = looking_at(tmp_path, {unicodedata.normalize(on_disk, "Kök/Café.png"): b"\xff"})
    assert view.content(unicodedata.normalize(typed, "Kök/Café.png")) == b"\xff"


@pytest.mark.parametrize("path", ["", "math", "../secret.md", ".obsidian/app.json", "hub.md"])
def test_what_is_not_listed_is_not_given(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.md").write_text("CANARY-OUT")
    with pytest.raises(DocumentVanished, match="holds no file at this path"):
        looking_at(tmp_path / "vault").content(path)


def inspection(monkeypatch: pytest.MonkeyPatch, source: FakeSource | Any) -> Inspection:  # noqa: ANN401 - any source
    monkeypatch.setattr(inspecting, "make_source", lambda settings: source)
    return Inspection(Settings())


def test_files_that_are_not_well_are_listed_with_their_state(monkeypatch: pytest.MonkeyPatch) -> None:
    source = FakeSource({"a.md": "a\n", "broken.md": "b\n", "clash.md": "c\n", "gone.md": "d\n"})
    source.hold_back("broken.md", "2 of its 3 parts are missing")
    source.conflict("clash.md", OtherVersion("clash.md", b"other\n"))
    source.remove("gone.md")
    files = list(inspection(monkeypatch, source).files(hashed=True, deleted=True))
    assert [(file.holding.path, file.holding.state, file.sha256 is None) for file in files] == [
        ("a.md", "ok", False),
        ("broken.md", "incomplete", True),
        ("clash.md", "conflicted", False),
        ("gone.md", "deleted", True),
    ]
    assert files[1].holding.problem == "2 of its 3 parts are missing"
    assert "gone.md" not in [
        file.holding.path for file in inspection(monkeypatch, source).files(hashed=True, deleted=False)
    ]


class LateSource(FakeSource):
    """Finds out only when it reads that files are not whole, or gone."""

    def holdings(self, *, deleted: bool = False) -> Any:  # noqa: ANN401 - as the fake's
        yield from [Holding(path, "1", 7) for path in ("broken.md", "gone.md", "whole.md")]


def test_file_that_turns_out_not_to_be_whole_is_listed_as_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    source = LateSource({"whole.md": "whole and longer\n"})
    source.hold_back("broken.md", "it cannot be decrypted")
    files = list(inspection(monkeypatch, source).files(hashed=True, deleted=False))
    assert [(file.holding.state, file.holding.problem, file.holding.size) for file in files] == [
        ("incomplete", "it cannot be decrypted", 7),
        ("incomplete", "it was gone when it was read", 7),
        ("ok", None, 17),
    ]


def test_file_that_is_not_whole_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    source = FakeSource({"a.md": "a\n"})
    source.hold_back("a.md", "it cannot be decrypted", b"CANARY-BEGIN")
    with pytest.raises(DocumentIncomplete, match=r"^This file cannot be given: it cannot be decrypted\.$"):
        inspection(monkeypatch, source).content("a.md")


def test_path_is_found_where_the_source_itself_spells_it_decomposed(monkeypatch: pytest.MonkeyPatch) -> None:
    decomposed = unicodedata.normalize("NFD", "Café.png")
    view = inspection(monkeypatch, FakeSource({decomposed: b"\x00"}))
    assert view.content("Café.png") == view.content(decomposed) == b"\x00"
    with pytest.raises(DocumentVanished):
        view.content("café.png")


def test_no_path_breaks_a_line_or_steers_the_terminal(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = 'a\nb\x1b[2J\x9b\u2028\u202e\ud83d "quoted" 👨\u200d👩.md'
    held = Held(Holding(path, "1", None, "incomplete", "half a letter: \udc00"))
    print_files([held], as_json=True, at_once=False)
    told = capfdbinary.readouterr().out.decode()
    assert len(told.splitlines()) == 1
    assert json.loads(told)["path"] == path
    assert "👨\u200d👩.md" in told
    print_files([held], as_json=False, at_once=False)
    said = capfdbinary.readouterr()
    assert said.err == b"1 file, of them 1 incomplete.\n"
    line = said.out.decode()
    assert line == (
        '          -  a\\u000ab\\u001b[2J\\u009b\\u2028\\u202e\\ud83d "quoted" 👨\u200d👩.md  '
        "(incomplete: half a letter: \\udc00)\n"
    )


def test_closed_file_is_listed_and_not_given(tmp_path: Path) -> None:
    vault = write(tmp_path, {"a.png": "a", "b.png": "b"})
    view = Inspection(Settings(vault=VaultSettings(path=vault)))
    (vault / "a.png").chmod(0)
    with without_privileges():
        files = list(view.files(hashed=True, deleted=False))
        with pytest.raises(DocumentIncomplete, match="it cannot be opened"):
            view.content("a.png")
    (vault / "a.png").chmod(stat.S_IRUSR)
    assert [(file.holding.state, file.sha256 is None) for file in files] == [("incomplete", True), ("ok", False)]
