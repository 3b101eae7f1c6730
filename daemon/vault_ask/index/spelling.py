"""One spelling for what is one letter or one word in a language, and for nothing that is two.

Folded always, in what is stored and in what is asked: case (by the language's own rules), widths, digits of all
scripts, invisible signs inside a word, and spellings that stand for the same letter (`aa` and `å` in Danish, the forms
of yeh and kaf; the stemmers do it for `ё` and `е` in Russian, `ue` and `ü` in German). Diacritics are letters in most
languages and are never folded here: `without_marks` gives the bare form, which is stored beside the word for those who
cannot type it.
"""

import re
import unicodedata
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import regex

from vault_ask.errors import ConfigError

CHINESE = frozenset({"zh", "yue", "wuu"})
_TURKIC = frozenset({"tr", "az"})
_RINGED = frozenset({"da", "no", "nn"})

# Joiners, soft hyphens and the Arabic stretching stroke may stand inside any word; the Hindi dot below changes a letter
# to a foreign sound that many write without it (but two letters, which it makes Hindi sounds); a selector chooses among
# the shapes of one Chinese character or emoji. A blank without width parts words where no others do (Khmer, Thai);
# between letters that have a case it is where a web page let a line break.
_INVISIBLE = regex.compile(
    r"[\u00ad\u200c\u200d\u2060\ufeff\u0640\ufe00-\ufe0f\u20e3\U000e0100-\U000e01ef]|(?<=[कखगजफ])\u093c"
    r"|(?<=[\p{Lu}\p{Ll}])\u200b(?=[\p{Lu}\p{Ll}])"
)
# Two letters of Unicode that are typed as an apostrophe, which is none.
_APOSTROPHES = str.maketrans("ʼʻ", "''")
# The breve of й is part of another letter, not a mark on и.
_MARKS = regex.compile(r"(?<!и)\u0306|[\u0300-\u0305\u0307-\u036f]")
# Vowel signs of Arabic and points of Hebrew: hardly anybody writes them, and nobody asks with them.
_POINTS = regex.compile(r"[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u0652\u0670]")
_ARTICLE_BEHIND = regex.compile(r"^[وفبك](?=ال\w{3})")

_TURKIC_CAPITALS = str.maketrans({"I": "ı", "İ": "i"})
_UNDIVIDED = str.maketrans(
    {"ı": "i", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe"}
)  # fmt: skip
_ARABIC_LETTERS = str.maketrans({"ک": "ك", "ی": "ي", "ى": "ي"})
_DIGIT = re.compile(r"\d")


def tidy(text: str) -> str:
    """Give a text with compatible forms of letters made one and invisible signs taken out of its words."""
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).translate(_APOSTROPHES))


def fold(word: str, language: str) -> str:
    """Give the one spelling of a tidy word in a language, lower-cased."""
    if word.isascii() and language not in _TURKIC and language not in _RINGED:
        return word.lower()
    word = (word.translate(_TURKIC_CAPITALS) if language in _TURKIC else word).casefold()
    if language in _RINGED:
        return word.replace("aa", "å").replace("ae", "æ").replace("oe", "ø")
    return _semitic(_DIGIT.sub(lambda digit: str(unicodedata.decimal(digit[0])), word), language)


def _semitic(word: str, language: str) -> str:
    """Take off points, and give Arabic letters one form each."""
    word = _POINTS.sub("", word) or word
    if language == "fa":  # whose stemmer makes all letters Persian
        return word
    word = word.translate(_ARABIC_LETTERS)
    # `and the book`: the stemmer knows the article, and the other prefixes, but not both. Larkey's light10 takes off
    # both (Larkey, Ballesteros and Connell, "Light stemming for Arabic information retrieval", 2007).
    return _ARTICLE_BEHIND.sub("", word) if language == "ar" else word


def without_marks(word: str) -> str:
    """Give a folded word in bare letters, as people type it who have no key for its marks."""
    if word.isascii():
        return word
    decomposed = unicodedata.normalize("NFD", word.translate(_UNDIVIDED))
    return unicodedata.normalize("NFC", _MARKS.sub("", decomposed)) or word


def simplified(run: str) -> str:
    """Give Chinese characters in their simplified form, one for one. Raises ConfigError when the table is missing."""
    return run.translate(_simplifications())


@lru_cache(maxsize=1)
def _simplifications() -> dict[int, str]:
    """Read OpenCC's table of characters, `traditional<TAB>simplified...` a line; where there are several, the first."""
    spec = find_spec("opencc_purepy")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        file = Path(folder) / "dicts" / "TSCharacters.txt"
        if file.is_file():
            pairs = (line.split() for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
            return {ord(pair[0]): pair[1] for pair in pairs if len(pair) > 1 and len(pair[0]) == 1}
    raise ConfigError("The table of Chinese characters of opencc-purepy is missing. Install the package again.")
