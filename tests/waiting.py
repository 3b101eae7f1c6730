"""Waits for what other threads do: a condition, looked at often, with a deadline."""

import time
from collections.abc import Callable

PATIENCE = 20.0
"""Seconds after which a test gives up; nothing takes nearly as long."""


def wait_until(condition: Callable[[], bool], *, seconds: float = PATIENCE) -> None:
    """Wait until the condition holds. Fails when it does not in time."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
