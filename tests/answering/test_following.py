"""A conversation about times: each turn is answered from the notes of the time that it tells by the one before."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from cases.small_vaults import OPEN, ask, indexed
from vault_ask.answering.conversation import Turn
from vault_ask.composition.library import Library
from vault_ask.wire import AskResponse

NOTES = {
    f"Daily/2026-{day}.md": f"I ate {dish} at home with the others.\n"
    for day, dish in (("03-11", "pea soup"), ("03-04", "pancakes"), ("02-25", "herring"), ("02-10", "dumplings"))
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    library = indexed(
        tmp_path_factory.mktemp("following"), NOTES, now=datetime(2026, 3, 16, 12, tzinfo=UTC), zone="UTC"
    )
    yield library
    library.close()


def asked(library: Library, *turns: str) -> AskResponse:
    *before, last = turns
    return ask(library, last, OPEN, history=tuple(Turn(role="user", text=text) for text in before))


@pytest.mark.parametrize(
    ("turns", "best", "words"),
    [
        (["What did I eat last week?"], "Daily/2026-03-11.md", "last week"),
        (["What did I eat last week?", "And the week before?"], "Daily/2026-03-04.md", "the week before"),
        (
            ["What did I eat last week?", "And the week before?", "And the week before that?"],
            "Daily/2026-02-25.md",
            "the week before that",
        ),
        (["What did I eat last week?", "what about 10 February?"], "Daily/2026-02-10.md", "10 February"),
    ],
)
def test_a_follow_up_of_time_keeps_the_subject_and_moves_the_time(
    library: Library, turns: list[str], best: str, words: str
) -> None:
    answer = asked(library, *turns)
    assert answer.understood
    assert answer.understood.days
    assert answer.understood.days.words == words
    assert answer.sources[0].path == best
