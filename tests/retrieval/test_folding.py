"""The same passage in two notes takes one place, and names both; what only looks alike keeps its own."""

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
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


def test_a_note_that_differs_in_a_word_is_another_one(building: Building) -> None:
    building.put({"A.md": f"{TEXT} It cost 80.\n", "B.md": f"{TEXT} It cost 90.\n"})
    assert found(building) == {"A.md": set(), "B.md": set()}


def test_the_same_list_on_another_day_is_another_one(building: Building) -> None:
    first, second = (made_by_hand(f"2026-03-0{day}.md", TEXT) for day in (1, 2))
    days = [date(2026, 3, day).toordinal() for day in (1, 2)]
    dated = [
        replace(draft, chunks=tuple(replace(chunk, days=(day, day)) for chunk in draft.chunks))
        for draft, day in zip((first, second), days, strict=True)
    ]
    building.store(dated)
    assert found(building) == {"2026-03-01.md": set(), "2026-03-02.md": set()}


def test_an_edited_conflict_copy_stands_behind_its_original_however_well_it_fits(building: Building) -> None:
    copy = "Boiler (conflicted copy 2026-11-20).md"
    building.put({"Boiler.md": f"{TEXT}\n", copy: f"{TEXT} When: boiler bled.\n"})
    hits = ask(building).hits
    assert [(hit.path, hit.also) for hit in hits] == [("Boiler.md", (copy,))]
    assert math.isclose(sum(hits[0].trace.values()), hits[0].score)


def test_many_copies_take_one_place(building: Building) -> None:
    building.put({f"Copies/{n}.md": f"{TEXT}\n" for n in range(40)})
    building.put({"Other.md": "The boiler was bled by Anna.\n"})
    hits = found(building)
    assert set(hits) >= {"Other.md"}
    assert len(hits) == 2


@pytest.mark.parametrize(("note", "other"), [("Boiler.md", "Archive/Boiler.md"), ("Archive/Boiler.md", "Boiler.md")])
def test_the_note_in_question_is_not_folded_into_another_one(building: Building, note: str, other: str) -> None:
    building.put({"Boiler.md": f"{TEXT}\n", "Archive/Boiler.md": f"{TEXT}\n", "Heat.md": "The boiler heats.\n"})
    with building.open(PRIVATE) as view:
        hits = building.retriever().retrieve(view, "when is the boiler bled", note=note).hits
    assert (hits[0].path, hits[0].in_question, hits[0].also) == (note, True, (other,))


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
