"""Cases 13, 25, 26 and 30 in one: in a vault of a few notes, frequencies and means say nothing, and it answers still.

Asked with the embedded model, as a newcomer would: five notes, and a plain question.
"""

from pathlib import Path

import pytest

from cases.small_vaults import OPEN, PRIVATE, ask, cited, indexed
from vault_ask.composition.library import Library
from vault_ask.providers.embedded import EmbeddedEmbedder
from vault_ask.scope import Scope

NOTES = {
    "Tide #3 tables!.md": "oyster fact\n",
    "North^south.md": "mussel fact\n",
    "40% off & more.md": "cockle fact\n",
    'Ülkü\'s "box".md': "limpet fact\n",
    "v2.0 plan.md": "whelk fact\n",
    "Journey.md": "Things to pack\n![[Vault/Ticket]]\n![[Vault/Ticket#Seat|seat]]\n",
    "Vault/Ticket.md": "# Seat\nCANARYSEAT 48C\n",
    "Dentist.md": "The dentist appointment is on Friday at ten.\n",
    "Oven.md": "Das Budget für den Ofen beträgt 900 Euro.\n",
    "Router password.md": "---\ntags: [home]\n---\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, embedder: EmbeddedEmbedder) -> Library:
    folder: Path = tmp_path_factory.mktemp("small")
    return indexed(folder, NOTES, embedder=embedder, personal_paths=["Vault/**"])


@pytest.mark.parametrize(
    ("question", "path", "quote"),
    [
        ("what is the oyster fact?", "Tide #3 tables!.md", "oyster fact"),
        ("what is the mussel fact?", "North^south.md", "mussel fact"),
        ("what is the cockle fact?", "40% off & more.md", "cockle fact"),
        ("what is the limpet fact?", 'Ülkü\'s "box".md', "limpet fact"),
        ("whelk fact", "v2.0 plan.md", "whelk fact"),
        ("what are the things to pack?", "Journey.md", "Things to pack"),
        ("When is the dentist appointment?", "Dentist.md", "The dentist appointment is on Friday at ten."),
        ("How large is the budget for the oven?", "Oven.md", "Das Budget für den Ofen beträgt 900 Euro."),
    ],
)
def test_a_plain_question_is_answered_by_the_one_note_that_speaks_of_it(
    library: Library, question: str, path: str, quote: str
) -> None:
    answer = ask(library, question)
    assert not answer.refused
    assert (cited(answer)[0], answer.citations[0].quote) == (path, quote)


@pytest.mark.parametrize("question", ["Who won the world cup in 1998?", "How tall is the highest mountain?"])
def test_what_no_note_speaks_of_stays_silent(library: Library, question: str) -> None:
    answer = ask(library, question)
    assert answer.refused
    assert answer.citations == ()


@pytest.mark.parametrize(("scope", "path"), [(OPEN, None), (PRIVATE, "Vault/Ticket.md")])
def test_an_embedded_personal_note_is_quoted_from_itself_or_not_at_all(
    library: Library, scope: Scope, path: str | None
) -> None:
    answer = ask(library, "what is the number of my seat?", scope)
    assert cited(answer)[:1] == ([path] if path else cited(answer)[:1])
    assert ("CANARYSEAT" in answer.model_dump_json()) is (path is not None)


def test_an_empty_notes_name_is_pointed_to_and_nothing_else_is_quoted_for_it(library: Library) -> None:
    answer = ask(library, "router password")
    assert answer.refused
    assert answer.sources[0].path == "Router password.md"
    assert "- Router password" in answer.answer
