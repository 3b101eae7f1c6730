"""A record is one whole line in a private file, and whatever is wrong with the place costs no answer."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from audit.records import QUESTION, RECORD, ended_well, lines, log_of, start
from vault_ask.audit import AuditLog, Wanted, WebUse
from vault_ask.scope import OpenScope, PrivateScope
from vault_ask.settings.serving import AuditSettings

HOSTILE = (
    "two\nlines\r\nand\u2028more\u0085still\x0b",
    "half \ud83d a letter, and \udcff a byte",
    '{"door": "rest"}\n{"at": null}',
    "\x1b]0;title\x07\x1b[2J\u202egnp.exe",
    "CANARY " + "ÄÖ🥔ß漢字ع " * 1_000,
    "",
    "\x00",
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@contextmanager
def umask(value: int) -> Iterator[None]:
    former = os.umask(value)
    try:
        yield
    finally:
        os.umask(former)


def test_a_record_is_one_line_that_says_when_who_what_and_where_to(tmp_path: Path) -> None:
    log_of(tmp_path).write(
        replace(
            RECORD,
            scope=OpenScope(web_allowed=True),
            web=WebUse(provider="DuckDuckGo", results=4),
            outcome="silent",
            seconds=0.123456,
        )
    )
    (line,) = lines(tmp_path)
    assert timedelta() <= datetime.now(UTC) - datetime.fromisoformat(line.pop("at")) < timedelta(minutes=1)
    assert line.pop("question").startswith("hmac:")
    assert line == {
        "door": "rest",
        "action": "ask",
        "scope": "open",
        "web_allowed": True,
        "web": {"provider": "DuckDuckGo", "results": 4},
        "notes": ["Garden/Allotment.md"],
        "model": "extractive",
        "outcome": "silent",
        "seconds": 0.123,
    }


def test_an_open_record_says_where_the_web_was_refused(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    for web_allowed in (False, True):
        log.write(replace(RECORD, scope=OpenScope(web_allowed=web_allowed)))
    assert [(line["scope"], line["web_allowed"]) for line in lines(tmp_path)] == [("open", False), ("open", True)]


def test_a_personal_record_names_its_notes_and_that_the_web_was_closed(tmp_path: Path) -> None:
    log_of(tmp_path).write(replace(RECORD, scope=PrivateScope(), notes=("Private/Health.md",), model=None))
    (line,) = lines(tmp_path)
    assert (line["scope"], line["web_allowed"], line["web"], line["model"]) == ("personal", False, None, None)
    assert line["notes"] == ["Private/Health.md"]


@pytest.mark.parametrize("mask", [0, 0o777])
def test_folder_and_files_are_their_owners_alone_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    log = log_of(tmp_path, max_megabytes=0.0001)
    with umask(mask):
        log.write(RECORD)
        log.write(RECORD)
    found = {path.name: mode(path) for path in (tmp_path / "audit").iterdir()}
    assert found == {"audit.jsonl": 0o600, "audit.1.jsonl": 0o600, "key": 0o600}
    assert mode(tmp_path / "audit") == 0o700


def test_what_was_made_readable_for_others_is_closed_again(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    log.write(RECORD)
    places = [tmp_path / "audit", tmp_path / "audit" / "audit.jsonl", tmp_path / "audit" / "key"]
    for place in places:
        place.chmod(0o777)
    log.write(RECORD)
    assert [mode(place) for place in places] == [0o700, 0o600, 0o600]
    assert len(lines(tmp_path)) == 2


@pytest.mark.parametrize("question", HOSTILE)
@pytest.mark.parametrize("kept", ["hash", "text", "none"])
def test_a_hostile_question_is_one_valid_line_and_no_word_of_it_is_kept_unless_asked_for(
    tmp_path: Path, question: str, kept: str
) -> None:
    log = log_of(tmp_path, questions=kept)
    log.write(replace(RECORD, question=question, notes=(f"{question}.md",)))
    log.write(RECORD)
    first, second = lines(tmp_path)
    whole = question.encode("utf-8", "replace").decode()
    assert first["notes"][0].replace("\ufffd", "?") == f"{whole}.md"
    assert second["notes"] == ["Garden/Allotment.md"]
    match kept:
        case "hash":
            assert len(first["question"]) == len("hmac:") + 64
        case "text":
            assert first["question"].replace("\ufffd", "?") == whole
        case _:
            assert "question" not in first
    assert log.read(Wanted(), last=9).unreadable == 0


def test_the_text_of_a_question_is_nowhere_unless_it_is_asked_for(tmp_path: Path) -> None:
    log_of(tmp_path / "by-default").write(RECORD)
    log_of(tmp_path / "asked-for", questions="text").write(RECORD)
    held = {path.parent.parent.name: path.read_bytes() for path in tmp_path.rglob("audit.jsonl")}
    assert b"CANARY" not in held["by-default"]
    assert b"CANARY" in held["asked-for"]
    assert not (tmp_path / "asked-for" / "audit" / "key").exists()


def test_a_question_keeps_its_hash_over_restarts_and_has_another_in_another_data_folder(tmp_path: Path) -> None:
    for _start in range(2):
        log_of(tmp_path / "one").write(RECORD)
    log_of(tmp_path / "other").write(RECORD)
    first, again = (line["question"] for line in lines(tmp_path / "one"))
    assert first == again
    assert first != lines(tmp_path / "other")[0]["question"]


def test_a_key_that_was_cut_is_made_anew_and_records_go_on(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    log.write(RECORD)
    (tmp_path / "audit" / "key").write_bytes(b"short")
    (tmp_path / "audit" / "key.new").write_bytes(b"left by a kill, and longer than a key will ever be")
    log.write(RECORD)
    log.write(RECORD)
    hashes = [line["question"] for line in lines(tmp_path)]
    assert hashes[0] != hashes[1] == hashes[2]
    assert len((tmp_path / "audit" / "key").read_bytes()) == 32


def test_a_record_that_is_switched_off_writes_nothing_and_keeps_what_is_there(tmp_path: Path) -> None:
    log_of(tmp_path).write(RECORD)
    before = (tmp_path / "audit" / "audit.jsonl").read_bytes()
    off = log_of(tmp_path, enabled=False)
    off.write(RECORD)
    assert (tmp_path / "audit" / "audit.jsonl").read_bytes() == before
    assert len(off.read(Wanted(), last=9).entries) == 1
    log_of(tmp_path / "never", enabled=False).write(RECORD)
    assert list((tmp_path / "never").iterdir()) == []


def test_no_data_folder_is_made_for_a_record(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "mistyped" / "audit", AuditSettings())
    log.write(RECORD)
    assert log.trouble is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["audit", "audit/audit.jsonl", "audit/key", "audit/key.new"])
def test_a_link_in_its_place_is_not_followed_and_the_trouble_is_told_until_it_is_gone(
    tmp_path: Path, place: str
) -> None:
    data, victim = tmp_path / "data", tmp_path / "victim"
    log = log_of(data)
    if place == "audit":
        victim.mkdir()
    else:
        (data / "audit").mkdir()
        victim.write_bytes(b"x" * 32)
    held = {path: path.read_bytes() for path in tmp_path.rglob("victim") if path.is_file()}
    (data / place).symlink_to(victim)
    log.write(RECORD)
    assert log.trouble == (
        "The audit log cannot be written (a link or a file lies in its place), so answers go on and the newest 300 "
        "records wait in memory, which are lost if vault-ask ends before. Mend the folder audit in the data folder, or "
        "set audit.enabled to false."
    )
    assert {path: path.read_bytes() for path in tmp_path.rglob("victim") if path.is_file()} == held
    assert not victim.is_dir() or list(victim.iterdir()) == []
    (data / place).unlink()
    log.write(RECORD)
    assert log.trouble is None
    assert len(lines(data)) == 2


def test_a_pipe_in_its_place_is_not_waited_for(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    (tmp_path / "audit").mkdir()
    os.mkfifo(tmp_path / "audit" / "audit.jsonl")
    log.write(RECORD)
    assert log.trouble is not None
    assert "audit.jsonl is no file" in log.trouble


def test_a_place_that_cannot_be_written_is_logged_once_and_without_a_word_of_the_question(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    (tmp_path / "audit").write_text("a file", encoding="utf-8")
    with capture_logs() as logs:
        for _time in range(3):
            log.write(RECORD)
    assert [entry["event"] for entry in logs] == ["audit log cannot be written"]
    assert log.trouble is not None
    assert "CANARY" not in f"{logs}{log.trouble}"
    assert QUESTION.count("CANARY") == 1
    assert (tmp_path / "audit").read_text(encoding="utf-8") == "a file"


def test_one_who_is_not_root_is_told_of_a_folder_that_is_closed_to_them_and_works_under_any_umask(
    tmp_path: Path,
) -> None:
    unprivileged = """
