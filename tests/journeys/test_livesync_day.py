"""Twenty-four hours of whatever devices, servers and daemons do to a vault end with the index of a new look at it."""

import os
from functools import cache
from pathlib import Path

import pytest

import livesync_device
from livesync_day import DEEDS, Day
from vault_ask.ingest import backlog, follower
from vault_ask.sources import ciphers, couch_following

SEEDS = {1: "plain", 2: "v2", 3: "v2obf", 4: "v2obfz", 5: "delmeta"}
MODES = ("plain", "v2", "v2obf", "compress", "delmeta", "casesens", "v2obfz", "forcev1obf")


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (backlog, follower, couch_following):
        monkeypatch.setattr(module, "FIRST_RETRY_SECONDS", 0.05)
        monkeypatch.setattr(module, "LONGEST_RETRY_SECONDS", 0.2)
    monkeypatch.setattr(follower, "IDLE_SECONDS", 0.1)
    monkeypatch.setattr(couch_following, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(couch_following, "SESSION_SECONDS", 0.02)


@pytest.fixture(autouse=True)
def _keys_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let devices, daemons and new looks share the keys that each would make for itself, 0.1 s for each salt."""
    monkeypatch.setattr(ciphers, "_pbkdf2", cache(ciphers._pbkdf2))
    derive = cache(livesync_device.hashlib.pbkdf2_hmac)
    monkeypatch.setattr(livesync_device.hashlib, "pbkdf2_hmac", derive)


def _seeds() -> dict[int, str]:
    """Give the fixed seeds, or those of LIVESYNC_DAYS, such as 100-199."""
    first, _, last = os.environ.get("LIVESYNC_DAYS", "").partition("-")
    if not first:
        return SEEDS
    return {seed: MODES[seed % len(MODES)] for seed in range(int(first), int(last or first) + 1)}


@pytest.mark.parametrize(("seed", "mode"), _seeds().items())
def test_a_day_of_edits_faults_and_restarts_ends_with_the_index_of_a_new_look(
    seed: int, mode: str, tmp_path: Path
) -> None:
    with Day(seed, mode, tmp_path) as day:
        day.live()
        assert set(day.done) == set(DEEDS)
        assert day.vault.hours > 20
