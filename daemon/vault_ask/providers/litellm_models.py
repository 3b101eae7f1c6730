"""Any model that litellm can reach, as a generator: Ollama, an OpenAI-compatible server of one's own, or a hosted one.

litellm is imported when the first answer is worded, never before: it costs seconds and 190 MB. A model counts as local
only where that can be told from here: Ollama, or an OpenAI-compatible server, at a private address or a host that the
owner listed, and no Ollama model that runs in a cloud. What names tell is tested again by the socket of every
connection, and by the server's own word on where the model runs.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator
from functools import cached_property
from types import ModuleType
from typing import Any

from vault_ask.answering.evidence import Prompt
from vault_ask.answering.ports import CutShort, Piece, Window
from vault_ask.answering.prompts import messages
from vault_ask.providers.litellm_errors import as_model_error
from vault_ask.providers.litellm_quiet import quiet_litellm
from vault_ask.providers.own_model import OLLAMA_PROVIDERS, OwnModel, own_model
from vault_ask.providers.own_network import OwnNetwork, veiled
from vault_ask.providers.thinking import ThoughtFilter
from vault_ask.settings.models import ModelSettings

OLLAMA = "http://127.0.0.1:11434"
"""Where Ollama listens unless models.api_base says otherwise."""
UNKNOWN_WINDOW = 4096
"""Tokens assumed of a server whose window can neither be asked for nor known; Ollama's own default behind /v1."""
_CLOSE_SECONDS = 1.0


class LitellmGenerator:
    """One model. Holds no connection between answers."""

    def __init__(self, settings: ModelSettings, model: str) -> None:
        self._settings = settings
        self._model = model
        self._provider = model.partition("/")[0]
        self._network = OwnNetwork(settings.local_hosts, "models.api_base", "models.local_hosts")

    @property
    def name(self) -> str:
        """The model's name as litellm takes it."""
        return self._model

    @property
    def is_local(self) -> bool:
        """Whether the model runs on the owner's machines, as far as names and addresses tell; the rest is `reach`'s."""
        return self._own is not None

    @cached_property
    def window(self) -> Window | None:
        """The configured window where it can be asked for or the owner set it; a guess for other own servers."""
        stated = "context_tokens" in self._settings.model_fields_set
        known = self._provider in OLLAMA_PROVIDERS or self._settings.api_base is None or stated
        tokens = self._settings.context_tokens if known else min(UNKNOWN_WINDOW, self._settings.context_tokens)
        return Window(tokens, min(self._settings.reply_tokens, tokens // 2), assured=known)

    async def reach(self) -> None:
        """Ask a local model's server who it is and where the model runs.

        Raises ModelUnreachable when nobody answers, ModelBusy, ModelRefused when a name that sounds private leads
        elsewhere, or the model is hosted elsewhere.
        """
        if self._own is not None:
            await asyncio.to_thread(self._own.assure, afresh=True)

    def warm(self) -> None:
        """Import litellm now, so that the first answer need not wait for it. Blocks for seconds."""
        quiet_litellm()

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """Yield the model's words as they come, without its thoughts; an empty piece is a sign of life.

        Raises ModelUnreachable, ModelBusy, ModelRefused.
        """
        if self._own is not None:
            await asyncio.to_thread(self._own.assure)
        litellm = await asyncio.to_thread(quiet_litellm)
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
            request["api_base"] = veiled(self._api_base) if self.is_local else self._api_base
        if self._provider in OLLAMA_PROVIDERS:
            request["num_ctx"] = self._settings.context_tokens
        return request

    @property
    def _litellm_name(self) -> str:
        # Ollama's chat route applies the model's own template; its older one would not.
        return self._model.replace("ollama/", "ollama_chat/", 1)

    def _free_of_charge(self, litellm: ModuleType) -> None:
        """Tell litellm that a local model costs nothing: it would ask Ollama, by another client, after each answer."""
        if self._provider in OLLAMA_PROVIDERS:
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
        return self._settings.api_base or (OLLAMA if self._provider in OLLAMA_PROVIDERS else None)

    @cached_property
    def _own(self) -> OwnModel | None:
        """The model as one of the owner's; None where its name or address tells that it is not."""
        return own_model(
            self._model, self._api_base, self._network, providers=OLLAMA_PROVIDERS | {"openai"}, key=self._key
        )

    @property
    def _key(self) -> str | None:
        # A server of one's own seldom wants a key; where it does, the usual variable holds it.
        return os.environ.get("OPENAI_API_KEY" if self._provider == "openai" else "OLLAMA_API_KEY")

    async def _client(self, closing: contextlib.AsyncExitStack) -> Any:  # noqa: ANN401 # litellm types it so
        """Make a client that a local model's text cannot leave by: own machines only, no proxy, no redirect."""
        if not self.is_local:
            return None
        import httpx  # noqa: PLC0415 # only where litellm is loaded already

        from vault_ask.providers.own_transport import OwnAsyncTransport  # noqa: PLC0415

        transport = OwnAsyncTransport(self._network, secure=str(self._api_base).lower().startswith("https:"))
        timeout = self._settings.timeout_seconds
        if self._provider in OLLAMA_PROVIDERS:
            from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler  # noqa: PLC0415

            handler = AsyncHTTPHandler(timeout=timeout, transport=transport, follow_redirects=False)
            closing.push_async_callback(handler.close)
            return handler
        from openai import AsyncOpenAI  # noqa: PLC0415

        client = AsyncOpenAI(
            base_url=veiled(str(self._api_base)),
            api_key=self._key or "none",
            # Typed for the successor of httpx, it takes clients of either, as litellm's own are.
            http_client=httpx.AsyncClient(  # type: ignore[arg-type]
                transport=transport, trust_env=False, follow_redirects=False, timeout=timeout
            ),
            timeout=timeout,
            max_retries=0,
        )
        closing.push_async_callback(client.close)
        return client


async def _close(response: Any) -> None:  # noqa: ANN401 # litellm's stream wrapper
    with contextlib.suppress(Exception):
        async with asyncio.timeout(_CLOSE_SECONDS):
            await response.aclose()
