"""Which vault a database holds, and whether it can be read: what LiveSync tells of itself beside the notes.

Formats: `_local/obsydian_livesync_milestone` and `_local/obsidian_livesync_sync_parameters`, as livesync-commonlib
0.1.18 writes them. Both are hints; how a string is encrypted is told by the string.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vault_ask.errors import SourceRefused
from vault_ask.sources.ciphers import Keyring, Undecodable
from vault_ask.sources.couch_client import CouchClient, DatabaseInfo
from vault_ask.sources.livesync import CHUNKS, chunk_data, is_note_id, read_metadata

MILESTONE = "obsydian_livesync_milestone"
PARAMETERS = "obsidian_livesync_sync_parameters"
VERSION = "obsydian_livesync_version"
ENCRYPTED_CHUNKS = ("h:+", "h:,")
OBFUSCATED = ("f:", "f;")
PROBES = 5


@dataclass(frozen=True, slots=True)
class Epoch:
    """One life of a database: it changes when LiveSync rebuilds the remote, which deletes it and makes it anew.

    `start` is CouchDB's creation time (3.3 and newer), `created` is LiveSync's, 0 where it is not told.
    """

    start: str
    created: int

    def is_another(self, other: "Epoch") -> bool:
        """Say whether two epochs are told apart by anything that both of them know."""
        starts = self.start != other.start and "0" not in {self.start, other.start}
        return starts or (self.created != other.created and bool(self.created and other.created))


@dataclass(frozen=True, slots=True)
class VaultFacts:
    """What the database tells of the vault. `salt` is the one that V2 encrypts with today."""

    epoch: Epoch
    info: DatabaseInfo
    name: str | None
    salt: bytes | None
    dynamic_iterations: bool
    is_livesync: bool
    locked: bool


def look_at(client: CouchClient) -> VaultFacts:
    """Read the facts. Raises SourceError."""
    info = client.info()
    milestone = client.local(MILESTONE) or {}
    parameters = client.local(PARAMETERS) or {}
    preferred = _mapping(_mapping(milestone.get("tweak_values")).get("PREFERRED"))
    created = milestone.get("created")
    return VaultFacts(
        epoch=Epoch(info.instance_start_time, created if isinstance(created, int) else 0),
        info=info,
        name=_vault_name(_mapping(milestone.get("node_info"))),
        salt=_salt(parameters.get("pbkdf2salt")),
        dynamic_iterations=preferred.get("useDynamicIterationCount") is True,
        is_livesync=bool(milestone or parameters),
        locked=milestone.get("locked") is True,
    )


def salt_of(client: CouchClient) -> bytes | None:
    """Read the salt that V2 encrypts with now: a device may have written another one. Raises SourceError."""
    return _salt((client.local(PARAMETERS) or {}).get("pbkdf2salt"))


def refuse_what_cannot_be_read(client: CouchClient, keys: Keyring, facts: VaultFacts) -> str | None:
    """Check that the database holds a LiveSync vault and that the passphrase fits; give a warning where it fits partly.

    Raises SourceRefused with one sentence for each thing that can be wrong.
    """
    if not (facts.is_livesync or _holds_livesync(client)):
        raise SourceRefused(_no_vault(client, facts))
    complaint = _complaint(client, keys)
    if complaint is None:
        return None
    if _holds_plain_chunks(client):
        return f"{complaint} What is not encrypted is indexed."
    raise SourceRefused(complaint)


def _complaint(client: CouchClient, keys: Keyring) -> str | None:
    """Try a few encrypted documents; None when there are none or one of them can be read."""
    failures: list[Undecodable] = []
    for document in (*_some(client, *ENCRYPTED_CHUNKS), *_some(client, *OBFUSCATED)):
        try:
            if document["_id"].startswith(CHUNKS[0]):
                chunk_data(document, keys)
            else:
                read_metadata(document, keys)
        except Undecodable as error:
            failures.append(error)
        else:
            return None
    return _sentence(client, failures[0]) if failures else None


def _sentence(client: CouchClient, failure: Undecodable) -> str:
    where = f"The vault in {client.address} is end-to-end encrypted"
    match failure.code:
        case "no-passphrase":
            return (
                f"{where}, and no passphrase is set, so its notes cannot be read. Set "
                "VAULTASK_VAULT__COUCHDB__PASSPHRASE to the one that LiveSync uses on your devices."
            )
        case "no-salt":
            return (
                f"{where}, and its sync parameters (the document _local/{PARAMETERS}) are missing, as after a copy or "
                "a replication of the database, so no passphrase can open it. Let LiveSync sync to this database once "
                "from a device, or point vault.couchdb at the database that your devices use."
            )
        case "wrong-passphrase":
            return (
                f"{where}, and the passphrase that is set does not open it. Set VAULTASK_VAULT__COUCHDB__PASSPHRASE to "
                "the end-to-end passphrase (not the password of CouchDB) that LiveSync uses on your devices."
            )
        case _:
            return f"{where}, and what was looked at cannot be read: {failure.reason}."


def _no_vault(client: CouchClient, facts: VaultFacts) -> str:
    holds = "is empty" if facts.info.doc_count == 0 else "holds documents, but none that LiveSync writes"
    return (
        f"The database {client.address} {holds}, so it is no LiveSync vault yet. Check vault.couchdb.database, or let "
        "LiveSync sync to it first. A vault that syncs through object storage (MinIO, S3) or peer to peer is not in a "
        "CouchDB at all: use a folder for it."
    )


def _holds_livesync(client: CouchClient) -> bool:
    return bool(
        client.document(VERSION)
        or _some(client, *CHUNKS)
        or any(_is_file(document) for document in (*_some(client, None, CHUNKS[0]), *_some(client, CHUNKS[1], None)))
    )


def _is_file(document: Mapping[str, Any]) -> bool:
    named = document.get("type") in {"plain", "newnote", "notes"} or "children" in document
    return named and is_note_id(str(document.get("_id", "")))


def _holds_plain_chunks(client: CouchClient) -> bool:
    first, last = ENCRYPTED_CHUNKS
    return bool(_some(client, CHUNKS[0], first) or _some(client, last, CHUNKS[1]))


def _some(client: CouchClient, start: str | None, end: str | None) -> list[dict[str, Any]]:
    page = next(client.all_docs(start=start, end=end, include_docs=True, limit=PROBES), [])
    return [row.doc for row in page if row.doc is not None]


def _vault_name(nodes: Mapping[str, Any]) -> str | None:
    """Take the name that the device calls the vault which was here last."""
    named = [
        (seen if isinstance(seen := node.get("last_connected"), int) else 0, name)
        for node in map(_mapping, nodes.values())
        if isinstance(name := node.get("vault_name"), str) and name.strip() and name.isprintable()
    ]
    return max(named)[1] if named else None


def _salt(value: object) -> bytes | None:
    try:
        return base64.b64decode(value, validate=True) or None if isinstance(value, str) else None
    except (binascii.Error, ValueError):
        return None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
