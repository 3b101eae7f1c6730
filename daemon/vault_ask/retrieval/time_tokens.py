"""The words of a question as they are compared with the tables of words that name times."""

from collections.abc import Iterator
from dataclasses import dataclass
from unicodedata import normalize

import regex

from vault_ask.notes.fold import fold

NON_LATIN = regex.compile(r"[^\p{Latin}\P{L}]")

_DENSE = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ー"
_TOKENS = regex.compile(
    rf"\p{{Nd}}+|[{_DENSE}]|[\p{{L}}--[{_DENSE}]][\p{{M}}\p{{L}}--[{_DENSE}]]*|[^\s'’\p{{L}}\p{{N}}]", regex.V1
)
_HAMZA = str.maketrans({"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه", "ؤ": "و", "ئ": "ي", "ـ": None})
_VOWEL_SIGNS = regex.compile(r"[\u064b-\u0652]")
_ACCENTS = regex.compile(r"\p{M}+")

_GROUP = regex.compile(r"\(([^()]*)\)")

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number, a sign, or one character of a script that writes no spaces; `text` is folded."""

    text: str
    start: int
    end: int


def tokens_of(text: str) -> list[Token]:
    """Part a text into tokens; apostrophes part words and are none."""
    return [Token(plain(found[0]), found.start(), found.end()) for found in _TOKENS.finditer(text)]


def plain(word: str) -> str:
    """Write a word as words are compared: folded, Arabic without hamza and vowel signs."""
    if word.isascii():
        return word.lower()
    folded = fold(word)
    return _VOWEL_SIGNS.sub("", folded).translate(_HAMZA)


def without_accents(phrase: Phrase) -> Phrase:
    """Write a phrase as on a foreign keyboard."""
    return tuple(_ACCENTS.sub("", normalize("NFD", word)) for word in phrase)


def alternatives(forms: str) -> list[str]:
    """Part the forms of one name at the `|` outside of brackets."""
    parts, depth = [""], 0
    for sign in forms:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if sign == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def spelled(written: str) -> Iterator[Phrase]:
    """Give the phrases that a written form stands for, as tokens."""
    group = _GROUP.search(written)
    if group is None:
        phrase = tuple(token.text for token in tokens_of(written))
        if phrase:
            yield phrase
        return
    for choice in group[1].split("|"):
        yield from spelled(f"{written[: group.start()]}{choice}{written[group.end() :]}")
