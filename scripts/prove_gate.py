"""Shows that the tests guard the gate: every leak we could think of, put into a copy of the source, turns a test red.

    python scripts/prove_gate.py                     # all of them, in about seven minutes on two cores
    python scripts/prove_gate.py --sample 5 --seed 1 # a few; the same ones for the same seed
    python scripts/prove_gate.py --only cloud        # those whose name holds a word
    python scripts/prove_gate.py --list

Leaks are data, in scripts/data/leaks/*.toml: what leaks in a sentence, the file, the text to be replaced (it has to
occur exactly once), what takes its place, edits that belong to it as `also`, and the tests that should notice. The
tests first run on the copy as it is and have to pass. A leak counts as killed only when one of its tests ends as
FAILED: a copy that cannot be imported, or a test that breaks on a name that is not there, proves nothing.

The last line is `killed K of N`. Ends with 0 when K is N, with 1 when a leak survived, with 2 when nothing could be
shown: a leak that fits the source no more, or a test that is red without one.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LEAKS = ROOT / "scripts" / "data" / "leaks"

_LONGEST_RUN = 300.0
_LEFT_OUT = frozenset({"node_modules", ".venv", "data/index"})
_PASSED, _FAILED = 0, 1
# litellm imports a module with a warning of pydantic's at its first answer; in a whole run that was earlier.
_ALONE = ("-W", "ignore:Item:UserWarning")
_FINDING = re.compile(r"^FAILED (?P<test>.+?)(?: - (?P<why>.*))?$", re.MULTILINE)
_BROKEN = ("NameError", "ImportError", "ModuleNotFoundError", "SyntaxError", "UnboundLocalError", "Failed: Timeout")
"""How a test ends that stumbled over the leak's own text, or over nothing at all, in place of what leaks."""


