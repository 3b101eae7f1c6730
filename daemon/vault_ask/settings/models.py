"""Who makes vectors and words the answers, and whether the web may be asked."""

from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from vault_ask.settings.hosts import is_private_host
from vault_ask.settings.section import Section


class EmbeddingSettings(Section):
    """Who makes the vectors."""

    provider: Literal["embedded", "ollama"] = Field(
        default="embedded", description="embedded runs inside the daemon with no network; ollama asks a server."
    )
    model: str = Field(default="multilingual-e5-small", description="The model; for ollama its name, such as bge-m3.")
    threads: int = Field(
        default=1, ge=1, le=64, description="Texts the embedded model works on at once, each on one thread."
    )
    ollama_url: str = Field(default="http://127.0.0.1:11434", description="Where Ollama listens.")
    allow_hosts: tuple[str, ...] = Field(
        default=(), description="Names of embedding hosts of your own that are not private addresses."
    )
    query_prefix: str | None = Field(default=None, description="Overrides the model's known question prefix.")
    passage_prefix: str | None = Field(default=None, description="Overrides the model's known passage prefix.")
    batch: int = Field(default=16, ge=1, le=256, description="Texts a request.")
    concurrency: int = Field(default=2, ge=1, le=16, description="Requests to Ollama at once.")
    max_tokens: int | None = Field(default=None, ge=64, description="Overrides the model's longest input.")
    timeout_seconds: float = Field(default=120.0, gt=0, description="How long one request may take.")
    centring: Literal["auto", "on", "off"] = Field(
        default="auto", description="Subtract the vault's mean vector; auto does it where the model needs it."
    )

    @model_validator(mode="after")
    def _embedder_is_the_owners(self) -> "EmbeddingSettings":
        host = urlsplit(self.ollama_url).hostname or ""
        listed = {name.casefold() for name in self.allow_hosts}
        if self.provider == "ollama" and not (is_private_host(host) or host.casefold() in listed):
            raise ValueError(
                f"the embedding host {host!r} is not a private address, and every note would be sent to it. "
                "Use an address of your own network, or name the host in embedding.allow_hosts if it is yours"
            )
        return self


class ModelSettings(Section):
    """Who words the answers."""

    generation: str = Field(
        default="extractive",
        description="extractive quotes the notes; anything else is a litellm model name such as ollama_chat/qwen3:4b.",
    )
    personal_generation: str | None = Field(
        default=None, description="A local model for questions that include personal notes."
    )
    api_base: str | None = Field(default=None, description="Address of the model server, where it is not the usual.")
    local_hosts: tuple[str, ...] = Field(
        default=(), description="Hosts of your own that count as local: a gateway, or one whose address is not private."
    )
    timeout_seconds: float = Field(default=120.0, gt=0, description="Longest wait for the next piece of an answer.")
    context_tokens: int = Field(default=8192, ge=1024, description="The window asked of the model and filled at most.")
    reply_tokens: int = Field(default=1024, ge=64, description="Room kept for the answer.")
    answer_chars: int = Field(default=700, ge=80, description="Longest extractive answer, in characters of quotes.")


class WebSettings(Section):
    """The web as a fallback where the vault says little; never beside personal notes."""

    enabled: bool = Field(default=False, description="Whether the web may be asked at all.")
    provider: Literal["duckduckgo", "tavily", "brave", "searxng"] = Field(
        default="duckduckgo", description="Who is asked; searxng is your own and keeps the question at home."
    )
    searxng_url: str | None = Field(default=None, description="Address of your SearXNG, such as http://nas.local:8080.")
    results: int = Field(default=4, ge=1, le=10, description="Pages shown at most.")
    timeout_seconds: float = Field(default=6.0, gt=0, le=60, description="Time after which the answer goes without.")
    thin_below: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Relevance, 0 to 1, below which the web is asked; by default as measured for the embedder.",
    )

    @field_validator("searxng_url")
    @classmethod
    def _address(cls, url: str | None) -> str | None:
        if url is None or not url.strip():
            return None
        parts = urlsplit(url.strip())
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("the address must look like http://nas.local:8080")
        if parts.username or parts.password:
            raise ValueError("the address holds a user or password, which are never sent. Leave them out")
        return url.strip().rstrip("/")

    @model_validator(mode="after")
    def _server_is_named(self) -> "WebSettings":
        if self.enabled and self.provider == "searxng" and not self.searxng_url:
            raise ValueError("provider is searxng, and searxng_url names no server. Set web.searxng_url")
        return self
