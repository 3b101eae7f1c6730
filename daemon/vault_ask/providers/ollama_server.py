"""Talks to one Ollama server: only inside the owner's network, with patience, and with its refusals sorted out.

It knows Ollama's HTTP answers (https://docs.ollama.com/api) and nothing of notes or vectors' meaning.
"""

import random
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from threading import Lock
from typing import Any, TypeVar

import httpx
from ollama import Client, ResponseError

from vault_ask.errors import ModelBusy, ModelError, ModelRefused, ModelUnreachable
from vault_ask.providers.hosted import BELIEVED_SECONDS, KNOWS_NO_SHOW, hosted_elsewhere, names_upstream
from vault_ask.providers.own_network import OwnNetwork
from vault_ask.providers.own_transport import OwnTransport

TRIES = 3
_CONNECT_SECONDS = 5.0
# Ollama answers 400, older and newer ones 413 or 500, with one of these words.
_TOO_LONG_WORDS = ("context length", "context size", "too long", "too large", "maximum context")
_OF_THIS_INPUT = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.INTERNAL_SERVER_ERROR}
)
_BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})

Answer = TypeVar("Answer")


class TooLong(ModelError):
    """One of the texts is longer than the model takes."""


class InputFailed(ModelError):
    """The server failed on these texts; it may be one of them, or the server itself. `for_now`: it may pass."""

    def __init__(self, message: str, *, for_now: bool) -> None:
        super().__init__(message)
        self.for_now = for_now


class TookTooLong(ModelUnreachable):
    """No answer came in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaAddress:
    """Where a server is, which hosts beside private addresses are the owner's, and how patient to be."""

    url: str
    allow_hosts: tuple[str, ...] = ()
    timeout_seconds: float = 120.0
    backoff_seconds: float = 0.3


@dataclass(frozen=True, slots=True)
class Installed:
    """A model that a server lists: its name, the families it says it belongs to, and whether another machine has it."""

    name: str
    families: tuple[str, ...]
    hosted_elsewhere: bool


