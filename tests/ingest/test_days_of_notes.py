"""What is indexed keeps the days it is of; what changes how dates are read has notes read again, and none embedded."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from ingest.bench import OPEN, PRIVATE, Bench
from vault_ask.index.database import connect_writer
from vault_ask.index.migrations import MIGRATIONS
from vault_ask.ingest import ingest as ingest_module
from vault_ask.notes.days import Dating
from vault_ask.scope import Scope

Make = Callable[..., Bench]
NOTES = {
    "Daily/2026-03-08.md": "Planted leeks.\n",
    "Log.md": "---\ncreated: 2026-03-01\n---\n# 2026\n\n## Tuesday 10 March\n\nFixed a pump.\n\n## Later\n\nSold it.\n",
    "Rent.md": "The rent is 9200.\n",
}


def days(work: Bench, path: str, scope: Scope = PRIVATE) -> list[str | None]:
    """The days of the passages of a note's text, as `first` or `first..last`."""
    with work.index.open(scope) as view:
        chunks = view.chunks.of_text(path)
        passages = view.text.passages(chunks)
    return [shown(passages[chunk].days) for chunk in chunks]


def shown(span: tuple[int, int] | None) -> str | None:
    if span is None:
        return None
    first, last = (date.fromordinal(day).isoformat() for day in span)
    return first if first == last else f"{first}..{last}"


def of_note(work: Bench, path: str) -> tuple[int | None, int | None]:
    rows = work.writer._db.execute("SELECT day_first, day_last FROM notes WHERE path = ?", (path,)).fetchall()
    return rows[0][0], rows[0][1]


def test_passages_and_notes_keep_their_days(bench: Make) -> None:
    work = bench(NOTES)
    work.index_all()
    assert days(work, "Daily/2026-03-08.md") == ["2026-03-08"]
    assert days(work, "Log.md") == ["2026-03-10", "2026-01-01..2026-12-31"]
    assert days(work, "Rent.md") == [None]
    eighth = date(2026, 3, 8).toordinal()
    assert of_note(work, "Daily/2026-03-08.md") == (eighth, eighth)
    assert of_note(work, "Rent.md") == (None, None)


def test_an_edit_gives_the_same_rows_other_days(bench: Make) -> None:
    work = bench(NOTES)
    work.index_all()
    work.source.put("Log.md", NOTES["Log.md"].replace("10 March", "11 March"))
    work.index_all()
    assert days(work, "Log.md") == ["2026-03-11", "2026-01-01..2026-12-31"]
    work.source.put("Rent.md", "---\ndate: 2026-03-09\n---\nThe rent is 9200.\n")
    work.index_all()
    assert days(work, "Rent.md") == ["2026-03-09"]
    ninth = date(2026, 3, 9).toordinal()
    assert of_note(work, "Rent.md") == (ninth, ninth)


def test_an_index_of_before_is_read_again_and_not_embedded_again(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before:
        before.setattr(ingest_module, "RECIPE", "4")
        work = bench(NOTES)
        work.index_all()
        work.writer._db.execute("UPDATE chunks SET day_first = NULL, day_last = NULL")
    work.forget_calls()
    work.restart()
    work.index_all()
    assert sorted(work.source.reads) == sorted(NOTES)
    assert work.embedder.embedded == []
    assert days(work, "Daily/2026-03-08.md") == ["2026-03-08"]


def test_a_file_without_the_columns_gets_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before:
        before.setattr("vault_ask.index.migrations.MIGRATIONS", MIGRATIONS[:5])
        connect_writer(tmp_path / "index.sqlite").close()
    now = connect_writer(tmp_path / "index.sqlite")
    for table in ("notes", "chunks"):
        columns = {row[1] for row in now.execute(f"PRAGMA table_info({table})")}
        assert columns >= {"day_first", "day_last", "level"}
    now.close()


def test_other_properties_have_every_note_read_again_and_none_embedded(bench: Make) -> None:
    work = bench({"Rent.md": "---\nbegan: 2026-03-09\n---\nThe rent is 9200.\n"})
    work.index_all()
    assert days(work, "Rent.md") == [None]
    work.forget_calls()
    work.restart()
    work.ingest._dating = Dating(properties=("began",))
    work.ingest._read_dates_by(None)
    work.index_all()
    assert days(work, "Rent.md") == ["2026-03-09"]
    assert work.embedder.embedded == []


UNCLEAR = {"03-08-2026.md": "Planted leeks.\n", "Rent.md": "---\ndate: 03/09/2026\n---\nThe rent is 9200.\n"}


def test_day_and_month_are_read_in_the_order_that_one_note_makes_clear(bench: Make) -> None:
    work = bench(UNCLEAR)
    work.index_all()
    assert (days(work, "03-08-2026.md"), days(work, "Rent.md")) == ([None], [None])
    work.forget_calls()
    work.source.put("25-07-2026.md", "Sold the boat.\n")
    work.index_all()
    assert (days(work, "03-08-2026.md"), days(work, "Rent.md")) == (["2026-08-03"], ["2026-09-03"])
    assert len(work.embedder.embedded) == 1, "only the new note"
    work.source.put("04-08-2026.md", "Watered them.\n")
    work.restart()
    work.index_all()
    assert days(work, "04-08-2026.md") == ["2026-08-04"], "the order is remembered"


def test_an_order_that_two_notes_contradict_is_none(bench: Make) -> None:
    work = bench({**UNCLEAR, "07-25-2026.md": "Sold the boat.\n"})
    work.index_all()
    assert days(work, "03-08-2026.md") == ["2026-03-08"]
    work.source.put("26-07-2026.md", "Bought it back.\n")
    work.index_all()
    assert days(work, "03-08-2026.md") == [None]
    assert days(work, "26-07-2026.md") == ["2026-07-26"]


def test_a_personal_note_makes_no_order_clear(bench: Make) -> None:
    work = bench({**UNCLEAR, "Own/25-07-2026.md": "Sold the boat.\n"}, personal=("Own/**",))
    work.index_all()
    for scope in (OPEN, PRIVATE):
        assert days(work, "03-08-2026.md", scope) == [None]
    assert days(work, "Own/25-07-2026.md") == ["2026-07-25"]
    work.restart()
    work.ingest.reclassify()
    work.index_all()
    assert days(work, "03-08-2026.md", OPEN) == ["2026-08-03"], "once it is open it does"


def test_a_note_that_becomes_personal_makes_no_order_clear_any_more(bench: Make) -> None:
    work = bench({**UNCLEAR, "25-07-2026.md": "Sold the boat.\n"})
    work.index_all()
    assert days(work, "03-08-2026.md", OPEN) == ["2026-08-03"]
    work.source.put("25-07-2026.md", "---\nsensitivity: personal\n---\nSold the boat.\n")
    work.index_all()
    assert days(work, "03-08-2026.md", OPEN) == [None]
    assert days(work, "25-07-2026.md") == ["2026-07-25"]
