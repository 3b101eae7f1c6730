"""How names are compared: composed (NFC) and without case. Knows nothing of paths, tags or rules."""

import re
import unicodedata

import regex

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_UNSEEN = regex.compile(r"[\p{Cf}\ufe00-\ufe0f]+")
_LONE_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def fold(text: str) -> str:
    """Fold a name for comparison. A dotted capital İ folds to a plain i, as its Turkish lower case does."""
    folded = unicodedata.normalize("NFC", text).casefold()
    # str.casefold turns İ into i + U+0307, which no lower-case spelling has; some foldings decompose (ΐ).
    return unicodedata.normalize("NFC", folded).replace("i̇", "i")


def fold_loosely(text: str) -> str:
    """Fold so that all meets what looks alike: only where a false match is the safe side (personal rules).

    A dotless ı is an i, wide letters are letters, and signs that nobody sees are none.
    """
    if text.isascii():
        return text.lower()
    return fold(unicodedata.normalize("NFKC", _UNSEEN.sub("", text))).replace("ı", "i")


def storable(text: str) -> str:
    """Replace what no store or encoder takes: NUL by a space, a lone surrogate by U+FFFD."""
    # Hardly any text holds one, and looking is far quicker than translating.
    return text.replace("\x00", " ").translate(_LONE_SURROGATES) if _UNSTORABLE.search(text) else text
