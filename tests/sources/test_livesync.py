import base64
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livesync_device import MODES, PASSPHRASE, Cipher, Encoder
from vault_ask.sources.ciphers import Keyring, Undecodable, UndecodableCode, looks_encrypted
from vault_ask.sources.livesync import (
    CHUNKS,
    Metadata,
    assemble,
    chunk_data,
    inline_chunks,
    is_flag_file,
    is_note_id,
    note_id,
    read_metadata,
    refused_path,
    size_fits,
)

Doc = dict[str, Any]
SHARED = Path(__file__).parents[3] / "shared" / "livesync"
PASSPHRASES = {"v1dyn": "kısa😀pw", "v1dynobf": "a-long-enough-passphrase"}
RECORDED = ["plain", "compress", "v1", "v1dyn", "forcev1obf", "v1dynobf", "v2", "v2obf", "v2obfz", "delmeta"]
SALT = bytes(range(32))
KEYS = Keyring(PASSPHRASE, [SALT])
NO_KEYS = Keyring(None)
CIPHER = Cipher(PASSPHRASE, SALT, dynamic=False)
WRITERS = {mode: Encoder(mode, salt=SALT, cut=7) for mode in MODES}
NOTE: Doc = {"_id": "a.md", "_rev": "1-a", "type": "plain", "path": "A.md", "children": ["h:x"], "mtime": 5, "size": 1}
MARK = "\x0eLZ\x1d"

with_recordings = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared recordings are not beside this checkout")
any_text = st.text(st.characters(exclude_categories=["Cs"]))
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=8,
)


def winners(docs: list[Doc]) -> dict[str, Doc]:
    """The revision of each document that CouchDB shows: the longest history, then the highest hash."""
    alive = [doc for doc in docs if not doc.get("_deleted")]
    ordered = sorted(alive, key=lambda doc: (int(doc["_rev"].split("-")[0]), doc["_rev"]))
    return {doc["_id"]: doc for doc in ordered}


def recording(mode: str) -> tuple[dict[str, Doc], Keyring]:
    with gzip.open(SHARED / "dumps" / f"{mode}.json.gz") as file:
        dump = json.load(file)
    salts = [base64.b64decode(doc["pbkdf2salt"]) for doc in dump["local"] if "pbkdf2salt" in doc]
    return winners(dump["docs"]), Keyring(PASSPHRASES.get(mode, PASSPHRASE), salts)


def content(meta: Metadata, docs: Mapping[str, Doc], keys: Keyring) -> bytes:
    inline = inline_chunks(meta, keys) if any(child not in docs for child in meta.children) else {}
    pieces = [inline[child] if child in inline else chunk_data(docs[child], keys) for child in meta.children]
    return assemble(meta, pieces)


def files(docs: Mapping[str, Doc], keys: Keyring) -> Iterator[tuple[Metadata, bytes]]:
    for doc in docs.values():
        meta = read_metadata(doc, keys)
        if meta is not None and not meta.deleted:
            yield meta, content(meta, docs, keys)


def metadata(doc: Mapping[str, Any], keys: Keyring = NO_KEYS) -> Metadata:
    meta = read_metadata(doc, keys)
    assert meta is not None
    return meta


def refusal(doc: Mapping[str, Any], keys: Keyring = NO_KEYS) -> UndecodableCode:
    with pytest.raises(Undecodable) as caught:
        read_metadata(doc, keys)
    return caught.value.code


def chunk_refusal(doc: object, keys: Keyring = KEYS) -> UndecodableCode:
    with pytest.raises(Undecodable) as caught:
        chunk_data(doc, keys)
    return caught.value.code


def deflated(data: bytes) -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode()


# What the real plugin wrote


@with_recordings
@pytest.mark.parametrize("mode", RECORDED)
def test_a_recorded_database_lists_exactly_its_files(mode: str) -> None:
    docs, keys = recording(mode)
    expected = json.loads((SHARED / "dumps" / f"{mode}.files.json").read_text(encoding="utf-8"))
    found = {meta.path: hashlib.sha256(data).hexdigest() for meta, data in files(docs, keys)}

    conflicted = {path: found.pop(path) for path in expected["conflicted"]}
    assert found == expected["files"]
    assert all(conflicted[path] in either for path, either in expected["conflicted"].items())


