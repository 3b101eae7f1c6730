import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_ask.index.terms import LONGEST_WORD, bare_terms, marked, query_words, signed_terms, split_mark, terms


def found(question: str, text: str, *, asked: tuple[str, ...] = ("und",), language: str = "und") -> bool:
    """Whether every word of a question stands in a text, as retrieval would see it."""
    held = set(terms(text, language))
    return all(held.intersection(listed) for listed in query_words(question, asked).values())


def test_english_words_are_stemmed() -> None:
    assert terms("Planting leeks, planted a leek", "en") == ["plant", "leek", "plant", "a", "leek"]
    assert terms("Planting", "und") == ["planting"]


@pytest.mark.parametrize("written", ["İSTANBUL", "İstanbul", "istanbul", "ISTANBUL", "ıstanbul"])
def test_every_spelling_of_a_turkish_name_finds_it(written: str) -> None:
    assert found(written, "İstanbul'da", asked=("tr", "en", "und"), language="tr")


def test_turkish_dotted_and_dotless_i_are_two_letters_of_turkish_words() -> None:
    assert terms("ISI", "tr")[0] != terms("isi", "tr")[0]
    assert terms("ISI", "tr")[0] == terms("ısı", "tr")[0]


@pytest.mark.parametrize(
    ("accented", "plain"),
    [("får", "far"), ("väg", "vag"), ("böna", "bona"), ("Åsa", "Asa"), ("smørbrød", "smorbrod")],
)
def test_swedish_letters_stay_words_of_their_own_and_are_found_without_accents(accented: str, plain: str) -> None:
    assert terms(accented, "sv")[0] != terms(plain, "sv")[0]
    assert found(plain, accented, asked=("sv",), language="sv")
    (asked,) = query_words(accented, ("sv",)).values()
    assert len(set(asked) & set(terms(accented, "sv"))) > len(set(asked) & set(terms(plain, "sv")))


def test_decomposed_letters_are_the_composed_ones() -> None:
    assert terms("bjo\u0308rnba\u0308r", "sv") == terms("björnbär", "sv")


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("来月の家賃交渉", "家賃"),
        ("회의록 결제일정", "결제"),
        ("这份合同的违约金条款", "违约"),
        ("ตารางนัดหมอ", "นัด"),
        ("データベース", "ース"),
    ],
)
def test_scripts_without_spaces_are_found_by_pairs(text: str, pair: str) -> None:
    assert found(pair, text)
    assert not found(pair[::-1], text)


def test_a_single_character_is_found_too() -> None:
    assert query_words("金", ("zh",)) == {"金": ("金",)}
    assert found("金", "这份合同的违约金条款")


def test_latin_words_between_characters_are_whole_words() -> None:
    assert {"sync", "core", "合并"} <= set(terms("昨天合并sync-core分支", "zh"))


@pytest.mark.parametrize("name", ["C++", "C#", "F#"])
def test_signs_make_names_of_their_own(name: str) -> None:
    letter = name[0].lower()
    assert terms(f"We like {name}.", "en")[-2:] == [letter, name.lower()]
    assert query_words(f"is {name} fast?", ("en",))[name.lower()] == (letter, name.lower())


def test_the_term_without_its_sign_may_be_another_words() -> None:
    assert signed_terms("c++", ("en", "und")) == {"c++"}
    assert bare_terms("c++", ("en", "und")) == {"c"}
    assert signed_terms("cat", ("en", "und")) == frozenset()


def test_a_tag_is_not_a_sharp_sign() -> None:
    assert terms("C#tag a#b", "en") == ["c", "tag", "a", "b"]


def test_the_genitive_s_is_no_word() -> None:
    assert terms("a landlord's and a landlord’s deposit", "und") == ["a", "landlord", "and", "a", "landlord", "deposit"]
    assert terms("O'Sullivan", "und") == ["o", "sullivan"]


def test_nul_and_signs_part_words() -> None:
    assert terms("a\0b_c::d-e", "und") == ["a", "b", "c", "d", "e"]
    assert query_words('\0 * ( - "" ^ {} :', ("en", "und")) == {}


def test_arabic_vowel_signs_and_hebrew_points_do_not_hide_a_word() -> None:
    assert found("كتاب", "كِتَاب")
    assert found("שלום", "שָׁלוֹם")


def test_indic_vowel_signs_are_letters() -> None:
    assert not found("कि", "का")


def test_a_swedish_note_is_found_by_an_english_question_with_its_word() -> None:
    assert not found("kantareller", "kantarellen", asked=("en",), language="sv")
    assert found("kantareller", "kantarellen", asked=("en", "sv"), language="sv")


def test_an_endless_word_is_cut_alike_where_stored_and_where_asked() -> None:
    endless = "q" * 1_000_000
    assert terms(f"{endless}++", "en") == ["q" * LONGEST_WORD]
    assert found(endless, endless, asked=("en", "und"), language="en")


def test_the_language_rides_in_front_of_the_text() -> None:
    assert split_mark(marked("sv", "en väg")) == ("sv", "en väg")
    assert split_mark("no mark") == ("und", "no mark")


@given(
    st.text(max_size=60),
    st.sampled_from(["en", "sv", "tr", "de", "ar", "und", "zh", "he", "da", "fi", "fa", "hi", "ja"]),
)
def test_every_word_of_a_text_finds_the_text(text: str, language: str) -> None:
    held = set(terms(text, language))
    for word, listed in query_words(text, (language, "und")).items():
        assert held.intersection(listed), word
    assert not any(set(term) & set('" \x1f\0') for term in held)


def test_threads_do_not_share_a_stemmer() -> None:
    words = [f"{stem}{end}" for stem in ("plant", "walk", "jump", "index") for end in ("ing", "ed", "s", "")] * 200
    expected = [terms(f"{word}{number}x {word}", "en") for number, word in enumerate(words)]
    results: list[list[list[str]]] = []

    def work() -> None:
        results.append([terms(f"{word}{number}x {word}", "en") for number, word in enumerate(words)])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("⚠️ of", ["⚠", "of"]),
        ("⚠ of", ["⚠", "of"]),
        ("🎯Goals", ["🎯", "goal"]),
        ("👍🏽 👍", ["👍", "👍"]),
        ("🇸🇪🇩🇪", ["🇸🇪", "🇩🇪"]),
        ("1️⃣", ["1"]),
    ],
    ids=["styled", "bare", "before-a-word", "skin", "flags", "keycap"],
)
def test_an_emoji_is_a_word_in_whatever_style(written: str, wanted: list[str]) -> None:
    assert terms(written, "en") == wanted


def test_an_emoji_is_asked_for_only_where_nothing_else_is() -> None:
    assert list(query_words("where is the rent 😊", ("en",))) == ["where", "is", "the", "rent"]
    assert query_words("⚠️", ("en",)) == {"⚠": ("⚠",)}


def test_a_character_is_found_in_any_of_its_shapes() -> None:
    assert terms("葛\U000e0100城", "ja") == terms("葛城", "ja") != []
