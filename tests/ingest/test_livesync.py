"""A LiveSync vault followed into a real index: what devices do to a database, and what is then found.

tests/sources has what the source alone does; here source, ingest and index stand together.
"""

import threading
import time

import pytest

from couch_stand_in import CouchStandIn
from ingest.bench import PRIVATE
from livesync_bench import LONG, TWO_NOTES, LiveSyncBench, Making, listings, spelled
from vault_ask.errors import IndexFailed, SourceUnreachable
from vault_ask.index.writing import kept
from vault_ask.ingest.follower import Follower
from vault_ask.sources.couch_replica import Replica
from vault_ask.sources.livesync import Metadata
from waiting import wait_until


def edges(bench: LiveSyncBench) -> list[str | None]:
    with bench.index.open(PRIVATE) as view:
        return [edge.target_path for edge in view.links.edges_from("Hub.md")]


# Deletes


def test_note_deleted_in_its_body_is_gone_and_comes_back_undeleted_without_being_embedded(
    followed: LiveSyncBench,
) -> None:
    followed.device.delete("geometry.md")
    followed.until(lambda: followed.paths() == ["Hub.md"])
    assert "geometry.md" not in followed.found("medlar")
    assert edges(followed) == [None, None]
    followed.device.put("geometry.md", LONG)
    followed.until(lambda: followed.found("medlar") == ["geometry.md"])
    assert followed.embedder.embedded == []
    assert edges(followed) == ["geometry.md", None]


def test_bare_tombstone_takes_the_note_whose_path_only_the_index_knows(followed: LiveSyncBench) -> None:
    followed.device.purge_tombstone("geometry.md")
    followed.until(lambda: followed.paths() == ["Hub.md"])
    assert not any("geometry" in value for value in followed.remembered.values())


def test_bare_tombstone_written_while_the_daemon_was_off_takes_the_note(followed: LiveSyncBench) -> None:
    followed.restart(before=lambda: followed.device.purge_tombstone("geometry.md"))
    followed.until(lambda: followed.paths() == ["Hub.md"])
    assert "!" not in spelled(followed.news())[1:]


def test_note_that_the_memory_forgot_goes_by_the_path_that_its_document_tells(followed: LiveSyncBench) -> None:
    document = f"doc:{followed.device._encoder.id('geometry.md')}"
    assert document in followed.remembered
    followed.restart(before=lambda: followed.writer.remember({document: None}))
    followed.device.delete("geometry.md")
    followed.until(lambda: followed.paths() == ["Hub.md"])


def test_delete_that_cannot_be_decrypted_is_a_delete_all_the_same(
    sealed: LiveSyncBench, stand_in: CouchStandIn
) -> None:
    doc = sealed.device.document("geometry.md")
    assert doc is not None
    broken = {**doc, "path": "/\\:%=" + "A" * 120, "deleted": True}
    stand_in.store(sealed.database, [broken])
    sealed.until(lambda: sealed.paths() == ["Hub.md"])
    assert not any("geometry" in path for path in sealed.troubles())


