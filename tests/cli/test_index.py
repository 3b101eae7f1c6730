import os
import signal
import subprocess
from pathlib import Path

import pytest

from cli.commands import Commands, state, write
from cli.conftest import Making
from waiting import wait_until


def counts(out: str) -> str:
    return out.split(";", maxsplit=1)[0]


def test_a_run_counts_new_changed_and_deleted_notes_and_the_next_finds_nothing_to_do(commands: Making) -> None:
    vault_ask = commands()
    first = vault_ask("index", "--no-embed")
    assert (first.code, counts(first.out)) == (0, "13 new, 0 changed, 0 deleted, 0 reclassified")
    assert "13 notes wait for their vectors" in first.err
    assert vault_ask.vault is not None
    write(vault_ask.vault, {"New.md": "A new note.\n", "Trips/Oslo.md": "The train leaves at noon.\n"})
    (vault_ask.vault / "Books/Moby.md").unlink()
    assert counts(vault_ask("index", "--no-embed").out) == "1 new, 1 changed, 1 deleted, 0 reclassified"
    assert counts(vault_ask("index", "--no-embed").out) == "0 new, 0 changed, 0 deleted, 0 reclassified"


def test_a_dry_run_tells_the_plan_and_writes_nothing(commands: Making) -> None:
    vault_ask = commands({"One.md": "one\n", "Two.md": "two\n", "Same.md": "same\n"})
    assert vault_ask.vault is not None
    assert vault_ask.data is not None
    before = state(vault_ask.folder)
    planned = vault_ask("index", "--dry-run")
    assert planned.out.splitlines() == [
        "Would read 3 new and 0 changed notes, and forget 0.",
        "+ One.md",
        "+ Same.md",
        "+ Two.md",
    ]
    assert state(vault_ask.folder) == before
    vault_ask("index", "--no-embed")
    write(vault_ask.vault, {"One.md": "changed\n", "Three.md": "three\n"})
    os.utime(vault_ask.vault / "Same.md")
    (vault_ask.vault / "Two.md").unlink()
    before = state(vault_ask.folder)
    planned = vault_ask("index", "--dry-run")
    assert planned.out.splitlines()[1:] == ["+ Three.md", "~ One.md", "- Two.md"]
    assert state(vault_ask.folder) == before


def test_a_dry_run_does_not_even_make_the_data_folder(commands: Making, tmp_path: Path) -> None:
    vault_ask = commands({"One.md": "one\n"})
    assert vault_ask("index", "--dry-run", "--data", str(tmp_path / "elsewhere")).code == 0
    assert not (tmp_path / "elsewhere").exists()


def test_a_rebuild_takes_over_with_all_notes_and_is_searched(commands: Making) -> None:
    vault_ask = commands()
    vault_ask("index", "--no-embed")
    rebuilt = vault_ask("index", "--no-embed", "--rebuild")
    assert (rebuilt.code, counts(rebuilt.out)) == (0, "13 new, 0 changed, 0 deleted, 0 reclassified")
    assert "Kettle.md" in vault_ask("search", "kettle", "--arm", "text").out
    assert vault_ask.data is not None
    assert [file.name for file in vault_ask.data.glob("index-*.sqlite")] == ["index-2.sqlite"]


def test_a_changed_rule_reclassifies_and_a_search_before_that_does_not_tell(commands: Making) -> None:
    vault_ask = commands(config="{}")
    vault_ask("index", "--no-embed")
    assert "CANARY-P" in vault_ask("search", "blood pressure", "--arm", "text").out
    rules = {"VAULTASK_SENSITIVITY__PERSONAL_PATHS": '["Private"]'}
    assert "CANARY-P" not in "".join(vault_ask("search", "blood pressure", "--arm", "text", **rules).out)
    assert counts(vault_ask("index", "--no-embed", **rules).out).endswith((" 1 reclassified", " 0 reclassified"))
    assert "CANARY-P" in vault_ask("search", "blood pressure", "--arm", "text", "--personal", **rules).out


