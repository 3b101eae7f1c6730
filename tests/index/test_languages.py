"""Which words are one word, in many languages: a table of what is asked, what is written, and whether it is found.

Here it is told of terms alone. What a vault's own words decide is in tests/retrieval/test_words.py.
"""

import pytest

from vault_ask.index.terms import (
    COMPOUNDING,
    bare_terms,
    compound_ends,
    divisions,
    index_terms,
    inflections,
    names,
    query_words,
    terms,
)

ONE_WORD = [
    # German: ä, ö, ü and ß have spellings for those who lack the keys, and fall away in the plural.
    ("de", "Müller", "Mueller"),
    ("de", "Mueller", "Müller"),
    ("de", "Muller", "Müller"),
    ("de", "Straße", "STRASSE"),
    ("de", "Strasse", "Straße"),
    ("de", "Haus", "Häuser"),
    ("de", "Verträge", "Vertrag"),
    # The Nordic languages: å, ä, ö, æ, ø are letters, and aa, ae, oe their spellings in Danish and Norwegian.
    ("sv", "Asa", "Åsa"),
    ("sv", "flickorna", "flicka"),
    ("sv", "hyra", "hyran"),
    ("sv", "resans", "resor"),
    ("da", "Aarhus", "Århus"),
    ("da", "Århus", "Aarhus"),
    ("da", "kokken", "køkken"),
    ("no", "Ærø", "Aeroe"),
    ("nn", "hytta", "hytte"),
    # Turkish has two letters i, with capitals of their own.
    ("tr", "kira", "KİRA"),
    ("tr", "sıkıntı", "SIKINTI"),
    ("tr", "sozlesme", "sözleşme"),
    ("tr", "evlerimizden", "ev"),
    ("tr", "sözleşme", "kira sözleşmesi"),
    ("tr", "nefesi", "nefes"),
    ("pl", "lodz", "Łódź"),
    ("vi", "da nang", "ĐÀ NẴNG"),
    ("vi", "hop dong", "hợp đồng"),
    ("is", "Thorsmork", "Þórsmörk"),
    ("fr", "oeuvre", "Œuvre"),
    ("fr", "œuvre", "oeuvre"),
    ("es", "ano", "año"),
    ("cs", "smlouvy", "smlouva"),
    ("sk", "zmluvu", "zmluva"),
    ("hr", "ugovori", "ugovor"),
    ("sr", "ugovor", "уговори"),
    ("ca", "contractes", "contracte"),
    ("fi", "talossa", "talo"),
    ("fi", "vuokrasopimus", "vuokrasopimuksen"),
    ("fi", "kysymykset", "kysymys"),
    ("hu", "szerződés", "szerződést"),
    ("nl", "huizen", "huis"),
    # Greek: the tonos falls away in capitals, and sigma has another form at the end.
    ("el", "Αθήνα", "ΑΘΗΝΑ"),
    ("el", "οδός", "ΟΔΟΣ"),
    ("el", "συμβόλαιο", "συμβόλαια"),
    # Cyrillic: ё may be written as е.
    ("ru", "ёлка", "елка"),
    ("ru", "Алена", "Алёна"),
    ("ru", "договора", "договор"),
    # Arabic: hamza, vowel signs, stretching, the article with what stands before it; Eastern digits.
    ("ar", "أحمد", "احمد"),
    ("ar", "كِتَابٌ", "كتاب"),
    ("ar", "كتـــاب", "كتاب"),
    ("ar", "كتاب", "والكتاب"),
    ("ar", "الكتاب", "كتاب"),
    ("ar", "مدرسه", "مدرسة"),
    ("ar", "مصطفى", "مصطفي"),
    ("ar", "123", "١٢٣"),
    # Persian: letters typed on an Arabic keyboard, joiners that nobody sees.
    ("fa", "کتاب", "كتاب"),
    ("fa", "یک", "يك"),
    ("fa", "می‌روم", "میروم"),
    ("fa", "کتاب‌ها", "کتاب"),
    ("fa", "۱۲۳", "123"),
    ("ur", "کتاب", "كتاب"),
    # Hebrew: particles are written in one with the word.
    ("he", "ספר", "הספר"),
    ("he", "הספר", "ספר"),
    ("he", "בית", "בבית"),
    ("he", "שלום", "שָׁלוֹם"),
    # Hindi: the dot of foreign sounds is often left out.
    ("hi", "फ़ोन", "फोन"),
    ("hi", "जरूरत", "ज़रूरत"),
    ("hi", "लड़का", "लड़के"),
    # Scripts without spaces; widths; Latin words among them.
    ("ja", "ﾒﾓ", "メモ"),
    ("ja", "２０２４年", "2024年"),
    ("ja", "Ｑ３", "Q3予算"),
    ("ja", "予算", "Q3予算"),
    ("zh", "iPhone", "我的iPhone手机"),
    ("zh", "手机", "我的iPhone手机"),
    ("zh", "合約", "合约"),
    ("zh", "臺灣", "台湾"),
    ("zh", "学习", "學習"),
    ("ko", "계약서", "계약서에는"),
    ("ko", "학교", "학교에서"),
    ("th", "สัญญา", "สัญญาเช่า"),
    # English, and signs that nobody sees.
    ("en", "policies", "policy"),
    ("en", "cafe", "café"),
    ("en", "resume", "résumé"),
    ("de", "Mietvertrag", "Miet\u00advertrag"),
]

