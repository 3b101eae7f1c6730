"""Any reranker that litellm can reach: a server of one's own, or a hosted one.

What counts as local is decided as for the models that word answers (`own_model`): a server that can be told from a
service, at a private address or a host that the owner listed; tested again by the socket of every connection, and by
the server's own word on whether it is a gateway. litellm is imported with the first call, or by `warm`.
"""

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from vault_ask.providers.litellm_errors import Advice, as_model_error
from vault_ask.providers.litellm_quiet import quiet_litellm
from vault_ask.providers.own_model import OwnModel, own_model
from vault_ask.providers.own_network import OwnNetwork, veiled
from vault_ask.retrieval.rerank import Reranker, Shortlist
from vault_ask.scope import OpenScope, PrivateScope
from vault_ask.settings.retrieval import RerankSettings

if TYPE_CHECKING:
    from litellm.llms.custom_httpx.http_handler import HTTPHandler

_OWN_SERVERS = frozenset({"infinity", "hosted_vllm", "huggingface", "jina_ai"})
"""Providers whose grammar servers at home speak: Infinity, vLLM, Text Embeddings Inference; llama.cpp, LocalAI and
Xinference speak Jina's. Others are services, or gateways to them."""
_ADVICE = Advice(
    model="rerank.model",
    timeout="rerank.timeout_seconds",
    shorten="Lower rerank.candidates, or let its server read longer requests.",
)


def make_reranker(settings: RerankSettings, local_hosts: tuple[str, ...]) -> Reranker | None:
    """Make the reranker that the settings name; `local_hosts` is `models.local_hosts`. None where they name none."""
    if settings.model is None:
        return None
    network = OwnNetwork(local_hosts, "rerank.api_base", "models.local_hosts")
    base = settings.api_base.rstrip("/").removesuffix("/rerank") if settings.api_base else None
    own = own_model(settings.model, base, network, providers=_OWN_SERVERS, key=_key(settings.model))
    return (
        RemoteLitellmReranker(settings, settings.model) if own is None else OwnLitellmReranker(settings, own, network)
    )


class RemoteLitellmReranker:
    """A reranker on machines of somebody else's. Holds no connection between calls."""

    def __init__(self, settings: RerankSettings, model: str) -> None:
        self._settings = settings
        self._model = model

    @property
    def name(self) -> str:
        """The model's name as litellm takes it."""
        return self._model

    @property
    def is_local(self) -> Literal[False]:
        """Whether the model runs on the owner's machines: no."""
        return False

    def warm(self) -> None:
        """Import litellm now. Blocks for seconds."""
        quiet_litellm()

    def score(self, question: str, shortlist: Shortlist[OpenScope]) -> list[float]:
        """Score passages. Raises ModelUnreachable, ModelBusy, ModelRefused."""
        request = _request(self._model, self._settings, question, shortlist.texts)
        return _scores(_sent(request, self._model), len(shortlist.passages))


class OwnLitellmReranker:
    """A reranker on the owner's machines. Holds no connection between calls."""

    def __init__(self, settings: RerankSettings, own: OwnModel, network: OwnNetwork) -> None:
        self._settings = settings
        self._own = own
        self._network = network

    @property
    def name(self) -> str:
        """The model's name as litellm takes it."""
        return self._own.name

    @property
    def is_local(self) -> Literal[True]:
        """Whether the model runs on the owner's machines, as far as names and addresses tell: yes."""
        return True

    def warm(self) -> None:
        """Import litellm now. Blocks for seconds."""
        quiet_litellm()

    def score(self, question: str, shortlist: Shortlist[OpenScope] | Shortlist[PrivateScope]) -> list[float]:
        """Score passages. Raises ModelUnreachable, ModelBusy; ModelRefused when the server is not the owner's."""
        self._own.assure()
        request = _request(self.name, self._settings, question, shortlist.texts)
        with self._client() as client:
            # Named here, so that no variable of the environment leads what counts as local elsewhere.
            ours = {
                "api_base": veiled(str(self._settings.api_base)),
                "api_key": _key(self.name) or "none",
                "client": client,
            }
            return _scores(_sent(request | ours, self.name), len(shortlist.passages))

    @contextmanager
    def _client(self) -> "Iterator[HTTPHandler]":
        """Make a client that text cannot leave by: own machines only, no proxy, no redirect."""
        import httpx  # noqa: PLC0415 # only where a reranker is asked

        from vault_ask.providers.own_transport import OwnTransport  # noqa: PLC0415

        quiet_litellm()
        from litellm.llms.custom_httpx.http_handler import HTTPHandler  # noqa: PLC0415 # after it was silenced

        transport = OwnTransport(self._network, secure=str(self._settings.api_base).lower().startswith("https:"))
        with httpx.Client(transport=transport, trust_env=False, follow_redirects=False) as client:
            yield HTTPHandler(client=client)


def _request(model: str, settings: RerankSettings, question: str, texts: Sequence[str]) -> dict[str, Any]:
    request: dict[str, Any] = {
        "model": model,
        "query": question,
        "documents": list(texts),
        "return_documents": False,
        "timeout": settings.timeout_seconds,
        "num_retries": 0,
        "max_retries": 0,
    }
    if model.startswith("huggingface/"):
        # Else Text Embeddings Inference refuses all texts where one is too long; others cut by themselves.
        request["truncate"] = True
    if settings.api_base is not None:
        request["api_base"] = settings.api_base
    return request


def _sent(request: Mapping[str, Any], model: str) -> Any:  # noqa: ANN401 # whatever the server said, as litellm has it
    litellm = quiet_litellm()
    try:
        return litellm.rerank(**request)
    except Exception as error:  # noqa: BLE001 # litellm's errors share no root, and HTTP clients' come through
        raise as_model_error(error, model, begun=False, advice=_ADVICE) from None


def _scores(response: Any, count: int) -> list[float]:  # noqa: ANN401 # whatever the server said, as litellm has it
    """Read the scores in the order of the texts; NaN for a text that was given none."""
    scores = [math.nan] * count
    for result in response.results or ():
        at, score = result.get("index"), result.get("relevance_score")
        if isinstance(at, int) and 0 <= at < count and isinstance(score, int | float):
            scores[at] = float(score)
    return scores


def _key(model: str) -> str | None:
    """Find the key of a server in the variable where litellm looks for it; one of one's own seldom wants any."""
    return os.environ.get(f"{model.partition('/')[0].upper()}_API_KEY")
