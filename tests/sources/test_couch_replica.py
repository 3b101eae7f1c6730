"""What the replica of a database lists and reads, through the source and before any index."""

import json
from collections.abc import Iterator
from threading import Event, Timer

import pytest

from couch_stand_in import CouchStandIn
from livesync_bench import couch_source
from livesync_device import MILESTONE, Device
from vault_ask.errors import DocumentIncomplete, DocumentVanished, SourceUnreachable
from vault_ask.sources import couch_documents, couch_listing
from vault_ask.sources.couch_listing import Listing, Look, is_much
from vault_ask.sources.couch_memory import Checkpoint
from vault_ask.sources.couch_vault import Epoch
from vault_ask.sources.couch_waiting import Pace
from vault_ask.sources.couchdb import CouchSource
from vault_ask.sources.port import Document, Unread

NOTES = {f"{number:02}.md": f"note {number}\n" for number in range(30)}
FOREIGN = {"type": "plain", "children": [], "size": 0, "mtime": 0}


@pytest.fixture
def device(stand_in: CouchStandIn) -> Iterator[Device]:
    with Device(stand_in.url, "vault") as device:
        device.create_database()
        yield device


@pytest.fixture
def hidden(stand_in: CouchStandIn) -> Iterator[Device]:
    """A device that encrypts everything, at the same database."""
    with Device(stand_in.url, "vault", mode="v2obf") as device:
        device.create_database()
        yield device


@pytest.fixture
def source(stand_in: CouchStandIn) -> Iterator[CouchSource]:
    source = couch_source(stand_in.url, "vault")
    yield source
    source.close()


def listed(source: CouchSource) -> list[str]:
    return [entry.path for entry in source.listing()]


def troubles(source: CouchSource) -> dict[str, tuple[str, str]]:
    return {trouble.path: (trouble.code, trouble.reason) for trouble in source.problems()}


# Listing


