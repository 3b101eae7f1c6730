"""Which notes are near a note: by links either way, by meaning, by both; and what never is among them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes import HashEmbedder
from vault_ask.errors import NoSuchNote
from vault_ask.retrieval import related
from vault_ask.retrieval.related import Related, find_related
from vault_ask.scope import OpenScope, PrivateScope
from vault_building import OPEN, PRIVATE, Building, made_by_hand

WORDS = (
    *("harvest", "potatoes", "beans", "spade", "shed", "rain", "sun", "seeds"),
    *("rows", "jonas", "kilos", "october", "letter", "money", "lease", "rent"),
)


@pytest.fixture
def building(tmp_path: Path) -> Iterator[Building]:
    made = Building(tmp_path, HashEmbedder(dimension=256))
    yield made
    made.close()


def near(building: Building, path: str, scope: OpenScope | PrivateScope = OPEN, k: int = 8) -> Related[OpenScope]:
    with building.open(scope) as view:
        return find_related(view, path, k=k)


def why(found: Related[OpenScope]) -> dict[str, tuple[str, ...]]:
    return {one.passage.path: one.because for one in found.near}


def test_notes_are_near_by_links_either_way_and_by_meaning_and_each_says_why(building: Building) -> None:
    building.put({
        "Plot.md": "The harvest of potatoes and beans: [[Jonas]] dug.\n",
        "Jonas.md": "Plays cello on Mondays, sings every Friday, never once rang us up before ten.\n",
        "Year.md": "Snow in January, thaw in March, storms before summer came, then [[Plot]] again.\n",
        "Harvest.md": "The harvest of potatoes and beans.\n",
        "Both.md": "The harvest of potatoes and beans in [[Plot]] and [[Plot#Beans]].\n",
        "Tax.md": "Forms due before April ends.\n",
    })  # fmt: skip
    found = near(building, "Plot.md")
    assert why(found) == {
        "Both.md": ("backlink", "meaning"),
        "Harvest.md": ("meaning",),
        "Jonas.md": ("link",),
        "Year.md": ("backlink",),
    }
    assert found.near[0].passage.path == "Both.md"
    assert found.notices == ()
    scores = [one.score for one in found.near]
    assert scores == sorted(scores, reverse=True)


def test_each_shows_its_passage_that_comes_nearest(building: Building) -> None:
    building.put({
        "Plot.md": "The harvest of potatoes and beans.\n",
        "Year.md": "# Spring\n\nForms and taxes.\n\n# Autumn\n\nThe harvest of potatoes.\n\n# Winter\n\nSnow.\n",
    })  # fmt: skip
    assert near(building, "Plot.md").near[0].passage.heading_path == ("Autumn",)


def test_a_linked_note_that_comes_nearer_is_before_one_whose_link_stands_earlier(building: Building) -> None:
    building.put({
        "Plot.md": "The harvest of potatoes and beans: [[Alpha]] [[Beta]]\n",
        "Alpha.md": "Plays the cello.\n",
        "Beta.md": "A harvest of beans.\n",
    })  # fmt: skip
    assert list(why(near(building, "Plot.md"))) == ["Beta.md", "Alpha.md"]


def test_a_note_is_never_near_itself_though_it_links_to_itself_and_has_its_name_as_an_alias(building: Building) -> None:
    building.put({
        "Plot.md": "---\naliases: [Garden]\n---\n# Beans\n\nSee [[Plot]], [[Garden]] and [[#Beans]].\n\n" * 2,
        "Shed.md": "[[Garden]]\n",
    })  # fmt: skip
    assert list(why(near(building, "plot.MD"))) == ["Shed.md"]


def test_what_is_not_in_sight_is_near_nothing_and_has_nothing_near_it(building: Building) -> None:
    building.put({
        "Plot.md": "The harvest: [[Diary]] and [[Nobody]]\n",
        "Private/Diary.md": "The harvest and a quarrel in [[Plot]].\n",
        "Open.md": "The harvest.\n",
    })  # fmt: skip
    assert why(near(building, "Plot.md")) == {"Open.md": ("meaning",)}
    assert why(near(building, "Plot.md", PRIVATE))["Private/Diary.md"] == ("link", "backlink", "meaning")
    assert "Plot.md" in why(near(building, "Private/Diary.md", PRIVATE))
    for path in ("Private/Diary.md", "Nobody.md"):
        with pytest.raises(NoSuchNote):
            near(building, path)


def test_a_link_means_what_it_would_mean_if_there_were_no_hidden_note_of_that_name(building: Building) -> None:
    notes = {"Work/Plot.md": "See [[Shed]].\n", "Far/away/Shed.md": "A spade.\n"}
    building.put(notes | {"Private/Shed.md": "A quarrel.\n"})
    assert why(near(building, "Work/Plot.md", PRIVATE)) == {"Private/Shed.md": ("link",)}
    assert why(near(building, "Work/Plot.md")) == {"Far/away/Shed.md": ("link",)}
    assert why(near(building, "Far/away/Shed.md")) == {"Work/Plot.md": ("backlink",)}


def test_no_number_of_hidden_passages_takes_a_place_from_those_in_sight(building: Building) -> None:
    hidden = [made_by_hand(f"P{n}.md", *["the harvest of potatoes"] * 30, personal=True) for n in range(40)]
    seen = [made_by_hand(f"O{n}.md", f"the harvest of {word}") for n, word in enumerate(WORDS)]
    building.store([made_by_hand("Plot.md", "the harvest of potatoes"), *seen])
    before = [(one.passage.path, one.score) for one in near(building, "Plot.md", k=50).near]
    building.store(hidden)
    assert [(one.passage.path, one.score) for one in near(building, "Plot.md", k=50).near] == before
    assert len(before) == len(WORDS)
    assert len([path for path in why(near(building, "Plot.md", PRIVATE, k=50)) if path.startswith("P")]) == len(hidden)


def test_a_long_note_takes_one_place_and_its_own_passages_none(
    building: Building, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(related, "REACH", 20)
    long = made_by_hand("Long.md", *(f"the harvest of {word}" for word in WORDS * 8))
    building.store([
        long,
        made_by_hand("Plot.md", *["the harvest of potatoes"] * 200),
        *(made_by_hand(f"O{n}.md", "the harvest of some", word) for n, word in enumerate(WORDS)),
    ])  # fmt: skip
    found = why(near(building, "Plot.md", k=50))
    assert sorted(found) == sorted(["Long.md", *(f"O{n}.md" for n in range(len(WORDS)))])


def test_fewer_are_the_first_of_more(building: Building) -> None:
    notes = {f"N{n}.md": f"{word} {WORDS[n - 1]} [[N{n - 1}]] [[N{n // 2}]]\n" for n, word in enumerate(WORDS)}
    building.put(notes)
    many = list(why(near(building, "N7.md", k=50)))
    assert len(many) > 4
    assert [list(why(near(building, "N7.md", k=k))) for k in (1, 2, 4)] == [many[:1], many[:2], many[:4]]


def test_what_speaks_of_something_else_is_not_near(building: Building) -> None:
    building.put({"Plot.md": "potatoes beans spade shed\n", "Tax.md": "forms april office stamp\n", "C.md": "spade\n"})
    assert why(near(building, "Plot.md")) == {"C.md": ("meaning",)}


def test_without_vectors_links_alone_tell_and_show_where_they_stand(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put({
        "Plot.md": "---\nup: '[[Year]]'\n---\n[[Shed]] #garden\n",
        "Shed.md": "# Tools\n\nA spade.\n",
        "Year.md": "# Spring\n\nSnow.\n\n# Autumn\n\nDug [[Plot]] up.\n\n# Winter\n\nSnow.\n",
        "Other.md": "A spade. #garden\n",
    })  # fmt: skip
    found = near(building, "Plot.md")
    assert why(found) == {"Shed.md": ("link",), "Year.md": ("link", "backlink")}
    assert {one.passage.path: one.passage.body for one in found.near}["Shed.md"] == "# Tools\n\nA spade."
    assert "Dug [[Plot]] up." in {one.passage.path: one.passage.body for one in found.near}["Year.md"]
    assert found.notices == ("Found by links alone: no passage has its vector yet. See `vault-ask status`.",)
    building.close()


def test_a_note_that_waits_for_its_vectors_has_its_links_and_is_shown_by_others_links(building: Building) -> None:
    building.put({"Plot.md": "The harvest.\n", "Year.md": "The harvest in [[New]].\n"})
    building.writer.replace([building.draft("New.md", "The harvest, and [[Plot]].\n")], {})
    building.writer.resolve_links()
    waits = near(building, "New.md")
    assert why(waits) == {"Plot.md": ("link",), "Year.md": ("backlink",)}
    assert waits.notices[0].startswith("Found by links alone: this note has no vectors yet")
    assert why(near(building, "Year.md")) == {"New.md": ("link",), "Plot.md": ("meaning",)}


def test_a_picture_in_a_note_is_not_what_is_shown_of_it(building: Building, tmp_path: Path) -> None:
    packed = f"![](data:image/png;base64,{'iVBORw0KGgo' * 300})"
    notes = {"Plot.md": "[[Trip]]\n", "Trip.md": f"{packed}\n\nBy train to the sea.\n"}
    without_vectors = Building(tmp_path / "words")
    for one in (building, without_vectors):
        one.put(notes)
        assert near(one, "Plot.md").near[0].passage.body == "By train to the sea."
    without_vectors.close()


def test_where_nobody_can_tell_how_near_they_come_linked_notes_are_in_the_order_of_their_first_links(
    tmp_path: Path,
) -> None:
    building = Building(tmp_path)
    building.put({"Plot.md": "[[Zeta]]\n[[Alpha]]\n[[Zeta]]\n", "Alpha.md": "A spade.\n", "Zeta.md": "A spade.\n"})
    assert list(why(near(building, "Plot.md"))) == ["Zeta.md", "Alpha.md"]
    building.close()


def test_of_a_note_with_very_many_links_the_first_are_ranked(
    building: Building, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(related, "MOST_LINKED", 3)
    building.put({f"N{n}.md": f"{word}\n" for n, word in enumerate(WORDS)})
    building.put({"Hub.md": " ".join(f"[[N{n}]]" for n in range(len(WORDS)))})
    assert list(why(near(building, "Hub.md", k=50))) == ["N0.md", "N1.md", "N2.md"]
