"""What the documents of a Self-hosted LiveSync database mean: metadata, chunks, ids and paths. Pure: no I/O, no clock.

The format is that of vrtmrz/livesync-commonlib 0.1.18. Any device, bridge or script with a password writes there, so
nothing is trusted: what is a note and cannot be read raises Undecodable, and a ciphertext is never given out as text.
"""

import base64
import hashlib
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vault_ask.sources.ciphers import Keyring, Undecodable, json_or_damaged, looks_encrypted, looks_v1

CHUNKS = ("h:", "h;")
"""The ids of chunks: from the first, which may itself occur, up to the second, which may not."""

_NO_NOTE_PREFIXES = ("h:", "_", "i:", "ix:", "ps:")
_NO_NOTE_IDS = frozenset(
    {"", "syncinfo", "obsydian_livesync_version", "obsydian_livesync_milestone", "obsydian_livesync_nodeinfo"}
)
_NO_NOTE_TYPES = frozenset(
    {"leaf", "chunkpack", "versioninfo", "syncinfo", "milestoneinfo", "nodeinfo", "sync-parameters"}
)
_LEGACY_TYPES = (None, "notes")
_NOTE_TYPES = ("plain", "newnote")
_TEXT_NAMES = (".md", ".txt", ".svg", ".html", ".csv", ".css", ".js", ".xml", ".canvas")
_FLAG_FILES = frozenset({"redflag.md", "redflag2.md", "redflag3.md", "flag_rebuild.md", "flag_fetch.md"})
_LOG_PREFIXES = ("livesync_log_", "LIVESYNC_LOG_")

