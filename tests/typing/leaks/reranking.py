"""No remote reranker reads a personal passage. Every line marked `error` has to be one, and no other line may be."""

from vault_ask.index.reading.text import Passage
from vault_ask.providers.litellm_reranker import OwnLitellmReranker, RemoteLitellmReranker
from vault_ask.retrieval.candidates import Candidate
from vault_ask.retrieval.rerank import LocalReranker, RemoteReranker, Reranker, Reranking, Shortlist
from vault_ask.scope import OpenScope, PrivateScope

Personal = Shortlist[PrivateScope]
Open = Shortlist[OpenScope]


def personal_passages_for_a_remote_reranker(reranker: RemoteReranker, personal: Personal) -> None:
    reranker.score("?", personal)  # error: arg-type


def personal_passages_for_whoever_it_is(reranker: Reranker, personal: Personal) -> None:
    reranker.score("?", personal)  # error: arg-type


def personal_passages_after_asking_where_it_runs(reranker: Reranker, personal: Personal, found: Open) -> None:
    reranker.score("?", found)
    if reranker.is_local:
        reranker.score("?", personal)
    else:
        reranker.score("?", personal)  # error: arg-type


def personal_passages_for_a_hosted_model(reranker: RemoteLitellmReranker, personal: Personal) -> None:
    reranker.score("?", personal)  # error: arg-type


def a_remote_reranker_taken_for_a_local_one(reranker: RemoteReranker, hosted: RemoteLitellmReranker) -> LocalReranker:
    mine: LocalReranker = hosted  # error: assignment
    del mine
    return reranker  # error: return-value


def a_local_one_is_both(own: OwnLitellmReranker) -> Reranker:
    return own


def personal_passages_on_an_open_shortlist(personal: tuple[Passage[PrivateScope], ...]) -> Open:
    return Shortlist(personal)  # error: arg-type


def personal_candidates_ranked_under_an_open_scope(
    reranking: Reranking, ranked: list[Candidate[PrivateScope]], scope: OpenScope
) -> None:
    reranking.rerank("?", ranked, scope)  # error: misc


def loose_texts(reranker: RemoteReranker, texts: list[str]) -> None:
    reranker.score("?", texts)  # error: arg-type


class Traitor:
    """One that does not say for good where it runs is no local reranker."""

    name = "traitor"
    is_local = False

    def warm(self) -> None:
        """Nothing to do."""

    def score(self, question: str, shortlist: Personal | Open) -> list[float]:
        return [float(len(question)) for _ in shortlist.passages]


traitor: LocalReranker = Traitor()  # error: assignment
