"""More personal candidates than k on every arm: the permitted ones all remain, and nothing else is told."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fakes import HashEmbedder, bag_of_words
from vault_ask.index.embedding import EmbeddingSpace, Priors, Vector
from vault_ask.index.statistics import unit
from vault_ask.index.view import VaultView
from vault_ask.retrieval.retriever import Arm
from vault_ask.scope import OpenScope, Sensitivity
from vault_building import OPEN, PRIVATE, Building, faults, made_by_hand, placed, tagged

WIDTH = 16
OPEN_CHUNKS, PERSONAL_CHUNKS = 40, 1_000
POINT = np.eye(WIDTH, dtype=np.float32)[0]


def at_distance(distance: float, direction: int) -> Vector:
    """A unit vector at a small Euclidean distance from the question's point."""
    return unit(POINT + distance * np.eye(WIDTH, dtype=np.float32)[direction % (WIDTH - 1) + 1])


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    """40 open chunks, and 1,000 personal ones that match better in every way: nearer, more words, links and tags."""
    building = Building(tmp_path_factory.mktemp("crowded"))
    building.writer.use_space(EmbeddingSpace(model="by hand", dimension=WIDTH), Priors(), "off")
    open_ = [made_by_hand(f"Open/o{number}.md", f"rent open {number}", "rent") for number in range(OPEN_CHUNKS // 2)]
    personal = [
        made_by_hand(f"Private/p{number}.md", *(f"rent canary {number} {at}" for at in range(10)), personal=True)
        for number in range(PERSONAL_CHUNKS // 10)
    ]
    near = [at_distance(0.0001 * number, number) for number in range(PERSONAL_CHUNKS)]
    far = [at_distance(0.5, number) for number in range(OPEN_CHUNKS)]
    building.writer.replace([*personal, *open_], {**placed(personal, near), **placed(open_, far)})
    yield building
    assert faults(building.writer) == []
    building.close()


def levels(view: VaultView[OpenScope], chunks: list[int]) -> set[Sensitivity]:
    return {passage.sensitivity for passage in view.text.passages(chunks).values()}


def test_personal_chunk_never_takes_a_slot_of_the_nearest(crowded: Building) -> None:
    with crowded.open(OPEN) as view:
        found = [chunk for chunk, _ in view.vectors.nearest(POINT, 40)]
        assert len(found) == len(set(found)) == 40
        assert levels(view, found) == {Sensitivity.OPEN}
        assert len(view.vectors.centred(found)) == 40
    with crowded.open(PRIVATE) as view:
        assert levels(view, [chunk for chunk, _ in view.vectors.nearest(POINT, 40)]) == {Sensitivity.PERSONAL}
        assert len(view.vectors.nearest(POINT, 2_000)) == OPEN_CHUNKS + PERSONAL_CHUNKS


def test_personal_chunk_never_takes_a_slot_of_the_matching(crowded: Building) -> None:
    with crowded.open(OPEN) as view:
        found = [chunk for chunk, _ in view.words.matching('"rent"', 40)]
        assert len(set(found)) == 40
        assert levels(view, found) == {Sensitivity.OPEN}
        assert view.words.matching('"canari"', 40) == []
    with crowded.open(PRIVATE) as view:
        assert len(view.words.matching('"rent"', 2_000)) == OPEN_CHUNKS + PERSONAL_CHUNKS


def test_a_personal_id_reads_nothing_even_where_it_is_known(crowded: Building) -> None:
    with crowded.open(PRIVATE) as view:
        chunks = view.chunks.of("Private/p7.md")
        assert len(view.text.passages(chunks)) == len(view.vectors.centred(chunks)) == 10
    with crowded.open(OPEN) as view:
        assert view.text.passages(chunks) == {}
        assert view.vectors.centred(chunks) == {}
        assert view.chunks.of("Private/p7.md") == view.chunks.of("Absent.md") == []
        assert len(view.text.passages([*chunks, *view.chunks.of("Open/o1.md")])) == 2


def test_lists_and_counts_know_open_notes_only(crowded: Building) -> None:
    with crowded.open(OPEN) as view:
        assert (
            len(view.notes.paths())
            == len(view.notes.known())
            == len(view.notes.resolved_paths())
            == view.state.counts().notes
            == 20
        )
        assert view.state.counts().chunks == OPEN_CHUNKS
        assert all(path.startswith("Open/") for path in (*view.notes.paths(), *view.notes.known()))
    with crowded.open(PRIVATE) as view:
        assert (view.state.counts().notes, view.state.counts().chunks) == (120, OPEN_CHUNKS + PERSONAL_CHUNKS)


def test_reclassifying_in_both_directions_holds_at_once(crowded: Building) -> None:
    claims = {claim.path: claim.id for claim in crowded.writer.claims()}
    opened = {claims[f"Private/p{number}.md"]: Sensitivity.OPEN for number in range(50)}
    closed = {claims[f"Open/o{number}.md"]: Sensitivity.PERSONAL for number in range(15)}
    crowded.writer.reclassify(opened | closed)
    with crowded.open(OPEN) as view:
        paths = {
            passage.path
            for passage in view.text.passages([chunk for chunk, _ in view.vectors.nearest(POINT, 999)]).values()
        }
        assert len(view.vectors.nearest(POINT, 999)) == len(view.words.matching('"rent"', 999)) == 50 * 10 + 5 * 2
        assert paths == set(view.notes.paths())
        assert len(view.words.matching('"canari"', 999)) == 500
    former = dict.fromkeys(opened, Sensitivity.PERSONAL) | dict.fromkeys(closed, Sensitivity.OPEN)
    crowded.writer.reclassify(former)
    with crowded.open(OPEN) as view:
        assert len(view.vectors.nearest(POINT, 999)) == len(view.words.matching('"rent"', 999)) == OPEN_CHUNKS
        assert view.words.matching('"canari"', 40) == []


PLACES = {
    "Open/Trip.md": "Packing list ![[Private/Passport]] [[Passport#Number|n]] [[Chain]] #trip\n",
    "Open/Chain.md": "![[Open/Trip]]\n",
    "Private/Passport.md": "---\naliases: [Canaryalias]\ntags: [trip/canary]\nsensitivity: [odd]\n---\n"
    "# Number\nCANARY [[Trip]] #trip\n",
    "Open/Alias.md": "[[Canaryalias]]\n",
    "Private/Odd.md": "---\na: [\n---\nCANARY\n",
}


@pytest.fixture
def linked(tmp_path: Path) -> Iterator[Building]:
    building = Building(tmp_path, HashEmbedder(dimension=256))
    building.put(PLACES)
    yield building
    building.close()


def test_an_edge_to_a_personal_note_shows_no_path(linked: Building) -> None:
    with linked.open(PRIVATE) as view:
        hidden = [edge.target_path for edge in view.links.edges_from("Open/Trip.md") if edge.kind != "tag"]
        assert hidden == ["Private/Passport.md", "Private/Passport.md", "Open/Chain.md"]
        assert [edge.target_path for edge in view.links.edges_from("Open/Alias.md")] == ["Private/Passport.md"]
    with linked.open(OPEN) as view:
        shown = [edge.target_path for edge in view.links.edges_from("Open/Trip.md") if edge.kind != "tag"]
        assert shown == [None, None, "Open/Chain.md"]
        assert [edge.target_path for edge in view.links.edges_from("Open/Alias.md")] == [None]


def test_edges_of_and_to_a_personal_note_do_not_exist(linked: Building) -> None:
    with linked.open(OPEN) as view:
        assert view.links.edges_from("Private/Passport.md") == view.links.edges_to("Private/Passport.md") == []
        assert [edge.source for edge in view.links.edges_to("Open/Trip.md")] == ["Open/Chain.md"]
    with linked.open(PRIVATE) as view:
        assert {edge.source for edge in view.links.edges_to("Open/Trip.md")} == {"Open/Chain.md", "Private/Passport.md"}
        assert {edge.source for edge in view.links.edges_to("Private/Passport.md")} == {"Open/Trip.md", "Open/Alias.md"}


def test_a_link_that_a_hidden_namesake_takes_leads_where_it_would_lead_without_that_note(tmp_path: Path) -> None:
    names = {
        "Open/Hub.md": "[[Plan]] and [[other plan]]\n",
        "Open/Deep/Plan.md": "---\naliases: [Other plan]\n---\nbarn\n",
    }
    hidden = {"Private/Plan.md": "CANARY\n", "Private/Other plan.md": "CANARY\n"}
    full, bare = (Building(tmp_path / name, HashEmbedder(dimension=32)) for name in ("full", "bare"))
    full.put(names | hidden)
    bare.put(names)
    with full.open(OPEN) as view, bare.open(OPEN) as other:
        assert [edge.target_path for edge in view.links.edges_from("Open/Hub.md")] == ["Open/Deep/Plan.md"] * 2
        assert view.links.edges_from("Open/Hub.md") == other.links.edges_from("Open/Hub.md")
        assert view.links.edges_to("Open/Deep/Plan.md") == other.links.edges_to("Open/Deep/Plan.md") != []
    with full.open(PRIVATE) as view:
        assert [edge.target_path for edge in view.links.edges_from("Open/Hub.md")] == list(hidden)
        assert view.links.edges_to("Open/Deep/Plan.md") == []
    full.close()
    bare.close()


def test_a_personal_note_is_found_by_no_spelling_of_its_path(linked: Building) -> None:
    spellings = ("Private/Passport.md", "private/passport", "/Private/PASSPORT.md", "Canaryalias")
    with linked.open(PRIVATE) as view:
        assert [view.notes.find(path) for path in spellings] == ["Private/Passport.md"] * 3 + [None]
    with linked.open(OPEN) as view:
        assert [view.notes.find(path) for path in spellings] == [None] * 4
        assert view.notes.find("open/trip") == "Open/Trip.md"


def test_a_search_inside_a_personal_note_finds_nothing(linked: Building) -> None:
    point, inside = bag_of_words("CANARY number", 256), ("Private/Passport.md", "Open/Chain.md")
    with linked.open(PRIVATE) as view:
        assert {
            chunk.path
            for chunk in view.text.passages([c for c, _ in view.vectors.nearest(point, 9, notes=inside)]).values()
        } == {*inside}
        assert view.words.matching('"und\x1fcanari"', 9, notes=inside) != []
        assert view.chunks.sections_of("Private/Passport.md") != []
    with linked.open(OPEN) as view:
        assert {
            chunk.path
            for chunk in view.text.passages([c for c, _ in view.vectors.nearest(point, 9, notes=inside)]).values()
        } == {"Open/Chain.md"}
        assert view.words.matching('"und\x1fcanari"', 9, notes=inside) == []
        assert view.chunks.sections_of("Private/Passport.md") == []


def test_tags_and_problems_of_personal_notes_do_not_exist(linked: Building) -> None:
    with linked.open(OPEN) as view:
        assert (tagged(view, "trip"), tagged(view, "trip/canary"), view.state.problems()) == (["Open/Trip.md"], [], [])
    with linked.open(PRIVATE) as view:
        assert tagged(view, "trip") == ["Open/Trip.md", "Private/Passport.md"]
        assert tagged(view, "trip/canary") == ["Private/Passport.md"]
        assert {problem.path for problem in view.state.problems()} == {"Private/Passport.md", "Private/Odd.md"}


def test_an_embed_brings_no_text_of_the_personal_note(linked: Building) -> None:
    with linked.open(OPEN) as view:
        retrieved = linked.retriever().retrieve(view, "what is on the packing list, and the CANARY number?", k=50)
        assert {hit.path for hit in retrieved.hits} == {"Open/Trip.md", "Open/Chain.md", "Open/Alias.md"}
        assert "CANARY" not in repr(retrieved)
    with linked.open(PRIVATE) as view:
        found = linked.retriever().retrieve(view, "CANARY number", k=50).hits
        assert found[0].path == "Private/Passport.md"
        assert not any("CANARY" in hit.body for hit in found if hit.path.startswith("Open/"))


def test_a_question_about_a_personal_note_finds_it_only_in_private(linked: Building) -> None:
    for scope, expected in ((OPEN, False), (PRIVATE, True)):
        with linked.open(scope) as view:
            retrieved = linked.retriever().retrieve(view, "number", note="Private/Passport.md")
            assert any(hit.path == "Private/Passport.md" for hit in retrieved.hits) is expected
            assert ("CANARY" in repr(retrieved.hits)) is expected


@pytest.fixture(scope="module", params=[200, 5_000])
def rented(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    """Case 13: many personal notes nearer to the question than the three open ones."""
    embedder = HashEmbedder(dimension=96)
    building = Building(tmp_path_factory.mktemp("rented"), embedder)
    drafts = [
        made_by_hand(
            f"Private/p{number:04}.md", f"rent rent talk number {number} with the landlord, rent", personal=True
        )
        for number in range(1, request.param + 1)
    ]
    drafts += [made_by_hand(f"Open/o{number}.md", f"rent index for the region {number}") for number in range(1, 4)]
    building.store(drafts)
    yield building
    building.close()


@pytest.mark.parametrize(
    ("question", "arm"),
    [
        ("what is happening with rent?", "hybrid"),
        ("what is happening with rent?", "vector"),
        ("rent", "text"),
        ("what is happening with rent?", "text"),
        ("unheard zebra giraffe rent?", "text"),
    ],
)
def test_three_open_notes_are_found_among_thousands_of_personal_ones(rented: Building, question: str, arm: Arm) -> None:
    with rented.open(OPEN) as view:
        found = rented.retriever().retrieve(view, question, k=10, arm=arm)
        assert {hit.path for hit in found.hits} == {"Open/o1.md", "Open/o2.md", "Open/o3.md"}
        assert found.notices == ()
    with rented.open(PRIVATE) as view:
        found = rented.retriever().retrieve(view, question, k=10, arm=arm)
        assert len(found.hits) == 10
        assert all(hit.path.startswith("Private/") for hit in found.hits)
