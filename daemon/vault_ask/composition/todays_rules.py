"""The rules of what is personal as they are today, where an index was made by former ones."""

from threading import Lock

from vault_ask.composition.parts import make_rules
from vault_ask.errors import IndexBusy
from vault_ask.index.files import IndexFiles
from vault_ask.index.view import Index
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.ingest import reclassify
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import OpenScope
from vault_ask.settings import Settings


class TodaysRules:
    """Applies rules that changed since the last index run, once, before anything is read by the former ones."""

    def __init__(self, settings: Settings, files: IndexFiles, index: Index) -> None:
        self._settings = settings
        self._files = files
        self._index = index
        self._lock = Lock()
        self._applied = False

    def apply(self) -> None:
        """Apply them. Raises IndexBusy when a daemon that still knows the former ones owns the data folder."""
        with self._lock:
            if self._applied or not self._files.current.exists():
                return
            rules = make_rules(self._settings)
            with self._index.open(OpenScope(web_allowed=False)) as view:
                stored = view.state.rules
            if stored != rules.fingerprint:
                self._reclassify(rules)
            self._applied = True

    def _reclassify(self, rules: Rules) -> None:
        try:
            with self._files.owned():
                writer = IndexWriter(self._files.current)
                try:
                    reclassify(writer, rules)
                finally:
                    writer.close()
        except IndexBusy:
            raise IndexBusy(
                "The rules of what is personal have changed, and the running daemon still holds the former ones, so "
                "nothing was answered. Restart the daemon, or start this command with its settings."
            ) from None
