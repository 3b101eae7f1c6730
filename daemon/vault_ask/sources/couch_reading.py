"""Reads files out of a LiveSync database: a document says what its pieces are, and the pieces are fetched by key.

Never assembled from the changes feed: there a note comes before or without its pieces (docs/livesync.md).
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vault_ask.sources.ciphers import Keyring, Undecodable
from vault_ask.sources.couch_client import CouchClient
from vault_ask.sources.livesync import (
    Metadata,
    assemble,
    chunk_data,
    inline_chunks,
    is_flag_file,
    is_note_id,
    read_metadata,
    refused_path,
)
from vault_ask.sources.walk import printable

KEYS_AT_ONCE = 500
CACHE_CHARACTERS = 16_000_000
"""Pieces kept in memory: they never change, and a note that was edited has most of them still."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a document is: a file, a file that cannot be taken as it is (`sealed` is why), or nothing of ours."""

    metadata: Metadata | None = None
    lost: tuple[str, ...] = ()
    sealed: str | None = None
    revision: str = ""

    @property
    def is_file(self) -> bool:
        """Whether it is a file that is there and can be told of."""
        return self.metadata is not None and not self.metadata.deleted

    @property
    def is_nothing(self) -> bool:
        """Whether there is no document, or none of ours."""
        return self.metadata is None and self.sealed is None


NOTHING = Found()


@dataclass(frozen=True, slots=True)
class Body:
    """A file's bytes, or why they cannot be had: `missing` are the pieces that are not there."""

    content: bytes | None
    reason: str | None = None
    missing: tuple[str, ...] = ()
    beginning: bytes = b""


