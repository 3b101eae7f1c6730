"""scripts/measure_follow.py on a vault of a few notes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from built_model import models_folder

ROOT = Path(__file__).resolve().parents[2]


def measure(*options: str) -> subprocess.CompletedProcess[str]:
    script = ROOT / "scripts" / "measure_follow.py"
    return subprocess.run(
        [sys.executable, str(script), *options], capture_output=True, text=True, timeout=110, check=False
    )


def values(measured: subprocess.CompletedProcess[str]) -> dict[str, float]:
    assert measured.returncode == 0, measured.stderr
    told: dict[str, Any] = json.loads(measured.stdout)
    assert "load average" in told["machine"]
    return {name: figure["value"] for name, figure in told["figures"].items()}


def one(told: dict[str, float], beginning: str) -> float:
    [value] = [value for name, value in told.items() if name.startswith(beginning)]
    return value


def test_every_part_gives_its_figures(pytestconfig: pytest.Config) -> None:
    models = str(models_folder(pytestconfig))
    told = values(measure("--json", "--notes", "6", "--edits", "4", "--models", models))
    assert 0 < told["edit to found by words, median of 4"] <= told["edit to found by words, p95"] < 60
    assert told["edit to found by words, median of 4"] <= told["edit to found by meaning, median of 4"] < 60
    assert 1 <= told["requests of the daemon an edit"] < 20
    assert one(told, "`index --no-embed`, 6 notes in ") > 0
    assert one(told, "largest resident memory") > 20
    # An id and a revision for each note, and what the daemon keeps beside them.
    assert 6 * 60 < 1024 * one(told, "one comparison of all ids, 6 notes") < 6 * 1000
    assert one(told, "requests an idle hour") >= 12
    hour = 1024 * one(told, "bodies of them")
    assert hour > 1024 * one(told, "one comparison of all ids") + 144


def test_the_idle_hour_of_express_pouchdb_is_refused_with_a_sentence() -> None:
    measured = measure("--part", "idle", "--server", "pouchdb")
    assert (measured.returncode, measured.stdout) == (2, "")
    assert "express-pouchdb keeps no log" in measured.stderr
