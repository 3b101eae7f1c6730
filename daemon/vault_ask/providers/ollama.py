"""Ollama as an embedder: batches, several at once, every text on its own merits.

How one server is spoken to is in ollama_server; here is what becomes of a text that it will not take.
"""

import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from vault_ask.errors import ConfigError, ModelError, ModelRefused, ModelUnreachable
from vault_ask.index.embedding import EmbeddingSpace, Priors, Refused, Vector
from vault_ask.providers.hosted import asks_for_cloud
from vault_ask.providers.ollama_models import known_model, only_embeds
from vault_ask.providers.ollama_server import (
    InputFailed,
    Installed,
    OllamaAddress,
    OllamaServer,
    TookTooLong,
    TooLong,
)
from vault_ask.settings.hosts import is_private_host
from vault_ask.settings.models import EmbeddingSettings

# Ollama opens every model that can take it with at least this window; asking for more would load it a second time
# beside other users of the same server, and chunks are far smaller.
USUAL_WINDOW = 2048
UNKNOWN_WINDOW = 512
_BYTES_PER_TOKEN = 3
_SHORTEST_PIECE = 48
_HARMLESS = "vault"
_CHAT_SECONDS = 0.5

_BLANK = Refused("the text is blank")
_NO_DIRECTION = Refused("the model made no usable vector of this text")
_FAILED = Refused("the model fails on this text and not on others")
_STILL_TOO_LONG = Refused("the model finds even short pieces of this text too long")


