"""A device with Self-hosted LiveSync, as tests need it: it writes to a CouchDB what the plugin writes there.

`Encoder` makes the documents and needs no server. `Device` sends them over HTTP; two of them may share a database. It
does not merge, watch or read notes. Times are seconds since 1970.
"""

import base64
import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Any, Literal, Self

import httpx
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from vault_ask.sources.ciphers import Keyring
from vault_ask.sources.livesync import Metadata, note_id, read_metadata

Doc = dict[str, Any]
PASSPHRASE = "passphrase-şifre-😀"
PARAMETERS = "_local/obsidian_livesync_sync_parameters"
MILESTONE = "_local/obsydian_livesync_milestone"
TEXT = (".md", ".txt", ".svg", ".html", ".csv", ".css", ".js", ".xml", ".canvas")
_BATCH = 500
# One salt for so many strings, as the plugin does; making its key takes 0.05 s.
_STRINGS_OF_A_SALT = 100


@dataclass(frozen=True, slots=True)
class Mode:
    """What the owner has switched on in the plugin."""

    encryption: Literal["", "v1", "v2"] = ""
    dynamic: bool = False
    obfuscated: bool = False
    compressed: bool = False
    case_sensitive: bool = False
    tombstones: bool = False


MODES: Mapping[str, Mode] = {
    "plain": Mode(),
    "compress": Mode(compressed=True),
    "v1": Mode("v1"),
    "v1dyn": Mode("v1", dynamic=True),
    "forcev1obf": Mode("v1", obfuscated=True),
    "v1dynobf": Mode("v1", dynamic=True, obfuscated=True),
    "v2": Mode("v2"),
    "v2obf": Mode("v2", obfuscated=True),
    "v2obfz": Mode("v2", obfuscated=True, compressed=True),
    "casesens": Mode(case_sensitive=True),
    "delmeta": Mode(tombstones=True),
}


class Cipher:
    """The plugin's encryption, in the three ways it writes: V1, V2, and V1 for paths."""

    def __init__(self, passphrase: str, salt: bytes, *, dynamic: bool) -> None:
        self._passphrase = passphrase
        self._secret = passphrase.encode()
        missing = 15 - len(passphrase.encode("utf-16-le")) // 2
        self._iterations = max(missing, 0) * 1000 + 121 - missing if dynamic else 100_000
        self._salt = salt
        self._written = 0
        self._v1_salt = b""
        self._v1_key = lru_cache(1024)(self._derive_v1)
        self._master = lru_cache(1)(self._derive_master)

    def v1(self, text: str) -> str:
        """Encrypt with a salt that the next strings share."""
        if self._written % _STRINGS_OF_A_SALT == 0:
            self._v1_salt = os.urandom(16)
        self._written += 1
        return self._v1(text, os.urandom(16), self._v1_salt)

    def v1_path(self, path: str) -> str:
        """Encrypt a path so that the same path always gives the same string."""
        digest = hashlib.sha256(f"{path}{self._passphrase}".encode()).digest()
        return self._v1(path, digest[16:], digest[:16])

    def v2(self, text: str) -> str:
        """Encrypt with HKDF."""
        iv, own_salt = os.urandom(12), os.urandom(32)
        key = HKDF(algorithm=SHA256(), length=32, salt=own_salt, info=b"").derive(self._master())
        return "%=" + _base64(iv + own_salt + AESGCM(key).encrypt(iv, text.encode(), None))

    def _v1(self, text: str, iv: bytes, salt: bytes) -> str:
        sealed = self._v1_key(salt).encrypt(iv, text.encode(), None)
        return f"%{iv.hex()}{salt.hex()}{_base64(sealed)}"

    def _derive_v1(self, salt: bytes) -> AESGCM:
        secret = hashlib.sha256(self._secret).digest()
        return AESGCM(hashlib.pbkdf2_hmac("sha256", secret, salt, self._iterations))

    def _derive_master(self) -> bytes:
        return hashlib.pbkdf2_hmac("sha256", self._secret, self._salt, 310_000)


