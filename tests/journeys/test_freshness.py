"""What happens to a vault's files reaches its answers, through the real folder source and the daemon's own threads."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from journeys.houses import OPEN, House, ask, by_words, embedded, found, status
from vault_ask.composition.daemon import Daemon
from vault_ask.ingest import follower as follower_module
from waiting import wait_until

NOTES = {
    "Rent.md": "# Flat\n\nThe landlord is called Mira.\n\n# Rent\n\nThe rent is 9200 crowns a month since May.\n",
    "Boat.md": "The boat needs a new sail before summer.\n",
    "Hub.md": "See [[Boat]].\n",
}


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower_module, "FIRST_RETRY_SECONDS", 0.1)
    monkeypatch.setattr(follower_module, "IDLE_SECONDS", 0.1)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    return House(tmp_path, NOTES)


def test_an_edited_note_is_asked_and_cited_on_its_line(house: House) -> None:
    with house.daemon() as daemon:
        embedded(daemon)
        text = NOTES["Rent.md"] + "\n# Deposit\n\nThe deposit was 27600 crowns, paid in April.\n"
        house.write({"Rent.md": text})
        wait_until(lambda: by_words(daemon, "deposit") == ["Rent.md"])
        answer = ask(daemon, "How much was the deposit?")
        cited = answer.citations[0]
        assert "27600" in answer.answer
        assert cited.path == "Rent.md"
        lines = text.split("\n")[cited.line_start - 1 : cited.line_end]
        assert "The deposit was 27600 crowns, paid in April." in lines
        assert cited.quote in "\n".join(lines)


def test_a_deleted_note_leaves_silence(house: House) -> None:
    with house.daemon() as daemon:
        embedded(daemon)
        assert ask(daemon, "What does the boat need?").citations[0].path == "Boat.md"
        (house.vault / "Boat.md").unlink()
        wait_until(lambda: "Boat.md" not in by_words(daemon, "boat sail"))
        answer = ask(daemon, "What does the boat need?")
        assert "Boat.md" not in {source.path for source in answer.sources}
        assert "sail" not in answer.answer


def test_changes_made_while_the_daemon_was_off_are_found_at_the_next_start(house: House) -> None:
    with house.daemon() as daemon:
        embedded(daemon)
    (house.vault / "Boat.md").rename(house.vault / "Ship.md")
    house.write({"New.md": "A new note of marzipan.\n", "Rent.md": NOTES["Rent.md"].replace("9200", "9400")})
    (house.vault / "Hub.md").unlink()
    house.embedder.embedded.clear()
    with house.daemon() as daemon:
        embedded(daemon)
        assert by_words(daemon, "marzipan") == ["New.md"]
        assert by_words(daemon, "9400") == ["Rent.md"]
        assert by_words(daemon, "9200") == []
        assert by_words(daemon, "new sail before summer")[0] == "Ship.md"
        assert status(daemon).notes == 3
    assert not any("sail" in text for text in house.embedder.embedded), "a renamed note was embedded again"


def test_a_second_start_with_nothing_changed_reads_and_embeds_nothing(house: House) -> None:
    with house.daemon() as daemon:
        embedded(daemon)
    house.embedder.embedded.clear()
    with house.daemon() as daemon:
        wait_until(lambda: status(daemon).embedding.ready)
        assert status(daemon).notes == 3
    assert house.embedder.embedded == []


def test_a_burst_of_atomic_saves_never_leaves_a_question_without_the_note(house: House) -> None:
    house.write({"Plan.md": "plan version 1 apple\n"})
    with house.daemon() as daemon:
        embedded(daemon)
        house.embedder.embedded.clear()
        missing: list[list[str]] = []
        done = Event()

        def ask_on() -> None:
            while not done.is_set():
                paths = by_words(daemon, "plan version")
                if "Plan.md" not in paths:
                    missing.append(paths)

        asker = Thread(target=ask_on)
        asker.start()
        for version in range(2, 22):
            _save_atomically(house.vault, "Plan.md", f"plan version {version} pear\n")
        wait_until(lambda: by_words(daemon, "21") == ["Plan.md"])
        embedded(daemon)
        done.set()
        asker.join(10)
        assert missing == []
        assert by_words(daemon, "apple") == []
        assert [hit.body for hit in daemon.retrieve("pear", scope=OPEN).hits if "pear" in hit.body] == [
            "plan version 21 pear"
        ]
        assert status(daemon).notes == 4
        assert len(house.embedder.embedded) <= 12


def _save_atomically(vault: Path, name: str, text: str) -> None:
    """Save as editors do, with a swap file that comes and goes."""
    fresh = vault / f"{name}.tmp-83"
    with fresh.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.rename(vault / name)
    time.sleep(0.02)  # the pace of the scene itself, not a wait for something
    swap = vault / f".{name}.swp"
    swap.write_text("swap")
    swap.unlink()


def test_a_case_only_rename_keeps_one_note_and_embeds_nothing(house: House) -> None:
    house.write(
        {"geometry.md": "where angles are explained: quince\n", "Map.md": "[[geometry]]\n", "math/sets.md": "s\n"}
    )
    with house.daemon() as daemon:
        embedded(daemon)
        house.embedder.embedded.clear()
        (house.vault / "geometry.md").rename(house.vault / "Geometry.md")
        (house.vault / "math").rename(house.vault / "Math")
        wait_until(lambda: by_words(daemon, "quince") == ["Geometry.md"])
        wait_until(lambda: "Math/sets.md" in by_words(daemon, "sets"))
        assert status(daemon).notes == 6
        assert status(daemon).embedding.waiting == 0
        assert house.embedder.embedded == []
        assert found(daemon, "where are angles explained?")[0] == "Geometry.md"
        wait_until(lambda: _targets(daemon, "Map.md") == ["Geometry.md"])


def _targets(daemon: Daemon, path: str) -> list[str | None]:
    with daemon.index.open(OPEN) as view:
        return [edge.target_path for edge in view.links.edges_from(path)]


def test_a_folder_moved_out_and_back_takes_its_notes_along(house: House, tmp_path: Path) -> None:
    house.write({"Trip/Day one.md": "we saw a heron\n", "Trip/Day two.md": "we saw an otter\n"})
    with house.daemon() as daemon:
        embedded(daemon)
        (house.vault / "Trip").rename(tmp_path / "Trip")
        wait_until(lambda: by_words(daemon, "heron otter") == [])
        (tmp_path / "Trip").rename(house.vault / "Journey")
        wait_until(lambda: sorted(by_words(daemon, "heron otter")) == ["Journey/Day one.md", "Journey/Day two.md"])


@pytest.mark.parametrize("how", ["moved away", "emptied"])
def test_a_vault_that_is_unmounted_while_followed_loses_nothing_and_comes_back(
    house: House, tmp_path: Path, how: str
) -> None:
    aside = tmp_path / "aside"
    with house.daemon() as daemon:
        embedded(daemon)
        house.vault.rename(aside)
        if how == "emptied":
            house.vault.mkdir()
        wait_until(lambda: status(daemon).vault.mode == "waiting")
        assert status(daemon).notes == 3
        assert ask(daemon, "What does the boat need?").citations[0].path == "Boat.md"
        (aside / "Fresh.md").write_text("written on another machine: marzipan\n")
        if how == "emptied":
            house.vault.rmdir()
        aside.rename(house.vault)
        wait_until(lambda: by_words(daemon, "marzipan") == ["Fresh.md"])
        wait_until(lambda: status(daemon).vault.mode == "watching")
        assert status(daemon).notes == 4


def test_a_start_without_the_vault_serves_what_is_indexed(house: House, tmp_path: Path) -> None:
    with house.daemon() as daemon:
        embedded(daemon)
    house.vault.rename(tmp_path / "aside")
    with house.daemon(caught_up=False) as daemon:
        wait_until(lambda: status(daemon).vault.mode == "waiting")
        assert by_words(daemon, "new sail")[0] == "Boat.md"
        (tmp_path / "aside").rename(house.vault)
        wait_until(lambda: status(daemon).vault.mode == "watching")
        assert status(daemon).notes == 3


def test_a_question_before_the_vault_was_ever_read_is_told_where_the_reason_stands(house: House) -> None:
    for note in house.vault.rglob("*.md"):
        note.unlink()
    with house.daemon(caught_up=False) as daemon:
        wait_until(lambda: status(daemon).vault.mode == "waiting")
        assert any("/api/status" in notice for notice in ask(daemon, "What does the boat need?").notices)
        assert "is empty" in status(daemon).vault.message
