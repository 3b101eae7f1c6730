"""The measurement of hostile questions: every reader reads every text, and one that is slow is a failure."""

import sys

import pytest

from scripts.packs import ROOT

sys.path.append(str(ROOT / "scripts"))
import measure_reading


@pytest.mark.parametrize(("limit", "code"), [("1e9", 0), ("-1", 1)])
def test_what_takes_longer_than_the_limit_is_told_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], limit: str, code: int
) -> None:
    monkeypatch.setattr(sys, "argv", ["measure_reading.py", "--characters", "60", "--limit", limit])
    assert measure_reading.main() == code
    told = capsys.readouterr().out
    assert "The slowest reading of 60 characters took" in told
    assert all((f"{name:22}" in told) == bool(code) for name in measure_reading.READERS)
