"""How changes arrive from a database, whatever the server and what is before it do; a real index takes them."""

import threading
import time

import pytest

from couch_stand_in import CouchStandIn
from livesync_bench import NEVER, LiveSyncBench, Making, asked_since, spelled
from vault_ask.errors import SourceRefused
from vault_ask.sources.couch_waiting import Pace

SHORT = Pace(quiet=0.05, settle=0.03, heartbeat=0.1, look=NEVER, sign=0.02, retries=(0.03,))
WATCHFUL = Pace(quiet=0.05, settle=0.03, heartbeat=5.0, look=0.05, sign=0.02, retries=(0.03,))
NOTES = {f"{number:02}.md": f"note {number} of the vault\n" for number in range(30)}


def followed(livesync: Making, server: CouchStandIn, **how: object) -> LiveSyncBench:
    bench = livesync(server.url, {"a.md": "alpha\n"}, **how)
    bench.catch_up()
    return bench


def arrives(bench: LiveSyncBench, path: str) -> None:
    """Write a note and wait until it is indexed."""
    bench.device.put(path, f"text of {path}\n")
    bench.until(lambda: path in bench.paths())


# What arrives


def test_first_batch_compares_everything_and_the_next_brings_up_to_date(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    bench = livesync(stand_in.url, {"a.md": "alpha\n"})
    bench.catch_up()
    assert spelled(bench.news()) == ["!"]
    assert bench.source.state().mode == "watching"
    assert bench.source.state().lag == 0


def test_both_sides_of_a_rename_and_what_belongs_to_it_are_one_batch(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in, pace=Pace(settle=0.3, sign=0.02))
    bench.device.rename("a.md", "b.md", new_first=True)
    bench.until(lambda: bench.paths() == ["b.md"])
    assert spelled(bench.news())[1:] == ["-a.md", "+b.md"]


def test_rows_out_of_order_and_told_again_change_nothing_twice(livesync: Making, stand_in: CouchStandIn) -> None:
    stand_in.shuffle, stand_in.repeats = 3, True
    bench = followed(livesync, stand_in, mode="v2obf")
    for number in range(12):
        bench.device.put(f"{number}.md", f"text {number}\n")
        if number % 3:
            bench.device.rename(f"{number}.md", f"moved/{number}.md")
    kept = [f"{number}.md" for number in (0, 3, 6, 9)] + [f"moved/{number}.md" for number in range(12) if number % 3]
    bench.until(lambda: bench.paths() == sorted([*kept, "a.md"]))
    assert bench.embedded_twice == []


def test_changes_of_a_long_absence_come_in_pages_with_the_figure_of_what_is_left(
    livesync: Making, stand_in: CouchStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_ask.sources.couch_following.PAGE", 10)
    bench = followed(livesync, stand_in)
    bench.restart(before=lambda: bench.device.put_many(NOTES))
    lags = []
    bench.until(lambda: lags.append(bench.source.state().lag) or len(bench.paths()) == 31)
    assert max(lag for lag in lags if lag) == 30
    assert len(spelled(bench.batches[1])) <= 11


def test_chunks_are_not_asked_for_where_the_server_filters(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in)
    bench.device.put("image.png", b"\x00\xff" * 20_000)
    arrives(bench, "b.md")
    feeds = [one for one in stand_in.requests if "feed=" in one.path]
    assert all("filter=_selector" in one.path for one in feeds)
    assert sum(one.bytes_out for one in feeds) < 2000


@pytest.mark.parametrize("status", [400, 404, 501])
def test_server_that_refuses_the_filter_is_asked_for_everything(
    livesync: Making, stand_in: CouchStandIn, status: int
) -> None:
    stand_in.selectors = status
    bench = followed(livesync, stand_in)
    arrives(bench, "b.md")
    late = bench.device.put_without_chunks("b.md", "late\n")
    bench.until(bench.troubles)
    bench.device.send(late)
    bench.until(lambda: bench.text("b.md") == "late")


def test_pieces_that_arrive_are_tried_at_once_where_the_feed_tells_of_them(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    stand_in.selectors = 400
    bench = followed(livesync, stand_in, pace=Pace(settle=0.03, sign=0.02, retries=(NEVER,)))
    late = bench.device.put_without_chunks("a.md", "late\n")
    bench.until(bench.troubles)
    bench.device.send(late)
    bench.until(lambda: bench.text("a.md") == "late")


def test_many_notes_without_their_pieces_cost_one_question_a_round(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in, pace=Pace(settle=0.03, sign=0.02, retries=(0.02, NEVER)))
    for number in range(20):
        bench.device.put_without_chunks(f"{number}.md", f"late {number}\n")
    bench.until(lambda: len(bench.troubles()) == 20)
    before, told = len(stand_in.requests), spelled(bench.news())
    bench.until(lambda: all(pending.tries for pending in bench.source._replica.waiting.notes.values()))
    assert spelled(bench.news()) == told
    assert len(asked_since(stand_in, before, "_all_docs")) <= 5


# The server goes away


def test_server_that_went_away_is_told_waited_for_and_followed_again(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in)
    stand_in.down()
    bench.until(lambda: bench.source.state().mode == "waiting")
    assert "CouchDB at 127.0.0.1" in bench.source.state().message
    assert bench.paths() == ["a.md"]
    stand_in.up()
    arrives(bench, "b.md")
    bench.until(lambda: bench.source.state().mode == "watching")
    assert spelled(bench.news()).count("!") == 1


def test_connections_that_are_cut_lose_nothing(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in, mode="v2obf")
    for number in range(4):
        bench.device.put(f"{number}.md", f"text {number}\n")
        stand_in.cut_connections()
        stand_in.cut_next(2, path="_all_docs")
        bench.until(lambda path=f"{number}.md": path in bench.paths())
    assert spelled(bench.news()).count("!") == 1


def test_server_that_is_busy_is_asked_again_after_the_pause_it_wants(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in)
    bench.device.put("b.md", "text\n")
    stand_in.fail_next(429, retry_after=1, path="_all_docs")
    started = time.monotonic()
    bench.until(lambda: "b.md" in bench.paths())
    assert time.monotonic() - started >= 1
    bench.device.put("c.md", "text\n")
    stand_in.fail_next(503, count=6, path="_all_docs")
    bench.until(lambda: "c.md" in bench.paths())


def test_silent_feed_is_opened_again(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in, pace=SHORT)
    stand_in.pause()
    before = len(stand_in.requests)
    timer = threading.Timer(1.0, stand_in.resume)
    timer.start()
    bench.until(lambda: bench.source.state().mode == "waiting" or not timer.is_alive())
    stand_in.resume()
    bench.device.put("b.md", "text\n")
    bench.until(lambda: "b.md" in bench.paths())
    bench.until(lambda: asked_since(stand_in, before, "feed="))
    timer.join()


def test_proxy_that_holds_a_continuous_feed_back_is_met_with_longpoll(livesync: Making, stand_in: CouchStandIn) -> None:
    stand_in.buffers = True
    bench = livesync(stand_in.url, {"a.md": "alpha\n"}, pace=SHORT)
    bench.catch_up()
    bench.until(lambda: asked_since(stand_in, 0, "feed=longpoll"))
    for path in ("b.md", "c.md"):
        before = len(stand_in.requests)
        arrives(bench, path)
        assert not asked_since(stand_in, before, "feed=continuous")


def test_proxy_that_cuts_a_feed_now_and_then_costs_nothing(livesync: Making, stand_in: CouchStandIn) -> None:
    stand_in.feed_seconds = 0.1
    bench = followed(livesync, stand_in, pace=SHORT)
    for number in range(3):
        arrives(bench, f"{number}.md")
    assert spelled(bench.news()).count("!") == 1


def test_sequence_that_the_server_does_not_know_leads_to_a_full_comparison(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    bench = followed(livesync, stand_in)
    bench.device.put("b.md", "text\n")
    bench.until(lambda: "b.md" in bench.paths())
    bench.hang_up()
    bench.writer.remember({"checkpoint": bench.remembered["checkpoint"].replace(bench.checkpoint, "not-a-sequence")})
    bench.restart(before=lambda: bench.device.purge_tombstone("a.md"))
    bench.until(lambda: bench.paths() == ["b.md"])
    assert bench.checkpoint != "not-a-sequence"
    assert bench.embedded_twice == []


def test_refusal_of_the_login_ends_the_following_with_a_sentence(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in)
    stand_in.users = {"admin": "secret"}
    stand_in.cut_connections()
    with pytest.raises(SourceRefused, match="does not accept the user or the password"):
        bench.until(lambda: False)
    assert bench.source.state().mode == "stopped"
