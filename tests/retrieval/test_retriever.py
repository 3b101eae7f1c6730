"""Two arms answer one question: what each brings, what is said where one is missing, and who comes first."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from fakes import HashEmbedder
from vault_ask.errors import IndexDamaged, IndexFailed, ModelUnreachable
from vault_ask.index.embedding import Vector
from vault_ask.index.reading.words import Words
from vault_ask.retrieval.examining import Examiner
from vault_ask.retrieval.fusion import Evidence
from vault_ask.retrieval.hits import Retrieved
from vault_ask.retrieval.words import COMMON_AT_LEAST, read_words
from vault_building import OPEN, PRIVATE, Building

AWAY = ModelUnreachable("Nobody listens at the embedder's address.")


def filler(word: str, words: int = 90) -> str:
    return " ".join(f"{word}{n}" for n in range(words))


NOTES = {
    "Rent.md": "# Rent\n\nThe rent is 9200 crowns.\n\n"
    f"{filler('p')}\n\n# Deposit\n\nThe deposit was 27600.\n\n{filler('q')}\n",
    "Flat.md": "The flat has a rent of its own and a lease.\n",
    "Boat.md": "The boat needs a new sail.\n",
    "Private/Loan.md": "The rent was paid with a loan from Mira.\n",
}


@pytest.fixture
def built(tmp_path: Path) -> Iterator[Building]:
    building = Building(tmp_path, HashEmbedder(dimension=384))
    building.put(NOTES)
    yield building
    building.close()


def ask(building: Building, question: str, *, scope: object = PRIVATE, **how: object) -> Retrieved:
    settings = how.pop("settings", {})
    with building.open(scope) as view:
        return building.retriever(**settings).retrieve(view, question, **how)


def paths(found: Retrieved) -> list[str]:
    return [hit.path for hit in found.hits]


@pytest.mark.parametrize("fusion", ["blend", "rrf"])
@pytest.mark.parametrize("arm", ["hybrid", "vector", "text"])
def test_the_parts_of_a_score_add_up_and_hits_come_best_first(built: Building, fusion: str, arm: str) -> None:
    hits = ask(built, "What is the rent of the flat?", arm=arm, settings={"fusion": fusion}).hits
    assert hits
    for hit in hits:
        assert math.isclose(sum(hit.trace.values()), hit.score)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_a_hit_says_which_arms_found_it(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder(dimension=384))
    building.put({"Both.md": "rent of the flat\n", "Meaning.md": "something else entirely\n"})
    found = ask(building, "rent of the flat")
    assert {hit.path: hit.provenance for hit in found.hits} == {"Both.md": "both", "Meaning.md": "vector"}
    building.embedder.fail_with(AWAY)
    assert {hit.provenance for hit in ask(building, "rent of the flat").hits} == {"text"}
    building.close()


def test_an_embedder_that_is_away_is_told_and_words_answer(built: Building) -> None:
    built.embedder.fail_with(AWAY)
    found = ask(built, "new sail")
    assert paths(found)[0] == "Boat.md"
    assert found.notices == (f"Found by words alone: {AWAY}",)
    assert not [hit for hit in found.hits if hit.trace["vector"]]


def test_vectors_of_another_space_are_never_compared_and_it_is_told(built: Building) -> None:
    class Watched(HashEmbedder):
        def embed_query(self, text: str) -> Vector:
            raise AssertionError("a question was embedded for vectors it does not fit")

    built.embedder = Watched(dimension=32)
    found = ask(built, "new sail")
    assert paths(found)[0] == "Boat.md"
    assert "another embedding model" in found.notices[0]
    assert "--rebuild" in found.notices[0]


def test_an_index_without_any_vectors_says_so(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put(NOTES)
    building.embedder = HashEmbedder(dimension=384)
    found = ask(building, "new sail")
    assert paths(found)[0] == "Boat.md"
    assert "no passage has its vector" in found.notices[0]
    assert ask(building, "new sail", arm="text").notices == ()
    building.close()


def test_a_word_search_that_fails_is_told_and_vectors_answer(built: Building, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise IndexFailed("fts5: no such thing")

    monkeypatch.setattr(Words, "matching", fail)
    found = ask(built, "The boat needs a new sail.")
    assert paths(found)[0] == "Boat.md"
    assert "meaning alone" in found.notices[0]
    assert "fts5" not in " ".join(found.notices)


def test_damage_is_not_passed_off_as_a_missing_arm(built: Building, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_options: object) -> None:
        raise IndexDamaged

    monkeypatch.setattr(Words, "matching", fail)
    with pytest.raises(IndexDamaged):
        ask(built, "The boat needs a new sail.")


def test_the_note_in_question_comes_first_and_others_stay(built: Building) -> None:
    found = ask(built, "What is the rent of the flat?", note="Boat.md")
    assert paths(found)[0] == "Boat.md"
    assert {"Flat.md", "Rent.md"} <= set(paths(found))
    assert found.closeness == 1.0


def test_the_note_in_question_takes_half_of_the_places_at_most(built: Building) -> None:
    built.put({"Long.md": "\n".join(f"# Part {n}\n\nrent {filler(f'w{n}x')}\n" for n in range(8))})
    found = ask(built, "rent", note="Long.md", k=4)
    assert paths(found)[:2] == ["Long.md", "Long.md"]
    assert "Long.md" not in paths(found)[2:]
    assert len(found.hits) == 4


def test_a_hidden_note_in_question_is_as_if_it_were_not_there(built: Building) -> None:
    hidden = ask(built, "rent", scope=OPEN, note="Private/Loan.md")
    absent = ask(built, "rent", scope=OPEN, note="No such note.md")
    assert "Private/Loan.md" not in paths(hidden)
    assert hidden == absent


def test_one_note_never_takes_more_than_its_places(built: Building) -> None:
    built.put({"Long.md": "\n".join(f"# Part {n}\n\nrent {filler(f'w{n}x')}\n" for n in range(8))})
    assert paths(ask(built, "rent")).count("Long.md") == 2
    assert paths(ask(built, "rent", per_note=5, k=12)).count("Long.md") == 5


def test_a_question_in_a_language_the_words_do_not_know_is_left_to_the_vectors(tmp_path: Path) -> None:
    class Bilingual(HashEmbedder):
        """Knows what the Swedish question means."""

        def embed_query(self, text: str) -> Vector:
            return super().embed_query("The rent is 9200 crowns." if text.startswith("Vad kostar hyran") else text)

    building = Building(tmp_path, Bilingual(dimension=384))
    building.put({**NOTES, "Cello.md": f"Mats Berg plays the cello {filler('c', 30)}\n"})
    assert not ask(building, "Vad kostar hyran?", arm="text").hits
    assert paths(ask(building, "Vad kostar hyran?"))[0] == "Rent.md"
    assert paths(ask(building, "Vad kostar hyran hos Mats?", arm="text")) == ["Cello.md"]
    assert paths(ask(building, "Vad kostar hyran hos Mats?"))[0] == "Rent.md"
    building.close()


def test_words_common_in_the_vault_are_not_asked_for(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put({f"N{n}.md": f"the meeting of day {n}\n" for n in range(2 * COMMON_AT_LEAST)})
    building.put({"Room.md": "the meeting moved to the cellar\n"})
    with building.open(PRIVATE) as view:
        words = read_words("the meeting in the cellar", view, "en")
    assert words.idf["meeting"] == 0
    assert words.idf["cellar"] > 0
    assert "cellar" in words.query
    assert "meet" not in words.query
    assert paths(ask(building, "the meeting in the cellar", arm="text")) == ["Room.md"]
    building.close()


def test_a_word_of_a_tenth_of_a_small_vault_still_counts(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put({f"N{n}.md": f"the meeting of day {n}\n" for n in range(COMMON_AT_LEAST)})
    with building.open(PRIVATE) as view:
        assert read_words("meeting", view, "en").idf["meeting"] > 0
    building.close()


def test_where_all_words_are_common_the_rarest_two_are_asked_for(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put({f"N{n}.md": "alpha beta gamma\n" if n % 3 else "alpha beta\n" for n in range(90)})
    with building.open(PRIVATE) as view:
        words = read_words("alpha beta gamma", view, "en")
    kept = {word for word, idf in words.idf.items() if idf > 0}
    assert len(kept) == 2
    assert "gamma" in kept
    building.close()


def test_coverage_is_the_share_of_rare_words_that_a_text_holds(built: Building) -> None:
    built.put({"Whole.md": "the boat for a new sail\n", "Half.md": "a new hat\n", "None.md": "nothing at all\n"})
    with built.open(PRIVATE) as view:
        chunks = {path: view.chunks.of(path)[0] for path in ("Whole.md", "Half.md", "None.md")}
        examiner = Examiner(view, read_words("new sail for the boat", view, "en"), None, bm25={}, cosines={})
        examiner.read(list(chunks.values()))
        share = {path: examiner.evidence(chunk).coverage for path, chunk in chunks.items()}
    assert math.isclose(share["Whole.md"], 1.0)
    assert 0 == share["None.md"] < share["Half.md"] < 1


@pytest.mark.parametrize(
    "question",
    ["", "   ", "*", "(", "-", '""', '"unbalanced', "NEAR", "AND", "NOT", "mill OR", "path:A t:green", "^budget",
     "a\0b", "{x} y : z", "[[Note]]", "#tag", "\ud800", "x" * 10_000, "word " * 3_000],
)  # fmt: skip
def test_any_text_is_a_safe_question(built: Building, question: str) -> None:
    for arm in ("text", "vector", "hybrid"):
        found = ask(built, question, arm=arm)
        assert isinstance(found.hits, tuple)
        assert all("word index" not in notice for notice in found.notices)


def test_a_chunk_without_its_vector_is_found_by_words_beside_those_that_have_theirs(built: Building) -> None:
    embedder, built.embedder = built.embedder, None
    built.put({"Fresh.md": "the meeting moved to room nine\n"})
    built.embedder = embedder
    found = ask(built, "meeting room nine")
    assert paths(found)[0] == "Fresh.md"
    assert found.hits[0].provenance == "text"


def test_the_same_question_gives_the_same_order(built: Building) -> None:
    orders: Sequence[list[str]] = [paths(ask(built, "the rent")) for _ in range(3)]
    assert orders[0] == orders[1] == orders[2]


MARCH = [date(2026, 3, day) for day in range(1, 29)]


@pytest.fixture
def diary(tmp_path: Path) -> Iterator[Building]:
    building = Building(tmp_path, HashEmbedder(dimension=384))
    drafts = [building.draft(f"Daily/{day}.md", f"Walked the dog and paid bill {day.day}.\n") for day in MARCH]
    spans = [(day.toordinal(), day.toordinal()) for day in MARCH]
    building.store(
        [
            replace(draft, chunks=tuple(replace(chunk, days=span) for chunk in draft.chunks))
            for draft, span in zip(drafts, spans, strict=True)
        ]
    )
    yield building
    building.close()


@pytest.mark.parametrize(
    ("question", "first", "part"),
    [
        ("who walked the dog on 2026-03-17", "Daily/2026-03-17.md", "dated"),
        ("when did I last walk the dog", "Daily/2026-03-28.md", "timely"),
    ],
)
@pytest.mark.parametrize("fusion", ["blend", "rrf"])
def test_either_fusion_weighs_the_time_that_a_question_names(
    diary: Building, fusion: str, question: str, first: str, part: str
) -> None:
    hits = ask(diary, question, settings={"fusion": fusion}, k=len(MARCH)).hits
    most = max(hits, key=lambda hit: hit.trace.get(part, 0.0))
    assert most.path == first
    # A list of ranks beside two others can raise, and not decide.
    assert hits.index(most) == 0 or fusion == "rrf"


def test_the_note_of_a_day_that_is_named_has_more_places(diary: Building) -> None:
    parts = "\n".join(f"# Part {n}\n\nthe dog {filler(f'w{n}x')}\n" for n in range(8))
    draft, day = diary.draft("Long.md", parts), date(2026, 3, 30).toordinal()
    diary.store([replace(draft, chunks=tuple(replace(chunk, days=(day, day)) for chunk in draft.chunks))])
    assert paths(ask(diary, "where was the dog on 2026-03-30?")).count("Long.md") == 4
    assert paths(ask(diary, "where was the dog from 2026-03-29 to 2026-03-30?")).count("Long.md") == 2


def test_ranks_weigh_the_tasks_that_a_question_asks_for(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder(dimension=384))
    building.put({"Plan.md": "The boat needs paint.\n", "List.md": "- [ ] sand the boat\n"})
    traces = {hit.path: hit.trace for hit in ask(building, "what is still to do on the boat", settings=RANKS).hits}
    assert traces["List.md"]["task"] > 0
    assert "task" not in traces["Plan.md"]
    building.close()


RANKS = {"fusion": "rrf"}


@pytest.mark.parametrize("question", ["who walked the dog on 2026-03-17", "when did I last walk the dog"])
@pytest.mark.parametrize("arm", ["vector", "text"])
def test_one_arm_alone_says_that_it_does_not_weigh_the_time_that_is_named(
    diary: Building, arm: str, question: str
) -> None:
    found = ask(diary, question, arm=arm)
    assert found.hits
    assert all(len(hit.trace) == 1 for hit in found.hits)
    assert [notice for notice in found.notices if "neither the time nor the tasks" in notice]
    plain = [ask(diary, question), ask(diary, "who walked the dog", arm=arm)]
    assert not [notice for other in plain for notice in other.notices if "neither the time" in notice]


def test_words_are_trusted_less_abroad_where_the_vectors_did_not_find_what_holds_most_of_them(built: Building) -> None:
    with built.open(PRIVATE) as view:
        boat, flat = (view.chunks.of(path)[0] for path in ("Boat.md", "Flat.md"))
        examiner = Examiner(view, read_words("nytt segel", view, "sv"), None, bm25={}, cosines={})
        examiner.read([boat, flat])
        known = {boat: Evidence(z=1.0, bm25=1.0, coverage=0.5), flat: Evidence(z=3.0, bm25=0.0, coverage=0.1)}
        apart, together = examiner.trust_in_words(known, [flat]), examiner.trust_in_words(known, [flat, boat])
    assert 0 < apart < together < 1
