"""Runs multilingual-e5-small: token ids to one unit vector. Import it late, it loads onnxruntime."""

from pathlib import Path

import numpy as np
import onnxruntime

from vault_ask.index.embedding import Vector
from vault_ask.providers.e5_files import ENCODER
from vault_ask.providers.e5_weights import E5Weights


class E5Model:
    """The loaded model. Every method may be called from several threads at once."""

    def __init__(self, folder: Path, weights: E5Weights) -> None:
        self._weights = weights
        shape, vocabulary = self._weights.shape, self._weights.special
        self._start, self._end = vocabulary.bos, vocabulary.eos
        kind = self._weights.floats("emb.type").reshape(-1, shape.hidden)[0]
        self._places = self._weights.floats("emb.pos").reshape(-1, shape.hidden) + kind
        self._session = _session(folder / ENCODER)
        self.dimension = shape.hidden
        self.longest = shape.positions - 2

    def vector(self, tokens: list[int]) -> Vector | None:
        """Embed one sequence of at most `longest` tokens; None when no finite direction comes out."""
        ids = [self._start, *tokens, self._end]
        rows = self._weights.word_rows(ids)
        rows += self._places[: len(ids)]
        mean: Vector = self._session.run(None, {"rows": rows})[0]
        length = float(np.linalg.norm(mean))
        return mean / np.float32(length) if np.isfinite(length) and length > 0 else None


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
