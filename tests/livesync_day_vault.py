"""The owner's side of a simulated day: two devices, what they wrote, and what a right reader must make of it.

What is expected is worked out from the stored revisions and from the texts as they were written, not by the code that
is tested; only the format is decoded by it.
"""

import base64
import random
import unicodedata
from dataclasses import dataclass
from itertools import count
from typing import Any

import httpx

from couch_stand_in import CouchStandIn
from couch_store import Stored
from livesync_device import MODES, PARAMETERS, PASSPHRASE, Device
from vault_ask.notes.sensitivity import Rules
from vault_ask.sources.ciphers import Keyring
from vault_ask.sources.livesync import Metadata, is_note_id, note_id, read_metadata, refused_path

DATABASE = "vault"
CUT = 400
WORDS = (
    "quince",
    "harbour",
    "ladder",
    "copper",
    "violet",
    "meadow",
    "anchor",
    "kettle",
    "lantern",
    "orchard",
    "walnut",
)
PROBES = ("quince", "harbour", "lantern")
FOLDERS = ("", "Work/", "Private/", "Daily/2024/", "Café/", "Work/Deep/")
NAMES = ("Plan", "Hub", "Recipe", "İz", "Straße", "Letter", "Ünal", "Garden", "_Index", "Log", "Trip", "Ideas")
_RETRIED = frozenset({429, 500, 502, 503})


