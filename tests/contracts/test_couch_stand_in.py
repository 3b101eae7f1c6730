"""What only Apache CouchDB does, as ../shared/livesync/FORMAT.md saw it, held against the stand-in."""

import random
from collections.abc import Iterator

import pytest

from couch_servers import Database
from couch_stand_in import CouchStandIn
from vault_ask.sources.couch_client import CouchClient, Row
from waiting import PATIENCE


@pytest.fixture
def vault(stand_in: CouchStandIn) -> Iterator[Database]:
    with Database(stand_in.url, "vault").create() as database:
        yield database


@pytest.fixture
def client(vault: Database) -> Iterator[CouchClient]:
    made = CouchClient(vault.settings(), backoff_seconds=0.01)
    yield made
    made.close()


def rows(client: CouchClient, since: str = "0", *, limit: int = 1000) -> list[Row]:
    return client.changes(since=since, limit=limit, selector=False).rows


def test_shards_are_listed_in_no_order_of_time_and_no_row_is_lost_wherever_one_goes_on(
    stand_in: CouchStandIn, vault: Database, client: CouchClient
) -> None:
    ids = [f"{number:02}.md" for number in range(40)]
    vault.put_all([{"_id": doc_id} for doc_id in ids])
    assert [row.id for row in rows(client)] == ids
    stand_in.random = random.Random(7)  # noqa: S311 - a seed of the test
    listed = rows(client)
    assert sorted(row.id for row in listed) == ids
    assert [row.id for row in listed] != ids
    for place, row in enumerate(listed):
        later = {one.id for one in rows(client, row.seq)}
        assert later == {one.id for one in listed[place + 1 :]}


def test_rows_may_be_told_more_than_once_and_none_is_left_out(
    stand_in: CouchStandIn, vault: Database, client: CouchClient
) -> None:
    stand_in.repeats = True
    vault.put_all([{"_id": f"{number}.md"} for number in range(9)])
    seq, told = "0", []
    while page := rows(client, seq, limit=8):
        told += [row.id for row in page]
        if seq == page[-1].seq:
            break
        seq = page[-1].seq
    assert set(told) == {f"{number}.md" for number in range(9)}
    assert len(told) > 9


def test_a_purged_document_is_gone_without_a_row_and_the_purge_sequence_tells(
    vault: Database, client: CouchClient
) -> None:
    revision = vault.put({"_id": "a.md"})
    vault.put({"_id": "b.md"})
    before, seq = client.info(), rows(client)[-1].seq
    assert vault.send("POST", "/_purge", {"a.md": [revision]})["purged"] == {"a.md": [revision]}
    assert rows(client, seq) == []
    assert client.document("a.md") is None
    assert [row.id for row in rows(client)] == ["b.md"]
    assert client.info().purge_seq != before.purge_seq
    assert client.info().instance_start_time == before.instance_start_time
    assert client.info().doc_count == 1


def test_purging_the_winner_of_a_conflict_brings_the_loser_back_with_a_row(
    vault: Database, client: CouchClient
) -> None:
    vault.replicate([{"_id": "a.md", "_rev": f"1-{tail}"} for tail in ("aa", "bb")])
    seq = rows(client)[-1].seq
    vault.send("POST", "/_purge", {"a.md": ["1-bb"]})
    assert [(row.id, row.revision) for row in rows(client, seq)] == [("a.md", "1-aa")]


def test_compaction_changes_neither_sequence_nor_start(vault: Database, client: CouchClient) -> None:
    vault.put({"_id": "a.md", "n": 1})
    vault.put({"_id": "a.md", "n": 2})
    before, seq = client.info(), rows(client)[-1].seq
    vault.send("POST", "/_compact", {})
    assert client.info() == before
    assert rows(client, seq) == []


