#!/usr/bin/env python3
"""Measures a vault in CouchDB: how soon an edit is found, a first index of a large vault, and an idle hour.

Daemon and index run as a user runs them, in processes of their own, and so does the server: the tests' stand-in for
CouchDB, or express-pouchdb. The tests' device writes the notes, end-to-end encrypted (V2) with obfuscated paths; their
words are those of the sample vault. Times are of the wall. Prints a table, or one JSON object with --json; a target
that is missed is told and is no failure.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from threading import Event

import httpx
import psutil

from couch_vaults import CHUNK_CHARACTERS, Request, Server, Words, pouchdb, stand_in, vault
from measure_indexing import CONFIG, MIB, Figure
from measuring import ROOT, Table, Target, machine, show
from vault_ask.composition.parts import make_embedder
from vault_ask.settings.loading import load_settings
from vault_ask.settings.vault import VaultSettings
from vault_ask.sources.couch_waiting import Pace
from vault_ask.sources.couchdb import CouchSource

sys.path.append(str(ROOT / "tests"))
from livesync_device import PASSPHRASE, Device

PARTS = ("edits", "bootstrap", "idle")
MODE = "v2obf"
DATABASE = "vault"
CHUNKS_A_NOTE = 16
CHUNKS_OF_AN_EDITED_NOTE = 8
REQUESTS_OF_A_PUT = 3
NOTES_AT_ONCE = 100
POLL_SECONDS = 0.025
PATIENCE_SECONDS = 60.0
START_SECONDS = 600.0
KIB = 2**10
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Found:
    """How long after an edit it was found, in seconds, and what looking for it took."""

    by_words: float
    by_meaning: float
    polls: Sequence[float]


@dataclass(frozen=True, slots=True)
class Run:
    """One command, run to its end: seconds of the wall and of the processor, its largest memory in bytes."""

    seconds: float
    processor_seconds: float
    peak: int


def main() -> int:
    """Measure what was asked for and print it."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory() as temporary:
        figures = list(_figures(arguments, Path(temporary)))
    if arguments.json:
        told = {figure.name: {"value": figure.value, "unit": figure.unit} for figure in figures}
        print(json.dumps({"machine": machine(), "figures": told}, ensure_ascii=False))
    else:
        title = f"A vault in CouchDB ({arguments.server})"
        table = Table(title, ["", "to reach", "measured", "reached"], [figure.row() for figure in figures])
        print(show([table], markdown=arguments.markdown))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, action="append", help="measure this part only; may be repeated")
    parser.add_argument("--notes", type=int, help="notes of the vault (300 for edits, 5000 for the rest)")
    parser.add_argument("--edits", type=int, default=100, help="edits that are looked for (%(default)s)")
    parser.add_argument(
        "--server", choices=["stand-in", "pouchdb"], default="stand-in", help="idle needs the stand-in (%(default)s)"
    )
    parser.add_argument("--models", type=Path, help="folder with the model's built files, to leave their build out")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--markdown", action="store_true", help="print the table for docs/measurements.md")
    arguments = parser.parse_args()
    if arguments.server == "pouchdb" and "idle" in (arguments.part or PARTS):
        parser.error("express-pouchdb keeps no log of requests, so the idle hour is measured with the stand-in only.")
    return arguments


def _figures(arguments: argparse.Namespace, folder: Path) -> Iterator[Figure]:
    models = arguments.models.absolute() if arguments.models else folder / "models"
    measured = {
        "edits": lambda server: _edits(
            server, arguments.notes or 300, arguments.edits, _data(folder / "edits", models)
        ),
        "bootstrap": lambda server: _bootstrap(server, arguments.notes or 5000, _data(folder / "bootstrap", models)),
        "idle": lambda server: _idle(server, arguments.notes or 5000),
    }
    for part in arguments.part or PARTS:
        with stand_in() if arguments.server == "stand-in" else pouchdb() as server:
            yield from measured[part](server)


