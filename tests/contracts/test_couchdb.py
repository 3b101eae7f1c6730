"""What the source of the vault relies on, held against both servers through the client that it uses.

Where the two differ, a test says so: express-pouchdb is a real server with sequences of its own kind, and the stand-in
does what only Apache CouchDB does.
"""

from collections.abc import Iterator
from typing import Literal

import pytest

from couch_servers import CouchServer, Database, dump, load_dump
from vault_ask.errors import SourceError
from vault_ask.sources.couch_client import (
    CouchClient,
    DatabaseAbsent,
    Feed,
    FeedEnd,
    MalformedSequence,
    Row,
    SelectorRefused,
)
from waiting import PATIENCE, wait_until

HEARTBEAT = 0.5
Mode = Literal["continuous", "longpoll"]
MODES: tuple[Mode, ...] = ("continuous", "longpoll")


@pytest.fixture
def vault(couch_server: CouchServer) -> Iterator[Database]:
    with Database(couch_server.url).create() as database:
        yield database


@pytest.fixture
def client(vault: Database) -> Iterator[CouchClient]:
    made = CouchClient(vault.settings(), backoff_seconds=0.01)
    yield made
    made.close()


@pytest.fixture
def feeds(client: CouchClient) -> Iterator[list[Feed]]:
    """Feeds that the test opens, closed at its end."""
    opened: list[Feed] = []
    yield opened
    for feed in opened:
        feed.close()


def rows_of(feed: Feed, wanted: int) -> list[Row]:
    """Take rows until there are so many."""
    rows: list[Row] = []
    while len(rows) < wanted:
        taken = feed.take(PATIENCE)
        assert isinstance(taken, list), taken
        rows += taken
    return rows


def listed(client: CouchClient, start: str | None, end: str | None, *, limit: int = 2) -> list[str]:
    pages = client.all_docs(start=start, end=end, include_docs=True, limit=limit)
    return [row.id for page in pages for row in page]


def test_each_server_is_told_apart_without_a_question_that_could_hurt_it(
    client: CouchClient, couch_server: CouchServer
) -> None:
    assert client.is_pouchdb() is couch_server.is_pouchdb


def test_a_database_tells_of_itself(client: CouchClient, vault: Database) -> None:
    empty = client.info()
    vault.put({"_id": "a.md"})
    info = client.info()
    assert (info.name, info.doc_count) == (vault.name, 1)
    assert info.update_seq != empty.update_seq
    assert info.instance_start_time == empty.instance_start_time != ""


def test_a_rebuilt_database_has_another_start_on_couchdb_alone(
    client: CouchClient, vault: Database, couch_server: CouchServer
) -> None:
    before = client.info().instance_start_time
    vault.rebuild()
    assert (client.info().instance_start_time == before) is couch_server.is_pouchdb


def test_ranges_leave_the_chunks_out_and_are_paged_in_the_order_of_ids(client: CouchClient, vault: Database) -> None:
    ids = [
        "a.md",
        "Daily/ä;b&c=d#e%2F?.md",
        "h",
        "h:",
        "h:1",
        "h:+2",
        "h;",
        "i:x",
        "z.md",
        "日本.md",
        "😀.md",
        "/_under.md",
    ]
    vault.put_all([{"_id": doc_id, "path": doc_id} for doc_id in ids])
    vault.delete("z.md")
    kept = sorted(set(ids) - {"z.md"})
    assert listed(client, None, "h:") == [doc_id for doc_id in kept if doc_id < "h:"]
    assert listed(client, "h;", None) == [doc_id for doc_id in kept if doc_id >= "h;"]
    assert listed(client, None, None, limit=1) == listed(client, None, None, limit=100) == kept


def test_a_listed_document_comes_with_its_content_its_revision_and_its_conflicts(
    client: CouchClient, vault: Database
) -> None:
    vault.replicate([{"_id": "a.md", "_rev": "1-aa", "n": 1}, {"_id": "a.md", "_rev": "1-bb", "n": 2}])
    [[row]] = list(client.all_docs(start=None, end=None, include_docs=True, limit=10))
    expected = {"_id": "a.md", "_rev": "1-bb", "n": 2, "_conflicts": ["1-aa"]}
    assert (row.id, row.revision, row.deleted, row.doc) == ("a.md", "1-bb", False, expected)
    [[bare]] = list(client.all_docs(start=None, end=None, include_docs=False, limit=10))
    assert (bare.revision, bare.doc) == ("1-bb", None)


