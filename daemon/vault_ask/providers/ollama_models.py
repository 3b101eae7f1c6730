"""What is known of embedding models by name: the words they want before a text, and how long a text may be.

Prefixes are those of the models' own cards. A model that is not here gets none.
"""

from dataclasses import dataclass

_REPRESENT = "Represent this sentence for searching relevant passages: "
_RETRIEVE = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A family's prefixes, and its longest input in tokens."""

    query_prefix: str
    passage_prefix: str
    max_tokens: int


# By the start of the name; the longest start that fits counts.
_FAMILIES = {
    "all-minilm": KnownModel("", "", 256),
    "bge-large": KnownModel(_REPRESENT, "", 512),
    "bge-m3": KnownModel("", "", 8192),
    "embeddinggemma": KnownModel("task: search result | query: ", "title: none | text: ", 2048),
    "granite-embedding": KnownModel("", "", 512),
    "jina-embeddings-v2": KnownModel("", "", 8192),
    "multilingual-e5": KnownModel("query: ", "passage: ", 512),
    "mxbai-embed-large": KnownModel(_REPRESENT, "", 512),
    "nomic-embed-text": KnownModel("search_query: ", "search_document: ", 2048),
    "nomic-embed-text-v2": KnownModel("search_query: ", "search_document: ", 512),
    "paraphrase-multilingual": KnownModel("", "", 128),
    "qwen3-embedding": KnownModel(_RETRIEVE, "", 32768),
    "snowflake-arctic-embed": KnownModel(_REPRESENT, "", 512),
    "snowflake-arctic-embed2": KnownModel("query: ", "", 8192),
}

_EMBEDDING_FAMILIES = frozenset(
    {"bert", "nomic-bert", "nomic-bert-moe", "xlm-roberta", "jina-bert-v2", "gemma-embedding"}
)


def known_model(name: str) -> KnownModel | None:
    """Look a model up by the last part of its name, without tag: `hub/owner/bge-m3:latest` is `bge-m3`."""
    bare = name.rsplit("/", 1)[-1].split(":", 1)[0].lower()
    fits = [family for family in _FAMILIES if bare.startswith(family)]
    return _FAMILIES[max(fits, key=len)] if fits else None


def only_embeds(name: str, families: tuple[str, ...]) -> bool:
    """Guess from name and families whether a model can only embed, for servers that do not tell capabilities."""
    return known_model(name) is not None or "embed" in name.lower() or bool(_EMBEDDING_FAMILIES.intersection(families))
