"""What a CouchDB source keeps with the index, as values: how far it has come, its salts, what cannot be taken as it is.

The facts of the files are in `catalogue`, which writes them itself. A value that is not one of ours is passed over:
what it said is found again by a listing.
"""

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vault_ask.sources.couch_vault import Epoch

CHECKPOINT, SALTS = "checkpoint", "salts"
SEALED, ODD_SIZE = "sealed:", "size:"
"""Before a document id and before a path: what cannot be taken as it is, for nobody reads it again."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far the changes were taken, in which life of the database, and which purges were looked after."""

    seq: str
    epoch: Epoch
    purges: str

    def dump(self) -> str:
        """Write it as one value of the memory."""
        return json.dumps([self.seq, self.epoch.start, self.epoch.created, self.purges])

    @classmethod
    def load(cls, value: str | None) -> "Checkpoint | None":
        """Read what `dump` wrote; None where that is not what it is."""
        try:
            seq, start, created, purges = json.loads(value or "")
            return cls(str(seq), Epoch(str(start), int(created)), str(purges))
        except (ValueError, TypeError):
            return None


class Oddities:
    """What cannot be taken as it is and why, by name; what changed is news to be remembered."""

    def __init__(self, prefix: str, news: dict[str, str | None]) -> None:
        self._prefix = prefix
        self._news = news
        self._reasons: dict[str, str] = {}

    def __contains__(self, name: str) -> bool:
        """Say whether something is odd."""
        return name in self._reasons

    def items(self) -> list[tuple[str, str]]:
        """List the names and reasons as they are now."""
        return list(self._reasons.items())

    def note(self, name: str, reason: str | None) -> None:
        """Note, or forget with None, why something cannot be taken as it is."""
        if self._reasons.get(name) == reason:
            return
        self._news[self._prefix + name] = reason
        if reason is None:
            del self._reasons[name]
        else:
            self._reasons[name] = reason

    def replace(self, reasons: Mapping[str, str]) -> None:
        """Take what a listing found in place of all that was known."""
        self._reasons = dict(reasons)

    def dump(self) -> dict[str, str]:
        """Write them as values of the memory."""
        return {self._prefix + name: reason for name, reason in self._reasons.items()}

    def recall(self, memory: Mapping[str, str]) -> None:
        """Take back what an index kept."""
        self._reasons = {
            key.removeprefix(self._prefix): value for key, value in memory.items() if key.startswith(self._prefix)
        }


def dump_salts(salts: Iterable[bytes]) -> str:
    """Write salts, the newest first, as one value of the memory."""
    return json.dumps([base64.b64encode(salt).decode() for salt in salts])


def load_salts(value: str | None) -> list[bytes]:
    """Read what `dump_salts` wrote; none where that is not what it is."""
    try:
        return [base64.b64decode(salt) for salt in json.loads(value or "[]")]
    except (ValueError, TypeError, binascii.Error):
        return []
