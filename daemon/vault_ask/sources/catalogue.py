"""What is known of the documents of a LiveSync database: one fact for each live file, by document id and by path.

It is what `_all_docs` would say, decoded; no I/O here. The facts are kept with the index, so that a restart knows which
path a bare tombstone meant, and decrypts no path twice (V1 takes 0.07 s for each).
"""

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from vault_ask.sources.livesync import Metadata

KEY = "doc:"
"""Before the document id, in the memory that is kept with the index."""

LOST = "!"
"""In a fact's revision, between the winning revision and those that lost against it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A live file. `revision` names the winning revision and those that lost; `path` is spelled as the vault does.

    `whole` is False until the version was read whole: after a restart it is then read again.
    """

    revision: str
    path: str
    size: int | None
    mtime: float
    whole: bool

    @property
    def winner(self) -> str:
        """The revision that counts."""
        return self.revision.partition(LOST)[0]

    @property
    def lost(self) -> tuple[str, ...]:
        """The revisions of an unresolved conflict."""
        return tuple(part for part in self.revision.partition(LOST)[2].split(",") if part)

    @property
    def shown(self) -> str:
        """The path under which the file is listed: NFC."""
        return shown_path(self.path)

    def dump(self) -> str:
        """Write it as one value of the memory."""
        return json.dumps([self.revision, self.path, self.size, self.mtime, self.whole], ensure_ascii=False)

    @classmethod
    def load(cls, value: str) -> "Fact":
        """Read what `dump` wrote. Raises ValueError."""
        revision, path, size, mtime, whole = json.loads(value)
        return cls(str(revision), str(path), size, float(mtime), bool(whole))


def fact_of(metadata: Metadata, lost: Iterable[str], *, whole: bool = False) -> Fact:
    """Note what a decoded document says of itself."""
    return Fact(revisions(metadata.revision, lost), metadata.path, metadata.size, metadata.mtime, whole)


def revisions(winner: str, lost: Iterable[str]) -> str:
    """Name a winning revision and those that lost against it."""
    losers = ",".join(sorted(lost))
    return f"{winner}{LOST}{losers}" if losers else winner


def shown_path(path: str) -> str:
    """Give the spelling of a path that listings, links and citations use."""
    return unicodedata.normalize("NFC", path)


class Catalogue:
    """The live files of a database. Of several at one path the newest counts, as LiveSync itself would have it."""

    def __init__(self, facts: Mapping[str, Fact] | None = None) -> None:
        self._facts: dict[str, Fact] = {}
        self._ids: dict[str, tuple[str, ...]] = {}
        self._contested: set[str] = set()
        self.news: set[str] = set()
        """Documents that were read whole since the memory was last written."""
        for doc_id, fact in (facts or {}).items():
            self.put(doc_id, fact)

    @classmethod
    def load(cls, memory: Mapping[str, str]) -> "Catalogue":
        """Read the facts out of a memory; a value that is not one of ours is left out, and found again by a listing."""
        facts = {}
        for key, value in memory.items():
            if key.startswith(KEY):
                try:
                    facts[key.removeprefix(KEY)] = Fact.load(value)
                except (ValueError, TypeError):
                    continue
        return cls(facts)

    def dump(self, *, unread: Callable[[Fact], bool] = lambda fact: not fact.whole) -> dict[str, str]:
        """Write all facts as values of a memory; `unread` says of which the newest version was not read whole."""
        return {KEY + doc_id: replace(fact, whole=not unread(fact)).dump() for doc_id, fact in self._facts.items()}

    def __len__(self) -> int:
        """Count the files."""
        return len(self._facts)

    def __contains__(self, doc_id: str) -> bool:
        """Say whether a document is a live file."""
        return doc_id in self._facts

    def __iter__(self) -> Iterator[str]:
        """Go through the ids as they are now."""
        return iter(tuple(self._facts))

    def get(self, doc_id: str) -> Fact | None:
        """Give the fact of a document."""
        return self._facts.get(doc_id)

    def put(self, doc_id: str, fact: Fact) -> None:
        """Note a live file, in place of what was known of its document."""
        self.drop(doc_id)
        self._facts[doc_id] = fact
        self._ids[fact.shown] = (*self._ids.get(fact.shown, ()), doc_id)
        self._weigh(fact.shown)

    def drop(self, doc_id: str) -> Fact | None:
        """Forget a document; give what was known of it."""
        fact = self._facts.pop(doc_id, None)
        if fact is not None:
            rest = tuple(other for other in self._ids[fact.shown] if other != doc_id)
            if rest:
                self._ids[fact.shown] = rest
            else:
                del self._ids[fact.shown]
            self._weigh(fact.shown)
        return fact

    def confirm(self, doc_id: str) -> None:
        """Note that a document was read whole."""
        fact = self._facts.get(doc_id)
        if fact is not None and not fact.whole:
            self._facts[doc_id] = replace(fact, whole=True)
            self.news.add(doc_id)

    def ids_at(self, path: str) -> tuple[str, ...]:
        """List the documents at a shown path, the one that counts first."""
        return tuple(sorted(self._ids.get(path, ()), key=lambda doc_id: (-self._facts[doc_id].mtime, doc_id)))

    def contested(self) -> list[str]:
        """List the shown paths at which more than one version is alive, sorted."""
        return sorted(self._contested)

    def paths(self) -> list[str]:
        """List the shown paths, sorted."""
        return sorted(self._ids)

    def _weigh(self, path: str) -> None:
        ids = self._ids.get(path, ())
        if len(ids) > 1 or any(self._facts[doc_id].lost for doc_id in ids):
            self._contested.add(path)
        else:
            self._contested.discard(path)
