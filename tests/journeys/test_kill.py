"""A process that is killed at any moment leaves whole notes, and the next one goes on from there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from journeys.houses import House, by_words, embedded, status
from vault_ask.index.files import IndexFiles
from vault_ask.index.writer import IndexWriter
from vault_ask.ingest import follower as follower_module
from vault_building import faults

TESTS = Path(__file__).parent.parent
NOTES = {f"F{n % 7}/N{n}.md": f"# Title {n}\n\nnumber {n} of the quince notes [[N{n + 1}]]\n" for n in range(150)}

CHILD = """
import os, signal, sys
from pathlib import Path
from fakes import HashEmbedder
from journeys.houses import settings_for
from vault_ask import indexing

class Deadly(HashEmbedder):
    def embed_passages(self, texts):
        if len(self.embedded) >= int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
        result = super().embed_passages(texts)
        Path(sys.argv[2]).write_text("\\n".join(text.replace("\\n", " ") for text in self.embedded))
        return result

def deadly(snapshot):
    if snapshot.phase == "indexing" and snapshot.done >= int(sys.argv[4]):
        os.kill(os.getpid(), signal.SIGKILL)

indexing.make_embedder = lambda *_args, **_how: Deadly(dimension=384)
indexing.run(settings_for(Path(sys.argv[1])), rebuild=False, embed=True, display=deadly)
"""


def _killed(house: House, *, texts: int, notes: int) -> list[str]:
    """Run the command until it is killed after so many texts or notes; give what it embedded."""
    log = house.folder / "embedded.txt"
    command = [sys.executable, "-c", CHILD, str(house.folder), str(log), str(texts), str(notes)]
    path = os.pathsep.join((str(TESTS), str(TESTS.parent / "daemon")))
    ended = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, check=False, capture_output=True, text=True)
    assert ended.returncode == -9, ended.stderr
    return log.read_text().split("\n") if log.exists() else []


@pytest.mark.parametrize(("texts", "notes"), [(40, 1_000), (0, 1_000), (1_000, 64)])
def test_a_killed_index_run_leaves_whole_notes_and_the_next_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, texts: int, notes: int
) -> None:
    monkeypatch.setattr(follower_module, "IDLE_SECONDS", 0.1)
    house = House(tmp_path, NOTES)
    before = _killed(house, texts=texts, notes=notes)
    assert len(before) >= texts or notes < len(NOTES)
    writer = IndexWriter(IndexFiles(tmp_path / "data").current)
    assert writer.damage() is None
    assert faults(writer) == []
    writer.close()
    with house.daemon() as daemon:
        embedded(daemon)
        assert status(daemon).notes == len(NOTES)
        assert by_words(daemon, "title 149")[0] == "F2/N149.md"
    after = [text.replace("\n", " ") for text in house.embedder.embedded]
    assert sorted(before + after) == sorted(set(before + after)), "a stored vector was made again"
    assert len(before) + len(after) == len(NOTES)
