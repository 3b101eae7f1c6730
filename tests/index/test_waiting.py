"""What waits for vectors: how much SQLite does for each batch, in steps of its machine, which no load changes."""

from collections.abc import Callable
from pathlib import Path

import apsw

from fakes import HashEmbedder
from vault_ask.index.database import connect_writer
from vault_ask.index.writing.waiting import count_waiting, store_vectors, waiting
from vault_building import Building

FEW, MANY = 40, 400
BATCH = 8


def steps(db: apsw.Connection, act: Callable[[], object]) -> int:
    """Count the instructions of SQLite's machine that a deed takes, in tens."""
    count = 0

    def another() -> bool:
        nonlocal count
        count += 1
        return False

    db.set_progress_handler(another, 10)
    try:
        act()
    finally:
        db.set_progress_handler(None)
    return count


def first_index(data: Path, notes: int) -> tuple[apsw.Connection, HashEmbedder]:
    """Index notes by their words alone, as a first index begins, and give the connection that goes on with it."""
    embedder = HashEmbedder()
    building = Building(data)
    building.put({f"Note {number}.md": f"Basket {number} holds quinces." for number in range(notes)})
    building.writer.use_space(embedder.space, embedder.priors(), "off")
    building.close()
    return connect_writer(building.files.current), embedder


def test_to_store_a_batch_takes_as_much_of_many_that_wait_as_of_few(tmp_path: Path) -> None:
    taken = []
    for notes in (FEW, MANY):
        db, embedder = first_index(tmp_path / str(notes), notes)
        batch = waiting(db, BATCH)
        made = {item.embed_hash: embedder.embed_query(item.text) for item in batch}
        taken.append(steps(db, lambda db=db, made=made: store_vectors(db, made, frozenset())))
        assert count_waiting(db) == notes - BATCH
        refused = frozenset(item.embed_hash for item in waiting(db, BATCH))
        taken[-1] += steps(db, lambda db=db, refused=refused: store_vectors(db, {}, refused))
        assert count_waiting(db) == notes - 2 * BATCH
        db.close()
    few, many = taken
    assert few <= many < 1.5 * few


def test_which_chunks_wait_is_told_by_an_index_and_text_read_of_a_batch_alone(tmp_path: Path) -> None:
    db, _ = first_index(tmp_path, MANY)
    plans = []
    db.trace_v2(apsw.SQLITE_TRACE_STMT, lambda event: plans.append(event["sql"]))
    batch = waiting(db, BATCH)
    db.trace_v2(0, None)
    assert len(batch) == BATCH
    told = [str(row[3]) for row in db.execute(f"EXPLAIN QUERY PLAN {plans[0]}", (BATCH,))]
    assert any("COVERING INDEX chunks_waiting" in line for line in told)
    assert sum("body" in plan for plan in plans) == BATCH
    db.close()
