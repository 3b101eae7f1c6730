"""The record names every note whose name was shown, those of the same text and those that led there as well."""

import json
from collections.abc import Iterator

import pytest

from cases.small_vaults import OPEN, PRIVATE, ask, indexed
from vault_ask.composition.library import Library

RENT = "The rent of the flat in Lund is 9200 a month.\n"
NOTES = {"Home/Rent.md": RENT, "Copies/Rent.md": RENT, "Private/Rent.md": RENT, "Heat.md": "The heating costs 300.\n"}


@pytest.fixture
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    library = indexed(tmp_path_factory.mktemp("named"), NOTES, personal_paths=["Private/**"])
    yield library
    library.close()


def recorded(library: Library) -> list[list[str]]:
    lines = (library.settings.data / "audit" / "audit.jsonl").read_text(encoding="ascii").splitlines()
    return [json.loads(line)["notes"] for line in lines]


def test_the_notes_of_the_same_text_are_recorded_of_an_answer_and_of_a_search(library: Library) -> None:
    answer = ask(library, "What is the rent of the flat?", PRIVATE)
    found = library.search_now("rent of the flat", scope=PRIVATE, k=3, arm="hybrid")
    copies = {"Home/Rent.md", "Copies/Rent.md", "Private/Rent.md"}
    for shown, kept in zip((answer.sources, found.hits), recorded(library), strict=True):
        assert {shown[0].path, *shown[0].also} == copies
        assert copies <= set(kept)
        assert len(kept) == len(set(kept))


def test_what_is_hidden_is_named_neither_to_the_reader_nor_in_the_record(library: Library) -> None:
    answer = ask(library, "What is the rent of the flat?", OPEN)
    assert {answer.sources[0].path, *answer.sources[0].also} == {"Home/Rent.md", "Copies/Rent.md"}
    assert "Private/Rent.md" not in recorded(library)[0]
    assert "Copies/Rent.md" in recorded(library)[0]
