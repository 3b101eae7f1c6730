"""The word arm alone, from a user's text to the best note, over small real indexes (cases 12 and 14)."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_ask.retrieval.hits import Retrieved
from vault_ask.scope import OpenScope
from vault_building import OPEN, Building

HOUSEHOLD = {
    "A.md": "Offer for the half-timbered barn. Status: green.\n",
    "B.md": "We compared C++ and Rust for the sensor driver.\n",
    "C.md": "Ask Dana about the landlord's deposit. The notice period for the flat is three months.\n",
    "D.md": "parser::core lives NEAR the mill.\n",
}
EAST_ASIAN = {
    "ja.md": "来月の家賃交渉のメモ\n",
    "ko.md": "회의록 결제일정 정리\n",
    "zh.md": "这份合同的违约金条款\n",
    "mix.md": "昨天合并sync-core分支\n",
}
SWEDISH_AND_TURKISH = {
    "får.md": "Fåren betar på ängen bakom huset och äter gräs hela dagen.\n",
    "far.md": "Min far byggde huset av timmer för många år sedan.\n",
    "ev.md": "Kira sözleşmesi İzmir'deki evin ısıtma giderlerini de kapsıyor mu?\n",
    "yol.md": "Yolculuk için otobüs bileti almayı unutma, sabah erken kalkıyor.\n",
}


@pytest.fixture(scope="module")
def vaults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Building]]:
    notes = {"household": HOUSEHOLD, "east": EAST_ASIAN, "north": SWEDISH_AND_TURKISH}
    built = {}
    for name, texts in notes.items():
        built[name] = Building(tmp_path_factory.mktemp(name), language=None)
        built[name].put(texts)
    yield built
    for building in built.values():
        building.close()


def ask(building: Building, question: str) -> Retrieved[OpenScope]:
    with building.open(OPEN) as view:
        return building.retriever(by_words_alone=True).retrieve(view, question, arm="text")


def paths(building: Building, question: str) -> list[str]:
    return [hit.path for hit in ask(building, question).hits]


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("half-timbered", "A.md"),
        ("C++", "B.md"),
        ("landlord's deposit", "C.md"),
        ("landlord’s deposit", "C.md"),
        ("status: green", "A.md"),
        ("parser::core", "D.md"),
        ("How long is the notice period for my flat?", "C.md"),
        ('"unbalanced deposit', "C.md"),
        ("NEAR", "D.md"),
        ("mill OR", "D.md"),
        ("AND", "B.md"),
        ("AND NOT rust", "B.md"),
        ("path:A t:green", "A.md"),
        ("body : mill", "D.md"),
        ("NEAR(mill core, 2)", "D.md"),
        ("dep*", None),
        ("deposit*", "C.md"),
        ("+rust -driver", "B.md"),
        ("^rust", "B.md"),
        ("{body} : rust", "B.md"),
        ("50% spent on the barn?", "A.md"),
        ("#barn", "A.md"),
        ("[[barn]]", "A.md"),
        ("a\0barn", "A.md"),
        ("rust; DROP TABLE chunks --", "B.md"),
    ],
)
def test_every_text_is_a_question_of_words(vaults: Mapping[str, Building], question: str, note: str | None) -> None:
    found = ask(vaults["household"], question)
    assert next((hit.path for hit in found.hits), None) == note
    assert all("was read as words" in notice for notice in found.notices)


@pytest.mark.parametrize("question", ["*", "(", "-", '""', "   ", "", "\0", "{}:^", "???", "\u200b"])
def test_a_question_without_words_finds_nothing_and_says_nothing(vaults: Mapping[str, Building], question: str) -> None:
    found = ask(vaults["household"], question)
    assert (found.hits, found.notices, dict(found.idf)) == ((), (), {})


@pytest.mark.parametrize("question", ["NOT", "OR", "OR NOT", "^budget", "{x} y : z", "zebra"])
def test_operators_are_words_that_no_note_holds(vaults: Mapping[str, Building], question: str) -> None:
    found = ask(vaults["household"], question)
    assert (found.hits, found.notices) == ((), ())
    assert found.idf


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("家賃", "ja.md"),
        ("交渉", "ja.md"),
        ("メモ", "ja.md"),
        ("결제", "ko.md"),
        ("合同", "zh.md"),
        ("违约金", "zh.md"),
        ("sync-core", "mix.md"),
        ("金", "zh.md"),
        ("ﾒﾓ", "ja.md"),
    ],
)
def test_texts_without_spaces_are_found_by_their_parts(
    vaults: Mapping[str, Building], question: str, note: str
) -> None:
    assert paths(vaults["east"], question) == [note]


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("Var betar fåren?", "får.md"),
        ("får", "får.md"),
        ("ängen", "får.md"),
        ("angen", "får.md"),
        ("a\u0308ngen", "får.md"),
        ("min far", "far.md"),
        ("kira sözleşmesi", "ev.md"),
        ("KİRA SÖZLEŞMESİ", "ev.md"),
        ("kira sozlesmesi", "ev.md"),
        ("izmir", "ev.md"),
        ("ISITMA", "ev.md"),
        ("isitma", "ev.md"),
        ("bilet", "yol.md"),
    ],
)
def test_swedish_and_turkish_are_found_with_and_without_their_letters(
    vaults: Mapping[str, Building], question: str, note: str
) -> None:
    assert paths(vaults["north"], question)[:1] == [note]


@given(st.text(max_size=80) | st.lists(st.sampled_from('"*()^:-+{}NEAR AND OR NOT mill \0'), max_size=30).map("".join))
@settings(max_examples=150, deadline=None)
def test_no_text_makes_a_question_fail(vaults: Mapping[str, Building], question: str) -> None:
    assert ask(vaults["household"], question).notices == ()


def test_any_number_of_terms_is_counted(vaults: Mapping[str, Building]) -> None:
    words = [f"word{number}" for number in range(2_500)]
    with vaults["household"].open(OPEN) as view:
        counted = view.words.document_frequency(["rust", *words, "barn"])
        assert view.words.document_frequency([]) == {}
    assert (counted["rust"], counted["barn"], sum(counted.values()), len(counted)) == (1, 1, 2, 2_502)


def test_the_best_match_comes_first_however_few_are_asked_for(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put({"A.md": "barn " + "and much more besides " * 20, "B.md": "barn", "C.md": "mill"})
    with building.open(OPEN) as view:
        (first, score), (_, lower) = view.words.matching('"barn"', 9)
        assert view.text.passages([first])[first].path == "B.md"
        assert score > lower > 0
        assert view.words.matching('"barn"', 1) == [(first, score)]
    building.close()


def test_a_long_text_is_asked_for_the_words_the_vault_holds(vaults: Mapping[str, Building]) -> None:
    unheard = " ".join(f"unheard{number}" for number in range(300))
    assert paths(vaults["household"], f"{unheard} barn") == ["A.md"]


def test_what_stands_after_a_nul_is_found(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put({"Nul.md": "ab\0cd krusbar\n", "Good.md": "text björnbär\n"})
    assert paths(building, "krusbar") == ["Nul.md"]
    assert paths(building, "björnbär") == ["Good.md"]
    building.close()


def test_the_title_is_searched_and_what_is_no_text_is_not(tmp_path: Path) -> None:
    building = Building(tmp_path)
    base64 = "iVBORw0KGgo" * 400
    building.put({"Kattegatt.md": f"![x](data:image/png;base64,{base64})\n", "B.md": "nothing here"})
    assert set(paths(building, "kattegatt")) == {"Kattegatt.md"}
    with building.open(OPEN) as view:
        assert [chunk for chunk, _ in view.words.matching('"kattegatt"', 9)] == view.chunks.of("Kattegatt.md")
        assert view.words.document_frequency(["ivborw0kggo", base64.lower()[:64]]) == {
            "ivborw0kggo": 0,
            base64.lower()[:64]: 0,
        }
    building.close()
