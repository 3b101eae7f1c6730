"""The embedded embedder: multilingual-e5-small inside the daemon, with no network and no model server.

What happens to one text is here; the model's files and how it runs are in e5_files and e5_model.
"""

import ctypes
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

import numpy as np

from vault_ask.errors import ConfigError, ModelRefused
from vault_ask.index.embedding import EmbeddingSpace, Priors, Refused, Vector
from vault_ask.providers.e5_files import ensure_built
from vault_ask.providers.e5_weights import E5Weights, find_weights
from vault_ask.settings.models import EmbeddingSettings

if TYPE_CHECKING:
    from vault_ask.providers.e5_model import E5Model
    from vault_ask.providers.e5_tokenizer import E5Tokenizer

MODEL = "multilingual-e5-small"
DIMENSION = 384
MAX_TOKENS = 510  # 512 places, two of which are the start and the end.
QUERY_PREFIX, PASSAGE_PREFIX = "query: ", "passage: "
_BULK = 8

_BLANK = Refused("the text is blank")
_NO_DIRECTION = Refused("the model made no usable vector of this text")


class EmbeddedEmbedder:
    """The embedder that needs nothing but its packages. Loads on first use; safe to use from several threads.

    The first use on a data folder builds the model's files under `models_folder`, and tells `progress` so.
    """

    def __init__(
        self, settings: EmbeddingSettings, models_folder: Path, *, progress: Callable[[str], None] | None = None
    ) -> None:
        if settings.model != MODEL:
            raise ConfigError(
                f"embedding.model is {settings.model!r}, and the embedded provider only has {MODEL}. Leave the model "
                "out, or set embedding.provider to ollama."
            )
        self._settings = settings
        self._models_folder = models_folder
        self._progress = progress or (lambda _message: None)
        self._weights: E5Weights | None = None
        self._tokenizer: E5Tokenizer | None = None
        self._model: E5Model | None = None
        self._loading = RLock()
        self._workers = ThreadPoolExecutor(settings.threads, thread_name_prefix="embed")

    def __reduce__(self) -> tuple[type["EmbeddedEmbedder"], tuple[EmbeddingSettings, Path]]:
        """Travel to another process as the settings, and load there what is used there."""
        return EmbeddedEmbedder, (self._settings, self._models_folder)

    @property
    def space(self) -> EmbeddingSpace:
        """The space of this model with its prefixes; known without loading it."""
        query, passage = self._settings.query_prefix, self._settings.passage_prefix
        return EmbeddingSpace(
            model=MODEL,
            dimension=DIMENSION,
            query_prefix=QUERY_PREFIX if query is None else query,
            passage_prefix=PASSAGE_PREFIX if passage is None else passage,
        )

    @property
    def max_tokens(self) -> int:
        """The longest text, in tokens with its prefix, that goes in whole; a longer one loses its end."""
        return min(MAX_TOKENS, self._settings.max_tokens or MAX_TOKENS)

    def warm(self) -> None:
        """Load the model now, building its files first where needed. Raises ModelRefused."""
        self._loaded_model()

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text without prefix, exactly. Raises ModelRefused."""
        return len(self._loaded_tokenizer().tokens(text))

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        """Embed passages, `embedding.threads` of them at a time. Raises ModelRefused."""
        model, prefix = self._loaded_model(), self.space.passage_prefix
        if self._settings.threads == 1 or len(texts) == 1:
            results = [self._embed(model, prefix, text) for text in texts]
        else:
            results = list(self._workers.map(lambda text: self._embed(model, prefix, text), texts))
        if len(texts) >= _BULK:
            _give_memory_back()
        return results

    def embed_query(self, text: str) -> Vector:
        """Embed one question. Raises ModelRefused, also when the question is blank."""
        result = self._embed(self._loaded_model(), self.space.query_prefix, text)
        if isinstance(result, Refused):
            raise ModelRefused(f"The question could not be embedded: {result.reason}. Ask it in other words.")
        return result

    def priors(self) -> Priors:
        """Give the means of passages and of questions that ship with the model; none for prefixes of the owner's."""
        space = self.space
        as_measured = (space.query_prefix, space.passage_prefix) == (QUERY_PREFIX, PASSAGE_PREFIX)
        return _priors() if as_measured else Priors()

    def _embed(self, model: "E5Model", prefix: str, text: str) -> Vector | Refused:
        tokenizer = self._loaded_tokenizer()
        if not tokenizer.first_tokens(text, 1):
            return _BLANK
        vector = model.vector(tokenizer.first_tokens(prefix + text, self.max_tokens))
        return _NO_DIRECTION if vector is None else vector

    def _loaded_model(self) -> "E5Model":
        with self._loading:
            if self._model is None:
                folder, weights = self._files()
                # Late: importing onnxruntime costs .2 s and 40 MB, which a status or a dry run should not pay.
                from vault_ask.providers.e5_model import E5Model  # noqa: PLC0415

                self._model = E5Model(folder, weights)
                _give_memory_back()
            return self._model

    def _loaded_tokenizer(self) -> "E5Tokenizer":
        with self._loading:
            if self._tokenizer is None:
                from vault_ask.providers.e5_tokenizer import E5Tokenizer  # noqa: PLC0415 - sentencepiece, as above

                self._tokenizer = E5Tokenizer(*self._files())
                _give_memory_back()
            return self._tokenizer

    def _files(self) -> tuple[Path, E5Weights]:
        """Give the folder of the built files, and the weights; builds and opens them the first time."""
        if self._weights is None:
            self._weights = E5Weights(find_weights())
        return ensure_built(self._models_folder, self._progress), self._weights


@cache
def _priors() -> Priors:
    """Read what scripts/make_means.py wrote."""
    packed = files("vault_ask.providers") / "data" / "e5_means.npz"
    means: dict[str, dict[str, Vector]] = {"passage": {}, "question": {}}
    with packed.open("rb") as file, np.load(file) as arrays:
        for name in arrays.files:
            kind, _, language = name.partition(":")
            means[kind][language] = arrays[name].astype(np.float32)
    return Priors(means["passage"], means["question"])


def _give_memory_back() -> None:
    """Return freed memory to the system, which glibc would keep for later."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)
