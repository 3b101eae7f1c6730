"""A vault of a few notes, embedded as they come in: a real daemon and the real model tell as much of it as they will.

So small a vault gets its vectors before its notes are stored, never from the backlog.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from built_model import models_folder
from journeys.houses import OPEN, PRIVATE, House, embedded
from vault_ask.answering.coverage import is_silent, relevance, thresholds_for
from vault_ask.composition.daemon import Daemon
from vault_ask.ingest.backlog import EMBED_FIRST
from vault_ask.providers.embedded import EmbeddedEmbedder
from vault_ask.retrieval.hits import Retrieved
from vault_ask.scope import OpenScope, Sensitivity
from vault_ask.settings.models import EmbeddingSettings
from waiting import wait_until

NOTES = {
    "Rent.md": "The rent is 9200 from May.\n",
    "Boat.md": "The boat needs a new sail before the summer.\n",
    "Own/a.md": "Slept badly.\n",
    "Own/b.md": "Called Mira.\n",
    "Own/c.md": "A long walk.\n",
}
LONG = {
    "Own/Long.md": "\n\n".join(f"# Day {n}\n\n{'I walked along the river and thought of it. ' * 40}" for n in range(8))
}
FOREIGN = ["What is the capital of Mongolia?", "Who won the world cup in 1998?"]
KNOWN = "How much is the rent?"


@pytest.fixture
def daemon(tmp_path: Path, pytestconfig: pytest.Config) -> Iterator[tuple[House, Daemon]]:
    """A daemon that began with an empty note, and was ready before the first notes came."""
    house = House(tmp_path, {"Blank.md": ""})
    house.embedder = EmbeddedEmbedder(EmbeddingSettings(), models_folder(pytestconfig))  # type: ignore[assignment]
    with house.daemon(sensitivity={"personal_paths": ["Own/**"]}) as running:
        wait_until(lambda: running.describe(Sensitivity.PERSONAL).embedding.ready)
        embedded(running)
        yield house, running


def told(daemon: Daemon, question: str) -> Retrieved[OpenScope]:
    return daemon.retrieve(question, scope=OPEN)


def test_a_personal_note_changes_neither_the_silence_nor_what_is_told_of_centring(
    daemon: tuple[House, Daemon],
) -> None:
    house, running = daemon
    measured = thresholds_for("multilingual-e5-small", None)
    before = running.describe(Sensitivity.OPEN).embedding
    assert before.centred
    for notes in (NOTES, LONG):
        house.write(notes)
        wait_until(lambda wanted=notes: wanted.keys() <= _paths(running))
        embedded(running)
        assert running.describe(Sensitivity.OPEN).embedding == before
        found = {question: told(running, question) for question in (*FOREIGN, KNOWN)}
        assert [is_silent(each, measured) for each in found.values()] == [True, True, False]
        assert all(each.nearness and each.nearness.is_centred for each in found.values())
        assert relevance(found[KNOWN], measured) > 0.5
    assert 5 < running.describe(Sensitivity.PERSONAL).chunks <= EMBED_FIRST


def _paths(daemon: Daemon) -> set[str]:
    with daemon.index.open(PRIVATE) as view:
        return set(view.notes.paths())
