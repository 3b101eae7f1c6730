"""The vault as a folder on this machine, or on a share that is mounted here. It is read and never written."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from threading import Event

from vault_ask.errors import ConfigError, DocumentVanished
from vault_ask.settings.vault import VaultSettings
from vault_ask.sources.following import Follower, Memory
from vault_ask.sources.holdings import FileSelection, Holdings, read_file
from vault_ask.sources.mounts import MOUNTINFO
from vault_ask.sources.port import Change, Document, Entry, Holding, SourceState, Trouble, Unread
from vault_ask.sources.reading import read_note
from vault_ask.sources.selection import Selection
from vault_ask.sources.survey import Surveyor, entries, troubles, unreadable
from vault_ask.sources.walk import Tree, is_within
from vault_ask.sources.watchers import Arm, arm_native


class FolderSource:
    """A `VaultSource` over a folder. `changes` runs in one thread at a time; the rest may be called from any.

    `data` is the folder of the index, which must not lie in the vault. `mountinfo` and `arm` say what is mounted and
    how watches are got; they are there for machines, and tests, where those differ.

    Raises ConfigError when no folder is configured or the index would lie in it. A folder that is not there is no
    mistake at this point: its disk may come.
    """

    def __init__(
        self, settings: VaultSettings, *, data: Path | None = None, mountinfo: Path = MOUNTINFO, arm: Arm = arm_native
    ) -> None:
        if settings.path is None or not str(settings.path).strip():
            raise ConfigError("No vault is named. Set vault.path in config.yaml, or give --vault DIR.")
        root = settings.path.expanduser().absolute()
        _refuse_index_in_vault(root, data)
        self._name = settings.name or root.name or "vault"
        self._root = str(root)
        self._selection = Selection.of(settings.include, settings.exclude)
        self._files = FileSelection.of(settings.include, settings.exclude)
        self._surveyor = Surveyor(self._root, self._selection)
        self._memory = Memory()
        self._listed: Tree = {}
        self._not_held: tuple[Trouble, ...] = ()
        self._follower = Follower(self._surveyor, settings, self._memory, mountinfo, arm)

    @property
    def name(self) -> str:
        """The vault's name, as `obsidian://` links want it."""
        return self._name

    @property
    def stands_in(self) -> bool:
        """Never: it is the vault's own source."""
        return False

    @property
    def identity(self) -> str:
        """The folder, with links resolved."""
        return os.path.realpath(self._root)

    def listing(self) -> list[Entry]:
        """List the notes, sorted by path.

        Notes below folders that cannot be looked into just now are not in it; `unreadable` names those folders.
        Raises SourceUnreachable when the vault is away, when its disk fails anywhere, when it is an empty folder, or
        when all of its notes (more than one) vanished since they were last seen.
        """
        tree = self._surveyor.whole(self._memory.tree)
        self._memory.tree = self._listed = tree
        closed = unreadable(tree)
        return sorted((e for e in entries(tree) if not _is_below(e.path, closed)), key=lambda entry: entry.path)

    def unreadable(self) -> tuple[str, ...]:
        """Name the folders that the last listing could not look into; what is indexed below them stays."""
        return unreadable(self._listed)

    def problems(self) -> tuple[Trouble, ...]:
        """Tell what the last listing, and the last list of holdings, left out or found closed."""
        return tuple(sorted({*troubles(self._listed), *self._not_held}, key=lambda trouble: trouble.path))

    def read(self, path: str) -> Document:
        """Read one note, or the note that a link inside the vault leads to. Raises as the port says."""
        return read_note(self._root, path, self._selection)

    def read_all(self, paths: Sequence[str]) -> Iterator[Document | Unread]:
        """Read some notes one after the other; a file is whole, so it is read or gone. Raises SourceUnreachable."""
        for path in paths:
            try:
                yield self.read(path)
            except DocumentVanished:
                yield Unread(path, "it is gone, or it cannot be opened", vanished=True)

    def memory(self) -> Mapping[str, str]:
        """Give nothing: a folder is compared with the index by listing it, and remembers no changes to go on from."""
        return {}

    def recall(self, memory: Mapping[str, str]) -> None:
        """Take nothing back, for the same reason."""

    def changes(self, stop: Event) -> Iterator[list[Change]]:
        """Follow the vault until `stop` is set; see the port."""
        return self._follower.changes(stop)

    def holdings(self, *, deleted: bool = False) -> Iterator[Holding]:  # noqa: ARG002 - a folder remembers none
        """List every file, attachments too, sorted by path. A file that cannot be opened is there and incomplete.

        Names that no path can hold, and what links lead to, are left out; `problems` tells of the former. Raises
        SourceUnreachable when the vault is away, at the start or on the way, and when it is an empty folder.
        """
        walk = Holdings(self._surveyor, self._files)
        yield from walk
        self._not_held = tuple(walk.troubles)

    def contents(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | Unread]]:
        """Give the bytes of files, attachments too, holding one of them at a time. Raises SourceUnreachable."""
        return ((path, read_file(self._root, path, self._files)) for path in paths)

    def state(self) -> SourceState:
        """Tell how changes reach us, and how many files and folders could not be taken as they are."""
        state, count = self._follower.state, len(troubles(self._listed))
        if not count:
            return state
        left_out = "1 file or folder has" if count == 1 else f"{count} files or folders have"
        return SourceState(state.mode, f"{state.message} {left_out} a problem and may be left out.")


def _is_below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _refuse_index_in_vault(root: Path, data: Path | None) -> None:
    if data is not None and is_within(os.path.realpath(root), os.path.realpath(data.expanduser())):
        raise ConfigError(
            f"The data folder {data} lies inside the vault, and nothing is ever written there. Set data to a folder "
            "elsewhere, or give --data DIR."
        )
