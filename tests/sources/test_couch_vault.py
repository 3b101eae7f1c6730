"""A LiveSync database as strangers would have it: whatever they write or answer, the vault is followed and kept."""

import base64
import json
import math
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from couch_stand_in import CouchStandIn
from ingest.bench import Bench
from livesync_device import PASSPHRASE, Device
from vault_ask.errors import SourceRefused
from vault_ask.ingest.follower import Follower
from vault_ask.scope import OpenScope, Sensitivity
from vault_ask.settings.vault import VaultSettings
from vault_ask.sources.couch_answers import lines
from vault_ask.sources.couch_waiting import Pace
from vault_ask.sources.couchdb import CouchSource
from waiting import wait_until

PACE = Pace(quiet=0.1, settle=0.05, sign=0.1, heartbeat=1, retries=(0.1,))
PERSONAL = "---\nsensitivity: personal\n---\n"
Doc = dict[str, Any]


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sources.couch_following", "ingest.follower"):
        monkeypatch.setattr(f"vault_ask.{name}.FIRST_RETRY_SECONDS", 0.1)
        monkeypatch.setattr(f"vault_ask.{name}.LONGEST_RETRY_SECONDS", 0.2)
    monkeypatch.setattr("vault_ask.sources.couch_following.SESSION_SECONDS", 0.1)


class House:
    """A device that is the owner's, a stranger who writes to the same database, and an index that follows."""

    def __init__(self, server: CouchStandIn, folder: Path, mode: str) -> None:
        self.server = server
        self.device = Device(server.url, "vault", mode=mode)
        self.device.create_database()
        self.device.put("Good.md", "a good note: quince\n")
        couchdb = {"url": server.url, "database": "vault", "passphrase": PASSPHRASE}
        settings = VaultSettings.model_validate({"source": "couchdb", "couchdb": couchdb})
        self.source = CouchSource(settings, pace=PACE)
        self.bench = Bench(folder / "data", source=self.source, personal=("Private",))  # type: ignore[arg-type]
        self._count = 0

    def write(self, *documents: Doc) -> None:
        """Store documents as a stranger does; the revision need not fit."""
        for document in documents:
            stored = self.server.databases["vault"].get(document["_id"])
            revision = {"_rev": stored.winner} if stored and stored.leaves and not stored.is_deleted else {}
            self.server.store("vault", [{**document, **revision}])

    def chunk(self, text: str, prefix: str = "h:") -> str:
        self._count += 1
        self.write({"_id": f"{prefix}odd{self._count}", "type": "leaf", "data": text, "e_": prefix == "h:+"})
        return f"{prefix}odd{self._count}"

    def note(self, path: str, text: str = "odd\n", **fields: object) -> Doc:
        named = {"_id": path.lower(), "path": path, "type": "plain", "children": [self.chunk(text)], "size": 0}
        return {**named, "mtime": 1_700_000_000_000, "ctime": 1_700_000_000_000, "eden": {}, **fields}

    @property
    def levels(self) -> dict[str, Sensitivity]:
        return {path: known.sensitivity for path, known in self.bench.writer.known().items()}

    def settled(self) -> None:
        """Wait until everything written so far has been taken: what sorts last in any batch has arrived."""
        self._count += 1
        path = f"\uffffMark {self._count}.md"
        self.device.put(path, f"mark {self._count}\n")
        wait_until(lambda: path in self.levels)

    def shown(self) -> set[str]:
        return {path for path in self.levels if not path.startswith("\uffffMark ")}

    @property
    def problems(self) -> dict[str, str]:
        return {trouble.path: trouble.reason for trouble in self.source.problems()}

    @contextmanager
    def followed(self) -> Iterator[Follower]:
        follower = Follower(self.bench.workshop, on_damage=lambda: None)
        follower.start()
        try:
            wait_until(lambda: follower.caught_up)
            yield follower
            assert all(thread.is_alive() for thread in follower._threads)
        finally:
            follower.stop()


Making = Callable[..., House]


@pytest.fixture
def house(stand_in: CouchStandIn, tmp_path: Path) -> Iterator[Making]:
    made: list[House] = []

    def make(mode: str = "plain") -> House:
        made.append(House(stand_in, tmp_path, mode))
        return made[-1]

    yield make
    for each in made:
        each.bench.close()
        each.source.close()
        each.device.close()


NESTED: Any = json.loads("[" * 90 + "]" * 90)
ANY = [
    None,
    True,
    0,
    -1,
    1.5,
    2**70,
    1e308,
    math.inf,
    "",
    "\x00",
    "text",
    [],
    [1],
    {},
    {"a": 1},
    NESTED,
    "\ud800",
    "%=",
    "%" + "0" * 80,
]
FIELDS = ("path", "type", "children", "mtime", "ctime", "size", "eden", "deleted", "data", "_conflicts", "e_")


