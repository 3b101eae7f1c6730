"""Conflict copies in the index: as personal as the note they are copies of, whatever came first and whatever goes."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from fakes import HashEmbedder, bag_of_words
from vault_ask.index.drafts import OtherClaim, other_claims, stored_claims
from vault_ask.index.migrations import MIGRATIONS, migrate
from vault_ask.index.reading.notes import Known
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.ingest import reclassify
from vault_ask.notes.model import FrontmatterState
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import Sensitivity
from vault_building import OPEN, PRIVATE, Building, faults

NOTE, COPY = "Note.md", "Note (Ann's conflicted copy 2026-01-02).md"
TWICE = "Note (Ann's conflicted copy 2026-01-02) (conflict).md"
CLOSED = "---\nsensitivity: personal\n---\ncanary"
OPENED = "---\nsensitivity: open\n---\ncanary"
PLAIN = "canary"


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    building = Building(tmp_path, HashEmbedder())
    yield building
    assert faults(building.writer) == []
    building.close()


def seen(building: Building) -> list[str]:
    """The notes an open question can see, which every part of the index has to agree on."""
    with building.open(OPEN) as view:
        by_words = {
            passage.path for passage in view.text.passages([c for c, _ in view.words.matching('"canari"', 99)]).values()
        }
        near = [chunk for chunk, _ in view.vectors.nearest(bag_of_words("canary", 64), 99)]
        assert by_words == {passage.path for passage in view.text.passages(near).values()} == set(view.notes.paths())
        return view.notes.paths()


@pytest.mark.parametrize("order", [(NOTE, COPY), (COPY, NOTE)])
def test_a_copy_is_closed_by_its_original_whichever_came_first(building: Building, order: tuple[str, str]) -> None:
    texts = {NOTE: CLOSED, COPY: OPENED}
    for path in order:
        building.put({path: texts[path]})
    assert seen(building) == []
    with building.open(PRIVATE) as view:
        assert view.notes.paths() == sorted(texts)


def test_a_copy_closes_neither_its_original_nor_another_copy(building: Building) -> None:
    other = "Note.sync-conflict-20260102-030405-ABCDEFG.md"
    building.put({NOTE: PLAIN, COPY: CLOSED, other: PLAIN, "Other.md": PLAIN})
    assert seen(building) == sorted([NOTE, other, "Other.md"])


def test_a_copy_follows_its_original_both_ways_and_through_every_way_of_closing(building: Building) -> None:
    building.put({NOTE: PLAIN, COPY: PLAIN, "Note 2.md": PLAIN})
    everything = sorted([NOTE, COPY, "Note 2.md"])
    assert seen(building) == everything
    building.put({NOTE: CLOSED})
    assert seen(building) == ["Note 2.md"]
    building.put({NOTE: PLAIN})
    assert seen(building) == everything
    note = next(claim.id for claim in building.writer.claims() if claim.path == NOTE)
    assert building.writer.reclassify({note: Sensitivity.PERSONAL}) == 2
    assert seen(building) == ["Note 2.md"]
    assert building.writer.reclassify({note: Sensitivity.OPEN}) == 2
    assert seen(building) == everything
    building.writer.close_note(NOTE)
    assert seen(building) == ["Note 2.md"]
    building.put({NOTE: PLAIN})
    assert seen(building) == everything


def test_a_copy_of_a_copy_is_closed_by_either(building: Building) -> None:
    building.put({NOTE: PLAIN, COPY: CLOSED, TWICE: PLAIN})
    assert seen(building) == [NOTE]
    building.put({NOTE: CLOSED, COPY: PLAIN})
    assert seen(building) == []
    building.put({NOTE: PLAIN})
    assert seen(building) == sorted([NOTE, COPY, TWICE])


def test_a_closed_copy_stays_closed_when_its_original_goes_and_comes_back_open(building: Building) -> None:
    building.put({NOTE: CLOSED, COPY: PLAIN, TWICE: PLAIN, "Other.md": PLAIN})
    building.writer.delete([NOTE])
    assert seen(building) == ["Other.md"]
    building.put({COPY: "canary, edited", NOTE: PLAIN})
    assert seen(building) == [NOTE, "Other.md"]
    reclassify(building.writer, Rules.compile((), "sensitivity"))
    assert seen(building) == [NOTE, "Other.md"]
    building.writer.delete([COPY])
    assert seen(building) == [NOTE, "Other.md"]
    building.writer.delete([TWICE])
    building.put({TWICE: PLAIN})
    assert seen(building) == sorted([NOTE, TWICE, "Other.md"])


def test_what_a_copy_was_closed_for_outlives_every_one_of_its_originals(building: Building) -> None:
    building.put({NOTE: CLOSED, COPY: PLAIN, "Other.md": PLAIN})
    building.writer.delete([NOTE])
    building.put({TWICE: PLAIN})
    building.writer.delete([COPY])
    building.put({TWICE: "canary, edited"})
    assert seen(building) == ["Other.md"]
    assert TWICE in building.writer.known()


def test_a_personal_copy_that_goes_leaves_the_others_as_they_were(building: Building) -> None:
    other = "Note.sync-conflict-20260102-030405-ABCDEFG.md"
    building.put({NOTE: PLAIN, COPY: CLOSED, other: PLAIN})
    building.writer.delete([COPY])
    building.put({other: PLAIN})
    assert seen(building) == sorted([NOTE, other])


def test_a_sweep_that_finds_the_original_gone_keeps_the_copy_closed(building: Building) -> None:
    building.put({NOTE: CLOSED, COPY: PLAIN})
    building.writer.conclude([NOTE], memory={}, troubles=[], meta={})
    assert list(building.writer.known()) == [COPY]
    assert seen(building) == []


def test_an_open_original_that_goes_takes_nothing_with_it(building: Building) -> None:
    building.put({NOTE: PLAIN, COPY: PLAIN})
    building.writer.hide([NOTE])
    assert seen(building) == [COPY]
    building.writer.delete([NOTE])
    assert seen(building) == [COPY]
    reclassify(building.writer, Rules.compile((), "sensitivity"))
    assert seen(building) == [COPY]


def test_a_copy_goes_with_a_renamed_original_and_stays_closed_without(building: Building) -> None:
    building.put({NOTE: CLOSED, COPY: PLAIN})
    building.put({f"Moved/{NOTE}": CLOSED, f"Moved/{COPY}": PLAIN}, gone=[NOTE, COPY])
    assert seen(building) == []
    building.put({"Moved/Renamed.md": PLAIN}, gone=[f"Moved/{NOTE}"])
    assert seen(building) == ["Moved/Renamed.md"]


def test_a_case_only_rename_of_the_original_is_no_departure(building: Building) -> None:
    building.put({NOTE: CLOSED, COPY: PLAIN})
    building.put({"note.md": CLOSED}, gone=[NOTE])
    assert seen(building) == []
    building.put({"note.md": PLAIN})
    assert seen(building) == sorted(["note.md", COPY])


def test_a_hidden_note_stays_hidden_whatever_happens_to_its_copies(building: Building) -> None:
    building.put({NOTE: PLAIN, COPY: PLAIN})
    building.writer.hide([NOTE])
    building.put({COPY: "canary, edited"})
    assert seen(building) == [COPY]
    building.put({NOTE: PLAIN})
    assert seen(building) == sorted([NOTE, COPY])


def test_nothing_is_embedded_when_copies_are_closed_and_opened(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    building = Building(tmp_path, embedder)
    building.put({NOTE: PLAIN, COPY: PLAIN})
    embedder.embedded.clear()
    building.writer.close_note(NOTE)
    assert seen(building) == []
    building.put({NOTE: PLAIN})
    assert seen(building) == sorted([NOTE, COPY])
    assert embedder.embedded == []
    building.close()


# An index from before


def test_copies_in_an_index_from_before_are_closed_at_the_first_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("vault_ask.index.migrations.MIGRATIONS", MIGRATIONS[:2])
        old = apsw.Connection(str(tmp_path / "old.sqlite"))
        old.register_fts5_tokenizer("vaultask", lambda *_: lambda *_: ())
        migrate(old)
        for number, (path, level) in enumerate(((NOTE, 1), (COPY, 0), ("Tagged.md", 0), ("Lost.md", 0)), start=1):
            others = f'[["{path}", {{}}, "none"]]' if path == "Lost.md" else "[]"
            claim = '{"sensitivity": "personal"}' if level else "{}"
            old.execute(
                "INSERT INTO notes (id, path, resolved_path, title, level, language, content_hash, revision, mtime, "
                "size, frontmatter, frontmatter_state, aliases, problems, indexed_at, others) "
                "VALUES (?1, ?2, ?2, 'a', ?3, 'en', x'00', '1', 1, 1, ?4, 'read', '[]', '[]', '2024-01-01', ?5)",
                (number, path, level, claim, others),
            )
        old.execute("INSERT INTO edges (src, kind, target, key, line) VALUES (3, 'tag', 'secret', 'secret', 0)")
        # The fingerprint that these rules had before there were tags, a default and copies.
        old.execute("INSERT INTO meta VALUES ('rules', '1d4b6e9f00c0ffee')")
        old.close(force=True)
    writer = IndexWriter(tmp_path / "old.sqlite")
    assert open_paths(writer) == ["Lost.md", COPY, "Tagged.md"]
    assert {claim.path: int(claim.sensitivity) for claim in writer.claims()} == {
        NOTE: 1, COPY: 0, "Tagged.md": 0, "Lost.md": 0
    }  # fmt: skip
    assert reclassify(writer, Rules.compile((), "sensitivity")) == 1
    assert open_paths(writer) == ["Lost.md", "Tagged.md"]
    # What an old version that lost a conflict says of tags was not kept.
    assert reclassify(writer, Rules.compile((), "sensitivity", personal_tags=["secret"])) == 2
    assert open_paths(writer) == []
    writer.close()


def test_rules_that_name_no_tag_and_no_default_have_another_fingerprint_than_before() -> None:
    # sha256 of format 1, the key and the folder, as it was written by the version before.
    assert Rules.compile(["Personal/**"], "sensitivity").fingerprint != "db71b8bf986bbe18"


def test_claims_of_losing_versions_are_read_with_their_tags_or_without_any_knowledge_of_them() -> None:
    kept = OtherClaim(path="a.md", frontmatter={"x": [1]}, state=FrontmatterState.READ, tags=("t",))
    bare = OtherClaim(path="b.md", frontmatter={}, state=FrontmatterState.NONE, tags=())
    unknown = OtherClaim(path="c.md", frontmatter={}, state=FrontmatterState.UNREADABLE)
    assert other_claims(stored_claims([kept, bare, unknown])) == (kept, bare, unknown)
    assert other_claims('[["c.md", {}, "unreadable"]]') == (unknown,)


def open_paths(writer: IndexWriter) -> list[str]:
    known: dict[str, Known] = writer.known()
    return sorted(path for path, one in known.items() if one.sensitivity is Sensitivity.OPEN)
