"""The running daemon over a CouchDB: asked and cited, told of mistakes, well again once they are mended."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from couch_stand_in import CouchStandIn
from fakes import HashEmbedder
from journeys.houses import OPEN, PRIVATE, ask, by_words, embedded, status
from journeys.mistakes import MISTAKES, NOTES, PASSPHRASE, Setting
from vault_ask.composition.daemon import Daemon
from vault_ask.scope import Sensitivity
from vault_ask.settings import Settings
from waiting import wait_until

MENDED = [name for name, mistake in MISTAKES.items() if mistake.mend is not None]


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sources.couch_following", "ingest.follower"):
        monkeypatch.setattr(f"vault_ask.{name}.FIRST_RETRY_SECONDS", 0.1)
        monkeypatch.setattr(f"vault_ask.{name}.LONGEST_RETRY_SECONDS", 0.2)
    monkeypatch.setattr("vault_ask.ingest.follower.IDLE_SECONDS", 0.1)


@pytest.fixture
def setting(stand_in: CouchStandIn) -> Setting:
    return Setting(stand_in)


@contextmanager
def running(setting: Setting, folder: Path, **sections: object) -> Iterator[Daemon]:
    """Run a daemon over what is configured, from its first breath."""
    vault = {"couchdb": setting.configured, **dict(sections.pop("vault", {}))}  # type: ignore[call-overload]
    # Nobody listens there, so that no test looks at a model server of this machine.
    given = {"data": folder / "data", "vault": vault, "embedding": {"ollama_url": "http://127.0.0.1:9"}, **sections}
    daemon = Daemon(Settings.model_validate(given), HashEmbedder(dimension=384))
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.stop()


def message(daemon: Daemon) -> str:
    return status(daemon).vault.message


@pytest.mark.parametrize("mode", ["plain", "v2obfz", "v1dynobf"])
def test_a_vault_in_a_couchdb_is_asked_and_cited_like_any_other(setting: Setting, tmp_path: Path, mode: str) -> None:
    setting.configured["passphrase"] = PASSPHRASE
    personal = {"sensitivity": {"personal_paths": ["Private/**"]}}
    with setting.fill(mode).device(mode) as device, running(setting, tmp_path, **personal) as daemon:
        device.put("Flat/Rent.md", "# Rent\n\nThe notice period for the flat is three months.\n")
        device.put("Private/Health.md", "# Health\n\nThe blood pressure was 128 over 82.\n")
        wait_until(lambda: status(daemon).notes == 3)
        embedded(daemon)
        answer = ask(daemon, "How long is the notice period for the flat?")
        assert (answer.citations[0].path, answer.citations[0].line_start) == ("Flat/Rent.md", 3)
        assert answer.citations[0].url.startswith("obsidian://open?vault=test&file=Flat%2FRent")
        assert by_words(daemon, "blood pressure", OPEN) == []
        assert by_words(daemon, "blood pressure", PRIVATE) == ["Private/Health.md"]
        device.rename("Flat/Rent.md", "Flat/Lease.md")
        wait_until(lambda: by_words(daemon, "notice period flat") == ["Flat/Lease.md"])
        told = status(daemon).vault
        assert (told.kind, told.mode, told.name) == ("couchdb", "watching", "test")
        assert told.freshness.last_change_seen is not None
        wait_until(lambda: status(daemon).vault.freshness.lag == 0)


@pytest.mark.parametrize("name", MENDED)
def test_a_mistake_is_told_in_status_and_log_and_mending_it_is_enough(
    setting: Setting, tmp_path: Path, name: str
) -> None:
    mistake = MISTAKES[name]
    assert mistake.mend is not None
    mistake.make(setting)
    with capture_logs() as logs, running(setting, tmp_path) as daemon:
        wait_until(lambda: re.search(mistake.said, message(daemon)) is not None)
        assert status(daemon).vault.mode == "waiting"
        everything = asyncio.run(daemon.status(Sensitivity.PERSONAL)).model_dump_json()
        assert "CANARY" not in everything
        open_message = asyncio.run(daemon.status(Sensitivity.OPEN)).vault.message
        assert re.search(mistake.said, open_message) is None
        mistake.mend(setting)
        wait_until(lambda: status(daemon).vault.mode == "watching")
        wait_until(lambda: by_words(daemon, "quince") == list(NOTES))
    said = json.dumps(logs, default=str)
    assert "CANARY" not in said
    assert any(re.search(mistake.said, str(line.get("sentence"))) for line in logs)


@pytest.mark.parametrize("name", ["no passphrase", "wrong passphrase", "wrong passphrase of V1", "no sync parameters"])
def test_a_vault_that_cannot_be_decrypted_stays_refused_and_nothing_of_it_is_indexed(
    setting: Setting, tmp_path: Path, name: str
) -> None:
    mistake = MISTAKES[name]
    mistake.make(setting)
    with capture_logs() as logs, running(setting, tmp_path) as daemon:
        wait_until(lambda: sum("sentence" in line for line in logs) >= 3)
        assert re.search(mistake.said, message(daemon))
        assert status(daemon).notes == 0
        assert status(daemon).chunks == 0
    assert all(re.search(mistake.said, line["sentence"]) for line in logs if "sentence" in line)
    assert "CANARY" not in json.dumps(logs, default=str)


def test_an_index_is_served_while_the_couchdb_refuses(setting: Setting, tmp_path: Path) -> None:
    setting.fill()
    with running(setting, tmp_path) as daemon:
        wait_until(lambda: by_words(daemon, "quince") == list(NOTES))
        wait_until(lambda: status(daemon).vault.mode == "watching")
        setting.server.users["member"] = "changed"
        setting.server.cut_connections()
        wait_until(lambda: "user or the password" in message(daemon))
        assert by_words(daemon, "quince") == list(NOTES)
    setting.server.down()
    with running(setting, tmp_path) as daemon:
        wait_until(lambda: "cannot be reached" in message(daemon))
        assert by_words(daemon, "quince") == list(NOTES)


def test_a_note_is_told_as_incomplete_conflicted_or_of_an_odd_size(setting: Setting, tmp_path: Path) -> None:
    with setting.fill().device() as device, running(setting, tmp_path) as daemon:
        device.put("Torn.md", "first version: gooseberry\n")
        device.put("Two.md", "the winner\n")
        wait_until(lambda: status(daemon).notes == 3)
        device.put_without_chunks("Torn.md", "second version: medlar\n")
        device.conflict("Two.md", "the loser\n")
        document = device.document("Torn.md")
        assert document is not None
        sized = {**document, "_id": "size.md", "path": "Size.md", "children": ["h:size"], "size": 9}
        del sized["_rev"]
        setting.server.store("vault", [{"_id": "h:size", "type": "leaf", "data": "xy"}, sized])
        codes: Callable[[], dict[str, str]] = lambda: {p.path: p.code for p in status(daemon).problems}  # noqa: E731
        wait_until(lambda: codes() == {"Torn.md": "incomplete", "Two.md": "conflict", "Size.md": "size"})
        told = {problem.path: problem.message for problem in status(daemon).problems}
        assert "LiveSync recorded 9 bytes" in told["Size.md"]
        assert "It is indexed as it is" in told["Size.md"]
        assert by_words(daemon, "gooseberry") == ["Torn.md"]
        assert by_words(daemon, "medlar") == []
        assert asyncio.run(daemon.status(Sensitivity.OPEN)).problems == ()


def test_auto_serves_from_the_folder_and_says_why(setting: Setting, tmp_path: Path) -> None:
    setting.fill().server.down()
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "Here.md").write_text("kept in the folder: medlar\n")
    with running(setting, tmp_path, vault={"path": vault}) as daemon:
        wait_until(lambda: by_words(daemon, "medlar") == ["Here.md"])
        assert status(daemon).vault.kind == "folder"
        assert "The folder is used in place of the CouchDB. The CouchDB at 127.0.0.1:" in message(daemon)
