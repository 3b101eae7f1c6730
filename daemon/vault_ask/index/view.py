"""What can be read of the index under a scope: THE GATE.

A `VaultView[S]` lives for one question, in one thread, inside one read transaction: everything it gives comes from one
state of the index. It is opened at a scope and every query goes through that scope's views, so that a note above the
ceiling is simply not there. The queries stand in `reading`, by kind: the only SQL that returns text.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic

import apsw

from vault_ask.errors import NoIndex
from vault_ask.index.database import translated
from vault_ask.index.files import IndexFiles
from vault_ask.index.reading.chunks import Chunks
from vault_ask.index.reading.filters import Filters
from vault_ask.index.reading.links import Links
from vault_ask.index.reading.notes import Notes
from vault_ask.index.reading.reader import Reader
from vault_ask.index.reading.state import State
from vault_ask.index.reading.text import Text
from vault_ask.index.reading.vectors import Vectors
from vault_ask.index.reading.words import Words
from vault_ask.scope import S, Sensitivity


class VaultView(Generic[S]):
    """The notes that a scope may see, at one moment, and what can be asked of them."""

    def __init__(self, scope: S, reader: Reader) -> None:
        self.scope: S = scope
        self.notes = Notes(reader)
        """Which notes there are, and what is kept of each beside its text."""
        self.chunks = Chunks(reader)
        """Which chunks stand where in which notes."""
        self.text: Text[S] = Text(reader)
        """The text of chunks."""
        self.words = Words(reader)
        """Which chunks hold which words."""
        self.vectors = Vectors(reader)
        """Which chunks are near, and where chunks lie."""
        self.filters = Filters(reader)
        """Which chunks fit filters and days."""
        self.links = Links(reader)
        """Which notes link to which."""
        self.state = State(reader)
        """What the index holds and since when, what should be mended, what it was made by."""


class Index:
    """Opens views of the index in use, with one reader a ceiling and thread."""

    def __init__(self, files: IndexFiles) -> None:
        self._files = files
        self._local = threading.local()

    @contextmanager
    def open(self, scope: S) -> Iterator[VaultView[S]]:
        """Open a view at a scope, inside one read transaction.

        Raises NoIndex while there is no index file, and IndexFailed or IndexDamaged here or while the view is read.
        """
        with translated():
            reader = self._reader(scope.ceiling)
            with reader.transaction():
                yield VaultView(scope, reader)

    def close(self) -> None:
        """Close this thread's readers; the last one of all takes the journal files with it."""
        for reader in self._local.__dict__.pop("readers", {}).values():
            reader.close()

    def _reader(self, ceiling: Sensitivity) -> Reader:
        readers: dict[Sensitivity, Reader] = self._local.__dict__.setdefault("readers", {})
        reader = readers.get(ceiling)
        current = self._files.current
        if reader is not None and (reader.path != current or reader.outdated()):
            reader.close()
            reader = None
        if reader is None:
            reader = readers[ceiling] = self._opened(ceiling)
        return reader

    def _opened(self, ceiling: Sensitivity) -> Reader:
        """Open the file in use; where a rebuild took its place just now, the one that is in use then."""
        current = self._files.current
        try:
            if current.exists():
                return Reader(current, ceiling)
        except apsw.Error:
            if self._files.current == current:
                raise
        if self._files.current != current:
            return self._opened(ceiling)
        raise NoIndex(f"There is no index in {self._files.data} yet. Run `vault-ask index` first.")
