"""Case 2: a note stays closed where a tool puts a block, or git a conflict, above the one that names it personal.

(basicmachines-co/basic-memory#1171, #528)
"""

from pathlib import Path

import pytest

from cases.small_vaults import OPEN, PRIVATE, indexed
from vault_ask.scope import Sensitivity

PERSONAL = "---\nsensitivity: personal\ntitle: x\n---\n"
ABOVE = {
    "a block of a tool": "---\npermalink: notes/a\n---\n\n",
    "a block right above": "---\npermalink: notes/a\n---\n",
    "an empty block": "---\n---\n\n",
    "two blocks": "---\na: 1\n---\n\n---\nb: 2\n---\n\n",
    "a conflict": "<<<<<<< HEAD\n",
    "a title": "# Title\n\n",
    "a comment": "%% clipped %%\n",
    "a mark of direction": "\u200e",
}
TEXT = {
    "rules around text": "---\na: 1\n---\n\n---\n\nThe sensitivity: personal.\n\n---\n",
    "a block of another key": "---\na: 1\n---\n\n---\nb: 2\n---\n",
}


@pytest.mark.parametrize("above", ABOVE)
def test_a_block_that_names_the_note_personal_counts_below_another(tmp_path: Path, above: str) -> None:
    library = indexed(tmp_path, {"A.md": f"{ABOVE[above]}{PERSONAL}CANARY of the sloe\n", "B.md": "a sloe\n"})
    assert {hit.path for hit in library.retrieve("CANARY sloe", scope=OPEN).hits} == {"B.md"}
    assert {hit.path for hit in library.retrieve("CANARY sloe", scope=PRIVATE).hits} == {"A.md", "B.md"}
    assert [problem.path for problem in library.describe(Sensitivity.PERSONAL).problems] == ["A.md"]
    library.close()


@pytest.mark.parametrize("text", TEXT)
def test_text_below_rules_closes_nothing(tmp_path: Path, text: str) -> None:
    library = indexed(tmp_path, {"A.md": f"{TEXT[text]}plain word of the sloe\n"})
    assert {hit.path for hit in library.retrieve("sloe", scope=OPEN).hits} == {"A.md"}
    library.close()
