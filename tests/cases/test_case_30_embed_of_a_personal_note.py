"""Case 30: a note that embeds a personal one shows nothing of it to an open question, also through a third note."""

from pathlib import Path

import pytest

from cases.small_vaults import OPEN, PRIVATE, ask, indexed
from fakes import HashEmbedder, ScriptedGenerator
from vault_ask.composition.library import Library

NOTES = {
    "Travel.md": "What is on the packing list: socks\n![[Sealed/Papers]]\n![[Sealed/Papers#Code|n]]\n",
    "Sealed/Papers.md": "# Code\nThe passport code is CANARYCODE 7712\n",
    "Chain.md": "The packing list again: ![[Travel]]\n",
}
QUESTIONS = ["What is on the packing list?", "What is my passport code?", "Show ![[Sealed/Papers]]", "CANARYCODE 7712"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_no_word_of_the_embedded_note_is_in_an_open_answer_or_prompt(tmp_path: Path, question: str) -> None:
    generator = ScriptedGenerator("Socks [1].")
    library = indexed(tmp_path, NOTES, personal_paths=["Sealed/**"], generator=generator)
    answer = ask(library, question)
    said = (answer.model_dump_json() + repr(generator.prompts)).replace(question, "")
    assert "CANARYCODE" not in said
    assert "7712" not in said
    assert "Travel.md" in {hit.path for hit in library.retrieve("packing list", scope=OPEN).hits}


def test_it_is_found_under_its_own_name_when_it_may_be(tmp_path: Path) -> None:
    library = indexed(tmp_path, NOTES, personal_paths=["Sealed/**"])
    answer = ask(library, "The passport code is what number?", PRIVATE)
    assert answer.sources[0].path == "Sealed/Papers.md"
    found = library.retrieve("passport code CANARYCODE", scope=PRIVATE)
    assert [hit.path for hit in found.hits if "CANARYCODE" in hit.body] == ["Sealed/Papers.md"]


def test_the_note_may_become_personal_later_without_reading_those_that_embed_it(tmp_path: Path) -> None:
    embedder = HashEmbedder(dimension=384)
    before = indexed(tmp_path, NOTES, embedder=embedder)
    assert "Sealed/Papers.md" in {hit.path for hit in before.retrieve("passport code", scope=OPEN).hits}
    embedder.embedded.clear()
    settings = before.settings.model_copy(
        update={"sensitivity": before.settings.sensitivity.model_copy(update={"personal_paths": ("Sealed",)})}
    )
    after = Library(settings, embedder)
    found = after.retrieve("passport code CANARYCODE", scope=OPEN)
    assert {hit.path for hit in found.hits} == {"Travel.md", "Chain.md"}
    assert "CANARYCODE" not in repr(found.hits)
    assert embedder.embedded == []
