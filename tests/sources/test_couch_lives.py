"""The database itself goes and another comes, changes its salt, or loses documents that nothing tells of."""

from collections.abc import Iterable

import pytest

from couch_queries import Listing
from couch_stand_in import CouchStandIn
from livesync_bench import NEVER, PACE, LiveSyncBench, Making, asked_since, spelled
from livesync_device import PARAMETERS
from vault_ask.errors import SourceUnreachable
from vault_ask.sources.couch_reading import Reader
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


def test_database_that_is_away_is_waited_for(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in)
    stand_in.drop(bench.database)
    bench.until(lambda: bench.source.state().mode == "waiting")
    bench.until(lambda: "holds no database" in bench.source.state().message)
    assert bench.paths() == ["a.md"]
    bench.device.create_database()
    bench.device.put("a.md", "alpha\n")
    arrives(bench, "b.md")
    assert bench.paths() == ["a.md", "b.md"]


@pytest.mark.parametrize("mode", ["plain", "v2obf"])
def test_rebuilt_database_replaces_the_old_one_and_embeds_only_what_is_new(
    livesync: Making, stand_in: CouchStandIn, mode: str
) -> None:
    bench = livesync(stand_in.url, NOTES, mode=mode)
    bench.catch_up()
    bench.embedder.embedded.clear()
    bench.device.rebuild()
    bench.device.put_many({path: text for path, text in NOTES.items() if path < "15.md"} | {"New.md": "walnut\n"})
    bench.until(lambda: "New.md" in bench.paths() and "29.md" not in bench.paths())
    assert bench.paths() == [path for path in NOTES if path < "15.md"] + ["New.md"]
    assert len(bench.embedder.embedded) == 1
    arrives(bench, "Later.md")


