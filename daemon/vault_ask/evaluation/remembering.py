"""An embedder that embeds each question once, however many configurations ask it."""

from collections.abc import Sequence

from vault_ask.index.embedding import Embedder, EmbeddingSpace, Priors, Refused, Vector


class Remembering:
    """Remembers the vectors of questions; the rest is done by the embedder behind."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._questions: dict[str, Vector] = {}

    @property
    def space(self) -> EmbeddingSpace:
        """The space of the embedder behind."""
        return self._embedder.space

    @property
    def max_tokens(self) -> int:
        """The limit of the embedder behind."""
        return self._embedder.max_tokens

    def count_tokens(self, text: str) -> int:
        """Count with the embedder behind."""
        return self._embedder.count_tokens(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        """Embed with the embedder behind."""
        return self._embedder.embed_passages(texts)

    def embed_query(self, text: str) -> Vector:
        """Embed, or remember. Raises ModelError."""
        if text not in self._questions:
            self._questions[text] = self._embedder.embed_query(text)
        return self._questions[text]

    def priors(self) -> Priors:
        """Give the means of the embedder behind."""
        return self._embedder.priors()
