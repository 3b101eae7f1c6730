"""Case 29: whatever form a mention has, a hidden note and a note that is not there are spoken of in the same words."""

from collections.abc import Iterator

import pytest

from cases.small_vaults import ask, indexed
from fakes import ScriptedGenerator
from vault_ask.composition.library import Library

HIDDEN = {
    "Own/Session log.md": "CANARYLOG log\n^b1\n",
    "Own/Board.canvas": '{"nodes": [{"id": "1", "type": "text", "text": "CANARYCARD log"}], "edges": []}',
    "Own/Åsa & co.md": "---\naliases: [CANARYALIAS]\n---\nCANARYASA log\n",
    "Own/v1.2 plan.md": "CANARYPLAN log\n",
    "Own/日記.md": "CANARYDIARY log\n",
}
PLAIN = {"Plain.md": "a plain note of the log\n"}
MENTIONS = [
    "[[Own/Session log|my log]]",
    "[[session LOG#Part#Sub]]",
    "[[SESSION LOG^b1]]",
    "[[Own/Session%20log]]",
    "![[Own/Board.canvas]]",
    "[[Åsa & co]] [[v1.2 plan]]",
    "[[日記]]",
    "日記.md",
    "Board.canvas",
    "/Own/Session log.md",
    "“Session log.md”",
    "«Session log.md»",
    "Own/Session\u00a0log.MD",
    "[log](Own/Session%20log)",
    "![log](<Own/Session log.md>)",
    "file:///home/me/vault/Own/Session%20log.md",
    "obsidian://open?vault=vault&file=Session+log",
    "obsidian://vault/vault/Own/Session%20log",
]
SILENT = ["the session log", "Own\\Session log", "[[Plain]]", "@Session log", "Own/"]


@pytest.fixture(scope="module", params=["hidden", "absent"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    notes = {**PLAIN, **(HIDDEN if request.param == "hidden" else {})}
    generator = ScriptedGenerator("It is plain [1].")
    library = indexed(tmp_path_factory.mktemp("mentions"), notes, personal_paths=["Own/**"], generator=generator)
    yield library
    assert "CANARY" not in repr(generator.prompts)
    library.close()


@pytest.mark.parametrize("mention", MENTIONS)
def test_a_note_that_took_no_part_is_told_of_whether_it_is_hidden_or_absent(library: Library, mention: str) -> None:
    answer = ask(library, f"what of the log in {mention} ?")
    assert answer.notices
    assert all(notice.startswith("Nothing from “") for notice in answer.notices)
    assert "CANARY" not in answer.model_dump_json()
    assert [source.path for source in answer.sources] == ["Plain.md"]


@pytest.mark.parametrize("words", SILENT)
def test_words_that_name_no_note_or_one_that_took_part_are_not_told_of(library: Library, words: str) -> None:
    answer = ask(library, f"what of the log in {words} ?")
    assert answer.notices == ()
    assert "CANARY" not in answer.model_dump_json()
    assert {source.path for source in answer.sources} <= {"Plain.md"}
