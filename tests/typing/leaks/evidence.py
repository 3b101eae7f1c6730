"""Personal text beside the web is no value. Every line marked `error` has to be one, and no other line may be."""

from vault_ask.answering.context import Context
from vault_ask.answering.conversation import Conversation, Turn, remember
from vault_ask.answering.evidence import Evidence, Prompt, Selection, VaultOnly, WebPage, WithWeb
from vault_ask.answering.ports import WebSearch
from vault_ask.answering.web import WebAsked
from vault_ask.retrieval.hits import Hit
from vault_ask.scope import OpenScope, PrivateScope, Question

Pages = tuple[WebPage, ...]
OpenTalk = Conversation[OpenScope]
PrivateTalk = Conversation[PrivateScope]


def personal_notes_beside_web_pages(personal: Context[PrivateScope], talk: OpenTalk, pages: Pages) -> Evidence:
    return WithWeb(personal, talk, pages)  # error: arg-type


def a_private_conversation_beside_web_pages(context: Context[OpenScope], talk: PrivateTalk, pages: Pages) -> Evidence:
    return WithWeb(context, talk, pages)  # error: arg-type


def personal_words_beside_web_pages(
    context: Context[OpenScope], talk: OpenTalk, pages: Pages, words: Selection[PrivateScope]
) -> Evidence:
    return WithWeb(context, talk, pages, words)  # error: arg-type


def a_private_conversation_taken_for_an_open_one(history: tuple[Turn, ...]) -> OpenTalk:
    return remember(history, PrivateScope())  # error: arg-type


def private_evidence_that_grows_pages(evidence: VaultOnly[PrivateScope], pages: Pages) -> None:
    evidence.pages = pages  # error: attr-defined


def a_prompt_of_loose_parts(context: Context[PrivateScope], pages: Pages) -> Prompt:
    return Prompt(question="?", language="en", context=context, pages=pages)  # error: call-arg


async def a_search_beside_personal_notes(web: WebSearch, personal: Context[PrivateScope]) -> Pages:
    return await web.search(Question("?"), beside=personal)  # error: arg-type


async def a_search_beside_nothing(web: WebSearch) -> Pages:
    return await web.search(Question("?"))  # error: call-arg


async def note_text_as_a_question(web: WebSearch, context: Context[OpenScope], hit: Hit[OpenScope]) -> Pages:
    return await web.search(hit.body, beside=context)  # error: arg-type


def a_search_begun_beside_personal_notes(web: WebSearch, personal: Context[PrivateScope]) -> WebAsked:
    return WebAsked(web, Question("?"), beside=personal, is_vault_silent=True)  # error: arg-type
