"""A reranker behind the commands: what its order does, what is said where it is away, and how the status names it."""

from cli.commands import Commands
from rerank_stand_in import RerankStandIn
from vault_ask.wire import SearchResponse

QUESTION = "spoons of acid to descale the kettle"


def environment(url: str, model: str = "infinity/m") -> dict[str, str]:
    return {
        "VAULTASK_RERANK__MODEL": model,
        "VAULTASK_RERANK__API_BASE": url,
        "VAULTASK_RERANK__TIMEOUT_SECONDS": "20",
    }


def test_a_search_shows_the_rerankers_part_and_its_order(library: Commands) -> None:
    with RerankStandIn() as server:
        said = library("search", QUESTION, "--json", **environment(server.url))
        (path, payload, _) = server.requests[-1]
    found = SearchResponse.model_validate_json(said.out)
    assert (said.code, path, payload["query"]) == (0, "/rerank", QUESTION)
    assert found.hits[0].path == "Kitchen/Kettle.md"
    assert all("rerank" in hit.trace for hit in found.hits)
    assert "CANARY" not in str(payload)


def test_a_reranker_that_is_away_is_said_and_the_search_goes_on(library: Commands) -> None:
    said = library("search", QUESTION, "--json", **environment("http://127.0.0.1:9"))
    found = SearchResponse.model_validate_json(said.out)
    assert found.hits[0].path == "Kitchen/Kettle.md"
    (notice,) = found.notices
    assert notice.startswith("Not reranked: infinity/m cannot be reached: nobody answers at its address. Start its")
    assert notice.endswith("or correct rerank.api_base.")


def test_the_status_names_a_reranker_and_where_it_runs(library: Commands) -> None:
    assert "Reranking" not in library("status").out
    assert "Reranking  infinity/m (on your machines)" in library("status", **environment("http://127.0.0.1:9")).out
    assert "Reranking  cohere/m (remote)" in library("status", **environment("http://127.0.0.1:9", "cohere/m")).out


def test_ollama_is_refused_with_what_to_do(library: Commands) -> None:
    said = library("search", QUESTION, VAULTASK_RERANK__MODEL="ollama/bge-reranker-v2-m3")
    assert "Ollama serves no rerankers" in said.sentence(code=2)
