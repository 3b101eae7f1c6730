"""`vault-ask source` over every database that was recorded from the real plugin, on both servers."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from cli.commands import Commands
from couch_servers import DUMPS, CouchServer, expected_files, load_dump

MODES = ["plain", "compress", "delmeta", "v1", "v1dyn", "v1dynobf", "forcev1obf", "v2", "v2obf", "v2obfz"]
PASSPHRASES = {"v1dyn": "kısa😀pw", "v1dynobf": "a-long-enough-passphrase"}
THE_USUAL = "passphrase-şifre-😀"
HANDMADE = {"Eden.md": "eden A\neden😀 R", "Folder/Empty Eden.md": " R"}
BY_HAND = {
    "extra_plain": HANDMADE | {"legacy.md": "legacy", "nopath.md": " R"},
    "extra_v1": HANDMADE,
    "extra_v2": HANDMADE,
    "casesens": {
        "conflict.md": "from A\n",
        "rebased.md": "v2\n",
        "renamed/new name.md": "to be renamed, with some content\n",
    },
}

pytestmark = pytest.mark.skipif(not DUMPS.is_dir(), reason="the recorded databases lie beside the repository")


def source(folder: Path, server: CouchServer, name: str, *arguments: str) -> bytes:
    with load_dump(server.url, name) as database:
        environment = {
            "VAULTASK_VAULT__COUCHDB__URL": server.url,
            "VAULTASK_VAULT__COUCHDB__DATABASE": database.name,
            "VAULTASK_VAULT__COUCHDB__PASSPHRASE": PASSPHRASES.get(name, THE_USUAL),
        }
        done = Commands(folder, environment=environment).run("source", *arguments)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout


def listed(written: bytes) -> dict[str, dict[str, object]]:
    return {row["path"]: row for row in map(json.loads, written.decode().splitlines())}


@pytest.mark.parametrize("name", MODES)
def test_a_recorded_database_holds_exactly_its_files(tmp_path: Path, couch_server: CouchServer, name: str) -> None:
    rows = listed(source(tmp_path, couch_server, name, "ls", "--json", "--hash"))
    files, conflicted = expected_files(name)["files"], expected_files(name)["conflicted"]
    assert {path: row["sha256"] for path, row in rows.items() if path not in conflicted} == files
    assert {path for path, row in rows.items() if row["state"] == "conflicted"} == set(conflicted)
    assert all(rows[path]["sha256"] in either for path, either in conflicted.items())
    assert {row["state"] for path, row in rows.items() if path in files} == {"ok"}


@pytest.mark.parametrize("name", BY_HAND)
def test_older_forms_and_case_sensitive_ids_are_read(tmp_path: Path, couch_server: CouchServer, name: str) -> None:
    rows = listed(source(tmp_path, couch_server, name, "ls", "--json", "--hash"))
    wanted = {path: sha256(text.encode()).hexdigest() for path, text in BY_HAND[name].items()}
    assert {path: row["sha256"] for path, row in rows.items()} == wanted


def test_deleted_files_are_told_when_asked_for(tmp_path: Path, couch_server: CouchServer) -> None:
    rows = listed(source(tmp_path, couch_server, "v2obf", "ls", "--json", "--deleted"))
    deleted = {path for path, row in rows.items() if row["state"] == "deleted"}
    assert deleted == set(expected_files("v2obf")["deleted"])
    assert set(rows) - deleted == {*expected_files("v2obf")["files"], *expected_files("v2obf")["conflicted"]}


def test_an_attachment_comes_out_byte_by_byte(tmp_path: Path, couch_server: CouchServer) -> None:
    written = source(tmp_path, couch_server, "v2obfz", "cat", "img/tiny.bin")
    assert sha256(written).hexdigest() == expected_files("v2obfz")["files"]["img/tiny.bin"]
