"""A question about a note: the note first, its neighbours next, then the vault; long notes are searched inside."""

import time
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fakes import HashEmbedder
from vault_ask.answering.coverage import is_silent
from vault_ask.errors import ModelUnreachable
from vault_ask.index.embedding import EmbeddingSpace, Priors, Refused, Vector
from vault_ask.index.statistics import unit
from vault_ask.retrieval.about import MOST_NEIGHBOURS, MOST_OUTLINED, evenly, neighbours
from vault_ask.retrieval.candidates import Candidate
from vault_ask.retrieval.fusion import Evidence
from vault_ask.retrieval.hits import Hit, Retrieved
from vault_ask.retrieval.nearness import AT_HAND
from vault_building import OPEN, PRIVATE, Building, made_by_hand, placed

RENT = "rent of house"
"""Words that no neighbour of the boat holds."""
AWAY = ModelUnreachable("Nobody listens.")


def filler(word: str, words: int = 90) -> str:
    return " ".join(f"{word}{n}" for n in range(words))


CROWD = {f"Crowd/{n}.md": f"the rent of house {n} {filler(f'c{n}x', 20)}\n" for n in range(90)}
"""Enough notes on the rent that no neighbour of a boat is found among the best of the vault."""
NOTES = CROWD | {
    "Boat.md": "The boat needs a sail, see [[Harbour]] and [[Sailmaker|Ada]] and [[Nowhere]]. #boat\n",
    "Harbour.md": f"# Harbour\n\nThe berth is paid until May {filler('h', 30)}\n\n# Rules\n\nNo fires {filler('r')}\n",
    "Sailmaker.md": f"Ada cuts sails {filler('s', 30)}\n",
    "Log.md": f"On Sunday we took the [[boat]] out {filler('l', 30)}\n",
    "Private/Debt.md": f"Nobody knows what the [[Boat]] has cost {filler('d', 30)}\n",
}


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    building = Building(tmp_path_factory.mktemp("harbour"), HashEmbedder(dimension=384))
    building.put(NOTES)
    yield building
    building.close()


def ask(
    building: Building, question: str, note: str | None = "Boat.md", scope: object = PRIVATE, **how: object
) -> Retrieved:
    settings = how.pop("settings", {})
    with building.open(scope) as view:
        return building.retriever(**settings).retrieve(view, question, note=note, **how)


def expanded(found: Retrieved) -> dict[str, str | None]:
    return {hit.path: hit.via for hit in found.hits if hit.provenance == "expanded"}


def paths(found: Retrieved) -> list[str]:
    return [hit.path for hit in found.hits]


