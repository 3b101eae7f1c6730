"""Programs that must not type-check: each marked line is the error it says, and nothing else is one."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mypy import api

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LEAKS = sorted((HERE / "leaks").glob("*.py"))
MARK = re.compile(r"# error: (?P<code>[a-z-]+)$")
REPORT = re.compile(r"^(?P<file>.+?):(?P<line>\d+): error: .*\[(?P<code>[a-z-]+)\]$")

Finding = tuple[str, int, str]


def expected() -> Iterator[Finding]:
    for file in LEAKS:
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
            if found := MARK.search(line):
                yield file.name, number, found["code"]


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def reported(monkeypatch_module: pytest.MonkeyPatch) -> tuple[set[Finding], str]:
    monkeypatch_module.chdir(ROOT)  # where pyproject.toml and the cache of `mypy --strict daemon` lie
    output, problems, _status = api.run(["--strict", *map(str, LEAKS)])
    reports = (REPORT.match(line) for line in output.splitlines() if "typing/leaks/" in line)
    return {(Path(one["file"]).name, int(one["line"]), one["code"]) for one in reports if one}, output + problems


@pytest.mark.timeout(300)
def test_every_leak_is_an_error_and_nothing_else_is(reported: tuple[set[Finding], str]) -> None:
    found, output = reported
    assert found == set(expected()), output


def test_the_leaks_are_many() -> None:
    assert len(list(expected())) > 10