class OllamaEmbedder:
    """An embedding model behind Ollama. Asks the server on first use; safe to use from several threads."""

    def __init__(self, settings: EmbeddingSettings, *, backoff_seconds: float = 0.3) -> None:
        if "model" not in settings.model_fields_set:
            raise ConfigError(
                "embedding.provider is ollama and embedding.model names no model. Set it, for example to bge-m3, and "
                "run `ollama pull bge-m3`."
            )
        if asks_for_cloud(settings.model):
            raise ConfigError(
                f"embedding.model {settings.model} runs on machines of Ollama's makers, and every note would be sent "
                "there. Choose a model that runs on yours, such as bge-m3."
            )
        self._settings = settings
        self._known = known_model(settings.model)
        self._server = OllamaServer(
            OllamaAddress(
                url=settings.ollama_url,
                allow_hosts=settings.allow_hosts,
                timeout_seconds=settings.timeout_seconds,
                backoff_seconds=backoff_seconds,
            )
        )
        self._asking = Lock()
        self._dimension: int | None = None
        self._batch = settings.batch
        self._saved: dict[_Input, Vector | Refused] = {}

    @property
    def space(self) -> EmbeddingSpace:
        """The space of this model; embeds one word the first time. Raises ModelError."""
        query, passage = self._settings.query_prefix, self._settings.passage_prefix
        return EmbeddingSpace(
            model=f"ollama/{self._settings.model.removesuffix(':latest')}",
            dimension=self._known_dimension(),
            query_prefix=(self._known.query_prefix if self._known else "") if query is None else query,
            passage_prefix=(self._known.passage_prefix if self._known else "") if passage is None else passage,
        )

    @cached_property
    def max_tokens(self) -> int:
        """The longest text, in estimated tokens with its prefix, that is sent whole. Raises ModelError."""
        if self._settings.max_tokens:
            return self._settings.max_tokens
        known = self._known.max_tokens if self._known else self._server.context_length(self._settings.model)
        return min(known or UNKNOWN_WINDOW, USUAL_WINDOW)

    def warm(self) -> None:
        """Have the server load the model now. Raises ModelError."""
        self._known_dimension()

    @staticmethod
    def count_tokens(text: str) -> int:
        """Estimate from above: a token for every three bytes of UTF-8.

        Words of Latin script are longer, a Chinese or Thai character is three bytes and at most a token in
        multilingual vocabularies. Digits and signs may be more; a text that turns out too long is embedded in halves.
        """
        return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        """Embed passages in batches, `embedding.concurrency` at a time.

        When a batch fails for now, the vectors of the others are kept for the next call with the same texts.
        Raises ModelUnreachable, ModelBusy, ModelRefused.
        """
        prefix = self.space.passage_prefix
        inputs = [self._input(prefix, text) for text in texts]
        wanted = dict.fromkeys(item for item in inputs if item is not None)
        made = {item: result for item in wanted if (result := self._saved.pop(item, None)) is not None}
        trouble = self._embed_into(made, [item for item in wanted if item not in made])
        if trouble:
            self._saved = made
            raise trouble
        return [_BLANK if item is None else made[item] for item in inputs]

    def embed_query(self, text: str) -> Vector:
        """Embed one question. Raises ModelError, also when the question is blank."""
        item = self._input(self.space.query_prefix, text)
        result = _BLANK if item is None else self._vectors([item])[0]
        if isinstance(result, Refused):
            raise ModelRefused(f"The question could not be embedded: {result.reason}. Ask it in other words.")
        return result

    def priors(self) -> Priors:
        """Give nothing: the means of these models are not known; the vault's own have to do."""
        return Priors()

    def _input(self, prefix: str, text: str) -> "_Input | None":
        """Make what is sent of a text: NUL and half surrogates out, cut to the longest input; None when blank."""
        clean = text.replace("\0", "").strip().encode("utf-8", "replace")
        room = self.max_tokens * _BYTES_PER_TOKEN - len(prefix.encode())
        body = clean[: max(room, _BYTES_PER_TOKEN)].decode("utf-8", "ignore")
        return _Input(prefix, body) if body else None

    def _embed_into(self, made: "dict[_Input, Vector | Refused]", items: "list[_Input]") -> ModelError | None:
        """Embed what is missing, and give the first error that stops it; what was made until then stays made."""
        size = self._batch
        batches = [items[start : start + size] for start in range(0, len(items), size)]
        trouble: list[ModelError] = []

        def embed(batch: list[_Input]) -> None:
            if trouble:
                return
            try:
                made.update(zip(batch, self._vectors(batch), strict=True))
            except ModelError as error:
                trouble.append(error)

        with ThreadPoolExecutor(self._settings.concurrency, thread_name_prefix="ollama") as workers:
            for done in [workers.submit(embed, batch) for batch in batches]:
                done.result()
        return trouble[0] if trouble else None

    def _vectors(self, items: "Sequence[_Input]") -> list[Vector | Refused]:
        """Embed one batch; where it fails because of its texts, go on with halves until the one is found."""
        try:
            raw = self._server.embed(
                self._settings.model, [item.text for item in items], window=self._settings.max_tokens
            )
        except TooLong:
            return self._halves(items) if len(items) > 1 else [self._from_pieces(items[0])]
        except TookTooLong:
            if len(items) == 1:
                raise
            # A slow server would never finish such a batch; until the next start smaller ones are sent.
            self._batch = min(self._batch, len(items) // 2)
            return self._halves(items)
        except InputFailed:
            self._make_sure_it_works()
            return self._halves(items) if len(items) > 1 else [_FAILED]
        if len(raw) != len(items):
            return self._halves(items) if len(items) > 1 else [_FAILED]
        return [self._unit(vector) for vector in raw]

    def _halves(self, items: "Sequence[_Input]") -> list[Vector | Refused]:
        middle = len(items) // 2
        return self._vectors(items[:middle]) + self._vectors(items[middle:])

    def _from_pieces(self, item: "_Input") -> Vector | Refused:
        """Embed the two halves of a text that is too long and take their mean, weighted by length."""
        parts = item.split()
        if not parts:
            return _STILL_TOO_LONG
        pairs = [(part, self._vectors([part])[0]) for part in parts]
        usable = [len(part.body) * vector for part, vector in pairs if not isinstance(vector, Refused)]
        return self._unit(np.sum(usable, axis=0)) if usable else _STILL_TOO_LONG

    def _make_sure_it_works(self) -> None:
        """Raise unless the server can embed a harmless word; if it can, a failure was about the texts."""
        try:
            self._server.embed(self._settings.model, [_HARMLESS])
        except InputFailed as error:
            raise (ModelUnreachable if error.for_now else ModelRefused)(str(error)) from None

    def _known_dimension(self) -> int:
        with self._asking:
            if self._dimension is None:
                try:
                    self._dimension = len(self._server.embed(self._settings.model, [_HARMLESS])[0])
                except InputFailed as error:
                    raise (ModelUnreachable if error.for_now else ModelRefused)(str(error)) from None
                except (IndexError, TooLong):
                    raise ModelRefused(
                        f"Ollama made no vector of a single word with {self._settings.model}. Choose a model for "
                        "embeddings, such as bge-m3."
                    ) from None
            return self._dimension

    def _unit(self, raw: Sequence[float] | NDArray[np.float32]) -> Vector | Refused:
        vector = np.asarray(raw, dtype=np.float32)
        length = float(np.linalg.norm(vector.astype(np.float64)))
        if vector.shape != (self._known_dimension(),) or not math.isfinite(length) or length == 0:
            return _NO_DIRECTION
        return vector / np.float32(length)


@dataclass(frozen=True, slots=True)
class _Input:
    """What is sent for one text."""

    prefix: str
    body: str

    @property
    def text(self) -> str:
        return self.prefix + self.body

    def split(self) -> "tuple[_Input, _Input] | None":
        """Cut in two near the middle, at a space where one is near; None when it is short already."""
        if len(self.body) < _SHORTEST_PIECE:
            return None
        middle = len(self.body) // 2
        space = self.body.rfind(" ", middle // 2, middle)
        at = space if space > 0 else middle
        return _Input(self.prefix, self.body[:at]), _Input(self.prefix, self.body[at:])


def running_chat_models(url: str) -> list[str]:
    """Name the chat models of an Ollama server that run on its machine; none when it does not answer at once."""
    if not is_private_host(urlsplit(url).hostname or ""):
        return []
    until = time.monotonic() + _CHAT_SECONDS
    server = OllamaServer(OllamaAddress(url=url, timeout_seconds=_CHAT_SECONDS))
    try:
        return [model.name for model in server.models() if _can_chat(server, model, until)]
    except ModelError:
        return []
    finally:
        server.close()


def _can_chat(server: OllamaServer, model: Installed, until: float) -> bool:
    if model.hosted_elsewhere or asks_for_cloud(model.name) or only_embeds(model.name, model.families):
        return False
    try:
        can = server.capabilities(model.name) if time.monotonic() < until else None
    except ModelError:
        return False
    return can is None or "completion" in can
