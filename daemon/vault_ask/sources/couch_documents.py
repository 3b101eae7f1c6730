"""Puts the versions of a note together: the winner is what it says, the others only make it more personal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vault_ask.sources.catalogue import Catalogue, fact_of, shown_path
from vault_ask.sources.couch_listing import PAGE
from vault_ask.sources.couch_reading import Body, Found, Reader
from vault_ask.sources.livesync import Metadata
from vault_ask.sources.port import Document, Entry, OtherVersion, Unread
from vault_ask.sources.walk import LARGEST_NOTE

DECLARED_AT_ONCE = 32 * 1024**2
"""Bytes of notes read in one go: the whole vault is never in memory."""

Key = tuple[str, str]
"""A document and a revision of it that lost; the winner is (id, "")."""


@dataclass(frozen=True, slots=True)
class Read:
    """A note as read, the pieces that any version of it lacks, and what LiveSync said of the winner."""

    result: Document | Unread
    missing: tuple[str, ...] = ()
    metadata: Metadata | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """Every version of some documents, read as far as they are there."""

    found: Mapping[str, Found]
    metadata: Mapping[Key, Metadata | None]
    bodies: Mapping[Key, Body]

    def body(self, key: Key) -> Body:
        """Give what a version holds."""
        return self.bodies.get(key, Body(None, "it cannot be decrypted"))

    def other(self, path: str, key: Key) -> OtherVersion:
        """Give a version that does not count, at the path that it has itself."""
        metadata = self.metadata.get(key)
        return OtherVersion(shown_path(metadata.path) if metadata else path, self.body(key).content)


def load(reader: Reader, found: Mapping[str, Found]) -> Loaded:
    """Read every version of some documents. Raises SourceError."""
    metadata: dict[Key, Metadata | None] = dict(reader.versions(found))
    metadata |= {(doc_id, ""): one.metadata for doc_id, one in found.items() if one.is_file}
    files = {key: one for key, one in metadata.items() if one is not None}
    bodies = reader.bodies(list(files.values()), largest=LARGEST_NOTE)
    return Loaded(found, metadata, dict(zip(files, bodies, strict=True)))


def put_together(path: str, ids: Sequence[str], loaded: Loaded) -> Read:
    """Make the document at a path out of those that are believed to lie there, the one that counts first."""
    there = [doc_id for doc_id in ids if loaded.found[doc_id].sealed or loaded.found[doc_id].is_file]
    elsewhere = [doc_id for doc_id in there if _is_elsewhere(loaded.found[doc_id], path)]
    for doc_id in elsewhere:
        if loaded.body((doc_id, "")).content is None:
            return _held_back(path, doc_id, there, loaded)
    there = [doc_id for doc_id in there if doc_id not in elsewhere]
    if not there:
        return Read(Unread(path, "it is not in the database any more", vanished=True))
    return _won(path, there, loaded)


def entry_of(catalogue: Catalogue, path: str) -> Entry:
    """Give the entry of a listing; its revision names every document and version at the path."""
    facts = [fact for doc_id in catalogue.ids_at(path) if (fact := catalogue.get(doc_id))]
    if not facts:
        return Entry(path, "", 0, 0.0)
    return Entry(path, "|".join(fact.revision for fact in facts), facts[0].size or 0, facts[0].mtime)


def groups(catalogue: Catalogue, paths: Sequence[str]) -> Iterator[list[str]]:
    """Cut a list of paths where the declared sizes would become too much to hold."""
    group: list[str] = []
    declared = 0
    for path in paths:
        size = entry_of(catalogue, path).size
        if group and (declared + size > DECLARED_AT_ONCE or len(group) >= PAGE):
            yield group
            group, declared = [], 0
        group.append(path)
        declared += size
    if group:
        yield group


def _is_elsewhere(found: Found, path: str) -> bool:
    return found.metadata is not None and shown_path(found.metadata.path) != path


def _held_back(path: str, moved: str, ids: Sequence[str], loaded: Loaded) -> Read:
    """Keep the note at its former path while its text is not whole at the new one."""
    metadata, body = loaded.metadata[moved, ""], loaded.body((moved, ""))
    moved_to = shown_path(metadata.path) if metadata else None
    rivals = _rivals(path, _versions_besides(moved, ids, loaded), loaded)
    unread = Unread(path, body.reason or "it cannot be read", body.beginning, moved_to=moved_to, others=rivals)
    return Read(unread, body.missing)


def _versions_besides(winner: str, ids: Iterable[str], loaded: Loaded) -> list[Key]:
    """Name the versions that do not count: of other documents, and those that lost a conflict."""
    ids = tuple(ids)
    lost = [(doc_id, revision) for doc_id in ids for revision in loaded.found[doc_id].lost]
    return [*((doc_id, "") for doc_id in ids if doc_id != winner), *lost]


def _rivals(path: str, versions: Iterable[Key], loaded: Loaded) -> tuple[OtherVersion, ...]:
    return tuple(loaded.other(path, key) for key in versions)


def _won(path: str, ids: Sequence[str], loaded: Loaded) -> Read:
    winner = ids[0]
    versions = _versions_besides(winner, ids, loaded)
    rivals = _rivals(path, versions, loaded)
    if (sealed := loaded.found[winner].sealed) is not None:
        return Read(Unread(path, sealed, others=rivals))
    metadata, body = loaded.metadata[winner, ""], loaded.body((winner, ""))
    if body.content is None or metadata is None:
        return Read(Unread(path, body.reason or "it cannot be read", body.beginning, others=rivals), body.missing)
    revision = _revision(ids, loaded.found)
    if any(rival.content is None for rival in rivals):
        # Of no listing: whatever is forgotten of what waits, the next sweep reads the note again.
        revision += "?"
    entry = Entry(path, revision, metadata.size or 0, metadata.mtime)
    missing = tuple(piece for key in versions for piece in loaded.body(key).missing)
    return Read(Document(entry, body.content, path, rivals), missing, metadata)


def _revision(ids: Iterable[str], found: Mapping[str, Found]) -> str:
    return "|".join(fact_of(one.metadata, one.lost).revision for doc_id in ids if (one := found[doc_id]).metadata)
