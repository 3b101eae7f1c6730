"""The running daemon: it rebuilds while it serves, heals itself, tells how it is, and leaves nothing behind."""

import asyncio
import gc
import os
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import psutil
import pytest

from fakes import HashEmbedder
from journeys.houses import OPEN, PRIVATE, House, ask, by_words, embedded, found, retrieved, settings_for, status
from vault_ask.composition.daemon import Daemon
from vault_ask.errors import IndexBusy, IndexFailed, ModelUnreachable, NoIndex
from vault_ask.index.embedding import Refused, Vector
from vault_ask.ingest import follower as follower_module
from waiting import wait_until

NOTES = {f"N{n}.md": f"number {n} of the quince notes\n" for n in range(60)}
AWAY = ModelUnreachable("Nobody listens at the embedder's address.")


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower_module, "IDLE_SECONDS", 0.1)


class Held(HashEmbedder):
    """Another model, which waits in the middle of its first batch until it is let go; questions it answers at once."""

    def __init__(self) -> None:
        super().__init__(dimension=96)
        self.entered, self.go = Event(), Event()

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        self.entered.set()
        assert self.go.wait(20)
        return super().embed_passages(texts)


def test_a_daemon_serves_and_follows_while_it_rebuilds(tmp_path: Path) -> None:
    house = House(tmp_path, NOTES)
    with house.daemon() as daemon:
        embedded(daemon)
    house.embedder = Held()
    with house.daemon(rebuild=True) as daemon:
        wait_until(house.embedder.entered.is_set)
        now = status(daemon)
        assert (now.progress.phase, now.progress.total, now.notes) == ("rebuilding", 60, 60)
        during = retrieved(daemon, "number 7 quince")
        assert during.hits[0].path == "N7.md"
        assert any("another embedding model" in notice for notice in during.notices)
        house.write({"Fresh.md": "written during the rebuild: marzipan\n"})
        wait_until(lambda: by_words(daemon, "marzipan") == ["Fresh.md"])
        house.embedder.go.set()
        wait_until(lambda: status(daemon).progress.phase != "rebuilding")
        embedded(daemon)
        after = retrieved(daemon, "written during the rebuild: marzipan")
        assert (after.hits[0].path, after.notices) == ("Fresh.md", ())
        assert after.hits[0].provenance == "both"
        assert status(daemon).embedding.rebuild_needed is None


def test_another_embedding_space_is_named_by_the_status_and_words_are_served(tmp_path: Path) -> None:
    house = House(tmp_path, NOTES)
    with house.daemon() as daemon:
        embedded(daemon)
    house.embedder = HashEmbedder(dimension=96)
    with house.daemon() as daemon:
        wait_until(lambda: status(daemon).embedding.rebuild_needed is not None)
        assert "vault-ask index --rebuild" in (status(daemon).embedding.rebuild_needed or "")
        told = retrieved(daemon, "number 7 quince")
        assert told.hits[0].path == "N7.md"
        assert {hit.provenance for hit in told.hits} == {"text"}
        assert any("--rebuild" in notice for notice in told.notices)
        assert house.embedder.embedded == []


def test_an_index_a_reader_finds_damaged_is_begun_anew_while_the_daemon_runs(tmp_path: Path) -> None:
    house = House(tmp_path, NOTES)
    with house.daemon() as daemon:
        embedded(daemon)
    with house.daemon() as daemon:
        file = daemon.files.current
        with file.open("r+b") as handle:
            handle.seek(4096)
            handle.write(b"\xa5" * (file.stat().st_size - 4096))
        for path in file.parent.glob(f"{file.name}-wal"):
            os.truncate(path, 0)
        with pytest.raises(IndexFailed):
            retrieved(daemon, "number 7 quince")
        wait_until(lambda: bool(status_or_none(daemon)))
        wait_until(lambda: "N7.md" in words_or_none(daemon))
        assert any("set aside" in warning for warning in status(daemon).warnings)
        house.write({"Later.md": "and still followed: marzipan\n"})
        wait_until(lambda: by_words(daemon, "marzipan") == ["Later.md"])


def status_or_none(daemon: Daemon) -> list[str]:
    try:
        return [warning for warning in status(daemon).warnings if "set aside" in warning]
    except (IndexFailed, NoIndex):
        return []


def words_or_none(daemon: Daemon) -> list[str]:
    try:
        return by_words(daemon, "number 7 quince")
    except (IndexFailed, NoIndex):
        return []


