"""Cases 7, 8, 28 and 36 in one: an index that followed whatever an owner did is the one that a fresh run would make.

Notes are written, moved, copied and deleted at random, with links, aliases, tags, dates and rules among them that make
one note depend on others; now and then a sweep comes between, as after a restart.
"""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from ingest.bench import Bench
from vault_ask.index.writer import IndexWriter
from vault_building import faults

FOLDERS = ["", "x/", "X/", "Private/", "y/z/", "2026/"]
# No conflict copies: one that lost its personal original stays personal until the index is made anew.
NAMES = ["A", "a", "B", "Ä", "C d", "2026-03-09", "E.v1", "İz"]
PROPERTIES = [
    "aliases: [Kim, A]",
    "aliases: K. Berg",
    "sensitivity: personal",
    "sensitivity: open",
    "sensitivity: perhaps",
    "tags: [secret]",
    "tags: [work/x]",
    "date: 2026-03-09",
    "date: 03/04/2026",
    "date: 13/04/2026",
    "date: 04/13/2026",
    'up: "[[B]]"',
    "broken: [",
]
LINES = [
    "[[A]] and [[b|other]]",
    "[[Private/B]] ![[C d#H1]]",
    "[m](../A.md) [n](C%20d.md)",
    "[[Kim]] [[K. Berg]] [[#H1]]",
    "# H1",
    "## 2026-03-11",
    "#secret said",
    "#work and #t1",
    "- [ ] mend the roof",
    "- [x] paint the door",
    "hyran och huset och trädgården i skogen vid sjön",
    "the rent of the house by the lake in the wood",
]


def note(dice: random.Random) -> str:
    """Write a note of properties and lines that mean something to other notes; now and then nothing at all."""
    said = {line.partition(":")[0]: line for line in dice.sample(PROPERTIES, dice.choice([0, 0, 1, 2]))}.values()
    block = "\n".join(("---", *said, "---", "")) if said else ""
    return block + "".join(f"{dice.choice(LINES)}\n\n" for _ in range(dice.randint(0, 4)))


def live(bench: Bench, dice: random.Random) -> None:
    """Do one to four things to the vault, and let the index follow."""
    for _ in range(dice.randint(1, 4)):
        path = f"{dice.choice(FOLDERS)}{dice.choice(NAMES)}.md"
        there = sorted(bench.source._notes)
        match dice.choice(["put", "put", "edit", "move", "move", "copy", "remove"]):
            case "edit" if there:
                bench.source.put(dice.choice(there), note(dice))
            case "move" if there and path not in there:
                bench.source.move(dice.choice(there), path)
            case "copy" if there:
                bench.source.put(path, bench.source._notes[dice.choice(there)][0])
            case "remove" if there:
                bench.source.remove(dice.choice(there))
            case _:
                bench.source.put(path, note(dice))
    bench.follow()
    if dice.random() < 0.2:
        bench.sweep()


def rows(writer: IndexWriter, table: str, joins: str = "", **instead: str) -> list[str]:
    """Give the rows of a table, without what tells them apart by number or time; `instead` stands for a column."""
    passed_over = {"id", "mtime", "indexed_at", "revision", "bereft", "resolved"}
    columns = [row[1] for row in writer._db.execute(f"PRAGMA table_info({table})")]
    named = [instead.get(column, f"{table}.{column}") for column in columns if column not in passed_over]
    return sorted(map(repr, writer._db.execute(f"SELECT {', '.join(named)} FROM {table} {joins}")))  # noqa: S608


def contents(writer: IndexWriter) -> Mapping[str, list[str]]:
    """Give all that an index holds of a vault, notes by their paths."""
    of_note = "JOIN notes AS n ON n.id = note"
    ends = "JOIN notes AS s ON s.id = src LEFT JOIN notes AS d ON d.id = dst"
    return {
        "notes": rows(writer, "notes"),
        "chunks": rows(writer, "chunks", of_note, note="n.path"),
        "edges": rows(writer, "edges", ends, src="s.path", dst="d.path"),
        "names": rows(writer, "names", of_note, note="n.path"),
        "properties": rows(writer, "properties", of_note, note="n.path"),
        "tasks": rows(writer, "tasks", f"JOIN chunks AS c ON c.id = chunk {of_note}", chunk="n.path || c.ordinal"),
    }


@pytest.mark.parametrize("seed", range(12))
def test_an_index_that_followed_every_change_holds_what_a_fresh_one_holds(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - the same life in every run
    rules = {"personal": ("Private/**",), "personal_tags": ["secret"]}
    grown = Bench(tmp_path / "grown", {"A.md": note(dice), "x/B.md": note(dice)}, **rules)
    grown.index_all()
    for _ in range(20):
        live(grown, dice)
    grown.index_all()
    fresh = Bench(tmp_path / "fresh", source=grown.source, **rules)
    fresh.index_all()
    assert contents(grown.writer) == contents(fresh.writer)
    assert faults(grown.writer) == []
    grown.close()
    fresh.close()