def test_rebuilt_database_that_is_still_being_filled_takes_nothing_away(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    bench = livesync(stand_in.url, NOTES, pace=Pace(quiet=0.15, settle=0.03, sign=0.02))
    bench.catch_up()
    bench.device.rebuild()
    fewest = 30
    for start in range(0, 30, 6):
        bench.device.put_many(dict([*NOTES.items()][start : start + 6]))
        bench.take()
        fewest = min(fewest, len(bench.paths()))
    assert fewest == 30
    bench.until(lambda: bench.source.state().mode == "watching")
    assert bench.paths() == list(NOTES)
    assert "-" not in "".join(spelled(bench.news()))


def test_rebuilt_database_that_stays_empty_takes_nothing_away_until_it_is_filled(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    bench = livesync(stand_in.url, NOTES)
    bench.catch_up()
    bench.device.rebuild()
    with pytest.raises(Exception, match="lists no notes although 30 are indexed"):
        bench.until(lambda: False)
    assert len(bench.paths()) == 30
    bench.restart(before=lambda: bench.device.put("00.md", NOTES["00.md"]))
    bench.until(lambda: bench.paths() == ["00.md"])


def test_rebuild_while_the_daemon_was_off_is_noticed(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = livesync(stand_in.url, NOTES, mode="v2obf")
    bench.catch_up()
    bench.embedder.embedded.clear()
    bench.hang_up()
    bench.device.rebuild()
    bench.device.put_many({"00.md": NOTES["00.md"], "New.md": "walnut\n"})
    bench.restart()
    bench.until(lambda: bench.paths() == ["00.md", "New.md"])
    assert len(bench.embedder.embedded) == 1


def test_rebuild_is_noticed_by_the_milestone_where_the_server_tells_no_start(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    stand_in.tells_start = False
    bench = followed(livesync, stand_in)
    arrives(bench, "old.md")
    bench.device.rebuild()
    bench.device.put("a.md", "alpha\n")
    bench.until(lambda: bench.paths() == ["a.md"])


def test_rebuild_is_noticed_by_the_start_where_there_is_no_milestone(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in)
    arrives(bench, "old.md")
    stand_in.drop(bench.database)
    stand_in.create(bench.database)
    bench.device.put("a.md", "alpha\n")
    bench.until(lambda: bench.paths() == ["a.md"])


def test_rebuild_of_a_pouchdb_is_noticed_by_the_milestone(livesync: Making, pouchdb: str) -> None:
    bench = livesync(pouchdb, {"a.md": "alpha\n", "old.md": "old\n"}, pace=WATCHFUL)
    bench.catch_up()
    bench.device.rebuild()
    bench.device.put("a.md", "alpha\n")
    bench.until(lambda: bench.paths() == ["a.md"])
    assert bench.embedded_twice == []


def test_rebuild_behind_a_longpoll_is_noticed_at_once(livesync: Making, stand_in: CouchStandIn) -> None:
    stand_in.buffers = True
    bench = livesync(stand_in.url, {"a.md": "alpha\n", "old.md": "old\n"}, pace=SHORT)
    bench.until(lambda: asked_since(stand_in, 0, "feed=longpoll"))
    bench.device.rebuild()
    bench.device.put("a.md", "alpha\n")
    bench.until(lambda: bench.paths() == ["a.md"])


def test_another_salt_without_a_rebuild_keeps_both_readable(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in, mode="v2obf")
    bench.device.change_salt()
    arrives(bench, "b.md")
    assert spelled(bench.news()).count("!") == 1
    bench.device.change_salt()
    arrives(bench, "c.md")
    bench.restart(before=lambda: bench.writer.remember({"checkpoint": None}))
    bench.catch_up()
    assert bench.paths() == ["a.md", "b.md", "c.md"]
    assert bench.troubles() == {}
    assert bench.embedded_twice == []


def test_document_whose_salt_comes_later_is_read_then_also_after_a_restart(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    bench = followed(livesync, stand_in, mode="v2obf")
    database = stand_in.databases[bench.database]
    known = database.locals[PARAMETERS]
    bench.device.change_salt()
    assert bench.device._encoder
    later, database.locals[PARAMETERS] = database.locals[PARAMETERS], known
    bench.device._salt = lambda: b""  # type: ignore[method-assign] # keeps the salt that it has
    bench.device.put("b.md", "text\n")
    bench.until(lambda: bench.troubles("left-out"))
    assert bench.paths() == ["a.md"]
    bench.restart()
    bench.catch_up()
    assert bench.troubles("left-out")
    bench.restart(before=lambda: database.locals.update({PARAMETERS: later}))
    bench.until(lambda: bench.paths() == ["a.md", "b.md"])
    assert bench.troubles() == {}


def test_passphrase_that_was_corrected_opens_what_it_did_not_open_before(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    bench = followed(livesync, stand_in, couchdb={"passphrase": "a slip"})
    with bench.device_of("v2obf") as sealed:
        sealed.put("b.md", "text\n")
    bench.until(lambda: bench.troubles("left-out"))
    del bench._vault["couchdb"]
    bench.restart()
    bench.until(lambda: bench.paths() == ["a.md", "b.md"])
    assert bench.troubles() == {}


def test_trial_of_a_new_salt_that_the_server_cut_off_is_made_again(
    livesync: Making, stand_in: CouchStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = followed(livesync, stand_in, couchdb={"passphrase": "a slip"})
    with bench.device_of("v2obf") as sealed:
        sealed.put("b.md", "text\n")
    bench.until(lambda: bench.troubles("left-out"))
    absent, failing = Reader.absent, [True]

    def cut_off_once(self: Reader, pieces: Iterable[str]) -> frozenset[str]:
        if failing and failing.pop():
            raise SourceUnreachable("The server went away.")
        return absent(self, pieces)

    monkeypatch.setattr(Reader, "absent", cut_off_once)
    del bench._vault["couchdb"]
    bench.restart()
    bench.until(lambda: bench.paths() == ["a.md", "b.md"])
    assert not failing


# Purge and compaction


def test_purge_is_noticed_by_the_purge_sequence(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in, pace=WATCHFUL)
    arrives(bench, "b.md")
    _purge(stand_in, bench, "b.md")
    bench.until(lambda: bench.paths() == ["a.md"])
    assert spelled(bench.news())[-1] == "-b.md"
    assert "doc:b.md" not in bench.remembered


def test_purge_while_the_daemon_was_off_is_noticed_at_the_start(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in)
    arrives(bench, "b.md")
    bench.restart(before=lambda: _purge(stand_in, bench, "b.md"))
    bench.until(lambda: bench.paths() == ["a.md"])


def test_purge_that_nothing_tells_of_is_found_by_the_periodic_look(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in, pace=PACE)
    arrives(bench, "b.md")
    bench.source._following._rescan_seconds = 0.05
    stand_in.cut_connections()
    _purge(stand_in, bench, "b.md")
    stand_in.databases[bench.database].purges = 0
    bench.until(lambda: bench.paths() == ["a.md"])


def test_periodic_look_is_made_also_where_no_feed_lasts_so_long(livesync: Making, stand_in: CouchStandIn) -> None:
    stand_in.feed_seconds = 0.05
    bench = followed(livesync, stand_in, pace=PACE, rescan_minutes=0.01)
    arrives(bench, "b.md")
    _purge(stand_in, bench, "b.md")
    stand_in.databases[bench.database].purges = 0
    bench.until(lambda: bench.paths() == ["a.md"])


def test_what_was_written_below_our_place_in_the_changes_is_found_by_the_periodic_look(
    livesync: Making, stand_in: CouchStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = followed(livesync, stand_in, pace=PACE)
    arrives(bench, "b.md")
    monkeypatch.setattr(Listing, "_is_wanted", lambda _self, stored: stored.id != "silent.md")
    bench.device.put("Silent.md", "of a backup\n")
    bench.source._following._rescan_seconds = 0.05
    stand_in.cut_connections()
    bench.until(lambda: "Silent.md" in bench.paths())


def test_purge_of_most_of_the_vault_is_looked_at_twice(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = livesync(stand_in.url, NOTES, pace=WATCHFUL)
    bench.catch_up()
    for path in list(NOTES)[5:]:
        _purge(stand_in, bench, path)
    before = len(stand_in.requests)
    bench.until(lambda: bench.paths() == list(NOTES)[:5])
    assert "!" in spelled(bench.news())[1:]
    assert len([path for path in asked_since(stand_in, before, "start_key=%22h%3B%22") if "include_docs" in path]) >= 2


def test_compaction_changes_nothing(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = followed(livesync, stand_in)
    bench.device.put("a.md", "changed\n")
    stand_in.databases[bench.database].compact()
    bench.until(lambda: bench.text("a.md") == "changed")
    arrives(bench, "b.md")
    assert spelled(bench.news()).count("!") == 1


def _purge(server: CouchStandIn, bench: LiveSyncBench, path: str) -> None:
    with server.changed:
        database = server.databases[bench.database]
        stored = database.get(bench.device._encoder.id(path))
        assert stored
        assert database.purge(stored.id, list(stored.leaves))
