"""How common a word is: told of the chunks in sight, so that nobody can find out what the others hold."""

from pathlib import Path

import pytest

from fakes import HashEmbedder
from vault_ask.answering.coverage import is_silent
from vault_ask.index.view import VaultView
from vault_ask.retrieval import words as words_module
from vault_ask.retrieval.words import read_words
from vault_ask.scope import OpenScope, PrivateScope
from vault_building import OPEN, PRIVATE, Building

NOTES = {
    "Open/a.md": "the rent of the barn\n",
    "Open/b.md": "a lease for the barn\n",
    "Open/packed.md": f"the barn\n\n{'A' * 3000}\n",
    "Open/c.md": "harvest\n",
}
PERSONAL = {f"Private/p{n}.md": "the barn canaryword rent\n" for n in range(60)}
ASKED = "canaryword rent barn"


@pytest.fixture
def building(tmp_path: Path) -> Building:
    building = Building(tmp_path, HashEmbedder(dimension=64))
    building.put(NOTES)
    return building


def frequencies(view: VaultView[OpenScope] | VaultView[PrivateScope], enough: int | None = None) -> dict[str, int]:
    return view.words.document_frequency(["barn", "rent", "canaryword", "absent"], enough=enough)


def test_only_chunks_in_sight_are_counted(building: Building) -> None:
    with building.open(OPEN) as view:
        before, tallied, words = frequencies(view), view.words.tallies(), read_words(ASKED, view, "en")
    assert (before["barn"], before["rent"], before["canaryword"], before["absent"]) == (3, 1, 0, 0)
    building.put(PERSONAL)
    with building.open(OPEN) as view:
        assert frequencies(view) == before
        assert view.words.tallies() == tallied
        assert read_words(ASKED, view, "en") == words
    with building.open(PRIVATE) as view:
        assert frequencies(view) == {"barn": 63, "rent": 61, "canaryword": 60, "absent": 0}
        assert view.words.tallies().chunks == tallied.chunks + 60
        assert read_words(ASKED, view, "en") != words
    building.close()


def test_counting_stops_where_enough_are_in_sight(building: Building) -> None:
    building.put(PERSONAL)
    with building.open(OPEN) as view:
        assert frequencies(view, enough=2) == {"barn": 2, "rent": 1, "canaryword": 0, "absent": 0}
    with building.open(PRIVATE) as view:
        assert frequencies(view, enough=2)["barn"] == 63
    building.close()


def test_a_reclassified_note_is_counted_as_what_it_is_now(building: Building) -> None:
    building.put(PERSONAL)
    with building.open(OPEN) as view:
        before = view.words.tallies().chunks
    claims = {claim.path: claim.id for claim in building.writer.claims()}
    building.writer.reclassify({claims["Private/p1.md"]: OPEN.ceiling, claims["Open/a.md"]: PRIVATE.ceiling})
    with building.open(OPEN) as view:
        assert frequencies(view) == {"barn": 3, "rent": 1, "canaryword": 1, "absent": 0}
        assert view.words.tallies().chunks == before
    building.close()


def test_common_words_are_told_apart_by_what_is_in_sight(building: Building, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words_module, "COMMON_AT_LEAST", 0)
    building.put(PERSONAL)
    with building.open(OPEN) as view:
        weights = read_words("barn rent harvest", view, "en").idf
    # All are common here; the two rarest in sight are kept, though rent is in 60 hidden chunks.
    assert [word for word, weight in weights.items() if weight > 0] == ["rent", "harvest"]
    building.close()


def test_a_word_of_hidden_notes_moves_no_silence(building: Building) -> None:
    def judged() -> tuple[float, bool]:
        with building.open(OPEN) as view:
            found = building.retriever().retrieve(view, "is there a harvest canaryword?", arm="text")
        return found.coverage, is_silent(found)

    before = judged()
    building.put(PERSONAL)
    assert judged() == before
    with building.open(PRIVATE) as view:
        assert building.retriever().retrieve(view, "is there a harvest canaryword?", arm="text").coverage != before[0]
    building.close()
