"""The same passage in two notes takes one place, and names both; what only looks alike keeps its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes import HashEmbedder
from vault_ask.retrieval.hits import Retrieved
from vault_building import OPEN, PRIVATE, Building, made_by_hand

TEXT = "The boiler is bled every autumn, from the top floor down, with the pump switched off for ten minutes first."


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    built = Building(tmp_path, HashEmbedder(dimension=384))
    yield built
    built.close()


def ask(building: Building, *, scope: object = PRIVATE) -> Retrieved:
    with building.open(scope) as view:
        return building.retriever().retrieve(view, "when is the boiler bled")


def found(building: Building, **how: object) -> dict[str, set[str]]:
    return {hit.path: set(hit.also) for hit in ask(building, **how).hits}


def test_a_copy_at_another_path_is_named_by_the_hit_and_takes_no_place(building: Building) -> None:
    building.put({"Boiler.md": f"{TEXT}\n", "Archive/Boiler.md": f"{TEXT}\n", "Heat.md": "The boiler heats.\n"})
    hits = found(building)
    assert len(hits) == 2
    assert {path for path, also in hits.items() for path in (path, *also)} == {
        "Boiler.md",
        "Archive/Boiler.md",
        "Heat.md",
    }


def test_a_copy_with_an_edit_is_the_same_and_one_with_other_figures_in_few_words_is_not(building: Building) -> None:
    building.put({"A.md": f"{TEXT}\n", "B.md": f"{TEXT} Really.\n"})
    building.put({"C.md": "The boiler was bled on Monday.\n", "D.md": "The boiler was bled on Friday.\n"})
    hits = found(building)
    assert {frozenset((path, *also)) for path, also in hits.items()} == {
        frozenset({"A.md", "B.md"}),
        frozenset({"C.md"}),
        frozenset({"D.md"}),
    }


def test_a_conflict_copy_is_folded_however_short_it_is_and_two_short_notes_are_not(building: Building) -> None:
    conflict = "Boiler.sync-conflict-20260102-030405-ABCDEFG.md"
    building.put({"Boiler.md": "Boiler bled.\n", conflict: "Boiler bled.\n", "Log.md": "Boiler bled.\n"})
    assert {frozenset((path, *also)) for path, also in found(building).items()} == {
        frozenset({"Boiler.md", conflict}),
        frozenset({"Log.md"}),
    }


def test_the_same_words_in_another_language_are_no_copy(building: Building) -> None:
    building.store([made_by_hand("A.md", TEXT), made_by_hand("B.md", TEXT, language="nl")])
    assert found(building) == {"A.md": set(), "B.md": set()}


def test_a_hidden_copy_is_not_named(building: Building) -> None:
    building.put({"Boiler.md": f"{TEXT}\n", "Private/Boiler.md": f"{TEXT}\n"})
    assert found(building, scope=OPEN) == {"Boiler.md": set()}
    assert {path for path, also in found(building).items() for path in (path, *also)} == {
        "Boiler.md",
        "Private/Boiler.md",
    }
