"""Whether a model is hosted elsewhere, although the server that answers for it is the owner's.

Ollama passes requests for some models on to its makers' machines (https://docs.ollama.com/cloud): those whose name asks
for it, and those whose manifest names an upstream, under any local name. The latter is told by `remote_host` and
`remote_model` of `/api/show` and `/api/tags`. A gateway that speaks OpenAI's grammar passes everything on, and mostly
says so: its models belong to a company that sells them by the request, or its answers carry a header of its own.
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from vault_ask.errors import ModelRefused

BELIEVED_SECONDS = 60.0
"""How long a server's word on where a model runs is believed."""
KNOWS_NO_SHOW = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED})
"""Answers to `/api/show` of whoever is no Ollama, and so passes nothing on by its names."""
# What `owned_by` in a list of models says where the weights are a company's own. Servers that run weights themselves
# name themselves there (vllm, llamacpp, koboldcpp), the owner of the list (me, user, organization_owner), or nobody.
_SELLERS = frozenset(
    {
        *("anthropic", "azure", "azure-openai", "azure_ai", "bedrock", "cohere", "deepseek", "fireworks_ai", "gemini"),
        *("google", "groq", "mistral", "openai", "openai-internal", "openrouter", "perplexity", "replicate"),
        *("sambanova", "together_ai", "vertex_ai", "xai"),
    }
)
_GATEWAY_HEADERS = ("x-litellm-", "x-portkey-", "helicone-", "cf-aig-")


def asks_for_cloud(name: str) -> bool:
    """Say whether a name asks Ollama to pass the work on: those names end in `cloud`, set off by `:` or `-`."""
    return name.strip().lower().endswith(("-cloud", ":cloud"))


def names_upstream(shown: Mapping[str, Any]) -> bool:
    """Say whether Ollama's description of a model names another machine that does the work."""
    return bool(shown.get("remote_host") or shown.get("remote_model"))


def tells_of_gateway(headers: Iterable[str], listing: Any, name: str) -> bool:  # noqa: ANN401 # whatever the server said
    """Say whether an answer of `GET /v1/models` shows that model `name` is sold by somebody else."""
    if any(header.lower().startswith(_GATEWAY_HEADERS) for header in headers):
        return True
    models = listing.get("data") if isinstance(listing, Mapping) else None
    entries = [entry for entry in models if isinstance(entry, Mapping)] if isinstance(models, list) else []
    return any(entry.get("id") == name and str(entry.get("owned_by") or "").lower() in _SELLERS for entry in entries)


def hosted_elsewhere(name: str) -> ModelRefused:
    """Make the refusal of a model that Ollama passes on."""
    return ModelRefused(
        f"{name} does not run on your Ollama server, which passes it on to another machine, so nothing was sent to it. "
        "Choose a model that runs on yours; `ollama ls` shows those with a size."
    )
