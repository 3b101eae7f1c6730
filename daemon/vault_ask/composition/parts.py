"""Which implementation stands behind which port, by the settings."""

from collections.abc import Callable
from functools import partial
from typing import assert_never

from vault_ask.index.embedding import Embedder
from vault_ask.ingest.idle import Globs
from vault_ask.ingest.workshop import Tools
from vault_ask.notes.days import DATE_PROPERTIES, Dating
from vault_ask.notes.sensitivity import Rules
from vault_ask.providers.embedded import EmbeddedEmbedder
from vault_ask.providers.litellm_reranker import make_reranker
from vault_ask.retrieval.rerank import Reranking
from vault_ask.scope import Sensitivity
from vault_ask.settings import Settings
from vault_ask.sources.filesystem import FolderSource
from vault_ask.sources.port import VaultSource


def make_embedder(settings: Settings, tell: Callable[[str], None] | None = None) -> Embedder:
    """Pick the embedder that the settings name."""
    match settings.embedding.provider:
        case "embedded":
            return EmbeddedEmbedder(settings.embedding, settings.data / "models", progress=tell)
        case "ollama":
            # Late, here and below: Ollama's client costs a quarter of a second, which only its users should pay.
            from vault_ask.providers.ollama import OllamaEmbedder  # noqa: PLC0415

            return OllamaEmbedder(settings.embedding)
        case other:
            assert_never(other)


def make_source(settings: Settings) -> VaultSource:
    """Pick the source of notes. Raises ConfigError when no vault is named or the data folder lies inside it."""
    vault = settings.vault
    if vault.source == "folder" or vault.couchdb.url is None:
        return FolderSource(vault, data=settings.data)
    # Late: cryptography and the HTTP client are for those who use them.
    from vault_ask.sources.couchdb import CouchSource  # noqa: PLC0415

    if vault.source == "couchdb" or vault.path is None:
        return CouchSource(vault)
    from vault_ask.sources.choosing import AutoSource  # noqa: PLC0415

    return AutoSource(partial(CouchSource, vault), FolderSource(vault, data=settings.data))


def make_rules(settings: Settings) -> Rules:
    """Compile the owner's sensitivity rules. Raises ConfigError for a pattern that cannot be read."""
    said = settings.sensitivity
    default = Sensitivity[said.default.upper()]
    return Rules.compile(said.personal_paths, said.frontmatter_key, personal_tags=said.personal_tags, default=default)


def globs_of(settings: Settings) -> Globs:
    """Give the patterns beside the rules that may match nothing."""
    return Globs(settings.topics.paths, settings.vault.include)


def make_dating(settings: Settings) -> Dating:
    """Tell how dates are read in this vault."""
    named = settings.time.properties
    return Dating(zone=settings.time.tzinfo, properties=DATE_PROPERTIES if named is None else named)


def make_reranking(settings: Settings) -> Reranking | None:
    """Put together what looks at the best passages again; None where the settings name no reranker."""
    reranker = make_reranker(settings.rerank, settings.models.local_hosts)
    return Reranking(reranker, settings.rerank) if reranker else None


def make_tools(settings: Settings, embedder: Embedder | None) -> Tools:
    """Put together what an index is made with."""
    return Tools(
        source=make_source(settings),
        embedder=embedder,
        rules=make_rules(settings),
        chunks=settings.chunks,
        centring=settings.embedding.centring,
        dating=make_dating(settings),
        make_source=partial(make_source, settings),
    )
