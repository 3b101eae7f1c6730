"""Prompts made by hand, for whoever tests a generator alone."""

from collections.abc import Mapping, Sequence

from vault_ask.answering.context import Context, Excerpt
from vault_ask.answering.conversation import Conversation, Turn
from vault_ask.answering.evidence import Prompt, Selection, VaultOnly, WebPage, WithWeb
from vault_ask.index.within import Tasks
from vault_ask.retrieval.hits import Hit
from vault_ask.scope import OpenScope, Sensitivity


def prompt_of(
    question: str,
    *excerpts: Excerpt,
    language: str = "en",
    history: Sequence[Turn] = (),
    pages: Sequence[WebPage] = (),
    query: str = "",
    idf: Mapping[str, float] | None = None,
    answer_in: str | None = None,
    is_broad: bool = False,
    selection: str | None = None,
    is_listing: bool = False,
    tasks: tuple[Tasks, ...] = (),
    is_of_a_time: bool = False,
) -> Prompt:
    """A prompt of these excerpts, with the numbers they have, and of web pages if there are any."""
    context = Context[OpenScope](tuple(_hit(excerpt) for excerpt in excerpts))
    context.__dict__["excerpts"] = excerpts
    talk = Conversation[OpenScope](tuple(history))
    selected = None if selection is None else Selection(selection, OpenScope(web_allowed=True))
    evidence = WithWeb(context, talk, tuple(pages), selected) if pages else VaultOnly(context, talk, selected)
    return Prompt(
        question=question,
        language=language,
        evidence=evidence,
        query=query,
        idf=idf or {},
        answer_in=answer_in,
        is_broad=is_broad,
        is_listing=is_listing,
        tasks=tasks,
        is_of_a_time=is_of_a_time,
    )


def _hit(excerpt: Excerpt) -> Hit[OpenScope]:
    return Hit(
        chunk_id=excerpt.n,
        path=excerpt.path,
        title=excerpt.title,
        heading_path=excerpt.heading_path,
        block=None,
        body=excerpt.text,
        line_start=excerpt.line_start,
        line_end=excerpt.line_end,
        tokens=len(excerpt.text.split()),
        language=excerpt.language,
        sensitivity=Sensitivity.OPEN,
        score=excerpt.score,
        provenance="both",
        in_question=excerpt.in_question,
    )