def test_listing_is_paged_and_knows_no_chunk_and_no_housekeeping(
    device: Device, source: CouchSource, stand_in: CouchStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(couch_listing, "PAGE", 7)
    device.put_many(NOTES | {"zz/last.md": "z", "_first.md": "f", "I.png": b"\x00"})
    stand_in.store("vault", [{"_id": "_design/chunks"}, {"_id": "i:.obsidian/app.json", **FOREIGN}])
    stand_in.store("vault", [{"_id": "syncinfo", "type": "syncinfo", "data": "x"}])
    assert listed(source) == sorted([*NOTES, "zz/last.md", "_first.md"])


def test_listing_that_meets_changes_starts_from_the_sequence_before_it(
    device: Device, source: CouchSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    device.put("a.md", "alpha\n")
    replica = source._replica
    look = Listing._look

    def write_meanwhile(self: Listing) -> Look:
        seen = look(self)
        device.put("b.md", "beta\n")
        return seen

    monkeypatch.setattr(Listing, "_look", write_meanwhile)
    assert listed(source) == ["a.md"]
    assert replica.checkpoint
    rows = replica.client.changes(since=replica.checkpoint.seq, limit=9, selector=True).rows
    assert [row.id for row in rows] == ["b.md"]


def test_listing_decrypts_nothing_of_deleted_files(
    hidden: Device, source: CouchSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden.put_many({"a.md": "alpha\n", "b.md": "beta\n", "c.md": "gamma\n"})
    hidden.delete("b.md")
    hidden.delete("c.md")
    assert listed(source) == ["a.md"]
    decrypted: list[str] = []
    decrypt = source._replica.keys.decrypt
    monkeypatch.setattr(source._replica.keys, "decrypt", lambda text: decrypted.append(text) or decrypt(text))
    source.recall({})
    assert listed(source) == ["a.md"]
    assert len(decrypted) == 1


def test_vault_without_a_milestone_is_listed(device: Device, source: CouchSource, stand_in: CouchStandIn) -> None:
    device.put("a.md", "alpha\n")
    del stand_in.databases["vault"].locals[MILESTONE]
    assert listed(source) == ["a.md"]
    assert source.name == "vault"


def test_names_are_composed_and_two_spellings_are_one_note(device: Device, source: CouchSource) -> None:
    device.put("U\u0308ber.md", "old\n", mtime=1_700_000_000)
    device.put("\u00dcber.md", "new\n", mtime=1_700_000_001)
    assert listed(source) == ["\u00dcber.md"]
    assert source.read("\u00dcber.md").content == b"new\n"
    assert [other.content for other in source.read("\u00dcber.md").others] == [b"old\n"]
    assert troubles(source)["\u00dcber.md"][0] == "conflict"


def test_name_of_the_vault_is_the_configured_one_else_the_devices(
    device: Device, source: CouchSource, stand_in: CouchStandIn
) -> None:
    assert source.name == "vault"
    device.put("a.md", "alpha\n")
    source.listing()
    assert source.name == "test"
    for odd in ("\ud800", "a\x1b[2J", " ", 5, None):
        nodes = {"one": {"vault_name": odd, "last_connected": 1e9}, "two": odd}
        stand_in.databases["vault"].locals[MILESTONE]["node_info"] = nodes
        source.listing()
        assert source.name == "vault"
    named = couch_source(stand_in.url, "vault", name="Mine")
    assert named.name == "Mine"
    named.close()


def test_much_that_is_missing_is_looked_at_until_it_keeps_still(device: Device, stand_in: CouchStandIn) -> None:
    source = couch_source(stand_in.url, "vault", pace=Pace(quiet=0.2))
    device.put_many(NOTES)
    source.listing()
    device.rebuild()
    device.put_many({"00.md": NOTES["00.md"]})
    filling = Timer(0.1, device.put_many, [NOTES])
    filling.start()
    assert listed(source) == list(NOTES)
    filling.join()
    source.close()


def test_waiting_for_a_database_that_is_filled_can_be_stopped(device: Device, stand_in: CouchStandIn) -> None:
    source = couch_source(stand_in.url, "vault", pace=Pace(quiet=3))
    device.put_many(NOTES)
    source.listing()
    device.rebuild()
    device.put("00.md", NOTES["00.md"])
    stop = Event()
    source.changes(stop)
    Timer(0.1, stop.set).start()
    with pytest.raises(SourceUnreachable, match="stopped"):
        source.listing()
    assert len(source._replica.catalogue) == 30
    source.close()


@pytest.mark.parametrize(
    ("lacking", "known", "much"), [(0, 0, False), (10, 12, False), (11, 50, True), (11, 100, False), (200, 1000, False)]
)
def test_much_is_a_share_and_a_number(lacking: int, known: int, *, much: bool) -> None:
    assert is_much(lacking, known) is much


# What a stranger may have written


@pytest.mark.parametrize("path", ["../up.md", "a/../../up.md", "a\x00b.md", "a\\b.md", "C:/x.md", "a\x1b[2Jb.md"])
def test_hostile_path_is_told_and_never_listed(
    device: Device, source: CouchSource, stand_in: CouchStandIn, path: str
) -> None:
    device.put("a.md", "alpha\n")
    stand_in.store("vault", [FOREIGN | {"_id": path, "path": path}])
    assert listed(source) == ["a.md"]
    [(shown, (code, reason))] = troubles(source).items()
    assert shown.isprintable()
    assert code == "left-out"
    assert reason
    for asked in (path, f"/{path}"):
        with pytest.raises(DocumentVanished):
            source.read(asked)


def test_note_that_is_moved_to_a_hostile_path_stays_as_it_was(
    device: Device, source: CouchSource, stand_in: CouchStandIn
) -> None:
    device.put("a.md", "alpha\n")
    source.listing()
    document = device.document("a.md")
    assert document
    stand_in.store("vault", [document | {"path": "../../up.md"}])
    assert listed(source) == ["a.md"]
    assert troubles(source)["a.md"][0] == "incomplete"
    with pytest.raises(DocumentIncomplete):
        source.read("a.md")


def test_file_that_cannot_be_decrypted_any_more_is_told_by_every_listing(
    hidden: Device, source: CouchSource, stand_in: CouchStandIn
) -> None:
    hidden.put("I.png", b"\x00")
    source.listing()
    document = hidden.document("I.png")
    assert document
    stand_in.store("vault", [document | {"path": "/\\:%=" + "QmFz" * 40}])
    for _ in range(2):
        source.listing()
        assert troubles(source)["I.png"][0] == "incomplete"


ODD = [
    {"children": None, "path": "odd0.md"}, {"children": "h:1"}, {"children": [1]}, {"children": {}}, {"path": 5},
    {"path": {}}, {"type": "future"}, {"type": 7}, {"deleted": "yes"}, {"deleted": 1}, {"type": "notes", "data": [1]},
    {"mtime": "soon", "children": ["h:x"]}, {"size": 10**30, "children": ["h:x"]}, {"eden": 5, "children": ["h:x"]},
    {"eden": {"h:x": 5}, "children": ["h:x"]}, {"path": "/\\:%=zzz"}, {"path": "%/\\deadbeef"},
]  # fmt: skip


def test_documents_of_any_shape_are_told_or_left_alone_and_the_vault_is_listed(
    device: Device, source: CouchSource, stand_in: CouchStandIn
) -> None:
    device.put("good.md", "alpha\n")
    stand_in.store("vault", [FOREIGN | {"_id": f"odd{number}.md"} | fields for number, fields in enumerate(ODD)])
    found = listed(source)
    assert "good.md" in found
    results = list(source.read_all(found))
    assert [one.entry.path for one in results if isinstance(one, Document)] == ["good.md"]
    told = troubles(source)
    silent = [fields for number, fields in enumerate(ODD) if f"odd{number}.md" not in told]
    assert silent == []


def test_path_that_is_told_wrongly_about_its_size_is_taken_and_told(
    device: Device, source: CouchSource, stand_in: CouchStandIn
) -> None:
    device.put("a.md", "\ufeffalpha\n")
    document = device.document("a.md")
    assert document
    stand_in.store("vault", [document | {"size": 999}])
    source.listing()
    assert source.read("a.md").content == "\ufeffalpha\n".encode()
    assert troubles(source) == {"a.md": ("size", "LiveSync recorded 999 bytes for it, and it has 9")}
    zero = device.document("a.md")
    assert zero
    stand_in.store("vault", [zero | {"size": 0}])
    source.listing()
    source.read("a.md")
    assert troubles(source) == {}


@pytest.mark.parametrize("mtime", [10**15, 10**300, -5, "later", None, True])
def test_time_that_cannot_be_is_no_reason_to_refuse_a_note(
    device: Device, source: CouchSource, stand_in: CouchStandIn, mtime: object
) -> None:
    device.put("a.md", "alpha\n")
    document = device.document("a.md")
    assert document
    stand_in.store("vault", [document | {"mtime": mtime}])
    [entry] = source.listing()
    assert 0 <= entry.mtime <= 253_402_300_799
    assert source.read("a.md").entry == entry


# Reading


def test_notes_are_read_in_the_order_asked_for_however_they_are_grouped(
    device: Device, source: CouchSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(couch_documents, "DECLARED_AT_ONCE", 20)
    device.put_many(NOTES)
    source.listing()
    asked = [*reversed(NOTES), "nowhere.md"]
    found = list(source.read_all(asked))
    assert [one.path if isinstance(one, Unread) else one.entry.path for one in found] == asked
    assert all(isinstance(one, Document) and one.content == NOTES[one.entry.path].encode() for one in found[:-1])
    assert isinstance(found[-1], Unread)
    assert found[-1].vanished


def test_what_is_excluded_cannot_be_read_either(device: Device, stand_in: CouchStandIn) -> None:
    device.put_many({"Archive/a.md": "alpha\n", "b.md": "beta\n", "I.png": b"\x00"})
    source = couch_source(stand_in.url, "vault", exclude=("Archive",))
    assert listed(source) == ["b.md"]
    assert source.read("b.md").content == b"beta\n"
    assert [holding.path for holding in source.holdings()] == ["I.png", "b.md"]
    for path in ("Archive/a.md", "I.png"):
        with pytest.raises(DocumentVanished):
            source.read(path)
    source.close()


def test_note_deleted_between_the_listing_and_the_reading_has_vanished(device: Device, source: CouchSource) -> None:
    device.put_many({"a.md": "alpha\n", "b.md": "beta\n"})
    source.listing()
    device.delete("a.md")
    device.purge_tombstone("b.md")
    assert [one.vanished for one in source.read_all(["a.md", "b.md"]) if isinstance(one, Unread)] == [True, True]


def test_versions_that_lost_come_with_the_note_each_under_its_own_path(hidden: Device, source: CouchSource) -> None:
    hidden.put("Note.md", "winner\n")
    hidden.conflict("note.md", "loser\n")
    source.listing()
    document = source.read("Note.md")
    assert document.content == b"winner\n"
    assert [(other.path, other.content) for other in document.others] == [("note.md", b"loser\n")]
    assert document.entry == source.listing()[0]


def test_version_that_lost_and_cannot_be_decrypted_has_no_content(
    hidden: Device, source: CouchSource, stand_in: CouchStandIn
) -> None:
    hidden.put("Note.md", "winner\n")
    doc = hidden.document("Note.md")
    assert doc
    stand_in.store("vault", [doc | {"_rev": "1-00", "path": "/\\:%=" + "QmFz" * 40, "data": None}], new_edits=False)
    source.listing()
    document = source.read("Note.md")
    assert [(other.path, other.content) for other in document.others] == [("Note.md", None)]
    assert {trouble.code for trouble in source.problems()} == {"conflict", "incomplete"}


# What is kept


@pytest.mark.parametrize("value", [None, "", "{}", "[]", '["1"]', '["1", "2", "three"]', "null", "7"])
def test_checkpoint_that_is_none_is_none(value: str | None) -> None:
    assert Checkpoint.load(value) is None


def test_checkpoint_survives_being_kept() -> None:
    kept = Checkpoint("12-g1AAAA", Epoch("1700", 5), "3-p")
    assert Checkpoint.load(kept.dump()) == kept


@pytest.mark.parametrize(
    ("one", "other", "another"),
    [
        (Epoch("1", 5), Epoch("1", 5), False),
        (Epoch("1", 5), Epoch("2", 5), True),
        (Epoch("1", 5), Epoch("1", 6), True),
        (Epoch("0", 5), Epoch("0", 6), True),
        (Epoch("0", 5), Epoch("2", 5), False),
        (Epoch("1", 5), Epoch("1", 0), False),
        (Epoch("0", 0), Epoch("0", 6), False),
    ],
)
def test_epochs_differ_by_what_both_of_them_know(one: Epoch, other: Epoch, *, another: bool) -> None:
    assert one.is_another(other) is other.is_another(one) is another


def test_memory_is_taken_back_and_what_is_no_memory_of_ours_does_no_harm(
    hidden: Device, source: CouchSource, stand_in: CouchStandIn
) -> None:
    hidden.put("Note.md", "text\n")
    source.listing()
    source.read("Note.md")
    memory = dict(source.memory())
    assert json.loads(memory["salts"])
    again = couch_source(stand_in.url, "vault")
    again.recall(memory)
    assert again.memory() == memory
    again.recall({"checkpoint": "?", "salts": "{", "doc:x": "?", "sealed:y": "z", "unknown": "1"})
    assert listed(again) == ["Note.md"]
    again.close()


def test_listing_that_nobody_asked_for_is_no_news_to_another_index(device: Device, source: CouchSource) -> None:
    device.put("a.md", "alpha\n")
    changes = source.changes(Event())
    next(changes)
    changes.close()  # type: ignore[attr-defined] # as a follower leaves it whose index failed
    device.put("b.md", "beta\n")
    source.recall({})
    assert listed(source) == ["a.md", "b.md"]
