"""A record that cannot be written just now delays no answer and is not lost: it waits for the next one or the end."""

import fcntl
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from audit.records import RECORD, ended_well, lines, log_of, start
from vault_ask.audit import AuditLog, files
from vault_ask.audit.log import KEPT, WAY_SECONDS
from waiting import wait_until

CRAWL = 0.01
"""Shorter than any wait for the lock."""

ENDING = """
log = log_of(Path(sys.argv[1]))
log.write(replace(RECORD, notes=("late.md",)))
(Path(sys.argv[1]) / "ending").touch()
log.close()
"""
"""A command that comes to its end with a record that waits."""


@contextmanager
def another_process_holds(data: Path) -> Iterator[None]:
    """Hold the folder as another process would: its lock is of an open file of its own."""
    with files.locked(data / "audit", fcntl.LOCK_EX, seconds=1):
        yield


def notes(data: Path) -> list[str]:
    return [line["notes"][0] for line in lines(data)]


def begun(data: Path) -> AuditLog:
    """A log with one record, 0.md."""
    log = log_of(data)
    log.write(replace(RECORD, notes=("0.md",)))
    return log


def test_a_folder_that_another_process_holds_is_waited_for_no_longer_than_an_answer_can_bear(tmp_path: Path) -> None:
    log = begun(tmp_path)
    with another_process_holds(tmp_path):
        started = time.monotonic()
        log.write(RECORD)
        took = time.monotonic() - started
    assert WAY_SECONDS <= took < 0.5
    assert log.trouble is None
    assert notes(tmp_path) == ["0.md"]


def test_what_waits_is_written_with_the_next_record_in_order_and_with_the_moment_it_was_asked(tmp_path: Path) -> None:
    log = begun(tmp_path)
    with another_process_holds(tmp_path):
        for number in (1, 2):
            log.write(replace(RECORD, notes=(f"{number}.md",)))
    log.write(replace(RECORD, notes=("3.md",)))
    assert notes(tmp_path) == ["0.md", "1.md", "2.md", "3.md"]
    moments = [datetime.fromisoformat(line["at"]).timestamp() for line in lines(tmp_path)]
    assert moments == sorted(moments)
    assert moments[3] - moments[1] >= WAY_SECONDS


def test_what_waits_is_written_at_the_end_once(tmp_path: Path) -> None:
    log = begun(tmp_path)
    with another_process_holds(tmp_path):
        log.write(replace(RECORD, notes=("1.md",)))
    log.close()
    log.close()
    assert notes(tmp_path) == ["0.md", "1.md"]


def test_a_command_that_ends_while_another_process_holds_the_folder_waits_for_it(tmp_path: Path) -> None:
    begun(tmp_path)
    with another_process_holds(tmp_path):
        command = start(ENDING, str(tmp_path))
        wait_until((tmp_path / "ending").exists)
        assert notes(tmp_path) == ["0.md"]
    assert ended_well(command)
    assert notes(tmp_path) == ["0.md", "late.md"]


def test_an_end_that_waits_in_vain_says_how_many_records_are_lost_and_nothing_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_ask.audit.log.LOCK_SECONDS", CRAWL)
    log = begun(tmp_path)
    with another_process_holds(tmp_path), capture_logs() as logs:
        log.write(RECORD)
        log.write(RECORD)
        log.close()
    lost = [entry for entry in logs if entry["event"] == "audit records lost"]
    assert [(entry["records"], "another process holds it" in entry["reason"]) for entry in lost] == [(2, True)]
    assert "CANARY" not in json.dumps(logs)


def test_a_wait_that_lasts_is_told_until_it_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_ask.audit.log.LOCK_SECONDS", CRAWL)
    log = begun(tmp_path)
    with another_process_holds(tmp_path):
        log.write(RECORD)
        assert log.trouble is None
        log.write(RECORD)
    assert log.trouble is not None
    assert "another process holds it" in log.trouble
    log.write(RECORD)
    assert (log.trouble, len(lines(tmp_path))) == (None, 4)


def test_a_place_that_cannot_be_written_keeps_the_newest_and_no_more_than_a_few_hundred(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    (tmp_path / "audit").write_text("a file", encoding="utf-8")
    for number in range(KEPT + 5):
        log.write(replace(RECORD, notes=(f"{number}.md",)))
    assert log.trouble is not None
    (tmp_path / "audit").unlink()
    log.close()
    assert notes(tmp_path) == [f"{number}.md" for number in range(5, KEPT + 5)]


@pytest.mark.parametrize("away", [lambda data: data.rename(data.with_name("away")), lambda _data: None])
def test_records_of_a_data_folder_that_is_gone_are_no_ones_and_do_not_come_back(
    tmp_path: Path, away: Callable[[Path], object]
) -> None:
    data = tmp_path / "data"
    log = begun(data)
    with another_process_holds(data):
        log.write(replace(RECORD, notes=("1.md",)))
        away(data)
        gone = not data.exists()
        if gone:
            log.write(RECORD)
    log_of(data)
    log.write(replace(RECORD, notes=("2.md",)))
    assert notes(data) == (["2.md"] if gone else ["0.md", "1.md", "2.md"])