class OllamaServer:
    """A connection pool to one server. Every method may be called from several threads at once."""

    def __init__(self, address: OllamaAddress) -> None:
        self._address = address
        network = OwnNetwork(address.allow_hosts, "embedding.ollama_url", "embedding.allow_hosts")
        # Neither proxy nor redirect may carry notes to another machine than the one that was checked.
        to_the_owners: dict[str, Any] = {
            # Loading the certificates takes longer than a whole status answer, and plain http has no use for them.
            "transport": OwnTransport(network, secure=address.url.lower().startswith("https:")),
            "timeout": httpx.Timeout(address.timeout_seconds, connect=min(_CONNECT_SECONDS, address.timeout_seconds)),
            "follow_redirects": False,
            "trust_env": False,
        }
        self._client = Client(address.url, **to_the_owners)
        # The client adds OLLAMA_API_KEY of the environment by itself; that key is for ollama.com, not for this host.
        self._client._client.headers.pop("authorization", None)  # noqa: SLF001
        # For descriptions of models, of which that client leaves out what tells where they are hosted.
        self._plain = httpx.Client(base_url=address.url, **to_the_owners)
        self._looked: dict[str, float] = {}
        self._looking = Lock()
        self.close = weakref.finalize(self, self._client.close)

    def embed(self, model: str, texts: Sequence[str], *, window: int | None = None) -> list[list[float]]:
        """Ask for one vector a text, as the server gives them; their number is not checked.

        A model that the server passes on to another machine gets none of them. Raises TooLong, InputFailed or
        TookTooLong when fewer or shorter texts may go through, else ModelUnreachable, ModelBusy or ModelRefused.
        """
        self._refuse_hosted(model)
        options = {"num_ctx": window} if window else None
        response = self._patiently(
            model, lambda: self._client.embed(model, list(texts), truncate=False, options=options)
        )
        return [list(vector) for vector in response.embeddings]

    def context_length(self, model: str) -> int | None:
        """Ask how many tokens the model was made for; None when the server does not say. Raises ModelError."""
        info = self._patiently(model, lambda: self._show(model)).get("model_info") or {}
        lengths = [value for key, value in info.items() if key.endswith(".context_length")]
        return int(lengths[0]) if lengths else None

    def models(self) -> list[Installed]:
        """List the models that the server offers. Raises ModelError; asks once."""
        listed = self._once("", lambda: list(self._described("GET", "/api/tags")["models"]))
        return [
            Installed(str(item["model"]), _families(item.get("details") or {}), names_upstream(item))
            for item in listed
            if isinstance(item, Mapping) and item.get("model")
        ]

    def capabilities(self, model: str) -> tuple[str, ...] | None:
        """Ask what a model can do; None when the server does not say. Raises ModelError; asks once."""
        told = self._once(model, lambda: self._show(model)).get("capabilities")
        return None if told is None else tuple(told)

    def _refuse_hosted(self, model: str) -> None:
        """Ask where a model runs, unless that was told a minute ago; it may be replaced under the same name."""
        with self._looking:
            if time.monotonic() - self._looked.get(model, -BELIEVED_SECONDS) < BELIEVED_SECONDS:
                return
            try:
                shown = self._patiently(model, lambda: self._show(model))
            except InputFailed as error:
                raise self._unreachable(f"does not say where {model} runs") from error
            if names_upstream(shown):
                raise hosted_elsewhere(model)
            self._looked[model] = time.monotonic()

    def _show(self, model: str) -> Mapping[str, Any]:
        try:
            return self._described("POST", "/api/show", {"model": model})
        except ResponseError as error:
            if error.status_code in KNOWS_NO_SHOW and "model" not in str(error.error).lower():
                return {}
            raise

    def _described(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        """Make one request. Raises what the other client raises, and ValueError when no object comes back."""
        response = self._plain.request(method, path, json=body)
        if response.status_code != HTTPStatus.OK:
            raise ResponseError(response.text, response.status_code)
        told = response.json()
        if not isinstance(told, Mapping):
            raise TypeError("not an object")
        return told

    def _patiently(self, model: str, ask: Callable[[], Answer]) -> Answer:
        """Ask up to three times while the server is away or busy, waiting longer each time and never in step."""
        for attempt in range(1, TRIES):
            try:
                return self._once(model, ask)
            except TookTooLong:
                raise
            except (ModelUnreachable, ModelBusy):
                time.sleep(self._address.backoff_seconds * 2**attempt * random.uniform(0.5, 1))  # noqa: S311
        return self._once(model, ask)

    def _once(self, model: str, ask: Callable[[], Answer]) -> Answer:
        try:
            return ask()
        except ResponseError as error:
            raise self._sorted_out(model, error) from None
        except httpx.ConnectTimeout:
            raise self._unreachable("did not accept a connection") from None
        except httpx.TimeoutException:
            raise TookTooLong(
                f"Ollama at {self._address.url} did not answer in {self._address.timeout_seconds:g} seconds; it will "
                "be asked again. If it always takes that long, raise embedding.timeout_seconds."
            ) from None
        except (ConnectionError, httpx.ConnectError):
            raise self._unreachable("could not be reached") from None
        except httpx.TransportError:
            raise self._unreachable("broke off the connection") from None
        except (LookupError, ValueError, TypeError):
            raise ModelRefused(
                f"What listens at {self._address.url} does not answer as Ollama does. Correct embedding.ollama_url."
            ) from None

    def _unreachable(self, what: str) -> ModelUnreachable:
        return ModelUnreachable(
            f"Ollama at {self._address.url} {what}; it will be asked again. Start it with `ollama serve`, or correct "
            "embedding.ollama_url."
        )

    def _sorted_out(self, model: str, error: ResponseError) -> ModelError:
        status, said = error.status_code, str(error.error).lower()
        if any(words in said for words in _TOO_LONG_WORDS):
            return TooLong(f"A text is longer than {model} takes.")
        if status in _BUSY:
            return ModelBusy(f"Ollama at {self._address.url} has too much to do; it will be asked again later.")
        if status == HTTPStatus.NOT_FOUND:
            return self._missing(model, said)
        if status in _OF_THIS_INPUT:
            return InputFailed(
                f"Ollama at {self._address.url} failed to embed with {model} (HTTP {status}). Look into its log; "
                f"`ollama show {model}` tells whether it is a model for embeddings.",
                for_now=status == HTTPStatus.INTERNAL_SERVER_ERROR,
            )
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return self._unreachable(f"answered with HTTP {status}")
        return ModelRefused(
            f"Ollama at {self._address.url} refused the request (HTTP {status}), and no redirect is followed. Correct "
            "embedding.ollama_url, or what stands in front of the server."
        )

    def _missing(self, model: str, said: str) -> ModelRefused:
        if "model" in said:
            return ModelRefused(
                f"Ollama has no model {model}. Run `ollama pull {model}` on its machine, then try again."
            )
        return ModelRefused(
            f"What listens at {self._address.url} knows no /api/embed. Update Ollama, or correct embedding.ollama_url."
        )


def _families(details: Mapping[str, Any]) -> tuple[str, ...]:
    """Give the families of a model, of which the server may tell one, several or none."""
    names = [details.get("family"), *(details.get("families") or ())]
    return tuple(str(name) for name in names if name)