def test_documents_of_any_shape_change_nothing_else(house: Making) -> None:
    home = house("v2")
    with home.followed() as follower:
        for place, field in enumerate(FIELDS):
            for number, value in enumerate(ANY):
                home.write({**home.note(f"Odd {place} {number}.md"), field: value})
        home.settled()
        assert follower.trouble is None
        assert "Good.md" in home.levels
        assert home.bench.passages("Good.md")[0].body == "a good note: quince"
        with home.bench.index.open(OpenScope(web_allowed=False)) as view:
            assert view.state.counts().notes == len(home.levels)
        texts = [passage.body for path in home.shown() for passage in home.bench.passages(path)]
        assert not any("%=" in text or "%0000" in text for text in texts)
    home.bench.restart(personal=("Private",))
    with home.followed():
        home.settled()
        assert "Good.md" in home.levels


def test_a_database_full_of_odd_documents_is_bootstrapped(house: Making) -> None:
    home = house()
    for place, field in enumerate(FIELDS):
        for number, value in enumerate(ANY):
            home.write({**home.note(f"Odd {place} {number}.md"), field: value})
    with home.followed() as follower:
        home.settled()
        assert follower.trouble is None
        assert "Good.md" in home.levels
        assert [holding.path for holding in home.source.holdings() if holding.path == "Good.md"]


ODD_IDS = [
    "/_led.md",
    "with space.md",
    "a%2Fb.md",
    "a/b c.md",
    "😀.md",
    "x" * 10_000,
    "f:" + "a" * 64,
    "f:",
    "f:short",
    "I:upper.md",
    "__proto__",
    "constructor",
    "a\nb.md",
    "a\u202eb.md",
    "%",
    "?q=1",
    "#h",
    "&",
    "=",
    '"',
    "'",
    "{}",
    "null",
    "\u2028.md",
    "é.md",
    "e\u0301.md",
    "CON.md",
    "h",
    "h;",
    "i;",
    "..",
    "../up.md",
    "/abs.md",
    "//x.md",
    "a//b.md",
    "~.md",
]


def test_ids_of_any_letters_are_notes_or_troubles_and_nothing_else_is_lost(house: Making) -> None:
    home = house()
    with home.followed() as follower:
        for number, name in enumerate(ODD_IDS):
            home.write({**home.note(f"By path {number}.md"), "_id": name})
            home.write({**home.note(name), "_id": f"by-id-{number}"})
        home.settled()
        assert follower.trouble is None
        # `f:` ids have paths that are not encrypted here, and are notes like others; `_` is CouchDB's own.
        expected = {f"By path {number}.md" for number, name in enumerate(ODD_IDS) if not name.startswith("_")}
        assert expected <= home.shown()
        assert not any("\n" in path or path.startswith("/") or ".." in path.split("/") for path in home.shown())
        assert "😀.md" in home.shown()
        for path in home.problems:
            assert path.isprintable(), ascii(path)
        for name in ODD_IDS:
            home.server.store(
                "vault", [{"_id": name, "_rev": home.server.databases["vault"].get(name).winner, "_deleted": True}]
            )  # type: ignore[union-attr]
        wait_until(lambda: not any(path.startswith("By path") for path in home.shown()))


def test_half_a_surrogate_in_text_path_or_child_is_no_end(house: Making) -> None:
    home = house()
    with home.followed():
        home.write(home.note("Half.md", "half \ud83d of a face\n"))
        home.write({**home.note("Child.md"), "children": ["h:\ud83d"]})
        home.write({**home.note("Path.md"), "path": "P\ud83d.md"})
        left, right = home.chunk("face \ud83d"), home.chunk("\ude00\n")
        home.write({**home.note("Whole.md"), "children": [left, right]})
        home.settled()
        assert {"Half.md", "Whole.md"} <= home.shown()
        assert "😀" in home.bench.passages("Whole.md")[0].body
        assert {"Child.md", "Path.md"}.isdisjoint(home.shown())


def test_a_note_that_moves_to_a_personal_folder_and_back_is_never_open_there(house: Making) -> None:
    home = house()
    with home.followed():
        home.write(home.note("Open/Note.md", _id="note"))
        wait_until(lambda: home.levels.get("Open/Note.md") is Sensitivity.OPEN)
        home.write(home.note("Private/Note.md", _id="note"))
        wait_until(lambda: "Open/Note.md" not in home.levels)
        assert home.levels["Private/Note.md"] is Sensitivity.PERSONAL
        home.write(home.note("Open/Note.md", _id="note"))
        wait_until(lambda: home.levels.get("Open/Note.md") is Sensitivity.OPEN)
        assert "Private/Note.md" not in home.levels