def test_a_document_deleted_between_two_pages_takes_no_other_with_it(client: CouchClient, vault: Database) -> None:
    vault.put_all([{"_id": f"{number}.md"} for number in range(6)])
    pages = client.all_docs(start=None, end=None, include_docs=False, limit=2)
    assert [row.id for row in next(pages)] == ["0.md", "1.md"]
    vault.delete("1.md")
    assert [row.id for page in pages for row in page] == ["2.md", "3.md", "4.md", "5.md"]


def test_documents_are_fetched_by_their_ids_and_the_absent_are_none(client: CouchClient, vault: Database) -> None:
    vault.put_all([{"_id": f"h:{number}", "data": str(number)} for number in range(1010)])
    vault.delete("h:7")
    wanted = [f"h:{number}" for number in range(1010)] + ["h:never", "half \ud83d surrogate"]
    found = client.fetch(wanted)
    assert list(found) == wanted
    assert [doc_id for doc_id, document in found.items() if document is None] == ["h:7", *wanted[-2:]]
    assert all(document["data"] == doc_id[2:] for doc_id, document in found.items() if document)


def test_one_document_is_read_with_its_conflicts_whatever_its_id(client: CouchClient, vault: Database) -> None:
    vault.replicate([{"_id": "../x/_all_docs", "_rev": f"1-{tail}"} for tail in ("aa", "bb")])
    assert client.document("../x/_all_docs") == {"_id": "../x/_all_docs", "_rev": "1-bb", "_conflicts": ["1-aa"]}
    assert client.document("absent") is None


def test_a_recreated_document_is_there_again(client: CouchClient, vault: Database) -> None:
    vault.put({"_id": "h:1", "data": "old"})
    vault.delete("h:1")
    vault.put({"_id": "h:1", "data": "new"})
    document = client.document("h:1")
    assert document is not None
    assert document["data"] == "new"


def test_losing_revisions_are_read_and_unknown_ones_are_none(client: CouchClient, vault: Database) -> None:
    vault.replicate([{"_id": "a.md", "_rev": "1-aa", "n": 1}, {"_id": "a.md", "_rev": "1-bb", "n": 2}])
    lost, unknown, absent = ("a.md", "1-aa"), ("a.md", "1-cc"), ("b.md", "1-aa")
    found = client.revisions([lost, unknown, absent])
    assert found == {lost: {"_id": "a.md", "_rev": "1-aa", "n": 1}, unknown: None, absent: None}


def test_a_revision_is_gone_after_compaction(client: CouchClient, vault: Database) -> None:
    old = vault.put({"_id": "a.md", "n": 1})
    new = vault.put({"_id": "a.md", "n": 2})
    assert client.revisions([("a.md", old)])["a.md", old] is not None
    vault.send("POST", "/_compact", {})
    wait_until(lambda: client.revisions([("a.md", old)])["a.md", old] is None)
    assert client.revisions([("a.md", new)])["a.md", new] is not None


def test_local_documents_are_read_and_appear_in_no_listing(client: CouchClient, vault: Database) -> None:
    vault.put_local({"_id": "_local/obsydian_livesync_milestone", "created": 1})
    told = client.local("obsydian_livesync_milestone")
    assert told is not None
    assert told["created"] == 1
    assert client.local("obsidian_livesync_sync_parameters") is None
    assert listed(client, None, None) == []
    assert client.changes(since="0", limit=10, selector=False).rows == []


def test_changes_are_paged_and_end_where_the_next_ones_begin(client: CouchClient, vault: Database) -> None:
    vault.put_all([{"_id": f"{number}.md"} for number in range(5)])
    first = client.changes(since="0", limit=3, selector=False)
    rest = client.changes(since=first.last_seq, limit=100, selector=False)
    assert len(first.rows) == 3
    assert sorted(row.id for row in [*first.rows, *rest.rows]) == [f"{number}.md" for number in range(5)]
    assert client.changes(since=rest.last_seq, limit=100, selector=False).rows == []
    again = client.changes(since=first.rows[-1].seq, limit=100, selector=False)
    assert [row.id for row in again.rows] == [row.id for row in rest.rows]


