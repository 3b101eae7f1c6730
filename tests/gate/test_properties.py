"""What a personal note says in its properties is as absent as the rest of it, and is in no log."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes import HashEmbedder
from journeys.houses import OPEN as OPEN_SCOPE
from journeys.houses import PRIVATE as PRIVATE_SCOPE
from journeys.houses import House, ask, by_words
from vault_ask.answering.reading import Lines, note_response
from vault_ask.errors import NoSuchNote
from vault_ask.index.view import VaultView
from vault_ask.scope import S
from vault_building import OPEN, PRIVATE, Building

CANARY = "CANARYDRUG"
NOTES = {
    "Pills.md": "---\ndose: 20 mg\nsensitivity: open\n---\nTake them in the morning.\n",
    "Plan.md": "---\nstatus: open\n---\nWrite a plan.\n",
}
PERSONAL = {
    "Private/Health.md": f"---\nmedicine: {CANARY}\ndose: 40 mg\n---\nEvery morning.\n",
    "Said.md": f"---\nmedicine: {CANARY}\nsensitivity: personal\n---\nEvery morning.\n",
    "Broken.md": f"---\nmedicine: {CANARY}\nopen: [\n---\nEvery morning.\n",
}
QUESTIONS = ["Which medicine?", CANARY, f"medicine {CANARY}", "dose", "What is the dose in the morning?"]


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    building = Building(tmp_path, HashEmbedder(dimension=128))
    building.put(NOTES)
    yield building
    building.close()


def found(building: Building, view: VaultView[S]) -> list[tuple[str, str]]:
    hits = [hit for asked in QUESTIONS for hit in building.retriever().retrieve(view, asked, k=10).hits]
    return [(hit.path, hit.body) for hit in hits]


def test_an_open_scope_finds_what_it_found_before_there_were_personal_properties(building: Building) -> None:
    with building.open(OPEN) as view:
        before = found(building, view)
    assert ("Pills.md", "dose: 20 mg") in before
    building.put(PERSONAL)
    with building.open(OPEN) as view:
        after = found(building, view)
    assert set(after) == set(before)
    with building.open(PRIVATE) as view:
        paths = {path for path, body in found(building, view) if CANARY in body}
    assert paths == set(PERSONAL)


@pytest.mark.parametrize("path", PERSONAL)
def test_the_lines_of_personal_properties_are_read_by_their_owner_alone(building: Building, path: str) -> None:
    building.put(PERSONAL)
    with building.open(PRIVATE) as view:
        assert note_response(view, path, Lines(2, 2)).text == f"medicine: {CANARY}"
    with building.open(OPEN) as view, pytest.raises(NoSuchNote):
        note_response(view, path, Lines(2, 2))


def test_the_line_that_decides_who_may_see_a_note_is_stored_as_text_of_none(building: Building) -> None:
    building.put(PERSONAL)
    bodies = [body for (body,) in building.writer._fetch("SELECT body FROM chunks")]
    assert "dose: 20 mg" in bodies
    assert not any("sensitivity" in body for body in bodies)


def test_no_value_of_a_property_is_logged(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    house = House(tmp_path, {**NOTES, **PERSONAL})
    rules = {"sensitivity": {"personal_paths": ["Private/**"]}}
    with house.daemon(**rules) as daemon:
        assert CANARY in ask(daemon, "Which medicine?", PRIVATE_SCOPE).answer
        assert CANARY not in ask(daemon, "Which medicine?", OPEN_SCOPE).answer
    logged = "".join(capfd.readouterr())
    assert CANARY not in logged
    assert "40 mg" not in logged


def test_a_key_that_the_settings_name_anew_is_no_text_any_longer(tmp_path: Path) -> None:
    house = House(tmp_path, {"Pills.md": "---\nwho may see it: everybody\ndose: 20 mg\n---\nTake them.\n"})
    with house.daemon() as daemon:
        assert by_words(daemon, "everybody") == ["Pills.md"]
    with house.daemon(sensitivity={"frontmatter_key": "who may see it"}) as daemon:
        assert by_words(daemon, "dose", PRIVATE_SCOPE) == ["Pills.md"]
        assert by_words(daemon, "everybody", PRIVATE_SCOPE) == []
