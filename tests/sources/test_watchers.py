import time
from threading import Event

import pytest
from watchfiles._rust_notify import WatchfilesRustInternalError

from vault_ask.sources.watchers import LONGEST_SECONDS, TICK_SECONDS, Heard, NativeWatcher, Poller


class ScriptedNotifier:
    """Answers as RustNotify does, from a list; the last answer is repeated for ever."""

    def __init__(self, *answers: set[tuple[int, str]] | str | Exception) -> None:
        self._answers = list(answers)
        self.closed = False

    def watch(
        self, debounce_ms: int, step_ms: int, timeout_ms: int, stop_event: Event | None
    ) -> set[tuple[int, str]] | str:
        assert stop_event is not None
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        stop_event.wait(timeout_ms / 1000 if answer == "timeout" else step_ms / 1000)
        if isinstance(answer, Exception):
            raise answer
        return "stop" if stop_event.is_set() else answer

    def close(self) -> None:
        self.closed = True


def test_events_are_gathered_until_it_is_quiet() -> None:
    watcher = NativeWatcher(ScriptedNotifier({(1, "/v/a.md")}, {(2, "/v/a.md"), (3, "/v/b.md")}, "timeout"), 0.05)
    assert watcher.wait(Event()) == Heard(frozenset({"/v/a.md", "/v/b.md"}))


def test_stream_without_a_pause_is_cut_off_and_called_unsteady() -> None:
    began = time.monotonic()
    heard = NativeWatcher(ScriptedNotifier({(2, "/v/a.md")}), 0.4).wait(Event())
    assert heard == Heard(frozenset({"/v/a.md"}), steady=False)
    assert LONGEST_SECONDS <= time.monotonic() - began < LONGEST_SECONDS + 1


def test_silence_returns_within_a_tick() -> None:
    assert NativeWatcher(ScriptedNotifier("timeout"), 5).wait(Event()) is None


def test_more_events_than_one_wants_to_look_at_singly_mean_everything() -> None:
    many = {(1, f"/v/{number}.md") for number in range(3000)}
    assert NativeWatcher(ScriptedNotifier(many, "timeout"), 0.01).wait(Event()) == Heard(everything=True)


def test_failing_watch_means_everything_and_is_broken() -> None:
    watcher = NativeWatcher(ScriptedNotifier(WatchfilesRustInternalError("cannot decode")), 0.01)
    assert watcher.wait(Event()) == Heard(everything=True)
    assert watcher.broken


def test_interrupt_of_the_keyboard_is_passed_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        NativeWatcher(ScriptedNotifier("signal"), 0.01).wait(Event())


def test_poller_speaks_when_its_time_has_come_and_not_before() -> None:
    assert Poller(0.05).wait(Event()) == Heard(everything=True, steady=False)
    began = time.monotonic()
    assert Poller(60).wait(Event()) is None
    assert time.monotonic() - began >= TICK_SECONDS * 0.9


def test_stopped_watchers_say_nothing() -> None:
    stop = Event()
    stop.set()
    assert Poller(0.05).wait(stop) is None
    assert NativeWatcher(ScriptedNotifier({(1, "/v/a.md")}), 5).wait(stop) is None
