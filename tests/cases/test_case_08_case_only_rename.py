"""Case 8: a rename of nothing but the case is a rename: one note, its true spelling, links that hold, no new vectors.

On a folder of a case-sensitive disk, and in a LiveSync database, where the document stays the same and only its path
changes. (vrtmrz/obsidian-livesync#198, #1168; atom/watcher#184)
"""

from pathlib import Path
from threading import Event

import pytest

from couch_stand_in import CouchStandIn
from ingest.bench import OPEN, PRIVATE, Bench
from livesync_bench import LiveSyncBench, Making
from vault_ask.settings.vault import VaultSettings
from vault_ask.sources.filesystem import FolderSource

NOTES = {
    "geometry.md": "angles text quince\n",
    "Hub.md": "[[geometry]]\n",
    "math/sets.md": "unions and sets\n",
    "math/Über.md": "umlauts\n",
}
QUESTION = "where are angles explained?"


@pytest.fixture(params=["v2obf on stand_in", "plain on pouchdb"])
def vault(request: pytest.FixtureRequest, livesync: Making) -> LiveSyncBench:
    mode, _, which = request.param.split()
    server = request.getfixturevalue(which)
    bench = livesync(server.url if isinstance(server, CouchStandIn) else server, NOTES, mode=mode)
    bench.catch_up()
    bench.embedder.embedded.clear()
    return bench


def hub(bench: Bench) -> list[str | None]:
    with bench.index.open(PRIVATE) as view:
        return [edge.target_path for edge in view.links.edges_from("Hub.md")]


def test_note_whose_case_changed_is_one_note_under_its_new_spelling(vault: LiveSyncBench) -> None:
    vault.device.recase("geometry.md", "Geometry.md")
    vault.until(lambda: "Geometry.md" in vault.paths())
    assert vault.paths() == ["Geometry.md", "Hub.md", "math/sets.md", "math/Über.md"]
    assert vault.found(QUESTION, OPEN)[0] == "Geometry.md"
    assert "geometry.md" not in vault.found(QUESTION)
    assert hub(vault) == ["Geometry.md"]
    assert vault.embedder.embedded == []


def test_folder_whose_case_changed_keeps_its_notes(vault: LiveSyncBench) -> None:
    vault.device.recase("math/sets.md", "Math/sets.md")
    vault.device.recase("math/Über.md", "Math/Über.md")
    vault.until(lambda: {"Math/sets.md", "Math/Über.md"} <= {*vault.paths()})
    assert vault.paths() == ["Hub.md", "Math/sets.md", "Math/Über.md", "geometry.md"]
    assert vault.found("unions") == ["Math/sets.md"]
    assert vault.embedder.embedded == []


def test_case_that_changed_while_the_daemon_was_off_is_the_new_one_afterwards(vault: LiveSyncBench) -> None:
    vault.restart(before=lambda: vault.device.recase("geometry.md", "GEOMETRY.md"))
    vault.until(lambda: "GEOMETRY.md" in vault.paths())
    assert len(vault.paths()) == 4
    assert hub(vault) == ["GEOMETRY.md"]
    assert vault.embedder.embedded == []


def test_the_documents_of_the_case_are_cited_by_their_path_and_never_by_their_id(
    livesync: Making, stand_in: CouchStandIn
) -> None:
    bench = livesync(stand_in.url)
    stand_in.store(bench.database, [{"_id": "h:1", "type": "leaf", "data": "angles text quince\n"}])
    note = {"_id": "geometry.md", "path": "Geometry.md", "type": "plain", "children": ["h:1"], "deleted": False}
    stand_in.store(bench.database, [note])
    bench.device.put("Hub.md", "[[geometry]]\n")
    bench.catch_up()
    assert bench.paths() == ["Geometry.md", "Hub.md"]
    assert bench.found(QUESTION)[0] == "Geometry.md"
    assert hub(bench) == ["Geometry.md"]


def test_folder_source_does_the_same_on_a_case_sensitive_disk(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    (root / "math").mkdir(parents=True)
    for path, text in NOTES.items():
        (root / path).write_text(text, encoding="utf-8")
    bench = Bench(tmp_path / "data", source=FolderSource(VaultSettings.model_validate({"path": root})))  # type: ignore[arg-type] # any source
    bench.index_all()
    bench.embedder.embedded.clear()
    (root / "geometry.md").rename(root / "Geometry.md")
    (root / "math").rename(root / "Math")
    bench.sweep()
    assert bench.backlog.drain(Event())
    assert bench.paths() == ["Geometry.md", "Hub.md", "Math/sets.md", "Math/Über.md"]
    assert bench.found(QUESTION)[0] == "Geometry.md"
    assert hub(bench) == ["Geometry.md"]
    assert bench.embedder.embedded == []
    bench.close()
