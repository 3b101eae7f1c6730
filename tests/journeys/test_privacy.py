"""A note that becomes personal is closed at once, for questions, for old conversations, and beside a running daemon."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from journeys.houses import OPEN, PRIVATE, House, ask, by_words, embedded, found, settings_for, status
from vault_ask.answering.conversation import Turn
from vault_ask.composition.daemon import Daemon
from vault_ask.errors import ModelUnreachable
from vault_ask.ingest import follower as follower_module
from vault_ask.scope import Sensitivity
from waiting import wait_until

NOTES = {
    "Diary/Jan.md": "The quarrel with CANARYNINE was about the harvest money.\n",
    "N.md": "The harvest money: CANARYEIGHT got half of it.\n",
    "Plain.md": "The harvest was good and the money came in October.\n",
}
AWAY = ModelUnreachable("Nobody listens at the embedder's address.")
QUESTION = "Who got the harvest money?"


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower_module, "IDLE_SECONDS", 0.1)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    return House(tmp_path, NOTES)


def everything_said(answer: object) -> str:
    return answer.model_dump_json()


def test_labels_that_change_on_indexed_notes_hold_at_once_also_in_an_old_conversation(house: House) -> None:
    with house.daemon() as daemon:
        embedded(daemon)
        first = ask(daemon, QUESTION)
        assert "CANARY" in everything_said(first)
    conversation = (Turn(role="user", text=QUESTION), Turn(role="assistant", text=first.answer + " CANARYNINE"))
    house.embedder.embedded.clear()
    house.embedder.fail_with(AWAY)
    with house.daemon(sensitivity={"personal_paths": ["Diary/**"]}) as daemon:
        assert "CANARYNINE" not in everything_said(ask(daemon, QUESTION))
        house.write({"N.md": "---\nsensitivity: true\n---\n" + NOTES["N.md"]})
        wait_until(lambda: by_words(daemon, "canaryeight") == [])
        for history in ((), conversation):
            for question in (QUESTION, "And CANARYNINE?", "What did CANARYEIGHT get?"):
                answer = ask(daemon, question, history=history)
                said = everything_said(answer).replace(question, "")
                assert "CANARYNINE was" not in said
                assert "CANARYEIGHT got" not in said
                assert {source.path for source in answer.sources} <= {"Plain.md"}
        assert "Diary/Jan.md" in by_words(daemon, "canarynine", PRIVATE)
        assert "CANARYEIGHT" in everything_said(ask(daemon, "What did CANARYEIGHT get?", PRIVATE))
        assert house.embedder.embedded == []
        open_status = daemon.describe(Sensitivity.OPEN).model_dump_json()
        assert "Diary" not in open_status
        assert status(daemon).rules == {"Diary/**": 1}


def test_a_changed_rule_holds_before_the_daemon_has_looked_at_the_vault(house: House, tmp_path: Path) -> None:
    with house.daemon() as daemon:
        embedded(daemon)
    house.vault.rename(tmp_path / "unmounted")
    with house.daemon(caught_up=False, sensitivity={"personal_paths": ["Diary"]}) as daemon:
        assert by_words(daemon, "canarynine") == []
        assert by_words(daemon, "canarynine", PRIVATE) == ["Diary/Jan.md"]


def test_a_changed_rule_holds_for_a_command_without_a_daemon(house: House) -> None:
    with house.daemon() as daemon:
        embedded(daemon)
    library = house.library(sensitivity={"personal_paths": ["Diary"]})
    assert by_words(library, "canarynine") == []
    assert by_words(library, "canarynine", PRIVATE) == ["Diary/Jan.md"]
    library.close()


def test_a_rule_that_was_taken_back_opens_the_note_without_embedding(house: House) -> None:
    rules = {"sensitivity": {"personal_paths": ["Diary"]}}
    with house.daemon(**rules) as daemon:
        embedded(daemon)
        assert "Diary/Jan.md" not in found(daemon, "CANARYNINE quarrel")
    house.embedder.embedded.clear()
    with house.daemon() as daemon:
        assert found(daemon, "CANARYNINE quarrel")[0] == "Diary/Jan.md"
    assert house.embedder.embedded == []


def test_reclassifying_hundreds_of_notes_takes_well_under_the_time_of_reading_them(tmp_path: Path) -> None:
    house = House(tmp_path, {f"Diary/{n // 100}/{n}.md": f"entry {n}: CANARY\n" for n in range(600)})
    with house.daemon() as daemon:
        embedded(daemon)
    house.embedder.embedded.clear()
    daemon = Daemon(settings_for(tmp_path, sensitivity={"personal_paths": ["Diary"]}), house.embedder)
    started = time.process_time()
    daemon.start()
    spent = time.process_time() - started
    try:
        assert by_words(daemon, "canary") == []
        assert house.embedder.embedded == []
        assert spent < 5
    finally:
        daemon.stop()
    print(f"reclassified 600 notes in {spent:.2f} s of CPU")  # noqa: T201 - the measurement


def test_a_personal_notes_name_is_in_no_open_answer(house: House) -> None:
    with house.daemon(sensitivity={"personal_paths": ["Diary"]}) as daemon:
        embedded(daemon)
        answer = ask(daemon, "What does [[Jan]] say of the harvest money?", OPEN)
        assert "Diary" not in everything_said(answer)
        assert any("Jan" in notice for notice in answer.notices)
