from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import HashEmbedder, bag_of_words
from vault_ask.errors import EmbeddingSpaceChanged, IndexFailed
from vault_ask.index.drafts import Draft
from vault_ask.index.embedding import EmbeddingSpace, Priors
from vault_ask.index.writer import IndexWriter
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import Sensitivity
from vault_ask.settings.vault import ChunkSettings
from vault_building import OPEN, PRIVATE, Building, faults, made_by_hand, placed, tagged

SMALL = ChunkSettings(target_tokens=32, max_tokens=48, min_tokens=0, overlap_tokens=0)
LONG = "# One\napples pears\n\n# Two\nplums cherries\n\n# Three\nfigs dates\n"


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def building(tmp_path: Path, embedder: HashEmbedder) -> Iterator[Building]:
    building = Building(tmp_path, embedder, chunks=SMALL)
    yield building
    assert faults(building.writer) == []
    building.close()


def rows(building: Building, path: str) -> dict[str, int]:
    """The chunks of a note, by the first line of their text."""
    with building.open(PRIVATE) as view:
        passages = view.text.passages(view.chunks.of(path))
    return {passage.body.partition("\n")[0]: chunk for chunk, passage in passages.items()}


def raw_bytes(data: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(data.iterdir()))


def test_only_the_changed_passage_is_embedded_again(building: Building, embedder: HashEmbedder) -> None:
    building.put({"N.md": LONG})
    before = rows(building, "N.md")
    embedder.embedded.clear()
    building.put({"N.md": LONG.replace("plums", "quinces")})
    assert len(embedder.embedded) == 1
    assert "quinces" in embedder.embedded[0]
    assert rows(building, "N.md") == before


def test_a_passage_that_moves_keeps_its_row_and_vector(building: Building, embedder: HashEmbedder) -> None:
    building.put({"N.md": LONG})
    before = rows(building, "N.md")
    embedder.embedded.clear()
    building.put({"N.md": "# Zero\nnuts\n\n" + LONG})
    after = rows(building, "N.md")
    assert {name: after[name] for name in before} == before
    assert len(embedder.embedded) == 1
    with building.open(PRIVATE) as view:
        assert [view.text.passages([chunk])[chunk].body[:6] for chunk in view.chunks.of("N.md")] == [
            "# Zero",
            "# One\n",
            "# Two\n",
            "# Thre",
        ]


def test_fewer_passages_leave_nothing_behind(building: Building) -> None:
    building.put({"N.md": LONG})
    building.put({"N.md": "# Two\nplums cherries\n"})
    assert list(rows(building, "N.md")) == ["# Two"]
    with building.open(PRIVATE) as view:
        assert len(view.vectors.nearest(bag_of_words("apples pears", 64), 9)) == 1
        assert view.words.document_frequency(["appl", "plum"]) == {"appl": 0, "plum": 1}


def test_a_renamed_note_keeps_its_vectors(building: Building, embedder: HashEmbedder) -> None:
    building.put({"Old.md": LONG})
    with building.open(PRIVATE) as view:
        before = view.vectors.centred(view.chunks.of("Old.md"))
    embedder.embedded.clear()
    building.put({"Area/New.md": LONG}, gone=["Old.md"])
    assert embedder.embedded == []
    with building.open(PRIVATE) as view:
        after = view.vectors.centred(view.chunks.of("Area/New.md"))
        assert view.notes.paths() == ["Area/New.md"]
    assert np.allclose(list(before.values()), list(after.values()), atol=1e-3)


def test_a_rename_of_letters_case_keeps_the_vectors(building: Building, embedder: HashEmbedder) -> None:
    building.put({"geometry.md": "angles text quince"})
    embedder.embedded.clear()
    building.put({"Geometry.md": "angles text quince"}, gone=["geometry.md"])
    assert embedder.embedded == []
    with building.open(PRIVATE) as view:
        assert view.notes.paths() == ["Geometry.md"]
        assert len(view.vectors.nearest(bag_of_words("angles", 64), 9)) == 1


def test_a_rename_of_letters_case_with_an_edit_embeds_the_edit_alone(
    building: Building, embedder: HashEmbedder
) -> None:
    building.put({"math/sets.md": LONG})
    embedder.embedded.clear()
    building.put({"Math/Sets.md": LONG.replace("plums", "quinces")}, gone=["math/sets.md"])
    assert len(embedder.embedded) == 1


