"""Two lines of work are told as one, and neither spoils the figures of the other."""

from vault_ask.ingest.progress import Progress, Snapshot


def test_embedding_that_ends_while_notes_are_read_leaves_their_figures() -> None:
    progress = Progress()
    progress.notes.begin("indexing", 100)
    progress.notes.advance(64)
    progress.passages.begin("embedding", 8)
    progress.passages.advance(8)
    progress.passages.rest()
    assert (progress.snapshot.phase, progress.snapshot.done, progress.snapshot.total) == ("indexing", 64, 100)


def test_embedding_is_told_once_the_notes_are_read() -> None:
    progress = Progress()
    progress.notes.begin("indexing", 1)
    progress.passages.begin("embedding", 8)
    progress.notes.rest()
    assert progress.snapshot.phase == "embedding"


def test_a_failure_is_told_while_nothing_goes_on() -> None:
    progress = Progress()
    progress.passages.rest("waiting", "The embedder is away.")
    assert progress.snapshot.message == "The embedder is away."
    progress.notes.rest("failed", "The vault cannot be read.")
    assert progress.snapshot.message == "The vault cannot be read."


def test_rate_and_time_left_follow_from_the_clock() -> None:
    now = [100.0]
    told: list[Snapshot] = []
    progress = Progress(told.append, clock=lambda: now[0])
    progress.notes.begin("indexing", 300)
    now[0] = 110.0
    progress.notes.advance(100)
    assert (told[-1].rate, told[-1].seconds_left) == (10.0, 20.0)


def test_a_total_that_grows_never_falls_behind_what_is_done() -> None:
    progress = Progress()
    progress.passages.begin("embedding", 2)
    progress.passages.advance(5, total=3)
    assert (progress.snapshot.done, progress.snapshot.total) == (5, 5)
