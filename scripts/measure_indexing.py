#!/usr/bin/env python3
"""Measures time and memory: indexing, a run with nothing to do, the start of the daemon, and what it holds in memory.

Everything runs as a user runs it, in processes of its own, but for the share of time outside the embedder, for which
the embedder is wrapped with a clock. Times are of the wall: on a busy machine they say little, so the load average is
told with them. Prints a table, or one JSON object with --json; a target that is missed is told and is no failure.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import psutil

from measuring import PACKS, ROOT, Table, Target, machine, show, verdict
from vault_ask.composition.parts import make_embedder, make_tools
from vault_ask.evaluation import read_questions
from vault_ask.index.embedding import Embedder, EmbeddingSpace, Priors, Refused, Vector
from vault_ask.index.files import IndexFiles
from vault_ask.ingest.progress import Progress
from vault_ask.ingest.workshop import Workshop, open_writer
from vault_ask.settings import Settings
from vault_ask.settings.loading import load_settings

sys.path.append(str(ROOT / "tests"))
from model_server import ModelServer

MIB = 2**20
RUNS = 3
QUESTIONS = 100
START_SECONDS = 60.0
SAMPLE = ROOT / "tests" / "vaults" / "sample"
SAMPLE_QUESTIONS = ROOT / "tests" / "vaults" / "sample-questions.jsonl"
CONFIG = ROOT / "config.yaml"
PERSONAL = ["Wiki/A/**", "Wiki/B/**", "Wiki/C/**"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure with its unit, and what it should be where the project said so."""

    name: str
    value: float
    unit: str
    target: Target | None = None

    def row(self) -> list[str]:
        """Give its line of the table."""
        target = f"{self.target} {self.unit}" if self.target else ""
        return [self.name, target, f"{self.value:.2f} {self.unit}", verdict(self.target, self.value)]


@dataclass(slots=True)
class Clocked:
    """An embedder that adds up the time spent in it: embedding, and counting tokens."""

    embedder: Embedder
    seconds: float = 0.0
    counting: float = field(default=0.0)

    @property
    def space(self) -> EmbeddingSpace:
        """The space of the embedder behind."""
        return self.embedder.space

    @property
    def max_tokens(self) -> int:
        """The limit of the embedder behind."""
        return self.embedder.max_tokens

    def count_tokens(self, text: str) -> int:
        """Count with the embedder behind."""
        started = time.perf_counter()
        try:
            return self.embedder.count_tokens(text)
        finally:
            self.counting += time.perf_counter() - started

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        """Embed with the embedder behind."""
        started = time.perf_counter()
        try:
            return self.embedder.embed_passages(texts)
        finally:
            self.seconds += time.perf_counter() - started

    def embed_query(self, text: str) -> Vector:
        """Embed a question with the embedder behind."""
        return self.embedder.embed_query(text)

    def priors(self) -> Priors:
        """Give the means of the embedder behind."""
        return self.embedder.priors()


