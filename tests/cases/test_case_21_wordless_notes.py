"""Case 21: a note of marks alone is found by its name, and no mark is quoted as if it answered."""

from collections.abc import Iterator

import pytest

from cases.small_vaults import OPEN, ask, indexed
from vault_ask.composition.library import Library

WORDLESS = {
    "Dash.md": "---\n",
    "Rules.md": "***\n\n---\n___\n",
    "Heads.md": "#\n##\n",
    "Table.md": "| | |\n|---|---|\n| | |\n",
    "Box.md": "- [ ] \n* [ ]\n",
    "Frame.md": "```\n```\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    library = indexed(tmp_path_factory.mktemp("marks"), {**WORDLESS, "Goals 🎯.md": "🎯\n", "Pear.md": "a ripe pear\n"})
    yield library
    library.close()


@pytest.mark.parametrize("path", WORDLESS)
def test_a_note_without_a_word_is_found_by_its_name_and_quoted_by_no_mark(library: Library, path: str) -> None:
    name = path.removesuffix(".md").lower()
    assert library.retrieve(name, scope=OPEN, arm="text").hits[0].path == path
    answer = ask(library, name)
    assert answer.citations == ()
    assert "“" not in answer.answer


@pytest.mark.parametrize(("question", "quote"), [("goals", "“🎯” [1]"), ("pear", "“a ripe pear” [1]")])
def test_a_word_or_a_picture_is_quoted(library: Library, question: str, quote: str) -> None:
    assert ask(library, question).answer.startswith(quote)