class _Patient(httpx.BaseTransport):
    """Sends again what failed, as LiveSync does: faults are meant for the daemon."""

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport(trust_env=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for _ in range(50):
            try:
                response = self._inner.handle_request(request)
                response.read()
            except httpx.TransportError:
                continue
            if response.status_code not in _RETRIED:
                return response
        raise httpx.ConnectError("the server of the test is away")

    def close(self) -> None:
        self._inner.close()


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a file: its text, as far as its chunks are there."""

    path: str
    text: str | bytes
    chunks: tuple[bool, ...]

    @property
    def whole(self) -> bool:
        return all(self.chunks)

    def is_personal(self, rules: Rules) -> bool:
        """Tell whether whoever reads it, or its beginning, must see that it is personal."""
        said = self.text[:CUT] if self.chunks[:1] == (True,) else ""
        if "sensitivity: personal" in said:
            return True
        return bool(rules.matches(self.path)) and "sensitivity: open" not in str(self.text)


@dataclass(frozen=True, slots=True)
class Expected:
    """What is at a shown path: the version that counts, and all others."""

    newest: Version
    others: tuple[Version, ...]

    def is_personal(self, rules: Rules) -> bool:
        return any(one.is_personal(rules) for one in (self.newest, *self.others))


class Vault:
    """A LiveSync vault with two devices that write to it. `hours` is what their clocks say has gone by."""

    def __init__(self, server: CouchStandIn, mode: str, chance: random.Random) -> None:
        self.server = server
        self.mode = MODES[mode]
        self.chance = chance
        self.hours = 0.0
        self.devices = tuple(Device(server.url, DATABASE, mode=mode, cut=CUT) for _ in range(2))
        for device in self.devices:
            device._http.close()
            device._http = httpx.Client(transport=_Patient(), timeout=30)
        self.keys = Keyring(PASSPHRASE)
        for device in self.devices:
            # Each has what it once decrypted; here they read what the other wrote with a salt of its own.
            device._keys = self.keys
        self._texts: dict[tuple[str, ...], str | bytes] = {}
        self._numbers = count(1)
        self.markers: set[str] = set()
        self.devices[0].create_database()
        self.learn_salt()

    def close(self) -> None:
        for device in self.devices:
            device.close()

    # What is there

    def salt(self) -> bytes:
        """Give the salt of today."""
        return base64.b64decode(self.server.databases[DATABASE].locals[PARAMETERS]["pbkdf2salt"])

    def learn_salt(self) -> None:
        self.keys.add_salt(self.salt())

    def files(self) -> dict[str, Metadata]:
        """Give the live files by document id."""
        return {stored.id: versions[0] for stored, versions in self._live()}

    def notes(self) -> list[str]:
        """List the live notes as their documents spell them, sorted."""
        return sorted(meta.path for meta in self.files().values() if _is_note(meta.path))

    def contested(self) -> list[str]:
        """List the notes with unresolved conflicts."""
        return sorted(one[0].path for _, one in self._live() if len(one) > 1 and _is_note(one[0].path))

    def deleted(self) -> list[str]:
        """List the notes whose document says that they are deleted."""
        with self.server.changed:
            stored = list(self.server.databases[DATABASE]._documents.values())
            read = [read_metadata(one.document(one.winner), self.keys) for one in stored if is_note_id(one.id)]
        return sorted(meta.path for meta in read if meta and meta.deleted and meta.path.endswith(".md"))

    def expected(self) -> dict[str, Expected]:
        """Say what is at each shown path of a note."""
        by_path: dict[str, list[tuple[Metadata, ...]]] = {}
        for _, versions in self._live():
            if _is_note(versions[0].path):
                by_path.setdefault(unicodedata.normalize("NFC", versions[0].path), []).append(versions)
        return {path: self._expected(documents) for path, documents in by_path.items()}

    def content(self, meta: Metadata) -> str | bytes | None:
        """Give what was written, None while chunks of it are not there."""
        return self._texts[meta.children] if all(map(self.has, meta.children)) else None

    def has(self, chunk: str) -> bool:
        """Say whether a chunk is there."""
        stored = self.server.databases[DATABASE].get(chunk)
        return stored is not None and not stored.is_deleted

    def is_free(self, path: str) -> bool:
        """Say whether there is no file whose document would be this path's."""
        return note_id(path) not in {note_id(meta.path) for meta in self.files().values()}

    # What is written

    def free_path(self) -> str:
        """Choose a path for a new note."""
        while True:
            number = self.chance.choice(("", "", f" {self.chance.randint(1, 9)}"))
            path = f"{self.chance.choice(FOLDERS)}{self.chance.choice(NAMES)}{number}.md"
            if self.is_free(path):
                return path

    def text(self, *, said: str | None = None, large: bool = False) -> str:
        """Write a note that holds a word of its own, links and a tag; `said` is its sensitivity key."""
        marker = f"mark{next(self._numbers):05d}x"
        self.markers.add(marker)
        head = f"---\nsensitivity: {said}\n---\n" if said else ""
        paragraphs = [self._paragraph() for _ in range(self.chance.randint(12, 20) if large else 1)]
        body = "\n\n".join(f"## Part {place}\n\n{text}" for place, text in enumerate(paragraphs)) if large else ""
        return f"{head}# About {marker}\n\n{self._paragraph()} [[{self.chance.choice(NAMES)}]]\n\n{body}\n#tagged\n"

    def _paragraph(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(10, 30)))

    def device(self) -> Device:
        return self.chance.choice(self.devices)

    def now(self, device: Device) -> float:
        """Tell the time by a device's clock: the second one is two hours ahead."""
        return 1_700_000_000 + 3600 * (self.hours + 2 * self.devices.index(device))

    def write(
        self, path: str, content: str | bytes, *, size_off: int = 0, held_back: float = 0.0
    ) -> tuple[Device, list[dict[str, Any]]]:
        """Write a file by either device, its document before or after its chunks; gives the chunks it held back."""
        device = self.device()
        note, chunks = self.encoded(device, path, content)
        if size_off:
            children = self._children(device, path, content)
            note = device._encoder.note(path, children, len(content.encode()) + size_off, self.now(device))
        late = [chunk for chunk in chunks if self.chance.random() < held_back]
        steps = [lambda: device.send([chunk for chunk in chunks if chunk not in late]), lambda: device._update([note])]
        for step in steps if self.chance.random() < 0.8 else reversed(steps):
            step()
        return device, late

    def encoded(self, device: Device, path: str, content: str | bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Encode a file, remembering what its chunks make."""
        self._texts[tuple(self._children(device, path, content))] = content
        return device._encoder.file(path, content, self.now(device))

    def _children(self, device: Device, path: str, content: str | bytes) -> list[str]:
        data = content.encode() if isinstance(content, str) else content
        return [str(device._encoder.chunk(piece)["_id"]) for piece in device._encoder._pieces(path, data)]

    def _expected(self, documents: list[tuple[Metadata, ...]]) -> Expected:
        documents = sorted(documents, key=lambda versions: (-versions[0].mtime, versions[0].id))
        newest = self._version(documents[0][0])
        rest = [one for versions in documents for one in versions if one is not documents[0][0]]
        return Expected(newest, tuple(map(self._version, rest)))

    def _version(self, meta: Metadata) -> Version:
        return Version(meta.path, self._texts[meta.children], tuple(map(self.has, meta.children)))

    def _live(self) -> list[tuple[Stored, tuple[Metadata, ...]]]:
        with self.server.changed:
            database = self.server.databases[DATABASE]
            stored = [one for one in database._documents.values() if is_note_id(one.id) and not one.is_deleted]
            read: list[tuple[Stored, tuple[Metadata, ...]]] = []
            for one in stored:
                bodies = [one.document(revision) for revision in (one.winner, *one.conflicts())]
                versions = [meta for body in bodies if (meta := read_metadata(body, self.keys))]
                if versions and not versions[0].deleted:
                    read.append((one, tuple(versions)))
            return read


def _is_note(path: str) -> bool:
    return path.endswith(".md") and refused_path(path) is None
