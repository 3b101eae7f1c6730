import json

from cli.commands import Commands
from cli.conftest import Making
from model_server import ModelServer, Status
from vault_ask.wire import AskResponse, SourcesEvent

NOTICE = "How long is the notice period for the flat?"
SILENT = "Which football club won the league in Brazil?"


def test_an_answer_quotes_the_note_and_names_note_heading_and_lines(library: Commands) -> None:
    said = library("ask", NOTICE)
    assert (said.code, said.err) == (0, "")
    first, *rest = said.out.splitlines()
    assert first == "“The notice period for the flat is three months, always to the end of a month.” [1]"
    assert "[1] Flat/Rent.md › Rent › Notice (line 8)" in rest


def test_json_is_one_ask_response_and_its_quotes_stand_in_the_lines_they_cite(library: Commands) -> None:
    said = library("ask", NOTICE, "--json")
    answer = AskResponse.model_validate_json(said.out)
    assert (said.code, answer.refused, answer.personal_included, answer.generator) == (0, False, False, "extractive")
    assert library.vault is not None
    for citation in answer.citations:
        lines = (library.vault / citation.path).read_text(encoding="utf-8").split("\n")
        assert citation.quote.strip()
        assert citation.quote in "\n".join(lines[citation.line_start - 1 : citation.line_end])


def test_a_silent_vault_says_so_and_ends_with_code_4(library: Commands) -> None:
    said = library("ask", SILENT, "--json")
    answer = AskResponse.model_validate_json(said.out)
    assert (said.code, answer.refused, answer.silent, answer.citations) == (4, True, True, ())
    assert answer.answer


def test_a_personal_note_takes_part_only_when_asked_for(library: Commands) -> None:
    question = "What was the blood pressure in October?"
    open_, private = library("ask", question), library("ask", question, "--personal", "--json")
    assert "CANARY-P" not in open_.out + open_.err
    answer = AskResponse.model_validate_json(private.out)
    assert answer.personal_included
    assert answer.citations[0].path == "Private/Health.md"


def test_a_dry_run_shows_the_passages_and_words_nothing(library: Commands) -> None:
    said = library("ask", NOTICE, "--dry-run")
    assert said.code == 0
    assert said.out.splitlines()[0].startswith("extractive would answer from ")
    assert "[1] Flat/Rent.md › Rent › Notice (lines 4-8)" in said.out
    assert "“" not in said.out
    sources = SourcesEvent.model_validate_json(library("ask", NOTICE, "--dry-run", "--json").out)
    assert sources.sources[0].path == "Flat/Rent.md"


def test_without_an_index_one_sentence_names_the_command_that_makes_one(commands: Making) -> None:
    vault_ask = commands()
    for command in (("ask", NOTICE), ("search", NOTICE), ("status",)):
        assert "Run `vault-ask index` first." in vault_ask(*command).sentence(code=2)


def test_a_model_that_fails_is_one_sentence_and_code_5_also_where_json_is_wanted(library: Commands) -> None:
    with ModelServer([Status(400)]) as server:
        model = {"VAULTASK_MODELS__GENERATION": "openai/stand-in", "VAULTASK_MODELS__API_BASE": server.openai_base}
        assert "stand-in" in library("ask", NOTICE, "--json", **model).sentence(code=5)


def test_a_model_words_the_answer_and_what_it_made_up_is_not_shown(library: Commands) -> None:
    with ModelServer(["Three ", "months [1]. ", "And more [99]."]) as server:
        model = {"VAULTASK_MODELS__GENERATION": "openai/stand-in", "VAULTASK_MODELS__API_BASE": server.openai_base}
        said = library("ask", NOTICE, **model)
    assert said.code == 0
    assert said.out.splitlines()[0] == "Three months [1]. And more."
    assert "[99]" not in said.out


def test_odd_words_are_questions_like_any_other(library: Commands) -> None:
    for question in ('"unbalanced', "NEAR", "mill OR (", "*", "[[Rent]]", "{x} y : z"):
        said = library("search", question, "--arm", "text", "--json")
        assert said.code in {0, 4}, said
        assert set(json.loads(said.out)) == {"hits", "notices", "understood", "seconds"}


def test_a_question_about_a_note_is_answered_from_that_note_first(library: Commands) -> None:
    plain = SourcesEvent.model_validate_json(library("ask", NOTICE, "--dry-run", "--json").out)
    about = ("ask", NOTICE, "--note", "/garden/ALLOTMENT.md", "--dry-run")
    asked = SourcesEvent.model_validate_json(library(*about, "--json").out)
    assert plain.sources[0].path == "Flat/Rent.md"
    assert asked.sources[0].path == "Garden/Allotment.md"
    said = library("ask", "What is this about?", "--note", "Garden/Allotment.md")
    assert said.code == 0
    assert said.out.startswith("“The allotment gave 31 kg of potatoes from four rows.” [1]")


def test_a_note_that_is_personal_or_not_there_is_told_in_the_same_words(library: Commands) -> None:
    hidden, absent = (
        json.loads(library("ask", NOTICE, "--note", path, "--json").out)
        for path in ("Private/Health.md", "Private/None.md")
    )
    assert hidden["notices"] == [notice.replace("None", "Health") for notice in absent["notices"]] != []
    assert hidden["sources"] == absent["sources"]
    included = json.loads(library("ask", NOTICE, "--note", "private/health", "--personal", "--json").out)
    assert included["sources"][0]["path"] == "Private/Health.md"


def test_as_many_passages_as_wished_for_are_answered_from(library: Commands) -> None:
    for k in ("1", "5"):
        told = SourcesEvent.model_validate_json(library("ask", NOTICE, "--k", k, "--dry-run", "--json").out)
        assert 1 <= len(told.sources) <= int(k)
    assert "is not in the range 1<=x<=50" in library("ask", NOTICE, "--k", "51").err


def test_silence_is_said_in_the_language_wished_for(library: Commands) -> None:
    assert library("ask", SILENT, "--language", "sv").out.startswith("Dina anteckningar svarar inte på detta.")
    assert library("ask", NOTICE, "--language", "sv").out == library("ask", NOTICE).out
    refused = library("ask", NOTICE, "--language", "Swedish please")
    assert (refused.code, "this is no language tag" in refused.err) == (2, True)


def test_a_model_is_told_the_language_wished_for(library: Commands) -> None:
    with ModelServer(script=["Tre månader [1]."]) as server:
        models = {"VAULTASK_MODELS__GENERATION": "openai/m", "VAULTASK_MODELS__API_BASE": server.openai_base}
        said = library("ask", NOTICE, "--language", "sv", **models)
    assert (said.code, said.out.splitlines()[0]) == (0, "Tre månader [1].")
    assert "Answer in Swedish (sv)" in server.requests[0]["messages"][0]["content"]
