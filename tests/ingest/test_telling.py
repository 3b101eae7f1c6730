"""A follower says when there is something new to tell, and a sign of life is nothing new."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from ingest.bench import Bench
from vault_ask.ingest.follower import Follower
from vault_ask.sources.port import SourceState
from waiting import wait_until


def test_what_the_source_says_of_itself_is_told_once(
    bench: Callable[..., Bench], monkeypatch: pytest.MonkeyPatch
) -> None:
    work = bench({"A.md": "alpha\n"})
    state, asked = SourceState("watching", "Well."), [0]

    def tell() -> SourceState:
        asked[0] += 1
        return state

    monkeypatch.setattr(work.source, "state", tell)
    told: list[SourceState] = []
    follower = Follower(work.workshop, on_damage=lambda: None, changed=lambda: told.append(state))
    follower.start()
    try:
        assert follower.wait_until_caught_up(10)
        wait_until(lambda: told == [state])
        for now in (replace(state, lag=3), replace(state, waiting=1)):
            state = now
            wait_until(lambda now=now: told[-1] == now)
        looked = asked[0]
        wait_until(lambda: asked[0] >= looked + 3)
        assert len(told) == 3
    finally:
        follower.stop()