TWO_WORDS = [
    ("sv", "far", "for"),
    ("sv", "pan", "planet"),
    ("sv", "utan", "ut"),
    ("tr", "kol", "kul"),
    ("ru", "иод", "йод"),
    ("da", "hus", "hås"),
    ("hi", "पढ़ना", "पढना"),
    ("el", "νόμος", "νωμός"),
    ("zh", "土地", "地土"),
    ("en", "university", "universe"),
    ("en", "organization", "organ"),
    ("en", "policy", "police"),
    ("en", "news", "new"),
    ("de", "Vertrag", "Ertrag"),
    ("he", "ספר", "מספרים"),
]


def is_found(language: str, asked: str, written: str) -> bool:
    held = set(terms(written, language))
    words = query_words(asked, (language, "en", "und"))
    return bool(words) and all(held.intersection(listed) for listed in words.values())


@pytest.mark.parametrize(("language", "asked", "written"), ONE_WORD)
def test_spellings_of_one_word_find_each_other(language: str, asked: str, written: str) -> None:
    assert is_found(language, asked, written)


@pytest.mark.parametrize(("language", "asked", "written"), TWO_WORDS)
def test_two_words_stay_two(language: str, asked: str, written: str) -> None:
    assert is_found(language, written, written)
    assert not is_found(language, asked, written)


@pytest.mark.parametrize(
    ("language", "marked", "bare"),
    [("sv", "får", "far"), ("sv", "hör", "hor"), ("vi", "má", "ma"), ("fr", "pêche", "pech"), ("pl", "łódź", "lodz")],
)
def test_what_leaves_out_the_marks_of_a_word_is_known_apart(language: str, marked: str, bare: str) -> None:
    listed = query_words(marked, (language, "und"))[marked]
    assert bare in bare_terms(marked, (language, "und"))
    assert set(listed) - bare_terms(marked, (language, "und"))


def test_a_stem_without_marks_is_not_taken_for_a_bare_form() -> None:
    assert terms("schön", "de") == ["schon"]
    assert "schon" not in bare_terms("schön", ("de", "und"))
    assert bare_terms("barn", ("sv", "en", "und")) == frozenset()


@pytest.mark.parametrize(
    ("language", "end", "compound"),
    [
        ("de", "Vertrag", "Mietverträge"),
        ("sv", "avtal", "hyresavtalet"),
        ("nl", "contract", "huurcontracten"),
        ("da", "kontrakt", "lejekontrakten"),
        ("no", "nøkkel", "hyttenøkkelen"),
        ("fi", "sopimus", "vuokrasopimuksen"),
    ],
)
def test_a_compound_is_stored_from_its_end_too(language: str, end: str, compound: str) -> None:
    ends = compound_ends(end, (language, "en", "und"))
    assert any(term.startswith(ends) for term in index_terms(compound, language))
    assert not any(term.startswith(ends) for term in terms(compound, language))


def test_only_long_words_of_compounding_languages_have_ends() -> None:
    assert index_terms("sommarhuset", "sv") == ["sommarhus", "~suhrammos"]
    assert index_terms("telephones", "en") == ["telephon"]
    assert index_terms("bilen", "sv") == ["bil"]
    assert index_terms("sommarhus2024", "sv") == ["sommarhus2024"]
    assert compound_ends("avtal", ("en", "und")) == ()
    assert compound_ends("hus", ("sv",)) == ()
    assert "sv" in COMPOUNDING


@pytest.mark.parametrize(
    ("language", "compound", "modifier", "head"),
    [
        ("sv", "hyresavtal", "hyran", "avtalen"),
        ("de", "mietvertrag", "Miete", "Verträge"),
        ("de", "geburtstagsfeier", "Geburtstag", "Feier"),
        ("nl", "huurcontract", "huur", "contracten"),
        ("no", "barnehageplass", "barnehage", "plassen"),
        ("de", "hilfsmittel", "Hilfe", "Mittel"),
        ("nl", "stadsbestuur", "stad", "bestuur"),
        ("da", "fødselsdag", "fødsel", "dagen"),
        ("sv", "arbetstid", "arbetet", "tider"),
    ],
)
def test_one_of_a_compounds_divisions_is_the_right_one(language: str, compound: str, modifier: str, head: str) -> None:
    left, right = set(terms(modifier, language)), set(terms(head, language))
    assert [one for one in divisions(compound, language) if one[1] & left and one[3] & right]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("Where did Anna meet the CEO in 2024?", {"anna", "ceo", "2024"}),
        ("when does the lease of flat 4b end", {"4b"}),
        ("NASA budget", {"nasa"}),
        ("昨天的iPhone手机", {"iphone"}),
        ("昨天的obsidian插件", {"obsidian"}),
        ("когда выходит Obsidian", {"obsidian"}),
        ("où est McDonald's", {"mcdonald"}),
        ("what is a lease", set()),
    ],
)
def test_names_and_numbers_are_told_from_words(question: str, found: set[str]) -> None:
    assert names(question) == found
    assert found <= set(query_words(question, ("en", "und")))


def test_other_forms_share_most_of_a_long_word() -> None:
    assert inflections("договором", "uk") == ("договор",)
    assert inflections("anteckningarna", "sv") == ("anteckni",) != inflections("anteckningarna", "lv")
    assert inflections("organs", "en") == inflections("违约金条款违约", "zh") == inflections("sync2024", "en") == ()
