"""Drafting a large vault in other processes: the same drafts, whatever happens to the processes."""

import os
import pickle
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Event

import psutil
import pytest

from fakes import FakeSource
from ingest.bench import PRIVATE, Bench
from vault_ask.index.drafts import Draft
from vault_ask.ingest import workers
from vault_ask.ingest.drafting import Drafter, Undrafted, content_hash, count_words
from vault_ask.ingest.workers import Drafting, DraftingElsewhere, Task, drafting
from vault_ask.notes.sensitivity import Rules
from vault_ask.settings.vault import ChunkSettings
from vault_ask.sources.port import Document, Entry, OtherVersion
from waiting import wait_until

TEXT = "---\nsensitivity: {level}\n---\n# Note {n}\n\nSome words of note {n}, and [[Note {n}]].\n\n- one\n- two\n"


def drafter(*personal: str) -> Drafter:
    return Drafter(Rules.compile(personal, "sensitivity"), ChunkSettings(), count_words)


def task(n: int, content: bytes | None = None) -> Task:
    text = TEXT.format(n=n, level="personal" if n % 3 == 0 else "open").encode() if content is None else content
    path = f"Folder/Note {n}.md"
    document = Document(Entry(path, f"1-{n}", len(text), 1.0), text, path, (OtherVersion(path, None),) * (n % 2))
    return document, content_hash(document)


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_cores", lambda: 2)
    monkeypatch.setattr(workers, "MANY", 20)


def spawned() -> list[psutil.Process]:
    """The processes of ours that draft; multiprocessing's own tracker of resources is none."""
    children = psutil.Process().children()
    return [child for child in children if any("spawn_main" in word for word in child.cmdline())]


@pytest.mark.usefixtures("two_cores")
def test_drafts_made_elsewhere_are_those_made_here_but_for_what_cutting_needed() -> None:
    tasks = [task(n) for n in range(40)]
    with drafting(drafter("Private"), len(tasks)) as where:
        assert isinstance(where, DraftingElsewhere)
        elsewhere = where.begin(tasks)()
        assert spawned()
    here = Drafting(drafter("Private")).begin(tasks)()
    slim = [replace(draft, note=replace(draft.note, lines=(), blocks=())) for draft in here if isinstance(draft, Draft)]
    assert elsewhere == slim
    assert not spawned()


@pytest.mark.usefixtures("two_cores")
def test_no_code_that_lies_in_the_current_folder_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("socket", "signal", "vault_ask"):
        (tmp_path / f"{module}.py").write_text("open('was run', 'w').close(); raise ImportError\n")
    monkeypatch.chdir(tmp_path)
    with drafting(drafter(), 40) as where:
        drafts = where.begin([task(n) for n in range(40)])()
        assert spawned()
    assert len(drafts) == 40
    assert not (tmp_path / "was run").exists()
    assert "PYTHONSAFEPATH" not in os.environ


@pytest.mark.usefixtures("two_cores")
def test_machine_without_means_for_processes_drafts_here() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        with drafting(drafter(), 40) as where:
            drafts = where.begin([task(n) for n in range(40)])()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert type(where) is Drafting
    assert len(drafts) == 40


def test_a_few_notes_are_drafted_here() -> None:
    with drafting(drafter(), workers.MANY - 1) as where:
        assert type(where) is Drafting
        assert len(where.begin([task(1)])()) == 1
    assert not spawned()


@pytest.mark.usefixtures("two_cores")
def test_what_cannot_travel_drafts_here() -> None:
    odd = Drafter(Rules.compile((), "sensitivity"), ChunkSettings(), lambda text: len(text) + 1)
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(odd)
    with drafting(odd, 1000) as where:
        assert type(where) is Drafting


@pytest.mark.usefixtures("two_cores")
def test_processes_that_are_killed_lose_no_note() -> None:
    tasks = [task(n) for n in range(60)]
    with drafting(drafter(), len(tasks)) as where:
        first = where.begin(tasks[:20])
        assert len(first()) == 20
        begun = where.begin(tasks[20:])
        for process in spawned():
            process.kill()
        assert [draft.note.path for draft in begun() if isinstance(draft, Draft)] == [
            document.entry.path for document, _ in tasks[20:]
        ]
        assert len(where.begin(tasks[:5])()) == 5


def test_a_note_that_cannot_be_drafted_is_told_by_the_name_of_its_error_alone() -> None:
    class Odd(Exception):
        pass

    def count(text: str) -> int:
        raise Odd(text)

    odd = Drafter(Rules.compile((), "sensitivity"), ChunkSettings(), count)
    assert Drafting(odd).begin([task(7)])() == [Undrafted("Folder/Note 7.md", "Odd")]


@pytest.mark.usefixtures("two_cores")
def test_a_large_sweep_indexes_what_a_small_one_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {document.entry.path: document.content for document, _ in map(task, range(50))}
    large, small = Bench(tmp_path / "large", notes), Bench(tmp_path / "small", notes)
    assert large.index_all().new == 50
    monkeypatch.setattr(workers, "MANY", 1000)
    assert small.index_all().new == 50
    seen = []
    for bench in (large, small):
        with bench.index.open(PRIVATE) as view:
            seen.append(
                {path: [view.text.passages([c])[c].body for c in view.chunks.of(path)] for path in view.notes.paths()}
            )
        bench.close()
    assert seen[0] == seen[1]
    assert len(seen[0]) == 50


@pytest.mark.usefixtures("two_cores")
def test_a_sweep_that_is_stopped_ends_its_processes(tmp_path: Path) -> None:
    stop = Event()

    class Stopping(FakeSource):
        def read_all(self, paths: list[str]) -> object:
            yield from super().read_all(paths)
            stop.set()

    bench = Bench(tmp_path, source=Stopping({f"{n}.md": f"text {n}" for n in range(200)}))
    report = bench.sweep(stop)
    assert report.new < 200
    assert not spawned()
    bench.close()


PROGRAM = """
import sys
from vault_ask.ingest import workers
from ingest.test_workers import drafter, task
workers._cores, workers.MANY = (lambda: 2), 1
if __name__ == "__main__":
    with workers.drafting(drafter(), 100) as where:
        where.begin([task(n) for n in range(40)])()
        print("drafted", flush=True)
        sys.stdin.read()
"""


def test_processes_leave_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(
        [sys.executable, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"drafted\n"
        children = psutil.Process(parent.pid).children(recursive=True)
        assert len(children) >= 2
        parent.send_signal(signal.SIGKILL)
        wait_until(lambda: not any(child.is_running() and child.status() != "zombie" for child in children))
