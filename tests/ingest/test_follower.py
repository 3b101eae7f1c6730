"""The two threads behind a running daemon survive what notes, vaults and models do, and end when told to."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event

import pytest

from fakes import FakeSource
from ingest.bench import AWAY, Bench
from vault_ask.errors import IndexDamaged, SourceRefused
from vault_ask.ingest import follower as follower_module
from vault_ask.ingest.follower import Follower
from vault_ask.sources.port import Change, Entry, Rescan
from waiting import wait_until

Make = Callable[..., Bench]


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower_module, "FIRST_RETRY_SECONDS", 0.05)
    monkeypatch.setattr(follower_module, "IDLE_SECONDS", 0.05)


@contextmanager
def following(work: Bench, on_damage: Callable[[], None] = lambda: None) -> Iterator[Follower]:
    follower = Follower(work.workshop, on_damage=on_damage)
    follower.start()
    try:
        yield follower
    finally:
        follower.stop()
        assert not any(thread.is_alive() for thread in follower._threads)


def test_a_started_follower_catches_up_and_embeds(bench: Make) -> None:
    work = bench({"A.md": "alpha\n", "B.md": "beta\n"})
    with following(work) as follower:
        assert follower.wait_until_caught_up(10)
        wait_until(lambda: work.writer.count_waiting() == 0 and len(work.embedder.embedded) == 2)


def test_a_change_is_followed(bench: Make) -> None:
    work = bench({"A.md": "alpha\n"})
    with following(work) as follower:
        follower.wait_until_caught_up(10)
        work.source.put("B.md", "beta\n")
        wait_until(lambda: work.found("beta") == ["B.md"])
        work.source.remove("B.md")
        wait_until(lambda: work.found("beta") == [])


def test_a_vault_that_goes_away_loses_nothing_and_is_followed_when_it_is_back(bench: Make) -> None:
    work = bench({"A.md": "alpha\n", "B.md": "beta\n"})
    with following(work) as follower:
        follower.wait_until_caught_up(10)
        work.source.go_away()
        work.source.tell([])
        work.source._store("C.md", "gamma\n")
        work.source.tell([Rescan("periodic")])
        wait_until(lambda: follower.trouble is not None)
        assert "away" in (follower.trouble or "")
        wait_until(lambda: work.progress.snapshot.phase == "waiting")
        assert work.paths() == ["A.md", "B.md"]
        work.source.come_back()
        wait_until(lambda: work.paths() == ["A.md", "B.md", "C.md"])
        wait_until(lambda: follower.trouble is None)


class Doubting(FakeSource):
    """Refused at first; then it says for a while that it lives, as over a database that is being filled."""

    def __init__(self, notes: dict[str, str]) -> None:
        super().__init__(notes)
        self.sessions = self.listings = 0
        self.listings_after_a_sign: list[int] = []

    def listing(self) -> list[Entry]:
        self.listings += 1
        return super().listing()

    def changes(self, stop: Event) -> Iterator[list[Change]]:
        self.sessions += 1
        if self.sessions == 1:
            yield [Rescan("started")]
            raise SourceRefused("Something else answers at the address.")
        yield []
        self.listings_after_a_sign.append(self.listings)
        yield from super().changes(stop)


def test_a_sign_of_life_after_a_trouble_is_no_reason_to_compare(bench: Make) -> None:
    source = Doubting({"A.md": "alpha\n"})
    work = bench(source=source)
    with following(work) as follower:
        wait_until(lambda: source.listings == 2 and follower.trouble is None)
    assert source.listings_after_a_sign == [1]
    assert work.paths() == ["A.md"]


def test_the_backlog_drains_by_itself_when_the_embedder_is_back(bench: Make) -> None:
    work = bench({"A.md": "alpha\n"})
    work.embedder.fail_with(AWAY)
    with following(work):
        wait_until(lambda: work.backlog.state.last_error is not None)
        assert work.found("alpha") == ["A.md"]
        work.embedder.recover()
        work.now += 500
        wait_until(lambda: work.writer.count_waiting() == 0)


def test_a_fault_of_ours_is_told_without_its_words_and_got_over(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    work = bench({"A.md": "alpha\n"})
    apply = work.ingest.apply
    faults = [RuntimeError("secret words of a note")]

    def faulty(*args: object) -> object:
        if faults:
            raise faults.pop()
        return apply(*args)

    monkeypatch.setattr(work.ingest, "apply", faulty)
    told: list[str] = []
    work.progress.notes._changed = lambda: told.append(work.progress.notes.snapshot.message)
    with following(work) as follower:
        assert follower.wait_until_caught_up(10)
    assert any("RuntimeError" in message for message in told)
    assert not any("secret" in message for message in told)


@pytest.mark.parametrize("where", ["follow", "backlog"])
def test_damage_found_by_either_thread_ends_both(bench: Make, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    work = bench({"A.md": "alpha\n"})

    def damaged(*_args: object) -> None:
        raise IndexDamaged

    monkeypatch.setattr(*((work.ingest, "apply", damaged) if where == "follow" else (work.backlog, "drain", damaged)))
    told = Event()
    with following(work, told.set) as follower:
        assert told.wait(10)
        wait_until(lambda: not any(thread.is_alive() for thread in follower._threads))


def test_a_stop_ends_a_long_first_sweep(bench: Make) -> None:
    source = FakeSource({f"N{n}.md": f"number {n}\n" for n in range(2_000)})
    work = bench(source=source)
    with following(work) as follower:
        wait_until(lambda: work.progress.snapshot.done > 0)
        follower.stop()
        assert len(source.reads) < 2_000
        assert not follower.caught_up


def test_stopping_leaves_no_thread(bench: Make) -> None:
    before = set(threading.enumerate())
    with following(bench({"A.md": "alpha\n"})) as follower:
        follower.wait_until_caught_up(10)
    assert set(threading.enumerate()) <= before
