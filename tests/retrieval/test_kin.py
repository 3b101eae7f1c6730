"""Kin: a rare name in common joins two notes, whatever else they say, and notes out of sight have no part in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes import HashEmbedder
from vault_ask.retrieval.kin import MOST_KIN, RARE, kin_of
from vault_building import OPEN, PRIVATE, Building

QUESTION = "which film was shown at the spring party"
FILM = "The film shown at the spring party had Ilse Quarnholm in it.\n"
OTHERS = {f"Other {n}.md": f"The roof has tile number {n}, of good clay and well kept.\n" for n in range(60)}


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    built = Building(tmp_path, HashEmbedder(dimension=384))
    built.put(OTHERS)
    yield built
    built.close()


def kin(building: Building, question: str = QUESTION, *, of: str = "Film.md", scope: object = PRIVATE) -> list[str]:
    with building.open(scope) as view:
        query = building.retriever().queries.read(view, question)
        passages = list(view.text.passages(view.chunks.of(of)).values())
        return list(kin_of(view, passages, query)[of])


def test_a_note_that_no_link_leads_to_is_found_by_a_rare_name_that_the_best_one_says(building: Building) -> None:
    building.put({"Film.md": FILM, "Wife.md": "Quarnholm married a baker from Ystad.\n"})
    with building.open(PRIVATE) as view:
        found = building.retriever(vector_k=8, text_k=8).retrieve(view, QUESTION)
    hits = {hit.path: hit for hit in found.hits}
    assert hits["Film.md"].via is None
    assert hits["Wife.md"].trace["links"] > 0


def test_who_shares_more_names_is_nearer_of_kin(building: Building) -> None:
    building.put({"Film.md": FILM, "One.md": "On Quarnholm.\n", "Both.md": "On Ilse Quarnholm.\n"})
    assert kin(building) == ["Both.md", "One.md"]


def test_a_name_that_many_passages_say_joins_nothing(building: Building) -> None:
    building.put({"Film.md": FILM} | {f"Q{n}.md": f"Quarnholm paid bill {n}.\n" for n in range(RARE - 1)})
    assert len(kin(building)) == MOST_KIN
    building.put({"One more.md": "Quarnholm paid at last.\n"})
    assert kin(building) == []


@pytest.mark.parametrize(
    ("said", "also_said", "joins"),
    [
        ("a quarnholm stood there", "the quarnholm fell over", False),
        ("they paid 1987 crowns", "in 1987 it rained", False),
        (
            "a day of \N{UMBRELLA ON GROUND}\N{VARIATION SELECTOR-16} and wine",
            "\N{UMBRELLA ON GROUND}\N{VARIATION SELECTOR-16} again",
            False,
        ),
        ("bill 20190441 was paid", "see 20190441 for the rest", True),
        ("放映了科恩霍尔姆的片子", "科恩霍尔姆住在海边", True),
    ],
    ids=["a word in lower case", "a year", "an emoji", "a long number", "a script without case"],
)
def test_names_join_and_other_words_do_not(building: Building, said: str, also_said: str, *, joins: bool) -> None:
    building.put({"Film.md": f"{said}, and so did Ilse.\n", "Far.md": f"{also_said}.\n", "Ilse.md": "Ilse sings.\n"})
    assert set(kin(building)) == ({"Far.md", "Ilse.md"} if joins else {"Ilse.md"})


def test_what_says_a_name_of_the_question_is_found_anyway_and_is_no_kin(building: Building) -> None:
    building.put({"Film.md": FILM, "Wife.md": "Quarnholm married a baker.\n", "Ilse.md": "Ilse sings.\n"})
    assert kin(building, "which film had Quarnholm") == ["Ilse.md"]


def test_kin_is_looked_for_within_the_filters(building: Building) -> None:
    outside = {f"Q{n}.md": "Quarnholm! Quarnholm!\n" for n in range(MOST_KIN)}
    building.put({"Area/Film.md": FILM, "Area/Long.md": f"{'Much else. ' * 40}Quarnholm.\n", **outside})
    assert kin(building, f"path:Area/ {QUESTION}", of="Area/Film.md") == ["Area/Long.md"]


def test_hidden_notes_are_no_kin_and_make_no_name_common(building: Building) -> None:
    building.put({"Film.md": FILM, "Wife.md": "Quarnholm married a baker.\n"})
    hidden = {f"Private/Q{n}.md": f"Quarnholm paid bill {n}.\n" for n in range(RARE)}
    building.put(hidden)
    assert kin(building, scope=OPEN) == ["Wife.md"]
    assert kin(building) == [], "the owner sees that the name is common"