os.umask(0o777)
if os.getuid() == 0:
    os.chown(".", 65534, 65534)
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
log = log_of(Path("."))
os.chmod(".", 0o500)
log.write(RECORD)
assert "Permission denied" in log.trouble, log.trouble
os.chmod(".", 0o700)
log.write(RECORD)
log.write(RECORD)
assert log.trouble is None, log.trouble
os.chmod("audit/audit.jsonl", 0o400)
log.write(RECORD)
assert "Permission denied" in log.trouble, log.trouble
"""
    assert ended_well(start(unprivileged, folder=tmp_path))
    assert len(lines(tmp_path)) == 3


def test_a_full_disk_leaves_whole_lines_only_and_the_next_record_goes_in_once_there_is_room(tmp_path: Path) -> None:
    full = """
log = log_of(Path(sys.argv[1]))
log.write(RECORD)
size = (Path(sys.argv[1]) / "audit" / "audit.jsonl").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 40, resource.RLIM_INFINITY))
log.write(RECORD)
assert "No space left on device" in log.trouble, log.trouble
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert (Path(sys.argv[1]) / "audit" / "audit.jsonl").stat().st_size == size
log.write(RECORD)
assert log.trouble is None
"""
    assert ended_well(start(full, str(tmp_path)))
    assert len(lines(tmp_path)) == 3


def test_a_line_that_a_power_cut_tore_is_ended_before_the_next_one_and_passed_over(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    log.write(RECORD)
    file = tmp_path / "audit" / "audit.jsonl"
    file.write_bytes(file.read_bytes() + file.read_bytes()[:57])
    found = log.read(Wanted(), last=9)
    assert (len(found.entries), found.unreadable) == (1, 1)
    log.write(RECORD)
    found = log.read(Wanted(), last=9)
    assert (len(found.entries), found.unreadable) == (2, 1)
