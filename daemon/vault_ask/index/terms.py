"""The words of a text as the word index knows them: one function for what is stored and for what is asked.

A word is folded (spelling.py) and stemmed by the Snowball stemmer of its text's language, and stored a second time
without diacritics where that differs, so that `Asa` finds `Åsa` while `far` and `får` stay two words. Long words of
languages that write compounds in one are stored a third time from their end, so that `Vertrag` finds `Mietvertrag`.
Runs of scripts written without spaces become single characters and pairs of them, and each emoji is a word, whatever
its style or the tone of its skin. Knows nothing of SQL.
"""

import math
import re
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache

import regex
import Stemmer

from vault_ask.index.spelling import CHINESE, fold, simplified, tidy, without_marks

RECIPE = "4"
"""Raised when the same text comes to have other terms, so that the word index is made anew when it is next opened."""

LANGUAGE_MARK = "\x1f"
"""Stands between a language code and the text, in what the tokenizer is given."""

LONGEST_WORD = 64
"""A longer run is a hash or an address, not a word; it is cut so that the term index stays small."""

END_MARK = "~"
"""Begins a term that is a long word written backwards; no word begins with it."""

LONG_WORD, LONG_END = 8, 4
"""Stems of so many letters may be compounds; a word may be the end of one if its own stem has so many."""

LONGEST_COUNT = 4
"""Digits up to which a number is a count or a year, and names nothing."""

SHORTEST_PART = 3
"""A part of a compound has so many letters."""

SHORTEST_BEGINNING, SAME_STEM, SAME_WORD = 5, 0.8, 0.7
"""What two forms of a word have in common at least: so many letters, and this share of the stem, or of the word in a
language without a stemmer."""

COMPOUNDING = frozenset({"da", "de", "et", "fi", "hu", "nl", "nn", "no", "sv"})
"""Languages that write compounds in one word, and where they may be looked for from the end."""

_SPACELESS = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー"
_SIGN = r"(?:\+\+|\#(?!\w))?"
"""What makes `C++` and `C#` words of their own; a tag's `#` stands before a word."""
_SIGNS = frozenset("+#")

