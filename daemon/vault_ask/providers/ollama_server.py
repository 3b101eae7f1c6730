"""Talks to one Ollama server: only inside the owner's network, with patience, and with its refusals sorted out.

It knows Ollama's HTTP answers (https://docs.ollama.com/api) and nothing of notes or vectors' meaning.
"""

import random
import socket
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, TypeVar

import httpx
from ollama import Client, ResponseError

from vault_ask.errors import ModelBusy, ModelError, ModelRefused, ModelUnreachable
from vault_ask.settings import is_private_host

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


class OllamaServer:
    """A connection pool to one server. Every method may be called from several threads at once."""

    def __init__(self, address: OllamaAddress) -> None:
        self._address = address
        # Neither proxy nor redirect may carry notes to another machine than the one that was checked.
        self._client = Client(
            address.url,
            timeout=httpx.Timeout(address.timeout_seconds, connect=min(_CONNECT_SECONDS, address.timeout_seconds)),
            follow_redirects=False,
            trust_env=False,
            # Loading the certificates takes longer than a whole status answer, and plain http has no use for them.
            verify=address.url.lower().startswith("https:"),
            event_hooks={"request": [partial(_check_destination, address)]},
        )
        # The client adds OLLAMA_API_KEY of the environment by itself; that key is for ollama.com, not for this host.
        self._client._client.headers.pop("authorization", None)  # noqa: SLF001
        self.close = weakref.finalize(self, self._client.close)

    def embed(self, model: str, texts: Sequence[str], *, window: int | None = None) -> list[list[float]]:
        """Ask for one vector a text, as the server gives them; their number is not checked.

        Raises TooLong, InputFailed or TookTooLong when fewer or shorter texts may go through, else ModelUnreachable,
        ModelBusy or ModelRefused.
        """
        options = {"num_ctx": window} if window else None
        response = self._patiently(
            model, lambda: self._client.embed(model, list(texts), truncate=False, options=options)
        )
        return [list(vector) for vector in response.embeddings]

    def context_length(self, model: str) -> int | None:
        """Ask how many tokens the model was made for; None when the server does not say. Raises ModelError."""
        info = self._patiently(model, lambda: self._client.show(model)).modelinfo or {}
        lengths = [value for key, value in info.items() if key.endswith(".context_length")]
        return int(lengths[0]) if lengths else None

    def models(self) -> list[tuple[str, tuple[str, ...]]]:
        """List the installed models with their families. Raises ModelError; asks once."""
        response = self._once("", self._client.list)
        return [(item.model, _families(item.details)) for item in response.models if item.model]

    def capabilities(self, model: str) -> tuple[str, ...] | None:
        """Ask what a model can do; None when the server does not say. Raises ModelError; asks once."""
        told = self._once(model, lambda: self._client.show(model)).capabilities
        return None if told is None else tuple(told)

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
        except ConnectionError:
            raise self._unreachable("could not be reached") from None
        except httpx.TransportError:
            raise self._unreachable("broke off the connection") from None
        except (ValueError, TypeError):
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


def _families(details: Any) -> tuple[str, ...]:  # noqa: ANN401  absent or partly filled, as the server likes
    names = [getattr(details, "family", None), *(getattr(details, "families", None) or ())]
    return tuple(name for name in names if name)


def _check_destination(address: OllamaAddress, request: httpx.Request) -> None:
    """Look at the addresses a name leads to, before anything is sent there."""
    host = request.url.host
    if host in address.allow_hosts:
        return
    port = request.url.port or (443 if request.url.scheme == "https" else 80)
    try:
        found: list[Any] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError:
        raise httpx.ConnectError("no address", request=request) from None
    if not all(is_private_host(str(entry[4][0]).split("%")[0]) for entry in found):
        raise ModelRefused(
            f"The embedding host {host} leads to a machine outside your network, so no note was sent there. "
            "Correct embedding.ollama_url, or name the host in embedding.allow_hosts if it is yours."
        )
