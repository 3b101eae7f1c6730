"""The words of a text as the word index knows them: one function for what is stored and for what is asked.

A word is folded and stemmed by the Snowball stemmer of its text's language, and stored a second time without
diacritics where that differs, so that `Asa` finds `Åsa` while `far` and `får` stay two words. Runs of scripts written
without spaces become single characters and pairs of them. Knows nothing of SQL.
"""

import re
import threading
import unicodedata
from functools import lru_cache

import regex
import Stemmer

LANGUAGE_MARK = "\x1f"
"""Stands between a language code and the text, in what the tokenizer is given."""

LONGEST_WORD = 64
"""A longer run is a hash or an address, not a word; it is cut so that the term index stays small."""

_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
_SIGN = r"(?:\+\+|\#(?!\w))?"
"""What makes `C++` and `C#` words of their own; a tag's `#` stands before a word."""

# Latin text without accents is most text, and the standard library's engine reads it three times faster.
_PLAIN = re.compile(r"[A-Za-z0-9]+" + _SIGN)
_ANY = regex.compile(rf"[{_SPACELESS}]+|[[\p{{L}}\p{{M}}\p{{N}}]--[{_SPACELESS}]]+" + _SIGN, regex.V1)
_JOINED = regex.compile(rf"[{_SPACELESS}]")
_GENITIVE = re.compile(r"['’ʼ][sS]\b")
_ALGORITHMS = {
    "ar": "arabic", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
_TURKIC = frozenset({"tr", "az"})
_TURKIC_CAPITALS = str.maketrans({"I": "ı", "İ": "i"})
_DOTLESS = str.maketrans({"ı": "i", "ø": "o", "ł": "l", "đ": "d"})
# Accents, Hebrew points and Arabic vowel signs. The vowel signs of Indic scripts are letters and stay.
_MARKS = regex.compile(r"[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0670]")
_thread = threading.local()


def terms(text: str, language: str) -> list[str]:
    """List the terms of a text in order, with their variants right behind them."""
    found: list[str] = []
    for run in _runs(text):
        # Asked of each word of the vault, so the cheapest question comes first.
        if not run.isascii() and _JOINED.match(run):
            found.extend(run)
            found.extend(_pairs(run))
        else:
            found.extend(_variants(run if len(run) <= LONGEST_WORD else _cut(run), language))
    return found


def query_words(text: str, languages: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Map each distinct word of a question, as folded for display, to the terms that would match it.

    `languages` are those of the question and of the vault: a Swedish note was stemmed as Swedish, whatever the
    question's language. A run without spaces gives one word a pair of characters, or the one character it is.
    """
    words: dict[str, tuple[str, ...]] = {}
    for run in _runs(text):
        if _JOINED.match(run):
            words.update((pair, (pair,)) for pair in _pairs(run) or [run])
        else:
            word = _cut(run)
            variants = [variant for language in languages for variant in _variants(word, language)]
            words[_fold(word, "und")] = tuple(dict.fromkeys(variants))
    return words


def marked(language: str, text: str) -> str:
    """Put the language in front of a text for the tokenizer."""
    return f"{language}{LANGUAGE_MARK}{text}"


def split_mark(text: str) -> tuple[str, str]:
    """Take the language off a marked text; a text without a mark has no language."""
    language, mark, rest = text.partition(LANGUAGE_MARK)
    return (language, rest) if mark else ("und", text)


def _runs(text: str) -> list[str]:
    """Cut a text into words and runs of scripts without spaces; the `s` of `landlord's` is no word of its own."""
    text = _GENITIVE.sub(" ", text)
    if text.isascii():
        return _PLAIN.findall(text)
    found: list[str] = _ANY.findall(unicodedata.normalize("NFKC", text))
    return found


def _cut(run: str) -> str:
    """Cut before anything remembers the run: a file may be one run of a million letters."""
    return run if len(run) <= LONGEST_WORD else run[:LONGEST_WORD].rstrip("+#")


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


@lru_cache(maxsize=50_000)
def _variants(run: str, language: str) -> tuple[str, ...]:
    word = run.rstrip("+#")
    stem = _stem(_fold(word, language), language)
    plain = _without_marks(stem)
    signed = (_fold(run, language),) if run != word else ()
    return tuple(dict.fromkeys((stem, plain, *signed)))


def _fold(word: str, language: str) -> str:
    return (word.translate(_TURKIC_CAPITALS) if language in _TURKIC else word).casefold()


def _without_marks(word: str) -> str:
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word.translate(_DOTLESS))
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed)) or word


def _stem(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    return stemmer.stemWord(word) if stemmer else word


def _stemmer(language: str) -> "Stemmer.Stemmer | None":
    """Give this thread's stemmer: Snowball's objects are not safe to share between threads."""
    if language not in _ALGORITHMS:
        return None
    stemmers: dict[str, Stemmer.Stemmer] = _thread.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(_ALGORITHMS[language], 0)
    return stemmers[language]
