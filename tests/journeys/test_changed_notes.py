"""From a file that is saved to the pane beside it: the event names the note, and the note is there to be read."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from adapters.doors import serving
from journeys.houses import House, embedded
from vault_ask.composition.daemon import Daemon
from vault_ask.ingest import follower as follower_module
from vault_ask.scope import PrivateScope, Sensitivity
from waiting import PATIENCE, wait_until

NOTES = {
    "Plain.md": "The harvest was good.\n",
    "Möte/Åsa.md": "So was the [[Plain]] wine.\n",
    "Diary/Jan.md": "A row.\n",
}
PERSONAL = {"personal_paths": ["Diary/**"]}
MARKED = "---\nsensitivity: personal\n---\n"


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower_module, "IDLE_SECONDS", 0.1)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, NOTES)


Told = dict[str, Any]


@contextmanager
def following(url: httpx.URL, query: str = "") -> Iterator[Iterator[Told]]:
    """Follow with everything that is told, from the first event on, which is taken."""
    with (
        httpx.stream("GET", f"{url}/api/events{query}", timeout=PATIENCE) as stream,
        closing(events_of(stream)) as events,
    ):
        assert next(events)["type"] == "index"
        yield events


def events_of(stream: httpx.Response) -> Iterator[Told]:
    for line in stream.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def of_notes(events: Iterator[Told]) -> Told:
    """Give what is told of notes next."""
    return next({key: event[key] for key in ("changed", "gone")} for event in events if event["type"] == "notes")


def until_told(events: Iterator[Told], *, changed: set[str], gone: set[str]) -> None:
    """Take what is told of notes until all of this was, and nothing else."""
    left = {"changed": set(changed), "gone": set(gone)}
    while left["changed"] or left["gone"]:
        told = of_notes(events)
        assert set(told["changed"]) <= changed
        assert set(told["gone"]) <= gone
        left = {kind: left[kind] - set(told[kind]) for kind in left}


def note(url: httpx.URL, path: str, query: str = "") -> httpx.Response:
    return httpx.get(f"{url}/api/notes/{quote(path)}{query}", timeout=PATIENCE)


def near(url: httpx.URL, path: str, query: str = "") -> list[str]:
    found = httpx.get(f"{url}/api/related?path={quote(path)}{query}", timeout=PATIENCE).json()
    return [one["path"] for one in found["related"]]


def seen(daemon: Daemon, *paths: str) -> None:
    """Wait until notes are indexed, with their vectors."""
    wait_until(lambda: set(paths) <= set(indexed(daemon)))
    embedded(daemon)


def indexed(daemon: Daemon) -> list[str]:
    with daemon.open_view(PrivateScope()) as view:
        return view.notes.paths()


def test_a_note_is_told_and_read_as_it_is_written_changed_renamed_and_deleted(house: House) -> None:
    with house.daemon() as daemon, serving(daemon) as url:
        embedded(daemon)
        with following(url) as events:
            house.write({"Möte/Åsa.md": "The wine was sold.\n", "New.md": "See [[Åsa]]: the wine.\n"})
            until_told(events, changed={"Möte/Åsa.md", "New.md"}, gone=set())
            embedded(daemon)
            given = note(url, "Möte/Åsa.md").json()
            assert (given["text"], given["index"]["state"]) == ("The wine was sold.", "indexed")
            assert near(url, "New.md")[0] == "Möte/Åsa.md"
            (house.vault / "New.md").rename(house.vault / "Newer.md")
            until_told(events, changed={"Newer.md"}, gone={"New.md"})
            (house.vault / "Plain.md").unlink()
            until_told(events, changed=set(), gone={"Plain.md"})
            assert note(url, "Newer.md").json()["text"] == "See [[Åsa]]: the wine."
            assert [note(url, path).status_code for path in ("New.md", "Plain.md")] == [404, 404]


def test_a_change_to_a_personal_note_is_nothing_to_whoever_did_not_ask_for_it(house: House) -> None:
    with (
        house.daemon(sensitivity=PERSONAL) as daemon,
        serving(daemon) as wide,
        serving(daemon, ceiling=Sensitivity.OPEN) as strict,
    ):
        embedded(daemon)
        with (
            following(wide, "?include_personal=true") as owners,
            following(wide) as readers,
            following(strict, "?include_personal=true") as strangers,
        ):
            house.write({"Diary/Feb.md": "Another quarrel.\n", "Diary/Jan.md": "A worse row.\n"})
            until_told(owners, changed={"Diary/Feb.md", "Diary/Jan.md"}, gone=set())
            seen(daemon, "Diary/Feb.md")
            (house.vault / "Diary" / "Jan.md").unlink()
            until_told(owners, changed=set(), gone={"Diary/Jan.md"})
            house.write({"Open.md": "The wine was sold.\n"})
            seen(daemon, "Open.md")
            for events in (owners, readers):
                assert of_notes(events) == {"changed": ["Open.md"], "gone": []}
            # Not even an event that names nothing, and no state that moved: the next thing told is the open note.
            told = [next(strangers), next(strangers)]
    assert [event["type"] for event in told] == ["index", "notes"]
    assert (told[0]["notes"], told[1]["changed"], told[1]["gone"]) == (3, ["Open.md"], [])


def test_a_note_that_turns_personal_is_gone_for_an_open_reader_and_changed_for_others_and_back_again(
    house: House,
) -> None:
    with house.daemon(sensitivity=PERSONAL) as daemon, serving(daemon) as url:
        embedded(daemon)
        with following(url) as readers, following(url, "?include_personal=true") as owners:
            house.write({"Plain.md": f"{MARKED}The harvest was stolen.\n"})
            assert of_notes(readers) == {"changed": [], "gone": ["Plain.md"]}
            assert of_notes(owners) == {"changed": ["Plain.md"], "gone": []}
            wait_until(lambda: "stolen" in note(url, "Plain.md", "?include_personal=true").text)
            assert note(url, "Plain.md").json() == note(url, "Never.md").json()
            assert near(url, "Möte/Åsa.md") == []
            assert near(url, "Möte/Åsa.md", "&include_personal=true") == ["Plain.md"]
            house.write({"Plain.md": "The harvest was found.\n"})
            assert of_notes(readers) == {"changed": ["Plain.md"], "gone": []}
            assert note(url, "Plain.md").json()["text"] == "The harvest was found."


def test_an_index_that_is_made_anew_of_the_same_notes_is_no_news_of_any_note(house: House) -> None:
    with house.daemon() as daemon:
        embedded(daemon)
    with house.daemon(rebuild=True) as daemon, serving(daemon) as url, following(url) as events:
        wait_until(lambda: daemon.files.current.name == "index-2.sqlite")
        seen(daemon, *NOTES)
        house.write({"New.md": "The wine was sold.\n"})
        until_told(events, changed={"New.md"}, gone=set())


def test_what_was_read_for_whom_is_in_the_record(house: House) -> None:
    with house.daemon(sensitivity=PERSONAL, audit={"questions": "text"}) as daemon, serving(daemon) as url:
        embedded(daemon)
        note(url, "Diary/Jan.md", "?include_personal=true")
        note(url, "Diary/Jan.md")
        near(url, "Möte/Åsa.md")
    lines = (house.folder / "data" / "audit" / "audit.jsonl").read_text(encoding="ascii").splitlines()
    said = [[json.loads(line)[key] for key in ("action", "scope", "question", "notes", "outcome")] for line in lines]
    assert said == [
        ["note", "personal", "Diary/Jan.md", ["Diary/Jan.md"], "done"],
        ["note", "open", "Diary/Jan.md", [], "error:no_such_note"],
        ["near", "open", "Möte/Åsa.md", ["Plain.md"], "done"],
    ]