class Encoder:
    """Turns files into the documents of one mode. `cut` is how many characters or bytes a chunk holds at most."""

    def __init__(self, mode: str, *, passphrase: str = PASSPHRASE, salt: bytes = b"", cut: int = 1000) -> None:
        self.mode = MODES[mode]
        self.passphrase = passphrase
        self._cut = cut
        self._cipher = Cipher(passphrase, salt, dynamic=self.mode.dynamic)

    def id(self, path: str) -> str:
        """Give the id of a path's document."""
        hidden = self.passphrase if self.mode.obfuscated else None
        return note_id(path, case_sensitive=self.mode.case_sensitive, passphrase=hidden)

    def file(self, path: str, content: str | bytes, mtime: float | None = None) -> tuple[Doc, list[Doc]]:
        """Give a file's document and those of its chunks, each chunk once."""
        data = content.encode() if isinstance(content, str) else content
        chunks = [self.chunk(piece) for piece in self._pieces(path, data)]
        children = [str(chunk["_id"]) for chunk in chunks]
        return self.note(path, children, len(data), mtime), list({chunk["_id"]: chunk for chunk in chunks}.values())

    def chunk(self, piece: str) -> Doc:
        """Give the document of a piece; the same piece always has the same id."""
        encrypted = bool(self.mode.encryption)
        key = f"{piece}-{len(piece)}" + (self.passphrase if encrypted else "")
        name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        data = _compressed(piece) if self.mode.compressed else piece
        if not encrypted:
            return {"_id": f"h:{name}", "type": "leaf", "data": data}
        return {"_id": f"h:+{name}", "type": "leaf", "data": self._sealed(data), "e_": True}

    def note(
        self, path: str, children: Sequence[str], size: int, mtime: float | None = None, *, deleted: bool = False
    ) -> Doc:
        """Give the document of a file whose chunks exist."""
        when = round((time.time() if mtime is None else mtime) * 1000)
        fields = {"path": path, "mtime": when, "ctime": when, "size": size, "children": list(children)}
        kind = "plain" if path.lower().endswith(TEXT) else "newnote"
        doc = {"_id": self.id(path), "type": kind, "eden": self._eden(), **self._hidden(fields)}
        return {**doc, "deleted": True} if deleted else doc

    def _pieces(self, path: str, data: bytes) -> list[str]:
        if path.lower().endswith(TEXT):
            text = data.decode()
            return [text[start : start + self._cut] for start in range(0, len(text), self._cut)]
        return [_base64(data[start : start + self._cut]) for start in range(0, len(data), self._cut)]

    def _hidden(self, fields: Doc) -> Doc:
        if not self.mode.obfuscated:
            return fields
        if self.mode.encryption == "v1":
            return {**fields, "path": self._cipher.v1_path(fields["path"])}
        sealed = "/\\:" + self._cipher.v2(json.dumps(fields))
        return {"path": sealed, "mtime": 0, "ctime": 0, "size": 0, "children": []}

    def _eden(self) -> Doc:
        if self.mode.encryption != "v1":
            return {}
        return {"h:++encrypted": {"data": self._cipher.v1("{}"), "epoch": 999_999}}

    def _sealed(self, data: str) -> str:
        return self._cipher.v1(data) if self.mode.encryption == "v1" else self._cipher.v2(data)


