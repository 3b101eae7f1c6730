"""Versions that lost a conflict, and two documents at one path: they are never shown, and the strictest decides."""

import hashlib

import pytest

from couch_stand_in import CouchStandIn
from ingest.bench import OPEN
from livesync_bench import OPEN as OPEN_LEVEL
from livesync_bench import PERSONAL, SECRET, LiveSyncBench, Making, spelled


def test_version_that_lost_and_calls_itself_personal_makes_the_note_personal_until_it_is_resolved(
    followed: LiveSyncBench,
) -> None:
    assert followed.found("medlar", OPEN) == ["geometry.md"]
    followed.device.conflict("geometry.md", SECRET + "the other device's canary\n")
    followed.until(lambda: followed.level("geometry.md") is PERSONAL)
    assert "geometry.md" not in followed.found("medlar", OPEN)
    assert followed.found("medlar") == ["geometry.md"]
    assert "geometry.md" not in followed.found("canary")
    assert followed.embedder.embedded == []
    assert "another version waits to be resolved" in followed.troubles("conflict")["geometry.md"]
    assert followed.kept_troubles() == [("geometry.md", "conflict")]
    followed.device.resolve_conflict("geometry.md")
    followed.until(lambda: followed.level("geometry.md") is OPEN_LEVEL)
    assert followed.found("medlar", OPEN) == ["geometry.md"]
    assert followed.kept_troubles() == []


def test_conflict_keeps_the_note_personal_over_new_rules_and_restarts(sealed: LiveSyncBench) -> None:
    sealed.device.conflict("geometry.md", SECRET + "canary\n")
    sealed.until(lambda: sealed.level("geometry.md") is PERSONAL)
    sealed.restart(personal=("Nothing/**",))
    assert sealed.ingest.reclassify() == 0
    assert sealed.level("geometry.md") is PERSONAL
    sealed.catch_up()
    assert sealed.level("geometry.md") is PERSONAL
    sealed.restart(before=lambda: sealed.device.resolve_conflict("geometry.md"))
    sealed.until(lambda: sealed.level("geometry.md") is OPEN_LEVEL)


def test_path_of_a_version_that_lost_counts_by_the_rules_of_today(livesync: Making, stand_in: CouchStandIn) -> None:
    bench = livesync(stand_in.url, {"note.md": "winner's quince\n"}, mode="v2obf")
    bench.catch_up()
    lose_under_another_path(bench, stand_in, "note.md", "Private/note.md")
    bench.until(lambda: bench.troubles("conflict"))
    assert bench.level("note.md") is OPEN_LEVEL
    assert [[other.path for other in claim.others] for claim in bench.writer.claims()] == [["Private/note.md"]]
    bench.restart(personal=("Private/**",))
    assert bench.ingest.reclassify() == 1
    assert bench.level("note.md") is PERSONAL
    bench.device.resolve_conflict("note.md")
    bench.until(lambda: bench.level("note.md") is OPEN_LEVEL)
    lose_under_another_path(bench, stand_in, "note.md", "Private/again.md")
    bench.until(lambda: bench.level("note.md") is PERSONAL)
    assert bench.paths() == ["note.md"]


def lose_under_another_path(bench: LiveSyncBench, server: CouchStandIn, path: str, other: str) -> None:
    """Add a version that lost and says in its hidden metadata that it lies elsewhere."""
    encoder = bench.device._encoder
    document, chunks = encoder.file(other, f"text of {other}\n")
    digest = "00" + hashlib.md5(other.encode()).hexdigest()  # noqa: S324 - as CouchDB names revisions
    server.store(bench.database, [*chunks])
    server.store(bench.database, [document | {"_id": encoder.id(path), "_rev": f"1-{digest}"}], new_edits=False)


def test_version_that_lost_and_is_not_whole_makes_the_note_personal_until_it_is(sealed: LiveSyncBench) -> None:
    _, loser = sealed.device.conflict("geometry.md", "the other device's plain text\n")
    sealed.until(lambda: sealed.troubles("conflict"))
    assert sealed.level("geometry.md") is OPEN_LEVEL
    sealed.device.resolve_conflict("geometry.md")
    sealed.until(lambda: not sealed.troubles())
    chunks = [*sealed.device._encoder.file("geometry.md", "not yet there\n")[1]]
    sealed.device.send = lambda _chunks: None  # type: ignore[method-assign] # the pieces stay on the device
    sealed.device.conflict("geometry.md", "not yet there\n")
    sealed.until(lambda: sealed.level("geometry.md") is PERSONAL)
    assert "lost a conflict cannot be read" in sealed.troubles("incomplete")["geometry.md"]
    del sealed.device.send  # type: ignore[attr-defined]
    sealed.device.send(chunks)
    sealed.until(lambda: sealed.level("geometry.md") is OPEN_LEVEL)
    assert loser
    assert sealed.troubles("incomplete") == {}