def test_another_note_with_the_same_passage_gets_a_vector_of_its_own(
    building: Building, embedder: HashEmbedder
) -> None:
    building.put({"A.md": "same words", "B.md": "same words and more"})
    embedder.embedded.clear()
    building.put({"B.md": "same words"})
    # The prelude names the note, so the embedded text differs; only a rename takes a vector over.
    assert building.writer.count_waiting() == 0
    assert len(rows(building, "A.md")) == len(rows(building, "B.md")) == 1


def test_a_vector_survives_any_number_of_edits_around_it(building: Building) -> None:
    building.put({"N.md": LONG})
    with building.open(PRIVATE) as view:
        before = dict(view.vectors.centred(view.chunks.of("N.md")))
    for number in range(60):
        building.put({"N.md": LONG.replace("figs", f"figs{number}")})
    with building.open(PRIVATE) as view:
        after = view.vectors.centred(view.chunks.of("N.md"))
    same = [chunk for chunk in before if np.dot(before[chunk], after[chunk]) > 0.99999]
    assert len(same) == 2


def test_without_an_embedder_passages_wait_and_are_found_by_words(tmp_path: Path, embedder: HashEmbedder) -> None:
    building = Building(tmp_path, chunks=SMALL)
    building.put({"Old.md": LONG})
    building.put({"New.md": "fresh"})
    assert (building.writer.count_waiting(), building.writer.count_waiting_notes()) == (4, 2)
    waiting = building.writer.waiting(10)
    assert waiting[0].text == "New\nfresh"
    building.writer.use_space(embedder.space, embedder.priors(), "off")
    building.embedder = embedder
    made, _ = building.embed({item.embed_hash: item.text for item in waiting[:2]})
    building.writer.store_vectors(made, frozenset({waiting[2].embed_hash}))
    assert building.writer.count_waiting() == 1
    assert faults(building.writer) == []
    with building.open(OPEN) as view:
        assert view.state.counts().waiting_notes == 1
        assert len(view.vectors.nearest(bag_of_words("x", 64), 9)) == 2
        assert len(view.words.matching('"fig"', 9)) == 1
    building.close()


def test_a_refused_text_waits_no_longer_and_is_asked_again_when_it_changes(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder(refuses=["poison"]))
    building.put({"A.md": "poison text", "B.md": "good text"})
    assert building.writer.count_waiting() == 0
    with building.open(OPEN) as view:
        assert len(view.vectors.nearest(bag_of_words("text", 64), 9)) == 1
        assert len(view.words.matching('"poison"', 9)) == 1
    building.put({"A.md": "healed text"})
    with building.open(OPEN) as view:
        assert len(view.vectors.nearest(bag_of_words("text", 64), 9)) == 2
    assert faults(building.writer) == []
    building.close()


def test_a_passage_that_is_no_text_any_more_loses_its_vector_and_its_words(building: Building) -> None:
    draft = made_by_hand("D.md", "N4KAkARALgngDgUw")
    building.store([draft])
    with building.open(OPEN) as view:
        assert len(view.vectors.centred(view.chunks.of("D.md"))) == 1
        assert len(view.words.matching('"n4kakaralgngdguw"', 9)) == 1
    building.store([replace(draft, chunks=tuple(replace(chunk, embeddable=False) for chunk in draft.chunks))])
    with building.open(OPEN) as view:
        assert view.chunks.of("D.md") == []
        assert list(view.text.passages([1])) == [1]
        assert view.vectors.centred([1]) == {}
        assert view.words.matching('"n4kakaralgngdguw"', 9) == []
        assert view.state.counts().waiting_notes == 0


def test_deleting_a_note_leaves_no_byte_of_it(tmp_path: Path, embedder: HashEmbedder) -> None:
    building = Building(tmp_path, embedder)
    others = {f"n{number}.md": f"other text {number} [[Zebrapath]]" for number in range(30)}
    building.put(others)
    building.put(
        {
            "Zebrafolder/Zebrapath.md": "---\ntitle: Zebratitle\naliases: [Zebraalias]\nowner: Zebravalue\n"
            "tags: [zebratag]\n---\n# Zebraheading\nzebrabody [[Zebralink|Zebrashown]] %% x %%\n"
            + " ".join(f"zebra{number}word" for number in range(3000))
        }
    )
    building.writer.checkpoint()
    present = [b"Zebrafolder", b"Zebratitle", b"Zebraalias", b"Zebravalue", b"ebratag", b"Zebraheading", b"zebrabody"]
    present += [b"Zebralink", b"Zebrashown", b"zebra1999word"]
    assert [word for word in present if word not in raw_bytes(tmp_path)] == []
    building.put({}, gone=["Zebrafolder/Zebrapath.md"])
    # At once: no close and no idle time is waited for.
    assert [word for word in present if word in raw_bytes(tmp_path)] == []
    building.writer.optimize()
    building.close()
    left = raw_bytes(tmp_path)
    assert [word for word in (*present, b"zebra1") if word in left] == []
    assert b"Zebrapath" in left  # in the links of the others