def test_a_second_daemon_is_refused_and_the_first_is_not_disturbed(tmp_path: Path) -> None:
    house = House(tmp_path, NOTES)
    with house.daemon() as daemon:
        embedded(daemon)
        second = Daemon(settings_for(tmp_path), house.embedder)
        with pytest.raises(IndexBusy, match="already running"):
            second.start()
        second.close()
        assert by_words(daemon, "number 7 quince")[0] == "N7.md"
    with house.daemon() as again:
        assert status(again).notes == 60


def test_an_embedder_that_is_away_is_told_and_the_backlog_drains_when_it_is_back(tmp_path: Path) -> None:
    house = House(tmp_path, NOTES)
    house.embedder.fail_with(AWAY)
    with house.daemon() as daemon:
        wait_until(lambda: status(daemon).embedding.last_error == str(AWAY))
        now = status(daemon).embedding
        assert (now.ready, now.waiting) == (False, 60)
        assert now.next_try_seconds is not None
        assert status(daemon).progress.phase == "waiting"
        assert ask(daemon, "Which is number 7 of the quince notes?").sources[0].path == "N7.md"
        house.embedder.recover()
        embedded(daemon)
        wait_until(lambda: status(daemon).embedding.ready)
        assert status(daemon).embedding.last_error is None
    assert len(house.embedder.embedded) == 60


def test_questions_during_the_first_index_are_told_that_it_goes_on(tmp_path: Path) -> None:
    house = House(tmp_path, {f"N{n}.md": f"number {n} of the quince notes\n" for n in range(600)})
    with house.daemon(caught_up=False) as daemon:
        told: list[str] = []
        wait_until(
            lambda: told.extend(retrieved(daemon, "quince", PRIVATE).notices) or daemon._keeper.following.done > 0
        )
        told.extend(retrieved(daemon, "quince", PRIVATE).notices)
        assert any("still being indexed" in notice and "of 600 notes" in notice for notice in told)
        # How many notes there are in all is not for those who see open ones only.
        (notice,) = retrieved(daemon, "quince").notices
        assert notice == "The vault is still being indexed; ask again later for more."
        wait_until(lambda: daemon._keeper.caught_up, seconds=60)
        assert not any("still being indexed" in notice for notice in retrieved(daemon, "quince").notices)


def test_stopping_gives_back_every_thread_and_file(tmp_path: Path) -> None:
    house = House(tmp_path, NOTES)
    with house.daemon() as daemon:
        embedded(daemon)
    del daemon
    gc.collect()  # event loops of the tests before this one
    threads, files = set(threading.enumerate()), _open_files()
    for _ in range(3):
        daemon = Daemon(settings_for(tmp_path), house.embedder)
        daemon.start()
        for scope in (OPEN, PRIVATE):
            found_there = asyncio.run(daemon.search("number 7 quince", scope=scope, k=3, arm="hybrid"))
            assert found_there.hits[0].path == "N7.md"
        daemon.stop()
        daemon.stop()
    wait_until(lambda: set(threading.enumerate()) <= threads)
    gc.collect()
    assert _open_files() == files


def _open_files() -> Counter[str]:
    """Count what this process holds open, by what it is."""
    files = psutil.Process().open_files()
    return Counter({"all": psutil.Process().num_fds(), **Counter(file.path for file in files)})


def test_a_stop_does_not_wait_for_a_slow_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_ask.ingest.keeper.STOP_SECONDS", 0.2)
    house = House(tmp_path, NOTES)
    with house.daemon() as daemon:
        embedded(daemon)
    house.embedder = Held()
    daemon = Daemon(settings_for(tmp_path), house.embedder)
    daemon.start(rebuild=True)
    wait_until(house.embedder.entered.is_set)
    stopped = Event()

    def stop() -> None:
        daemon.stop()
        stopped.set()

    stopper = threading.Thread(target=stop)
    stopper.start()
    assert stopped.wait(5)
    house.embedder.go.set()
    stopper.join()
    wait_until(lambda: not any(thread.name == "rebuild" for thread in threading.enumerate()))


def test_notes_found_by_meaning_and_words_say_so(tmp_path: Path) -> None:
    house = House(tmp_path, NOTES)
    with house.daemon() as daemon:
        embedded(daemon)
        assert found(daemon, "number 7 of the quince notes")[0] == "N7.md"
        assert retrieved(daemon, "number 7 of the quince notes").hits[0].provenance == "both"