@with_recordings
@pytest.mark.parametrize("mode", RECORDED)
def test_recorded_files_have_the_size_the_time_and_the_id_that_their_documents_say(mode: str) -> None:
    docs, keys = recording(mode)
    for meta, data in files(docs, keys):
        assert size_fits(meta, data)
        assert meta.size == len(data)
        assert meta.mtime > 1_700_000_000
        passphrase = PASSPHRASES.get(mode, PASSPHRASE) if mode.endswith(("obf", "obfz")) else None
        assert meta.id == note_id(meta.path, passphrase=passphrase)


@with_recordings
def test_the_recorded_database_that_minds_case_decodes() -> None:
    docs, keys = recording("casesens")
    found = {meta.path: data for meta, data in files(docs, keys)}

    assert found.pop("conflict.md") in {b"from A\n", b"from B, longer\n"}
    assert found == {"renamed/new name.md": b"to be renamed, with some content\n", "rebased.md": b"v2\n"}


@with_recordings
@pytest.mark.parametrize("mode", ["extra_plain", "extra_v1", "extra_v2"])
def test_rare_documents_decode(mode: str) -> None:
    docs, keys = recording(mode)
    found = {meta.path: data for meta, data in files(docs, keys)}

    expected = {"Eden.md": "eden A\neden😀 R".encode(), "Folder/Empty Eden.md": b" R"}
    assert found == expected | ({"legacy.md": b"legacy", "nopath.md": b" R"} if mode == "extra_plain" else {})


@with_recordings
def test_recorded_ids_are_made_from_their_paths() -> None:
    recorded = json.loads((SHARED / "crypto-vectors.json").read_text(encoding="utf-8"))
    for key, expected in recorded["ids"].items():
        path, kind, folded = key.split("|")
        passphrase = recorded["pass"] if kind == "obf" else None
        assert note_id(path, case_sensitive=folded == "false", passphrase=passphrase) == expected


@with_recordings
def test_no_recorded_note_is_read_with_a_wrong_passphrase() -> None:
    docs, keys = recording("v2obf")
    wrong = Keyring("wrong", keys.salts)

    assert {refusal(doc, wrong) for key, doc in docs.items() if is_note_id(key)} == {"wrong-passphrase"}


# What a device of ours writes


@pytest.mark.parametrize("mode", sorted(MODES))
@given(text=any_text, raw=st.binary())
@settings(max_examples=12, deadline=None)
def test_what_a_device_writes_is_read_back_in_every_mode(mode: str, text: str, raw: bytes) -> None:
    for path, data in (("Folder/Not.md", text.encode()), ("İmg/x.PNG", raw)):
        note, chunks = WRITERS[mode].file(path, data, mtime=1_700_000_000.5)
        docs = {chunk["_id"]: chunk for chunk in chunks}
        meta = metadata(json.loads(json.dumps(note)), KEYS)
        assert (meta.path, meta.size, meta.mtime) == (path, len(data), 1_700_000_000.5)
        assert content(meta, docs, KEYS) == data


def test_each_reason_has_its_code() -> None:
    note, chunks = WRITERS["v2obf"].file("Gizli.md", "text")
    cut = {**note, "path": note["path"][:-4]}

    assert refusal(note, NO_KEYS) == "no-passphrase"
    assert refusal(note, Keyring(PASSPHRASE)) == "no-salt"
    assert refusal(note, Keyring("wrong", [SALT])) == "wrong-passphrase"
    assert metadata(note, KEYS).path == "Gizli.md"
    assert refusal(cut, KEYS) == "damaged"
    assert chunk_refusal(chunks[0], NO_KEYS) == "no-passphrase"
    assert chunk_refusal(chunks[0], Keyring(PASSPHRASE)) == "no-salt"
    assert chunk_refusal(chunks[0], Keyring("wrong", [SALT])) == "wrong-passphrase"
    assert chunk_refusal({**chunks[0], "data": chunks[0]["data"][:-8] + "AAAAAA=="}) == "damaged"


