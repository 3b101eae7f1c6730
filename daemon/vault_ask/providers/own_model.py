"""Asks the server of a local model whether it may be told anything: who it is, and where the model really runs."""

import time
from collections.abc import Collection, Mapping
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from vault_ask.errors import ModelBusy, ModelRefused, ModelUnreachable
from vault_ask.providers.hosted import (
    BELIEVED_SECONDS,
    KNOWS_NO_SHOW,
    asks_for_cloud,
    hosted_elsewhere,
    names_upstream,
    tells_of_gateway,
)
from vault_ask.providers.own_network import OwnNetwork, host_of

if TYPE_CHECKING:
    import httpx

OLLAMA_PROVIDERS = frozenset({"ollama", "ollama_chat"})
"""What litellm calls Ollama; every other server of the owner's is asked in OpenAI's grammar what it is."""
_CONNECT_SECONDS = 1.0
# A server at work on another answer may need a while even for its description of a model.
_ANSWER_SECONDS = 5.0
_BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
_KEY_REFUSED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


def own_model(
    name: str, base: str | None, network: OwnNetwork, *, providers: Collection[str], key: str | None = None
) -> "OwnModel | None":
    """Give a model as one of the owner's, named with its provider; None where its name or address tells that it is not.

    `providers` are those whose servers can be told apart from a service's. `base` is the address of the model's server.
    """
    if name.partition("/")[0] not in providers or asks_for_cloud(name):
        return None
    return OwnModel(name, base, network, key=key) if base and network.sounds_own(host_of(base)) else None


class OwnModel:
    """A model behind a server of the owner's. Safe to use from several threads; blocks for a second or two at most."""

    def __init__(self, name: str, base: str, network: OwnNetwork, *, key: str | None = None) -> None:
        """Name the model with its provider (`ollama_chat/qwen3:4b`, `openai/m`) and its server's address."""
        self._name = name
        provider, _, self._model = name.partition("/")
        self._is_ollama = provider in OLLAMA_PROVIDERS
        self._base = base.rstrip("/")
        self._network = network
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._assured_at = -BELIEVED_SECONDS
        self._asking = Lock()

    @property
    def name(self) -> str:
        """The model's name with its provider."""
        return self._name

    def assure(self, *, afresh: bool = False) -> None:
        """Return if the model may be told personal things; its server is asked unless it was a minute ago.

        Raises ModelUnreachable, ModelBusy; ModelRefused when the server is not the owner's, or the model not on it.
        """
        with self._asking:
            if not afresh and time.monotonic() - self._assured_at < BELIEVED_SECONDS:
                return
            self._assured_at = -BELIEVED_SECONDS
            self._ask()
            self._assured_at = time.monotonic()

    def _ask(self) -> None:
        import httpx  # noqa: PLC0415 # only where a model is asked

        from vault_ask.providers.own_transport import OwnTransport  # noqa: PLC0415

        transport = OwnTransport(self._network, secure=self._base.lower().startswith("https:"))
        with httpx.Client(
            transport=transport,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS),
            headers=self._headers,
        ) as client:
            try:
                if not self._is_ollama:
                    self._refuse_gateway(client)
                self._refuse_hosted(client)
            except (httpx.InvalidURL, httpx.UnsupportedProtocol):
                raise ModelRefused(
                    f"{self._network.address_key} is no address such as http://127.0.0.1:11434. Correct it."
                ) from None
            except httpx.ReadTimeout:
                raise ModelUnreachable(
                    f"The server of {self._name} did not answer in time. Try again, or look at the server."
                ) from None
            except httpx.HTTPError:
                raise ModelUnreachable(
                    f"{self._name} cannot be reached: nobody answers at its address. Start its server, or correct "
                    f"{self._network.address_key}."
                ) from None

    def _refuse_hosted(self, client: "httpx.Client") -> None:
        """Look for an upstream, behind OpenAI's grammar too: Ollama speaks it at the same port."""
        response = client.post(f"{self._root}/api/show", json={"model": self._model})
        if response.status_code == HTTPStatus.OK:
            if names_upstream(_object(response)):
                raise hosted_elsewhere(self._name)
        elif self._is_ollama and response.status_code not in KNOWS_NO_SHOW:
            # A missing model is among those: it is told by the request itself.
            raise self._unclear(response.status_code)

    def _refuse_gateway(self, client: "httpx.Client") -> None:
        host = urlsplit(self._base).hostname or ""
        if self._network.lists(host):
            return
        response = client.get(f"{self._base}/models")
        if tells_of_gateway(response.headers, _object(response), self._model):
            raise ModelRefused(
                f"The server of {self._name} is a gateway to models that are not on your machines, so nothing was sent "
                f"to it. Choose another model, or list the server's host in {self._network.hosts_key} to trust it."
            )

    def _unclear(self, status: int) -> ModelUnreachable | ModelBusy | ModelRefused:
        if status in _BUSY:
            return ModelBusy(f"{self._name} has too much to do just now. Try again in a while.")
        if status in _KEY_REFUSED:
            return ModelRefused(
                f"The server of {self._name} refused the key it was given. Set OLLAMA_API_KEY in the daemon's "
                "environment."
            )
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return ModelUnreachable(
                f"The server of {self._name} failed (HTTP {status}) when asked where the model runs. Try again, or "
                "look at the server."
            )
        return ModelRefused(
            f"The server of {self._name} does not say where the model runs (HTTP {status}, and no redirect is "
            f"followed), so nothing was sent to it. Correct {self._network.address_key}."
        )

    @property
    def _root(self) -> str:
        """The server's address without the path of OpenAI's grammar; Ollama's may stand below a path of a proxy."""
        if self._is_ollama:
            return self._base
        parts = urlsplit(self._base)
        return urlunsplit((parts.scheme, parts.netloc, parts.path.removesuffix("/v1"), "", ""))


def _object(response: "httpx.Response") -> Mapping[str, Any]:
    try:
        told = response.json()
    except ValueError:
        return {}
    return told if isinstance(told, Mapping) else {}
