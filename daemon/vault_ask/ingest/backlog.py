"""Gives waiting chunks their vectors: in batches, newest notes first, again and again while the embedder is away.

Runs beside whoever writes notes, so that a slow embedder never keeps a new note from being found by its words. What
was embedded is stored at once: no text is embedded twice, and a restart goes on where it was.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock

import structlog

from vault_ask.errors import EmbeddingSpaceChanged, ModelError
from vault_ask.index.drafts import Draft
from vault_ask.index.embedding import Embedder, Refused, Vector
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.progress import Track

log = structlog.get_logger()

STEP_SECONDS = 4.0
"""How long one step should take: short enough to save often, long enough to keep a server busy."""

EMBED_FIRST = 48
"""A change of at most this many chunks is embedded before it is stored (about 2 s on a slow CPU)."""

FIRST_STEP, LONGEST_STEP = 8, 256
NOTICEABLE = 50
"""When one part in so many of all chunks was embedded, the means are made anew at the end: on the way they are renewed
only as the vault grows, and a language whose notes came last would be left without one."""

FIRST_RETRY_SECONDS, LONGEST_RETRY_SECONDS = 2.0, 120.0


@dataclass(frozen=True, slots=True)
class Embedded:
    """What came of a batch: vectors by embedding hash, and the hashes of refused texts."""

    made: dict[bytes, Vector] = field(default_factory=dict)
    refused: frozenset[bytes] = frozenset()


@dataclass(frozen=True, slots=True)
class BacklogState:
    """How the embedder is doing, for the status."""

    ready: bool = False
    last_error: str | None = None
    next_try: float | None = None
    rebuild_needed: str | None = None


class Backlog:
    """Embeds for one index. Without an embedder nothing is ever waiting to be done."""

    def __init__(
        self,
        writer: IndexWriter,
        embedder: Embedder | None,
        progress: Track,
        *,
        centring: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._writer = writer
        self._embedder = embedder
        self._progress = progress
        self._centring = centring
        self._clock = clock
        self._state = BacklogState()
        self._bound = False
        self._step = FIRST_STEP
        self._retry = FIRST_RETRY_SECONDS
        self._running = Lock()

    @property
    def state(self) -> BacklogState:
        """How it stands."""
        return self._state

    @property
    def willing(self) -> bool:
        """Whether it is worth asking the embedder now."""
        state = self._state
        if self._embedder is None or state.rebuild_needed:
            return False
        return state.next_try is None or self._clock() >= state.next_try

    def seconds_until_retry(self) -> float | None:
        """Give the time until the next try, while the embedder is away."""
        due = self._state.next_try
        return None if due is None else max(0.0, due - self._clock())

    def embed(self, texts: Sequence[tuple[bytes, str]]) -> Embedded | None:
        """Embed texts by hash; None when the embedder is away, which is remembered for the next try."""
        unique = dict(texts)
        if self._embedder is None or not self._prepared():
            return None
        try:
            results = self._embedder.embed_passages(list(unique.values()))
        except ModelError as error:
            self._postpone(str(error))
            return None
        except Exception as error:  # noqa: BLE001 - whatever an embedder does, notes go in by their words
            self._postpone(f"The embedder failed unexpectedly ({type(error).__name__}); it is tried again.")
            return None
        self._retry = FIRST_RETRY_SECONDS
        self._state = BacklogState(ready=True)
        pairs = list(zip(unique, results, strict=True))
        made = {digest: result for digest, result in pairs if not isinstance(result, Refused)}
        return Embedded(made, frozenset(digest for digest, result in pairs if isinstance(result, Refused)))

    @contextmanager
    def embedded_first(self, drafts: Sequence[Draft]) -> Iterator[Embedded]:
        """Embed what a small change lacks, unless the backlog is at work: it takes the newest notes first anyway.

        The backlog is held until the block has stored what was made, so that nothing is embedded twice.
        """
        if not self._running.acquire(blocking=False):
            yield Embedded()
            return
        try:
            yield self._missing_of(drafts)
        finally:
            self._running.release()

    def drain(self, stop: Event) -> bool:
        """Embed what waits until nothing does, `stop` is set or the embedder goes away; say whether all is done."""
        if self._embedder is None:
            return True
        with self._running:
            total = self._writer.count_waiting()
            if total == 0:
                self._rest()
                # What was embedded before it was stored counts as well; most times this only counts the vectors.
                self._writer.refresh_statistics()
                return True
            self._progress.begin("embedding", total)
            try:
                return self._drain(stop)
            finally:
                embedded = self._progress.snapshot.done
                noticeable = 0 < self._writer.count_chunks() <= embedded * NOTICEABLE
                self._writer.refresh_statistics(force=noticeable)
                error = self._state.last_error
                self._progress.rest("waiting" if error else "idle", error or "")

    def _missing_of(self, drafts: Sequence[Draft]) -> Embedded:
        if not self.willing or not self._state.ready:
            return Embedded()
        missing = self._writer.without_vector(drafts)
        if not missing or len(missing) > EMBED_FIRST:
            return Embedded()
        return self.embed(list(missing.items())) or Embedded()

    def _rest(self) -> None:
        """Look whether the embedder fits the index while nothing waits, so that the status tells before it matters."""
        if self.willing and self._prepared():
            self._state = BacklogState(ready=True)
            self._progress.rest()

    def _drain(self, stop: Event) -> bool:
        while not stop.is_set() and self.willing:
            waiting = self._writer.waiting(self._step)
            if not waiting:
                return True
            started = self._clock()
            result = self.embed([(item.embed_hash, item.text) for item in waiting])
            if result is None:
                return False
            self._writer.store_vectors(result.made, result.refused)
            self._writer.refresh_statistics()
            self._pace(len(waiting), self._clock() - started)
            left = self._writer.count_waiting()
            self._progress.advance(len(waiting), total=self._progress.snapshot.done + len(waiting) + left)
        return False

    def bind(self) -> None:
        """Bind the index to the embedder's space. Raises EmbeddingSpaceChanged, ModelError."""
        if self._embedder is not None and not self._bound:
            self._writer.use_space(self._embedder.space, self._embedder.priors(), self._centring)
            self._bound = True

    def _prepared(self) -> bool:
        try:
            self.bind()
        except EmbeddingSpaceChanged as error:
            self._state = BacklogState(rebuild_needed=str(error), last_error=str(error))
            return False
        except ModelError as error:
            self._postpone(str(error))
            return False
        return True

    def _pace(self, count: int, seconds: float) -> None:
        ideal = count * STEP_SECONDS / max(seconds, 1e-3)
        self._step = int(min(max(1, ideal), LONGEST_STEP, max(count, 1) * 4))

    def _postpone(self, reason: str) -> None:
        # Jitter keeps several daemons from knocking at one model server in step.
        wait = self._retry * random.uniform(0.8, 1.2)  # noqa: S311 - spreads retries, guards nothing
        self._retry = min(self._retry * 2, LONGEST_RETRY_SECONDS)
        self._state = BacklogState(last_error=reason, next_try=self._clock() + wait)
        log.warning("embedder away", retry_seconds=round(wait, 1), reason=reason)
