"""Case 36: one note edited, deleted and created again and again, with crashes between."""

import random
from pathlib import Path

import numpy as np
import pytest

from vault_ask.index.drafts import Draft
from vault_ask.index.embedding import EmbeddingSpace, Priors, Vector
from vault_ask.index.statistics import unit
from vault_ask.index.writer import IndexWriter
from vault_building import OPEN, Building, faults, made_by_hand, placed

WIDTH = 96
EDITS = 2_000
RECREATIONS = 50
DICE = random.Random(36)  # noqa: S311 - the same edits in every run
NUMBERS = np.random.default_rng(36)


def vectors_for(draft: Draft) -> list[Vector]:
    return list(unit(NUMBERS.normal(size=(len(draft.chunks), WIDTH)).astype(np.float32)))


def edited(number: int) -> Draft:
    """A version of the note: 1 to 9 passages, some of which were there before."""
    bodies = [f"passage {at} of version {number // DICE.randint(1, 4)}" for at in range(DICE.randint(1, 9))]
    return made_by_hand("Busy.md", *bodies)


def store(writer: IndexWriter, draft: Draft) -> None:
    missing = writer.without_vector([draft])
    every = placed([draft], vectors_for(draft))
    writer.replace([draft], {digest: every[digest] for digest in missing})


def test_two_thousand_edits_leave_one_note_and_a_small_file(tmp_path: Path) -> None:
    building = Building(tmp_path)
    writer = building.writer
    writer.use_space(EmbeddingSpace(model="by hand", dimension=WIDTH), Priors(), "off")
    size_at_first = 0
    for number in range(EDITS):
        draft = edited(number)
        store(writer, draft)
        if number == EDITS // 10:
            writer.checkpoint()
            size_at_first = writer.path.stat().st_size
    for number in range(RECREATIONS):
        writer.delete(["Busy.md"])
        draft = edited(EDITS + number)
        store(writer, draft)
    assert faults(writer) == []
    question = vectors_for(draft)[0]
    with building.open(OPEN) as view:
        live = view.chunks.of("Busy.md")
        assert [passage.body for passage in view.text.passages(live).values()] == [chunk.body for chunk in draft.chunks]
        assert sorted(chunk for chunk, _ in view.vectors.nearest(question, 1_000)) == sorted(live)
        assert sorted(chunk for chunk, _ in view.words.matching('"passag"', 1_000)) == sorted(live)
    building.close()
    # Ten times the edits need no more room: rows and places are used again.
    assert writer.path.stat().st_size <= size_at_first * 1.25
    assert sum(file.stat().st_size for file in tmp_path.glob("*-wal")) == 0


@pytest.mark.parametrize("step", ["DELETE FROM chunks_vec", "INSERT OR REPLACE INTO embeddings", "UPDATE chunks SET ("])
def test_a_crash_in_the_middle_of_a_note_leaves_the_version_before(tmp_path: Path, step: str) -> None:
    writer = IndexWriter(tmp_path / "index.sqlite")
    writer.use_space(EmbeddingSpace(model="by hand", dimension=WIDTH), Priors(), "off")
    before = made_by_hand("Busy.md", *(f"old {number}" for number in range(9)))
    writer.replace([before], placed([before], vectors_for(before)))
    after = made_by_hand("Busy.md", *(f"new {number}" for number in range(4)))

    def crash(_cursor: object, statement: str, _bindings: object) -> bool:
        if statement.startswith(step):
            raise KeyboardInterrupt
        return True

    writer._db.exec_trace = crash
    with pytest.raises(KeyboardInterrupt):
        writer.replace([after], placed([after], vectors_for(after)))
    writer._db.exec_trace = None
    bodies = [body for (body,) in writer._db.execute("SELECT body FROM chunks ORDER BY ordinal")]
    assert bodies == [chunk.body for chunk in before.chunks]
    assert faults(writer) == []
    writer.replace([after], placed([after], vectors_for(after)))
    assert faults(writer) == []
    writer.close()
