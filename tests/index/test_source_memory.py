"""What the index keeps for a source: its memory, its troubles, and what the losing versions of a note say of it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from fakes import HashEmbedder
from vault_ask.errors import IndexFailed
from vault_ask.index.database import connect_reader, connect_statistics, fetch
from vault_ask.index.drafts import OtherClaim
from vault_ask.index.migrations import MIGRATIONS
from vault_ask.index.writer import IndexWriter
from vault_ask.index.writing import kept
from vault_ask.ingest.ingest import reclassify
from vault_ask.notes.model import FrontmatterState
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import Sensitivity
from vault_building import OPEN, PRIVATE, Building

TROUBLES = [("Secret.md", "incomplete", "the database lacks 1 piece"), ("a.md", "conflict", "devices disagree")]
PLAIN = {"tags": ["x"], "sensitivity": None}


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    building = Building(tmp_path, HashEmbedder())
    yield building
    building.close()


def claim(path: str, state: FrontmatterState = FrontmatterState.READ, **frontmatter: object) -> OtherClaim:
    return OtherClaim(path=path, frontmatter=frontmatter, state=state)


def conclude(writer: IndexWriter, *gone: str, **memory: str) -> None:
    writer.conclude(gone, memory=memory, troubles=TROUBLES, meta={"vault_name": "Mine"})


# Memory


def test_memory_is_kept_replaced_and_forgotten_by_name(building: Building) -> None:
    writer = building.writer
    assert writer.memory() == {}
    writer.remember({"a": "1", "b": "2", "ö:ü": "ß\n{}"})
    writer.remember({"a": "3", "b": None, "never": None})
    assert writer.memory() == {"a": "3", "ö:ü": "ß\n{}"}


def test_memory_survives_closing(tmp_path: Path) -> None:
    for expected in ({}, {"a": "1"}):
        building = Building(tmp_path, HashEmbedder())
        assert building.writer.memory() == expected
        building.writer.remember({"a": "1"})
        building.close()


def test_memory_is_stored_with_the_notes_it_covers_or_neither_is(
    building: Building, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = building.draft("a.md", "fig\n")
    with monkeypatch.context() as patched:
        patched.setattr(kept, "remember", _fail)
        with pytest.raises(IndexFailed):
            building.writer.replace([draft], {}, remember={"checkpoint": "1"})
    assert building.writer.known() == {}
    building.writer.replace([draft], {}, remember={"checkpoint": "1"})
    with monkeypatch.context() as patched:
        patched.setattr(building.writer._notes, "_forget", _fail)
        with pytest.raises(IndexFailed):
            building.writer.replace([], {}, gone=["a.md"], remember={"checkpoint": "2"})
    assert (list(building.writer.known()), building.writer.memory()) == (["a.md"], {"checkpoint": "1"})


def test_end_of_a_sweep_replaces_the_memory_and_forgets_what_is_gone_in_one_step(
    building: Building, monkeypatch: pytest.MonkeyPatch
) -> None:
    building.put({"a.md": "fig\n", "b.md": "date\n"})
    building.writer.remember({"doc:a": "1", "doc:b": "1"})
    with monkeypatch.context() as patched:
        patched.setattr(kept, "keep_troubles", _fail)
        with pytest.raises(IndexFailed):
            conclude(building.writer, "b.md", **{"doc:a": "2", "checkpoint": "9"})
    assert sorted(building.writer.known()) == ["a.md", "b.md"]
    assert building.writer.memory() == {"doc:a": "1", "doc:b": "1"}
    conclude(building.writer, "b.md", **{"doc:a": "2", "checkpoint": "9"})
    assert list(building.writer.known()) == ["a.md"]
    assert building.writer.memory() == {"doc:a": "2", "checkpoint": "9"}
    assert building.writer.meta("vault_name") == "Mine"
    with building.open(PRIVATE) as view:
        assert view.state.vault_name == "Mine"
        assert len(view.state.troubles()) == 2


# Troubles


def test_troubles_are_the_owners_alone(building: Building) -> None:
    building.put({"a.md": "fig\n"})
    building.writer.keep_troubles(TROUBLES)
    with building.open(PRIVATE) as view:
        assert [(one.path, one.code, one.reason) for one in view.state.troubles()] == TROUBLES
    with building.open(OPEN) as view:
        assert view.state.troubles() == []
        assert view.notes.paths() == ["a.md"]
    building.writer.keep_troubles(TROUBLES[1:])
    with building.open(PRIVATE) as view:
        assert [one.path for one in view.state.troubles()] == ["a.md"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT path FROM troubles",
        "SELECT count(*) FROM main.troubles",
        "SELECT reason FROM troubles WHERE code = 'conflict'",
        "SELECT value FROM meta UNION ALL SELECT path FROM troubles",
        "SELECT value FROM source_memory",
        "SELECT key FROM main.source_memory WHERE key LIKE 'doc:%'",
        "SELECT others FROM notes",
    ],
)
def test_neither_troubles_nor_memory_can_be_read_past_the_views(building: Building, sql: str) -> None:
    building.put({"a.md": "fig\n"})
    conclude(building.writer, **{"doc:a": "1"})
    path = building.files.current
    reader, views = connect_reader(path, Sensitivity.OPEN)
    statistics = connect_statistics(path)
    for connection in (reader, statistics):
        with pytest.raises(apsw.Error, match=r"prohibited|not authorized"):
            fetch(connection, sql)
        connection.close()
    owner, views = connect_reader(path, Sensitivity.PERSONAL)
    assert len(fetch(owner, f"SELECT * FROM {views.troubles}")) == 2  # noqa: S608 - the connection's own view
    owner.authorizer = None
    assert fetch(owner, sql)
    owner.close()


# What losing versions say


def test_claims_of_losing_versions_are_kept_with_the_note(building: Building) -> None:
    others = (claim("A.md", tags=["x"], nested={"ö": None}), claim("b.md", FrontmatterState.UNREADABLE))
    building.store([replace(building.draft("a.md", "fig\n"), others=others), building.draft("b.md", "date\n")])
    assert {one.path: one.others for one in building.writer.claims()} == {"a.md": others, "b.md": ()}
    building.put({"a.md": "fig\n"})
    assert {one.path: one.others for one in building.writer.claims()} == {"a.md": (), "b.md": ()}


@pytest.mark.parametrize(
    ("other", "personal"),
    [
        (claim("Other.md"), False),
        (claim("Other.md", sensitivity="personal"), True),
        (claim("Diary/Other.md"), True),
        (claim("Other.md", FrontmatterState.UNREADABLE), True),
    ],
)
def test_new_rules_are_applied_to_losing_versions_too(building: Building, other: OtherClaim, *, personal: bool) -> None:
    building.store([replace(building.draft("a.md", "fig\n"), others=(other,))])
    reclassify(building.writer, Rules.compile(["Diary/**"], "sensitivity"))
    assert (building.writer.known()["a.md"].sensitivity is Sensitivity.PERSONAL) is personal
    with building.open(OPEN) as view:
        assert view.notes.paths() == ([] if personal else ["a.md"])


# An index from before


def test_index_from_before_gets_what_it_lacks_and_keeps_its_notes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("vault_ask.index.migrations.MIGRATIONS", MIGRATIONS[:1])
        old = apsw.Connection(str(tmp_path / "old.sqlite"))
        from vault_ask.index.migrations import migrate  # noqa: PLC0415 - as it is while patched

        old.register_fts5_tokenizer("vaultask", lambda *_: lambda *_: ())
        migrate(old)
        old.execute(
            "INSERT INTO notes (path, resolved_path, title, level, language, content_hash, revision, mtime, size, "
            "frontmatter, frontmatter_state, aliases, problems, indexed_at) "
            "VALUES ('a.md', 'a.md', 'a', 0, 'en', x'00', '1', 1, 1, '{}', 'none', '[]', '[]', '2024-01-01')"
        )
        assert not _tables(old) & {"source_memory", "troubles"}
        old.close(force=True)
    writer = IndexWriter(tmp_path / "old.sqlite")
    assert [(one.path, one.others) for one in writer.claims()] == [("a.md", ())]
    assert writer.memory() == {}
    conclude(writer, checkpoint="1")
    assert writer.memory() == {"checkpoint": "1"}
    assert writer._db.pragma("user_version") == len(MIGRATIONS)
    assert _tables(writer._db) >= {"source_memory", "troubles"}
    writer.close()


def _tables(connection: apsw.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _fail(*_arguments: object) -> None:
    raise IndexFailed("The disk is full.")
