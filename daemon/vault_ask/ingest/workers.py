"""Drafts notes in processes of their own while a large vault is read for the first time.

Parsing and cutting are two thirds of that work and pure Python, which one process does on one core only. A smaller
sweep, and every change that is followed, is drafted where it is: a process costs a second to start and 100 MB.
"""

import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import get_context, parent_process
from threading import Lock, Thread

import structlog

from vault_ask.index.drafts import Draft
from vault_ask.ingest.drafting import Drafter, Undrafted
from vault_ask.sources.port import Document

log = structlog.get_logger()

MANY = 500
"""From so many notes on, processes of their own are quicker: about five seconds of work."""

MOST_PROCESSES = 4
SLICE = 8
"""Notes in one task: few enough to keep all processes busy, enough to make handing over cheap."""

Task = tuple[Document, bytes]
Drafted = list[Draft | Undrafted]


class Drafting:
    """Where drafts are made: here, when they are taken."""

    ahead = 0
    """Groups that may be begun before the first is taken."""

    def __init__(self, drafter: Drafter) -> None:
        self._drafter = drafter

    def begin(self, tasks: Sequence[Task]) -> Callable[[], Drafted]:
        """Begin to draft; what is given gives the drafts, in order."""
        return lambda: [self._drafter.draft(document, digest) for document, digest in tasks]


class DraftingElsewhere(Drafting):
    """Where drafts are made: in other processes, and here once those have failed."""

    ahead = 3

    def __init__(self, drafter: Drafter, pool: ProcessPoolExecutor) -> None:
        super().__init__(drafter)
        self._pool: ProcessPoolExecutor | None = pool

    def begin(self, tasks: Sequence[Task]) -> Callable[[], Drafted]:
        """Hand the tasks out; what is given waits for them."""
        if self._pool is None:
            return super().begin(tasks)
        slices = [tasks[start : start + SLICE] for start in range(0, len(tasks), SLICE)]
        try:
            futures = [self._pool.submit(_draft, part) for part in slices]
        except (BrokenProcessPool, RuntimeError) as error:
            return self._here(tasks, error)
        return lambda: self._taken(futures, tasks)

    def _taken(self, futures: Sequence[Future[Drafted]], tasks: Sequence[Task]) -> Drafted:
        try:
            return [draft for future in futures for draft in future.result()]
        except (BrokenProcessPool, pickle.PicklingError, RuntimeError) as error:
            return self._here(tasks, error)()

    def _here(self, tasks: Sequence[Task], error: Exception) -> Callable[[], Drafted]:
        if self._pool is not None:
            log.warning("processes for drafting ended; going on without them", error=type(error).__name__)
            self._pool = None
        return super().begin(tasks)


@contextmanager
def drafting(drafter: Drafter, notes: int) -> Iterator[Drafting]:
    """Choose where so many notes are drafted; processes are gone when the block ends."""
    processes = min(_cores(), MOST_PROCESSES)
    if notes < MANY or processes == 1 or not _can_travel(drafter):
        yield Drafting(drafter)
        return
    pool = _started(drafter, processes)
    if pool is None:
        yield Drafting(drafter)
        return
    try:
        yield DraftingElsewhere(drafter, pool)
    finally:
        pool.shutdown(cancel_futures=True)


_starting = Lock()


def _started(drafter: Drafter, processes: int) -> ProcessPoolExecutor | None:
    """Start all processes at once; None where the machine has no means for them."""
    pool = None
    with _starting, _no_code_from_here():
        try:
            # Spawned: a fork would copy the locks of threads that are not there in the child.
            pool = ProcessPoolExecutor(
                processes, mp_context=get_context("spawn"), initializer=_begin, initargs=(drafter,)
            )
            for _ in range(processes):
                # A task for which no process is idle starts one.
                pool.submit(os.getpid)
        except (OSError, ImportError, NotImplementedError, RuntimeError) as error:
            log.warning("no processes for drafting; going on without them", error=type(error).__name__)
            if pool is not None:
                pool.shutdown(cancel_futures=True)
            return None
    return pool


@contextmanager
def _no_code_from_here() -> Iterator[None]:
    """Keep processes that are started from importing modules out of the current folder, which may be the vault.

    They begin as `python -c`, which puts that folder before Python's own library.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = before


_SAFE_PATH = "PYTHONSAFEPATH"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _can_travel(drafter: Drafter) -> bool:
    try:
        pickle.dumps(drafter)
    except Exception:  # noqa: BLE001 - an embedder of any kind counts the tokens
        return False
    return True


# In the other process

_here: Drafter | None = None


def _begin(drafter: Drafter) -> None:
    global _here  # noqa: PLW0603 - a process of the pool is set up once, by this
    _here = drafter
    # Ctrl-C reaches every process of the terminal; the one that owns the index ends the others in order.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(5)
    Thread(target=_leave_with_parent, name="parent", daemon=True).start()


def _leave_with_parent() -> None:
    """End with the process that began this one, also when that was killed: its pipes would be waited on for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _draft(tasks: Sequence[Task]) -> Drafted:
    assert _here is not None  # noqa: S101 - `_begin` comes first
    return [_slim(_here.draft(document, digest)) for document, digest in tasks]


def _slim(draft: Draft | Undrafted) -> Draft | Undrafted:
    """Leave out what only cutting needed, for the way back is paid by the byte."""
    return replace(draft, note=replace(draft.note, lines=(), blocks=())) if isinstance(draft, Draft) else draft
