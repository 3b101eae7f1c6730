"""Documents as CouchDB keeps them: trees of revisions, of which one leaf is the winner."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]


class Refusal(Exception):
    """An answer other than success."""

    def __init__(self, status: int, error: str, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.body = {"error": error, "reason": reason}


MISSING = Refusal(404, "not_found", "missing")
DELETED = Refusal(404, "not_found", "deleted")
CONFLICT = Refusal(409, "conflict", "Document update conflict.")
NO_DATABASE = Refusal(404, "not_found", "Database does not exist.")
MALFORMED = Refusal(400, "bad_request", "Malformed sequence supplied in 'since' parameter.")


@dataclass(slots=True)
class Revision:
    """A node of a revision tree; `body` is None once compaction has taken it."""

    parent: str | None
    deleted: bool
    body: Body | None


@dataclass(slots=True)
class Stored:
    """A document: its revision tree, the leaves of it, best first, and the positions of its last change."""

    id: str
    revisions: dict[str, Revision] = field(default_factory=dict)
    leaves: list[str] = field(default_factory=list)
    position: int = 0

    @property
    def winner(self) -> str:
        return self.leaves[0]

    @property
    def is_deleted(self) -> bool:
        return self.revisions[self.winner].deleted

    def conflicts(self) -> list[str]:
        """Give the losing leaves that are not deleted."""
        return [leaf for leaf in self.leaves[1:] if not self.revisions[leaf].deleted]

    def graft(self, chain: list[str], node: Revision) -> bool:
        """Add a revision whose ancestors are `chain[1:]`, newest first; False when it is there already."""
        revision = chain[0]
        if revision in self.revisions and self.revisions[revision].body is not None:
            return False
        for child, parent in zip(chain[1:], [*chain[2:], None], strict=False):
            self.revisions.setdefault(child, Revision(parent, deleted=False, body=None))
        self.revisions[revision] = node
        if len(self.revisions) == 1:
            self.leaves = [revision]
        else:
            self._sort()
        return True

    def drop(self, revision: str) -> None:
        """Purge a leaf, with those of its ancestors that lead nowhere else."""
        gone: str | None = revision
        while gone is not None and not any(node.parent == gone for node in self.revisions.values()):
            gone = self.revisions.pop(gone).parent
        self._sort()

    def document(self, revision: str, *, conflicts: bool = False, revs: bool = False) -> Body | None:
        """Give a revision as documents are told, None when its body is gone."""
        node = self.revisions.get(revision)
        if node is None or node.body is None:
            return None
        told = {"_id": self.id, "_rev": revision, **node.body}
        if node.deleted:
            told["_deleted"] = True
        if conflicts and (losers := self.conflicts()):
            told["_conflicts"] = losers
        if revs:
            hashes = [one.split("-", 1)[1] for one in self._chain(revision)]
            told["_revisions"] = {"start": generation(revision), "ids": hashes}
        return told

    def _chain(self, revision: str | None) -> Iterator[str]:
        while revision is not None and revision in self.revisions:
            yield revision
            revision = self.revisions[revision].parent

    def _sort(self) -> None:
        parents = {node.parent for node in self.revisions.values()}
        leaves = [revision for revision in self.revisions if revision not in parents]
        self.leaves = sorted(leaves, key=self._rank, reverse=True)

    def _rank(self, leaf: str) -> tuple[bool, int, str]:
        return not self.revisions[leaf].deleted, generation(leaf), leaf.split("-", 1)[1]


def generation(revision: str) -> int:
    """Give the number that a revision begins with."""
    return int(revision.split("-", 1)[0])