class Reader:
    """Reads documents and pieces of one database. One thread uses it."""

    def __init__(self, client: CouchClient, keys: Keyring) -> None:
        self._client = client
        self._keys = keys
        self._pieces: OrderedDict[str, str] = OrderedDict()
        self._held = 0

    def find(self, ids: Sequence[str]) -> dict[str, Found]:
        """Fetch documents and tell what each is. Raises SourceError."""
        documents = self._client.fetch(ids)
        return {doc_id: self.what_is(doc_id, documents.get(doc_id)) for doc_id in ids}

    def what_is(self, doc_id: str, document: Mapping[str, Any] | None) -> Found:
        """Tell what a fetched document is; `_conflicts` in it names the revisions that lost."""
        if document is None or not is_note_id(doc_id):
            return NOTHING
        lost, revision = conflicts_of(document), str(document.get("_rev", ""))
        try:
            metadata = read_metadata(document, self._keys)
        except Undecodable as error:
            # The mark of deletion is never encrypted, and nothing else of a deleted file matters.
            gone = document.get("deleted") is True
            return Found(sealed=None if gone else error.reason, lost=lost, revision=revision)
        if metadata is None or _is_no_file(metadata.path):
            return NOTHING
        refused = refused_path(metadata.path)
        if refused is not None:
            return Found(sealed=None if metadata.deleted else refused, lost=lost, revision=revision)
        return Found(metadata, lost, revision=revision)

    def versions(self, found: Mapping[str, Found]) -> dict[tuple[str, str], Metadata | None]:
        """Fetch what lost the conflicts of some documents, by (id, revision); None where it cannot be read."""
        wanted = [(doc_id, rev) for doc_id, one in found.items() for rev in one.lost]
        if not wanted:
            return {}
        documents = self._client.revisions(wanted)
        return {key: self._metadata_of(documents.get(key)) for key in wanted}

    def bodies(self, files: Sequence[Metadata], *, largest: int) -> list[Body]:
        """Read files whole, in this order; one beyond `largest` bytes is not read. Raises SourceError."""
        wanted = {child for file in files for child in file.children if child not in self._pieces}
        fetched = self._fetch(wanted)
        bodies = [self._body(file, fetched, largest) for file in files]
        self._cache(fetched)
        return bodies

    def absent(self, pieces: Iterable[str]) -> frozenset[str]:
        """Tell which of some pieces are not there now. Raises SourceError."""
        asked = [piece for piece in pieces if piece not in self._pieces]
        return frozenset(asked) - self._client.existing(asked)

    def forget(self) -> None:
        """Drop the pieces kept in memory, for a database that was made anew."""
        self._pieces.clear()
        self._held = 0

    def _metadata_of(self, document: Mapping[str, Any] | None) -> Metadata | None:
        try:
            metadata = read_metadata(document, self._keys) if document is not None else None
        except Undecodable:
            return None
        return None if metadata is None or refused_path(metadata.path) else metadata

    def _fetch(self, wanted: Iterable[str]) -> dict[str, str | Undecodable]:
        """Fetch and decode pieces; one that is not there is not in the result."""
        fetched: dict[str, str | Undecodable] = {}
        ids = sorted(wanted)
        for start in range(0, len(ids), KEYS_AT_ONCE):
            for piece, document in self._client.fetch(ids[start : start + KEYS_AT_ONCE]).items():
                if document is not None:
                    fetched[piece] = self._decoded(document)
        return fetched

    def _decoded(self, document: Mapping[str, Any]) -> str | Undecodable:
        try:
            return chunk_data(document, self._keys)
        except Undecodable as error:
            return error

    def _body(self, file: Metadata, fetched: Mapping[str, str | Undecodable], largest: int) -> Body:
        pieces: list[str | Undecodable | None] = [self._piece(child, fetched) for child in file.children]
        if None in pieces and file.eden:
            pieces = self._with_inline(file, pieces)
        whole = [piece for piece in pieces if isinstance(piece, str)]
        if sum(map(len, whole)) > 2 * largest:
            return Body(None, reason=f"it is larger than {largest // 1024**2} MiB")
        if len(whole) < len(pieces):
            return self._lacking(file, pieces)
        try:
            content = assemble(file, whole)
        except Undecodable as error:
            return Body(None, reason=error.reason)
        if len(content) > largest:
            return Body(None, reason=f"it is larger than {largest // 1024**2} MiB")
        return Body(content)

    def _lacking(self, file: Metadata, pieces: Sequence[str | Undecodable | None]) -> Body:
        missing = tuple(
            dict.fromkeys(child for child, piece in zip(file.children, pieces, strict=True) if piece is None)
        )
        start = [piece for piece in pieces[: _first_gap(pieces)] if isinstance(piece, str)]
        beginning = assemble(replace(file, children=file.children[: len(start)]), start) if file.is_text else b""
        if missing:
            return Body(None, lacking(file, missing), missing, beginning)
        broken = next(piece for piece in pieces if isinstance(piece, Undecodable))
        return Body(None, f"a piece of it cannot be read: {broken.reason}", (), beginning)

    def _with_inline(
        self, file: Metadata, pieces: Sequence[str | Undecodable | None]
    ) -> list[str | Undecodable | None]:
        """Take pieces that are absent from the document itself, where older versions of LiveSync put young ones."""
        try:
            inline = inline_chunks(file, self._keys)
        except Undecodable:
            return list(pieces)
        return [
            inline.get(child) if piece is None else piece for child, piece in zip(file.children, pieces, strict=True)
        ]

    def _piece(self, piece: str, fetched: Mapping[str, str | Undecodable]) -> str | Undecodable | None:
        kept = self._pieces.get(piece)
        if kept is not None:
            self._pieces.move_to_end(piece)
            return kept
        return fetched.get(piece)

    def _cache(self, fetched: Mapping[str, str | Undecodable]) -> None:
        for piece, text in fetched.items():
            if isinstance(text, str) and piece not in self._pieces:
                self._pieces[piece] = text
                self._held += len(text)
        while self._held > CACHE_CHARACTERS:
            self._held -= len(self._pieces.popitem(last=False)[1])


def conflicts_of(document: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Name the revisions that lost the conflict of a fetched document, sorted."""
    conflicts = (document or {}).get("_conflicts")
    return tuple(sorted(rev for rev in conflicts if isinstance(rev, str))) if isinstance(conflicts, list) else ()


def lacking(file: Metadata, missing: Sequence[str]) -> str:
    """Word which of a file's pieces are not there."""
    first = printable(missing[0])
    return f"the database lacks {len(missing)} of its {len(set(file.children))} pieces (the first is {first})"


def _first_gap(pieces: Sequence[str | Undecodable | None]) -> int:
    return next((place for place, piece in enumerate(pieces) if not isinstance(piece, str)), len(pieces))


def _is_no_file(path: str) -> bool:
    """Whether a path is of LiveSync's own doing, or hidden: Obsidian shows neither."""
    return is_flag_file(path) or any(part.startswith(".") and part not in {".", ".."} for part in path.split("/"))
