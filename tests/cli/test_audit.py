"""`vault-ask audit` shows what was recorded, to people and to programs."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from audit.records import QUESTION, RECORD, log_of
from cli.commands import Commands, state, write
from cli.conftest import Making
from vault_ask.audit import WebUse
from vault_ask.scope import OpenScope, PrivateScope

EVERYWHERE = {"open": "How high is the mill?", "personal": "What was the blood pressure?"}


@pytest.fixture
def vault_ask(tmp_path: Path) -> Commands:
    """A data folder with three records, and no index."""
    log = log_of(tmp_path / "data")
    log.write(replace(RECORD, notes=tuple(f"Garden/Bed {n}.md" for n in range(23))))
    web = WebUse(provider="DuckDuckGo", results=4)
    log.write(replace(RECORD, scope=OpenScope(web_allowed=True), web=web, outcome="silent", notes=()))
    log.write(replace(RECORD, door="cli", scope=PrivateScope(), notes=("Private/[red]Öl\x1b[2J.md",)))
    return Commands(tmp_path, data=tmp_path / "data")


def test_people_get_a_table_of_what_was_asked_read_and_sent(vault_ask: Commands) -> None:
    said = vault_ask("audit", TZ="UTC")
    assert (said.code, said.err) == (0, "")
    head, *rows = said.out.splitlines()
    when = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  ")
    assert head.split() == ["When", "Door", "What", "Web", "Outcome"]
    assert [when.sub("", row) for row in rows if when.match(row)] == [
        "rest    ask, open         not asked              done, 0.2 s",
        "rest    ask, open         DuckDuckGo: 4 pages    silent, 0.2 s",
        "cli     ask, personal     not asked              done, 0.2 s",
    ]
    assert rows[2:23] == [*(f"    Garden/Bed {n}.md" for n in range(20)), "    … and 3 more; --json names them."]
    assert rows[-1] == "    Private/[red]Öl\\u001b[2J.md"
    assert re.fullmatch("    extractive, hmac:[0-9a-f]{8}", rows[1])
    assert "CANARY" not in said.out


def test_the_webs_column_says_what_came_back_or_that_it_was_not_asked_whatever_was_done(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    for web in (3, 1, 0, None):
        log.write(replace(RECORD, scope=OpenScope(web_allowed=True), web=WebUse(provider="DuckDuckGo", results=web)))
    for scope in (OpenScope(web_allowed=True), OpenScope(web_allowed=False), PrivateScope()):
        for action in ("ask", "search"):
            log.write(replace(RECORD, action=action, scope=scope))
    rows = [line for line in Commands(tmp_path, data=tmp_path)("audit").out.splitlines()[1:] if line[0] != " "]
    assert [row[47:68].strip() for row in rows] == [
        "DuckDuckGo: 3 pages",
        "DuckDuckGo: 1 page",
        "DuckDuckGo: 0 pages",
        "DuckDuckGo: no answer",
        *["not asked"] * 6,
    ]


def test_the_text_of_a_question_is_shown_on_one_line_where_it_was_kept(tmp_path: Path) -> None:
    log = log_of(tmp_path, questions="text")
    log.write(replace(RECORD, model=None, question="How\nmany \x1b[2Jkilos?"))
    assert "\n    How many \\u001b[2Jkilos?\n" in Commands(tmp_path, data=tmp_path)("audit").out


def test_programs_get_an_object_a_line_in_utf_8(vault_ask: Commands) -> None:
    done = vault_ask.run("audit", "--json", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    first, second, third = (json.loads(line) for line in done.stdout.decode("utf-8").splitlines())
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(first) == [
        "at",
        "door",
        "action",
        "scope",
        "web_allowed",
        "web",
        "notes",
        "model",
        "question",
        "outcome",
        "seconds",
    ]
    assert len(first["notes"]) == 23
    assert second["web"] == {"provider": "DuckDuckGo", "results": 4}
    assert third["notes"] == ["Private/[red]Öl\x1b[2J.md"]
    assert b"\xc3\x96l" in done.stdout


def test_records_are_picked_and_what_is_left_out_is_counted_on_standard_error(vault_ask: Commands) -> None:
    def picked(*options: str) -> tuple[int, str]:
        said = vault_ask("audit", "--json", *options)
        assert said.code == 0
        return len(said.out.splitlines()), said.err

    assert picked("--question", QUESTION.upper(), "--last", "1") == (
        1,
        "2 earlier records not shown; --last N shows more.\n",
    )
    assert picked("--door", "rest", "--web", "--since", "2001-02-03") == (1, "")
    assert picked("--question", "another") == (0, "None of 3 records fits.\n")
    assert picked("--since", "2901-02-03 04:05") == (0, "None of 3 records fits.\n")


def test_nothing_recorded_and_nothing_that_fits_are_said_and_are_no_failure(
    vault_ask: Commands, tmp_path: Path
) -> None:
    said = vault_ask("audit", "--door", "mcp")
    assert (said.code, said.out, said.err) == (0, "", "None of 3 records fits.\n")
    (tmp_path / "empty").mkdir()
    said = Commands(tmp_path, data=tmp_path / "empty")("audit")
    assert (said.code, said.out, said.err) == (0, "", "Nothing is recorded.\n")
    assert list((tmp_path / "empty").iterdir()) == []


def test_torn_lines_are_passed_over_and_counted(vault_ask: Commands, tmp_path: Path) -> None:
    with (tmp_path / "data" / "audit" / "audit.jsonl").open("ab") as file:
        file.write(b'{"at": "2026-')
    said = vault_ask("audit", "--json")
    assert (said.code, len(said.out.splitlines())) == (0, 3)
    assert said.err == "1 line passed over: no record can be read from it.\n"


@pytest.mark.parametrize(
    "options", [("--since", "yesterday"), ("--since", "0001-01-01"), ("--door", "window"), ("--last", "0")]
)
def test_an_option_that_does_not_fit_is_refused(vault_ask: Commands, options: tuple[str, str]) -> None:
    said = vault_ask("audit", *options, TZ="Asia/Tokyo")
    assert (said.code, said.out) == (2, "")
    assert f"Invalid value for '{options[0]}'" in said.err
    assert "Traceback" not in said.err


def test_a_record_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "audit").write_text("no folder", encoding="utf-8")
    said = Commands(tmp_path, data=tmp_path / "data")("audit").sentence(code=2)
    assert "cannot be read (a link or a file lies in its place)" in said


def test_what_commands_asked_is_recorded_beside_what_a_daemon_was_asked(commands: Making) -> None:
    notes = {"Mill.md": "The mill is 31 metres high.\n", "Private/Health.md": "The blood pressure was CANARY-P 128.\n"}
    vault_ask = commands(notes)
    assert vault_ask("index", "--no-embed").code == 0
    assert vault_ask("ask", EVERYWHERE["open"]).code == 0
    assert vault_ask("ask", EVERYWHERE["personal"], "--personal", "--json").code == 0
    assert vault_ask("search", "mill", "--arm", "text").code == 0
    assert vault_ask("ask", EVERYWHERE["open"], "--no-web").code == 0
    records = [json.loads(line) for line in vault_ask("audit", "--json").out.splitlines()]
    assert [(one["door"], one["action"], one["scope"], one["web_allowed"]) for one in records] == [
        ("cli", "ask", "open", True),
        ("cli", "ask", "personal", False),
        ("cli", "search", "open", False),
        ("cli", "ask", "open", False),
    ]
    assert ["Mill.md"] == records[0]["notes"] == records[2]["notes"]
    assert "Private/Health.md" in records[1]["notes"]
    assert "CANARY" not in json.dumps(records)
    asked = vault_ask("audit", "--json", "--question", EVERYWHERE["personal"]).out
    assert [json.loads(line)["scope"] for line in asked.splitlines()] == ["personal"]


def test_a_folder_without_an_index_is_left_as_it_is_even_if_it_was_the_vault_by_mistake(tmp_path: Path) -> None:
    vault = write(tmp_path / "vault", {"Mill.md": "The mill is 31 metres high.\n"})
    before = state(vault)
    vault_ask = Commands(tmp_path, data=vault)
    for command in ("ask", "search"):
        assert "Run `vault-ask index` first." in vault_ask(command, EVERYWHERE["open"]).sentence(code=2)
    assert vault_ask("audit").err == "Nothing is recorded.\n"
    assert state(vault) == before
