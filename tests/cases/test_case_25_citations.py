"""Case 25: a model's links and numbers are worth what its context holds; a small vault's other notes are not in it."""

from pathlib import Path

import pytest

from cases.small_vaults import ask, indexed
from fakes import ScriptedGenerator
from vault_ask.providers.embedded import EmbeddedEmbedder

NOTES = {"House/Fee.md": "The fee is 310 from June\n", "Else.md": "nothing of it\n", "Own/Debt.md": "hidden debt\n"}
REPLY = (
    "The fee is 310 [[Fee]]. See [[Made up]], [[Else]], [[Own/Debt]] and [[House/Fee#No such part|here]]. "
    "Oslo is in Norway [[Atlas]] [7]."
)


@pytest.mark.parametrize("size", [1, 3, 8, 400])
def test_only_the_note_that_was_given_is_cited_however_the_reply_is_cut(
    tmp_path: Path, embedder: EmbeddedEmbedder, size: int
) -> None:
    pieces = [REPLY[at : at + size] for at in range(0, len(REPLY), size)]
    generator = ScriptedGenerator(*pieces)
    library = indexed(tmp_path, NOTES, embedder=embedder, personal_paths=["Own/**"], generator=generator)
    answer = ask(library, "what is the fee?")
    assert [source.path for source in answer.sources] == ["House/Fee.md"]
    assert [excerpt.path for excerpt in generator.prompts[0].excerpts] == ["House/Fee.md"]
    assert {citation.path for citation in answer.citations} == {"House/Fee.md"}
    assert answer.answer == (
        "The fee is 310 [1]. See Made up, Else, Own/Debt and here [1]. Oslo is in Norway Atlas."
    ).replace("  ", " ")
