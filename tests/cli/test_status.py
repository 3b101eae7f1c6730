from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from adapters.doors import STATUS
from cli.commands import Commands
from cli.conftest import Making
from vault_ask.console.status import print_status
from vault_ask.wire import Freshness, StatusResponse


def test_the_status_is_a_table_a_person_can_read(library: Commands) -> None:
    said = library("status")
    rows = dict(line.split(maxsplit=1) for line in said.out.splitlines())
    assert (said.code, said.err) == (0, "")
    assert rows["Vault"].startswith("vault: 13 notes, ")
    assert rows["Embedding"] == "multilingual-e5-small, every note embedded"
    assert rows["Answers"] == "extractive (quotes from the notes)"
    assert rows["Personal"] == "Private/**: 1 note"
    assert len({line.index(line.split(maxsplit=1)[1]) for line in said.out.splitlines()}) == 1


def test_json_is_one_status_response(library: Commands) -> None:
    status = StatusResponse.model_validate_json(library("status", "--json").out)
    assert (status.notes, status.embedding.waiting, status.embedding.dimension) == (13, 0, 384)
    assert status.embedding.centred
    assert status.rules == {"Private/**": 1}


def test_what_should_be_mended_is_named_with_its_line_and_an_idle_pattern_is_warned_of(commands: Making) -> None:
    odd = {"Broken.md": "---\ntitle: Clinic: second visit\n---\nCANARY-B\n", "Fine.md": "fine\n"}
    vault_ask = commands(odd, config='sensitivity:\n  personal_paths: ["Privat/**"]\n')
    vault_ask("index", "--no-embed")
    said = vault_ask("status")
    assert "  Broken.md:2 " in said.out
    assert "CANARY-B" not in said.out
    assert "Warning: The personal pattern 'Privat/**' matches no note" in said.out
    assert "2 notes waiting for vectors" in said.out


def test_vectors_of_another_space_are_told_with_the_command_that_mends_it(library: Commands) -> None:
    said = library("status", VAULTASK_EMBEDDING__QUERY_PREFIX="ask: ")
    assert said.code == 0
    assert "Run `vault-ask index --rebuild`" in said.out
    assert "--rebuild" not in library("status").out


def couch(mode: str, *, lag: int | None = None, seconds_ago: float | None = None, waiting: int = 0) -> StatusResponse:
    seen = None if seconds_ago is None else (datetime.now(UTC) - timedelta(seconds=seconds_ago)).isoformat()
    freshness = Freshness(lag=lag, last_change_seen=seen, last_change_indexed=None, waiting=waiting)
    told = {"kind": "couchdb", "mode": mode, "message": "The CouchDB is away.", "freshness": freshness}
    return STATUS.model_copy(update={"vault": STATUS.vault.model_copy(update=told)})


@pytest.mark.parametrize(
    ("make", "lines"),
    [
        (
            lambda: couch("watching", lag=0, seconds_ago=3 * 3600 + 5),
            ["LiveSync CouchDB, watching: up to date; last change 3 h 0 min ago"],
        ),
        (lambda: couch("polling", lag=3), ["LiveSync CouchDB, polling: 3 changes behind"]),
        (
            lambda: couch("watching", lag=0, waiting=2),
            ["LiveSync CouchDB, watching: up to date", "2 notes wait for pieces that have not arrived"],
        ),
        (
            lambda: couch("waiting", waiting=1),
            [
                "LiveSync CouchDB, waiting: not known how far behind",
                "The CouchDB is away.",
                "1 note waits for pieces that have not arrived",
            ],
        ),
        (lambda: couch("unfollowed"), ["LiveSync CouchDB", "The CouchDB is away."]),
        (lambda: STATUS, []),
    ],
)
def test_the_source_is_told_with_how_fresh_it_is_and_a_folder_that_is_well_is_not(
    make: Callable[[], StatusResponse], lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    print_status(make(), as_json=False)
    said = capsys.readouterr().out
    assert [line[11:] for line in said.splitlines() if line.startswith("Source")] == lines
    assert "Vault      Sample: 1204 notes" in said
