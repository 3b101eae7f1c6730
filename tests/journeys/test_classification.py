"""Who may see a note, in a real daemon over a real folder: rules that change, notes that move, conflict copies."""

import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from fakes import HashEmbedder
from journeys.houses import OPEN, PRIVATE, House, ask, by_words, embedded, found, settings_for, status
from vault_ask.composition.parts import make_rules
from vault_ask.index.files import IndexFiles
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest import follower as follower_module
from vault_ask.ingest.ingest import reclassify
from vault_ask.scope import Sensitivity
from waiting import wait_until

NOTES = {
    "Health.md": "The harvest money went to the dentist, says CANARYTAG. #private/health\n",
    "Said.md": "---\nsensitivity: open\ntags: [private]\n---\nThe harvest money of the club, no CANARYTAG here.\n",
    "Plain.md": "The harvest was good and the money came in October.\n",
}
COPY = "Health.sync-conflict-20260102-030405-ABCDEFG.md"


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower_module, "IDLE_SECONDS", 0.1)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    return House(tmp_path, NOTES)


def rules(**sensitivity: object) -> Mapping[str, object]:
    return {"sensitivity": sensitivity}


def test_a_tag_rule_and_a_default_hold_at_the_next_start_and_are_told(house: House) -> None:
    with house.daemon() as daemon:
        embedded(daemon)
        assert "Health.md" in by_words(daemon, "harvest money")
    house.embedder.embedded.clear()
    with house.daemon(**rules(personal_tags=["#Private", "diery"])) as daemon:
        assert sorted(by_words(daemon, "harvest money")) == ["Plain.md", "Said.md"]
        assert house.embedder.embedded == []
        assert "Health.md" not in found(daemon, "Where did the harvest money go?")
        assert "dentist" not in ask(daemon, "Where did the harvest money go?").model_dump_json()
        assert "dentist" in ask(daemon, "Where did the harvest money go?", PRIVATE).model_dump_json()
        assert status(daemon).rules == {"#Private": 2, "#diery": 0}
        assert any("'#diery' is on no note" in warning for warning in status(daemon).warnings)
        assert "iery" not in daemon.describe(Sensitivity.OPEN).model_dump_json()
    house.embedder.embedded.clear()
    with house.daemon(**rules(default="personal")) as daemon:
        assert by_words(daemon, "harvest money") == ["Said.md"]
        assert (status(daemon).rules, status(daemon).warnings) == ({}, ())
    with house.daemon() as daemon:
        assert sorted(by_words(daemon, "harvest money")) == sorted(NOTES)
    assert house.embedder.embedded == []


def test_a_note_that_is_moved_into_a_personal_folder_is_closed_and_one_moved_out_is_opened(house: House) -> None:
    with house.daemon(**rules(personal_paths=["Locked/**"])) as daemon:
        embedded(daemon)
        house.embedder.embedded.clear()
        (house.vault / "Locked").mkdir()
        shutil.move(house.vault / "Plain.md", house.vault / "Locked/Plain.md")
        wait_until(lambda: "Locked/Plain.md" in by_words(daemon, "october", PRIVATE))
        assert by_words(daemon, "october") == []
        shutil.move(house.vault / "Locked/Plain.md", house.vault / "Plain.md")
        wait_until(lambda: by_words(daemon, "october", OPEN) == ["Plain.md"])
        assert house.embedder.embedded == []


def test_a_conflict_copy_is_closed_with_its_original_and_stays_closed_without_it(house: House) -> None:
    text = NOTES["Health.md"].replace("#private/health", "CANARYCOPY")
    with house.daemon(**rules(personal_tags=["private"])) as daemon:
        house.write({COPY: text})
        wait_until(lambda: by_words(daemon, "canarycopy", PRIVATE) == [COPY])
        assert by_words(daemon, "canarycopy") == []
        (house.vault / "Health.md").unlink()
        wait_until(lambda: by_words(daemon, "dentist", PRIVATE) == [COPY])
        assert by_words(daemon, "dentist") == []
        assert by_words(daemon, "harvest") != []
        (house.vault / COPY).rename(house.vault / "Kept.md")
        wait_until(lambda: by_words(daemon, "canarycopy") == ["Kept.md"])


def test_a_library_beside_no_daemon_applies_tags_before_it_answers(house: House) -> None:
    with house.daemon() as daemon:
        embedded(daemon)
    library = house.library(**rules(personal_tags=["private"]))
    assert sorted(by_words(library, "harvest money")) == ["Plain.md", "Said.md"]
    assert "Health.md" in by_words(library, "harvest money", PRIVATE)
    library.close()


def test_87_notes_with_their_chunks_are_reclassified_in_well_under_a_second(tmp_path: Path) -> None:
    text = "".join(f"# Part {part}\n\n{'The harvest money of the year. ' * 60}\n\n" for part in range(8))
    notes = {f"Work/{n}.md": f"CANARY {n} #team\n\n{text}" for n in range(87)}
    house = House(tmp_path, notes, embedder=HashEmbedder(dimension=384))
    with house.daemon() as daemon:
        embedded(daemon)
        chunks = status(daemon).chunks
    house.embedder.embedded.clear()
    writer = IndexWriter(IndexFiles(tmp_path / "data").current)
    spent = []
    for sensitivity in ({"personal_tags": ["team"]}, {}, {"personal_paths": ["Work"]}, {"default": "personal"}, {}):
        compiled = make_rules(settings_for(tmp_path, **rules(**sensitivity)))
        started = time.process_time()
        moved = reclassify(writer, compiled)
        spent.append(time.process_time() - started)
        closed = sum(one.sensitivity is Sensitivity.PERSONAL for one in writer.known().values())
        assert (closed, moved in {0, 87}) == (87 if sensitivity else 0, True)
    writer.close()
    assert chunks > 87 * 8
    assert max(spent) < 1
    assert house.embedder.embedded == []
    figures = ", ".join(f"{seconds * 1000:.0f}" for seconds in spent)
    print(f"87 notes, {chunks} chunks, reclassified in {figures} ms of CPU")  # noqa: T201 - the measurement