def test_a_deleted_note_says_so_in_every_mode() -> None:
    for writer in WRITERS.values():
        assert metadata(writer.note("A.md", ["h:x"], 3, deleted=True), KEYS).deleted


def test_a_deleted_note_with_a_path_that_cannot_be_read_is_an_error() -> None:
    for mode in ("forcev1obf", "v2obf"):
        assert refusal(WRITERS[mode].note("A.md", [], 0, deleted=True), NO_KEYS) == "no-passphrase"


# What is a note


@pytest.mark.parametrize(
    "doc_id",
    [
        "h:1",
        "h:+1",
        "_design/chunks",
        "_local/x",
        "i:.obsidian/a.json",
        "i:f:00",
        "ix:dev/x",
        "ps:x",
        "syncinfo",
        "",
        "obsydian_livesync_version",
        "obsydian_livesync_milestone",
    ],
)
def test_what_is_no_note_is_passed_over(doc_id: str) -> None:
    assert not is_note_id(doc_id)
    assert read_metadata({**NOTE, "_id": doc_id}, NO_KEYS) is None


@pytest.mark.parametrize("doc_id", ["a.md", "/_a.md", "f:00ff", "h.md", "item.md", "syncinfo.md"])
def test_notes_are_told_by_their_id(doc_id: str) -> None:
    assert is_note_id(doc_id)


def test_chunk_ids_are_one_range() -> None:
    first, end = CHUNKS
    assert all(first <= chunk_id < end for chunk_id in ("h:", "h:+abc", "h:zzz", "h:\U0010ffff"))
    assert not any(first <= other < end for other in ("h.md", "ha", "i:x", "h;"))


@pytest.mark.parametrize("kind", ["leaf", "versioninfo", "syncinfo", "milestoneinfo", "chunkpack"])
def test_other_kinds_of_documents_are_passed_over(kind: str) -> None:
    assert read_metadata({**NOTE, "type": kind}, NO_KEYS) is None


@pytest.mark.parametrize("doc", [None, [], 5, "x", {}, {"_id": 5}, {"_id": "a.md"}, {"_id": "a.md", "type": "x"}])
def test_what_is_hardly_a_document_is_passed_over(doc: object) -> None:
    assert read_metadata(doc, NO_KEYS) is None


def test_a_tombstone_is_never_decrypted() -> None:
    assert read_metadata({**WRITERS["v2obf"].note("A.md", [], 0), "_deleted": True}, NO_KEYS) is None


@given(any_json)
@settings(max_examples=100, deadline=None)
def test_no_json_in_the_place_of_a_document_crashes(value: object) -> None:
    for read in (read_metadata, chunk_data):
        with suppress(Undecodable):
            read(value, NO_KEYS)


names = ["_id", "_rev", "type", "path", "children", "mtime", "size", "deleted", "eden", "data", "e_"]
near_id = st.sampled_from(["a.md", "f:00", "h:+x", "h:x", "/_a.md"])
near_path = st.sampled_from(
    ["/\\:%=", "/\\:[1]", "%/\\x", "%=", "[[", "%" + "0" * 90, CIPHER.v2("[" * 9), CIPHER.v2("{}")]
)
near_type = st.sampled_from(["plain", "newnote", "notes", "leaf", None])
odd_eden = st.dictionaries(st.sampled_from(["h:++encrypted", "h:++encrypted-hkdf", "h:+a", "h:b"]), any_json)


@given(
    st.fixed_dictionaries(
        {"_id": near_id, "type": near_type | any_json},
        optional={name: any_json | near_path for name in names if name not in {"_id", "type", "eden"}}
        | {"eden": odd_eden | any_json, "children": st.lists(st.text()) | any_json},
    )
)
@settings(max_examples=150, deadline=None)
def test_no_malformed_note_crashes_or_shows_a_ciphertext(doc: Doc) -> None:
    with suppress(Undecodable):
        meta = read_metadata(doc, KEYS)
        if meta is None:
            return
        assert not looks_encrypted(meta.path)
        assert not meta.path.startswith(("/\\:", "%/\\"))
        inline_chunks(meta, KEYS)
        assemble(meta, ["x"] * len(meta.children))