def main() -> int:
    """Measure all of it and print it."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as temporary:
        figures = list(_figures(arguments.packs, Path(temporary), arguments.models))
    if arguments.json:
        told = {figure.name: {"value": figure.value, "unit": figure.unit} for figure in figures}
        print(json.dumps({"machine": machine(), "figures": told}, ensure_ascii=False))
    else:
        table = Table("Time and memory", ["", "to reach", "measured", "reached"], [figure.row() for figure in figures])
        print(show([table], markdown=arguments.markdown))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packs", type=Path, default=PACKS, help="folder of the question packs (%(default)s)")
    parser.add_argument("--models", type=Path, help="folder with the model's built files, to leave their build out")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--markdown", action="store_true", help="print the table for docs/measurements.md")
    return parser.parse_args()


def _figures(packs: Path, folder: Path, models: Path | None) -> Iterator[Figure]:
    """Measure one after the other; the sample vault stands in for a pack that is not there."""
    big, small = _vault(packs / "multihop-wiki"), _vault(packs / "obsidian-help")
    models = models.absolute() if models else folder / "models"
    if not any(models.glob("*")):
        yield _build(models)
    data = _data(folder / "big", models)
    yield from _runs(big, data)
    yield from _outside_the_embedder(small, _data(folder / "small", models))
    yield from _serving(small, folder / "small")


def _vault(pack: Path) -> tuple[Path, Path]:
    """Give a pack's vault and questions, or the sample's."""
    questions = pack / "questions.dev.jsonl"
    return (pack / "vault", questions) if questions.is_file() else (SAMPLE, SAMPLE_QUESTIONS)


def _data(folder: Path, models: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "models").symlink_to(models, target_is_directory=True)
    return folder


def _build(models: Path) -> Figure:
    _say("building the model's files")
    models.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    make_embedder(_settings(SAMPLE, models.parent)).count_tokens("one")
    return Figure("the model's files, built once", time.perf_counter() - started, "s")


def _runs(pack: tuple[Path, Path], data: Path) -> Iterator[Figure]:
    vault, _ = pack
    notes = sum(1 for _ in vault.rglob("*.md"))
    first = _index(vault, data)
    yield Figure(f"`index --no-embed`, {notes} notes", first.seconds, "s", Target(value=20.0, at_most=True))
    again = min((_index(vault, data) for _ in range(RUNS)), key=lambda run: run.seconds)
    yield Figure("the same with nothing changed, whole process", again.seconds, "s", Target(value=1.5, at_most=True))
    yield Figure("of it on the processor", again.processor_seconds, "s")
    moved = _index(vault, data, VAULTASK_SENSITIVITY__PERSONAL_PATHS=json.dumps(PERSONAL))
    count = re.search(r"(\d+) reclassified", moved.said)
    yield Figure(f"a changed rule, {count[1] if count else 0} notes reclassified, whole process", moved.seconds, "s")
    # The embedder is busy with the backlog meanwhile, as it is at a first start.
    with _daemon(vault, data) as daemon:
        yield Figure("`serve` to /healthz with that index", daemon.start_seconds, "s", Target(value=2.0, at_most=True))


@dataclass(frozen=True, slots=True)
class Run:
    """One command, run to its end: seconds of the wall and of the processor, and what it said."""

    seconds: float
    processor_seconds: float
    said: str


def _index(vault: Path, data: Path, **environment: str) -> Run:
    """Run `index --no-embed`."""
    _say(f"indexing {vault.parent.name}")
    before, started = _processor_seconds(), time.perf_counter()
    done = subprocess.run(
        _command("index", vault, data, "--no-embed"),
        env=_environment(**environment),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"vault-ask index failed: {done.stderr.strip()}")
    return Run(time.perf_counter() - started, _processor_seconds() - before, done.stdout)


def _processor_seconds() -> float:
    """Add up what the processes that we started and that have ended took."""
    times = os.times()
    return times.children_user + times.children_system


def _outside_the_embedder(pack: tuple[Path, Path], data: Path) -> Iterator[Figure]:
    """Index with vectors in this process, the embedder clocked. Loading the model is no part of it."""
    vault, _ = pack
    _say(f"embedding {vault.parent.name}")
    settings = _settings(vault, data)
    clocked = Clocked(make_embedder(settings))
    clocked.embed_query("one")
    files = IndexFiles(data)
    with files.owned():
        writer, _ = open_writer(files)
        started = time.perf_counter()
        workshop = Workshop(writer, make_tools(settings, clocked), Progress())
        workshop.ingest.sweep()
        workshop.backlog.drain(Event())
        writer.optimize()
        whole = time.perf_counter() - started
        chunks = writer.count_chunks()
        writer.close()
    outside = 100 * (whole - clocked.seconds) / whole
    yield Figure(f"first index, {chunks} chunks", whole, "s")
    yield Figure("of it outside the embedder", outside, "%", Target(value=15.0, at_most=True))
    yield Figure("of it counting tokens (a part of what is outside)", 100 * clocked.counting / whole, "%")


def _serving(pack: tuple[Path, Path], data: Path) -> Iterator[Figure]:
    vault, questions = pack
    asked = [question["question"] for question in read_questions(questions)]
    with _daemon(vault, data) as daemon:
        yield Figure("resident at the start", daemon.resident(), "MiB")
        seconds = daemon.ask(islice(cycle(asked), QUESTIONS))
        limit = Target(value=250.0, at_most=True)
        yield Figure(f"resident after {QUESTIONS} questions answered by quotes", daemon.resident(), "MiB", limit)
        yield Figure("one of them, on average", seconds / QUESTIONS, "s")
    with ModelServer(["Said by the stand-in [1]."]) as server:
        model = {"VAULTASK_MODELS__GENERATION": "openai/stand-in", "VAULTASK_MODELS__API_BASE": server.openai_base}
        with _daemon(vault, data, **model) as daemon:
            daemon.ask(islice(cycle(asked), 10))
            if not server.requests:
                raise SystemExit("The stand-in model was never asked, so the memory with litellm cannot be told.")
            yield Figure("resident with litellm in use", daemon.resident(), "MiB")


@dataclass(frozen=True, slots=True)
class Daemon:
    """A running `vault-ask serve`."""

    process: psutil.Process
    address: str
    start_seconds: float

    def ask(self, questions: Iterator[str]) -> float:
        """Ask one question after the other and give the seconds it took."""
        _say(f"asking {self.address}")
        started = time.perf_counter()
        with httpx.Client(base_url=self.address, timeout=60, headers={"Accept": "application/json"}) as client:
            for question in questions:
                client.post("/api/ask", json={"question": question}).raise_for_status()
        return time.perf_counter() - started

    def resident(self) -> float:
        """Give the memory that the process holds, in MiB."""
        return float(self.process.memory_info().rss) / MIB


@contextmanager
def _daemon(vault: Path, data: Path, **environment: str) -> Iterator[Daemon]:
    """Serve on a free port and wait until /healthz answers. What the daemon says goes to a file, never to be full."""
    with tempfile.NamedTemporaryFile() as said:
        started = time.perf_counter()
        process = subprocess.Popen(
            _command("serve", vault, data, "--port", "0"),
            env=_environment(**environment),
            stdout=subprocess.DEVNULL,
            stderr=said,
        )
        try:
            address = _address(process, Path(said.name), started + START_SECONDS)
            _wait_until_healthy(address, started + START_SECONDS)
            yield Daemon(psutil.Process(process.pid), address, time.perf_counter() - started)
        finally:
            process.terminate()
            process.wait()


def _address(process: subprocess.Popen[bytes], said: Path, deadline: float) -> str:
    """Wait for the address that the daemon prints."""
    while time.perf_counter() < deadline and process.poll() is None:
        if found := re.search(r"http://\S+(?=/chat)", said.read_text(encoding="utf-8")):
            return found[0]
        time.sleep(0.01)
    raise SystemExit(f"vault-ask serve did not come up: {said.read_text(encoding='utf-8').strip()}")


def _wait_until_healthy(address: str, deadline: float) -> None:
    while time.perf_counter() < deadline:
        try:
            if httpx.get(f"{address}/healthz", timeout=1.0).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.01)
    raise SystemExit(f"{address}/healthz did not answer in {START_SECONDS:g} s.")


def _settings(vault: Path, data: Path) -> Settings:
    return load_settings(config=CONFIG, overrides={"vault": {"path": vault}, "data": data})


def _command(name: str, vault: Path, data: Path, *options: str) -> list[str]:
    places = ("--config", str(CONFIG), "--vault", str(vault), "--data", str(data))
    return [sys.executable, "-m", "vault_ask", name, *places, *options]


def _environment(**given: str) -> Mapping[str, str]:
    """Let Python keep its bytecode, as it does for a user, whatever this shell says."""
    kept: dict[str, Any] = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, **given}


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
