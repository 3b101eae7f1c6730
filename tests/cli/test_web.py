"""How the web's part of an answer is told at the terminal: after the vault's, under its own heading."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence

import pytest

from adapters.doors import DONE, RENT, STATUS, grounding_event, sources_event
from cli.commands import Commands, state
from cli.conftest import Making
from vault_ask.console.answers import print_answer
from vault_ask.console.status import print_status
from vault_ask.wire import (
    AnswerEvent,
    AskResponse,
    DeltaEvent,
    ErrorEvent,
    SourcesEvent,
    WebEvent,
    WebResult,
    WebStatus,
)
from web_stand_in import WebStandIn

PAGES = (
    WebResult(n=1, title="Oslo trains", url="https://trains.example/oslo", snippet="The night train\nleaves at 23:06."),
    WebResult(n=2, title="Bad \x1b[2J\u202etitle", url="https://bad.example/\x1b]0;", snippet="\x07 rings"),
)
WEB = WebEvent(results=PAGES, provider="DuckDuckGo", message="Your notes say little on this, so the web was asked.")
VAULT: tuple[AnswerEvent, ...] = (sources_event(RENT), DeltaEvent(text="Rent is 9200. [1]"), grounding_event(RENT))
SILENT: tuple[AnswerEvent, ...] = (
    sources_event(silent=True),
    DeltaEvent(text="Your notes do not answer this."),
    grounding_event(refused=True),
)
HEADING = "\nFrom the web (DuckDuckGo)\nYour notes say little on this, so the web was asked.\n"


def told(events: Sequence[AnswerEvent], *, as_json: bool = False) -> bool:
    async def stream() -> AsyncGenerator[AnswerEvent, None]:
        for event in events:
            yield event

    return asyncio.run(print_answer(stream(), as_json=as_json, sources_only=False))


def test_pages_follow_the_vaults_part_with_title_address_and_a_snippet(capsys: pytest.CaptureFixture[str]) -> None:
    assert told((*VAULT, WEB, DONE))
    assert capsys.readouterr().out == (
        "Rent is 9200. [1]\n[1] Housing/Rent.md › Rent › From May (lines 4-6)\n"
        f"{HEADING}"
        "[1] Oslo trains\n    https://trains.example/oslo\n    The night train leaves at 23:06.\n"
        "[2] Bad \\u001b[2J\\u202etitle\n    https://bad.example/\\u001b]0;\n    \\u0007 rings\n"
    )


def test_words_of_the_webs_part_stand_between_its_heading_and_its_pages(capsys: pytest.CaptureFixture[str]) -> None:
    words = (DeltaEvent(text="It leaves at 23:06", part="web"), DeltaEvent(text=". [1]\n\nSo\x1b[2J.", part="web"))
    assert told((*VAULT, WEB, *words, DONE))
    assert capsys.readouterr().out.endswith(
        f"{HEADING}\nIt leaves at 23:06. [1]\n\nSo\\u001b[2J.\n"
        "[1] Oslo trains\n    https://trains.example/oslo\n"
        "[2] Bad \\u001b[2J\\u202etitle\n    https://bad.example/\\u001b]0;\n"
    )


def test_a_web_that_gave_nothing_is_told_in_its_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    nothing = WebEvent(results=(), provider="Brave", message="Brave did not answer within 6 seconds.")
    told((*VAULT, nothing, DONE))
    assert capsys.readouterr().out.endswith("\nFrom the web (Brave)\nBrave did not answer within 6 seconds.\n")


def test_a_vault_that_is_silent_stays_silent_whatever_the_web_gave(capsys: pytest.CaptureFixture[str]) -> None:
    assert not told((*SILENT, WEB, DONE))
    out = capsys.readouterr().out
    assert out.startswith(f"Your notes do not answer this.\n{HEADING}[1] Oslo trains\n")
    assert told((*VAULT, DONE))
    assert "From the web" not in capsys.readouterr().out


def test_a_web_part_that_breaks_off_ends_its_line_before_the_error(capsys: pytest.CaptureFixture[str]) -> None:
    error = ErrorEvent(code="model_unreachable", message="Nobody answers.", retry=True)
    with pytest.raises(Exception, match="Nobody answers"):
        told((*VAULT, WEB, DeltaEvent(text="It lea", part="web"), error))
    assert capsys.readouterr().out.endswith("\nIt lea\n")


def test_json_holds_the_webs_part_apart_from_the_vaults(capsys: pytest.CaptureFixture[str]) -> None:
    told((*VAULT, WEB, DeltaEvent(text="At 23:06. [1]", part="web"), DONE), as_json=True)
    answer = AskResponse.model_validate_json(capsys.readouterr().out)
    assert answer.answer == "Rent is 9200. [1]"
    assert answer.web is not None
    assert (answer.web.answer, answer.web.results) == ("At 23:06. [1]", PAGES)


@pytest.mark.parametrize(
    ("web", "line"),
    [
        (WebStatus(enabled=False, provider=None, keeps_question_home=False), "off"),
        (
            WebStatus(enabled=True, provider="DuckDuckGo", keeps_question_home=False),
            "where open notes say little, DuckDuckGo is sent the question",
        ),
        (
            WebStatus(enabled=True, provider="SearXNG", keeps_question_home=True),
            "where open notes say little, SearXNG is asked, a server of your own",
        ),
    ],
)
def test_the_status_says_who_is_sent_a_question(web: WebStatus, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_status(STATUS.model_copy(update={"web": web}), as_json=False)
    assert f"\nWeb        {line}\n" in capsys.readouterr().out


def test_the_web_beside_personal_notes_is_refused_in_the_words_of_the_command_line(library: Commands) -> None:
    for dry in ((), ("--dry-run",)):
        said = library("ask", "What was the blood pressure?", "--personal", "--web", *dry).sentence(code=2)
        assert said.startswith(
            "--personal and --web were both given: personal notes never share an answer with the web"
        )
    assert library("ask", "How long is the notice period for the flat?", "--no-web").code == 0


UNKNOWN = "Which football club won the league in Brazil?"
NO_KEY = {"VAULTASK_WEB__ENABLED": "true", "VAULTASK_WEB__PROVIDER": "tavily"}


def of_own(stand_in: WebStandIn) -> dict[str, str]:
    return {
        "VAULTASK_WEB__ENABLED": "true",
        "VAULTASK_WEB__PROVIDER": "searxng",
        "VAULTASK_WEB__SEARXNG_URL": stand_in.url,
    }


def test_a_dry_run_asks_no_web_and_says_that_it_would_be_asked(library: Commands) -> None:
    with WebStandIn(results=[("Palmeiras", "https://clubs.example", "They won.")]) as web:
        dry = library("ask", UNKNOWN, "--dry-run", **of_own(web))
        as_json = library("ask", UNKNOWN, "--dry-run", "--json", **of_own(web))
        assert web.connections == 0
        assert "From the web (SearXNG)" in library("ask", UNKNOWN, **of_own(web)).out
        assert web.asked == [UNKNOWN]
    line = "The web would be asked where the notes say little: SearXNG."
    assert (dry.code, dry.out.splitlines()[-1], dry.err) == (4, line, "")
    assert SourcesEvent.model_validate_json(as_json.out).silent
    assert as_json.err == f"{line}\n"
    records = [json.loads(line)["web"] for line in library("audit", "--json", "--last", "3").out.splitlines()]
    assert records == [None, None, {"provider": "SearXNG", "results": 1}]


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (("--personal",), "--personal keeps it out"),
        (("--no-web",), "--no-web keeps it out"),
        ((), "web.enabled is false"),
    ],
)
def test_a_dry_run_says_what_keeps_the_web_out(library: Commands, flags: tuple[str, ...], why: str) -> None:
    on = {"VAULTASK_WEB__ENABLED": "true"} if flags else {}
    said = library("ask", "How long is the notice period for the flat?", "--dry-run", *flags, **on)
    assert (said.code, said.out.splitlines()[-1]) == (0, f"The web would not be asked: {why}.")
    assert "[1] Flat/Rent.md" in said.out


def test_a_provider_without_its_key_stops_what_would_ask_the_web_and_nothing_else(library: Commands) -> None:
    question = "How long is the notice period for the flat?"
    for command in (("ask", question), ("serve",)):
        assert "Set VAULTASK_TAVILY_API_KEY" in library(*command, **NO_KEY).sentence(code=2)
    for flag in ("--no-web", "--personal"):
        assert "three months" in library("ask", question, flag, **NO_KEY).out
    assert "Flat/Rent.md" in library("search", "notice", "--arm", "text", **NO_KEY).out


def test_a_provider_without_its_key_is_told_by_the_status_and_notes_are_indexed(commands: Making) -> None:
    vault_ask = commands({"Mill.md": "The mill is 31 metres high.\n"})
    assert vault_ask("index", "--no-embed", **NO_KEY).out.startswith("1 new")
    said = vault_ask("status", **NO_KEY)
    assert (said.code, said.err) == (0, "")
    assert "\nWarning: `tavily` has no API key" in said.out
    assert "Set VAULTASK_TAVILY_API_KEY" in said.out


def test_a_question_without_a_word_is_refused_and_nothing_is_read(library: Commands) -> None:
    assert library.data is not None
    before = state(library.data / "audit")
    for question in ("", " \u3000\n"):
        for command, name in (("ask", "question"), ("search", "query")):
            said = library(command, question)
            assert (said.code, said.out) == (2, "")
            assert said.err.endswith(f"Invalid value for '{name.upper()}': the {name} is empty.\n")
    assert state(library.data / "audit") == before
    assert library("ask", "rent?").code == 0
    assert state(library.data / "audit") != before
