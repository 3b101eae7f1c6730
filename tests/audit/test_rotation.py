"""Files are put aside and kept as the settings say, also while several processes write and others read."""

import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from audit.records import RECORD, ended_well, lines, log_of, start
from vault_ask.audit import AuditLog, Wanted
from waiting import wait_until

ALL = 100_000
ONE_LINE = 0.0003
"""Megabytes into which one line of these fits, and not two."""


def names(data: Path) -> list[str]:
    return sorted(path.name for path in (data / "audit").glob("*.jsonl"))


def numbered(data: Path, count: int, **settings: float) -> AuditLog:
    log = log_of(data, max_megabytes=ONE_LINE, **settings)
    for number in range(count):
        log.write(replace(RECORD, notes=(f"{number}.md",)))
    return log


def read(log: AuditLog) -> list[str]:
    return [entry.notes[0] for entry in log.read(Wanted(), last=ALL).entries]


def test_a_full_file_is_put_aside_and_so_many_are_kept(tmp_path: Path) -> None:
    log = numbered(tmp_path, 6, keep=3)
    assert names(tmp_path) == ["audit.1.jsonl", "audit.2.jsonl", "audit.3.jsonl", "audit.jsonl"]
    assert read(log) == ["2.md", "3.md", "4.md", "5.md"]
    assert lines(tmp_path, "audit.3.jsonl")[0]["notes"] == ["2.md"]


def test_a_file_grows_up_to_its_size_and_no_further(tmp_path: Path) -> None:
    log = log_of(tmp_path, max_megabytes=0.002)
    for _number in range(20):
        log.write(RECORD)
    sizes = [(tmp_path / "audit" / name).stat().st_size for name in names(tmp_path)]
    assert all(1_600 < size <= 2_000 for size in sizes[:-1])
    assert len(read(log)) == 20


def test_a_smaller_number_to_keep_and_none_at_all_remove_the_oldest(tmp_path: Path) -> None:
    numbered(tmp_path, 5, keep=9)
    (tmp_path / "audit" / "audit.old.jsonl").write_text("the owner's own\n", encoding="utf-8")
    log = numbered(tmp_path, 1, keep=1)
    assert read(log) == ["4.md", "0.md"]
    log = numbered(tmp_path, 2, keep=0)
    assert names(tmp_path) == ["audit.jsonl", "audit.old.jsonl"]
    assert read(log) == ["1.md"]


def test_a_gap_that_a_kill_between_two_moves_leaves_is_closed_and_costs_no_file(tmp_path: Path) -> None:
    log = numbered(tmp_path, 4, keep=4)
    folder = tmp_path / "audit"
    (folder / "audit.3.jsonl").rename(folder / "audit.4.jsonl")
    log.write(replace(RECORD, notes=("late.md",)))
    assert read(log) == ["0.md", "1.md", "2.md", "3.md", "late.md"]
    assert len(names(tmp_path)) == 5


def test_processes_that_write_at_once_lose_and_tear_no_line_while_files_are_put_aside(tmp_path: Path) -> None:
    code = "write(sys.argv[1], sys.argv[2], 70, max_megabytes=0.003, keep=1000)"
    log = log_of(tmp_path)
    writers = [start(code, str(tmp_path), name) for name in ("daemon", "command", "other")]
    seen = 0
    while any(writer.poll() is None for writer in writers):
        found = log.read(Wanted(), last=ALL)
        assert found.unreadable == 0
        assert whole_beginnings(found.entries)
        assert len(found.entries) >= seen
        seen = len(found.entries)
    assert all(map(ended_well, writers))
    found = log.read(Wanted(), last=ALL)
    assert (len(found.entries), found.unreadable) == (210, 0)
    assert whole_beginnings(found.entries)
    assert len(names(tmp_path)) > 20
    assert sum(len(lines(tmp_path, name)) for name in names(tmp_path)) == 210
    assert len({entry.question for entry in found.entries}) == 210
    assert all(log.read(Wanted(question=f"{name} 69"), last=2).entries for name in ("daemon", "command", "other"))


def whole_beginnings(entries: tuple[object, ...]) -> bool:
    """Say whether each writer's records are its first ones, in its order, each once."""
    count: Counter[str] = Counter()
    for entry in entries:
        name, number = entry.notes[0].removesuffix(".md").split("/")
        if int(number) != count[name]:
            return False
        count[name] += 1
    return True


@pytest.mark.parametrize("after", [1, 40, 300])
def test_a_process_killed_at_any_moment_leaves_whole_lines_and_the_next_goes_on(tmp_path: Path, after: int) -> None:
    writer = start("write(sys.argv[1], 'killed', 100_000, max_megabytes=0.002, keep=1000)", str(tmp_path))
    log = log_of(tmp_path)
    wait_until(lambda: (tmp_path / "audit").is_dir() and len(read(log)) >= after)
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    before = read(log)
    log.write(replace(RECORD, notes=("next.md",)))
    assert log.trouble is None
    found = log.read(Wanted(), last=ALL)
    assert [entry.notes[0] for entry in found.entries] == [*before, "next.md"]
    assert (found.unreadable, whole_beginnings(found.entries[:-1])) == (0, True)