def test_a_move_to_a_personal_folder_without_its_pieces_closes_the_note(house: Making) -> None:
    home = house()
    with home.followed():
        home.write(home.note("Open/Note.md", _id="note"))
        wait_until(lambda: "Open/Note.md" in home.levels)
        home.write({**home.note("Private/Note.md", _id="note"), "children": ["h:absent"]})
        wait_until(lambda: home.levels.get("Open/Note.md") is not Sensitivity.OPEN)


@pytest.mark.parametrize("hidden", ["missing", "damaged", "eden", "type"])
def test_a_losing_revision_that_cannot_be_read_makes_the_note_personal(house: Making, hidden: str) -> None:
    home = house("v2")
    with home.followed():
        home.device.put("N.md", "the winner\n")
        wait_until(lambda: home.levels.get("N.md") is Sensitivity.OPEN)
        loser: Doc = {
            "missing": {"children": ["h:+nowhere"]},
            "damaged": {"children": [home.chunk("%=" + "A" * 80, "h:+")]},
            "eden": {"children": ["h:+eden"], "eden": {"h:++encrypted-hkdf": {"data": "%=AAAA", "epoch": 1}}},
            "type": {"type": "of tomorrow"},
        }[hidden]
        document = {**home.note("N.md"), **loser, "_rev": "1-0000", "_revisions": {"start": 1, "ids": ["0000"]}}
        home.server.store("vault", [document], new_edits=False)
        wait_until(lambda: home.levels.get("N.md") is Sensitivity.PERSONAL)
        with home.bench.index.open(OpenScope(web_allowed=False)) as view:
            assert "N.md" not in view.notes.paths()


def test_a_losing_revision_says_personal_from_inside_eden(house: Making) -> None:
    home = house()
    with home.followed():
        home.device.put("N.md", "the winner\n")
        wait_until(lambda: home.levels.get("N.md") is Sensitivity.OPEN)
        inside = {"children": ["h:young"], "eden": {"h:young": {"data": PERSONAL + "loser\n", "epoch": 1}}}
        document = {**home.note("N.md"), **inside, "_rev": "1-0000", "_revisions": {"start": 1, "ids": ["0000"]}}
        home.server.store("vault", [document], new_edits=False)
        wait_until(lambda: home.levels.get("N.md") is Sensitivity.PERSONAL)
        assert "devices disagree" in home.problems["N.md"]


def test_a_second_document_at_a_path_cannot_open_a_personal_note(house: Making) -> None:
    home = house()
    with home.followed():
        home.device.put("Secret.md", PERSONAL + "quiet\n", mtime=1_600_000_000)
        wait_until(lambda: home.levels.get("Secret.md") is Sensitivity.PERSONAL)
        home.write({**home.note("Secret.md", "sensitivity: open\n"), "_id": "another", "mtime": 1_900_000_000_000})
        home.settled()
        assert home.levels["Secret.md"] is Sensitivity.PERSONAL
        assert "claim this path" in home.problems["Secret.md"]


def test_a_note_that_cannot_be_decrypted_any_more_stays_as_it_was(house: Making) -> None:
    home = house("v2obf")
    with home.followed():
        doc = home.device.document("Good.md")
        assert doc is not None
        home.write({**doc, "path": "/\\:%=" + base64.b64encode(bytes(80)).decode()})
        wait_until(lambda: "Good.md" in home.problems)
        assert home.bench.found("quince") == ["Good.md"]
        home.device.put("Good.md", "whole again: fig\n")
        wait_until(lambda: home.bench.found("fig") == ["Good.md"])
        assert home.problems == {}


def test_decompression_bombs_and_endless_notes_stay_out(house: Making) -> None:
    home = house()
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = b"".join(deflate.compress(bytes(2**20)) for _ in range(80)) + deflate.flush()
    with home.followed():
        home.write(home.note("Bomb.md", "\x0eLZ\x1d" + base64.b64encode(packed).decode()))
        home.write({**home.note("Many.md"), "children": [home.chunk("x" * 1000)] * 1_000_000})
        home.write({**home.note("Absent.md"), "children": [f"h:no{n}" for n in range(20_000)]})
        home.settled()
        assert {"Bomb.md", "Many.md", "Absent.md"}.isdisjoint(home.shown())
        assert {"Bomb.md", "Many.md", "Absent.md"} <= set(home.problems)


def test_names_that_would_play_tricks_on_a_terminal_are_shown_harmless(house: Making) -> None:
    home = house()
    names = ["a\nb\x1b[31m.md", "gpj\u202e.md", "nul\x00.md", "bell\x07.md"]
    with home.followed(), capture_logs() as logs:
        for number, name in enumerate(names):
            home.write({**home.note(name), "_id": f"tricky-{number}"})
            home.write({**home.note("Torn.md"), "_id": name, "path": f"torn {number} \u202e.md", "children": ["h:no"]})
        home.settled()
        for trouble in home.source.problems():
            assert trouble.path.isprintable(), ascii(trouble.path)
            assert trouble.reason.isprintable(), ascii(trouble.reason)
        assert len(home.problems) >= len(names)
        assert not any("tricky" in str(line) or "torn" in str(line) for line in logs)


