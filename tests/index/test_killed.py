"""Indexing that is killed at any moment leaves whole notes, and the next run completes them."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vault_ask.index.files import IndexFiles
from vault_ask.index.writer import IndexWriter
from vault_building import faults

TESTS = Path(__file__).parents[1]
PROGRAM = Path(__file__).with_name("indexing_program.py")
KILLS = 5


def start(data: Path) -> "subprocess.Popen[str]":
    path = os.pathsep.join((str(TESTS), str(TESTS.parent / "daemon")))
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), str(data)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert process.stdout.readline() == "begins\n"
    return process


def run_to_the_end(data: Path) -> float:
    with start(data) as process:
        started = time.monotonic()
        assert process.stdout.readline() == "done\n"
        seconds = time.monotonic() - started
        assert process.wait(timeout=60) == 0
    return seconds


def content(data: Path) -> dict[str, Any]:
    """All that an index holds, without row numbers and times."""
    writer = IndexWriter(IndexFiles(data).current)
    assert faults(writer) == []
    assert writer.count_waiting() == 0
    db = writer._db
    queries = {
        "notes": "SELECT path, title, level, language, content_hash, frontmatter, aliases FROM notes ORDER BY path",
        "chunks": "SELECT n.path, c.ordinal, c.stable_id, c.state, c.level, c.prelude, c.body, c.line_start "
        "FROM chunks AS c JOIN notes AS n ON n.id = c.note ORDER BY n.path, c.ordinal",
        "words": "SELECT term, doc, cnt FROM chunk_terms ORDER BY term",
        "edges": "SELECT s.path, e.kind, e.target, e.line, d.path FROM edges AS e JOIN notes AS s ON s.id = e.src "
        "LEFT JOIN notes AS d ON d.id = e.dst ORDER BY s.path, e.line, e.kind, e.target",
        "names": "SELECT a.key, n.path, a.alias FROM names AS a JOIN notes AS n ON n.id = a.note ORDER BY 1, 2, 3",
        "tallies": "SELECT language, level, chunks FROM tallies ORDER BY language, level",
        "meta": "SELECT key, value FROM meta WHERE key <> 'changed_at' ORDER BY key",
    }
    found: dict[str, Any] = {name: db.execute(query).fetchall() for name, query in queries.items()}
    vectors = db.execute(
        "SELECT v.embedding FROM chunks_vec AS v JOIN chunks AS c ON c.id = v.id JOIN notes AS n ON n.id = c.note "
        "ORDER BY n.path, c.ordinal"
    ).fetchall()
    found["vectors"] = np.stack([np.frombuffer(blob, "<f4") for (blob,) in vectors])
    writer.close()
    return found


@pytest.mark.timeout(180)
def test_an_index_survives_being_killed_at_any_moment(tmp_path: Path) -> None:
    seconds = run_to_the_end(tmp_path / "clean")
    expected = content(tmp_path / "clean")
    dice = random.Random()  # noqa: S311 - any moment will do; a failure names its own
    data = tmp_path / "killed"
    moments = []
    for number in range(KILLS):
        process = start(data)
        # What one run stored the next need not do, so the moments move towards the beginning.
        moments.append(dice.uniform(0, seconds / (1 + number / 2)))
        try:
            process.wait(timeout=moments[-1])
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.communicate(timeout=10)
        if IndexFiles(data).current.exists():
            writer = IndexWriter(IndexFiles(data).current)
            assert faults(writer) == [], moments
            writer.abandon()
    run_to_the_end(data)
    found = content(data)
    vectors, clean = found.pop("vectors"), expected.pop("vectors")
    assert found == expected, moments
    assert vectors == pytest.approx(clean, abs=2e-3), moments
