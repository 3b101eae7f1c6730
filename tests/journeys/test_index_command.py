"""The index command: what it does, what it leaves alone, and whom it does not disturb."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes import HashEmbedder
from journeys.houses import PRIVATE, House, ask, by_words, embedded, found, settings_for, status
from vault_ask import indexing
from vault_ask.composition.library import Library
from vault_ask.errors import EmbeddingSpaceChanged, IndexBusy, ModelUnreachable, SourceUnreachable
from vault_ask.indexing import Outcome
from vault_ask.ingest.plan import Plan
from vault_ask.ingest.progress import Snapshot
from waiting import wait_until

NOTES = {f"N{n}.md": f"number {n} of the quince notes\n" for n in range(40)}
AWAY = ModelUnreachable("Nobody listens at the embedder's address.")


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    house = House(tmp_path, NOTES)
    monkeypatch.setattr(indexing, "make_embedder", lambda *_args, **_how: house.embedder)
    return house


def run(house: House, *, rebuild: bool = False, embed: bool = True, display: indexing.Display | None = None) -> Outcome:
    return indexing.run(
        settings_for(house.folder), rebuild=rebuild, embed=embed, display=display or (lambda _snapshot: None)
    )


def dry_run(house: House, *, rebuild: bool = False) -> Plan:
    return indexing.dry_run(settings_for(house.folder), rebuild=rebuild)


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    return {file.name: (file.stat().st_size, file.stat().st_mtime_ns) for file in folder.iterdir()}


def answers(house: House, question: str, **how: object) -> list[str]:
    library = house.library()
    try:
        return found(library, question, PRIVATE, **how)
    finally:
        library.close()


def test_a_run_indexes_and_embeds_and_a_second_one_has_nothing_to_do(house: House) -> None:
    first = run(house)
    assert (first.report.new, first.chunks, first.waiting_notes, first.failed) == (40, 40, 0, False)
    assert len(house.embedder.embedded) == 40
    second = run(house)
    assert not second.report.anything
    assert len(house.embedder.embedded) == 40


def test_a_run_without_embedding_leaves_the_vectors_to_the_next_one(house: House) -> None:
    outcome = run(house, embed=False)
    assert (outcome.waiting_notes, house.embedder.embedded) == (40, [])
    assert answers(house, "number 7 quince")[0] == "N7.md"
    assert run(house).waiting_notes == 0
    assert len(house.embedder.embedded) == 40


def test_a_dry_run_makes_no_data_folder(house: House) -> None:
    plan = dry_run(house)
    assert len(plan.new) == 40
    assert not (house.folder / "data").exists()


def test_a_dry_run_tells_what_the_run_would_do_and_writes_nothing(house: House) -> None:
    run(house)
    house.write({"N1.md": "number 1 in other words\n", "Fresh.md": "fresh\n"})
    (house.vault / "N2.md").unlink()
    os.utime(house.vault / "N3.md", (1, 1))
    before = listing(house.folder / "data")
    plan = dry_run(house)
    assert listing(house.folder / "data") == before
    assert plan == Plan(new=("Fresh.md",), changed=("N1.md",), gone=("N2.md",))
    report = run(house).report
    assert (report.new, report.changed, report.deleted) == (1, 1, 1)


def test_a_dry_rebuild_reads_everything_and_writes_nothing(house: House) -> None:
    run(house)
    before = listing(house.folder / "data")
    assert len(dry_run(house, rebuild=True).new) == 40
    assert listing(house.folder / "data") == before


def test_another_embedding_space_is_refused_before_anything_is_read(house: House) -> None:
    run(house)
    former, house.embedder = house.embedder, HashEmbedder(dimension=96)
    house.write({"Fresh.md": "marzipan\n"})
    with pytest.raises(EmbeddingSpaceChanged, match="vault-ask index --rebuild"):
        run(house)
    assert answers(house, "marzipan", arm="text") == []
    found_by_words = answers(house, "number 7 quince")
    assert found_by_words[0] == "N7.md"
    house.embedder = former
    former.embedded.clear()
    assert run(house).report.new == 1
    assert len(former.embedded) == 1


def test_a_rebuild_makes_every_vector_anew_and_leaves_one_index(house: House) -> None:
    run(house)
    house.embedder = HashEmbedder(dimension=96)
    outcome = run(house, rebuild=True)
    assert outcome.report.new == 40
    assert len(house.embedder.embedded) == 40
    assert answers(house, "number 7 of the quince notes", arm="vector")
    assert len(list((house.folder / "data").glob("*.sqlite"))) == 1


def test_a_rebuild_ended_by_ctrl_c_goes_on_where_it_stopped(house: House) -> None:
    run(house)
    house.embedder = HashEmbedder(dimension=96)

    def interrupt(snapshot: Snapshot) -> None:
        if snapshot.phase == "embedding" and snapshot.done:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(house, rebuild=True, display=interrupt)
    done = len(house.embedder.embedded)
    assert 0 < done < 40
    assert answers(house, "number 7 quince")[0] == "N7.md"
    run(house, rebuild=True)
    assert len(house.embedder.embedded) == 40
    assert sorted(set(house.embedder.embedded)) == sorted(house.embedder.embedded)


def test_a_run_ended_by_ctrl_c_goes_on_where_it_stopped(house: House) -> None:
    def interrupt(snapshot: Snapshot) -> None:
        if snapshot.phase == "embedding" and snapshot.done:
            os.kill(os.getpid(), signal.SIGINT)

    outcome = run(house, display=interrupt)
    assert outcome.interrupted
    assert 0 < outcome.waiting_notes < 40
    assert run(house).waiting_notes == 0
    assert len(house.embedder.embedded) == 40


def test_a_rebuild_that_loses_its_embedder_leaves_the_old_index_in_use(house: House) -> None:
    run(house)
    house.embedder = HashEmbedder(dimension=96)

    def lose(snapshot: Snapshot) -> None:
        if snapshot.phase == "embedding" and snapshot.done:
            house.embedder.fail_with(AWAY)

    with pytest.raises(ModelUnreachable, match="the old one stays in use"):
        run(house, rebuild=True, display=lose)
    done = len(house.embedder.embedded)
    assert 0 < done < 40
    house.embedder.recover()
    assert answers(house, "number 7 quince")[0] == "N7.md"
    assert run(house, rebuild=True).waiting_notes == 0
    assert len(house.embedder.embedded) == 40


def test_changed_rules_hold_in_the_old_index_while_a_rebuild_is_not_done(house: House) -> None:
    house.write({"Diary/Jan.md": "a quarrel with CANARY\n"})
    run(house)
    house.embedder = HashEmbedder(dimension=96)
    house.embedder.fail_with(AWAY)
    settings = settings_for(house.folder, sensitivity={"personal_paths": ["Diary"]})
    with pytest.raises(ModelUnreachable):
        indexing.run(settings, rebuild=True, embed=True, display=lambda _snapshot: None)
    library = Library(settings, house.embedder)
    library._rules._applied = True  # as beside a process that owns the data folder
    assert by_words(library, "canary") == []
    assert by_words(library, "canary", PRIVATE) == ["Diary/Jan.md"]
    library.close()


def test_going_back_to_the_former_model_after_a_broken_rebuild_needs_nothing(house: House) -> None:
    run(house)
    former, house.embedder = house.embedder, HashEmbedder(dimension=96)
    with pytest.raises(ModelUnreachable):
        run(house, rebuild=True, display=lambda s: s.done and house.embedder.fail_with(AWAY))
    house.embedder = former
    former.embedded.clear()
    assert not run(house).report.anything
    assert run(house, rebuild=True).waiting_notes == 0
    assert len(former.embedded) == 40


def test_a_first_index_is_in_use_although_its_embedder_is_away(house: House) -> None:
    house.embedder.fail_with(AWAY)
    outcome = run(house)
    assert outcome.waiting_notes == 40
    assert outcome.embedder_trouble == str(AWAY)
    assert answers(house, "number 7 quince")[0] == "N7.md"


def test_an_emptied_vault_is_refused_and_the_index_stays(house: House) -> None:
    run(house)
    for file in house.vault.iterdir():
        file.unlink()
    with pytest.raises(SourceUnreachable):
        run(house)
    with pytest.raises(SourceUnreachable):
        dry_run(house)
    assert answers(house, "number 7 quince")[0] == "N7.md"


def test_a_damaged_index_is_set_aside_and_said(house: House) -> None:
    run(house)
    file = next((house.folder / "data").glob("*.sqlite"))
    file.write_bytes(file.read_bytes()[:4096] + b"\xa5" * 40_000)
    outcome = run(house)
    assert "set aside" in outcome.warnings[0]
    assert outcome.report.new == 40
    assert answers(house, "number 7 quince")[0] == "N7.md"


def test_beside_a_daemon_the_command_is_refused_and_questions_are_answered(house: House) -> None:
    with house.daemon() as daemon:
        embedded(daemon)
        with pytest.raises(IndexBusy, match="already running"):
            run(house)
        assert len(dry_run(house).new) == 0
        library = house.library()
        assert by_words(library, "number 7 quince")[0] == "N7.md"
        assert ask(library, "Which is number 7 of the quince notes?").sources[0].path == "N7.md"
        assert status(library).notes == 40
        library.close()
        house.write({"Fresh.md": "marzipan\n"})
        library = house.library()
        wait_until(lambda: by_words(library, "marzipan") == ["Fresh.md"])
        library.close()


def test_patterns_of_the_settings_that_match_nothing_are_told(house: House) -> None:
    settings = settings_for(house.folder)
    vault = settings.vault.model_copy(update={"exclude": ("N7.md", "Archiv/**"), "include": ("*.md", "Notes/**")})
    topics = settings.topics.model_copy(update={"paths": ("N1*.md", "Topcis/")})
    odd = settings.model_copy(update={"vault": vault, "topics": topics})
    outcome = indexing.run(odd, rebuild=False, embed=False, display=lambda _snapshot: None)
    told = [warning.partition(" matches no")[0] for warning in outcome.warnings if " of " in warning]
    assert told == [
        "The pattern 'Topcis/' of topics.paths",
        "The pattern 'Notes/**' of vault.include",
        "The pattern 'Archiv/**' of vault.exclude",
    ]
