"""Case 10: a note whose pieces come after it answers with its old text until all of them are there.

(vrtmrz/obsidian-livesync#505, #1065, #986, #771)
"""

import pytest

from couch_stand_in import CouchStandIn
from livesync_bench import LiveSyncBench, Making
from vault_ask.sources.couch_waiting import Pace

NOTE = {"_id": "n.md", "path": "N.md", "type": "plain", "children": ["h:a", "h:b"], "size": 24, "deleted": False}
FIRST = {"_id": "h:a", "type": "leaf", "data": "first half fig "}
LAST = {"_id": "h:b", "type": "leaf", "data": "last half date"}


@pytest.fixture(params=["unfiltered", "shuffled"])
def bench(request: pytest.FixtureRequest, livesync: Making, stand_in: CouchStandIn) -> LiveSyncBench:
    """N.md indexed as it was before; the feed tells of chunks, or not, or in any order."""
    stand_in.selectors = 400 if request.param == "unfiltered" else None
    stand_in.shuffle, stand_in.repeats = (5, True) if request.param == "shuffled" else (None, False)
    bench = livesync(stand_in.url, {"N.md": "old text olive", "Other.md": "walnut\n"})
    bench.catch_up()
    return bench


def deliver(bench: LiveSyncBench, server: CouchStandIn, *documents: dict[str, object]) -> None:
    for document in documents:
        current = bench.device.document("N.md")
        revision = {"_rev": current["_rev"]} if current and document["_id"] == "n.md" else {}
        server.store(bench.database, [document | revision])


def assert_old(bench: LiveSyncBench) -> None:
    """The old text answers, alone and whole."""
    assert bench.found("olive") == ["N.md"]
    assert "N.md" not in [*bench.found("fig"), *bench.found("date")]
    assert bench.text("N.md") == "old text olive"


def test_old_text_answers_until_the_last_piece_is_there(bench: LiveSyncBench, stand_in: CouchStandIn) -> None:
    deliver(bench, stand_in, NOTE)
    bench.until(lambda: "2 of its 2 pieces (the first is h:a)" in bench.troubles("incomplete").get("N.md", ""))
    assert_old(bench)
    deliver(bench, stand_in, FIRST)
    bench.device.put("Other.md", "almond\n")
    bench.until(lambda: bench.found("almond") == ["Other.md"])
    assert_old(bench)
    deliver(bench, stand_in, LAST)
    bench.until(lambda: bench.text("N.md") == "first half fig last half date")
    assert bench.found("fig") == bench.found("date") == ["N.md"]
    assert "N.md" not in bench.found("olive")
    assert bench.troubles("incomplete") == {}


def test_restart_between_the_pieces_completes_the_note(bench: LiveSyncBench, stand_in: CouchStandIn) -> None:
    deliver(bench, stand_in, NOTE, FIRST)
    bench.until(lambda: bench.troubles("incomplete"))
    bench.restart()
    bench.catch_up()
    assert_old(bench)
    assert "1 of its 2 pieces (the first is h:b)" in bench.troubles("incomplete")["N.md"]
    deliver(bench, stand_in, LAST)
    bench.until(lambda: bench.text("N.md") == "first half fig last half date")


def test_restart_before_anything_was_taken_loses_nothing(bench: LiveSyncBench, stand_in: CouchStandIn) -> None:
    deliver(bench, stand_in, NOTE, FIRST)
    while not bench.next_batch():
        pass
    bench.restart(before=lambda: deliver(bench, stand_in, LAST))
    bench.until(lambda: bench.text("N.md") == "first half fig last half date")


def test_piece_that_never_comes_is_named_and_asked_for_ever_more_seldom(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    pace = Pace(settle=0.03, sign=0.02, retries=(0.02, 0.02, 3600.0))
    bench = livesync(stand_in.url, {"N.md": "old text olive"}, pace=pace)
    bench.catch_up()
    deliver(bench, stand_in, NOTE, FIRST)
    bench.until(lambda: (waiting := bench.source._replica.waiting.notes.get("N.md")) is not None and waiting.tries >= 2)
    for number in range(3):
        bench.device.put(f"{number}.md", f"other {number}\n")
        bench.until(lambda path=f"{number}.md": path in bench.paths())
    assert_old(bench)
    assert bench.source._replica.waiting.notes["N.md"].tries == 2
    assert bench.kept_troubles() == [("N.md", "incomplete")]
    assert "h:b" in bench.troubles("incomplete")["N.md"]
    assert bench.source.state().waiting == 1