# Latin text without accents is most text, and the standard library's engine reads it three times faster.
_PLAIN = re.compile(r"[A-Za-z0-9]+" + _SIGN)
_EMOJI = r"\p{Regional_Indicator}{2}|\p{Extended_Pictographic}"
_ANY = regex.compile(
    rf"[{_SPACELESS}]+|[[\p{{L}}\p{{N}}]--[{_SPACELESS}]][[\p{{L}}\p{{M}}\p{{N}}]--[{_SPACELESS}]]*{_SIGN}|{_EMOJI}",
    regex.V1,
)
_AN_EMOJI = regex.compile(_EMOJI)
_JOINED = regex.compile(rf"[{_SPACELESS}]")
_LATIN_LETTER, _OTHER_LETTER = regex.compile(r"\p{Latin}"), regex.compile(r"[\p{L}--\p{Latin}]", regex.V1)
_CAPITAL, _DIGIT = regex.compile(r"\p{Lu}"), regex.compile(r"\p{N}")
_HUMP = regex.compile(r"(?<=\p{Ll})(?=\p{Lu}\p{Ll})")
_GENITIVE = re.compile(r"['’ʼ][sS]\b")
_ALGORITHMS = {
    "ar": "arabic", "bs": "serbian", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german",
    "el": "greek", "en": "english", "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque",
    "fa": "persian", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hr": "serbian",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sh": "serbian", "sk": "czech", "sr": "serbian", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
_HEBREW_PREFIXES = ("ה", "ו", "ב", "ל", "כ", "מ", "ש", "וה", "שה", "מה", "וב", "ול", "ומ")
# What Snowball leaves: of Finnish nouns in -us before an ending (sopimus, sopimuksen), of Swedish ones in -a with their
# article (hyra, hyran), of Turkish ones in a vowel with their possessor (sözleşme, sözleşmesi).
_LEFT_ENDINGS = {
    "fi": (re.compile(r"(?<=[uy])ks$"), "s"),
    "sv": (re.compile(r"(?<=\w\w[^aeiouyåäö])an$"), ""),
    "tr": (re.compile(r"(?<=\w\w[aeıioöuü])s$"), ""),
}
_thread = threading.local()


def terms(text: str, language: str) -> list[str]:
    """List the terms of a text in order, with their variants right behind them."""
    return _cut_into(text, language, _variants)


def index_terms(text: str, language: str) -> list[str]:
    """List what is stored of a text: its terms, and the long words of some languages written backwards besides."""
    return _cut_into(text, language, _stored)


def query_words(text: str, languages: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Map each distinct word of a question, as folded for display, to the terms that would match it.

    `languages` are those of the question and of the vault: a Swedish note was stemmed as Swedish, whatever the
    question's language. A run without spaces gives one word a pair of characters, or the one character it is. An emoji
    is asked for where nothing else is: beside words it is a smile.
    """
    words: dict[str, tuple[str, ...]] = {}
    runs = _runs(text)
    for run in [run for run in runs if not _AN_EMOJI.match(run)] or runs:
        if _JOINED.match(run):
            words.update((pair, _spellings(pair, languages)) for pair in _pairs(run) or [run])
        else:
            word = _cut(run)
            variants = [variant for language in languages for variant in _asked(word, language)]
            words[fold(word, "und")] = tuple(dict.fromkeys(variants))
    return words


def humps(text: str, languages: tuple[str, ...]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Give the words that a question writes together, as `JenniferMoore` does, by the folded whole; each as above."""
    parted = {run: _HUMP.sub(" ", run) for run in _runs(text)}
    return {fold(_cut(run), "und"): query_words(parts, languages) for run, parts in parted.items() if parts != run}


def bare_terms(word: str, languages: tuple[str, ...]) -> frozenset[str]:
    """Give those terms of a question's word that leave out its marks, and so may be another word's.

    These are `far` for `får`, and `c` for `c++`.
    """
    variants = [_variants(word, language) for language in languages]
    if signed := signed_terms(word, languages):
        return frozenset(term for found in variants for term in found) - signed
    return frozenset(bare for found in variants for bare in found[1:]) - {found[0] for found in variants}


def signed_terms(word: str, languages: tuple[str, ...]) -> frozenset[str]:
    """Give the terms of a word that is written with a sign, as `C++` is, that keep the sign; none of any other word."""
    has_sign = word[-1:] in _SIGNS
    return frozenset(_variants(word, language)[-1] for language in languages) if has_sign else frozenset()


def inflections(word: str, language: str) -> tuple[str, ...]:
    """Give the beginnings of terms that may be a question's word in another form, which no stemmer joined with it."""
    stem = _variants(word, language)[0]
    share = SAME_STEM if language in _ALGORITHMS else SAME_WORD
    shared = max(SHORTEST_BEGINNING, math.ceil(share * len(stem)))
    return (stem[:shared],) if shared < len(stem) and _is_word(stem) else ()


def _is_word(stem: str) -> bool:
    return stem.isalpha() and not _JOINED.search(stem)


def compound_ends(word: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Give the beginnings of stored terms that a compound has which ends with a question's word."""
    stems = (_variants(word, language)[0] for language in languages if language in COMPOUNDING)
    return tuple(dict.fromkeys(END_MARK + stem[::-1] for stem in stems if len(stem) >= LONG_END))


def divisions(word: str, language: str) -> Iterator[tuple[str, frozenset[str], str, frozenset[str]]]:
    """Give every way to read a question's word as a compound: modifier, its terms, head, and its terms.

    Most are nonsense, which shows in that no note holds both parts. What stands between them (`hyr|es|avtal`) is an
    ending to the stemmer.
    """
    for at in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1):
        modifier, head = word[:at], word[at:]
        yield modifier, frozenset(_variants(modifier, language)), head, frozenset(_variants(head, language))


def names(text: str) -> frozenset[str]:
    """List the words of a question, folded as `query_words` folds them, that look like names or numbers.

    These have a digit, a capital that does not only begin the question, or Latin letters among those of other scripts.
    """
    runs = _runs(text)
    abroad = any(_OTHER_LETTER.search(run) for run in runs)
    return frozenset(
        fold(_cut(run), "und") for at, run in enumerate(runs) if _is_name(run, first=not at, abroad=abroad)
    )


def _is_name(run: str, *, first: bool, abroad: bool) -> bool:
    if _DIGIT.search(run) or (abroad and _LATIN_LETTER.search(run)):
        return True
    return not run.islower() and bool(_CAPITAL.search(run[first:]))


def name_terms(text: str, language: str) -> frozenset[str]:
    """Give the terms of what a text does not write in lower case: names, codes, and all of a script without case.

    A word that begins a sentence is among them, and so is a number that is too long for a count or a year.
    """
    return frozenset(terms(" ".join(filter(_is_telling, _runs(text))), language))


def _is_telling(run: str) -> bool:
    if run.isdecimal():
        return len(run) > LONGEST_COUNT
    # An emoji is no letter.
    return not run.islower() and run[0].isalnum()


def marked(language: str, text: str) -> str:
    """Put the language in front of a text for the tokenizer."""
    return f"{language}{LANGUAGE_MARK}{text}"


def split_mark(text: str) -> tuple[str, str]:
    """Take the language off a marked text; a text without a mark has no language."""
    language, mark, rest = text.partition(LANGUAGE_MARK)
    return (language, rest) if mark else ("und", text)


def _cut_into(text: str, language: str, variants: Callable[[str, str], tuple[str, ...]]) -> list[str]:
    found: list[str] = []
    for run in _runs(text):
        # Asked of each word of the vault, so the cheapest question comes first.
        if not run.isascii() and _JOINED.match(run):
            written = simplified(run) if language in CHINESE else run
            found.extend(written)
            found.extend(_pairs(written))
        else:
            found.extend(variants(run if len(run) <= LONGEST_WORD else _cut(run), language))
    return found


def _runs(text: str) -> list[str]:
    """Cut a text into words and runs of scripts without spaces; the `s` of `landlord's` is no word of its own."""
    text = _GENITIVE.sub(" ", text)
    if text.isascii():
        return _PLAIN.findall(text)
    found: list[str] = _ANY.findall(tidy(text))
    return found


def _cut(run: str) -> str:
    """Cut before anything remembers the run: a file may be one run of a million letters."""
    return run if len(run) <= LONGEST_WORD else run[:LONGEST_WORD].rstrip("+#")


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)]