def test_a_reader_only_delays_that_the_journal_forgets(building: Building, tmp_path: Path) -> None:
    building.put({"A.md": "zebrabody", "B.md": "b"})
    with building.open(PRIVATE) as view:
        building.put({}, gone=["A.md"])
        assert view.notes.paths() == ["A.md", "B.md"]
    building.put({"C.md": "c"}, gone=["B.md"])
    assert b"zebrabody" not in raw_bytes(tmp_path)


def test_an_edit_leaves_no_byte_of_what_was_there(building: Building, tmp_path: Path) -> None:
    building.put({"A.md": "zebrabody and more"})
    building.put({"A.md": "short"})
    building.writer.checkpoint()
    assert b"zebra" not in raw_bytes(tmp_path)
    assert b"short" in raw_bytes(tmp_path)


def test_closing_a_note_hides_it_before_its_new_text_is_stored(building: Building) -> None:
    building.put({"N.md": "canary [[O]] #tag", "O.md": "canary"})
    building.writer.close_note("N.md")
    building.writer.close_note("Absent.md")
    with building.open(OPEN) as view:
        assert view.notes.paths() == ["O.md"]
        assert len(view.words.matching('"canari"', 9)) == len(view.vectors.nearest(bag_of_words("canary", 64), 9)) == 1
        assert view.links.edges_to("O.md") == tagged(view, "tag") == []


def test_reclassifying_moves_notes_both_ways_and_embeds_nothing(building: Building, embedder: HashEmbedder) -> None:
    building.put({"Diary/Jan.md": LONG, "N.md": "open"})
    embedder.embedded.clear()
    rules = Rules.compile(["Diary"], "sensitivity")
    for expected, level in ((["N.md"], Sensitivity.PERSONAL), (["Diary/Jan.md", "N.md"], Sensitivity.OPEN)):
        claims = {claim.path: claim for claim in building.writer.claims()}
        claim = claims["Diary/Jan.md"]
        if level is Sensitivity.PERSONAL:
            assert rules.classify(claim.path, claim.resolved_path, claim.frontmatter, claim.state) is level
        building.writer.reclassify({claim.id: level})
        assert faults(building.writer) == []
        with building.open(OPEN) as view:
            assert view.notes.paths() == expected
            assert len(view.vectors.nearest(bag_of_words("apples", 64), 99)) == (1 if level else 4)
    assert embedder.embedded == []


def test_a_claim_remembers_all_a_rule_needs(building: Building) -> None:
    building.put(
        {"A.md": "---\nSensitivity: personal\nn: [1, x]\nwhen: 2026-01-02\n---\nx", "B.md": "---\na: [\n---\nx"}
    )
    claims = {claim.path: claim for claim in building.writer.claims()}
    assert claims["A.md"].frontmatter["Sensitivity"] == "personal"
    assert (claims["A.md"].state, claims["B.md"].state) == ("read", "unreadable")
    assert claims["A.md"].sensitivity is claims["B.md"].sensitivity is Sensitivity.PERSONAL


def test_what_is_known_of_some_notes_or_of_many(building: Building) -> None:
    building.put({f"{number}.md": f"text {number}" for number in range(5)})
    everything = building.writer.known()
    assert sorted(everything) == [f"{number}.md" for number in range(5)]
    assert building.writer.known_of(["1.md", "absent.md"]) == {"1.md": everything["1.md"]}
    assert building.writer.known_of(["2.md", *(f"absent {number}" for number in range(40_000))]) == {
        "2.md": everything["2.md"]
    }
    assert building.writer.known_of([]) == {}
    building.writer.touch({"1.md": ("later", 2.0)})
    assert building.writer.known()["1.md"].revision == "later"


