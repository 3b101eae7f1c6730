"""Case 27: every spelling of a personal folder closes it, none is dropped, and one that protects nothing is told."""

import json
from pathlib import Path

import pytest

from cases.conftest import Making
from cases.small_vaults import OPEN, PRIVATE, indexed
from vault_ask.scope import Sensitivity

NOTES = {
    "Locked/a.md": "CANARYA pear\n",
    "Locked/deep/b.md": "CANARYB pear\n",
    "locked/d.md": "CANARYD pear\n",
    "Locksmith/c.md": "open pear\n",
    "Work/Locked/e.md": "another open pear\n",
}
OPEN_NOTES = ["Locksmith/c.md", "Work/Locked/e.md"]


@pytest.mark.parametrize(
    "spelling", ["Locked", "Locked/", "/Locked/", "Locked/**", "Locked\\", "./Locked", "  Locked/** "]
)
def test_every_spelling_closes_the_folder_in_any_case_and_no_other(tmp_path: Path, spelling: str) -> None:
    library = indexed(tmp_path, NOTES, personal_paths=[spelling])
    for arm in ("text", "vector"):
        found = library.retrieve("pear CANARYA CANARYB CANARYD", scope=OPEN, k=20, arm=arm)
        assert sorted({hit.path for hit in found.hits}) == OPEN_NOTES
        assert "CANARY" not in repr(found.hits)
        everything = library.retrieve("pear", scope=PRIVATE, k=20, arm=arm)
        assert {hit.path for hit in everything.hits} == set(NOTES)
    status = library.describe(Sensitivity.PERSONAL)
    assert status.rules == {spelling.strip(): 3}
    assert not [warning for warning in status.warnings if "pattern" in warning]


def test_the_whole_vault_may_be_meant(tmp_path: Path) -> None:
    library = indexed(tmp_path, NOTES, personal_paths=["**"])
    assert library.retrieve("pear", scope=OPEN).hits == ()
    assert len(library.retrieve("pear", scope=PRIVATE, k=20).hits) == len(NOTES)


@pytest.mark.parametrize(("setting", "spelling"), [("personal_paths", "Loc[ked/**"), ("personal_tags", "")])
def test_a_spelling_that_cannot_be_read_stops_the_start_before_anything_is_indexed(
    commands: Making, setting: str, spelling: str
) -> None:
    made = commands(NOTES, config=f"sensitivity: {{{setting}: [{json.dumps(spelling)}]}}\n")
    said = made("index", "--no-embed")
    assert said.code != 0
    assert f"sensitivity.{setting} holds {spelling!r}" in said.err
    assert "CANARY" not in said.err
    assert not list(made.data.glob("*.sqlite"))


def test_a_pattern_that_matches_nothing_is_told_by_the_run_and_by_the_status(commands: Making) -> None:
    made = commands(NOTES, config='sensitivity: {personal_paths: ["Lokced"], personal_tags: ["lokced"]}\n')
    for said in (made("index", "--no-embed").err, made("status").out):
        assert "'Lokced' matches no note" in said
        assert "'#lokced' is on no note" in said
