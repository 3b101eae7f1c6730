"""Notes whose pieces are late, missing for good, back again, or cannot be decrypted."""

import json

import httpx

from couch_stand_in import CouchStandIn
from ingest.bench import OPEN
from livesync_bench import LONG, PACE, PERSONAL, SECRET, LiveSyncBench, Making
from livesync_bench import OPEN as OPEN_LEVEL
from vault_ask.answering.reading import Lines, note_response
from vault_ask.sources.couch_waiting import Pace


def test_late_pieces_leave_the_last_good_version_and_other_notes_go_on(followed: LiveSyncBench) -> None:
    late = followed.device.put_without_chunks("geometry.md", "date palm\n")
    followed.until(followed.troubles)
    assert list(followed.troubles()) == ["geometry.md"]
    assert f"1 of its 1 pieces (the first is {late[0]['_id']})" in followed.troubles("incomplete")["geometry.md"]
    assert followed.source.state().waiting == 1
    followed.device.put("Other.md", "walnut\n")
    followed.until(lambda: "Other.md" in followed.paths())
    assert followed.found("medlar") == ["geometry.md"]
    assert followed.kept_troubles() == [("geometry.md", "incomplete")]
    followed.device.send(late)
    followed.until(lambda: followed.text("geometry.md") == "date palm")
    assert followed.troubles() == {}
    assert followed.kept_troubles() == []


def test_a_note_whose_newer_version_is_not_whole_says_so_itself_until_it_is(followed: LiveSyncBench) -> None:
    def state() -> str:
        with followed.index.open(OPEN) as view:
            return note_response(view, "geometry.md", Lines()).index.state

    assert state() == "indexed"
    late = followed.device.put_without_chunks("geometry.md", "date palm\n")
    followed.until(lambda: state() == "incomplete")
    followed.device.send(late)
    followed.until(lambda: followed.text("geometry.md") == "date palm")
    followed.until(lambda: state() == "indexed")


def test_note_that_waits_for_pieces_goes_on_waiting_after_a_restart(sealed: LiveSyncBench) -> None:
    late = sealed.device.put_without_chunks("geometry.md", "date palm\n")
    sealed.until(sealed.troubles)
    sealed.restart()
    sealed.catch_up()
    assert sealed.found("medlar") == ["geometry.md"]
    assert late[0]["_id"] in sealed.troubles("incomplete")["geometry.md"]
    sealed.restart(before=lambda: sealed.device.send(late))
    sealed.until(lambda: sealed.text("geometry.md") == "date palm")


def test_pieces_collected_as_garbage_take_nothing_from_the_index_and_may_come_back(sealed: LiveSyncBench) -> None:
    note = sealed.device._encoder.file("geometry.md", LONG)[1]
    sealed.restart(before=lambda: [sealed.device.drop_chunk(piece["_id"]) for piece in note])
    sealed.catch_up()
    assert sealed.found("medlar") == ["geometry.md"]
    edited = sealed.device.put_without_chunks("geometry.md", LONG + "and a new end\n")
    sealed.device.send(edited[-1:])
    sealed.until(lambda: sealed.troubles("incomplete"))
    assert sealed.found("medlar") == ["geometry.md"]
    sealed.device.send(edited)
    sealed.until(lambda: "a new end" in sealed.text("geometry.md"))


def test_beginning_that_calls_the_note_personal_closes_it_before_the_rest_has_come(followed: LiveSyncBench) -> None:
    pieces = followed.device.put_without_chunks("geometry.md", SECRET + "x" * 2000)
    followed.device.send(pieces[:1])
    followed.until(lambda: followed.level("geometry.md") is PERSONAL)
    assert followed.found("medlar", OPEN) == []
    assert followed.found("medlar") == ["geometry.md"]