class Unprovable(Exception):
    """Nothing can be shown, for the reason in the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Text of a file that has to occur exactly once, and what takes its place."""

    file: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Leak:
    """One way in which personal text could get out, as edits of the source, and the tests that guard against it."""

    name: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]

    def applied(self, root: Path) -> dict[Path, str]:
        """Give the files under `root` as they are with the leak. Raises Unprovable when it does not fit there."""
        texts: dict[Path, str] = {}
        for edit in self.edits:
            file = root / edit.file
            text = texts.get(file) or (file.read_text(encoding="utf-8") if file.is_file() else "")
            if (found := text.count(edit.before)) != 1 or edit.before == edit.after:
                raise Unprovable(
                    f"The leak “{self.name}” fits {found} places of {edit.file} and should fit one. The source has "
                    "moved on: write the leak anew in scripts/data/leaks."
                )
            texts[file] = text.replace(edit.before, edit.after)
        return texts


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a leak: killed by the test that went red first, or not, and why; `seconds` of its run."""

    name: str
    killed: bool
    test: str | None
    why: str
    seconds: float


def read_leaks(folder: Path = LEAKS) -> tuple[Leak, ...]:
    """Read the leaks of a folder, in the order of its files. Raises Unprovable for one that is not written well."""
    leaks = []
    for file in sorted(folder.glob("*.toml")):
        try:
            leaks += [_leak(said) for said in tomllib.loads(file.read_text(encoding="utf-8"))["leak"]]
        except (TypeError, KeyError, tomllib.TOMLDecodeError) as error:
            raise Unprovable(f"{file.name} is not written as the other leaks are: {error}.") from None
    if len({leak.name for leak in leaks}) < len(leaks):
        raise Unprovable("Two leaks have the same name. Give each its own.")
    return tuple(leaks)


def _leak(said: dict[str, Any]) -> Leak:
    name, tests, also = said.pop("name"), said.pop("tests"), said.pop("also", [])
    return Leak(name=name, edits=tuple(Edit(**edit) for edit in (said, *also)), tests=tuple(tests))


class Copy:
    """A copy of the source that may be broken, and a Python that imports from it alone."""

    def __init__(self, root: Path, folder: Path) -> None:
        """Copy what git knows, and what it does not ignore, of `root`."""
        self._folder = folder / "source"
        self._scratch = folder / "scratch"
        names = subprocess.run(
            ["git", "ls-files", "-coz", "--exclude-standard"],  # noqa: S607 - where git lies is the machine's affair
            cwd=root,
            capture_output=True,
            check=True,
        ).stdout.decode()
        for name in filter(None, names.split("\0")):
            if not any(f"/{name}".startswith(f"/{left_out}/") for left_out in _LEFT_OUT) and (root / name).is_file():
                (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / name, self._folder / name)

    @contextmanager
    def leaking(self, leak: Leak) -> Iterator[None]:
        """Put a leak in for the time of a `with`. Raises Unprovable."""
        leaking = leak.applied(self._folder)
        sound = {file: file.read_text(encoding="utf-8") for file in leaking}
        times = {file: file.stat().st_mtime for file in leaking}
        try:
            for file, text in leaking.items():
                # Compiled files are told apart by size and whole seconds, so these must be others than before.
                _write(file, text, times[file] + 10)
            yield
        finally:
            for file, text in sound.items():
                _write(file, text, times[file])

    def test(self, tests: Sequence[str], *, keep_compiled: bool = False) -> tuple[int, str]:
        """Run tests until one fails; give pytest's exit code and its summary."""
        shutil.rmtree(self._scratch, ignore_errors=True)
        options = ["-q", "-x", "--tb=line", "-p", "no:cacheprovider", f"--basetemp={self._scratch}", *_ALONE]
        command = [sys.executable, "-m", "pytest", *options, "--hypothesis-seed=0", *tests]
        environment = self._environment() | ({} if keep_compiled else {"PYTHONDONTWRITEBYTECODE": "1"})
        try:
            ran = subprocess.run(
                command,
                cwd=self._folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=_LONGEST_RUN,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return -1, f"The tests took longer than {_LONGEST_RUN:g} seconds."
        return ran.returncode, f"{ran.stdout}\n{ran.stderr}"

    def check_imports(self) -> None:
        """Make sure that the copy is tested and not the source. Raises Unprovable."""
        told = subprocess.run(
            [sys.executable, "-c", "import vault_ask; print(vault_ask.__file__)"],
            cwd=self._folder,
            env=self._environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if not told.stdout.startswith(str(self._folder)):
            raise Unprovable(f"The copy is not what Python imports: {told.stdout.strip() or told.stderr.strip()}.")

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("VAULTASK_")}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        ours = {"PYTHONPATH": os.pathsep.join((str(self._folder / "daemon"), str(self._folder / "tests")))}
        return kept | ours | {"COLUMNS": "1000"}  # pytest cuts its summary to the terminal's width


def _write(file: Path, text: str, modified: float) -> None:
    file.write_text(text, encoding="utf-8")
    os.utime(file, (modified, modified))


def judged(leak: Leak, code: int, said: str, seconds: float) -> Verdict:
    """Tell from a run of its tests whether a leak was noticed."""
    finding = _FINDING.search(said)
    why = (finding and finding["why"]) or ""
    if code == _PASSED:
        return Verdict(name=leak.name, killed=False, test=None, why="no test noticed", seconds=seconds)
    if code != _FAILED or finding is None:
        last = said.strip().rpartition("\n")[2]
        return Verdict(name=leak.name, killed=False, test=None, why=f"the tests did not run: {last}", seconds=seconds)
    killed = not why.startswith(_BROKEN)
    return Verdict(name=leak.name, killed=killed, test=finding["test"], why=why, seconds=seconds)


def prove(leaks: Sequence[Leak], root: Path, jobs: int, tell: "Teller") -> list[Verdict]:
    """Run every leak's tests with it and without it. Raises Unprovable."""
    _check_fit(leaks, root)
    with tempfile.TemporaryDirectory(prefix="prove-gate-") as folder, ThreadPoolExecutor(jobs) as threads:
        copies = [Copy(root, Path(folder, str(number))) for number in range(jobs)]
        copies[0].check_imports()
        _check_green(copies, leaks, threads, tell)
        free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            free.put(copy)

        def prove_one(leak: Leak) -> Verdict:
            copy, started = free.get(), time.monotonic()
            try:
                with copy.leaking(leak):
                    code, said = copy.test(leak.tests)
            finally:
                free.put(copy)
            return judged(leak, code, said, time.monotonic() - started)

        verdicts = []
        for verdict in threads.map(prove_one, leaks):
            tell.verdict(verdict)
            verdicts.append(verdict)
        return verdicts


def _check_fit(leaks: Sequence[Leak], root: Path) -> None:
    """Raise Unprovable that names every leak which fits the source no more."""
    misfits = []
    for leak in leaks:
        try:
            leak.applied(root)
        except Unprovable as error:
            misfits.append(str(error))
    if misfits:
        raise Unprovable("\n".join(misfits))


def _check_green(copies: Sequence[Copy], leaks: Sequence[Leak], threads: ThreadPoolExecutor, tell: "Teller") -> None:
    """Run all the tests once, shared out among the copies, which are compiled on the way. Raises Unprovable."""
    tests = tuple(dict.fromkeys(test for leak in leaks for test in leak.tests))
    started = time.monotonic()
    for code, said in threads.map(_test_green, copies, _shares(tests, len(copies))):
        if code != _PASSED:
            finding = _FINDING.search(said)
            raise Unprovable(
                f"Without any leak {finding['test'] if finding else 'the tests'} should pass and did not, so nothing "
                f"can be shown:\n{said.strip()[-2000:]}"
            )
    tell.line(f"{len(tests)} selections of tests pass without a leak, in {time.monotonic() - started:.0f} s")


def _test_green(copy: Copy, tests: Sequence[str]) -> tuple[int, str]:
    return copy.test(tests, keep_compiled=True)


def _shares(tests: Sequence[str], number: int) -> list[list[str]]:
    """Divide tests by their files, in order; no share is empty, for pytest would take that for everything."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    shares = ({*files[start::number]} for start in range(min(number, len(files))))
    return [[test for test in tests if test.partition("::")[0] in share] for share in shares]


class Teller:
    """Prints progress: sentences, or one JSON object a verdict."""

    def __init__(self, total: int, *, as_json: bool) -> None:
        self._total = total
        self._done = 0
        self._as_json = as_json

    def line(self, text: str) -> None:
        """Tell something that is no verdict; on standard error beside JSON."""
        print(text, file=sys.stderr if self._as_json else sys.stdout, flush=True)

    def verdict(self, verdict: Verdict) -> None:
        """Tell what became of one more leak."""
        self._done += 1
        if self._as_json:
            print(json.dumps(asdict(verdict), ensure_ascii=False), flush=True)
            return
        word = "killed  " if verdict.killed else "SURVIVED"
        print(f"{self._done:3}/{self._total} {word} {verdict.seconds:5.1f} s  {verdict.name}", flush=True)
        print(f"        {f'{verdict.test}: ' if verdict.test else ''}{verdict.why[:160]}", flush=True)


def chosen(leaks: Sequence[Leak], only: str | None, sample: int | None, seed: int) -> tuple[Leak, ...]:
    """Choose leaks by a word of their name, and of those a sample that is the same for the same seed."""
    fitting = [leak for leak in leaks if (only or "").casefold() in leak.name.casefold()]
    if sample is None or sample >= len(fitting):
        return tuple(fitting)
    # Sampled by name, so that neither the order of the files nor a leak more shuffles the whole.
    return tuple(sorted(fitting, key=lambda leak: random.Random(f"{seed} {leak.name}").random())[:sample])  # noqa: S311


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; give its exit code."""
    options = _options(arguments)
    try:
        leaks = chosen(read_leaks(options.leaks), options.only, options.sample, options.seed)
        if options.list:
            print(*(leak.name for leak in leaks), sep="\n")
            return 0
        if not leaks:
            raise Unprovable("No leak has that in its name; --list shows them.")  # noqa: TRY301 - told like the rest
        verdicts = prove(leaks, ROOT, options.jobs, Teller(len(leaks), as_json=options.json))
    except Unprovable as error:
        print(error, file=sys.stderr)
        return 2
    killed = sum(verdict.killed for verdict in verdicts)
    print(f"killed {killed} of {len(verdicts)}")
    return 0 if killed == len(verdicts) else 1


def _options(arguments: Sequence[str] | None) -> Any:  # noqa: ANN401 - argparse's own namespace
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sample", type=int, metavar="N", help="try N leaks only")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="which ones of a sample")
    parser.add_argument("--only", metavar="TEXT", help="try those with this in their name")
    parser.add_argument("--list", action="store_true", help="show the names and end")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="copies that are tested at the same time")
    parser.add_argument("--json", action="store_true", help="print one JSON object a leak")
    parser.add_argument("--leaks", type=Path, default=LEAKS, metavar="FOLDER", help="read other leaks")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
