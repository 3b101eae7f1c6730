"""A reranker in a running vault-ask: made ready before it has to be in time, and never in the way."""

from pathlib import Path
from threading import Event

import pytest

from fakes import ScriptedReranker
from journeys.houses import PRIVATE, House, embedded, found, retrieved
from waiting import PATIENCE, wait_until

NOTES = {
    "Rent.md": "The rent of the flat is 9200.\n",
    "Flat.md": "A flat with two rooms.\n",
    "Boat.md": "A flat boat.\n",
}


def furnished(monkeypatch: pytest.MonkeyPatch, reranker: ScriptedReranker) -> None:
    monkeypatch.setattr("vault_ask.composition.parts.make_reranker", lambda *_: reranker)


def test_a_command_makes_it_ready_before_it_asks_and_a_daemon_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, running, asked = House(tmp_path, NOTES), ScriptedReranker(), ScriptedReranker()
    furnished(monkeypatch, running)
    with house.daemon(rerank={"timeout_seconds": PATIENCE}):
        wait_until(running.warmed.is_set)
    furnished(monkeypatch, asked)
    library = house.library(rerank={"timeout_seconds": PATIENCE})
    found(library, "rent of the flat", arm="text")
    assert not asked.warmed.is_set()
    assert found(library, "rent of the flat")[0] == "Rent.md"
    assert asked.warmed.is_set()
    library.close()


def test_its_order_is_that_of_the_hits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    furnished(monkeypatch, ScriptedReranker([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]))
    with House(tmp_path, NOTES).daemon(rerank={"timeout_seconds": PATIENCE}) as daemon:
        embedded(daemon)
        backwards, as_found = found(daemon, "flat"), found(daemon, "flat")
    assert len(as_found) == 3
    assert backwards == as_found[::-1]


def test_one_that_hangs_keeps_no_search_waiting_and_no_daemon_from_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = Event()
    furnished(monkeypatch, ScriptedReranker(*[hold] * 9))
    with House(tmp_path, NOTES).daemon(rerank={"timeout_seconds": 0.05}) as daemon:
        embedded(daemon)
        searches = [retrieved(daemon, "rent of the flat", PRIVATE) for _ in range(4)]
    # Ended, while it hangs still.
    assert not hold.is_set()
    assert [{hit.path for hit in one.hits} for one in searches] == [set(NOTES)] * 4
    assert ["did not answer" in str(one.notices) for one in searches] == [True, True, False, False]
    assert ["still busy" in str(one.notices) for one in searches] == [False, False, True, True]
    hold.set()


def test_searches_by_one_arm_alone_are_not_reranked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reranker = ScriptedReranker()
    furnished(monkeypatch, reranker)
    with House(tmp_path, NOTES).daemon(rerank={"timeout_seconds": PATIENCE}) as daemon:
        embedded(daemon)
        for arm in ("text", "vector"):
            assert found(daemon, "rent of the flat", arm=arm)[0] == "Rent.md"
        assert reranker.asked == []
        assert "rerank" in retrieved(daemon, "rent of the flat").hits[0].trace
