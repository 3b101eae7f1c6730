"""A question about a note, asked of real daemons: a personal neighbour is not there, and nothing tells of it.

One vault holds personal notes that link to an open one, are linked to by it, or take its links by their name; the other
holds the open notes alone.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from adapters.doors import serving
from fakes import HashEmbedder, ScriptedGenerator
from journeys.houses import House, embedded
from vault_ask.composition.models import Models
from vault_ask.scope import Sensitivity
from waiting import PATIENCE

CROWD = {f"Crowd/{n}.md": f"the rent of house {n} {' '.join(f'c{n}x{m}' for m in range(20))}\n" for n in range(60)}
"""Enough notes on the rent of houses that no neighbour is among the nearest."""
OPEN = CROWD | {
    "Boat.md": "The boat needs a sail, see [[Harbour]], [[Debt]] and [[Plan]].\n",
    "Harbour.md": f"The berth is paid until May {' '.join(f'h{m}' for m in range(30))}\n",
    "Later/Plan.md": f"Sail in June {' '.join(f's{m}' for m in range(30))}\n",
    "Log.md": f"On Sunday we took the [[Boat]] out {' '.join(f'l{m}' for m in range(30))}\n",
}
PERSONAL = {
    "Own/Debt.md": f"canarybody [[Boat]] has cost {' '.join(f'd{m}' for m in range(30))}\n",
    "Own/Plan.md": f"canarybody is the plan {' '.join(f'p{m}' for m in range(30))}\n",
    "Marked.md": "---\nsensitivity: personal\n---\ncanarybody [[Boat]] again\n",
}
RENT = {"question": "rent of house", "k": 16}
MOVING = {"seconds", "score"}


@dataclass(frozen=True, slots=True)
class Served:
    """A vault behind two servers, one under each ceiling."""

    open: httpx.Client
    personal: httpx.Client


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    yield from served(House(tmp_path_factory.mktemp("full"), OPEN | PERSONAL, embedder=HashEmbedder(dimension=384)))


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    yield from served(House(tmp_path_factory.mktemp("bare"), OPEN, embedder=HashEmbedder(dimension=384)))


def served(house: House) -> Iterator[Served]:
    rules, embedding = {"personal_paths": ["Own/**"]}, {"ollama_url": "http://127.0.0.1:9", "centring": "off"}
    with house.daemon(sensitivity=rules, embedding=embedding) as daemon:
        embedded(daemon)
        with (
            serving(daemon, ceiling=Sensitivity.OPEN) as strict,
            serving(daemon, ceiling=Sensitivity.PERSONAL) as wide,
            httpx.Client(base_url=strict, timeout=PATIENCE) as open_,
            httpx.Client(base_url=wide, timeout=PATIENCE) as personal,
        ):
            yield Served(open_, personal)


def asked(client: httpx.Client, note: str, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - a body's fields
    answer = client.post("/api/ask", json={**RENT, "note": note, **more}, headers={"Accept": "application/json"})
    assert answer.status_code == 200
    told: dict[str, Any] = answer.json()
    return told


def ways(answer: dict[str, Any]) -> dict[str, str]:
    return {source["path"]: source["via"] for source in answer["sources"] if source["provenance"] == "expanded"}


def still(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, list):
        return [still(item) for item in value]
    return {key: still(item) for key, item in value.items() if key not in MOVING} if isinstance(value, dict) else value


def test_neighbours_are_told_with_the_note_that_led_to_them(full: Served) -> None:
    answer = asked(full.personal, "boat")
    assert answer["sources"][0]["path"] == "Boat.md"
    assert ways(answer) == dict.fromkeys(("Harbour.md", "Later/Plan.md", "Log.md"), "Boat.md")


def test_personal_neighbours_take_part_with_the_switch_alone(full: Served) -> None:
    answer = asked(full.personal, "Boat.md", include_personal=True, k=40)
    assert {"Own/Debt.md", "Own/Plan.md", "Marked.md"} <= set(ways(answer))
    assert {source["personal"] for source in answer["sources"] if source["path"] in PERSONAL} == {True}
    refused = asked(full.open, "Boat.md", include_personal=True, k=40)
    assert "canarybody" not in json.dumps(refused)
    assert "Harbour.md" in ways(refused)


@pytest.mark.parametrize(
    "note", [*(path for path in OPEN if "/" not in path), "Later/Plan.md", "Own/Plan.md", "Nil.md"]
)
@pytest.mark.parametrize("k", [1, 4, 16, 40])
def test_an_open_answer_about_a_note_is_the_same_without_personal_notes(
    full: Served, bare: Served, note: str, k: int
) -> None:
    for ceiling in ("open", "personal"):
        with_, without = (asked(getattr(each, ceiling), note, k=k) for each in (full, bare))
        assert "canarybody" not in json.dumps(with_)
        assert still(with_) == still(without)


@pytest.mark.parametrize("note", PERSONAL)
def test_a_hidden_note_in_question_is_answered_like_one_that_never_was(full: Served, note: str) -> None:
    hidden, absent = (asked(full.personal, path) for path in (note, "Nil.md"))
    assert ways(hidden) == ways(absent) == {}
    told = json.dumps(still(absent)).replace("Nil.md", note)
    assert json.dumps(still(hidden)) == told
    assert "was used. If it is a personal note" in told
    assert asked(full.personal, note, include_personal=True)["sources"][0]["path"] == note


WORDS = {"note": "Own/Debt.md", "selection": "canaryselected has cost", "include_personal": True}


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, ScriptedGenerator]]:
    model = ScriptedGenerator("As said [1].", name="hosted/large", is_local=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Models, "_generator", lambda *_: model)
        house = House(tmp_path_factory.mktemp("remote"), OPEN | PERSONAL, embedder=HashEmbedder(dimension=384))
        for each in served(house):
            yield each, model


def test_a_remote_model_is_sent_nothing_where_selected_words_are_of_a_note_out_of_sight(
    remote: tuple[Served, ScriptedGenerator],
) -> None:
    each, model = remote
    told = []
    for client, body in (
        (each.personal, WORDS),
        (each.open, WORDS),
        (each.personal, WORDS | {"include_personal": False}),
        (each.personal, WORDS | {"note": "Nil.md"}),
        (each.personal, WORDS | {"note": None}),
    ):
        for accept in ("application/json", "text/event-stream"):
            answer = client.post("/api/ask", json=RENT | body, headers={"Accept": accept})
            assert answer.status_code == (400 if accept == "application/json" else 200)
            told.append(answer.text)
    assert model.prompts == []
    assert len(set(told)) == 2
    assert all("bad_request" in one and "The selected words were not used" in one for one in told)
    assert "canary" not in repr(told)


def test_selected_words_of_an_open_note_reach_it(remote: tuple[Served, ScriptedGenerator]) -> None:
    each, model = remote
    answer = asked(each.personal, "Boat.md", selection="needs a sail")
    assert answer["sources"][0]["path"] == "Boat.md"
    assert [prompt.selection for prompt in model.prompts] == ["needs a sail"]