_LONGEST_CLEAR = 64
_SEALED_METADATA = "/\\:"
_ONE_WAY_PATH = "%/\\"
_SEALED_EDEN = ("h:++encrypted", "h:++encrypted-hkdf")
_COMPRESSED = "\x0eLZ\x1d"
_LARGEST_CHUNK = 64 * 2**20
_LARGEST_FILE = 256 * 2**20
_LONGEST_PATH = 4096
_LATEST = 253_402_300_799.0  # the last second of the year 9999, which Python's dates still reach
# Control characters, the backslash, the colon that LiveSync leaves out itself, and halves of surrogate pairs.
_UNUSABLE = re.compile("[\x00-\x1f\x7f-\x9f\\\\:\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Metadata:
    """A note or attachment as its document describes it, decrypted; `children` are the ids of its chunks, in order.

    `path` is spelled as the devices spell it and not yet checked (see `refused_path`). `size` is in bytes as the
    writer told it, None where it told none; `mtime` in seconds since 1970, perhaps in the future. `eden` holds
    chunks kept inside the document, still encrypted; `body` is the whole content of documents from before chunks.
    """

    id: str
    revision: str
    path: str
    is_text: bool
    children: tuple[str, ...]
    size: int | None
    mtime: float
    deleted: bool
    eden: Mapping[str, Any] = field(repr=False)
    body: str | None = field(repr=False)


def is_note_id(doc_id: str) -> bool:
    """Tell whether an id can be a note's or attachment's: not a chunk, design, settings or housekeeping document.

    PouchDB stores ids that are no UTF-8, which nobody can ask for and no index can keep.
    """
    return doc_id not in _NO_NOTE_IDS and not doc_id.startswith(_NO_NOTE_PREFIXES) and _is_utf8(doc_id)


def read_metadata(doc: object, keys: Keyring) -> Metadata | None:
    """Read a document as CouchDB gave it; None when it is no note, or the tombstone of one.

    Raises Undecodable when it is a note and cannot be decrypted or is malformed, body-deleted ones included.
    """
    if not isinstance(doc, Mapping) or not _may_be_note(doc):
        return None
    fields = _opened(doc, keys)
    path, deleted = _path(fields), _deleted(doc)
    kind = _kind(doc)
    body = _body(fields, keys) if kind in _LEGACY_TYPES else None
    return Metadata(
        id=doc["_id"],
        revision=revision if isinstance(revision := doc.get("_rev"), str) else "",
        path=path,
        is_text=kind == "plain" or path.lower().endswith(_TEXT_NAMES),
        children=() if body is not None else _children(fields, deleted=deleted),
        size=_size(fields.get("size")),
        mtime=_seconds(fields.get("mtime")),
        deleted=deleted,
        eden=eden if isinstance(eden := doc.get("eden"), Mapping) else {},
        body=body,
    )


def inline_chunks(meta: Metadata, keys: Keyring) -> dict[str, str]:
    """Give the chunks that a note carries inside itself, by id; they go before those of the database.

    Raises Undecodable. In a vault of V1 this costs a key even when there are none: ask only for chunks one lacks.
    """
    entries = {name: entry for name, entry in meta.eden.items() if name not in _SEALED_EDEN}
    for name in _SEALED_EDEN:
        if name in meta.eden:
            entries |= _unsealed_eden(meta.eden[name], keys)
    return {
        name: chunk_data({"_id": name, "data": entry["data"]}, keys)
        for name, entry in entries.items()
        if isinstance(entry, Mapping) and isinstance(entry.get("data"), str)
    }


def chunk_data(doc: object, keys: Keyring) -> str:
    """Give the piece of a note that a chunk holds, decrypted and decompressed: text, or base64. Raises Undecodable."""
    if not isinstance(doc, Mapping) or doc.get("type", "leaf") != "leaf" or not isinstance(doc.get("data"), str):
        raise Undecodable("damaged", "one of its chunks is not a chunk")
    data, marked = doc["data"], doc.get("e_", False)
    if marked is not False and marked is not None:
        return _decompressed(_decrypted(data, keys))
    if str(doc.get("_id", "")).startswith("h:+") and looks_encrypted(data):
        return _decompressed(_decrypted(data, keys))
    return _decompressed(data)


def assemble(meta: Metadata, pieces: Sequence[str]) -> bytes:
    """Put a file together from the data of its chunks, one for each of `children` in order. Raises Undecodable."""
    if meta.body is not None:
        return _legacy(meta, meta.body)
    if sum(map(len, pieces)) > _LARGEST_FILE:
        raise Undecodable("unsupported", f"it is larger than {_LARGEST_FILE >> 20} MB")
    return _utf8("".join(pieces)) if meta.is_text else b"".join(map(_unbase64, pieces))


def size_fits(meta: Metadata, content: bytes) -> bool:
    """Tell whether the content is as long as its writer said; one that said nothing, or 0, contradicts nothing."""
    return not meta.size or meta.size == len(content)


def refused_path(path: str) -> str | None:
    """Say, in a clause, why no file is ever taken from this path; None when it may be."""
    if not path or path.startswith("/"):
        return "its path is empty" if not path else "its path does not begin inside the vault"
    if any(part in {"", ".", ".."} for part in path.split("/")):
        return "its path has an empty part, `.` or `..`"
    if _UNUSABLE.search(path):
        return "its path has a colon, a backslash or a control character, which LiveSync does not sync"
    if len(path.encode("utf-8")) > _LONGEST_PATH:
        return f"its path is longer than {_LONGEST_PATH} bytes"
    return None


def is_flag_file(path: str) -> bool:
    """Tell whether a file is a switch or a log of LiveSync itself (commonlib `redflag.const.ts`), and no note."""
    return path in _FLAG_FILES or path.startswith(_LOG_PREFIXES)


def note_id(path: str, *, case_sensitive: bool = False, passphrase: str | None = None) -> str:
    """Give the id of the document that holds a path, hidden by the passphrase where there is one.

    Prefixes (`i:`, `ix:`) belong to the path. Source: commonlib `string_and_binary/path.ts`.
    """
    if path.startswith("f:"):
        return path
    folded = path if case_sensitive else path.lower()
    if passphrase is None:
        return f"/{folded}" if folded.startswith("_") else folded
    prefix, colon, rest = path.partition(":")
    hidden = _sha256(f"{_sha256(passphrase)}:{folded}")
    return f"{prefix}:f:{hidden}" if colon and rest else f"f:{hidden}"


def _may_be_note(doc: Mapping[str, Any]) -> bool:
    doc_id, kind = doc.get("_id"), doc.get("type")
    if not isinstance(doc_id, str) or not is_note_id(doc_id) or doc.get("_deleted"):
        return False
    if isinstance(kind, str) and kind in _NO_NOTE_TYPES:
        return False
    return any(doc.get(name) is not None for name in ("path", "children", "data"))


def _kind(doc: Mapping[str, Any]) -> str | None:
    kind = doc.get("type")
    if kind is not None and kind not in (*_NOTE_TYPES, *_LEGACY_TYPES):
        raise Undecodable("unsupported", "it has a type that this version does not know; vault-ask may be too old")
    # Early scripts wrote chunks without a type; only what carries its body is older than chunks.
    return "newnote" if kind is None and doc.get("data") is None else kind


def _deleted(doc: Mapping[str, Any]) -> bool:
    deleted = doc.get("deleted")
    if deleted is None or isinstance(deleted, bool):
        return bool(deleted)
    raise Undecodable("damaged", "its mark of deletion is neither true nor false")


def _opened(doc: Mapping[str, Any], keys: Keyring) -> Mapping[str, Any]:
    """Give the document with its path in clear, and whatever else is encrypted together with it."""
    path = doc.get("path")
    if not isinstance(path, str):
        return doc
    if path.startswith(_SEALED_METADATA):
        return {**doc, **_sealed_metadata(path, keys)}
    if looks_encrypted(path):
        return {**doc, "path": keys.decrypt(path)}
    return doc


def _sealed_metadata(path: str, keys: Keyring) -> dict[str, Any]:
    inside = json_or_damaged(keys.decrypt(path.removeprefix(_SEALED_METADATA)))
    if not isinstance(inside, dict) or not isinstance(inside.get("path"), str):
        raise Undecodable("damaged", "its encrypted description holds no path")
    return {name: inside.get(name) for name in ("path", "mtime", "size", "children")}


def _path(fields: Mapping[str, Any]) -> str:
    path, doc_id = fields.get("path"), str(fields["_id"])
    hidden = doc_id.startswith("f:")
    if path is None and not hidden:
        path = doc_id
    if not isinstance(path, str):
        raise Undecodable("damaged", "its path is missing or is not text")
    if path.startswith(_ONE_WAY_PATH):
        raise Undecodable("unsupported", "its path is hidden in a way that nobody can undo")
    if path.startswith(_SEALED_METADATA) or looks_encrypted(path) or (hidden and _is_cut_ciphertext(path)):
        raise Undecodable("damaged", "its encrypted path is damaged")
    return path.removeprefix("/")


def _is_cut_ciphertext(path: str) -> bool:
    """Recognise what was a ciphertext: LiveSync takes any hidden path for one that begins with % and is this long."""
    return path.startswith("%") and (len(path) > _LONGEST_CLEAR or path[1:2] in {"=", "~", "$"})


def _children(fields: Mapping[str, Any], *, deleted: bool) -> tuple[str, ...]:
    children = fields.get("children")
    if isinstance(children, list) and all(isinstance(child, str) and _is_utf8(child) for child in children):
        return tuple(children)
    if deleted:
        return ()
    raise Undecodable("damaged", "its list of chunks is missing or is not a list of ids")


def _body(fields: Mapping[str, Any], keys: Keyring) -> str | None:
    data = fields.get("data")
    if data is None and fields.get("children") is not None:
        return None
    parts: list[Any] = data if isinstance(data, list) else [data]
    if not all(isinstance(part, str) for part in parts):
        raise Undecodable("damaged", "its content is missing or is not text")
    body = "".join(parts)
    return _decompressed(keys.decrypt(body) if looks_encrypted(body) else body)


def _size(size: object) -> int | None:
    return size if isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**63 else None


def _seconds(milliseconds: object) -> float:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float) or not milliseconds > 0:
        return 0.0
    return min(milliseconds, _LATEST * 1000) / 1000


