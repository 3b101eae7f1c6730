"""A program that tests kill: it indexes a generated vault into a data folder and says where it is."""

import random
import sys
from pathlib import Path
from threading import Event

from fakes import FakeSource, HashEmbedder
from vault_ask.index.files import IndexFiles
from vault_ask.ingest.progress import Progress
from vault_ask.ingest.workshop import Tools, Workshop, open_writer
from vault_ask.notes.sensitivity import Rules
from vault_ask.settings.vault import ChunkSettings

NOTES = 200


def vault() -> dict[str, str]:
    """The same vault in every run: sections, links, tags, a personal folder."""
    dice = random.Random(9)  # noqa: S311 - no secret
    words = [f"{first}{second}" for first in ("ka", "lu", "mi", "so", "te") for second in ("ran", "dol", "bek", "nis")]

    def note(number: int) -> str:
        sections = [
            f"# Part {part}\n{' '.join(dice.choices(words, k=40))} [[Note {dice.randrange(NOTES)}]] #t{number % 7}\n"
            for part in range(dice.randint(1, 5))
        ]
        return f"text of {number}\n\n" + "\n".join(sections)

    return {f"{'Private/' if number % 5 == 0 else ''}Note {number}.md": note(number) for number in range(NOTES)}


def index(data: Path) -> None:
    """Index the vault to the end, as the daemon does at its start."""
    files = IndexFiles(data)
    tools = Tools(
        source=FakeSource(vault()),
        embedder=HashEmbedder(),
        rules=Rules.compile(["Private"], "sensitivity"),
        chunks=ChunkSettings(target_tokens=32, max_tokens=48, min_tokens=0, overlap_tokens=0),
        centring="on",
    )
    with files.owned():
        writer, warning = open_writer(files)
        if warning:
            raise RuntimeError(warning)
        workshop = Workshop(writer, tools, Progress())
        workshop.ingest.sweep()
        workshop.backlog.drain(Event())
        writer.refresh_statistics(force=True)
        writer.close()


if __name__ == "__main__":
    print("begins", flush=True)  # noqa: T201 - the test waits for it
    index(Path(sys.argv[1]))
    print("done", flush=True)  # noqa: T201 - the same