def test_now_is_the_end_of_the_changes(client: CouchClient, vault: Database) -> None:
    vault.put({"_id": "a.md"})
    page = client.changes(since="now", limit=1, selector=False)
    assert page.rows == []
    vault.put({"_id": "b.md"})
    assert [row.id for row in client.changes(since=page.last_seq, limit=9, selector=False).rows] == ["b.md"]


def test_couchdb_alone_tells_how_many_changes_are_left(
    client: CouchClient, vault: Database, couch_server: CouchServer
) -> None:
    vault.put_all([{"_id": f"{number}.md"} for number in range(5)])
    pending = client.changes(since="0", limit=2, selector=False).pending
    assert pending == (None if couch_server.is_pouchdb else 3)


def test_a_document_has_one_row_with_its_winning_revision(client: CouchClient, vault: Database) -> None:
    vault.put({"_id": "a.md", "n": 1})
    newest = vault.put({"_id": "a.md", "n": 2})
    [row] = client.changes(since="0", limit=10, selector=False).rows
    assert (row.id, row.revision, row.deleted, row.doc) == ("a.md", newest, False, None)


def test_a_tombstone_has_a_row_that_says_so(client: CouchClient, vault: Database) -> None:
    vault.put({"_id": "a.md"})
    tombstone = vault.delete("a.md")
    [row] = client.changes(since="0", limit=10, selector=False).rows
    assert (row.id, row.revision, row.deleted) == ("a.md", tombstone, True)


def test_a_losing_revision_that_comes_or_goes_makes_the_row_appear_again(client: CouchClient, vault: Database) -> None:
    vault.replicate([{"_id": "a.md", "_rev": "2-bb"}])
    start = client.changes(since="now", limit=1, selector=False).last_seq
    vault.replicate([{"_id": "a.md", "_rev": "1-aa"}])
    come = client.changes(since=start, limit=10, selector=False)
    vault.delete("a.md", "1-aa")
    gone = client.changes(since=come.last_seq, limit=10, selector=False)
    assert [(row.id, row.revision) for row in [*come.rows, *gone.rows]] == [("a.md", "2-bb")] * 2
    assert client.document("a.md") == {"_id": "a.md", "_rev": "2-bb"}


def test_a_sequence_that_is_none_is_malformed_for_couchdb_alone(client: CouchClient, couch_server: CouchServer) -> None:
    if couch_server.is_pouchdb:
        assert client.changes(since="garbage", limit=1, selector=False).rows == []
    else:
        with pytest.raises(MalformedSequence):
            client.changes(since="garbage", limit=1, selector=False)


def test_an_old_sequence_of_a_rebuilt_database_is_taken_and_replays_on_couchdb_alone(
    client: CouchClient, vault: Database, couch_server: CouchServer
) -> None:
    vault.put_all([{"_id": f"{number}.md"} for number in range(5)])
    old = client.changes(since="now", limit=1, selector=False).last_seq
    vault.rebuild()
    vault.put({"_id": "new.md"})
    rows = client.changes(since=old, limit=10, selector=False).rows
    assert [row.id for row in rows] == ([] if couch_server.is_pouchdb else ["new.md"])


def test_a_selector_leaves_chunks_out_and_bare_tombstones_in_and_pouchdb_never_gets_one(
    client: CouchClient, vault: Database, couch_server: CouchServer
) -> None:
    vault.put_all([{"_id": doc_id} for doc_id in ("a.md", "h:1", "h:+2", "h", "h;x.md", "gone.md")])
    vault.delete("gone.md")
    if couch_server.is_pouchdb:
        with pytest.raises(SelectorRefused):
            client.changes(since="0", limit=10, selector=True)
        with pytest.raises(SelectorRefused):
            client.follow(since="0", selector=True, mode="longpoll", heartbeat_seconds=HEARTBEAT)
        assert client.info().doc_count == 5
    else:
        page = client.changes(since="0", limit=10, selector=True)
        assert {row.id: row.deleted for row in page.rows} == {
            "a.md": False,
            "h": False,
            "h;x.md": False,
            "gone.md": True,
        }
        assert client.changes(since=page.last_seq, limit=10, selector=False).rows == []