def _unsealed_eden(entry: object, keys: Keyring) -> dict[str, Any]:
    data = entry.get("data") if isinstance(entry, Mapping) else None
    if not isinstance(data, str):
        raise Undecodable("damaged", "the chunks inside it are not readable")
    inside = json_or_damaged(keys.decrypt(data))
    if not isinstance(inside, dict):
        raise Undecodable("damaged", "the chunks inside it are not readable")
    return inside


def _decrypted(data: str, keys: Keyring) -> str:
    """Decrypt, twice where a device turned a V1 ciphertext into V2 without opening it first."""
    once = keys.decrypt(data)
    if not looks_v1(once):
        return once
    try:
        return keys.decrypt(once)
    except Undecodable:
        return once


def _decompressed(data: str) -> str:
    """Undo compression where its marker stands, whatever the settings say. Source: commonlib `pouchdb/compress.ts`."""
    if not data.startswith(_COMPRESSED):
        return data
    packed = data.removeprefix(_COMPRESSED)
    content = _inflated(_unbase64(packed.removeprefix("~")))
    if packed.startswith("~"):
        return base64.b64encode(content).decode("ascii")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise Undecodable("damaged", "one of its chunks is compressed and is not text") from None


def _inflated(packed: bytes) -> bytes:
    if not packed:
        return b""
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        content = stream.decompress(packed, _LARGEST_CHUNK)
    except zlib.error:
        raise Undecodable("damaged", "one of its chunks is compressed and damaged") from None
    if not stream.eof:
        raise Undecodable("damaged", "one of its chunks is compressed and incomplete, or far too large")
    return content


def _legacy(meta: Metadata, body: str) -> bytes:
    """Decide by the size whether an old body is text or base64: their types do not tell."""
    text = _utf8(body)
    if meta.size == len(text):
        return text
    try:
        content = _unbase64(body)
    except Undecodable:
        if meta.is_text:
            return text
        raise
    return text if meta.is_text and meta.size != len(content) else content


def _unbase64(piece: str) -> bytes:
    if piece.startswith("%"):
        raise Undecodable("unsupported", "it is packed in a way that only very old versions of LiveSync wrote")
    try:
        return base64.b64decode(piece, validate=True)
    except ValueError:
        raise Undecodable("damaged", "one of its chunks is not the base64 it should be") from None


def _utf8(text: str) -> bytes:
    """Encode text, joining surrogate pairs that were cut apart; a half without its other becomes U+FFFD."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode("utf-8")


def _is_utf8(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _sha256(text: str) -> str:
    return hashlib.sha256(_utf8(text)).hexdigest()