class TestNeighbours:
    def test_they_come_after_the_note_and_before_the_rest_and_say_which_note_led_to_them(
        self, harbour: Building
    ) -> None:
        found = ask(harbour, RENT)
        assert paths(found)[0] == "Boat.md"
        near, rest = found.hits[1:3], found.hits[3:]
        assert {hit.path for hit in near} <= {"Harbour.md", "Sailmaker.md", "Log.md", "Private/Debt.md"}
        assert {(hit.provenance, hit.via) for hit in near} == {("expanded", "Boat.md")}
        assert len(rest) == 5
        assert all(hit.path.startswith("Crowd/") and hit.via is None for hit in rest)
        assert [hit.in_question for hit in found.hits] == [True] + [False] * 7

    def test_without_a_note_in_question_there_are_none(self, harbour: Building) -> None:
        found = ask(harbour, RENT, None)
        assert expanded(found) == {}
        assert not any(hit.in_question for hit in found.hits)
        assert len(found.hits) == 8

    def test_one_that_the_question_finds_by_itself_says_how_and_names_no_note(self, harbour: Building) -> None:
        found = ask(harbour, "who cuts sails?")
        by_path = {hit.path: hit for hit in found.hits}
        assert by_path["Sailmaker.md"].provenance in {"vector", "text", "both"}
        assert by_path["Sailmaker.md"].via is None
        assert paths(found)[:2] == ["Boat.md", "Sailmaker.md"]

    def test_they_take_a_quarter_of_the_places_at_most(self, harbour: Building) -> None:
        for k, most in ((1, 0), (4, 1), (8, 2), (12, 3), (40, 10)):
            found = ask(harbour, RENT, k=k)
            assert [hit.provenance for hit in found.hits].count("expanded") <= most
            assert len(found.hits) == k
        assert [hit.provenance for hit in ask(harbour, RENT, k=16).hits].count("expanded") == 4

    def test_what_only_a_link_led_to_is_not_among_the_rest(self, harbour: Building) -> None:
        found = ask(harbour, RENT, k=16, settings={"vector_k": 5, "text_k": 5})
        assert [hit.provenance for hit in found.hits].count("expanded") == 4
        assert len(found.hits) == 16

    def test_a_name_without_text_is_no_neighbour(self, tmp_path: Path) -> None:
        building = Building(tmp_path, HashEmbedder(dimension=384))
        building.put({"Hub.md": "[[Sail]] [[Rope]]\n", "Sail.md": "", "Rope.md": "made of hemp\n"})
        assert paths(ask(building, "sail", "Hub.md", k=4))[:2] == ["Hub.md", "Rope.md"]
        building.close()

    def test_a_long_neighbour_has_no_more_places_than_any_note(self, tmp_path: Path) -> None:
        building = Building(tmp_path, HashEmbedder(dimension=384))
        building.put(
            {"Hub.md": "see [[Long]]\n", "Long.md": "\n".join(f"# P{n}\n\nrent {filler(f'w{n}x')}\n" for n in range(9))}
        )
        assert paths(ask(building, "rent", "Hub.md", k=40)).count("Long.md") == 2
        building.close()

    def test_only_so_many_of_a_hub_are_looked_at_and_both_ways_have_their_turn(self, tmp_path: Path) -> None:
        building = Building(tmp_path)
        out, back = ([f"{name}{n}.md" for n in range(60)] for name in ("Out", "Back"))
        building.put(dict.fromkeys(out, "x\n") | dict.fromkeys(back, "[[Hub]]\n"))
        building.put({"Hub.md": " ".join(f"[[{path}]]" for path in ("Hub", *out))})
        with building.open(PRIVATE) as view:
            found = list(neighbours(view, "Hub.md"))
        assert len(found) == MOST_NEIGHBOURS
        assert len(set(found) & set(out)) == len(set(found) & set(back)) == MOST_NEIGHBOURS // 2
        building.close()

    def test_the_words_alone_find_them_where_there_are_no_vectors(self, tmp_path: Path) -> None:
        building = Building(tmp_path)
        building.put(NOTES)
        found = ask(building, "is the berth paid for the rented house?")
        assert expanded(found) == {} or set(expanded(found)) == {"Harbour.md"}
        assert "Harbour.md" in paths(found)[1:3]
        building.close()

    def test_a_hidden_one_is_not_there_and_nothing_tells_of_it(self, harbour: Building, tmp_path: Path) -> None:
        bare = Building(tmp_path, HashEmbedder(dimension=384))
        bare.put({path: text for path, text in NOTES.items() if path != "Private/Debt.md"})
        question = "nobody knows what it has cost"
        assert "Private/Debt.md" in paths(ask(harbour, question))
        hidden, absent = ask(harbour, question, scope=OPEN), ask(bare, question, scope=OPEN)
        assert paths(hidden) == paths(absent)
        assert [(hit.provenance, hit.via) for hit in hidden.hits] == [(hit.provenance, hit.via) for hit in absent.hits]
        bare.close()

    def test_a_hidden_note_in_question_leads_to_no_open_neighbour(self, harbour: Building) -> None:
        hidden = ask(harbour, RENT, "Private/Debt.md", OPEN)
        absent = ask(harbour, RENT, "Private/None.md", OPEN)
        assert hidden == absent
        assert expanded(hidden) == {}
        assert "Boat.md" in expanded(ask(harbour, RENT, "Private/Debt.md"))


@pytest.mark.parametrize("fusion", ["blend", "rrf"])
def test_the_note_and_its_neighbours_are_ranked_by_either_fusion(harbour: Building, fusion: str) -> None:
    found = ask(harbour, "how is the berth paid?", settings={"fusion": fusion}, k=12)
    assert paths(found)[:2] == ["Boat.md", "Harbour.md"]
    own_and_near = found.hits[1:4]
    assert [hit.score for hit in own_and_near] == sorted((hit.score for hit in own_and_near), reverse=True)
    assert found.hits[1].score > 0