@pytest.mark.parametrize("mode", MODES)
def test_a_feed_tells_what_is_there_and_what_comes(
    client: CouchClient, vault: Database, feeds: list[Feed], mode: Mode
) -> None:
    vault.put({"_id": "a.md"})
    feeds.append(client.follow(since="0", selector=False, mode=mode, heartbeat_seconds=HEARTBEAT))
    [row] = rows_of(feeds[-1], 1)
    if mode == "longpoll":
        end = feeds[-1].take(PATIENCE)
        assert isinstance(end, FeedEnd)
        assert end.error is None
        assert end.last_seq is not None
        feeds.append(client.follow(since=end.last_seq, selector=False, mode=mode, heartbeat_seconds=HEARTBEAT))
    assert feeds[-1].take(0.02) is None
    revision = vault.put({"_id": "b.md"})
    [later] = rows_of(feeds[-1], 1)
    assert [row.id, later.id, later.revision] == ["a.md", "b.md", revision]
    assert later.seq not in {"", row.seq}


@pytest.mark.parametrize("mode", MODES)
def test_heartbeats_keep_a_silent_feed_alive(
    client: CouchClient, vault: Database, feeds: list[Feed], mode: Mode
) -> None:
    feed = client.follow(since="now", selector=False, mode=mode, heartbeat_seconds=0.1)
    feeds.append(feed)
    heard = [feed.last_heard]
    for _ in range(5):
        wait_until(lambda: feed.last_heard > heard[-1])
        heard.append(feed.last_heard)
    assert feed.take(0) is None
    vault.put({"_id": "a.md"})
    assert [row.id for row in rows_of(feed, 1)] == ["a.md"]


def test_many_rows_come_through_a_feed_completely(client: CouchClient, vault: Database, feeds: list[Feed]) -> None:
    vault.put_all([{"_id": f"{number:05}.md"} for number in range(2000)])
    feeds.append(client.follow(since="0", selector=False, mode="continuous", heartbeat_seconds=HEARTBEAT))
    rows = rows_of(feeds[-1], 2000)
    assert {row.id for row in rows} == {f"{number:05}.md" for number in range(2000)}


@pytest.mark.parametrize("mode", MODES)
def test_a_feed_of_a_deleted_database_ends(
    client: CouchClient, vault: Database, feeds: list[Feed], couch_server: CouchServer, mode: Mode
) -> None:
    feed = client.follow(since="now", selector=False, mode=mode, heartbeat_seconds=HEARTBEAT)
    feeds.append(feed)
    start = feed.last_heard
    wait_until(lambda: feed.last_heard > start)
    vault.drop()
    if couch_server.is_pouchdb:
        # It does not notice; whoever follows finds out by the silence, or by looking at the database now and then.
        assert feed.take(HEARTBEAT) is None
    else:
        end = feed.take(PATIENCE)
        assert isinstance(end, FeedEnd)
        assert end.error is None
        assert end.last_seq
    with pytest.raises(DatabaseAbsent):
        client.info()


def test_an_absent_database_is_told_as_such_by_every_request(client: CouchClient, vault: Database) -> None:
    vault.drop()
    for ask in (
        client.info,
        lambda: client.local("obsydian_livesync_milestone"),
        lambda: client.fetch(["a.md"]),
        lambda: client.revisions([("a.md", "1-aa")]),
        lambda: listed(client, None, None),
        lambda: client.changes(since="0", limit=1, selector=False),
    ):
        with pytest.raises(DatabaseAbsent, match=f"holds no database {vault.name}"):
            ask()
    feed = client.follow(since="0", selector=False, mode="continuous", heartbeat_seconds=HEARTBEAT)
    end = feed.take(PATIENCE)
    feed.close()
    assert isinstance(end, FeedEnd)
    assert isinstance(end.error, SourceError)
    assert isinstance(end.error, DatabaseAbsent)


@pytest.mark.parametrize("name", ["plain", "v2obfz", "casesens", "delmeta", "extra_plain"])
def test_a_recorded_database_is_loaded_as_it_was_recorded(couch_server: CouchServer, name: str) -> None:
    recorded = dump(name)
    with load_dump(couch_server.url, name) as database:
        client = CouchClient(database.settings())
        leaves = [(one["_id"], one["_rev"]) for one in recorded["docs"]]
        found = client.revisions(leaves)
        assert [dict(found[leaf] or {}) | {"_revisions": 0} for leaf in leaves] == [
            one | {"_revisions": 0} for one in recorded["docs"]
        ]
        for document in recorded["local"]:
            read = client.local(document["_id"].removeprefix("_local/"))
            assert {**(read or {}), "_rev": 0} == {**document, "_rev": 0}
        client.close()