class Device:
    """One device of the owner, online. `user` must be allowed to create the database when the test has it do so.

    It encrypts with the salt it met first, as a device does that has not noticed that another one changed it.
    """

    def __init__(
        self,
        url: str,
        database: str,
        *,
        user: str | None = None,
        password: str | None = None,
        mode: str = "plain",
        passphrase: str = PASSPHRASE,
        cut: int = 1000,
    ) -> None:
        auth = (user, password or "") if user is not None else None
        # Loading certificates takes 0.1 s, and plain http has no use for them.
        self._http = httpx.Client(auth=auth, timeout=30, trust_env=False, verify=False)  # noqa: S501
        self._url = f"{url.rstrip('/')}/{database}"
        self._mode, self._passphrase, self._cut = mode, passphrase, cut
        self._keys = Keyring(passphrase)
        self._known_encoder: Encoder | None = None
        self._created = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def create_database(self) -> None:
        """Create the database and what LiveSync puts there first: version, sync parameters, milestone."""
        self._http.put(self._url).raise_for_status()
        self._write([{"_id": "obsydian_livesync_version", "type": "versioninfo", "version": 12}])
        self.change_salt()
        self._created = max(self._created + 1, round(time.time() * 1000))
        self._put_local(MILESTONE, milestone(self._mode, self._created))

    def rebuild(self) -> None:
        """Destroy the database and begin a new one, with nothing pushed yet."""
        self._http.delete(self._url).raise_for_status()
        self.create_database()

    def change_salt(self) -> None:
        """Overwrite the sync parameters with a new salt; what was encrypted before stays as it is."""
        salt = _base64(os.urandom(32))
        self._put_local(PARAMETERS, {"type": "sync-parameters", "protocolVersion": 2, "pbkdf2salt": salt})
        self._known_encoder = None

    def put(self, path: str, content: str | bytes, mtime: float | None = None) -> str:
        """Write a file, chunks first; returns the revision."""
        note, chunks = self._encoder.file(path, content, mtime)
        self.send(chunks)
        return self._update([note])[0]

    def put_many(self, files: Mapping[str, str | bytes], mtime: float | None = None) -> None:
        """Write many files, the chunks of each batch before its notes."""
        names = list(files)
        for start in range(0, len(names), _BATCH):
            encoded = [self._encoder.file(name, files[name], mtime) for name in names[start : start + _BATCH]]
            self.send([chunk for _, chunks in encoded for chunk in chunks])
            self._update([note for note, _ in encoded])

    def put_without_chunks(self, path: str, content: str | bytes, mtime: float | None = None) -> list[Doc]:
        """Write a file's document only; returns the chunks, for `send`."""
        note, chunks = self._encoder.file(path, content, mtime)
        self._update([note])
        return chunks

    def send(self, chunks: Sequence[Doc]) -> None:
        """Write chunks; those that the database has are left as they are."""
        for start in range(0, len(chunks), _BATCH):
            self._write(chunks[start : start + _BATCH], known_is_fine=True)

    def drop_chunk(self, chunk_id: str) -> None:
        """Delete a chunk, as garbage collection does."""
        self._write([{**_name(self._rows([chunk_id])[0]), "_deleted": True}])

    def delete(self, path: str) -> None:
        """Delete a file: its document stays and says so, or goes too where the mode says `tombstones`."""
        meta = self._meta(path)
        gone = self._encoder.note(meta.path, meta.children, meta.size or 0, deleted=True)
        self._update([{**gone, "_deleted": True} if self._encoder.mode.tombstones else gone])

    def purge_tombstone(self, path: str) -> None:
        """Delete a file's document and leave nothing in it, as a bare DELETE does."""
        self._write([{**_name(self._rows([self._encoder.id(path)])[0]), "_deleted": True}])

    def rename(self, old: str, new: str, *, new_first: bool = False) -> None:
        """Move a file: two unrelated changes over the same chunks, in either order."""
        meta = self._meta(old)
        if new_first:
            self._place(new, meta)
        self.delete(old)
        if not new_first:
            self._place(new, meta)

    def recase(self, old: str, new: str) -> None:
        """Change only the case of a path: the document stays the same one."""
        if self._encoder.id(old) != self._encoder.id(new):
            raise ValueError("these paths are two documents in this mode")
        self._place(new, self._meta(old))

    def conflict(self, path: str, losing: str, mtime: float | None = None) -> tuple[str, str]:
        """Add a version that loses against the one there is; returns the revisions of winner and loser."""
        note, chunks = self._encoder.file(path, losing, mtime)
        winner = str(self._rows([note["_id"]])[0]["value"]["rev"])
        # The winner is the longest history, then the highest hash.
        digest = "0000" + os.urandom(14).hex()
        self.send(chunks)
        leaf = {**note, "_rev": f"1-{digest}", "_revisions": {"start": 1, "ids": [digest]}}
        self._post("_bulk_docs", {"docs": [leaf], "new_edits": False})
        return winner, f"1-{digest}"

    def resolve_conflict(self, path: str) -> None:
        """Drop the versions that lost."""
        doc = self._rows([self._encoder.id(path)])[0]["doc"]
        self._write([{"_id": doc["_id"], "_rev": rev, "_deleted": True} for rev in doc.get("_conflicts", [])])

    def document(self, path: str) -> Doc | None:
        """Give a path's document as the database has it, with `_conflicts`; None when it has none."""
        doc: Doc | None = self._rows([self._encoder.id(path)])[0].get("doc")
        return doc

    @property
    def _encoder(self) -> Encoder:
        if self._known_encoder is None:
            self._known_encoder = Encoder(self._mode, passphrase=self._passphrase, salt=self._salt(), cut=self._cut)
        return self._known_encoder

    def _salt(self) -> bytes:
        parameters = self._http.get(f"{self._url}/{PARAMETERS}").raise_for_status().json()
        salt = base64.b64decode(parameters["pbkdf2salt"])
        self._keys.add_salt(salt)
        return salt

    def _meta(self, path: str) -> Metadata:
        self._salt()
        meta = read_metadata(self.document(path), self._keys)
        if meta is None:
            raise LookupError("the database has no such file")
        return meta

    def _place(self, path: str, meta: Metadata) -> None:
        self._update([self._encoder.note(path, meta.children, meta.size or 0, meta.mtime)])

    def _update(self, docs: Sequence[Doc]) -> list[str]:
        rows = self._rows([doc["_id"] for doc in docs])
        return self._write([{**doc, **_name(row, doc["_id"])} for doc, row in zip(docs, rows, strict=True)])

    def _write(self, docs: Iterable[Doc], *, known_is_fine: bool = False) -> list[str]:
        rows = self._post("_bulk_docs", {"docs": list(docs)})
        refused = [row for row in rows if "error" in row and not (known_is_fine and row["error"] == "conflict")]
        if refused:
            raise RuntimeError(f"the database refused {refused}")
        return [str(row.get("rev", "")) for row in rows]

    def _rows(self, ids: Sequence[str]) -> list[Doc]:
        rows: list[Doc] = self._post("_all_docs?include_docs=true&conflicts=true", {"keys": list(ids)})["rows"]
        return rows

    def _post(self, where: str, body: Doc) -> Any:  # noqa: ANN401 - JSON
        return self._http.post(f"{self._url}/{where}", json=body).raise_for_status().json()

    def _put_local(self, doc_id: str, fields: Doc) -> None:
        url = f"{self._url}/{doc_id}"
        before = self._http.get(url)
        revision = {"_rev": before.json()["_rev"]} if before.is_success else {}
        self._http.put(url, json={"_id": doc_id, **fields, **revision}).raise_for_status()