def test_the_winner_is_the_longest_history_that_is_not_deleted(vault: Database, client: CouchClient) -> None:
    history = {"start": 3, "ids": ["ff", "bb", "aa"]}
    vault.replicate([{"_id": "a.md", "_rev": "3-ff", "_revisions": history, "_deleted": True}])
    vault.replicate([{"_id": "a.md", "_rev": "1-ff", "n": 1}])
    assert client.document("a.md") == {"_id": "a.md", "_rev": "1-ff", "n": 1}
    vault.replicate([{"_id": "a.md", "_rev": "2-00", "n": 2}])
    assert client.document("a.md") == {"_id": "a.md", "_rev": "2-00", "n": 2, "_conflicts": ["1-ff"]}
    vault.delete("a.md", "2-00")
    vault.delete("a.md", "1-ff")
    [row] = rows(client)
    assert (row.deleted, row.revision) == (True, "3-ff")


def test_a_write_over_another_revision_than_a_leaf_is_a_conflict(vault: Database) -> None:
    old = vault.put({"_id": "a.md", "n": 1})
    vault.put({"_id": "a.md", "n": 2})
    [told] = vault.send("POST", "/_bulk_docs", {"docs": [{"_id": "a.md", "_rev": old, "n": 3}]})
    assert told["error"] == "conflict"


def test_the_same_edits_make_the_same_revisions(stand_in: CouchStandIn, vault: Database) -> None:
    vault.put({"_id": "a.md", "n": 1})
    with Database(stand_in.url, "copy").create() as copy:
        copy.put({"_id": "a.md", "n": 1})
        assert copy.winner("a.md") == vault.winner("a.md")


def test_a_selector_by_type_misses_the_bare_tombstone_of_a_note(vault: Database, client: CouchClient) -> None:
    vault.put({"_id": "a.md", "type": "plain"})
    vault.delete("a.md")
    by_type = vault.send("POST", "/_changes?filter=_selector", {"selector": {"type": {"$ne": "leaf"}}})
    assert by_type["results"] == []
    assert [row.id for row in client.changes(since="0", limit=9, selector=True).rows] == ["a.md"]


def test_a_bare_semicolon_in_a_query_separates(vault: Database) -> None:
    vault.put_all([{"_id": "a"}, {"_id": "h;"}])
    with pytest.raises(AssertionError, match="bad_request"):
        vault.send("GET", '/_all_docs?start_key="h;"')
    assert [row["id"] for row in vault.send("GET", "/_all_docs?start_key=%22h%3B%22")["rows"]] == ["h;"]


def test_ids_too_long_for_an_address_are_listed_like_others(vault: Database, client: CouchClient) -> None:
    ids = [f"{number}{'日本' * 2000}.md" for number in range(5)]
    vault.put_all([{"_id": doc_id, "n": 1} for doc_id in ids])
    pages = client.all_docs(start=None, end="h:", include_docs=True, limit=2)
    assert [(row.id, (row.doc or {})["n"]) for page in pages for row in page] == [(doc_id, 1) for doc_id in ids]


def test_a_fresh_database_is_for_admins_until_somebody_becomes_a_member(stand_in: CouchStandIn) -> None:
    stand_in.users = {"admin": "root", "reader": "x"}
    owner = Database(stand_in.url, "fresh", login=("admin", "root"))
    reader = Database(stand_in.url, "fresh", login=("reader", "x"))
    with owner.create(), reader:
        owner.send("PUT", "/_security", {"members": {"roles": ["_admin"]}})
        with pytest.raises(AssertionError, match="not allowed"):
            reader.send("GET", "")
        owner.send("PUT", "/_security", {"members": {"names": ["reader"]}})
        assert reader.send("GET", "")["db_name"] == "fresh"


def test_an_older_couchdb_tells_no_start(stand_in: CouchStandIn) -> None:
    stand_in.tells_start = False
    with Database(stand_in.url).create() as database:
        assert database.send("GET", "")["instance_start_time"] == "0"


def test_a_server_that_was_down_is_back_on_its_port_with_all_it_held(
    stand_in: CouchStandIn, vault: Database, client: CouchClient
) -> None:
    vault.put({"_id": "a.md"})
    seq = rows(client)[-1].seq
    feed = client.follow(since=seq, selector=True, mode="continuous", heartbeat_seconds=5)
    stand_in.down()
    assert feed.take(PATIENCE)
    feed.close()
    stand_in.up()
    assert rows(client, seq) == []
    assert client.document("a.md") is not None
