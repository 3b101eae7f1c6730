"""How passages are found: the arms, the links that are followed, and the second look."""

from typing import Literal

from pydantic import Field, field_validator

from vault_ask.settings.section import Section


class RetrievalSettings(Section):
    """How passages are found."""

    vector_k: int = Field(default=40, ge=1, le=1000, description="Nearest chunks taken from the vector arm.")
    text_k: int = Field(default=40, ge=1, le=1000, description="Best chunks taken from the word arm.")
    top_k: int = Field(default=8, ge=1, le=50, description="Passages an answer is made from.")
    per_note: int = Field(default=2, ge=1, le=50, description="Passages one note may give.")
    fusion: Literal["blend", "rrf"] = Field(
        default="blend", description="blend of calibrated scores, or plain reciprocal rank fusion."
    )


class GraphSettings(Section):
    """Whether the links of what was found are followed."""

    enabled: bool = Field(
        default=True,
        description="Whether links, backlinks, rare tags, topics and rare names of the best notes are followed.",
    )
    places: int = Field(
        default=2,
        ge=0,
        le=50,
        description="Of retrieval.top_k the most places for what another note led to; more where little was found.",
    )


class RerankSettings(Section):
    """A second look at the best passages, by a model that reads each of them beside the question; off by default."""

    model: str | None = Field(
        default=None,
        description="A litellm name of a reranking model, such as infinity/BAAI/bge-reranker-v2-m3; null is none.",
    )
    api_base: str | None = Field(
        default=None, description="Address of the reranker's server, such as http://127.0.0.1:7997; null is the usual."
    )
    candidates: int = Field(default=30, ge=2, le=200, description="Best passages that are looked at again.")
    timeout_seconds: float = Field(
        default=1.5, gt=0, le=60, description="Time after which the search goes on with the order it had."
    )

    @field_validator("model", "api_base")
    @classmethod
    def _given(cls, text: str | None) -> str | None:
        return (text or "").strip() or None

    @field_validator("model")
    @classmethod
    def _can_rerank(cls, model: str | None) -> str | None:
        if model is not None and model.startswith(("ollama/", "ollama_chat/")):
            raise ValueError(
                "Ollama serves no rerankers. Run one with Infinity (infinity/...), vLLM (hosted_vllm/...) or Text "
                "Embeddings Inference (huggingface/...), and name it here"
            )
        return model
