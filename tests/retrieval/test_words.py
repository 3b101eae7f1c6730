"""A question's words against a vault's own: marks, compounds, helpers and names, over small real indexes."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vault_ask.retrieval.examining import Examiner
from vault_ask.retrieval.words import FOREIGN_TRUST, Words, read_words
from vault_building import OPEN, Building

Build = Callable[..., Building]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    """Build an index of texts in languages: `build(sv=[...], en=[...])` names them sv0.md, sv1.md, ..."""
    building = Building(tmp_path)

    def built(**texts: list[str]) -> Building:
        for language, bodies in texts.items():
            building._language = language
            building.put({f"{language}{n}.md": body for n, body in enumerate(bodies)})
        return building

    yield built
    building.close()


def read(building: Building, question: str, language: str) -> Words:
    with building.open(OPEN) as view:
        return read_words(question, view, language)


def found(building: Building, question: str, language: str) -> set[str]:
    """Give the notes that the words of a question match, in a language that need not be guessed."""
    with building.open(OPEN) as view:
        query = read_words(question, view, language).query
        chunks = [chunk for chunk, _ in view.words.matching(query, 9)] if query else []
        return set(view.chunks.paths_of(chunks).values())


def covered(building: Building, question: str, language: str) -> dict[str, float]:
    """Give how much of a question's words each note holds, of those that hold any."""
    with building.open(OPEN) as view:
        examiner = Examiner(view, read_words(question, view, language), None, bm25={}, cosines={})
        chunks = {path: view.chunks.of(path)[0] for path in view.notes.paths()}
        examiner.read(list(chunks.values()))
        shares = {path: examiner.evidence(chunk).coverage for path, chunk in chunks.items()}
    return {path: share for path, share in shares.items() if share}


@pytest.mark.parametrize(
    ("language", "asked", "texts", "notes"),
    [
        # A word with its marks is asked for so where a note has it so, and bare where none does.
        ("sv", "får", ["Ett får på ängen", "Min far är snickare"], {"sv0.md"}),
        ("sv", "får", ["Hur mar du", "Min far är snickare"], {"sv1.md"}),
        ("sv", "far", ["Ett får på ängen", "Min far är snickare"], {"sv0.md", "sv1.md"}),
        ("sv", "Asa", ["Åsa ringde", "Någon annan"], {"sv0.md"}),
        ("tr", "ısı", ["ısı pompası", "isi yok"], {"tr0.md"}),
        ("tr", "sözleşme", ["kira sozlesmesi", "araba"], {"tr0.md"}),
        ("vi", "má", ["má và tôi", "mà không"], {"vi0.md"}),
        ("fr", "pêche", ["la pêche en mer", "un péché"], {"fr0.md"}),
        ("es", "año", ["un año", "el ano"], {"es0.md"}),
        # Where two spellings are one letter it does not matter which of them there are.
        ("ru", "ёлка", ["ёлка стоит", "елка стоит"], {"ru0.md", "ru1.md"}),
        ("da", "Århus", ["Århus havn", "Aarhus by"], {"da0.md", "da1.md"}),
        # Compounds: asked by the end of one, or in one where a note has its parts.
        ("de", "Vertrag", ["Der Mietvertrag endet im Mai", "Ein Ertrag"], {"de0.md"}),
        ("de", "Vertrag", ["Der Mietvertrag endet im Mai", "Ein Vertrag"], {"de1.md"}),
        ("sv", "avtalen", ["Hyresavtalet gäller", "Ett samtal"], {"sv0.md"}),
        ("nl", "contract", ["Het huurcontract loopt af", "Een huis"], {"nl0.md"}),
        ("fi", "sopimus", ["Vuokrasopimuksen ehdot", "Vuokra"], {"fi0.md"}),
        ("sv", "hyresavtal", ["Ett avtal för hyran finns", "Något annat"], {"sv0.md"}),
        ("de", "Mietvertrag", ["Der Vertrag über die Miete", "Etwas anderes"], {"de0.md"}),
        ("sv", "hyresavtal", ["Hyran och avtalet", "Ett hyresav och ett tal"], {"sv0.md"}),
        ("de", "Mietvertrag", ["Der Vertrag über das Auto", "Etwas anderes"], set()),
        ("de", "Mietvertrag", ["Der Vertrag über die Miete", "Mietvertrag"], {"de1.md"}),
        # A word in a form that nobody wrote, where no stemmer joins the two; short ones must be the same.
        ("uk", "договором", ["Новий договір та договору", "Дорога"], {"uk0.md"}),
        ("bg", "договорите", ["Новият договор", "договорът", "Път"], {"bg0.md", "bg1.md"}),
        ("is", "samningurinn", ["Um samningur", "Saman"], {"is0.md"}),
        ("en", "organs", ["An organization", "Nothing"], set()),
        ("en", "universities", ["A university", "The universe"], {"en0.md"}),
        # English words are no compounds.
        ("en", "port", ["A passport was lost", "Nothing"], set()),
    ],
)
def test_words_find_what_they_mean(build: Build, language: str, asked: str, texts: list[str], notes: set[str]) -> None:
    assert found(build(**{language: texts}), asked, language) == notes