def milestone(mode: str, created: int) -> Doc:
    """Give a milestone as the first device writes it; `created` in milliseconds."""
    chosen = MODES[mode]
    tweaks = {
        "encrypt": bool(chosen.encryption),
        "E2EEAlgorithm": "forceV1" if mode == "forcev1obf" else {"": "v2", "v1": "", "v2": "v2"}[chosen.encryption],
        "usePathObfuscation": chosen.obfuscated,
        "useDynamicIterationCount": chosen.dynamic,
        "enableCompression": chosen.compressed,
        "handleFilenameCaseSensitive": chosen.case_sensitive,
        "chunkSplitterVersion": "v3-rabin-karp",
        "hashAlg": "xxhash64",
        "useEden": False,
        "customChunkSize": 0,
    }
    return {
        "type": "milestoneinfo",
        "created": created,
        "locked": False,
        "accepted_nodes": ["testdevice"],
        "node_chunk_info": {"testdevice": {"min": 0, "max": 2400, "current": 2}},
        "node_info": {"testdevice": {"device_name": "test", "vault_name": "test", "last_connected": created}},
        "tweak_values": {"testdevice": tweaks, "PREFERRED": tweaks},
    }


def _name(row: Doc, doc_id: str = "") -> Doc:
    """Give the id and revision that an update of a listed document needs; no revision where there is none alive."""
    value = row.get("value") or {}
    name = {"_id": doc_id or row.get("id") or row["key"]}
    return name if "rev" not in value or value.get("deleted") else {**name, "_rev": value["rev"]}


def _compressed(piece: str) -> str:
    """Compress where that makes it shorter: base64 as the bytes it stands for, other text as UTF-8."""
    try:
        raw, mark = base64.b64decode(piece, validate=True), "~"
        if _base64(raw) != piece:
            raw, mark = piece.encode(), ""
    except ValueError:
        raw, mark = piece.encode(), ""
    deflate = zlib.compressobj(8, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = "\x0eLZ\x1d" + mark + _base64(deflate.compress(raw) + deflate.flush())
    return packed if len(packed) < len(piece) else piece


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
