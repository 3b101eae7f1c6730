"""The index in use changes hands while it is used: a damaged one is begun anew, a rebuilt one takes over when whole."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from fakes import HashEmbedder
from ingest.bench import AWAY, OPEN, Bench
from vault_ask.errors import IndexBusy, IndexDamaged
from vault_ask.index.embedding import Refused, Vector
from vault_ask.ingest import follower as follower_module
from vault_ask.ingest import keeper as keeper_module
from vault_ask.ingest.keeper import Keeper
from waiting import wait_until

Make = Callable[..., Bench]
NOTES = {f"N{n}.md": f"number {n} of the quince notes\n" for n in range(60)}


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower_module, "FIRST_RETRY_SECONDS", 0.05)
    monkeypatch.setattr(follower_module, "IDLE_SECONDS", 0.05)
    monkeypatch.setattr(keeper_module, "EMBEDDER_RETRY_SECONDS", 0.05)


class Other(HashEmbedder):
    """Another model. Lets `free` texts through, then waits until it is let go; `go` is set to begin with."""

    def __init__(self, free: int = 0) -> None:
        super().__init__(dimension=96)
        self._free = free
        self.entered, self.go = Event(), Event()
        self.go.set()

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        if len(self.embedded) >= self._free:
            self.entered.set()
            assert self.go.wait(20)
        return super().embed_passages(texts)


@contextmanager
def keeping(work: Bench, *, rebuild: bool = False) -> Iterator[Keeper]:
    keeper = Keeper(work.files, work.tools())
    keeper.start(rebuild=rebuild)
    try:
        yield keeper
    finally:
        keeper.stop()


def indexed(make: Make, notes: dict[str, str] = NOTES) -> Bench:
    """Index a vault and leave the data folder to a keeper."""
    work = make(notes)
    work.index_all()
    work.close()
    work.close = lambda: None  # type: ignore[method-assign]
    return work


def test_a_second_keeper_is_refused_and_changes_nothing(bench: Make) -> None:
    work = indexed(bench)
    with keeping(work) as first:
        wait_until(lambda: first.caught_up)
        with pytest.raises(IndexBusy, match="already running"):
            Keeper(work.files, work.tools()).start(rebuild=False)
        assert len(work.paths()) == 60
    with keeping(work) as third:
        wait_until(lambda: third.caught_up)


def test_a_start_that_fails_gives_the_data_folder_back(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    work = indexed(bench)
    with monkeypatch.context() as patch:
        patch.setattr(keeper_module, "open_writer", _damaged)
        keeper = Keeper(work.files, work.tools())
        with pytest.raises(IndexDamaged):
            keeper.start(rebuild=False)
    with keeping(work) as keeper:
        wait_until(lambda: keeper.caught_up)


def _damaged(*_args: object) -> None:
    raise IndexDamaged


def spoil(file: Path) -> None:
    """Overwrite the pages of an index, as a bad disk does."""
    with file.open("r+b") as handle:
        handle.seek(4096)
        handle.write(b"\xa5" * (file.stat().st_size - 4096))


def test_an_index_found_damaged_at_the_start_is_set_aside_and_begun_anew(bench: Make) -> None:
    work = indexed(bench)
    spoil(work.files.current)
    with keeping(work) as keeper:
        wait_until(lambda: keeper.caught_up and len(work.paths()) == 60)
        assert "set aside" in (keeper.warning or "")
    assert len(list(work.files.data.glob("*.damaged-*"))) == 1


def test_an_index_found_damaged_in_use_is_set_aside_and_begun_anew(bench: Make) -> None:
    work = indexed(bench)
    with keeping(work) as keeper:
        wait_until(lambda: keeper.caught_up)
        keeper._workshop.ingest.apply = _damaged  # type: ignore[method-assign]
        work.source.put("Fresh.md", "written when it was too late\n")
        wait_until(lambda: keeper.warning is not None)
        wait_until(lambda: keeper.caught_up and "Fresh.md" in work.paths())
        assert "set aside" in (keeper.warning or "")
        work.source.put("Later.md", "and still followed\n")
        wait_until(lambda: work.found("still followed") == ["Later.md"])
        wait_until(lambda: keeper.backlog.ready)
    assert len(list(work.files.data.glob("*.damaged-*"))) == 1


def test_a_sound_index_under_suspicion_stays(bench: Make) -> None:
    work = indexed(bench)
    with keeping(work) as keeper:
        wait_until(lambda: keeper.caught_up)
        current = work.files.current
        keeper.suspect()
        wait_until(lambda: not any(thread.name == "renew" for thread in threading.enumerate()))
        assert (keeper.warning, work.files.current) == (None, current)
        work.source.put("Later.md", "and still followed\n")
        wait_until(lambda: work.found("still followed") == ["Later.md"])


# Rebuilding


def visible(work: Bench) -> list[str]:
    with work.index.open(OPEN) as view:
        return view.notes.paths()


def test_the_old_index_serves_and_is_followed_until_the_new_one_is_whole(bench: Make) -> None:
    work = indexed(bench)
    former, work.embedder = work.embedder, Other()
    work.embedder.go.clear()
    old_file = work.files.current
    with keeping(work, rebuild=True) as keeper:
        wait_until(work.embedder.entered.is_set)
        assert keeper.progress.phase == "rebuilding"
        assert keeper.progress.total == 60
        assert work.files.current == old_file
        assert len(work.found("quince")) > 0
        work.source.put("Fresh.md", "edited during the rebuild: marzipan\n")
        wait_until(lambda: work.found("marzipan") == ["Fresh.md"])
        work.embedder.go.set()
        wait_until(lambda: work.files.current != old_file)
        wait_until(lambda: keeper.caught_up and keeper.backlog.ready)
        wait_until(lambda: work.counts().waiting_notes == 0)
        assert keeper.progress.phase != "rebuilding"
        assert work.found("marzipan", OPEN)[0] == "Fresh.md"
        assert work.found("edited during the rebuild: marzipan", arm="vector")[0] == "Fresh.md"
    assert not old_file.exists()
    assert work.embedded_twice == []
    assert len(former.embedded) == 60


def test_an_interrupted_rebuild_goes_on_at_the_next_start_where_it_stopped(bench: Make) -> None:
    work = indexed(bench)
    work.embedder = Other(free=8)
    work.embedder.go.clear()
    with keeping(work, rebuild=True) as keeper:
        wait_until(work.embedder.entered.is_set)
        keeper._stop.set()
        work.embedder.go.set()
    done = len(work.embedder.embedded)
    assert 8 <= done < 60
    assert work.counts().notes == 60
    old_file = work.files.current
    with keeping(work) as keeper:
        wait_until(lambda: work.files.current != old_file and keeper.caught_up)
        wait_until(lambda: work.counts().waiting_notes == 0)
    assert len(work.embedder.embedded) == 60
    assert work.embedded_twice == []


def test_going_back_to_the_former_model_needs_nothing(bench: Make) -> None:
    work = indexed(bench)
    former, work.embedder = work.embedder, Other(free=8)
    work.embedder.go.clear()
    with keeping(work, rebuild=True) as keeper:
        wait_until(work.embedder.entered.is_set)
        keeper._stop.set()
        work.embedder.go.set()
    work.embedder = former
    work.forget_calls()
    with keeping(work) as keeper:
        wait_until(lambda: keeper.caught_up and keeper.backlog.ready)
        assert keeper.backlog.rebuild_needed is None
        assert len(work.found("number 7 of the quince notes", arm="vector")) > 0
    assert work.embedder.embedded == []


def test_a_rebuild_drops_what_was_begun_for_another_model(bench: Make) -> None:
    work = indexed(bench)
    former, work.embedder = work.embedder, Other(free=8)
    work.embedder.go.clear()
    with keeping(work, rebuild=True) as keeper:
        wait_until(work.embedder.entered.is_set)
        keeper._stop.set()
        work.embedder.go.set()
    work.embedder = former
    work.forget_calls()
    old_file = work.files.current
    with keeping(work, rebuild=True) as keeper:
        wait_until(lambda: work.files.current != old_file and keeper.caught_up)
        assert keeper.warning is None
    assert len(work.embedder.embedded) == 60


def test_a_rebuild_waits_for_an_embedder_that_went_away(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_ask.ingest.backlog.FIRST_RETRY_SECONDS", 0.05)
    work = indexed(bench)
    work.embedder = Other()
    work.embedder.fail_with(AWAY)
    old_file = work.files.current
    with keeping(work, rebuild=True) as keeper:
        wait_until(lambda: keeper.progress.phase == "rebuilding" and keeper.progress.message == str(AWAY))
        assert work.files.current == old_file
        work.embedder.recover()
        wait_until(lambda: work.files.current != old_file and keeper.caught_up)
    assert len(work.embedder.embedded) == 60


def test_a_rebuild_that_cannot_read_the_vault_leaves_the_old_index_followed(bench: Make) -> None:
    work = indexed(bench)
    work.embedder = Other()
    work.source.go_away()
    with keeping(work, rebuild=True) as keeper:
        wait_until(lambda: keeper.warning is not None)
        assert "rebuild stopped" in (keeper.warning or "")
        work.source.come_back()
        work.source.put("Later.md", "and still followed\n")
        wait_until(lambda: work.found("still followed") == ["Later.md"])


def test_a_rebuild_that_cannot_take_its_last_look_opens_nothing_that_was_closed_meanwhile(bench: Make) -> None:
    work = indexed(bench)
    work.embedder = Other()
    work.embedder.go.clear()
    with keeping(work, rebuild=True) as keeper:
        wait_until(work.embedder.entered.is_set)
        work.source.put("N7.md", "---\nsensitivity: personal\n---\na canary\n")
        wait_until(lambda: work.found("canary") == ["N7.md"])
        work.source.go_away()
        work.embedder.go.set()
        wait_until(lambda: "rebuild stopped" in (keeper.warning or "") or not work.files.building.exists())
        assert "N7.md" not in visible(work)
        work.source.come_back()
    with keeping(work) as keeper:
        wait_until(lambda: not work.files.building.exists() and keeper.caught_up)
        wait_until(lambda: work.found("canary") == ["N7.md"])
        assert "N7.md" not in visible(work)
    assert work.embedded_twice == []


def test_another_space_is_told_by_the_status_and_words_go_on(bench: Make) -> None:
    work = indexed(bench)
    work.embedder = Other()
    with keeping(work) as keeper:
        wait_until(lambda: keeper.backlog.rebuild_needed is not None)
        assert "vault-ask index --rebuild" in (keeper.backlog.rebuild_needed or "")
        work.source.put("Fresh.md", "marzipan\n")
        wait_until(lambda: work.found("marzipan") == ["Fresh.md"])
    assert work.embedder.embedded == []
