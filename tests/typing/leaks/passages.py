"""Passages keep the scope they were found under. Every line marked `error` has to be one, and no other line may be."""

from vault_ask.answering.context import Context, assemble
from vault_ask.index.reading.text import Passage
from vault_ask.index.view import Index, VaultView
from vault_ask.retrieval.hits import Hit
from vault_ask.scope import OpenScope, PrivateScope

OpenHits = tuple[Hit[OpenScope], ...]
PrivateHits = tuple[Hit[PrivateScope], ...]


def beside_the_web(context: Context[OpenScope]) -> int:
    return len(context.hits)


def personal_context_beside_the_web(found: PrivateHits) -> None:
    beside_the_web(assemble(found, room=None))  # error: arg-type


def personal_hits_among_open_ones(found: OpenHits, personal: PrivateHits) -> None:
    beside_the_web(assemble((*found, *personal), room=None))  # error: arg-type


def personal_hit_in_an_open_context(personal: PrivateHits) -> Context[OpenScope]:
    return Context(personal)  # error: arg-type


def open_passages_from_a_private_view(view: VaultView[PrivateScope]) -> dict[int, Passage[OpenScope]]:
    return view.text.passages([1])  # error: return-value


def a_view_without_a_scope(index: Index) -> None:
    index.open()  # error: call-arg


def a_private_view_taken_for_an_open_one(index: Index) -> None:
    with index.open(PrivateScope()) as view:
        mine: VaultView[OpenScope] = view  # error: assignment
        del mine