@pytest.mark.parametrize(
    "odd",
    [
        {"children": ["h:x", 5]},
        {"children": [["h:x"]]},
        {"children": None},
        {"children": "h:x"},
        {"path": 5},
        {"path": ["a"]},
        {"deleted": "yes"},
        {"type": "notes", "data": [["x"]]},
        {"type": "notes", "data": 5},
        {"_id": "f:00", "path": None},
        {"path": "/\\:%=AAAA"},
        {"_id": "f:00", "path": "%=AAAA"},
    ],
)
def test_malformed_notes_are_told_and_not_passed_over(odd: Doc) -> None:
    assert refusal({**NOTE, **odd}, KEYS) == "damaged"


def test_a_description_nested_without_end_is_damage() -> None:
    assert refusal({**NOTE, "_id": "f:00", "path": "/\\:" + CIPHER.v2("[" * 100_000)}, KEYS) == "damaged"


def test_what_nobody_can_read_yet_is_told_as_such() -> None:
    assert refusal({**NOTE, "type": "holograph"}) == "unsupported"
    assert refusal({**NOTE, "_id": "f:00", "path": "%/\\WtU9ycU9MR/nUBSLW+JrIUa0Ho+UOE8L6uceR4nOTNM="}) == "unsupported"


# Fields


@pytest.mark.parametrize(
    ("given_time", "seconds"),
    [
        (1_700_000_000_123, 1_700_000_000.123),
        (0, 0),
        (-5, 0),
        ("x", 0),
        (None, 0),
        (True, 0),
        (float("nan"), 0),
        (float("inf"), 253_402_300_799),
        (10**400, 253_402_300_799),
        (4_102_444_800_000, 4_102_444_800),
    ],
)
def test_times_are_seconds_and_sane(given_time: object, seconds: float) -> None:
    assert metadata({**NOTE, "mtime": given_time}).mtime == seconds


@pytest.mark.parametrize(
    ("given_size", "size"), [(5, 5), (0, 0), (-1, None), (True, None), ("5", None), (None, None), (10**30, None)]
)
def test_sizes_are_whole_numbers_or_unknown(given_size: object, size: int | None) -> None:
    assert metadata({**NOTE, "size": given_size}).size == size


def test_a_size_that_says_nothing_contradicts_nothing() -> None:
    assert [size_fits(metadata({**NOTE, "size": size}), b"abc") for size in (0, None, 3, 4)] == [
        True,
        True,
        True,
        False,
    ]


def test_the_path_is_spelled_as_the_path_field_spells_it() -> None:
    assert metadata({**NOTE, "_id": "/_x.md", "path": "_X.md"}).path == "_X.md"
    assert metadata({**NOTE, "_id": "/_x.md", "path": None}).path == "_x.md"
    assert metadata({**NOTE, "_id": "x.md", "path": "/X.md"}).path == "X.md"
    assert metadata({**NOTE, "_id": "100%.md", "path": "%100.md"}).path == "%100.md"


def test_text_is_told_by_type_or_by_name() -> None:
    kinds = [("plain", "a.bin"), ("newnote", "A.MD"), ("newnote", "b.canvas"), ("newnote", "x.json"), (None, "x.png")]
    told = [metadata({**NOTE, "type": kind, "path": path}).is_text for kind, path in kinds]

    assert told == [True, True, True, False, False]


def test_no_text_of_a_note_shows_when_its_metadata_is_printed() -> None:
    meta = metadata({"_id": "a.md", "path": "a.md", "data": "hush", "eden": {"h:a": {"data": "hush"}}})
    assert meta.body == "hush"
    assert "hush" not in repr(meta)


# Chunks


