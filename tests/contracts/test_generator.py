"""What every generator keeps to: the fake, the quotes, and litellm over a real socket."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, aclosing

import pytest

from fakes import ScriptedGenerator
from model_server import ModelServer
from prompting import prompt_of
from vault_ask.answering.context import Excerpt
from vault_ask.answering.ports import CutShort, Generator, Piece, Quoted
from vault_ask.answering.wording import Wording
from vault_ask.providers.extractive import ExtractiveGenerator
from vault_ask.providers.litellm_models import LitellmGenerator
from vault_ask.settings.models import ModelSettings

WORDS = ["Rent ", "is ", "9200 ", "from ", "May ", "[1]."]
EXCERPT = Excerpt(
    n=1,
    path="Housing/Rent.md",
    title="Rent",
    heading_path=("Rent",),
    text="# Rent\n\nRent is 9200 from May. The flat has two rooms. The boiler is old.",
    line_start=1,
    line_end=3,
    score=1.0,
    language="en",
)
PROMPT = prompt_of("What is the rent?", EXCERPT, query="What is the rent?")


@pytest.fixture(params=["scripted", "extractive", "openai/m", "ollama_chat/m"])
def generator(request: pytest.FixtureRequest) -> Iterator[Generator]:
    with ExitStack() as stack:
        if request.param == "scripted":
            yield ScriptedGenerator(*WORDS)
        elif request.param == "extractive":
            yield ExtractiveGenerator(embedder=None)
        else:
            server = stack.enter_context(ModelServer(script=WORDS))
            base = server.ollama_base if request.param.startswith("ollama") else server.openai_base
            yield LitellmGenerator(ModelSettings(generation=request.param, api_base=base), request.param)


def run(generator: Generator, until: Callable[[list[Piece]], bool] = lambda _: False) -> list[Piece]:
    async def read() -> list[Piece]:
        await generator.reach()
        pieces: list[Piece] = []
        async with aclosing(generator.stream(PROMPT)) as stream:
            async for piece in stream:
                pieces.append(piece)
                if until(pieces):
                    break
        return pieces

    return asyncio.run(asyncio.wait_for(read(), 60))


def test_an_answer_holds_what_was_asked_for_and_cites_it(generator: Generator) -> None:
    wording = Wording(PROMPT.excerpts)
    text = "".join(map(wording.add, run(generator))) + wording.close()
    assert "9200" in text
    assert "[1]" in text
    assert wording.removed == 0


def test_every_piece_is_text_or_a_quote_inside_an_excerpt(generator: Generator) -> None:
    for piece in run(generator):
        match piece:
            case Quoted(n=n, start=start, end=end):
                assert n == EXCERPT.n
                assert EXCERPT.text[start:end].strip()
            case CutShort():
                pytest.fail("there was room enough")
            case str():
                assert piece == "" or piece in "".join(WORDS)


def test_a_reader_may_leave_after_the_first_piece_and_ask_again(generator: Generator) -> None:
    assert len(run(generator, until=lambda pieces: len(pieces) == 1)) == 1
    assert len(run(generator)) >= 1


def test_it_has_a_name_and_says_whether_it_is_local(generator: Generator) -> None:
    assert generator.name
    assert generator.is_local is True