def test_mode_that_leaves_no_metadata_deletes_by_tombstones_that_still_tell_the_path(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    bench = livesync(stand_in.url, TWO_NOTES, mode="delmeta")
    bench.catch_up()
    bench.device.delete("geometry.md")
    bench.until(lambda: bench.paths() == ["Hub.md"])
    bench.device.put("geometry.md", "again\n")
    bench.until(lambda: bench.paths() == ["Hub.md", "geometry.md"])


# Renames


@pytest.mark.parametrize("new_first", [False, True])
def test_rename_told_at_once_embeds_nothing_and_leaves_one_note(followed: LiveSyncBench, *, new_first: bool) -> None:
    followed.device.rename("geometry.md", "Math/geometry.md", new_first=new_first)
    followed.until(lambda: followed.paths() == ["Hub.md", "Math/geometry.md"])
    assert followed.embedder.embedded == []
    assert followed.found("medlar") == ["Math/geometry.md"]
    assert edges(followed) == ["Math/geometry.md", None]


def test_rename_whose_departure_comes_long_before_the_arrival_embeds_nothing(followed: LiveSyncBench) -> None:
    chunks = followed.device.document("geometry.md")
    assert chunks
    followed.device.delete("geometry.md")
    followed.until(lambda: followed.paths() == ["Hub.md"])
    followed.device.put("Math/geometry.md", LONG)
    followed.until(lambda: followed.paths() == ["Hub.md", "Math/geometry.md"])
    assert followed.embedder.embedded == []


def test_rename_whose_arrival_comes_long_before_the_departure_embeds_nothing(followed: LiveSyncBench) -> None:
    followed.device.put("Math/geometry.md", LONG)
    followed.until(lambda: len(followed.paths()) == 3)
    followed.device.delete("geometry.md")
    followed.until(lambda: followed.paths() == ["Hub.md", "Math/geometry.md"])
    assert followed.embedder.embedded == []
    assert followed.found("honey") == ["Math/geometry.md"]


def test_rename_while_the_daemon_was_off_embeds_nothing(sealed: LiveSyncBench) -> None:
    sealed.restart(before=lambda: sealed.device.rename("geometry.md", "Math/geometry.md"))
    sealed.until(lambda: sealed.paths() == ["Hub.md", "Math/geometry.md"])
    assert sealed.embedder.embedded == []


# The checkpoint


def test_restart_goes_on_from_the_checkpoint_without_listing_anything(
    sealed: LiveSyncBench, stand_in: CouchStandIn
) -> None:
    before = len(listings(stand_in))
    sealed.restart(before=lambda: sealed.device.put("New.md", "walnut\n"))
    sealed.until(lambda: "New.md" in sealed.paths())
    assert len(listings(stand_in)) == before
    assert "!" not in spelled(sealed.news())[1:]


def test_process_killed_between_two_batches_loses_nothing(followed: LiveSyncBench) -> None:
    followed.device.put("First.md", "walnut\n")
    followed.until(lambda: "First.md" in followed.paths())
    kept = followed.checkpoint
    followed.device.put("Second.md", "almond\n")
    while not followed.next_batch():
        pass  # taken out of the source, and never stored
    followed.restart()
    assert followed.checkpoint == kept
    followed.until(lambda: "Second.md" in followed.paths())
    assert followed.checkpoint != kept


def test_checkpoint_is_stored_with_its_notes_or_not_at_all(
    sealed: LiveSyncBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = sealed.checkpoint
    sealed.device.put("New.md", "walnut\n")

    def full(_db: object, values: object) -> None:
        if values:
            raise IndexFailed("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(kept, "remember", full)
        with pytest.raises(IndexFailed):
            sealed.until(lambda: False)
    assert "New.md" not in sealed.paths()
    assert sealed.checkpoint == former
    sealed.restart()
    sealed.until(lambda: "New.md" in sealed.paths())
    assert sealed.checkpoint != former


def test_batch_that_is_cut_short_keeps_the_checkpoint_from_before_it(
    livesync: Making, stand_in: CouchStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = livesync(stand_in.url, TWO_NOTES)
    bench.catch_up()
    kept, stop = bench.checkpoint, threading.Event()
    bench.restart(before=lambda: bench.device.put_many({f"{number}.md": f"note {number}\n" for number in range(100)}))
    store = bench.writer.replace

    def stop_after_storing(*arguments: object, **how: object) -> None:
        store(*arguments, **how)  # type: ignore[arg-type] # as it was called
        stop.set()

    monkeypatch.setattr(bench.writer, "replace", stop_after_storing)
    bench.ingest.apply(bench.next_batch(), stop)
    assert 2 < len(bench.paths()) < 102
    assert bench.checkpoint == kept
    bench.restart()
    bench.until(lambda: len(bench.paths()) == 102)
    assert bench.checkpoint != kept


def test_first_sweep_that_was_cut_short_begins_again_and_decrypts_no_path_twice(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    bench = livesync(stand_in.url, {f"{number}.md": f"note {number}\n" for number in range(130)}, mode="v2obf")
    batch = bench.next_batch()
    bench._stop.set()
    bench.ingest.apply(batch, bench._stop)
    assert bench.paths() == []
    assert "checkpoint" not in bench.remembered
    assert len([key for key in bench.remembered if key.startswith("doc:")]) == 130
    bench.restart()
    bench.catch_up()
    assert len(bench.paths()) == 130
    assert "checkpoint" in bench.remembered


# Names and settings


def test_decomposed_names_are_one_note_in_nfc_and_renaming_between_the_forms_embeds_nothing(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    bench = livesync(stand_in.url, {"U\u0308ber.md": "quince\n", "Hub.md": "[[\u00dcber]]\n"})
    bench.catch_up()
    bench.embedder.embedded.clear()
    assert bench.paths() == ["Hub.md", "\u00dcber.md"]
    bench.device.rename("U\u0308ber.md", "\u00dcber.md")
    bench.until(lambda: set(bench.remembered) >= {"doc:\u00fcber.md"} and "doc:u\u0308ber.md" not in bench.remembered)
    assert bench.paths() == ["Hub.md", "\u00dcber.md"]
    assert bench.found("quince") == ["\u00dcber.md"]
    assert bench.embedder.embedded == []


def test_settings_choose_what_is_indexed_and_a_change_of_them_holds_after_a_restart(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    notes = {"Areas/a.md": "fig\n", "Archive/b.md": "fig\n", "c.md": "fig\n"}
    bench = livesync(stand_in.url, notes, mode="v2obf", exclude=("Archive",))
    bench.catch_up()
    assert bench.paths() == ["Areas/a.md", "c.md"]
    bench.device.put("Archive/d.md", "fig\n")
    bench.device.put("Areas/e.md", "fig\n")
    bench.until(lambda: "Areas/e.md" in bench.paths())
    assert bench.paths() == ["Areas/a.md", "Areas/e.md", "c.md"]
    assert "+Archive/d.md" not in spelled(bench.news())
    bench.device.rename("c.md", "Archive/c.md")
    bench.until(lambda: "c.md" not in bench.paths())
    assert bench.paths() == ["Areas/a.md", "Areas/e.md"]


def test_canvas_is_indexed_and_an_attachment_is_not(sealed: LiveSyncBench) -> None:
    card = '{"nodes": [{"id": "1", "type": "text", "text": "walnut card", "x": 0, "y": 0, "width": 9, "height": 9}]}'
    sealed.device.put("image.png", b"\x00\x01" * 900)
    sealed.device.put("Board.canvas", card)
    sealed.until(lambda: "Board.canvas" in sealed.paths())
    assert sealed.found("walnut") == ["Board.canvas"]
    assert "image.png" not in sealed.paths()


# In threads


def test_follower_takes_up_again_what_was_cut_off_in_the_middle_of_a_batch(
    livesync: Making, stand_in: CouchStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_ask.ingest.follower.FIRST_RETRY_SECONDS", 0.05)
    bench = livesync(stand_in.url, TWO_NOTES, mode="v2obf")
    follower = Follower(bench.workshop, on_damage=lambda: None)
    follower.start()
    wait_until(lambda: bench.paths() == ["Hub.md", "geometry.md"] and bench.source.state().mode == "watching")
    bench.device.put("New.md", "walnut\n")
    stand_in.cut_next(12, path="_all_docs")
    wait_until(lambda: "New.md" in bench.paths())
    stand_in.down()
    wait_until(lambda: bench.source.state().mode == "waiting")
    stand_in.up()
    bench.device.rename("New.md", "Moved.md")
    wait_until(lambda: bench.paths() == ["Hub.md", "Moved.md", "geometry.md"])
    wait_until(lambda: follower.trouble is None)
    started = time.monotonic()
    follower.stop()
    assert time.monotonic() - started < 2
    assert bench.source.state().mode == "stopped"


def test_batch_that_the_server_cut_off_while_it_was_made_is_made_whole_again(
    livesync: Making, stand_in: CouchStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = livesync(stand_in.url, TWO_NOTES)
    bench.catch_up()
    is_whole, failing = Replica._is_whole, [True]

    def cut_off_once(self: Replica, metadata: Metadata) -> bool:
        if failing and failing.pop():
            raise SourceUnreachable("The server went away.")
        return is_whole(self, metadata)

    def write() -> None:
        bench.device.purge_tombstone("Hub.md")
        bench.device.recase("geometry.md", "Geometry.md")

    monkeypatch.setattr(Replica, "_is_whole", cut_off_once)
    bench.restart(before=write)
    bench.until(lambda: bench.paths() == ["Geometry.md"])
    assert not failing
