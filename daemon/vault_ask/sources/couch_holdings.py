"""Every file that a LiveSync database holds, attachments too, as `vault-ask source` shows it."""

from collections.abc import Iterator, Sequence

from vault_ask.sources.catalogue import shown_path
from vault_ask.sources.couch_listing import PAGE
from vault_ask.sources.couch_reading import Found, lacking
from vault_ask.sources.couch_replica import Replica
from vault_ask.sources.livesync import CHUNKS, Metadata
from vault_ask.sources.port import Holding, HoldingState, Unread
from vault_ask.sources.selection import Selection

LARGEST_FILE = 512 * 1024**2
DECLARED_AT_ONCE = 32 * 1024**2


class Holdings:
    """Looks at the database as it is now; what the replica knows of an index takes no part."""

    def __init__(self, replica: Replica, selection: Selection) -> None:
        self._replica = replica
        self._client = replica.client
        self._reader = replica.reader
        self._selection = selection

    def all(self, *, deleted: bool) -> Iterator[Holding]:
        """List the files, sorted by path. Raises SourceError."""
        self._replica.connect()
        self._replica.check()
        found = [
            one
            for page in self._pages()
            for one in self._holdings(page, deleted=deleted)
            if self._selection.includes(shown_path(one.path))
        ]
        return iter(sorted(found, key=lambda holding: holding.path))

    def contents(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unread]]:
        """Give the bytes of files, by the path as listed. Raises SourceError."""
        if self._replica.facts is None:
            self._replica.connect()
        places = self._places(paths)
        for group in _groups([(path, places.get(path)) for path in paths]):
            files = [metadata for _, metadata in group if metadata is not None]
            bodies = dict(zip(map(id, files), self._reader.bodies(files, largest=LARGEST_FILE), strict=True))
            for path, metadata in group:
                if metadata is None:
                    yield path, Unread(path, "the vault holds no file at this path", vanished=True)
                    continue
                body = bodies[id(metadata)]
                yield path, body.content if body.content is not None else Unread(path, body.reason or "it is not whole")

    def _pages(self) -> Iterator[list[tuple[str, Found]]]:
        for start, end in ((None, CHUNKS[0]), (CHUNKS[1], None)):
            for page in self._client.all_docs(start=start, end=end, include_docs=True, limit=PAGE):
                yield [(row.id, self._reader.what_is(row.id, row.doc)) for row in page]

    def _holdings(self, page: list[tuple[str, Found]], *, deleted: bool) -> list[Holding]:
        files = [one.metadata for _, one in page if one.is_file and one.metadata]
        absent = self._reader.absent({child for file in files for child in file.children if file.children})
        listed = []
        for doc_id, one in page:
            if one.sealed is not None:
                listed.append(Holding(doc_id, one.revision, None, "incomplete", one.sealed))
            elif one.metadata is not None and one.metadata.deleted:
                if deleted:
                    listed.append(_holding(one.metadata, "deleted", None))
            elif one.metadata is not None:
                listed.append(self._file(one.metadata, one, absent))
        return listed

    def _file(self, file: Metadata, found: Found, absent: frozenset[str]) -> Holding:
        missing = [child for child in dict.fromkeys(file.children) if child in absent]
        if missing and self._reader.bodies([file], largest=LARGEST_FILE)[0].content is None:
            return _holding(file, "incomplete", lacking(file, missing))
        if found.lost:
            versions = "another version waits" if len(found.lost) == 1 else f"{len(found.lost)} other versions wait"
            return _holding(file, "conflicted", f"devices disagree about it, and {versions} to be resolved")
        return _holding(file, "ok", None)

    def _places(self, paths: Sequence[str]) -> dict[str, Metadata]:
        """Find the documents of files: by the ids their paths have, and only where that fails by listing everything."""
        places = self._by_id(paths)
        if len(places) < len(set(paths)):
            wanted = {path for path in paths if path not in places}
            places |= self._by_listing(wanted)
        return places

    def _by_id(self, paths: Sequence[str]) -> dict[str, Metadata]:
        ids = {doc_id for path in paths for doc_id in self._replica.possible_ids(path)}
        found = self._reader.find(sorted(ids)) if ids else {}
        return {one.metadata.path: one.metadata for one in found.values() if one.is_file and one.metadata}

    def _by_listing(self, wanted: set[str]) -> dict[str, Metadata]:
        exact: dict[str, Metadata] = {}
        near: dict[str, Metadata] = {}
        by_shown = {shown_path(path): path for path in wanted}
        for page in self._pages():
            for _, one in page:
                if not one.is_file or one.metadata is None:
                    continue
                if one.metadata.path in wanted:
                    exact[one.metadata.path] = one.metadata
                elif (asked := by_shown.get(shown_path(one.metadata.path))) is not None:
                    near[asked] = one.metadata
        return near | exact


def _holding(file: Metadata, state: HoldingState, problem: str | None) -> Holding:
    return Holding(file.path, file.revision, file.size, state, problem)


def _groups(places: list[tuple[str, Metadata | None]]) -> Iterator[list[tuple[str, Metadata | None]]]:
    """Cut a list of files where the declared sizes would become too much to hold."""
    group: list[tuple[str, Metadata | None]] = []
    declared = 0
    for path, metadata in places:
        size = (metadata.size or 0) if metadata else 0
        if group and declared + size > DECLARED_AT_ONCE:
            yield group
            group, declared = [], 0
        group.append((path, metadata))
        declared += size
    if group:
        yield group
