"""scripts/measure_gate.py on a few vaults."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def measure(*options: str) -> subprocess.CompletedProcess[str]:
    script = ROOT / "scripts" / "measure_gate.py"
    return subprocess.run(
        [sys.executable, str(script), *options], capture_output=True, text=True, timeout=110, check=False
    )


def test_it_counts_what_was_heard_at_every_door() -> None:
    measured = measure("--examples", "4", "--processes", "1", "--json")
    assert measured.returncode == 0, measured.stderr
    told = json.loads(measured.stdout)
    assert (told["examples"], told["seed"], told["canaries"], told["differences"], told["findings"]) == (4, 1, 0, 0, 0)
    doors = told["doors"]
    assert doors["open view"]["heard"] == doors["cli audit"]["heard"] == 4
    assert doors["web"]["heard"] == doors["audit"]["heard"] == told["requests"] >= 4 * 5
    assert sum(doors["web"]["findings"].values()) == 0
    assert doors["web"]["forbidden"] == told["requests"] > doors["audit"]["forbidden"] > 0


def test_arguments_that_make_no_sense_are_refused_with_a_sentence() -> None:
    measured = measure("--examples", "0")
    assert (measured.returncode, measured.stdout) == (2, "")
    assert "it has to be 1 or more" in measured.stderr
