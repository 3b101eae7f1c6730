"""Case 11: what is deleted is never found, what is moved is found once, and no ciphertext is ever text.

(vrtmrz/obsidian-livesync#243, #256; es617/obsidian-sync-mcp#4, #10; vrtmrz/livesync-bridge#12)
"""

from collections.abc import Callable
from typing import Any

import pytest

from couch_stand_in import CouchStandIn
from livesync_bench import LiveSyncBench, Making
from vault_ask.errors import SourceRefused

GONE = {"_id": "gone.md", "path": "Gone.md", "type": "plain", "children": ["h:g"], "deleted": True}
SECRET = {"_id": "h:g", "type": "leaf", "data": "deleted secret rhubarb"}
OLD = {"_id": "old/x.md", "path": "Old/X.md", "type": "plain", "children": ["h:x"]}
NEW = {"_id": "new/x.md", "path": "New/X.md", "type": "plain", "children": ["h:x"]}
MOVED = {"_id": "h:x", "type": "leaf", "data": "moved note"}
SEALED = [
    {"_id": "enc.md", "path": "Enc.md", "type": "plain", "children": ["h:+e"]},
    {"_id": "h:+e", "type": "leaf", "e_": True, "data": "%=QmFzZTY0Y2lwaGVydGV4dA=="},
    {"_id": "f:9ab3", "path": "/\\:%=zzz", "type": "plain", "children": []},
]
HOUSEKEEPING = [{"_id": "_design/x"}, {"_id": "obsydian_livesync_version", "type": "versioninfo"}]

Delivery = Callable[[list[dict[str, Any]]], LiveSyncBench]


@pytest.fixture(params=["full scan", "changes feed", "changes after a restart"])
def delivered(request: pytest.FixtureRequest, livesync: Making, stand_in: CouchStandIn) -> Delivery:
    """Brings the documents before the first scan, through the feed, or while the daemon is off."""

    def deliver(documents: list[dict[str, Any]]) -> LiveSyncBench:
        bench = livesync(stand_in.url, {"Other.md": "walnut\n"})
        stand_in.store(bench.database, [OLD, MOVED])
        tombstone = {"_id": "old/x.md", "_rev": _revision(stand_in, bench, "old/x.md"), "_deleted": True}
        fresh = [one for one in documents if one["_id"] not in {"h:x", "obsydian_livesync_version"}]
        if request.param != "full scan":
            bench.until(lambda: "Old/X.md" in bench.paths())
        if request.param == "changes after a restart":
            bench.restart(before=lambda: stand_in.store(bench.database, [*fresh, tombstone]))
        else:
            stand_in.store(bench.database, [*fresh, tombstone])
        bench.device.put("Last.md", "almond\n")
        bench.until(lambda: "Last.md" in bench.paths())
        return bench

    return deliver


def _revision(server: CouchStandIn, bench: LiveSyncBench, doc_id: str) -> str:
    stored = server.databases[bench.database].get(doc_id)
    assert stored
    return stored.winner


def test_what_is_deleted_is_never_found_and_what_moved_is_found_once(delivered: Delivery) -> None:
    bench = delivered([GONE, SECRET, NEW, MOVED, *SEALED, *HOUSEKEEPING])
    assert bench.paths() == ["Last.md", "New/X.md", "Other.md"]
    assert bench.found("moved") == ["New/X.md"]
    assert "Gone.md" not in bench.found("rhubarb")
    assert b"rhubarb" not in bench.raw()


def test_ciphertext_is_neither_indexed_nor_embedded_and_told_with_what_is_needed(delivered: Delivery) -> None:
    bench = delivered([GONE, SECRET, NEW, MOVED, *SEALED, *HOUSEKEEPING])
    assert bench.found("QmFz") == []
    assert b"QmFz" not in bench.raw()
    assert "QmFz" not in "".join(bench.embedder.embedded)
    assert [*bench.troubles()] == ["Enc.md", "f:9ab3"]
    bench.restart(before=lambda: bench.writer.remember({"checkpoint": None}))
    bench.catch_up()
    assert "end-to-end encrypted" in bench.source.state().message


def test_note_that_is_not_deleted_after_all_is_found(delivered: Delivery, stand_in: CouchStandIn) -> None:
    bench = delivered([GONE, SECRET])
    revision = _revision(stand_in, bench, "gone.md")
    stand_in.store(bench.database, [{**GONE, "_rev": revision, "deleted": False}])
    bench.until(lambda: bench.found("rhubarb") == ["Gone.md"])


def test_vault_that_is_encrypted_throughout_is_refused_with_what_is_needed(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    bench = livesync(stand_in.url, couchdb={"passphrase": None})
    stand_in.store(bench.database, [*SEALED])
    with pytest.raises(SourceRefused, match=r"end-to-end encrypted.* VAULTASK_VAULT__COUCHDB__PASSPHRASE"):
        bench.until(lambda: False)
    assert not bench.paths()
