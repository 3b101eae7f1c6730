"""The status in words: how fresh the index is, what the source could not take, and who is told of it."""

from pathlib import Path

import pytest

from fakes import HashEmbedder
from vault_ask.index.files import IndexFiles
from vault_ask.index.view import Index
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest.backlog import BacklogState
from vault_ask.ingest.idle import NO_GLOBS, Globs, idle_rules
from vault_ask.ingest.progress import Snapshot
from vault_ask.ingest.status import Running, Work, describe, index_event
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import Sensitivity
from vault_ask.sources.port import SourceState, Trouble
from vault_ask.wire import Freshness, GenerationStatus, IndexProgress, StatusResponse, WebStatus
from vault_building import Building

OWNER, STRANGER = Sensitivity.PERSONAL, Sensitivity.OPEN
COUCH = SourceState(
    "watching", "Following Private/Health.md.", kind="couchdb", lag=7, last_change=1_780_000_000.5, waiting=2
)
BUSY = Snapshot(phase="indexing", done=3, total=9, rate=2.0, seconds_left=3.0)
RULES = Rules.compile(["Private/**"], "sensitivity")
GENERATION = GenerationStatus(generator="extractive", local=True, offered=())


@pytest.fixture
def index(tmp_path: Path) -> Index:
    building = Building(tmp_path, HashEmbedder())
    building.put({"Open.md": "The wine was sold.\n", "Private/Health.md": "A canary.\n"})
    building.close()
    return Index(IndexFiles(tmp_path))


def described(
    index: Index,
    ceiling: Sensitivity,
    *troubles: Trouble,
    source: SourceState = COUCH,
    rules: Rules = RULES,
    globs: Globs = NO_GLOBS,
) -> StatusResponse:
    writer = IndexWriter(index._files.current)
    writer.keep_troubles((trouble.path, trouble.code, trouble.reason) for trouble in troubles)
    writer.close()
    running = Running(
        vault_name="vault",
        source=source,
        progress=BUSY,
        backlog=BacklogState(),
        retry_in=None,
        model="hash",
        generation=GENERATION,
        web=WebStatus(enabled=False, provider=None, keeps_question_home=False),
    )
    return describe(index, rules, running, ceiling, globs)


def test_the_owner_is_told_how_far_the_index_is_behind(index: Index) -> None:
    status = described(index, OWNER)
    assert status.vault.kind == "couchdb"
    assert status.vault.freshness == Freshness(
        lag=7, last_change_seen="2026-05-28T20:26:40+00:00", last_change_indexed=status.last_indexed, waiting=2
    )
    assert status.last_indexed is not None


def test_an_open_ceiling_is_told_of_the_visible_index_alone(index: Index) -> None:
    status = described(index, STRANGER)
    assert (status.notes, status.vault.mode) == (1, "watching")
    assert status.vault.freshness == Freshness(
        lag=None, last_change_seen=None, last_change_indexed=status.last_indexed, waiting=0
    )
    assert status.vault.message == "Changes are noticed as they happen."
    assert "Health" not in status.model_dump_json()
    assert "Health" in described(index, OWNER).model_dump_json()


@pytest.mark.parametrize("centring", ["auto", "on", "off"])
def test_an_open_ceiling_is_not_told_what_personal_notes_made_of_the_centring(tmp_path: Path, centring: str) -> None:
    """Without means of the model's own the vault decides: all notes alike are near one direction."""
    told = []
    for name, notes in {"bare": {}, "full": {f"Private/{n}.md": f"the same words {n}\n" for n in range(9)}}.items():
        building = Building(tmp_path / name, HashEmbedder(), centring=centring)
        building.put(notes)
        building.writer.refresh_statistics(force=True)
        building.close()
        index = Index(IndexFiles(tmp_path / name))
        told.append(described(index, STRANGER).embedding)
        assert described(index, OWNER).embedding.centred is (name == "full" and centring != "off")
    assert told[0] == told[1]
    assert (told[0].centred, told[0].dimension) == (centring == "on", 64)


def test_a_command_without_a_source_counts_what_the_index_remembers_as_incomplete(index: Index) -> None:
    incomplete = (Trouble(f"{n}.md", "a piece is missing", code="incomplete") for n in range(3))
    beside = SourceState("unfollowed", "Only looked.")
    assert described(index, OWNER, *incomplete, source=beside).vault.freshness.waiting == 3


