"""How the web's part of an answer is told at the terminal: after the vault's, under its own heading."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest

from adapters.doors import DONE, RENT, STATUS, grounding_event, sources_event
from cli.commands import Commands
from vault_ask.console import print_answer, print_status
from vault_ask.wire import AnswerEvent, AskResponse, DeltaEvent, ErrorEvent, WebEvent, WebResult, WebStatus

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


def test_the_web_beside_personal_notes_is_refused_before_anything_is_read(library: Commands) -> None:
    said = library("ask", "What was the blood pressure?", "--personal", "--web").sentence(code=2)
    assert "personal notes never share an answer with the web" in said
    assert library("ask", "How long is the notice period for the flat?", "--no-web").code == 0
