"""Filters are for the vault alone: neither the web nor a model is told of them, and no note counts as named by one."""

import pytest

from answering.passages import OPEN, PRIVATE, ScriptedRetrieve, ask, hit, sources_of, vault_of
from fakes import CannedWeb, HashEmbedder, ScriptedGenerator
from vault_ask.answering.conversation import Turn
from vault_ask.answering.evidence import WebPage
from vault_ask.answering.prompts import messages
from vault_ask.providers.extractive import ExtractiveGenerator

RENT = hit("Housing/Rent.md", "Rent is 9200 from May.")
PAGE = WebPage(title="Rents", url="https://rents.example/", text="The usual rent is 9500.")
FILTERS = 'tag:#canary -path:"Canary notes/" [canarykey:canaryvalue] file:Canary.md task-todo:canary'


def test_the_web_is_asked_the_words_alone() -> None:
    web = CannedWeb(PAGE)
    retrieve = ScriptedRetrieve(RENT, closeness=0.02, coverage=0.0)
    ask(vault_of(retrieve, ScriptedGenerator("x [1]"), web=web), f"What is the usual rent? {FILTERS}")
    assert [question.text for question in web.asked] == ["What is the usual rent?"]


def test_the_web_is_told_no_filter_of_an_earlier_turn() -> None:
    web = CannedWeb(PAGE)
    retrieve = ScriptedRetrieve(RENT, closeness=0.02, coverage=0.0)
    history = (Turn(role="user", text=f"What is the usual rent? {FILTERS}"),)
    ask(vault_of(retrieve, ScriptedGenerator("x [1]"), web=web), "And how much?", OPEN, history)
    assert [question.text for question in web.asked] == ["What is the usual rent?\nAnd how much?"]
    assert retrieve.filters == [()]


def test_nothing_but_filters_is_nothing_to_ask_the_web() -> None:
    web = CannedWeb(PAGE)
    ask(vault_of(ScriptedRetrieve(RENT, closeness=0.02, coverage=0.0), ScriptedGenerator("x [1]"), web=web), FILTERS)
    assert web.asked == []


@pytest.mark.parametrize("question", [f"What is the rent? {FILTERS}", f"{FILTERS} What is the rent?"])
def test_a_model_is_asked_the_words_alone(question: str) -> None:
    model = ScriptedGenerator("9200 [1].")
    retrieve = ScriptedRetrieve(RENT)
    ask(vault_of(retrieve, model), question)
    assert (model.prompts[0].question, model.prompts[0].query) == ("What is the rent?", "What is the rent?")
    assert "canary" not in repr(messages(model.prompts[0])).casefold()
    assert retrieve.asked[0][0] == "What is the rent?"
    assert [each.written for each in retrieve.filters[0]] == [
        *("tag:#canary", '-path:"Canary notes/"', "[canarykey:canaryvalue]", "file:Canary.md", "task-todo:canary")
    ]


def test_a_model_that_is_asked_nothing_is_asked_what_the_passages_say() -> None:
    model = ScriptedGenerator("9200 [1].")
    ask(vault_of(ScriptedRetrieve(RENT), model), "tag:#canary", PRIVATE)
    assert model.prompts[0].question == ""
    last = messages(model.prompts[0])[-1]["content"]
    assert "What do these excerpts say?" in last
    assert "canary" not in last


def test_filters_are_not_embedded_when_sentences_are_chosen() -> None:
    embedder = ListeningEmbedder()
    quotes = ExtractiveGenerator(embedder=embedder)
    ask(vault_of(ScriptedRetrieve(RENT), quotes), f"What is the rent? {FILTERS}")
    ask(vault_of(ScriptedRetrieve(RENT), quotes), FILTERS)
    assert set(embedder.asked) == {"What is the rent?"}


def test_a_filter_names_no_note() -> None:
    events = ask(
        vault_of(ScriptedRetrieve(RENT), ScriptedGenerator("9200 [1].")), "rent? file:Canary.md [up:[[Canary]]]"
    )
    assert sources_of(events).notices == ()
    named = ask(vault_of(ScriptedRetrieve(RENT), ScriptedGenerator("9200 [1].")), "rent of [[Canary]]?")
    assert "Canary" in sources_of(named).notices[0]


class ListeningEmbedder(HashEmbedder):
    """Remembers the questions it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed_query(self, text: str) -> object:
        self.asked.append(text)
        return super().embed_query(text)
