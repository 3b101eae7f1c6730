"""Case 34: a link is as personal as what it leads to, nothing outside the vault is read, and no pipe or loop blocks."""

import os
from pathlib import Path

import pytest

from cases.small_vaults import OPEN, PRIVATE, indexed
from vault_ask.scope import Sensitivity

NOTES = {"Own/a.md": "CANARYS sloe\n", "Work/w.md": "sloe wine\n"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "vault/Work").mkdir(parents=True)
    (tmp_path / "vault/Own").mkdir()
    for name, target in (("alias.md", "../Own/a.md"), ("out.md", "/etc/hostname"), ("loop", "..")):
        (tmp_path / "vault/Work" / name).symlink_to(target)
    os.mkfifo(tmp_path / "vault/Work/pipe.md")
    return tmp_path


@pytest.mark.timeout(30)
@pytest.mark.parametrize("rules", [{"personal_paths": ["Own/**"]}, {"personal_paths": ["Own (*)"]}])
def test_each_file_is_indexed_once_and_a_link_to_a_personal_note_shows_nothing(
    folder: Path, rules: dict[str, list[str]]
) -> None:
    library = indexed(folder, NOTES, **rules)
    with library.index.open(PRIVATE) as view:
        assert view.notes.paths() == ["Own/a.md", "Work/w.md"]
    with library.index.open(OPEN) as view:
        is_closed = rules["personal_paths"] == ["Own/**"]
        assert view.notes.paths() == (["Work/w.md"] if is_closed else ["Own/a.md", "Work/w.md"])
    problems = {problem.path: problem.message for problem in library.describe(Sensitivity.PERSONAL).problems}
    assert "leads out of the vault" in problems["Work/out.md"]
    assert "Work/pipe.md" in problems
    found = library.retrieve("CANARYS sloe", scope=OPEN)
    assert ("CANARYS" in repr(found.hits)) is not is_closed
    assert "Work/w.md" in {hit.path for hit in found.hits}
