"""The device that tests write with makes documents of the recorded shapes."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from livesync_device import MODES, PASSPHRASE, Encoder, milestone
from vault_ask.sources.ciphers import Keyring, looks_encrypted
from vault_ask.sources.livesync import read_metadata

Doc = dict[str, Any]
DUMPS = Path(__file__).parents[3] / "shared" / "livesync" / "dumps"
SALT = bytes(range(32))

with_recordings = pytest.mark.skipif(not DUMPS.is_dir(), reason="the shared recordings are not beside this checkout")


def recorded(mode: str) -> tuple[list[Doc], list[Doc]]:
    with gzip.open(DUMPS / f"{mode}.json.gz") as file:
        dump = json.load(file)
    return dump["docs"], dump["local"]


def shape(value: object) -> object:
    """A document without what differs from file to file: its keys, kinds of values, and beginnings that mean things."""
    if isinstance(value, dict):
        return {key: shape(inside) for key, inside in value.items() if key not in {"_rev", "_revisions", "_id"}}
    if isinstance(value, str):
        return next(
            (mark for mark in ("/\\:%=", "%=", "plain", "leaf") if value.startswith(mark)), looks_encrypted(value)
        )
    return type(value)


@with_recordings
@pytest.mark.parametrize("mode", sorted(MODES))
def test_documents_have_the_shape_of_recorded_ones(mode: str) -> None:
    docs, _ = recorded(mode)
    encoder = Encoder(mode, passphrase="a-long-enough-passphrase" if mode == "v1dynobf" else PASSPHRASE, salt=SALT)
    note, chunks = encoder.file("renamed/new name.md", "to be renamed, with some content\n")
    same = next((doc for doc in docs if doc["_id"] == note["_id"]), None)

    assert same is not None
    assert str(chunks[0]["_id"]).startswith("h:+" if encoder.mode.encryption else "h:")
    assert shape(note) == shape(same)
    leaf = next(
        doc for doc in docs if doc["_id"].startswith(str(chunks[0]["_id"])[: 3 if encoder.mode.encryption else 2])
    )
    assert shape(chunks[0]) == shape(leaf)


@with_recordings
@pytest.mark.parametrize("mode", sorted(MODES))
def test_the_milestone_says_what_the_recorded_one_says(mode: str) -> None:
    found = next(doc for doc in recorded(mode)[1] if doc["_id"] == "_local/obsydian_livesync_milestone")
    ours = milestone(mode, 1_700_000_000_000)

    assert {key: type(value) for key, value in ours.items()}.items() <= {k: type(v) for k, v in found.items()}.items()
    assert ours["tweak_values"]["PREFERRED"].items() <= found["tweak_values"]["PREFERRED"].items()


def test_the_same_piece_is_the_same_chunk_and_another_passphrase_makes_another() -> None:
    first, second = Encoder("v2", salt=SALT), Encoder("v2", passphrase="other", salt=SALT)

    assert first.chunk("a")["_id"] == first.chunk("a")["_id"]
    assert first.chunk("a")["data"] != first.chunk("a")["data"]
    assert len({first.chunk("a")["_id"], first.chunk("b")["_id"], second.chunk("a")["_id"]}) == 3


def test_repeated_pieces_are_written_once_and_counted_each_time() -> None:
    note, chunks = Encoder("plain", cut=2).file("a.md", "ababc")

    assert [chunk["data"] for chunk in chunks] == ["ab", "c"]
    assert note["children"] == [chunks[0]["_id"], chunks[0]["_id"], chunks[1]["_id"]]


def test_long_text_is_compressed_before_it_is_encrypted() -> None:
    keys = Keyring(PASSPHRASE, [SALT])
    chunk = Encoder("v2obfz", salt=SALT).chunk("again " * 100)
    plain = Encoder("compress").chunk("again " * 100)

    assert keys.decrypt(chunk["data"]) == plain["data"]
    assert plain["data"].startswith("\x0eLZ\x1d")
    assert Encoder("compress").chunk(base64.b64encode(bytes(900)).decode())["data"].startswith("\x0eLZ\x1d~")
    assert Encoder("compress").chunk("short")["data"] == "short"


def test_a_changed_case_is_the_same_document_only_where_case_does_not_matter() -> None:
    assert Encoder("v2obf").id("A.md") == Encoder("v2obf").id("a.md")
    assert Encoder("casesens").id("A.md") != Encoder("casesens").id("a.md")


def test_a_deleted_note_keeps_its_path() -> None:
    gone = Encoder("v2obf", salt=SALT).note("Gizli.md", ["h:+1"], 4, deleted=True)
    meta = read_metadata(gone, Keyring(PASSPHRASE, [SALT]))

    assert meta is not None
    assert (meta.path, meta.deleted, meta.children) == ("Gizli.md", True, ("h:+1",))
