"""Case 29: a personal note that is named takes no part in an open answer, and the asker is told how to include it."""

import time
from pathlib import Path

import pytest

from cases.small_vaults import PRIVATE, ask, indexed
from fakes import ScriptedGenerator
from vault_ask.answering.mentions import unmet_mentions

NOTES = {"Own/Session log.md": "CANARYLOG sorrow\n^b1\n", "Plain.md": "a plain note of the log\n"}


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("Sum up [[Own/Session log]] and look around", None),
        ("[[session LOG]] + newest research?", None),
        ("Use ![[Own/Session log#^b1]] for the log", None),
        ("Read the file Own/Session log.md", None),
        ("Read the file OWN/SESSION LOG.MD", None),
        ("What says [this log](Own/Session%20log.md)?", None),
        ("log of obsidian://open?vault=vault&file=Own%2FSession%20log", None),
        ("explain this log and search", "Own/Session log.md"),
    ],
)
def test_a_named_personal_note_is_left_out_and_told(tmp_path: Path, question: str, note: str | None) -> None:
    generator = ScriptedGenerator("It is plain [1].")
    library = indexed(tmp_path, NOTES, personal_paths=["Own/**"], generator=generator)
    answer = ask(library, question, note=note)
    assert "CANARYLOG" not in answer.model_dump_json()
    assert "CANARYLOG" not in repr(generator.prompts)
    assert any("ask again with personal notes included" in notice for notice in answer.notices)
    private = ask(library, question, PRIVATE, note=note)
    assert "CANARYLOG" in private.model_dump_json()


def test_mentions_in_a_text_of_a_hundred_thousand_letters_are_found_quickly() -> None:
    started = time.process_time()
    assert unmet_mentions("a " * 50_000 + "see Own/Log.md", None, []) != ()
    assert time.process_time() - started < 5