def test_frontmatter_that_is_cut_off_closes_the_note(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = livesync(stand_in.url, {"N.md": "quince\n"}, cut=40)
    bench.catch_up()
    pieces = bench.device.put_without_chunks("N.md", SECRET[:-4] + "tags: [one, two, three, four, five]\n---\nfig\n")
    bench.device.send(pieces[:1])
    bench.until(lambda: bench.level("N.md") is PERSONAL)


def test_new_spelling_is_shown_once_the_text_is_whole(followed: LiveSyncBench) -> None:
    late = followed.device.put_without_chunks("Geometry.md", "date palm\n")
    followed.until(followed.troubles)
    assert followed.paths() == ["Hub.md", "geometry.md"]
    assert followed.found("medlar") == ["geometry.md"]
    followed.device.send(late)
    followed.until(lambda: followed.paths() == ["Geometry.md", "Hub.md"])
    assert followed.text("Geometry.md") == "date palm"


def test_backoff_grows_with_every_try_and_pieces_of_any_note_shorten_it(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    patient = Pace(settle=0.03, sign=0.02, retries=(0.02, 0.02, 3600.0))
    bench = livesync(stand_in.url, {"N.md": "olive\n"}, pace=patient)
    bench.catch_up()
    late = bench.device.put_without_chunks("N.md", "date palm\n")
    bench.until(lambda: (waits := bench.source._replica.waiting.notes.get("N.md")) and waits.tries >= 2)
    before = len(stand_in.requests)
    for _ in range(10):
        bench.take()
    assert len(stand_in.requests) == before
    stand_in.selectors = 400
    bench.device.send(late)
    bench.restart(pace=PACE)
    bench.until(lambda: bench.text("N.md") == "date palm")


# What cannot be decrypted


def test_piece_that_cannot_be_decrypted_is_told_and_no_ciphertext_reaches_the_index(
    sealed: LiveSyncBench, stand_in: CouchStandIn
) -> None:
    cipher = "%=" + "QmFzZTY0Y2lwaGVydGV4dA" * 6
    pieces = sealed.device.put_without_chunks("geometry.md", "unreadable\n")
    stand_in.store(sealed.database, [{"_id": pieces[0]["_id"], "type": "leaf", "data": cipher, "e_": True}])
    sealed.until(lambda: sealed.troubles("incomplete"))
    assert "a piece of it cannot be read" in sealed.troubles("incomplete")["geometry.md"]
    assert sealed.found("medlar") == ["geometry.md"]
    assert "QmFz" not in "".join(sealed.embedder.embedded)
    assert b"QmFzZTY0" not in sealed.raw()


def test_what_is_no_utf8_in_ids_paths_or_names_holds_nothing_up(followed: LiveSyncBench) -> None:
    note = {"type": "plain", "children": []}
    strange = [
        {"_id": "id\ud800.md", "path": "a.md", **note},
        {"_id": "path.md", "path": "p\ud800.md", **note},
        {"_id": "child.md", "path": "child.md", "type": "plain", "children": ["h:\ud800"]},
        {"_id": "gone.md", "path": "g\ud800.md", "deleted": True, **note},
        {"_id": "gone\ud800.md", "path": "gone.md", "deleted": True, **note},
    ]
    loser = {"_id": followed.device._encoder.id("geometry.md"), "_rev": "1-00", "path": "\ud800.md", **note}
    _send(followed, {"docs": strange})
    _send(followed, {"docs": [loser], "new_edits": False})
    followed.device.put("New.md", "walnut\n")
    followed.until(lambda: "New.md" in followed.paths() and followed.level("geometry.md") is PERSONAL)
    assert {*followed.troubles("left-out")} == {"path.md", "child.md"}
    followed.restart(before=lambda: followed.writer.remember({"checkpoint": None}))
    followed.until(lambda: followed.troubles("left-out"))
    assert followed.paths() == ["Hub.md", "New.md", "geometry.md"]


def _send(bench: LiveSyncBench, body: object) -> None:
    """Write to the database as a script may, JSON that Python alone would not encode included."""
    text = json.dumps(body).encode()
    url = f"{bench.url}/{bench.database}/_bulk_docs"
    httpx.post(url, content=text, headers={"Content-Type": "application/json"}).raise_for_status()


def test_size_and_time_that_cannot_be_right_are_taken_and_the_size_is_told_after_a_restart_too(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    bench = livesync(stand_in.url, {"N.md": "quince\n"})
    document = bench.device.document("N.md")
    assert document
    stand_in.store(bench.database, [document | {"size": 999, "mtime": 10**15}])
    for _ in range(2):
        bench.catch_up()
        assert bench.found("quince") == ["N.md"]
        assert "999 bytes" in bench.troubles("size")["N.md"]
        assert bench.kept_troubles() == [("N.md", "size")]
        bench.restart()
    bench.device.put("N.md", "medlar\n")
    bench.until(lambda: bench.text("N.md") == "medlar")
    assert bench.kept_troubles() == []


def test_what_has_arrived_keeps_a_note_personal_that_new_rules_would_open(sealed: LiveSyncBench) -> None:
    sealed.restart(personal=("geometry.md",))
    assert sealed.ingest.reclassify() == 1
    pieces = sealed.device.put_without_chunks("geometry.md", SECRET + "x" * 2000)
    sealed.device.send(pieces[:1])
    sealed.until(lambda: sealed.troubles("incomplete"))
    sealed.restart()
    assert sealed.ingest.reclassify() == 0
    assert sealed.level("geometry.md") is PERSONAL
    sealed.device.put("geometry.md", "date palm\n")
    sealed.until(lambda: sealed.level("geometry.md") is OPEN_LEVEL)
