"""Patterns that leave nothing out of a folder are found by names alone."""

from pathlib import Path

import pytest

from vault_ask.sources.leaving_out import idle_exclusions


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("Archive/Old.md", "Assets/plan.png", "Now.md", ".trash/Gone.md", "Ärende/Brev.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x", encoding="utf-8")
    return tmp_path


def test_a_pattern_is_idle_where_no_file_and_no_folder_matches_it(root: Path) -> None:
    fits = ["Archive", "archive/**", "Assets/", "**/*.png", ".trash/**", "A\u0308rende/", "Now.md"]
    slips = ["Archiv", "Asets/**", "**/*.jpg"]
    assert idle_exclusions(root, [*fits, *slips]) == slips
    assert idle_exclusions(root, ()) == []


def test_a_folder_that_is_not_there_leaves_nothing_out(root: Path) -> None:
    assert idle_exclusions(root / "nowhere", ["Archive"]) == ["Archive"]
