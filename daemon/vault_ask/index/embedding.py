"""The port to whatever turns text into vectors, and the space its vectors live in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Priors:
    """Means that ship with a model, by language with `und` for all: of passages, and of questions."""

    passages: Mapping[str, Vector] = field(default_factory=dict)
    questions: Mapping[str, Vector] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingSpace:
    """What must be equal for two vectors to be comparable."""

    model: str
    dimension: int
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def fingerprint(self) -> str:
        """A short name for this space, stored beside the vectors."""
        parts = "\x1f".join((self.model, str(self.dimension), self.query_prefix, self.passage_prefix))
        return sha256(parts.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Refused:
    """The embedder could not make a usable vector of this one text."""

    reason: str


class Embedder(Protocol):
    """Turns text into unit vectors of shape (dimension,), float32, finite, never zero."""

    @property
    def space(self) -> EmbeddingSpace:
        """The space of every vector this embedder makes. May ask the model server once.

        Raises ModelUnreachable, ModelRefused.
        """
        ...

    @property
    def max_tokens(self) -> int:
        """The longest text, in tokens with its prefix, that goes in whole."""
        ...

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text without prefix; an upper estimate where the tokenizer is not at hand."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        """Embed passages, one result a text in order; a bad text yields Refused and never harms its neighbours.

        Raises ModelUnreachable or ModelBusy when the whole batch should be tried again later, ModelRefused when the
        model is missing or misconfigured.
        """
        ...

    def embed_query(self, text: str) -> Vector:
        """Embed one question. Raises ModelError."""
        ...

    def priors(self) -> Priors:
        """Give the means that ship with the model; empty where none do."""
        ...


def space_changed(kept: str, wanted: EmbeddingSpace) -> str:
    """Word the refusal of another embedding space."""
    return (
        f"The index was built with another embedding space (model {kept}, with its prefixes and dimension) than the "
        f"configuration now asks for: {wanted.model} ({wanted.dimension} dimensions). Vectors of the two cannot be "
        "compared. Run `vault-ask index --rebuild` to build a new index, or set the former model again."
    )
