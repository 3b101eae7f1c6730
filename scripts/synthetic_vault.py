"""An index of any size without a vault behind it: words as rare as real ones, links, days, and random unit vectors.

It tells what a search costs, and nothing of what it finds.
"""

from collections.abc import Iterator, Sequence
from datetime import date
from hashlib import blake2b
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vault_ask.index.drafts import Draft, embedding_hash
from vault_ask.index.embedding import EmbeddingSpace, Priors, Refused, Vector
from vault_ask.index.files import IndexFiles
from vault_ask.index.writer import IndexWriter
from vault_ask.notes.model import Chunk, Link, LinkKind, Note
from vault_ask.scope import Sensitivity

DIMENSION = 384
WORDS, WORDS_A_CHUNK = 30_000, 90
RARITY = 1.07
"""Exponent of Zipf's law for the words of a text."""
CHUNKS_A_NOTE, LINKS_A_NOTE = 5, 3
AT_ONCE = 500
FIRST_DAY = date(2020, 1, 1).toordinal()
_SYLLABLES = [f"{consonant}{vowel}" for consonant in "bdfghjklmnprstvz" for vowel in "aeiou"]


class Randomly:
    """An embedder that draws the vector of a text at random, the same each time."""

    max_tokens = 512
    space = EmbeddingSpace(model="random", dimension=DIMENSION)

    def count_tokens(self, text: str) -> int:
        """Count words."""
        return len(text.split())

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        """Draw a vector for each."""
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> Vector:
        """Draw a vector."""
        seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest())
        return _unit(np.random.default_rng(seed).normal(size=(1, DIMENSION)))[0]

    def priors(self) -> Priors:
        """Give none."""
        return Priors()


class SyntheticVault:
    """Notes made of made-up words."""

    def __init__(self, chunks: int, *, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self._notes = max(chunks // CHUNKS_A_NOTE, 1)
        self._words = np.array([_word(number) for number in range(WORDS)])
        rarity = 1.0 / np.arange(1, WORDS + 1) ** RARITY
        self._shares = np.cumsum(rarity / rarity.sum())

    def build(self, data: Path) -> None:
        """Write the index into a data folder."""
        writer = IndexWriter(IndexFiles(data).current)
        writer.use_space(Randomly.space, Randomly().priors(), "off")
        notes = (self._draft(number) for number in range(self._notes))
        while drafts := list(islice(notes, AT_ONCE)):
            hashes = [embedding_hash(chunk) for draft in drafts for chunk in draft.chunks]
            vectors = _unit(self._random.normal(size=(len(hashes), DIMENSION)))
            writer.replace(drafts, dict(zip(hashes, vectors, strict=True)))
        writer.resolve_links()
        writer.refresh_statistics(force=True)
        writer.close()

    def questions(self, number: int) -> Iterator[str]:
        """Give questions of eight words each, as common and as rare as those of the notes."""
        return (" ".join(self._text(8)) for _ in range(number))

    def _draft(self, number: int) -> Draft:
        linked = self._random.integers(self._notes, size=LINKS_A_NOTE)
        bodies = [" ".join(self._text(WORDS_A_CHUNK)) for _ in range(CHUNKS_A_NOTE)]
        day = FIRST_DAY + number % 2_000
        note = Note(
            path=f"{number % 97}/{_name(number)}.md",
            title=_name(number),
            lines=tuple(bodies),
            body_line=1,
            sensitivity=Sensitivity.OPEN,
            links=tuple(Link(kind=LinkKind.WIKILINK, target=_name(other), line=1) for other in linked),
            language="en",
            days=(day, day),
        )
        return Draft(
            note=note,
            chunks=tuple(_chunk(note, ordinal, body) for ordinal, body in enumerate(bodies)),
            resolved_path=note.path,
            content_hash=number.to_bytes(16),
            revision="1",
            mtime=float(number),
            size=sum(map(len, bodies)),
        )

    def _text(self, words: int) -> list[str]:
        return list(self._words[np.searchsorted(self._shares, self._random.random(words)).clip(max=WORDS - 1)])


def _chunk(note: Note, ordinal: int, body: str) -> Chunk:
    return Chunk(
        id=f"{note.title}-{ordinal}",
        ordinal=ordinal,
        heading_path=(note.title, f"Part {ordinal}"),
        prelude=f"{note.title} > Part {ordinal}",
        body=body,
        line_start=ordinal + 1,
        line_end=ordinal + 1,
        tokens=WORDS_A_CHUNK,
        days=note.days,
    )


def _name(number: int) -> str:
    return f"{_word(number % WORDS)} {number}"


def _word(number: int) -> str:
    """Spell a number in syllables, common words short."""
    digits = []
    number += len(_SYLLABLES)
    while number:
        number, digit = divmod(number, len(_SYLLABLES))
        digits.append(_SYLLABLES[digit])
    return "".join(digits)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float32]:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
