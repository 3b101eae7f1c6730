"""The threads that search, each with connections of its own."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Barrier
from typing import TypeVar

from vault_ask.index.view import Index

T = TypeVar("T")

SEARCH_THREADS = 2
CLOSE_SECONDS = 4.0


class Searchers:
    """A few threads that read one index."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._threads = ThreadPoolExecutor(SEARCH_THREADS, thread_name_prefix="search")

    async def run(self, work: Callable[[], T]) -> T:
        """Do something in one of them."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self) -> None:
        """End them; each closes the connections it read through. One that waits for a slow model is left behind."""
        together = Barrier(SEARCH_THREADS, timeout=CLOSE_SECONDS)
        wait([self._threads.submit(self._close_readers, together) for _ in range(SEARCH_THREADS)], CLOSE_SECONDS)
        self._threads.shutdown(wait=False)

    def _close_readers(self, together: Barrier) -> None:
        # Nobody leaves before all have come, so that each thread runs this once.
        together.wait()
        self._index.close()
