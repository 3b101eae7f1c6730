"""The vaults that measure_follow.py measures, and the servers that hold them, each in a process of its own."""

import multiprocessing
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection

import psutil

from measure_indexing import SAMPLE
from measuring import ROOT

sys.path.append(str(ROOT / "tests"))
from couch_stand_in import CouchStandIn

# As in the vault of 5,000 notes and 80,000 chunks that was measured before: 57 MB of documents (FORMAT.md, trap 9).
CHUNK_CHARACTERS = 350


@dataclass(frozen=True, slots=True)
class Request:
    """A request that the server answered, with the bytes of both bodies."""

    method: str
    path: str
    sent: int
    given: int


@dataclass(frozen=True, slots=True)
class Server:
    """A running server. `orders` asks the stand-in for its log; express-pouchdb keeps none."""

    name: str
    url: str
    process: psutil.Process
    orders: Connection | None = None

    def requests(self) -> list[Request]:
        """Give every request so far, an open feed with what it has given until now."""
        if self.orders is None:
            return []
        self.orders.send("log")
        return [Request(*one) for one in self.orders.recv()]

    def processor_seconds(self) -> float:
        """Give what the server has taken of the processor so far."""
        times = self.process.cpu_times()
        return float(times.user + times.system)


@contextmanager
def stand_in() -> Iterator[Server]:
    """Run the stand-in in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield Server("stand-in", ours.recv(), psutil.Process(process.pid), ours)
    finally:
        ours.send(None)
        process.join()


def _serve(orders: Connection) -> None:
    """Serve until told to end; tell the log when asked."""
    with CouchStandIn() as couch:
        orders.send(couch.url)
        while orders.recv():
            orders.send([(one.method, one.path, one.bytes_in, one.bytes_out) for one in couch.requests])


@contextmanager
def pouchdb() -> Iterator[Server]:
    """Run express-pouchdb, which `npm ci` installs."""
    script = ROOT / "tests" / "pouchdb" / "server.mjs"
    with psutil.Popen(["node", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Server("pouchdb", process.stdout.readline().strip(), psutil.Process(process.pid))
        finally:
            process.stdin.close()


class Words:
    """Text of the sample vault's words, as often as they stand there: noise would neither compress nor repeat."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - figures are to be repeatable
        text = " ".join(note.read_text(encoding="utf-8") for note in sorted(SAMPLE.rglob("*.md")))
        self._words = re.findall(r"[^\W\d_]+", text)

    def some(self, count: int) -> str:
        """Give words."""
        return " ".join(self.random.choices(self._words, k=count))

    def note(self, characters: int) -> str:
        """Give a note of about so many characters as people write them: headings, paragraphs on one line, lists."""
        blocks = [f"# {self.some(4)}"]
        while sum(map(len, blocks)) + 2 * len(blocks) < characters:
            make = self.random.choices([self._heading, self._paragraph, self._list], [1, 4, 1])[0]
            blocks.append(make())
        return "\n\n".join(blocks)[:characters]

    def _heading(self) -> str:
        return f"## {self.some(3)}"

    def _paragraph(self) -> str:
        return " ".join(f"{self.some(self.random.randint(6, 20)).capitalize()}." for _ in range(4))

    def _list(self) -> str:
        return "\n".join(f"- {self.some(self.random.randint(3, 12))}" for _ in range(5))


def vault(words: Words, notes: int, chunks: int) -> Iterator[tuple[str, str]]:
    """Give the notes of a vault one by one, as path and text, of about so many chunks each."""
    for number in range(notes):
        characters = words.random.randint((chunks - 1) * CHUNK_CHARACTERS, (chunks + 1) * CHUNK_CHARACTERS - 1)
        yield f"Folder {number % 40}/Note {number:05}.md", words.note(max(characters, 80))
