"""The status under an open ceiling counts what is to be mended in open notes, and names no note at all."""

from dataclasses import replace
from pathlib import Path

from fakes import HashEmbedder
from vault_ask.index.files import IndexFiles
from vault_ask.index.view import Index
from vault_ask.ingest.backlog import BacklogState
from vault_ask.ingest.progress import Snapshot
from vault_ask.ingest.status import Running, describe
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import Sensitivity
from vault_ask.sources.port import SourceState
from vault_ask.wire import GenerationStatus, StatusResponse, WebStatus
from vault_building import Building

UNCLOSED = "---\ntitle: never closed\n\nThe wine was sold.\n"
NOTES = {"Open.md": UNCLOSED, "Sound.md": "The barn is red.\n", "Private/Health.md": UNCLOSED}
RULES = Rules.compile(["Private/**"], "sensitivity")
RUNNING = Running(
    vault_name="vault",
    source=SourceState("watching", "Following."),
    progress=Snapshot(),
    backlog=BacklogState(),
    retry_in=None,
    model="hash",
    generation=GenerationStatus(generator="extractive", local=True, offered=()),
    web=WebStatus(enabled=False, provider=None, keeps_question_home=False),
)


def described(tmp_path: Path, ceiling: Sensitivity) -> StatusResponse:
    building = Building(tmp_path, HashEmbedder())
    building.put(NOTES)
    building.close()
    return describe(Index(IndexFiles(tmp_path)), RULES, RUNNING, ceiling)


def test_an_open_ceiling_is_told_how_many_open_notes_to_mend_and_not_which(tmp_path: Path) -> None:
    status = described(tmp_path, Sensitivity.OPEN)
    assert (status.notes, status.problem_count, status.problems) == (2, 1, ())
    assert ".md" not in status.model_dump_json()


def test_the_owner_is_told_which_notes_to_mend(tmp_path: Path) -> None:
    status = described(tmp_path, Sensitivity.PERSONAL)
    assert (status.notes, status.problem_count) == (3, 2)
    assert [problem.path for problem in status.problems] == ["Open.md", "Private/Health.md"]


def test_that_the_embedder_is_away_is_told_under_an_open_ceiling_only_while_an_open_note_waits(tmp_path: Path) -> None:
    away = replace(RUNNING, backlog=BacklogState(last_error="Nobody listens.", ready=False), retry_in=4.0)
    building = Building(tmp_path, HashEmbedder())
    building.put({"Open.md": "The barn is red.\n"})
    building.embedder = None
    building.put({"Private/Health.md": "The wine was sold.\n"})
    told = [describe(building.index, RULES, away, ceiling).embedding for ceiling in Sensitivity]
    assert [(each.last_error, each.next_try_seconds, each.ready) for each in told] == [
        (None, None, True),
        ("Nobody listens.", 4.0, False),
    ]
    building.put({"Open.md": "The barn is blue.\n"})
    assert describe(building.index, RULES, away, Sensitivity.OPEN).embedding.last_error == "Nobody listens."
    building.close()