def test_a_plain_vault_may_hold_text_that_looks_encrypted() -> None:
    for text in (CIPHER.v2("x"), CIPHER.v1("x"), "%=AAAA", '["a"]'):
        assert chunk_data({"_id": "h:1", "type": "leaf", "data": text}, KEYS) == text


def test_what_is_marked_as_encrypted_is_never_shown_as_it_is() -> None:
    marks: list[object] = [True, 1, "true", {}]
    for marked in marks:
        assert chunk_refusal({"_id": "h:1", "type": "leaf", "data": "plain words", "e_": marked}) == "damaged"
    assert chunk_refusal({"_id": "h:+1", "type": "leaf", "data": CIPHER.v2("x")}, NO_KEYS) == "no-passphrase"


def test_an_encrypted_vaults_chunk_without_the_mark_is_decrypted_where_it_is_encrypted() -> None:
    assert chunk_data({"_id": "h:+1", "type": "leaf", "data": CIPHER.v1("x")}, KEYS) == "x"
    assert chunk_data({"_id": "h:+1", "type": "leaf", "data": "100% plain", "e_": False}, KEYS) == "100% plain"


def test_a_ciphertext_that_was_encrypted_again_is_opened_twice() -> None:
    twice = {"_id": "h:+1", "type": "leaf", "data": CIPHER.v2(CIPHER.v1("x")), "e_": True}
    foreign = Cipher("somebody else", SALT, dynamic=False).v1("y")

    assert chunk_data(twice, KEYS) == "x"
    assert chunk_data({**twice, "data": CIPHER.v2(foreign)}, KEYS) == foreign


@pytest.mark.parametrize("doc", [None, [], {}, {"data": None}, {"data": ["x"]}, {"type": "plain", "data": "x"}])
def test_what_is_no_chunk_is_damage(doc: object) -> None:
    assert chunk_refusal(doc) == "damaged"


def test_compression_is_undone_by_its_marker() -> None:
    def read(data: str) -> str:
        return chunk_data({"_id": "h:1", "type": "leaf", "data": data}, NO_KEYS)

    assert read(f"{MARK}{deflated('şöyle böyle'.encode())}") == "şöyle böyle"
    assert base64.b64decode(read(f"{MARK}~{deflated(bytes(5000))}")) == bytes(5000)
    assert read(MARK) == read(f"{MARK}~") == ""


def test_a_chunk_that_would_fill_the_memory_is_refused() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    block = bytes(2**20)
    bomb = b"".join(packer.compress(block) for _ in range(65)) + packer.flush()

    assert chunk_refusal({"_id": "h:1", "type": "leaf", "data": MARK + base64.b64encode(bomb).decode()}) == "damaged"


@pytest.mark.parametrize("packed", ["!", "AAAA", "Ym90", deflated(b"\xff\xfe"), deflated(b"x" * 5000)[:20]])
def test_a_damaged_stream_is_damage(packed: str) -> None:
    assert chunk_refusal({"_id": "h:1", "type": "leaf", "data": MARK + packed}) == "damaged"


# Putting together


def test_a_pair_that_was_cut_apart_is_joined_and_a_half_alone_does_not_crash() -> None:
    note = metadata(NOTE)

    assert assemble(note, ["a\ud83d", "\ude00b"]) == "a😀b".encode()
    assert assemble(note, ["\ud83d", "b", "\ude00", "\ud83d"]) == "\ufffdb\ufffd\ufffd".encode()


def test_repeated_chunks_count_each_time_and_binary_ones_are_opened_one_by_one() -> None:
    assert assemble(metadata(NOTE), ["ab", "ab", "c"]) == b"ababc"
    image = metadata({**NOTE, "type": "newnote", "path": "a.png"})
    assert assemble(image, ["AA==", "AA==", "AQI="]) == b"\0\0\1\2"
    assert assemble(image, []) == b""


@pytest.mark.parametrize(("piece", "code"), [("%packed", "unsupported"), ("not base64!", "damaged"), ("şş", "damaged")])
def test_binary_that_is_no_base64_is_told(piece: str, code: str) -> None:
    with pytest.raises(Undecodable) as caught:
        assemble(metadata({**NOTE, "type": "newnote", "path": "a.png"}), [piece])
    assert caught.value.code == code