class TestSpelling:
    @pytest.mark.parametrize(
        "spelled", ["Åre/Café.md", "åre/CAFÉ.MD", "/Åre/Café.md", " Åre/Café.md ", "Åre/Café", "Åre/Café.md/"]
    )
    @pytest.mark.parametrize("form", ["NFC", "NFD"])
    def test_a_note_is_found_by_its_path_however_it_is_written(self, spelled: str, form: str, tmp_path: Path) -> None:
        building = Building(tmp_path)
        building.put({"Åre/Café.md": "coffee\n", "Café.md": "tea\n", "Other/Åre/Café.md": "water\n"})
        found = ask(building, "what is there?", unicodedata.normalize(form, spelled))
        assert [hit.path for hit in found.hits if hit.in_question] == ["Åre/Café.md"]
        building.close()

    def test_two_names_that_differ_in_case_alone_are_two_notes(self, tmp_path: Path) -> None:
        building = Building(tmp_path)
        building.put({"Plan.md": "upper\n", "plan.md": "lower\n"})
        with building.open(PRIVATE) as view:
            assert [view.notes.find(path) for path in ("Plan.md", "plan.md", "PLAN.md")] == ["Plan.md", "plan.md", None]
            assert [view.notes.find(path) for path in ("", "/", "Plan.md/x", "lan.md", "\0", "🙂")] == [None] * 6
        building.close()


class Spread:
    """Knows how near each passage comes: `near 0.4` is a text at that cosine from every question."""

    space = EmbeddingSpace(model="by hand", dimension=8)
    max_tokens = 512

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed_passages(self, texts: list[str]) -> list[Vector | Refused]:
        raise NotImplementedError

    def embed_query(self, text: str) -> Vector:
        return at(1.0)

    def priors(self) -> Priors:
        return Priors()


def at(cosine: float) -> Vector:
    vector = unit_of(0) * cosine + unit_of(1) * (1 - cosine**2) ** 0.5
    return unit(vector)


def unit_of(direction: int) -> Vector:
    import numpy as np  # noqa: PLC0415

    return np.eye(8, dtype=np.float32)[direction]


def by_hand(folder: Path, notes: Mapping[str, list[tuple[str, float]]]) -> Building:
    """Index chunks whose nearness to any question is given; a tenth is less than one standard deviation."""
    building = Building(folder)
    building.embedder = Spread()
    building.writer.use_space(Spread.space, Priors(), "off")
    drafts = [made_by_hand(path, *(body for body, _ in chunks)) for path, chunks in notes.items()]
    building.writer.replace(drafts, placed(drafts, [at(cosine) for chunks in notes.values() for _, cosine in chunks]))
    return building


PARTS = 3_000


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Building]:
    """A note of thousands of passages; one is nearest, another holds a word that no other has."""
    body = [(f"part {n} of the chronicle", 0.1 + 0.02 * (n % 5)) for n in range(PARTS)]
    body[2_345] = ("everything stands here", 0.95)
    body[2_777] = ("the quince tree fell", 0.1)
    # Nearer, and with more of the word: neither arm finds the two in the whole vault.
    rest = {f"N{n}.md": [(f"quince quince {n}", 0.97)] for n in range(60)}
    building = by_hand(tmp_path_factory.mktemp("endless"), {"Chronicle.md": body, **rest})
    yield building
    building.close()


class TestLongNotes:
    def test_the_nearest_passage_deep_inside_is_found(self, endless: Building) -> None:
        found = ask(endless, "meaning?", "Chronicle.md")
        assert found.hits[0].body == "everything stands here"
        assert not found.is_broad

    def test_a_word_deep_inside_is_found(self, endless: Building) -> None:
        found = ask(endless, "what of the quince?", "Chronicle.md")
        assert "the quince tree fell" in [hit.body for hit in found.hits[:4]]
        endless.embedder.embed_query = _fail  # type: ignore[method-assign]
        try:
            found = ask(endless, "what of the quince?", "Chronicle.md")
        finally:
            del endless.embedder.embed_query
        assert "the quince tree fell" in [hit.body for hit in found.hits[:2]]

    def test_the_best_passage_comes_first_by_ranks_alone_too(self, endless: Building) -> None:
        found = ask(endless, "meaning?", "Chronicle.md", settings={"fusion": "rrf"})
        assert found.hits[0].body == "everything stands here"

    def test_it_costs_little_more_than_any_question(self, endless: Building) -> None:
        ask(endless, "what of the quince?", "Chronicle.md")
        started = time.process_time()
        for _ in range(5):
            ask(endless, "what of the quince?", "Chronicle.md")
        assert (time.process_time() - started) / 5 < 0.3


def _fail(_text: str) -> Vector:
    raise AWAY