def test_a_compound_that_ends_in_a_word_counts_as_holding_it(build: Build) -> None:
    building = build(de=["Der Mietvertrag endet im Mai", "Ein Ertrag endet"])
    shares = covered(building, "Wann endet der Vertrag?", "de")
    assert shares["de0.md"] > 0.9 > shares["de1.md"] > 0


def test_an_unknown_name_is_not_cut_where_no_note_holds_both_parts(build: Build) -> None:
    words = read(build(sv=["En gren föll ned", "Ett bord"]), "Lindgren", "sv")
    assert list(words.terms) == ["lindgren"]


def test_a_name_is_not_cut_though_notes_hold_both_parts(build: Build) -> None:
    building = build(sv=["En gren föll ned", "Linden blommar"])
    assert "lindgren" in read(building, "Vad skrev Lindgren?", "sv").terms
    assert set(read(building, "en lindgren", "sv").terms) == {"en", "lind", "gren"}


def test_a_name_is_not_looked_for_at_the_end_of_other_words(build: Build) -> None:
    building = build(sv=["Lindberg ringde", "Regn"])
    assert found(building, "berg", "sv") == {"sv0.md"}
    assert found(building, "Vem var Berg?", "sv") == set()


def test_a_helper_that_is_common_in_its_own_language_is_left_out_where_most_notes_are_in_another(build: Build) -> None:
    swedish = [f"Det är den {n} anteckningen om huset" for n in range(40)]
    english = [f"The barn of the farmer, part {n}" for n in range(6)]
    words = read(build(sv=swedish, en=english), "where is the tractor of the farmer", "en")
    assert words.idf["the"] == words.idf["of"] == 0
    assert words.idf["farmer"] > 0
    assert '"und\x1fthe"' not in words.query


def test_helpers_stay_where_they_are_all_that_any_note_holds(build: Build) -> None:
    words = read(build(en=[f"to be or not to be {n}" for n in range(9)]), "to be zork", "en")
    assert words.idf["be"] > 0
    assert words.query


def test_a_helper_of_a_language_that_hardly_any_note_is_in_weighs_little(build: Build) -> None:
    english = [f"The war began in spring {n}" for n in range(30)] + [f"Rain on day {n}" for n in range(370)]
    words = read(build(en=english), "Wo war die Quittung?", "de")
    assert 0 < words.idf["war"] < words.idf["quittung"] / 6


@pytest.mark.parametrize(("asked", "note"), [("C++", "en1.md"), ("C#", "en2.md"), ("C", None)])
def test_a_word_with_a_sign_is_looked_for_with_it_where_a_note_has_it_so(
    build: Build, asked: str, note: str | None
) -> None:
    building = build(en=["Vitamin C is in oranges, C", "The C++ templates", "The C# classes"])
    assert found(building, asked, "en") == ({note} if note else {"en0.md", "en1.md", "en2.md"})


def test_a_word_with_a_sign_that_no_note_has_is_looked_for_without(build: Build) -> None:
    assert found(build(en=["The language C", "Rain"]), "C++", "en") == {"en0.md"}


def test_a_word_counts_half_in_a_text_of_another_language_and_a_name_whole(build: Build) -> None:
    building = build(en=["A gift for Anna", "Rain"], sv=["Gift är farligt", "Regn"])
    words = read(building, "Är det gift hos Anna 2024?", "sv")
    assert words.trust("gift", "sv") == words.trust("gift", "und") == 1.0
    assert words.trust("gift", "en") == FOREIGN_TRUST
    assert words.trust("anna", "en") == words.trust("2024", "en") == 1.0
    assert covered(building, "gift", "sv") == {"en0.md": FOREIGN_TRUST, "sv0.md": 1.0}


def test_words_that_a_question_writes_together_are_looked_for_apart_where_no_note_has_them_so(build: Build) -> None:
    building = build(en=["Jennifer Moore called", "The JavaScript course", "Rain"])
    words = read(building, "What did JenniferMoore say of JavaScript?", "en")
    assert {"jennifer", "moore", "javascript"} <= words.terms.keys()
    assert "jennifermoore" not in words.terms
    assert {"jennifer", "moore"} <= words.names
    assert found(building, "JenniferMoore", "en") == {"en0.md"}
    assert found(building, "JavaScript", "en") == {"en1.md"}