def _spellings(pair: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Give characters as they are, and as a Chinese text of either spelling is stored."""
    return tuple(dict.fromkeys((pair, simplified(pair)))) if CHINESE.intersection(languages) else (pair,)


@lru_cache(maxsize=50_000)
def _stored(run: str, language: str) -> tuple[str, ...]:
    variants = _variants(run, language)
    is_compound = language in COMPOUNDING and len(variants[0]) >= LONG_WORD and variants[0].isalpha()
    return (*variants, END_MARK + variants[0][::-1]) if is_compound else variants


def _asked(word: str, language: str) -> tuple[str, ...]:
    variants = _variants(word, language)
    if language != "he":
        return variants
    bare = [variants[0], *([word[1:]] if word.startswith("ה") and len(word) >= LONG_END else [])]
    return (*variants, *(prefix + form for form in bare for prefix in ("", *_HEBREW_PREFIXES)))


@lru_cache(maxsize=50_000)
def _variants(run: str, language: str) -> tuple[str, ...]:
    """Give the stem of a word, its bare form where that differs, and the word with its sign."""
    word = run.rstrip("+#")
    stem = _stem(fold(word, language), language)
    plain = without_marks(stem)
    signed = (fold(run, language),) if run != word else ()
    return tuple(dict.fromkeys((stem, plain, *signed)))


def _stem(word: str, language: str) -> str:
    stemmer = _stemmer(language)
    if stemmer is None:
        return word
    ending, instead = _LEFT_ENDINGS.get(language, (None, ""))
    stem = stemmer.stemWord(word)
    return ending.sub(instead, stem) if ending else stem


def _stemmer(language: str) -> "Stemmer.Stemmer | None":
    """Give this thread's stemmer: Snowball's objects are not safe to share between threads."""
    if language not in _ALGORITHMS:
        return None
    stemmers: dict[str, Stemmer.Stemmer] = _thread.__dict__.setdefault("stemmers", {})
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(_ALGORITHMS[language], 0)
    return stemmers[language]