def test_of_two_documents_at_one_path_the_newest_is_shown_and_the_strictest_decides(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    bench = livesync(stand_in.url, {"N.md": SECRET + "old olive\n"}, mode="plain")
    switched = bench.device_of("v2obf")
    switched.put("N.md", "new fig\n")
    bench.catch_up()
    assert bench.paths() == ["N.md"]
    assert bench.found("fig") == ["N.md"]
    assert "olive" not in bench.text("N.md")
    assert bench.level("N.md") is PERSONAL
    assert "2 documents of the database claim this path" in bench.troubles("conflict")["N.md"]
    switched.delete("N.md")
    bench.until(lambda: bench.found("olive") == ["N.md"])
    assert "-N.md" not in spelled(bench.news())
    switched.put("N.md", "new date\n")
    bench.until(lambda: "date" in bench.text("N.md"))
    bench.device.delete("N.md")
    bench.until(lambda: bench.level("N.md") is OPEN_LEVEL)
    assert "date" in bench.text("N.md")
    assert bench.troubles() == {}
    switched.close()


def test_version_that_lost_closes_the_note_while_the_winner_is_not_whole(sealed: LiveSyncBench) -> None:
    late = sealed.device.put_without_chunks("geometry.md", "date palm\n")
    sealed.device.conflict("geometry.md", SECRET + "canary\n")
    sealed.until(lambda: sealed.level("geometry.md") is PERSONAL)
    assert sealed.found("medlar", OPEN) == []
    assert sealed.found("medlar") == ["geometry.md"]
    sealed.device.resolve_conflict("geometry.md")
    sealed.device.send(late)
    sealed.until(lambda: sealed.text("geometry.md") == "date palm")
    assert sealed.level("geometry.md") is OPEN_LEVEL


def test_version_that_lost_closes_the_note_while_the_winner_waits_under_another_spelling(sealed: LiveSyncBench) -> None:
    sealed.device.conflict("geometry.md", SECRET + "canary\n")
    late = sealed.device.put_without_chunks("Geometry.md", "date palm\n")
    sealed.until(lambda: sealed.level("geometry.md") is PERSONAL)
    assert sealed.paths() == ["Hub.md", "geometry.md"]
    sealed.device.resolve_conflict("Geometry.md")
    sealed.device.send(late)
    sealed.until(lambda: sealed.paths() == ["Geometry.md", "Hub.md"])
    assert sealed.level("Geometry.md") is OPEN_LEVEL


def test_version_that_lost_closes_the_note_while_the_winner_cannot_be_decrypted(
    sealed: LiveSyncBench, stand_in: CouchStandIn
) -> None:
    document = sealed.device.document("geometry.md")
    assert document
    stand_in.store(sealed.database, [document | {"path": "/\\:%=" + "QmFz" * 40}])
    sealed.until(lambda: sealed.troubles("incomplete"))
    assert sealed.level("geometry.md") is OPEN_LEVEL
    sealed.device.conflict("geometry.md", SECRET + "canary\n")
    sealed.until(lambda: sealed.level("geometry.md") is PERSONAL)
    assert sealed.found("medlar") == ["geometry.md"]


def test_version_that_lost_and_arrives_while_the_index_is_told_of_another_address_opens_the_note(
    sealed: LiveSyncBench,
) -> None:
    chunks = [*sealed.device._encoder.file("geometry.md", "not yet there\n")[1]]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sealed.device, "send", lambda _chunks: None)  # the pieces stay on the device
        sealed.device.conflict("geometry.md", "not yet there\n")
    sealed.until(lambda: sealed.level("geometry.md") is PERSONAL)
    sealed.url = sealed.url.replace("127.0.0.1", "localhost")
    sealed.restart(before=lambda: sealed.device.send(chunks))
    sealed.until(lambda: sealed.level("geometry.md") is OPEN_LEVEL)
