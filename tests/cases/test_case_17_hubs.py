"""Case 17: one hop from the note that answers half of a question finds the other half, and a hub floods nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes import HashEmbedder
from vault_ask.answering.searching import search_response
from vault_ask.retrieval.hits import Retrieved
from vault_ask.settings.retrieval import GraphSettings
from vault_building import PRIVATE, Building

QUESTION = "How deep is the garden well and what pressure does its pump need?"
PLACES = 2


def notes(linked: int) -> dict[str, str]:
    links = "\n".join(f"- [[N{number:03}]]" for number in range(1, linked + 1))
    plain = {f"N{number:03}.md": f"note {number} #daily\n" for number in range(1, 401)}
    return {
        **plain,
        "Index.md": f"index of everything about gardens\n\n{links}\n",
        "N217.md": "The garden well is 14 metres deep [[Pump]] #daily\n",
        "Pump.md": "The pump needs 0.8 bar\n",
    }


@pytest.fixture(params=[400, 10], ids=["a hub of 400 links", "one of 10"])
def built(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Building]:
    building = Building(tmp_path, HashEmbedder(dimension=384))
    building.put(notes(request.param))
    yield building
    building.close()


def ask(building: Building, *, enabled: bool = True) -> Retrieved:
    graph = GraphSettings(enabled=enabled, places=PLACES)
    with building.open(PRIVATE) as view:
        return building.retriever(parts={"graph": graph}).retrieve(view, QUESTION)


def test_both_halves_are_found_and_few_came_through_a_link(built: Building) -> None:
    found = ask(built)
    assert {"N217.md", "Pump.md"} <= {hit.path for hit in found.hits[:4]}
    assert sum(hit.provenance == "expanded" for hit in found.hits) <= PLACES
    assert len(found.hits) <= 8


def test_a_search_tells_which_notes_link_led_to_a_hit(built: Building) -> None:
    found = ask(built)
    told = search_response(lambda: found, lambda: "Vault").hits
    assert [(hit.path, hit.provenance, hit.via) for hit in told] == [
        (hit.path, hit.provenance, hit.via) for hit in found.hits
    ]
    assert all(hit.via for hit in told if hit.provenance == "expanded")


def test_a_link_alone_leads_to_a_hit_of_a_search(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put({"Well.md": "The garden well is 14 metres deep [[Grundfos]]\n", "Grundfos.md": "Null Komma acht\n"})
    with building.open(PRIVATE) as view:
        found = building.retriever().retrieve(view, "how deep is the garden well")
    told = search_response(lambda: found, lambda: "Vault").hits
    assert [(hit.path, hit.via) for hit in told] == [("Well.md", None), ("Grundfos.md", "Well.md")]
    building.close()


def test_what_was_found_best_without_links_is_found_with_them(built: Building) -> None:
    without, whole = ask(built, enabled=False), ask(built)
    best = [hit.chunk_id for hit in without.hits][: 8 - PLACES]
    assert len(best) == 8 - PLACES
    assert set(best) <= {hit.chunk_id for hit in whole.hits}