class TestTheNoteAsAWhole:
    """Nothing in a note resembles `summarise this note`."""

    @pytest.fixture
    def whole(self, tmp_path: Path) -> Iterator[Building]:
        long = [(f"section {n}", 0.10 + 0.001 * (n % 7)) for n in range(100)]
        building = by_hand(tmp_path, {"Long.md": long, "Far.md": [("far", 0.0)], "Near.md": [("near by", 0.3)]})
        yield building
        building.close()

    @pytest.mark.parametrize("question", ["summarise this note", "worum geht es?", "この内容は?", "?"])
    def test_its_beginning_and_passages_from_all_over_it_are_among_its_own(
        self, whole: Building, question: str
    ) -> None:
        found = ask(whole, question, "Long.md", k=16)
        own = [hit for hit in found.hits if hit.in_question]
        assert found.is_broad
        assert own[0].body == "section 0"
        assert len(own) == 8
        lines = sorted(hit.line_start for hit in own)
        assert lines[-1] > 75
        assert any(25 < line < 75 for line in lines)

    def test_the_best_passage_still_has_its_place(self, whole: Building) -> None:
        found = ask(whole, "summarise this note", "Long.md", k=8)
        best = max((hit.score for hit in found.hits if hit.in_question), default=0)
        everything = ask(whole, "summarise this note", "Long.md", k=50)
        assert best == max(hit.score for hit in everything.hits if hit.in_question)

    def test_the_vault_is_not_silent_on_what_is_at_hand(self, whole: Building) -> None:
        found = ask(whole, "summarise this note", "Long.md")
        assert (found.closeness, found.nearness) == (1.0, AT_HAND)
        assert not is_silent(found)
        assert ask(whole, "summarise this note", None).nearness != AT_HAND

    def test_an_answer_in_the_note_needs_no_outline(self, tmp_path: Path) -> None:
        long = [(f"section {n}", 0.1) for n in range(100)] + [(f"the answer {n}", 0.9 - n / 100) for n in range(9)]
        building = by_hand(tmp_path, {"Long.md": long})
        found = ask(building, "what is the answer?", "Long.md", k=8)
        assert not found.is_broad
        assert [hit.body for hit in found.hits] == [f"the answer {n}" for n in range(4)]
        building.close()

    def test_among_many_passages_one_has_to_stand_out_further(self, whole: Building) -> None:
        with whole.open(PRIVATE) as view:
            (passage,) = view.text.passages(view.chunks.of("Near.md")).values()
        near, worded = Evidence(z=3.3, bm25=0, coverage=0), Evidence(z=None, bm25=1, coverage=0.6)
        near_one, worded_one = (Candidate(passage, {}, evidence, 0.0, "vector") for evidence in (near, worded))
        assert [near_one.stands_out(size) for size in (1, 20, 1_000)] == [True, True, False]
        assert [worded_one.stands_out(size) for size in (1, 1_000)] == [True, True]

    def test_a_short_note_gives_all_it_has(self, harbour: Building) -> None:
        found = ask(harbour, "summarise this", "Harbour.md")
        assert [hit.path for hit in found.hits].count("Harbour.md") == 2

    def test_an_empty_note_is_nothing_at_hand(self, tmp_path: Path) -> None:
        building = Building(tmp_path, HashEmbedder(dimension=384))
        building.put({"Empty.md": "", "Hub.md": f"# Hub\n\n{filler('w', 20)}\n"})
        found = ask(building, "what is this about?", "Empty.md")
        assert found.hits[0].path == "Empty.md"
        assert found.nearness != AT_HAND
        assert is_silent(found)
        assert ask(building, "what is this about?", "Hub.md").nearness == AT_HAND
        building.close()

    def test_an_empty_note_with_neighbours_is_told_by_them(self, tmp_path: Path) -> None:
        building = Building(tmp_path, HashEmbedder(dimension=384))
        building.put({"Topic.md": "", "One.md": "about sails [[Topic]]\n"})
        found = ask(building, "what is the topic?", "Topic.md")
        assert found.nearness == AT_HAND
        assert paths(found) == ["One.md", "Topic.md"]
        assert not is_silent(found)
        building.close()


def test_places_are_spread_evenly() -> None:
    assert evenly(range(5), 9) == [0, 1, 2, 3, 4]
    assert evenly(range(100), 4) == [12, 37, 62, 87]
    assert evenly([], 3) == []
    assert len(evenly(range(1_000), MOST_OUTLINED)) == MOST_OUTLINED


def test_a_passage_of_the_note_says_what_speaks_for_it(harbour: Building) -> None:
    (own,) = (hit for hit in ask(harbour, "sail").hits if hit.in_question)
    assert isinstance(own, Hit)
    assert own.provenance == "both"
    assert own.via is None


@pytest.mark.parametrize("k", [1, 3, 40])
def test_as_many_passages_as_were_wished_for_at_most(harbour: Building, k: int) -> None:
    assert len(ask(harbour, RENT, None, k=k).hits) == k
    assert len(ask(harbour, RENT, k=k).hits) == k