def test_a_vault_that_is_suddenly_empty_deletes_nothing(commands: Making) -> None:
    vault_ask = commands()
    vault_ask("index", "--no-embed")
    assert vault_ask.vault is not None
    vault_ask.vault.rename(vault_ask.folder / "unmounted")
    vault_ask.vault.mkdir()
    vault_ask("index", "--no-embed").sentence(code=3)
    assert "Kettle.md" in vault_ask("search", "kettle", "--arm", "text").out


def test_another_vault_in_the_same_data_folder_is_refused(commands: Making, tmp_path: Path) -> None:
    vault_ask = commands()
    vault_ask("index", "--no-embed")
    other = write(tmp_path / "other", {"Strange.md": "strange\n"})
    sentence = vault_ask("index", "--no-embed", "--vault", str(other)).sentence(code=3)
    assert "Nothing was deleted" in sentence
    assert "--data" in sentence
    assert "Kettle.md" in vault_ask("search", "kettle", "--arm", "text").out


def test_a_data_folder_that_is_in_use_ends_with_code_6_and_reading_goes_on(commands: Making) -> None:
    vault_ask = commands()
    vault_ask("index", "--no-embed")
    with vault_ask.serving():
        assert "already running" in vault_ask("index", "--no-embed").sentence(code=6)
        assert "already running" in vault_ask("serve", "--port", "0").sentence(code=6)
        assert "Kettle.md" in vault_ask("search", "kettle", "--arm", "text").out


def test_a_damaged_index_is_set_aside_and_built_anew(commands: Making) -> None:
    vault_ask = commands()
    vault_ask("index", "--no-embed")
    assert vault_ask.data is not None
    (vault_ask.data / "index-1.sqlite").write_bytes(b"no database at all" * 1000)
    mended = vault_ask("index", "--no-embed")
    assert (mended.code, counts(mended.out)) == (0, "13 new, 0 changed, 0 deleted, 0 reclassified")
    assert "has been set aside as index-1.damaged-" in mended.err


def test_an_embedder_that_is_away_leaves_the_notes_found_by_words_and_tells_with_code_5(commands: Making) -> None:
    vault_ask = commands()
    away = {
        "VAULTASK_EMBEDDING__PROVIDER": "ollama",
        "VAULTASK_EMBEDDING__MODEL": "bge-m3",
        "VAULTASK_EMBEDDING__OLLAMA_URL": "http://127.0.0.1:9",
    }
    told = vault_ask("index", **away)
    assert (told.code, counts(told.out)) == (5, "13 new, 0 changed, 0 deleted, 0 reclassified")
    assert "13 notes wait for their vectors" in told.err
    assert "Kettle.md" in vault_ask("search", "kettle", **away).out


def test_another_embedding_model_is_refused_with_the_command_that_helps(library: Commands) -> None:
    told = library("index", VAULTASK_EMBEDDING__PASSAGE_PREFIX="document: ")
    assert "--rebuild" in told.sentence(code=2)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no kill -9 here")
def test_a_killed_run_loses_nothing_that_was_stored_and_the_next_completes_it(commands: Making) -> None:
    vault_ask = commands({f"Notes/{number}.md": f"# Note {number}\n\nquince {number}\n" for number in range(600)})
    assert vault_ask.data is not None
    process = subprocess.Popen(
        vault_ask.line("index", "--no-embed"),
        cwd=vault_ask.folder,
        env=vault_ask.clean(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    journal = vault_ask.data / "index-1.sqlite-wal"
    wait_until(lambda: (journal.exists() and journal.stat().st_size > 400_000) or process.poll() is not None)
    process.kill()
    process.communicate()
    mended = vault_ask("index", "--no-embed")
    assert mended.code == 0, mended
    assert "set aside" not in mended.err
    assert "600 notes" in vault_ask("status").out
