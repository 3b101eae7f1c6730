"""scripts/prove_gate.py: every leak still fits the source, and a sample of them is killed."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "prove_gate.py"
SAMPLE = ("--sample", "5", "--seed", "147")
"""Leaks of five kinds that are quick to try; which ones they are is told by `--list`."""

HARMLESS, BROKEN, NAMELESS = "harmless", "not to be imported", "a name that is not there"
QUICK = "tests/retrieval/test_fusion.py::test_the_constant_of_the_baseline_is_that_of_its_paper"
LINE, INSIDE = "RRF_K = 60", "return parts"


@pytest.fixture(scope="module")
def prove_gate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prove_gate", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["prove_gate"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def proved(*options: str, timeout: float = 110) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *options], capture_output=True, text=True, timeout=timeout, check=False
    )


def leak(name: str, before: str, after: str, test: str = QUICK) -> str:
    file = "daemon/vault_ask/retrieval/fusion.py"
    return f"[[leak]]\nname = '{name}'\nfile = '{file}'\nbefore = '{before}'\nafter = '{after}'\ntests = ['{test}']\n"


def test_every_leak_fits_the_source_compiles_and_names_tests_that_are_there(prove_gate: ModuleType) -> None:
    leaks = prove_gate.read_leaks()
    assert len(leaks) >= 40
    for each in leaks:
        for file, text in each.applied(ROOT).items():
            if file.suffix == ".py":
                compile(text, str(file), "exec")
        for test in each.tests:
            file, *names = test.split("::")
            source = (ROOT / file).read_text(encoding="utf-8")
            assert [name for name in names if not re.search(rf"(?:def|class) {name}\b", source)] == [], test


@pytest.mark.timeout(300)
def test_a_sample_of_the_leaks_is_killed() -> None:
    ran = proved(*SAMPLE, timeout=290)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.splitlines()[-1] == "killed 5 of 5"
    assert ran.stdout.count("::test_") >= 5
    assert proved(*SAMPLE, "--list").stdout == proved(*SAMPLE, "--list").stdout != proved("--list").stdout


def test_what_no_test_notices_and_what_only_breaks_the_program_are_not_killed(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        leak(HARMLESS, LINE, f"{LINE}  # as it was")
        + leak(BROKEN, LINE, f"{LINE}; import no_such_module")
        + leak(NAMELESS, INSIDE, "return no_such_name")
        + leak("nothing found", INSIDE, "return {}")
    )
    ran = proved("--leaks", str(tmp_path), "--json")
    told = {verdict["name"]: verdict for verdict in map(json.loads, ran.stdout.splitlines()[:-1])}
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (1, "killed 1 of 4"), ran.stderr
    assert [name for name, verdict in told.items() if verdict["killed"]] == ["nothing found"]
    assert told[HARMLESS]["why"] == "no test noticed"
    assert told[BROKEN]["why"].startswith("the tests did not run")
    assert told[NAMELESS]["why"].startswith("NameError")


@pytest.mark.parametrize(
    ("own", "words"),
    [
        (leak("moved on", "no such line", ""), "The leak “moved on” fits 0 places of"),
        (leak("red", LINE, "RRF_K = 1", "tests/retrieval/no_such_file.py"), "should pass and did not"),
        ("[[leak]]\nname = 'half'\ntests = []\n", "is not written as the other leaks are"),
    ],
    ids=["fits no more", "red without a leak", "half a leak"],
)
def test_where_nothing_can_be_shown_it_says_why(tmp_path: Path, own: str, words: str) -> None:
    (tmp_path / "own.toml").write_text(own)
    ran = proved("--leaks", str(tmp_path), "--jobs", "1")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert words in ran.stderr


def test_leaks_are_chosen_by_a_word_of_their_name(prove_gate: ModuleType) -> None:
    assert proved("--list", "--only", "SECURE_delete").stdout.count("\n") == 1
    assert proved("--only", "no leak is called that").returncode == 2
    leaks = prove_gate.read_leaks()
    assert len(prove_gate.chosen(leaks, None, 7, 1)) == 7
    assert set(prove_gate.chosen(leaks, None, 7, 1)) != set(prove_gate.chosen(leaks, None, 7, 2))
