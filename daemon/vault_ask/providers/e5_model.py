"""Runs multilingual-e5-small: text to token ids, token ids to one unit vector. Import it late, it loads onnxruntime."""

import unicodedata
from pathlib import Path

import numpy as np
import onnxruntime
from sentencepiece import SentencePieceProcessor

from vault_ask.index.embedding import Vector
from vault_ask.providers.e5_files import ENCODER, TOKENIZER
from vault_ask.providers.e5_weights import E5Weights

# No piece of the vocabulary is longer, so `limit` tokens never come from more than 16 x `limit` characters.
_LONGEST_PIECE = 16


class E5Model:
    """The loaded model. Every method may be called from several threads at once."""

    def __init__(self, folder: Path, weights_file: Path) -> None:
        self._weights = E5Weights(weights_file)
        shape, vocabulary = self._weights.shape, self._weights.special
        self._start, self._end = vocabulary.bos, vocabulary.eos
        self._translation = _full_translation(self._weights.translation)
        kind = self._weights.floats("emb.type").reshape(-1, shape.hidden)[0]
        self._places = self._weights.floats("emb.pos").reshape(-1, shape.hidden) + kind
        self._tokenizer = SentencePieceProcessor(model_file=str(folder / TOKENIZER))
        self._session = _session(folder / ENCODER)
        self.dimension = shape.hidden
        self.longest = shape.positions - 2

    def tokens(self, text: str) -> list[int]:
        """Give the token ids of a text, without the start and end tokens."""
        ids: list[int] = self._tokenizer.encode(self._normal(text))
        return ids

    def first_tokens(self, text: str, limit: int) -> list[int]:
        """Give the first `limit` token ids, without tokenising much more of a huge text than is needed."""
        normal = " ".join(self._normal(text).split())
        ids: list[int] = self._tokenizer.encode(normal[: limit * _LONGEST_PIECE])
        return ids[:limit]

    def vector(self, tokens: list[int]) -> Vector | None:
        """Embed one sequence of at most `longest` tokens; None when no finite direction comes out."""
        ids = [self._start, *tokens, self._end]
        rows = self._weights.word_rows(ids)
        rows += self._places[: len(ids)]
        mean: Vector = self._session.run(None, {"rows": rows})[0]
        length = float(np.linalg.norm(mean))
        return mean / np.float32(length) if np.isfinite(length) and length > 0 else None

    def _normal(self, text: str) -> str:
        # The model's own table is one character at a time; NFC first joins what it would join by looking at two.
        return unicodedata.normalize("NFC", text).translate(self._translation)


def _full_translation(table: dict[int, str]) -> dict[int, str]:
    """Add what the table leaves open and the tokenizer cannot take: NUL, and halves of surrogate pairs."""
    return table | {0: ""} | dict.fromkeys(range(0xD800, 0xE000), " ")


def _session(file: Path) -> onnxruntime.InferenceSession:
    """Open the encoder for single-threaded runs that keep no memory between them.

    One thread a run and several runs at once gave more than several threads a run. The arena and the memory pattern
    would keep room for the longest text ever seen, the pattern even for each length.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
