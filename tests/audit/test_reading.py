"""Reading gives the newest that fit, passes over what is no record, and says how much it left out."""

import fcntl
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from audit.records import RECORD, lines, log_of
from vault_ask.audit import AuditLog, Wanted, WebUse, files
from vault_ask.errors import ConfigError


def written(data: Path, **settings: str) -> AuditLog:
    """Four records: of two doors, one with the web, two of the same question."""
    log = log_of(data, **settings)
    log.write(replace(RECORD, question="How many kilos?", notes=("1.md",)))
    log.write(replace(RECORD, door="cli", action="search", notes=("2.md",)))
    log.write(replace(RECORD, web=WebUse(provider="Brave", results=None), notes=("3.md",)))
    log.write(replace(RECORD, door="cli", question=" how MANY\nkilos? ", notes=("4.md",)))
    return log


def read(log: AuditLog, wanted: Wanted, last: int = 99) -> list[str]:
    return [entry.notes[0] for entry in log.read(wanted, last=last).entries]


def test_the_newest_come_last_and_the_rest_is_counted(tmp_path: Path) -> None:
    found = written(tmp_path).read(Wanted(), last=3)
    assert [entry.notes[0] for entry in found.entries] == ["2.md", "3.md", "4.md"]
    assert (found.earlier, found.others, found.unreadable) == (1, 0, 0)


def test_entries_are_picked_by_door_by_the_web_and_by_both(tmp_path: Path) -> None:
    log = written(tmp_path)
    assert read(log, Wanted(door="cli")) == ["2.md", "4.md"]
    assert read(log, Wanted(web=True)) == ["3.md"]
    assert read(log, Wanted(web=True, door="cli")) == []
    assert log.read(Wanted(web=True), last=1).others == 3


def test_entries_are_picked_from_a_moment_on(tmp_path: Path) -> None:
    log = written(tmp_path)
    file = tmp_path / "audit" / "audit.jsonl"
    dated = [line | {"at": f"2026-05-0{day}T10:00:00.000+00:00"} for day, line in enumerate(lines(tmp_path), start=1)]
    file.write_text("".join(json.dumps(line) + "\n" for line in dated), encoding="ascii")
    assert read(log, Wanted(since=datetime(2026, 5, 3, 10, tzinfo=UTC))) == ["3.md", "4.md"]
    assert read(log, Wanted(since=datetime(2026, 5, 3, 10, 0, 1, tzinfo=UTC))) == ["4.md"]


@pytest.mark.parametrize("kept", ["hash", "text"])
def test_a_question_is_found_again_whatever_its_case_and_spacing(tmp_path: Path, kept: str) -> None:
    log = written(tmp_path, questions=kept)
    assert read(log, Wanted(question="How many  kilos?")) == ["1.md", "4.md"]
    assert read(log, Wanted(question="How many pounds?")) == []


def test_a_question_is_found_in_either_unicode_form_and_by_its_hash_as_it_stands(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    log.write(replace(RECORD, question="Vilken n\u00f6t t\u00e5l \u00c5sa inte?"))
    assert read(log, Wanted(question="vilken no\u0308t ta\u030al A\u030asa inte?")) == ["Garden/Allotment.md"]
    assert read(log, Wanted(question=lines(tmp_path)[0]["question"])) == ["Garden/Allotment.md"]


def test_without_its_key_no_question_is_found_and_none_is_made_by_reading(tmp_path: Path) -> None:
    log = written(tmp_path)
    (tmp_path / "audit" / "key").unlink()
    assert read(log, Wanted(question="How many kilos?")) == []
    assert not (tmp_path / "audit" / "key").exists()
    assert len(read(log, Wanted())) == 4


def test_lines_that_are_no_record_are_passed_over_and_counted(tmp_path: Path) -> None:
    log = written(tmp_path)
    file = tmp_path / "audit" / "audit.jsonl"
    whole = file.read_bytes()
    first = json.loads(whole.split(b"\n")[0])
    odd = [
        b"\x00" * 4_096,
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"at": 5}',
        json.dumps(first | {"at": "0001-01-01T00:00:00+14:00"}).encode(),
        json.dumps(first | {"at": "9998-06-01T10:00:00Z"}).encode(),
        json.dumps(first | {"at": "2026-05-01T10:00:00"}).encode(),
        json.dumps(first | {"notes": ["\ud800"]}).encode(),
        b'{"notes":' + b"[" * 100_000,
    ]
    later = json.dumps(first | {"at": "2026-05-01T10:00:00Z", "new": [1], "door": "telnet", "notes": ["5.md"]}).encode()
    file.write_bytes(b"\n".join((*odd, b"", b"  ", later, b"")) + whole)
    found = log.read(Wanted(), last=99)
    assert [entry.notes[0] for entry in found.entries] == ["5.md", "1.md", "2.md", "3.md", "4.md"]
    assert (found.unreadable, found.entries[0].door) == (len(odd), "telnet")


def test_where_nothing_was_recorded_there_is_nothing_to_read_and_nothing_is_made(tmp_path: Path) -> None:
    found = log_of(tmp_path).read(Wanted(question="anything"), last=9)
    assert (found.entries, found.earlier, found.others, found.unreadable) == ((), 0, 0, 0)
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_or_put_aside_while_somebody_reads_changes_nothing_of_what_they_read(tmp_path: Path) -> None:
    log = written(tmp_path)
    reading = files.lines(tmp_path / "audit", seconds=1)
    first = next(reading)
    log.write(RECORD)
    (tmp_path / "audit" / "audit.jsonl").rename(tmp_path / "audit" / "audit.1.jsonl")
    log.write(RECORD)
    assert [json.loads(line)["notes"] for line in (first, *reading)] == [["1.md"], ["2.md"], ["3.md"], ["4.md"]]
    assert len(read(log, Wanted())) == 6


def test_files_are_opened_while_nobody_moves_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_ask.audit.log.LOCK_SECONDS", 0.05)
    log = written(tmp_path)
    with (
        files.locked(tmp_path / "audit", fcntl.LOCK_EX, seconds=1),
        pytest.raises(ConfigError, match="another process holds it"),
    ):
        log.read(Wanted(), last=9)
    with files.locked(tmp_path / "audit", fcntl.LOCK_SH, seconds=1):
        assert len(read(log, Wanted())) == 4


@pytest.mark.parametrize("place", ["audit", "audit/audit.jsonl"])
def test_a_link_in_its_place_is_a_sentence(tmp_path: Path, place: str) -> None:
    log = log_of(tmp_path / "data")
    if place != "audit":
        (tmp_path / "data" / "audit").mkdir()
    (tmp_path / "data" / place).symlink_to(tmp_path)
    with pytest.raises(ConfigError, match=r"cannot be read \(a link or a file lies in its place\)"):
        log.read(Wanted(), last=9)