def test_a_file_without_measure_is_refused() -> None:
    with pytest.raises(Undecodable, match="larger than 256 MB"):
        assemble(metadata(NOTE), ["x" * 2**20] * 257)


@pytest.mark.parametrize(
    ("path", "data", "size", "expected"),
    [
        ("a.md", "bGVnYWN5", 6, b"legacy"),
        ("a.md", "bGVnYWN5", 8, b"bGVnYWN5"),
        ("a.md", "bGVnYWN5", None, b"bGVnYWN5"),
        ("a.md", ["iki ", "parça"], 10, "iki parça".encode()),
        ("a.md", ["iki ", "parça"], 99, "iki parça".encode()),
        ("a.png", "AAEC", None, b"\0\1\2"),
        ("a.png", "AAEC", 3, b"\0\1\2"),
        ("a.md", "", 0, b""),
        ("a.md", f"{MARK}{deflated(b'deflated')}", 8, b"deflated"),
    ],
)
def test_notes_from_before_chunks_are_read(path: str, data: object, size: int | None, expected: bytes) -> None:
    meta = metadata({"_id": path, "path": path, "type": "notes", "data": data, "size": size})
    assert (meta.children, assemble(meta, [])) == ((), expected)


def test_an_old_note_that_is_encrypted_is_not_shown_as_it_is() -> None:
    old = {"_id": "a.md", "path": "a.md", "data": CIPHER.v1("old"), "size": 3}
    assert assemble(metadata(old, KEYS), []) == b"old"
    assert refusal(old, NO_KEYS) == "no-passphrase"


def test_chunks_inside_a_note_are_decrypted_only_when_asked_for() -> None:
    inside = json.dumps({"h:+a": {"data": "A", "epoch": 1}, "h:+b": {"data": 5}})
    for name, sealed in (("h:++encrypted", CIPHER.v1(inside)), ("h:++encrypted-hkdf", CIPHER.v2(inside))):
        meta = metadata({**NOTE, "eden": {name: {"data": sealed, "epoch": 999_999}}}, NO_KEYS)
        assert inline_chunks(meta, KEYS) == {"h:+a": "A"}
        with pytest.raises(Undecodable):
            inline_chunks(meta, NO_KEYS)


@pytest.mark.parametrize(
    "entry", [None, {}, {"data": 5}, {"data": "x"}, {"data": CIPHER.v2("[]")}, {"data": CIPHER.v2("[")}]
)
def test_malformed_chunks_inside_a_note_are_damage(entry: object) -> None:
    with pytest.raises(Undecodable) as caught:
        inline_chunks(metadata({**NOTE, "eden": {"h:++encrypted-hkdf": entry}}), KEYS)
    assert caught.value.code == "damaged"


# Paths


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../x.md",
        "a/../b.md",
        "./a.md",
        "a//b.md",
        "a/",
        "a/./b",
        "a\0.md",
        "a\nb.md",
        "a\\b.md",
        "C:/x.md",
        "a:b.md",
        "a\ud83d.md",
        "a\x85.md",
        "a\x7f.md",
        "x" * 5000,
    ],
)
def test_hostile_paths_are_refused_with_a_reason(path: str) -> None:
    assert refused_path(path)


@pytest.mark.parametrize(
    "path", ["a.md", "Türkçe/İ ığ.md", "..a/b...md", "emoji 😀🎉.md", ".obsidian/x", "%=a", "re\u0301.md"]
)
def test_ordinary_paths_are_taken(path: str) -> None:
    assert refused_path(path) is None


def test_switches_and_logs_of_livesync_are_no_notes() -> None:
    switches = ["redflag.md", "redflag2.md", "redflag3.md", "flag_rebuild.md", "flag_fetch.md"]
    assert all(map(is_flag_file, [*switches, "livesync_log_2026.md", "LIVESYNC_LOG_2026.md"]))
    assert not any(map(is_flag_file, ["Folder/redflag.md", "redflags.md", "About livesync_log_.md", "Redflag.md"]))