def _data(folder: Path, models: Path) -> Path:
    """Make a data folder that shares the model's files, building those first where they are not there."""
    folder.mkdir()
    (folder / "models").symlink_to(models, target_is_directory=True)
    if not any(models.glob("*")):
        _say("building the model's files")
        models.mkdir(parents=True, exist_ok=True)
        make_embedder(load_settings(config=CONFIG, overrides={"data": folder})).count_tokens("one")
    return folder


# Edits


def _edits(server: Server, notes: int, edits: int, data: Path) -> Iterator[Figure]:
    """Edit one note after the other, and look for each edit until it is found."""
    words = Words(1)
    with Device(server.url, DATABASE, mode=MODE, cut=CHUNK_CHARACTERS) as device:
        texts = dict(vault(words, notes, CHUNKS_OF_AN_EDITED_NOTE))
        device.create_database()
        device.put_many(texts)
        with _daemon(server, data) as search:
            _say(f"{edits} edits of a vault of {notes} notes")
            before = len(server.requests())
            found = [_edit(device, search, texts, words, number) for number in range(edits)]
            asked = server.requests()[before:]
    limit = Target(value=1.5, at_most=True)
    for name, seconds in (
        ("words", [one.by_words for one in found]),
        ("meaning", [one.by_meaning for one in found]),
    ):
        yield Figure(f"edit to found by {name}, median of {edits}", median(seconds), "s")
        yield Figure(f"edit to found by {name}, p95", _p95(seconds), "s", limit)
    polls = [poll for one in found for poll in one.polls]
    yield Figure("one look for it by words", 1000 * fmean(polls), "ms")
    yield Figure("looks by words an edit", len(polls) / edits, "")
    if asked:
        yield Figure("requests of the daemon an edit", len(asked) / edits - REQUESTS_OF_A_PUT, "")


def _edit(device: Device, search: httpx.Client, texts: dict[str, str], words: "Words", number: int) -> Found:
    """Write a new note, or a new section into an old one, and time from the end of the write."""
    word = f"qvist{number:04}"
    section = f"\n## {words.some(3)}\n\n{words.some(30)} {word} {words.some(30)}.\n"
    path = f"New/Edit {number}.md" if number % 4 == 0 else words.random.choice(sorted(texts))
    texts[path] = texts.get(path, "") + section
    device.put(path, texts[path])
    written = time.perf_counter()
    polls = list(_polls(search, word, "text", word, written + PATIENCE_SECONDS))
    by_words = time.perf_counter() - written
    list(_polls(search, section, "vector", word, written + PATIENCE_SECONDS))
    return Found(by_words, time.perf_counter() - written, polls)


def _polls(search: httpx.Client, query: str, arm: str, word: str, deadline: float) -> Iterator[float]:
    """Look until a passage with the word is among the eight best; yield the seconds each look took."""
    while time.perf_counter() < deadline:
        began = time.perf_counter()
        told = search.post("/api/search", json={"query": query, "arm": arm}).raise_for_status().json()
        yield time.perf_counter() - began
        if any(word in hit["quote"] for hit in told["hits"]):
            return
        time.sleep(POLL_SECONDS)
    raise SystemExit(f"An edit was not found by {arm} within {PATIENCE_SECONDS:g} s.")