def test_another_embedding_space_is_refused_with_the_command_to_run(building: Building) -> None:
    other = EmbeddingSpace(model="bge-m3", dimension=1024)
    with pytest.raises(EmbeddingSpaceChanged) as caught:
        building.writer.use_space(other, Priors(), "off")
    message = str(caught.value)
    assert "hash" in message
    assert "bge-m3 (1024 dimensions)" in message
    assert "vault-ask index --rebuild" in message
    building.put({"A.md": "goes on as before"})


@pytest.mark.parametrize("changed", ["query_prefix", "passage_prefix"])
def test_another_prefix_is_another_space(building: Building, embedder: HashEmbedder, changed: str) -> None:
    other = EmbeddingSpace(model="hash", dimension=64, **{changed: "query: "})
    with pytest.raises(EmbeddingSpaceChanged):
        building.writer.use_space(other, Priors(), "off")
    building.writer.use_space(embedder.space, Priors(), "off")
    assert building.writer.meta("space") == embedder.space.fingerprint


def test_a_failure_in_the_middle_leaves_every_note_as_it_was(building: Building) -> None:
    building.put({"A.md": "before", "B.md": "before"})
    good, bad = building.draft("A.md", "after"), building.draft("B.md", "after")
    wrong_width = {digest: np.ones(7, np.float32) for digest in placed([bad], [np.ones(1, np.float32)])}
    with pytest.raises(IndexFailed):
        building.writer.replace([good, bad], {**placed([good], [bag_of_words("a", 64)]), **wrong_width}, gone=["A.md"])
    with building.open(OPEN) as view:
        assert [passage.body for passage in view.text.passages([1, 2]).values()] == ["before", "before"]


def test_a_full_disk_is_told_and_what_is_indexed_stays(building: Building) -> None:
    building.put({"A.md": "before"})
    pages = building.writer._db.pragma("page_count")
    building.writer._db.pragma("max_page_count", pages + 2)
    with pytest.raises(IndexFailed, match="Make room"):
        building.put({"A.md": "after " * 30_000})
    building.writer._db.pragma("max_page_count", 1_000_000)
    building.put({"B.md": "goes on"})
    with building.open(OPEN) as view:
        assert view.notes.paths() == ["A.md", "B.md"]
        assert len(view.words.matching('"befor"', 9)) == 1


def test_two_passages_of_the_same_words_are_two_rows(building: Building) -> None:
    building.put({"N.md": "# A\nsame\n\n# A\nsame\n"})
    building.put({"N.md": "# A\nsame\n\n# A\nsame\n\n# A\nsame\n"})
    with building.open(OPEN) as view:
        assert len(view.chunks.of("N.md")) == 3


LANGUAGES = st.sampled_from(["en", "sv", "und"])
EDIT = st.tuples(
    st.sampled_from(["a.md", "b.md", "c.md"]),
    st.lists(st.sampled_from(["alpha beta", "gamma", "delta", "épsilon zeta"]), min_size=1, max_size=6),
    LANGUAGES,
    st.booleans(),
    st.sampled_from(["words", "vectors", "delete", "reclassify"]),
)


@given(st.lists(EDIT, max_size=12))
@settings(max_examples=40, deadline=None)
def test_after_any_edits_every_part_holds_the_same(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, list[str], str, bool, str]]
) -> None:
    writer = IndexWriter(tmp_path_factory.mktemp("edits") / "index.sqlite")
    writer.use_space(HashEmbedder().space, Priors(), "off")
    expected: dict[str, Draft] = {}
    for path, bodies, language, personal, deed in edits:
        draft = made_by_hand(path, *bodies, language=language, personal=personal)
        if deed == "delete":
            writer.delete([path])
            expected.pop(path, None)
        elif deed == "reclassify":
            writer.reclassify({claim.id: Sensitivity(personal) for claim in writer.claims() if claim.path == path})
        else:
            vectors = [bag_of_words(body, 64) for body in bodies] if deed == "vectors" else []
            writer.replace([draft], placed([draft], vectors) if vectors else {})
            expected[path] = draft
    stored = writer._db.execute("SELECT n.path, c.body FROM chunks c JOIN notes n ON n.id = c.note ORDER BY 1, ordinal")
    assert stored.fetchall() == [
        (path, chunk.body) for path, draft in sorted(expected.items()) for chunk in draft.chunks
    ]
    assert faults(writer) == []
    writer.close()
