"""What has to be done to bring the index in line with a listing. Pure: two lists in, a plan out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vault_ask.index.reading.notes import Known
from vault_ask.sources.port import Entry

SAME_VAULT, FEW = 0.8, 10
"""A vault at a new place is the same one if this share of the indexed notes is there, or half of them and few lack."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Paths to read because they are new or may have changed, and paths to forget because they are gone."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def to_read(self) -> tuple[str, ...]:
        """Everything that has to be read."""
        return (*self.new, *self.changed)


@dataclass(frozen=True, slots=True)
class SuddenlyEmpty:
    """The source lists nothing although notes are indexed: an unmounted disk looks just like that."""

    indexed: int


@dataclass(frozen=True, slots=True)
class AnotherVault:
    """Hardly a note of the index is in the listing: this data folder belongs to another vault."""

    indexed: int
    found: int


def make_plan(
    listing: Iterable[Entry],
    known: Mapping[str, Known],
    *,
    unreadable: tuple[str, ...] = (),
    reread: bool = False,
    moved: bool = False,
) -> Plan | SuddenlyEmpty | AnotherVault:
    """Compare a listing with what is indexed.

    `unreadable` are folders that could not be listed: what is indexed below them stays. `reread` reads every note
    again, for when the rules of reading have changed; one that was closed is read again always. `moved` says that the
    vault lies at another place than it did; then most of what is indexed has to be found again.
    """
    listed = {entry.path: entry for entry in listing}
    if known and not listed:
        return SuddenlyEmpty(len(known))
    found = sum(path in listed for path in known)
    if moved and _is_another(found, len(known)):
        return AnotherVault(len(known), found)
    new = [path for path in listed if path not in known]
    changed = [
        path
        for path, entry in listed.items()
        if path in known and (reread or known[path].is_closed or known[path].revision != entry.revision)
    ]
    gone = [path for path in known if path not in listed and not _below(path, unreadable)]
    return Plan(tuple(new), tuple(changed), tuple(gone))


def _is_another(found: int, indexed: int) -> bool:
    return 2 * found < indexed or (found < SAME_VAULT * indexed and indexed - found > FEW)


def _below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") or not folder for folder in folders)
