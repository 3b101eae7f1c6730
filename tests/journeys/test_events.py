"""`/api/events` of a daemon that follows a vault: a change is told at once, to each reader what it may see of it."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event

import httpx
import pytest

from adapters.doors import serving
from fakes import HashEmbedder
from journeys.houses import House, embedded
from vault_ask.composition.daemon import Daemon
from vault_ask.index.embedding import Refused, Vector
from vault_ask.ingest import follower as follower_module
from vault_ask.scope import Sensitivity
from vault_ask.wire import IndexEvent
from waiting import PATIENCE

NOTES = {"Plain.md": "The harvest was good.\n", "More.md": "So was the wine.\n", "Diary/Jan.md": "A quarrel.\n"}
PERSONAL = {"personal_paths": ["Diary/**"]}


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower_module, "IDLE_SECONDS", 0.1)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path, NOTES)


@contextmanager
def following(daemon: Daemon, ceiling: Sensitivity) -> Iterator[Iterator[IndexEvent]]:
    with (
        serving(daemon, ceiling=ceiling) as url,
        httpx.stream("GET", f"{url}/api/events", timeout=PATIENCE) as stream,
        closing(events_of(stream)) as events,
    ):
        yield events


def events_of(stream: httpx.Response) -> Iterator[IndexEvent]:
    for line in stream.iter_lines():
        if line.startswith('data: {"type":"index"'):
            yield IndexEvent.model_validate_json(line.removeprefix("data: "))


def settled(event: IndexEvent, notes: int) -> bool:
    return (event.notes, event.waiting, event.progress.phase) == (notes, 0, "idle")


def test_a_new_note_is_told_and_so_is_that_all_of_it_is_found_by_meaning(house: House) -> None:
    with house.daemon() as daemon:
        embedded(daemon)
        with following(daemon, Sensitivity.PERSONAL) as events:
            first = next(events)
            assert (first.notes, first.mode) == (3, "watching")
            house.write({"Fresh.md": "Marzipan was bought.\n"})
            last = next(event for event in events if settled(event, 4))
    assert last.chunks == first.chunks + 1
    assert last.freshness.last_change_indexed == last.last_indexed
    assert "Fresh" not in last.model_dump_json()


def test_under_an_open_ceiling_a_change_to_a_personal_note_is_no_event_and_one_to_an_open_note_is(house: House) -> None:
    with house.daemon(sensitivity=PERSONAL) as daemon:
        embedded(daemon)
        with (
            following(daemon, Sensitivity.PERSONAL) as owners,
            following(daemon, Sensitivity.OPEN) as strangers,
        ):
            assert next(owners).notes == 3
            first = next(strangers)
            assert (first.notes, first.progress.phase) == (2, "idle")
            house.write({"Diary/Feb.md": "Another quarrel.\n"})
            assert next(event for event in owners if settled(event, 4))
            house.write({"Open.md": "The wine was sold.\n"})
            assert next(event for event in owners if settled(event, 5))
            second = next(strangers)
    assert (second.notes, second.chunks) == (3, first.chunks + 1)


class Held(HashEmbedder):
    """Makes no vector before it is let go."""

    def __init__(self) -> None:
        super().__init__(dimension=384)
        self.go = Event()

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        assert self.go.wait(PATIENCE)
        return super().embed_passages(texts)


def test_the_work_on_personal_notes_shows_in_no_figure_under_an_open_ceiling(tmp_path: Path) -> None:
    embedder = Held()
    house = House(tmp_path, NOTES | {f"Diary/{day}.md": f"Day {day}.\n" for day in range(40)}, embedder=embedder)
    with (
        house.daemon(sensitivity=PERSONAL, caught_up=False) as daemon,
        following(daemon, Sensitivity.PERSONAL) as owners,
        following(daemon, Sensitivity.OPEN) as strangers,
    ):
        working = next(event for event in owners if event.progress.phase == "embedding")
        told = [next(strangers)]
        embedder.go.set()
        told += until(strangers, 2)
    assert (working.progress.total, working.waiting) == (43, 43)
    assert {(event.progress.done, event.progress.total, event.freshness.waiting) for event in told} == {(0, 0, 0)}
    assert {event.freshness.last_change_seen for event in told} == {None}
    assert max(event.notes for event in told) == 2


def until(events: Iterator[IndexEvent], notes: int) -> list[IndexEvent]:
    """Give the events up to the one that tells of so many notes with nothing left to do."""
    seen = []
    for event in events:
        seen.append(event)
        if settled(event, notes):
            break
    return seen


def test_a_vault_that_is_away_is_told_to_all_and_why_to_the_owner(house: House) -> None:
    with (
        house.daemon(sensitivity=PERSONAL) as daemon,
        following(daemon, Sensitivity.PERSONAL) as owners,
        following(daemon, Sensitivity.OPEN) as strangers,
    ):
        away = house.vault.rename(house.folder / "elsewhere")
        owner, stranger = (next(event for event in events if event.mode == "waiting") for events in (owners, strangers))
        assert "Check that its disk or share is mounted" in owner.message
        assert stranger.message == "The vault cannot be read just now."
        away.rename(house.vault)
        assert next(event for event in owners if event.mode == "watching").notes == 3