@contextmanager
def _daemon(server: Server, data: Path) -> Iterator[httpx.Client]:
    """Serve the vault, and wait until all of it is indexed and embedded."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        _command("serve", data, "--port", str(port)),
        env=_environment(server),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) as client:
            _wait_until_indexed(client, process)
            yield client
    finally:
        process.terminate()
        process.wait()


def _wait_until_indexed(client: httpx.Client, process: subprocess.Popen[bytes]) -> None:
    _say("indexing and embedding")
    deadline = time.perf_counter() + START_SECONDS
    while time.perf_counter() < deadline and process.poll() is None:
        time.sleep(0.2)
        try:
            status = client.get("/api/status").json()
        except httpx.TransportError:
            continue
        if status["vault"]["mode"] == "watching" and status["notes"] and not status["embedding"]["waiting"]:
            return
    raise SystemExit("vault-ask serve did not come so far that the vault was indexed and followed.")


# The first index


def _bootstrap(server: Server, notes: int, data: Path) -> Iterator[Figure]:
    """Index a large vault by its words."""
    with Device(server.url, DATABASE, mode=MODE, cut=CHUNK_CHARACTERS) as device:
        device.create_database()
        _fill(device, notes)
    downloaded = _download(server)
    before = server.processor_seconds()
    _say(f"indexing {notes} notes")
    run = _index(server, data)
    taken = server.processor_seconds() - before
    what = f"`index --no-embed`, {notes} notes in {downloaded.documents} chunks"
    yield Figure(what, run.seconds, "s", Target(value=60.0, at_most=True))
    yield Figure("of it on the processor", run.processor_seconds, "s")
    yield Figure("on the server's processor meanwhile", taken, "s")
    yield Figure("largest resident memory, helpers included", run.peak / MIB, "MiB")
    yield Figure("a plain download of the same", downloaded.seconds, "s")
    yield Figure("size of that", downloaded.size / MIB, "MiB")
    again = _index(server, data)
    yield Figure("the same with nothing changed, whole process", again.seconds, "s")


def _fill(device: Device, notes: int) -> None:
    """Write the vault a few notes at a time, so that it is never whole in this process."""
    _say(f"writing {notes} notes")
    batch: dict[str, str] = {}
    for path, text in vault(Words(2), notes, CHUNKS_A_NOTE):
        batch[path] = text
        if len(batch) == NOTES_AT_ONCE:
            device.put_many(batch)
            batch = {}
    device.put_many(batch)


@dataclass(frozen=True, slots=True)
class Download:
    """What it takes to have the bytes and do nothing with them."""

    seconds: float
    size: int
    documents: int


def _download(server: Server) -> Download:
    """Fetch what an index run reads: the notes in pages, the chunks by their keys, 500 at once."""
    _say("downloading the same")
    with httpx.Client(base_url=f"{server.url}/{DATABASE}", timeout=120, trust_env=False) as client:
        ids = [row["id"] for row in _rows(client, '"h:"', '"h;"')]
        begun, size = time.perf_counter(), 0
        for start, end in ((None, '"h:"'), ('"h;"', None)):
            size += len(_page(client, start, end, "true").content)
        for first in range(0, len(ids), 500):
            body = {"keys": ids[first : first + 500]}
            size += len(client.post("/_all_docs?include_docs=true&conflicts=true", json=body).content)
    return Download(time.perf_counter() - begun, size, len(ids))


def _rows(client: httpx.Client, start: str, end: str) -> list[Mapping[str, str]]:
    rows: list[Mapping[str, str]] = _page(client, start, end, "false").json()["rows"]
    return rows


def _page(client: httpx.Client, start: str | None, end: str | None, include_docs: str) -> httpx.Response:
    keys = {name: key for name, key in (("start_key", start), ("end_key", end)) if key}
    query = {**keys, "inclusive_end": "false", "include_docs": include_docs}
    return client.get("/_all_docs", params=query).raise_for_status()


def _index(server: Server, data: Path) -> Run:
    """Run `index --no-embed`, watching its memory and that of its helpers every 20 ms."""
    before, began, peak = _processor_seconds(), time.perf_counter(), 0
    with tempfile.TemporaryFile() as said:
        process = psutil.Popen(
            _command("index", data, "--no-embed"), env=_environment(server), stdout=said, stderr=subprocess.STDOUT
        )
        while process.poll() is None:
            with suppress(psutil.Error):  # one of them may end while it is looked at
                family = [process, *process.children(recursive=True)]
                peak = max(peak, sum(one.memory_info().rss for one in family))
            time.sleep(0.02)
        if process.wait():
            said.seek(0)
            raise SystemExit(f"vault-ask index failed: {said.read().decode().strip()}")
    return Run(time.perf_counter() - began, _processor_seconds() - before, peak)


def _processor_seconds() -> float:
    """Add up what the processes that we started and that have ended took."""
    times = os.times()
    return times.children_user + times.children_system


# An idle hour


def _idle(server: Server, notes: int) -> Iterator[Figure]:
    """Count what following an idle vault costs, with everything that is due once in a while due at once.

    An hour is so many heartbeats (an empty line each), looks at the database and full comparisons of ids.
    """
    with Device(server.url, DATABASE, mode=MODE, cut=CHUNK_CHARACTERS) as device:
        device.create_database()
        device.put_many({path: text[:CHUNK_CHARACTERS] for path, text in vault(Words(3), notes, 1)})
    looked, verified = _cost(server, _LOOKS), _cost(server, _VERIFIES)
    pace, rescan = Pace(), VaultSettings().rescan_minutes * 60
    looks, beats = HOUR / pace.look, HOUR / pace.heartbeat
    verifies = HOUR / rescan
    yield Figure("one look at the database", sum(map(_size, looked)) / KIB, "KiB")
    yield Figure(f"one comparison of all ids, {notes} notes", sum(map(_size, verified)) / KIB, "KiB")
    requests = looks * len(looked) + verifies * len(verified)
    size = looks * sum(map(_size, looked)) + verifies * sum(map(_size, verified)) + beats
    yield Figure(f"requests an idle hour: {looks:g} looks, {verifies:g} comparison", requests, "")
    yield Figure(f"bodies of them, and {beats:g} heartbeats of a byte", size / KIB, "KiB")


_LOOKS = (Pace(heartbeat=1.0, look=0.5, sign=0.1), HOUR)
_VERIFIES = (Pace(heartbeat=1.0, look=HOUR, sign=0.1), 0.5)
SECOND = 1


def _cost(server: Server, due: tuple[Pace, float]) -> list[Request]:
    """Follow until what is due was done twice; give the requests of the second time."""
    pace, rescan_seconds = due
    couch = {"url": server.url, "database": DATABASE, "passphrase": PASSPHRASE}
    settings = VaultSettings.model_validate(
        {"source": "couchdb", "couchdb": couch, "rescan_minutes": rescan_seconds / 60}
    )
    source, stop = CouchSource(settings, pace=pace), Event()
    try:
        batches = source.changes(stop)
        while source.state().mode != "watching":
            next(batches)
        return _second_time(server, batches)
    finally:
        stop.set()
        source.close()


def _second_time(server: Server, batches: Iterator[object]) -> list[Request]:
    """Take batches until two bursts of requests are over, told apart by the first request of each."""
    begun = len(server.requests())
    deadline = time.perf_counter() + PATIENCE_SECONDS
    while time.perf_counter() < deadline:
        next(batches)
        new = [request for request in server.requests()[begun:] if "feed=" not in request.path]
        starts = [place for place, request in enumerate(new) if request.path == new[0].path]
        if len(starts) == SECOND + 2:
            return new[starts[SECOND] : starts[SECOND + 1]]
    raise SystemExit("The source did not do what was due.")


def _size(request: Request) -> int:
    return request.sent + request.given


# Small things


def _p95(seconds: Sequence[float]) -> float:
    """Give the value that 95 of 100 do not exceed."""
    return sorted(seconds)[max(0, -(-95 * len(seconds) // 100) - 1)]


def _command(name: str, data: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "vault_ask", name, "--config", str(CONFIG), "--data", str(data), *options]


def _environment(server: Server) -> dict[str, str]:
    """Let Python keep its bytecode, as it does for a user, whatever this shell says."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {
        "VAULTASK_VAULT__SOURCE": "couchdb",
        "VAULTASK_VAULT__COUCHDB__URL": server.url,
        "VAULTASK_VAULT__COUCHDB__DATABASE": DATABASE,
        "VAULTASK_VAULT__COUCHDB__PASSPHRASE": PASSPHRASE,
    }


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
