"""A slow, absent or choosy embedder never makes a note worse than it was, and embeds no text twice."""

from collections.abc import Callable, Sequence
from threading import Event, Thread

import numpy as np
import pytest

from fakes import HashEmbedder
from ingest.bench import AWAY, OPEN, Bench
from vault_ask.index.embedding import EmbeddingSpace, Refused, Vector
from vault_ask.ingest import backlog as backlog_module
from waiting import wait_until

Make = Callable[..., Bench]
NOTES = {"Rent.md": "The rent is 9200 from May.\n", "Boat.md": "The boat needs a new sail.\n"}
NEVER = Event()


def sections(*bodies: str) -> str:
    """Write a note whose sections are too long to be merged."""
    filler = " ".join(f"filler{n}" for n in range(100))
    return "\n".join(f"# Part {n}\n\n{body} {filler}\n" for n, body in enumerate(bodies))


class Gated(HashEmbedder):
    """Waits in the middle of embedding until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.go = Event(), Event()

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        self.entered.set()
        assert self.go.wait(10)
        return super().embed_passages(texts)


def test_a_note_changed_while_the_embedder_is_away_goes_in_by_its_words(bench: Make) -> None:
    work = bench({**NOTES, "Fresh.md": "The meeting is in room 3.\n"})
    work.index_all()
    work.embedder.fail_with(AWAY)
    work.source.put("Fresh.md", "The meeting moved to room 9.\n")
    assert work.follow().changed == 1
    assert work.found("meeting moved room 9") == ["Fresh.md"]
    assert work.counts().waiting_notes == 1
    assert work.backlog.state.last_error == str(AWAY)


def test_unchanged_passages_of_a_changed_note_keep_their_vectors(bench: Make) -> None:
    work = bench({"Long.md": sections("apple", "pear", "plum")})
    work.index_all()
    before = work.writer._fetch("SELECT chunk, vector FROM embeddings ORDER BY chunk")
    work.embedder.fail_with(AWAY)
    work.source.put("Long.md", sections("apple", "quince", "plum"))
    work.follow()
    assert work.writer.count_waiting() == 1
    after = dict(work.writer._fetch("SELECT chunk, vector FROM embeddings"))
    assert len(after) == len(before) - 1
    assert after.items() <= dict(before).items()


def test_an_absent_embedder_is_tried_again_later_and_later(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog_module.random, "uniform", lambda *_: 1.0)
    work = bench(NOTES)
    work.embedder.fail_with(AWAY)
    work.sweep()
    waits = []
    for _ in range(8):
        assert not work.backlog.drain(NEVER)
        waits.append(work.backlog.seconds_until_retry())
        assert not work.backlog.willing
        work.now += waits[-1]
        assert work.backlog.willing
    assert waits == [2, 4, 8, 16, 32, 64, 120, 120]
    work.embedder.recover()
    assert work.backlog.drain(NEVER)
    assert work.backlog.state.ready
    assert (work.backlog.state.last_error, work.backlog.seconds_until_retry()) == (None, None)
    assert work.counts().waiting_notes == 0


def test_nothing_is_asked_of_an_absent_embedder_before_it_is_time(bench: Make) -> None:
    work = bench(NOTES)
    work.embedder.fail_with(AWAY)
    work.sweep()
    work.backlog.drain(NEVER)
    work.embedder.recover()
    assert not work.backlog.drain(NEVER)
    assert work.embedder.embedded == []
    work.now += 3
    assert work.backlog.drain(NEVER)


def test_a_backlog_with_nothing_left_forgets_that_the_embedder_was_away(bench: Make) -> None:
    work = bench(NOTES)
    work.index_all()
    work.embedder.fail_with(AWAY)
    work.source.put("Fresh.md", "soon gone\n")
    work.follow()
    work.backlog.drain(NEVER)
    work.source.remove("Fresh.md")
    work.follow()
    work.embedder.recover()
    work.now += 3
    assert work.backlog.drain(NEVER)
    assert work.backlog.seconds_until_retry() is None


def test_progress_survives_a_restart_and_no_text_is_embedded_twice(bench: Make) -> None:
    work = bench({f"N{n}.md": f"number {n} of the notes\n" for n in range(60)})
    work.sweep()
    stop = Event()
    work.progress.passages._changed = lambda: stop.set() if work.progress.passages.snapshot.done else None
    assert not work.backlog.drain(stop)
    done = len(work.embedder.embedded)
    assert 0 < done < 60
    work.restart()
    for n in range(40):
        work.source.put(f"N{n}.md", f"number {n} of the notes\n")
    work.index_all()
    assert len(work.embedder.embedded) == 60
    assert work.embedded_twice == []


def test_a_long_outage_with_a_restart_in_the_middle_embeds_each_text_once(bench: Make) -> None:
    notes = {f"N{n}.md": f"number {n} as it was\n" for n in range(90)}
    work = bench(notes)
    work.index_all()
    work.forget_calls()
    for n in range(60):
        work.source.put(f"N{n}.md", f"number {n} in other words\n")
    work.embedder.fail_with(AWAY)
    work.sweep()
    assert not work.backlog.drain(NEVER)
    work.source.put("Fresh.md", "the meeting moved to room 9\n")
    work.follow()
    assert work.found("meeting room 9")[0] == "Fresh.md"
    assert work.counts().waiting_notes == 61
    work.restart()
    assert work.counts().waiting_notes == 61
    work.embedder.recover()
    work.index_all()
    assert len(work.embedder.embedded) == 61
    assert work.embedded_twice == []
    assert work.found("the meeting moved to room 9", arm="vector")[0] == "Fresh.md"


def test_the_newest_notes_get_their_vectors_first(bench: Make) -> None:
    work = bench({f"N{n}.md": f"number {n}\n" for n in range(30)})
    work.sweep()
    work.backlog.drain(NEVER)
    assert "number 29" in work.embedder.embedded[0]


def test_texts_the_embedder_refuses_hold_no_other_up(bench: Make) -> None:
    work = bench(
        {"Bad.md": "this holds cursed text\n", **NOTES}, embedder=HashEmbedder(dimension=384, refuses=["cursed"])
    )
    work.index_all()
    assert work.counts().waiting_notes == 0
    assert len(work.writer._fetch("SELECT chunk FROM embeddings")) == 2
    assert work.found("cursed text")[0] == "Bad.md"
    work.forget_calls()
    work.index_all()
    assert work.embedder.embedded == [], "a refused text is not asked for again"


def test_empty_and_tiny_notes_are_done_and_no_blank_text_is_embedded(bench: Make) -> None:
    class Strict(HashEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
            assert all(text.strip() for text in texts), "a blank text reached the embedder"
            return super().embed_passages(texts)

    work = bench(
        {
            "Zero.md": b"",
            "BomOnly.md": b"\xef\xbb\xbf",
            "Wifi code.md": "---\ntags: [home]\n---\n",
            "Blank.md": "\n   \n\t\n",
            "Heads.md": "# Alpha\n## Beta\n### Gamma\n",
            "Tiny.md": "ok\n",
            "Untitled.md": "\n",
        },
        embedder=Strict(dimension=384),
    )
    work.index_all()
    assert work.counts().waiting_notes == 0
    assert work.found("wifi code")[0] == "Wifi code.md"
    assert work.found("beta")[0] == "Heads.md"
    assert work.found("Tiny")[0] == "Tiny.md"
    assert work.found("ok")[0] == "Tiny.md"
    vectors = [np.frombuffer(blob, "<f2") for (blob,) in work.writer._fetch("SELECT vector FROM embeddings")]
    assert vectors
    assert all(abs(float(np.linalg.norm(vector.astype(float))) - 1) < 0.01 for vector in vectors)


def test_a_changed_note_is_embedded_before_it_is_stored(bench: Make) -> None:
    work = bench(NOTES)
    work.index_all()
    work.source.put("Rent.md", "The rent is 9400 from June.\n")
    work.follow()
    assert work.counts().waiting_notes == 0


def means_of(work: Bench) -> list[int]:
    return [count for (count,) in work.writer._fetch("SELECT count FROM statistics WHERE name = 'mean:*'")]


def test_vectors_made_before_their_notes_were_stored_give_means_too(bench: Make) -> None:
    work = bench(NOTES)
    assert work.backlog.drain(NEVER)
    work.sweep()
    assert (work.counts().waiting_notes, means_of(work)) == (0, [])
    assert work.backlog.drain(NEVER)
    assert means_of(work) == [2]


def test_means_follow_a_growing_vault_and_not_every_change(bench: Make) -> None:
    work = bench({f"{n}.md": f"note {n}\n" for n in range(40)})
    work.index_all()
    seen = []
    for n in range(20):
        work.source.put("One.md", f"note number one, worded anew for the {n}th time\n")
        work.source.put(f"New {n}.md", f"another note {n}\n")
        work.follow()
        assert work.backlog.drain(NEVER)
        seen += means_of(work)
    assert work.counts().waiting_notes == 0
    assert list(dict.fromkeys(seen)) == [40, 52]


def test_a_big_change_is_stored_first_and_embedded_later(bench: Make) -> None:
    work = bench(NOTES)
    work.index_all()
    work.forget_calls()
    for n in range(backlog_module.EMBED_FIRST + 1):
        work.source.put(f"N{n}.md", f"number {n}\n")
    work.follow()
    assert work.embedder.embedded == []
    assert work.counts().waiting_notes == backlog_module.EMBED_FIRST + 1


def test_a_change_beside_a_backlog_at_work_is_not_embedded_twice(bench: Make) -> None:
    embedder = Gated()
    embedder.go.set()
    work = bench({"Long.md": sections("apple")}, embedder=embedder)
    work.index_all()
    embedder.entered.clear()
    work.source.put("Long.md", sections("apple", "pear", "plum"))
    work.backlog._state = backlog_module.BacklogState()
    work.follow()
    embedder.go.clear()
    drain = Thread(target=work.backlog.drain, args=(Event(),))
    drain.start()
    wait_until(embedder.entered.is_set)
    work.backlog._state = backlog_module.BacklogState(ready=True)
    work.source.put("Long.md", sections("apple", "pear", "plum", "quince"))
    work.follow()
    assert work.found("quince")[0] == "Long.md"
    embedder.go.set()
    drain.join(10)
    assert work.backlog.drain(NEVER)
    assert work.embedded_twice == []
    assert work.counts().waiting_notes == 0


@pytest.mark.parametrize("error", [AWAY, RuntimeError("a bug in a library")])
def test_an_embedder_that_fails_in_any_way_keeps_no_note_out(bench: Make, error: Exception) -> None:
    work = bench(NOTES)
    work.index_all()
    work.embedder.fail_with(error)
    work.source.put("Rent.md", "The rent is 9400 from June.\n")
    work.follow()
    assert work.found("9400 June")[0] == "Rent.md"
    assert work.backlog.state.last_error
    assert "a bug in a library" not in work.backlog.state.last_error


def test_another_embedding_space_is_told_even_while_nothing_waits(bench: Make) -> None:
    work = bench(NOTES)
    work.index_all()
    work.embedder = HashEmbedder(dimension=32)
    work.restart()
    work.sweep()
    work.backlog.drain(NEVER)
    assert work.backlog.state.rebuild_needed
    assert "vault-ask index --rebuild" in work.backlog.state.rebuild_needed
    work.source.put("Fresh.md", "still found by words\n")
    work.follow()
    assert work.found("still found by words")[0] == "Fresh.md"
    assert work.embedder.embedded == []


def test_an_embedder_whose_space_cannot_be_told_is_tried_again(bench: Make) -> None:
    class Shy(HashEmbedder):
        @property
        def space(self) -> EmbeddingSpace:
            self._fail()
            return super().space

    work = bench(NOTES, embedder=Shy())
    work.embedder.fail_with(AWAY)
    work.sweep()
    assert not work.backlog.drain(NEVER)
    assert work.backlog.state.last_error == str(AWAY)
    work.embedder.recover()
    work.now += 3
    assert work.backlog.drain(NEVER)


def test_a_note_that_becomes_personal_is_closed_while_the_embedder_is_still_at_it(bench: Make) -> None:
    embedder = Gated()
    embedder.go.set()
    work = bench({"N.md": "CANARY open for now\n"}, embedder=embedder)
    work.index_all()
    assert work.found("canary", OPEN) == ["N.md"]
    embedder.go.clear()
    embedder.entered.clear()
    work.source.put("N.md", "---\nsensitivity: personal\n---\nCANARY closed from now, reworded\n")
    change = Thread(target=work.follow)
    change.start()
    wait_until(embedder.entered.is_set)
    try:
        assert work.found("canary", OPEN) == []
        assert work.found("canary") == ["N.md"]
    finally:
        embedder.go.set()
        change.join(10)
    assert work.found("canary reworded", OPEN) == []
