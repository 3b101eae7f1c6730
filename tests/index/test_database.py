"""What a reader may touch: the third layer of the gate, SQL against the connections themselves."""

import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from fakes import HashEmbedder
from vault_ask.errors import IndexDamaged, IndexFailed
from vault_ask.index.database import Views, connect_reader, connect_statistics, connect_writer, fetch, translated
from vault_ask.index.migrations import SCHEMA
from vault_ask.scope import Sensitivity
from vault_building import OPEN, PRIVATE, Building

NOTES = {
    "Open.md": "# Harvest\nplain harvest text [[Diary]] #food\n",
    "Private/Diary.md": (
        "---\naliases: [Canaria]\ntags: [canarytag]\n---\n# Canaryhead\nCANARY harvest [[Open]]\n- [ ] canarytask\n"
    ),
}


@pytest.fixture(scope="module")
def building(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    building = Building(tmp_path_factory.mktemp("data"), HashEmbedder())
    building.put(NOTES)
    yield building
    building.close()


@pytest.fixture(scope="module")
def reader(building: Building) -> Iterator[tuple[apsw.Connection, Views]]:
    connection, views = connect_reader(building.files.current, Sensitivity.OPEN)
    yield connection, views
    connection.close()


@pytest.fixture(scope="module")
def statistics(building: Building) -> Iterator[apsw.Connection]:
    connection = connect_statistics(building.files.current)
    yield connection
    connection.close()


def test_an_index_of_an_older_vault_ask_is_told_as_such_and_read_once_it_was_opened_for_writing(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder())
    building.put(NOTES)
    building.close()
    older = apsw.Connection(str(building.files.current))
    older.execute("DROP INDEX chunks_waiting; CREATE INDEX chunks_waiting ON chunks (state) WHERE state = 0")
    older.pragma("user_version", SCHEMA - 1)
    older.close()
    with pytest.raises(IndexFailed, match="older vault-ask"):
        connect_reader(building.files.current, Sensitivity.OPEN)
    connect_writer(building.files.current).close()
    connection, views = connect_reader(building.files.current, Sensitivity.OPEN)
    assert fetch(connection, f"SELECT count(*) FROM {views.notes}") == [(1,)]  # noqa: S608 - a view of ours
    connection.close()


HARVEST = "WHERE query MATCH '\"harvest\"'"
REFUSED = r"prohibited|not authorized"
READS = [
    "SELECT body FROM chunks",
    "SELECT body FROM main.chunks WHERE level = 0",
    "SELECT count(*) FROM chunks",
    "SELECT count(*) FROM main.notes",
    "SELECT 1 FROM notes",
    "SELECT EXISTS (SELECT 1 FROM notes WHERE path LIKE 'Private%')",
    "SELECT rowid FROM notes",
    "SELECT max(id) FROM chunks",
    "SELECT title FROM notes",
    "SELECT path FROM notes ORDER BY path",
    "SELECT frontmatter FROM notes",
    "SELECT name, notes.path FROM meta AS m JOIN notes, sqlite_master",
    "SELECT vector FROM embeddings",
    "SELECT count(*) FROM embeddings",
    "SELECT target FROM edges",
    "SELECT key FROM names",
    "SELECT words FROM properties",
    "SELECT key FROM properties",
    "SELECT words FROM tasks",
    "SELECT count(*) FROM tasks",
    "SELECT place FROM notes",
    "SELECT value FROM main.properties AS p, json_each(json_array(p.words))",
    "WITH json_each AS (SELECT words FROM main.properties) SELECT words FROM json_each",
    "SELECT body FROM chunk_words",
    "SELECT count(*) FROM chunk_words",
    "SELECT term FROM chunk_terms",
    "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH 'harvest'",
    "SELECT body FROM chunks_fts WHERE chunks_fts MATCH 'harvest'",
    "SELECT count(*) FROM chunks_fts",
    "SELECT snippet(chunks_fts, 1, '', '', '', 9) FROM chunks_fts WHERE chunks_fts MATCH 'harvest'",
    "SELECT highlight(chunks_fts, 1, '', '') FROM chunks_fts WHERE chunks_fts MATCH 'harvest'",
    "SELECT bm25(chunks_fts) FROM chunks_fts WHERE chunks_fts MATCH 'harvest'",
    "SELECT id FROM chunks_vec WHERE embedding MATCH zeroblob(256) AND k = 5",
    "SELECT embedding FROM chunks_vec",
    "SELECT count(*) FROM chunks_vec",
    "SELECT vec_to_json(embedding) FROM chunks_vec",
    "WITH notes AS (SELECT path FROM main.notes) SELECT path FROM notes",
    "WITH meta AS (SELECT body FROM main.chunks) SELECT body FROM meta",
    "WITH chunks_vec_x AS (SELECT body FROM main.chunks) SELECT * FROM chunks_vec_x",
    "SELECT * FROM (SELECT body FROM main.chunks) AS statistics",
    "SELECT (SELECT group_concat(body) FROM main.chunks)",
    "SELECT value FROM meta UNION ALL SELECT body FROM chunks",
    "SELECT body FROM pragma_table_info('chunks'), chunks",
]
DEEDS = [
    "ATTACH ':memory:' AS other",
    "DETACH main",
    "CREATE TEMP VIEW mine AS SELECT * FROM main.chunks",
    "CREATE TEMP TABLE mine AS SELECT 1",
    "CREATE TABLE mine (x)",
    "CREATE VIRTUAL TABLE temp.mine USING fts5vocab ('main', 'chunks_fts', 'instance')",
    "PRAGMA query_only = OFF",
    "PRAGMA table_info(chunks)",
    "PRAGMA writable_schema = ON",
    "PRAGMA data_version = 1",
    "INSERT INTO meta VALUES ('a', 'b')",
    "UPDATE chunks SET level = 0",
    "UPDATE meta SET value = ''",
    "DELETE FROM notes",
    "DROP TABLE chunks",
    "INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild')",
    "ANALYZE",
    "REINDEX",
    "SAVEPOINT a",
    "SELECT load_extension('x')",
    "SELECT writefile('x', 'y')",
    "VACUUM INTO 'elsewhere'",
]


def select(what: str, view: str, rest: str = "") -> str:
    return f"SELECT {what} FROM {view} {rest}"  # noqa: S608 - the names are those of a connection's own views


def refused(connection: apsw.Connection, sql: str) -> bool:
    try:
        fetch(connection, sql)
    except (apsw.AuthError, apsw.SQLError, apsw.ReadOnlyError):
        return True
    return False


@pytest.mark.parametrize("sql", READS)
def test_a_reader_may_not_read_outside_its_views(reader: tuple[apsw.Connection, Views], sql: str) -> None:
    connection, _ = reader
    with pytest.raises(apsw.Error, match=REFUSED):
        fetch(connection, sql)


@pytest.mark.parametrize("sql", [sql for sql in (*READS, *DEEDS) if "load_extension" not in sql])
def test_the_owners_connection_could_do_all_that(
    building: Building, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    """What is refused above must be sound SQL, or its refusal would show nothing."""
    monkeypatch.chdir(tmp_path)
    copy = tmp_path / "copy.sqlite"
    building.writer.checkpoint()
    copy.write_bytes(building.files.current.read_bytes())
    connection, _ = connect_reader(copy, Sensitivity.OPEN)
    connection.authorizer = None
    connection.pragma("query_only", 0)
    complaint = ""
    try:
        fetch(connection, sql)
    except apsw.Error as error:
        complaint = str(error)
    finally:
        connection.close()
    assert complaint in {"", "cannot detach database main", "no such function: writefile"}


@pytest.mark.parametrize("sql", DEEDS)
def test_a_reader_may_do_nothing_but_read(reader: tuple[apsw.Connection, Views], sql: str) -> None:
    connection, _ = reader
    assert refused(connection, sql)
    assert fetch(connection, "SELECT value FROM meta WHERE key = 'model'") == [("hash",)]


@pytest.mark.parametrize("sql", [sql for sql in (*READS, *DEEDS) if "chunk_terms" not in sql and "bm25" not in sql])
def test_the_statistics_connection_reads_no_text(statistics: apsw.Connection, sql: str) -> None:
    assert refused(statistics, sql)
    assert fetch(statistics, "SELECT doc FROM chunk_terms WHERE term = 'harvest'") == [(2,)]


def test_the_views_of_a_ceiling_show_its_rows_and_no_others(building: Building) -> None:
    shown = {}
    for ceiling in Sensitivity:
        connection, views = connect_reader(building.files.current, ceiling)
        counts = {}
        for field in ("notes", "chunks", "embeddings", "edges", "names", "vectors", "tags", "properties", "tasks"):
            counts[field] = len(fetch(connection, select("*", getattr(views, field))))
        found = fetch(connection, select("count(*)", views.words, HARVEST))[0][0]
        shown[ceiling] = (*counts.values(), found)
        connection.close()
    assert shown[Sensitivity.OPEN] == (1, 1, 1, 2, 1, 1, 1, 0, 0, 1)
    assert shown[Sensitivity.PERSONAL] == (2, 2, 2, 4, 3, 2, 2, 2, 1, 2)


def test_the_edges_of_a_ceiling_do_not_even_number_a_hidden_note(reader: tuple[apsw.Connection, Views]) -> None:
    connection, views = reader
    rows = fetch(connection, select("src, dst, target", views.edges, "WHERE kind <> 'tag'"))
    (open_note,) = fetch(connection, select("id", views.notes))[0]
    assert rows == [(open_note, None, "Diary")]


def test_a_table_expression_cannot_borrow_the_name_of_a_view(reader: tuple[apsw.Connection, Views]) -> None:
    connection, views = reader
    other, others = connect_reader(Path(connection.filename), Sensitivity.OPEN)
    other.close()
    assert set(others.__slots__) == set(views.__slots__)
    assert not {others.notes, others.chunks} & {views.notes, views.chunks}
    with pytest.raises(apsw.Error, match=REFUSED):
        fetch(connection, f"WITH {others.chunks} AS ({select('body', 'main.chunks')}) {select('*', others.chunks)}")


def test_no_view_gives_the_text_of_the_word_index(reader: tuple[apsw.Connection, Views]) -> None:
    connection, views = reader
    rows = fetch(connection, select("*", views.words, HARVEST))
    assert len(rows) == 1
    assert "harvest" not in repr(rows)
    for function in ("snippet(query, 1, '', '', '', 9)", "highlight(query, 1, '', '')"):
        with pytest.raises(apsw.Error, match="not authorized to use function"):
            fetch(connection, select(function, views.words, HARVEST))


def test_a_view_opened_before_there_were_vectors_sees_them_later(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put(NOTES)
    embedder = HashEmbedder()
    question = embedder.embed_query("plain harvest text")
    with building.open(OPEN) as view:
        assert (view.vectors.space, view.vectors.dimension, view.vectors.nearest(question, 5)) == (None, None, [])
        assert view.vectors.centred(view.chunks.of("Open.md")) == {}
    building.writer.use_space(embedder.space, embedder.priors(), "off")
    building.embedder = embedder
    waiting = building.writer.waiting(10)
    building.writer.store_vectors(*building.embed({item.embed_hash: item.text for item in waiting}))
    with building.open(OPEN) as view:
        assert (view.vectors.space, view.vectors.dimension) == (embedder.space.fingerprint, 64)
        assert [chunk for chunk, _ in view.vectors.nearest(question, 5)] == view.chunks.of("Open.md")
    building.close()


def test_a_view_is_of_one_moment_while_a_writer_goes_on(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder())
    building.put(NOTES)
    with building.open(PRIVATE) as view:
        # Nothing is read yet, and the state is already fixed.
        building.put({"New.md": "harvest again", "Open.md": "reworded"}, gone=["Private/Diary.md"])
        building.writer.refresh_statistics(force=True)
        assert view.notes.paths() == sorted(NOTES)
        assert view.words.tallies().chunks == view.state.counts().chunks == 2
        assert len(view.words.matching('"harvest"', 9)) == view.words.document_frequency(["harvest"])["harvest"] == 2
        assert view.vectors.centring().covariance is None
        assert len(view.vectors.nearest(HashEmbedder().embed_query("harvest"), 9)) == 2
    with building.open(PRIVATE) as view:
        assert view.notes.paths() == ["New.md", "Open.md"]
        assert view.words.tallies().chunks == 2
        assert view.vectors.centring().covariance is not None
    building.close()


@pytest.mark.parametrize(
    ("error", "expected", "words"),
    [
        (apsw.CorruptError("x"), IndexDamaged, "set aside"),
        (apsw.NotADBError("x"), IndexDamaged, "set aside"),
        (apsw.FullError("x"), IndexFailed, "disk"),
        (apsw.BusyError("CANARY"), IndexFailed, "BusyError"),
    ],
)
def test_the_drivers_errors_become_sentences_of_ours(error: apsw.Error, expected: type[Exception], words: str) -> None:
    with pytest.raises(expected, match=words) as caught, translated():
        raise error
    assert "CANARY" not in str(caught.value)


def test_a_journal_that_was_cut_while_it_is_in_use_is_damage(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put({"A.md": "harvest"})
    journal = building.files.current.with_name(f"{building.files.current.name}-wal")
    os.truncate(journal, 0)
    with pytest.raises(IndexDamaged, match="set aside"), building.open(OPEN) as view:
        view.notes.paths()
    building.writer.abandon()


def test_damage_inside_a_text_is_told_without_the_text(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put({"A.md": "a canary that is long enough to be found in the file"})
    building.close()
    file = building.files.current
    file.write_bytes(file.read_bytes().replace(b"canary that", b"canar\xff that"))
    broken = Building(tmp_path)
    assert broken.writer.damage() is None
    with pytest.raises(IndexFailed, match="--rebuild") as caught, broken.open(OPEN) as view:
        view.text.passages(view.chunks.of("A.md"))
    assert "canar" not in str(caught.value)
    broken.close()