@pytest.mark.parametrize(
    ("code", "reason", "message"),
    [
        ("left-out", "its name is not UTF-8", "Not indexed: its name is not UTF-8."),
        (
            "incomplete",
            "2 of its 5 pieces have not arrived",
            (
                "Its newest version is not whole yet: 2 of its 5 pieces have not arrived. The version before it is "
                "kept, and it is tried again."
            ),
        ),
        ("size", "LiveSync recorded 9 bytes", "LiveSync recorded 9 bytes. It is indexed as it is."),
        (
            "conflict",
            "devices disagree about this note and the conflict is not resolved; the winning version is used",
            (
                "Devices disagree about this note and the conflict is not resolved; the winning version is used. "
                "Resolve it in Obsidian."
            ),
        ),
    ],
)
def test_troubles_of_the_source_are_problems_in_words_for_the_owner_only(
    index: Index, code: str, reason: str, message: str
) -> None:
    trouble = Trouble("Private/Health.md", reason, code=code)
    problem = described(index, OWNER, trouble).problems[0]
    assert (problem.path, problem.code, problem.message) == ("Private/Health.md", code, message)
    stranger = described(index, STRANGER, trouble)
    assert (stranger.problems, stranger.problem_count) == ((), 0)


def test_the_event_tells_the_same_as_the_status(index: Index) -> None:
    for ceiling in Sensitivity:
        event, status = index_event(index, Work(source=COUCH, progress=BUSY), ceiling), described(index, ceiling)
        assert event.progress == status.progress
        assert event.freshness == status.vault.freshness
        assert (event.notes, event.chunks, event.last_indexed) == (status.notes, status.chunks, status.last_indexed)
        assert (event.mode, event.message) == (status.vault.mode, status.vault.message)
        assert event.waiting == status.embedding.waiting


@pytest.mark.parametrize(
    ("work", "phase"),
    [
        (Work(source=COUCH, progress=BUSY), "idle"),
        (Work(source=COUCH, progress=BUSY, caught_up=False), "indexing"),
        (Work(source=SourceState("waiting", "Away."), progress=BUSY), "waiting"),
        (Work(source=COUCH, progress=Snapshot(phase="rebuilding", done=3, total=9)), "rebuilding"),
    ],
)
def test_an_open_ceiling_is_told_the_kind_of_work_without_its_figures(index: Index, work: Work, phase: str) -> None:
    shown = index_event(index, work, STRANGER).progress
    assert shown == IndexProgress(phase=phase, done=0, total=0, rate=0, seconds_left=None)
    assert index_event(index, work, OWNER).progress.total == 9


def test_each_pattern_is_counted_as_written_and_a_tag_is_told_from_an_equal_path(tmp_path: Path) -> None:
    building = Building(tmp_path, HashEmbedder())
    building.put(
        {
            "Diary/a.md": "#private\n",
            "Diary (conflicted copy)/a.md": "in a copy of the folder\n",
            "B.md": "---\ntags: [Private/x, work]\n---\n[[odd]]\n",
            "C.md": "---\ntags: [diary]\nthis block has no end\n",
            "#odd/d.md": "privateer\n",
        }
    )
    building.close()
    rules = Rules.compile(["Diary/**", "#odd", "Lost"], "sensitivity", personal_tags=["private", "#Diary", "odd"])
    status = described(Index(IndexFiles(tmp_path)), OWNER, rules=rules)
    assert status.rules == {"Diary/**": 2, "/#odd": 1, "Lost": 0, "#private": 2, "#Diary": 1, "#odd": 0}
    lost, odd = status.warnings
    assert lost.startswith("The personal pattern 'Lost' matches no note")
    assert odd.startswith("The personal tag '#odd' is on no note")
    assert idle_rules(Index(IndexFiles(tmp_path)), rules, NO_GLOBS) == (lost, odd)
    stranger = described(Index(IndexFiles(tmp_path)), STRANGER, rules=rules)
    assert (stranger.rules, stranger.warnings) == ({}, ())


def test_topics_and_included_folders_that_match_no_note_are_told_to_the_owner(tmp_path: Path) -> None:
    building = Building(tmp_path)
    building.put({"Topics/Rent.md": "[[Flat]]\n", "Private/Loan.md": "9200\n"})
    building.close()
    globs = Globs(topics=("Topics/", "Topcis/**", "Private/*.md"), include=("topics", "Privat/"))
    index = Index(IndexFiles(tmp_path))
    told = described(index, OWNER, globs=globs).warnings
    assert [warning for warning in told if "personal" not in warning] == [
        "The pattern 'Topcis/**' of topics.paths matches no note, so it names no topic. Check its spelling.",
        "The pattern 'Privat/' of vault.include matches no note, so it takes none in. Check its spelling.",
    ]
    assert idle_rules(index, RULES, globs) == told
    assert described(index, STRANGER, globs=globs).warnings == ()


def test_a_personal_default_without_patterns_is_nothing_to_warn_of(index: Index) -> None:
    status = described(index, OWNER, rules=Rules.compile((), "sensitivity", default=Sensitivity.PERSONAL))
    assert (status.rules, status.warnings) == ({}, ())
