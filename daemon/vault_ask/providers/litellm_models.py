"""Any model that litellm can reach, as a generator: Ollama, an OpenAI-compatible server of one's own, or a hosted one.

litellm is imported when the first answer is worded, never before: it costs seconds and 190 MB. A model counts as local
only where that can be told from here: Ollama, or an OpenAI-compatible server, at a private address or a host that the
owner listed, and no Ollama model that runs in a cloud.
"""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncGenerator
from functools import cached_property
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from vault_ask.answering.ports import CutShort, Piece, Prompt, Window
from vault_ask.answering.prompts import messages
from vault_ask.errors import ModelRefused, ModelUnreachable
from vault_ask.providers.litellm_errors import as_model_error
from vault_ask.providers.thinking import ThoughtFilter
from vault_ask.settings import ModelSettings, is_private_host

OLLAMA = "http://127.0.0.1:11434"
"""Where Ollama listens unless models.api_base says otherwise."""
UNKNOWN_WINDOW = 4096
"""Tokens assumed of a server whose window can neither be asked for nor known; Ollama's own default behind /v1."""
_REACH_SECONDS = 1.0
_CLOSE_SECONDS = 1.0
_OLLAMA_PROVIDERS = frozenset({"ollama", "ollama_chat"})


class LitellmGenerator:
    """One model. Holds no connection between answers."""

    def __init__(self, settings: ModelSettings, model: str) -> None:
        self._settings = settings
        self._model = model
        self._provider = model.partition("/")[0]

    @property
    def name(self) -> str:
        """The model's name as litellm takes it."""
        return self._model

    @cached_property
    def is_local(self) -> bool:
        """Whether the model runs on the owner's machines, as far as names and addresses tell."""
        if _runs_in_a_cloud(self._model) or self._api_base is None:
            return False
        if self._provider not in _OLLAMA_PROVIDERS | {"openai"}:
            return False
        host = urlsplit(self._api_base).hostname or ""
        return host in self._settings.local_hosts or is_private_host(host)

    @cached_property
    def window(self) -> Window | None:
        """The configured window where it can be asked for or the owner set it; a guess for other own servers."""
        stated = "context_tokens" in self._settings.model_fields_set
        known = self._provider in _OLLAMA_PROVIDERS or self._settings.api_base is None or stated
        tokens = self._settings.context_tokens if known else min(UNKNOWN_WINDOW, self._settings.context_tokens)
        return Window(tokens, min(self._settings.reply_tokens, tokens // 2), assured=known)

    async def reach(self) -> None:
        """Connect to a local model's address once, and look at who is really there.

        Raises ModelUnreachable when nobody listens, ModelRefused when a name that sounds private leads elsewhere.
        """
        if not self.is_local or self._api_base is None:
            return
        address = urlsplit(self._api_base)
        port = address.port or (443 if address.scheme == "https" else 80)
        peer = await self._peer(address.hostname or "", port)
        if address.hostname not in self._settings.local_hosts and not is_private_host(peer):
            raise ModelRefused(
                f"The address of {self._model} sounds private and leads to a machine outside your network, so nothing "
                "was sent there. Correct models.api_base, or list its host in models.local_hosts if it is yours."
            )

    def warm(self) -> None:
        """Import litellm now, so that the first answer need not wait for it. Blocks for seconds."""
        _litellm()

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """Yield the model's words as they come, without its thoughts; an empty piece is a sign of life.

        Raises ModelUnreachable, ModelBusy, ModelRefused.
        """
        litellm = await asyncio.to_thread(_litellm)
        self._free_of_charge(litellm)
        async with contextlib.AsyncExitStack() as closing:
            client = await self._client(closing)
            thoughts, cut_short, begun = ThoughtFilter(), False, False
            try:
                response = await litellm.acompletion(**self._request(prompt), client=client)
                closing.push_async_callback(_close, response)
                async for chunk in response:
                    choice = chunk.choices[0] if chunk.choices else None
                    cut_short |= choice is not None and choice.finish_reason == "length"
                    text = (choice and choice.delta.content) or ""
                    begun |= bool(text)
                    yield thoughts.feed(text)
            except Exception as error:  # noqa: BLE001 # litellm's errors share no root, and HTTP clients' come through
                raise as_model_error(error, self._model, begun=begun) from None
            yield thoughts.close()
            if cut_short:
                yield CutShort()

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        window = self.window
        request: dict[str, Any] = {
            "model": self._litellm_name,
            "messages": messages(prompt),
            "stream": True,
            "timeout": self._settings.timeout_seconds,
            "num_retries": 0,
            "max_retries": 0,
            "temperature": 0.0,
        }
        if window is not None:
            request["max_tokens"] = window.reply
        if self._api_base is not None:
            request["api_base"] = self._api_base
        if self._provider in _OLLAMA_PROVIDERS:
            request["num_ctx"] = self._settings.context_tokens
        return request

    @property
    def _litellm_name(self) -> str:
        # Ollama's chat route applies the model's own template; its older one would not.
        return self._model.replace("ollama/", "ollama_chat/", 1)

    def _free_of_charge(self, litellm: ModuleType) -> None:
        """Tell litellm that a local model costs nothing: it would ask Ollama, by another client, after each answer."""
        if self._provider in _OLLAMA_PROVIDERS:
            price = {
                "input_cost_per_token": 0.0,
                "output_cost_per_token": 0.0,
                "max_tokens": self._settings.context_tokens,
            }
            known = {**price, "litellm_provider": "ollama_chat", "mode": "chat"}
            litellm.model_cost.setdefault(self._litellm_name, known)

    @cached_property
    def _api_base(self) -> str | None:
        # Named here, so that no variable of the environment can lead what counts as local elsewhere.
        return self._settings.api_base or (OLLAMA if self._provider in _OLLAMA_PROVIDERS else None)

    async def _peer(self, host: str, port: int) -> str:
        try:
            async with asyncio.timeout(_REACH_SECONDS):
                _, writer = await asyncio.open_connection(host, port)
        except (OSError, TimeoutError):
            raise ModelUnreachable(
                f"{self._model} cannot be reached: nobody answers at its address. Start its server, or correct "
                "models.api_base."
            ) from None
        peer = str(writer.get_extra_info("peername")[0])
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        return peer

    async def _client(self, closing: contextlib.AsyncExitStack) -> Any:  # noqa: ANN401 # litellm types it so
        """Make a client that a local model's text cannot leave by: no proxy of the environment, no redirect."""
        if not self.is_local:
            return None
        if self._provider in _OLLAMA_PROVIDERS:
            import httpx  # noqa: PLC0415 # only where litellm is loaded already
            from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler  # noqa: PLC0415

            handler = AsyncHTTPHandler(
                timeout=self._settings.timeout_seconds, transport=httpx.AsyncHTTPTransport(), follow_redirects=False
            )
            closing.push_async_callback(handler.close)
            return handler
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient  # noqa: PLC0415

        client = AsyncOpenAI(
            base_url=self._api_base,
            # A server of one's own seldom wants a key; where it does, the usual variable holds it.
            api_key=os.environ.get("OPENAI_API_KEY") or "none",
            http_client=DefaultAsyncHttpxClient(trust_env=False, follow_redirects=False),
            timeout=self._settings.timeout_seconds,
            max_retries=0,
        )
        closing.push_async_callback(client.close)
        return client


def _runs_in_a_cloud(model: str) -> bool:
    """Tell an Ollama model that is hosted elsewhere although the local server answers for it."""
    name, _, tag = model.casefold().rpartition("/")[2].partition(":")
    return tag == "cloud" or tag.endswith("-cloud") or name.endswith("-cloud")


async def _close(response: Any) -> None:  # noqa: ANN401 # litellm's stream wrapper
    with contextlib.suppress(Exception):
        async with asyncio.timeout(_CLOSE_SECONDS):
            await response.aclose()


def _litellm() -> ModuleType:
    """Import litellm so that it asks nobody for prices, reports to nobody and logs no prompt."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm  # noqa: PLC0415 # seconds and 190 MB, only where a model is used

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.turn_off_message_logging = True
    litellm.drop_params = True
    litellm.callbacks = []
    litellm.success_callback = []
    litellm.failure_callback = []
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm
