"""No log at any level tells what was asked, which note it was about, or what the note says."""

import logging
from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from adapters.doors import ScriptedDoors, serving
from ingest.bench import OPEN, PRIVATE, Bench
from journeys.houses import House, ask, embedded
from vault_ask.answering.conversation import Turn
from vault_ask.ingest import drafting
from waiting import PATIENCE


def test_a_server_logs_no_address_that_a_question_is_in(capfd: pytest.CaptureFixture[str]) -> None:
    with serving(ScriptedDoors()) as url:
        answer = httpx.get(f"{url}/api/search", params={"q": "CANARY-9"}, timeout=PATIENCE)
        logging.getLogger("uvicorn.error").warning("the control is logged")
    said = "".join(capfd.readouterr())
    assert answer.status_code == 200
    assert "the control is logged" in said
    assert "CANARY-9" not in said


def test_a_whole_answer_logs_neither_question_nor_note(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    notes = {"Private/CANARYNAME.md": "The harvest money is CANARYTEXT.\n", "Open.md": "The barn is red.\n"}
    house, history = House(tmp_path, notes), (Turn(role="user", text="CANARYTURN and the harvest?"),)
    with caplog.at_level("DEBUG"), capture_logs() as logs:
        with house.daemon(sensitivity={"personal_paths": ["Private"]}) as daemon:
            embedded(daemon)
            private = ask(daemon, "Where is the harvest money, CANARYTEXT?", PRIVATE, history)
            ask(daemon, "What of [[CANARYNAME]] and CANARYASKED?", OPEN, history)
        logging.getLogger("control").debug("the control is logged")
    said = str(logs) + str([record.getMessage() for record in caplog.records])
    assert [source.path for source in private.sources][:1] == ["Private/CANARYNAME.md"]
    assert "the control is logged" in said
    assert "CANARY" not in said


def test_a_note_that_cannot_be_parsed_is_logged_without_its_name_and_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, {"CANARYNAME.md": "the harvest", "Open.md": "the harvest"})
    bench.sweep()
    assert bench.paths(OPEN) == ["CANARYNAME.md", "Open.md"]
    bench.source.put("CANARYNAME.md", "the harvest of CANARYTEXT")
    monkeypatch.setattr(drafting, "chunk", _fail)
    with capture_logs() as logs:
        report = bench.sweep()
    assert report.failed == {"CANARYNAME.md": "ValueError"}
    assert [(log["event"], log["error"]) for log in logs] == [("note could not be parsed", "ValueError")]
    assert "CANARY" not in str(logs)
    # Nobody can tell what it says now, so what is indexed of it is for the owner alone.
    assert (bench.paths(OPEN), bench.paths(PRIVATE)) == (["Open.md"], ["CANARYNAME.md", "Open.md"])
    bench.close()


def _fail(note: object, **_how: object) -> None:
    raise ValueError(f"cannot cut {note}")
