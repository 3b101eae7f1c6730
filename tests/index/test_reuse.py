"""A vector goes from one path to another only with a text of its own, and never from a hidden note to an open one."""

from pathlib import Path

import pytest

from fakes import HashEmbedder
from vault_building import Building

LONG = "quince and medlar stand behind the shed since the spring of the flood\n"


@pytest.mark.parametrize("text", [LONG, "", "- [ ] \n"], ids=["text", "empty", "template"])
@pytest.mark.parametrize("is_gone", [False, True], ids=["beside", "deleted"])
def test_an_open_note_has_nothing_of_a_hidden_one_with_the_same_text(
    tmp_path: Path, embedder: HashEmbedder, text: str, *, is_gone: bool
) -> None:
    both, alone = Building(tmp_path / "both", embedder), Building(tmp_path / "alone", embedder)
    both.put({"Private/Lawyer for the divorce.md": text})
    if is_gone:
        both.put({}, gone=["Private/Lawyer for the divorce.md"])
    for building in (both, alone):
        building.put({"Garden.md": text})
    assert both.vectors_of("Garden.md") == alone.vectors_of("Garden.md") != []
    both.close()
    alone.close()


def test_a_note_of_a_template_has_the_vector_of_its_own_title(building: Building, embedder: HashEmbedder) -> None:
    building.put({"Tax return.md": "- [ ] \n"})
    embedder.embedded.clear()
    building.put({"Sourdough bread.md": "- [ ] \n"})
    assert len(embedder.embedded) == 1
    assert building.vectors_of("Sourdough bread.md") != building.vectors_of("Tax return.md")


def test_an_empty_note_that_is_named_at_last_has_the_vector_of_its_name(
    building: Building, embedder: HashEmbedder
) -> None:
    building.put({"Untitled.md": ""})
    building.put({"Sourdough bread.md": ""}, gone=["Untitled.md"])
    assert "Sourdough bread" in embedder.embedded[-1]


def test_an_open_note_that_is_hidden_on_its_way_out_gives_its_vectors_to_its_new_path(
    building: Building, embedder: HashEmbedder
) -> None:
    building.put({"Old.md": LONG})
    building.writer.hide(["Old.md"])
    embedder.embedded.clear()
    building.put({"New.md": LONG})
    assert embedder.embedded == []
    building.put({}, gone=["Old.md", "New.md"])
    building.put({"Newest.md": LONG})
    assert embedder.embedded == []
    assert len(building.vectors_of("Newest.md")) == 1


def test_a_hidden_note_that_becomes_open_at_a_new_path_is_embedded_anew(
    building: Building, embedder: HashEmbedder
) -> None:
    building.put({"Private/Old.md": LONG})
    embedder.embedded.clear()
    building.put({"New.md": LONG}, gone=["Private/Old.md"])
    assert len(embedder.embedded) == 1
    assert len(building.vectors_of("New.md")) == 1