ANSWERS = {
    "nothing": b"",
    "null": b"null",
    "a list": b"[]",
    "rows of nothing": b'{"rows": [null, 1, "x", [], {}], "results": [null, {}], "last_seq": null}',
    "rows without ids": b'{"rows": [{"doc": {"_id": "x", "path": "x.md"}}], "results": [{"seq": 1}], "last_seq": "1"}',
    "not a number": b'{"rows": NaN, "results": Infinity, "last_seq": NaN}',
    "deep": b'{"rows": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "half": b'{"rows":[{"id":"',
    "not text": b"\xff\xfe\x00{",
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_server_that_answers_nonsense_loses_nothing_and_is_followed_again(house: Making, answer: str) -> None:
    home = house()
    with home.followed() as follower:
        wait_until(lambda: home.source.state().mode == "watching")
        headers = {"Content-Type": "application/json"}
        home.server.reply_next(ANSWERS[answer], headers=headers, count=6)
        home.server.cut_connections()
        home.device.close()
        wait_until(lambda: len(home.server.replies) < 3)
        home.server.replies.clear()
        home.device = Device(home.server.url, "vault")
        home.settled()
        assert "Good.md" in home.levels
        wait_until(lambda: follower.trouble is None)


def test_a_line_that_never_ends_is_not_kept() -> None:
    taken = []

    def endless() -> Iterator[bytes]:
        while True:
            taken.append(1)
            yield bytes(2**20)

    with pytest.raises(ValueError, match="does not end"):
        list(lines(endless()))
    assert len(taken) < 20


def test_documents_of_other_ids_than_were_asked_for_are_not_taken(house: Making) -> None:
    home = house()
    with home.followed():
        wait_until(lambda: home.source.state().mode == "watching")
        stranger = {"_id": "good.md", "_rev": "9-9", "path": "Other.md", "type": "plain", "children": []}
        rows = [{"id": "other", "key": key, "value": {"rev": "9-9"}, "doc": stranger} for key in ("new.md", "good.md")]
        home.server.reply_next(
            json.dumps({"rows": rows}).encode(), headers={"Content-Type": "application/json"}, path="_all_docs"
        )
        home.write(home.note("New.md"))
        wait_until(lambda: not home.server.replies)
        home.settled()
        assert "Other.md" not in home.levels
        assert "Good.md" in home.levels


def test_rows_of_one_document_twice_are_one_note(house: Making) -> None:
    home = house()
    home.server.repeats = True
    with home.followed():
        for _ in range(5):
            home.write(home.note("Twice.md"))
        home.settled()
        assert "Twice.md" in home.levels
        assert home.source.problems() == ()


def test_a_passphrase_that_is_wrong_stays_refused_however_often_it_is_tried(house: Making) -> None:
    home = house("v2")
    couchdb = {"url": home.server.url, "database": "vault", "passphrase": "another"}
    source = CouchSource(VaultSettings.model_validate({"source": "couchdb", "couchdb": couchdb}), pace=PACE)
    for _ in range(3):
        with pytest.raises(SourceRefused, match="does not open it"):
            source.reach()
    with pytest.raises(SourceRefused, match="does not open it"):
        source.listing()
    source.close()


def test_a_vault_that_is_partly_encrypted_is_indexed_as_far_as_it_is_plain(house: Making, tmp_path: Path) -> None:
    home = house()
    sealed = Device(home.server.url, "vault", mode="v2obf")
    sealed.put("Sealed.md", "sealed\n")
    sealed.close()
    couchdb = {"url": home.server.url, "database": "vault"}
    source = CouchSource(VaultSettings.model_validate({"source": "couchdb", "couchdb": couchdb}), pace=PACE)
    bench = Bench(tmp_path / "other", source=source)  # type: ignore[arg-type]
    follower = Follower(bench.workshop, on_damage=lambda: None)
    follower.start()
    try:
        wait_until(lambda: bench.paths() == ["Good.md"])
        wait_until(lambda: "watching" in source.state().mode)
        assert "end-to-end encrypted, and no passphrase is set" in source.state().message
        assert "VAULTASK_VAULT__COUCHDB__PASSPHRASE" in source.state().message
        home.device.put("Later.md", "plain as well\n")
        wait_until(lambda: bench.paths() == ["Good.md", "Later.md"])
    finally:
        follower.stop()
        bench.close()
        source.close()
