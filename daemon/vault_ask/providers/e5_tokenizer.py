"""Cuts text into the tokens of multilingual-e5-small. Needs the model's files, and not the runtime that embeds."""

import unicodedata
from collections.abc import Mapping
from pathlib import Path

from sentencepiece import SentencePieceProcessor

from vault_ask.providers.e5_files import TOKENIZER
from vault_ask.providers.e5_weights import E5Weights

# No piece of the vocabulary is longer, so `limit` tokens never come from more than 16 x `limit` characters.
_LONGEST_PIECE = 16


class E5Tokenizer:
    """The loaded tokenizer. Every method may be called from several threads at once."""

    def __init__(self, folder: Path, weights: E5Weights) -> None:
        self._translation = _full_translation(weights.translation)
        self._pieces = SentencePieceProcessor(model_file=str(folder / TOKENIZER))

    def tokens(self, text: str) -> list[int]:
        """Give the token ids of a text, without the start and end tokens."""
        ids: list[int] = self._pieces.encode(self._normal(text))
        return ids

    def first_tokens(self, text: str, limit: int) -> list[int]:
        """Give the first `limit` token ids, without tokenising much more of a huge text than is needed."""
        normal = " ".join(self._normal(text).split())
        ids: list[int] = self._pieces.encode(normal[: limit * _LONGEST_PIECE])
        return ids[:limit]

    def _normal(self, text: str) -> str:
        if text.isascii() and text.isprintable():
            return text  # as it is: the table holds nothing of that, and looking is quicker than translating
        # The model's own table is one character at a time; NFC first joins what it would join by looking at two.
        return unicodedata.normalize("NFC", text).translate(self._translation)


def _full_translation(table: Mapping[int, str]) -> dict[int, str]:
    """Add what the table leaves open and the tokenizer cannot take: NUL, and halves of surrogate pairs."""
    return {**table, 0: "", **dict.fromkeys(range(0xD800, 0xE000), " ")}
