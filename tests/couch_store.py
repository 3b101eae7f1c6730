"""A database as CouchDB 3.5 keeps it, in memory: revision trees, shards with a sequence each, purge and compaction.

Facts are those of ../shared/livesync/FORMAT.md and https://docs.couchdb.org. A sequence is a position in every shard;
which order the rows of several shards are listed in is anybody's guess, so `shuffle` guesses.
"""

import base64
import hashlib
import json
import random
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from couch_tree import CONFLICT, DELETED, MALFORMED, MISSING, Body, Revision, Stored, generation


@dataclass(slots=True)
class Shard:
    """What changed in one shard, oldest first: (time, document); a document's older entries are stale."""

    log: list[tuple[int, Stored]] = field(default_factory=list)

    def since(self, position: int) -> Iterator[tuple[int, int, Stored]]:
        """Yield (time, position, document) of what changed after a position."""
        for place in range(position, len(self.log)):
            time, stored = self.log[place]
            if stored.position == place + 1:
                yield time, place + 1, stored

    def count(self, position: int) -> int:
        """Count what changed after a position."""
        return sum(stored.position == place for place, (_, stored) in enumerate(self.log[position:], position + 1))


class Database:
    """One database. Its methods are called under the server's lock, but for `wait`."""

    def __init__(self, name: str, *, epoch: int, start: str, shards: int = 2) -> None:
        self.name = name
        self.start = start
        self.security: Body = {"members": {"roles": ["_admin"]}, "admins": {"roles": ["_admin"]}}
        self.locals: dict[str, Body] = {}
        self.dropped = False
        self.purges = 0
        self.alive = 0
        self._epoch = epoch
        self._clock = 0
        self._shards = [Shard() for _ in range(shards)]
        self._documents: dict[str, Stored] = {}
        self._ids: list[str] = []
        self._ids_are_sorted = True

    # What is written

    def put(self, body: Mapping[str, Any], *, new_edits: bool = True) -> str:
        """Store a document as PUT does; gives the revision. Raises Refusal on conflict."""
        content = {key: value for key, value in body.items() if key not in {"_id", "_rev", "_deleted", "_revisions"}}
        content = {key: value for key, value in content.items() if key not in {"_conflicts", "_attachments"}}
        stored = self._documents.get(body["_id"])
        deleted = body.get("_deleted") is True
        chain = self._next(stored, body.get("_rev"), deleted, content) if new_edits else _chain_of(body)
        stored = stored or self._new(body["_id"])
        was_alive = bool(stored.leaves) and not stored.is_deleted
        if stored.graft(chain, Revision(chain[1] if len(chain) > 1 else None, deleted, content)):
            self.alive += (not stored.is_deleted) - was_alive
            self._changed(stored)
        return chain[0]

    def delete(self, doc_id: str, revision: str | None) -> str:
        """Leave a bare tombstone, as DELETE does. Raises Refusal."""
        stored = self._documents.get(doc_id)
        if stored is None or stored.is_deleted:
            raise MISSING if stored is None else DELETED
        return self.put({"_id": doc_id, "_rev": revision, "_deleted": True})

    def compact(self) -> None:
        """Forget the bodies of all revisions that are no leaves."""
        for stored in self._documents.values():
            for revision, node in stored.revisions.items():
                if revision not in stored.leaves:
                    node.body = None

    def purge(self, doc_id: str, revisions: list[str]) -> list[str]:
        """Forget leaves as if they had never been; a document that loses all of them gets no row in the changes."""
        stored = self._documents.get(doc_id)
        gone = [revision for revision in revisions if stored and revision in stored.leaves]
        if stored is None or not gone:
            return []
        was_alive = not stored.is_deleted
        for revision in gone:
            stored.drop(revision)
        self.purges += 1
        self.alive += (bool(stored.leaves) and not stored.is_deleted) - was_alive
        if stored.leaves:
            self._changed(stored)
        else:
            stored.position = 0
            del self._documents[doc_id]
            self._ids = list(self._documents)
            self._ids_are_sorted = False
        return gone

    # What is read

    def info(self) -> Body:
        return {
            "instance_start_time": self.start,
            "db_name": self.name,
            "purge_seq": f"{self.purges}-{_packed([self._epoch, self.purges])}",
            "update_seq": self.sequence(self._ends()),
            "sizes": {"file": 1, "external": 1, "active": 1},
            "props": {},
            "doc_del_count": len(self._documents) - self.alive,
            "doc_count": self.alive,
            "disk_format_version": 8,
            "compact_running": False,
            "cluster": {"q": len(self._shards), "n": 1, "w": 1, "r": 1},
        }

    def get(self, doc_id: str) -> Stored | None:
        return self._documents.get(doc_id)

    def ids(self) -> list[str]:
        """Give the ids of all documents, deleted ones too, sorted."""
        if not self._ids_are_sorted:
            self._ids.sort()
            self._ids_are_sorted = True
        return self._ids

    def between(self, start: str | None, end: str | None, *, inclusive: bool) -> Iterator[Stored]:
        """Yield the documents that are not deleted, from one id to another."""
        ids = self.ids()
        for place in range(bisect_left(ids, start) if start is not None else 0, len(ids)):
            if end is not None and (ids[place] > end or (ids[place] == end and not inclusive)):
                return
            stored = self._documents[ids[place]]
            if not stored.is_deleted:
                yield stored

    def sequence(self, positions: list[int]) -> str:
        """Give positions in the shards as the opaque text of the server."""
        return f"{sum(positions)}-g1{_packed([self._epoch, *positions])}"

    def positions(self, since: str) -> list[int]:
        """Read a sequence; one of a database that was here before starts from the beginning. Raises Refusal."""
        since = since.strip('"')
        if since == "now":
            return self._ends()
        if since in {"", "0"}:
            return [0] * len(self._shards)
        _, _, opaque = since.partition("-g1")
        try:
            epoch, *positions = json.loads(base64.urlsafe_b64decode(opaque))
        except ValueError:
            raise MALFORMED from None
        return list(positions) if epoch == self._epoch else [0] * len(self._shards)

    def changed(
        self, positions: list[int], *, shuffle: random.Random | None, rewind: bool
    ) -> Iterator[tuple[Stored, list[int]]]:
        """Yield what changed since, with the positions after it, in the order of time or shuffled between the shards.

        With `rewind` some of the rows before are told once more, when there is something to tell at all.
        """
        at = [min(position, len(shard.log)) for position, shard in zip(positions, self._shards, strict=True)]
        if rewind and at != self._ends():
            at = [max(0, place - 3) for place in at]
        queues = [shard.since(place) for place, shard in zip(at, self._shards, strict=True)]
        heads = dict(enumerate(next(queue, None) for queue in queues))
        while waiting := [shard for shard, head in heads.items() if head]:
            shard = shuffle.choice(waiting) if shuffle else min(waiting, key=lambda one: (heads[one] or (0,))[0])
            head = heads[shard]
            assert head is not None
            heads[shard] = next(queues[shard], None)
            at[shard] = head[1]
            yield head[2], list(at)

    def pending(self, positions: list[int]) -> int:
        """Count what changed since."""
        return sum(shard.count(at) for at, shard in zip(positions, self._shards, strict=True))

    def _ends(self) -> list[int]:
        return [len(shard.log) for shard in self._shards]

    def _next(self, stored: Stored | None, revision: object, deleted: bool, content: Body) -> list[str]:  # noqa: FBT001
        """Give the new revision and its parent; raises Refusal when the parent is not a leaf."""
        parent = revision if isinstance(revision, str) else None
        if parent is None and stored and stored.is_deleted:
            parent = stored.winner
        if (parent is None) != (stored is None) or (stored and parent not in stored.leaves):
            raise CONFLICT
        what = json.dumps([parent, deleted, content], sort_keys=True).encode("utf-8", "surrogatepass")
        fresh = f"{generation(parent) + 1 if parent else 1}-{hashlib.md5(what).hexdigest()}"  # noqa: S324 - as CouchDB
        return [fresh, parent] if parent else [fresh]

    def _new(self, doc_id: str) -> Stored:
        stored = self._documents[doc_id] = Stored(doc_id)
        self._ids.append(doc_id)
        self._ids_are_sorted = False
        return stored

    def _changed(self, stored: Stored) -> None:
        self._clock += 1
        log = self._shards[zlib.crc32(stored.id.encode("utf-8", "surrogatepass")) % len(self._shards)].log
        log.append((self._clock, stored))
        stored.position = len(log)


def _chain_of(body: Mapping[str, Any]) -> list[str]:
    """Give the revision of a replicated document and its ancestors, newest first."""
    told = body.get("_revisions")
    if not told:
        return [body["_rev"]]
    return [f"{told['start'] - age}-{digest}" for age, digest in enumerate(told["ids"])]


def _packed(numbers: list[int]) -> str:
    return base64.urlsafe_b64encode(json.dumps(numbers).encode()).decode()
