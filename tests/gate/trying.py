"""One example of the gate's property: the same requests to the same vault, with and without its personal notes."""

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from gate.all_doors import House
from gate.furniture import PERSONAL_PATHS
from gate.random_vaults import Request, Setup, Vault, examples
from gate.said import Finding, Heard, Tally, is_open, strays, typed

Example = tuple[Vault, Setup, tuple[Request, ...]]


@dataclass(frozen=True, slots=True)
class _Visit:
    """All that was heard in one house."""

    built: Heard
    answers: tuple[list[Heard], ...]
    view: Heard
    record: Heard


def try_example(example: Example, folder: Path, tally: Tally) -> list[Finding]:
    """Send the requests of an example through the doors of both houses, and count what was heard."""
    vault, setup, requests = example
    full, bare = (
        _visit(House(folder / name, vault, setup, with_personal=name == "full"), requests) for name in _HOUSES
    )
    found = list(_of_the_whole(full, bare, setup, requests))
    tally.examples += 1
    tally.findings += found
    for heard in (full.built, full.view, full.record):
        tally.heard[heard.door] += 1
        tally.forbidden[heard.door] += 1
        tally.compared[heard.door] += heard.permitted is not None
    for request, said, other in zip(requests, full.answers, bare.answers, strict=True):
        found += tally.add(request, setup, said, other)
    return found


_HOUSES = ("full", "bare")


def _visit(house: House, requests: Sequence[Request]) -> _Visit:
    with house.open():
        built = house.built()
        answers = tuple(house.hear(request) for request in requests)
        return _Visit(built, answers, house.index_seen(), house.record_read())


def _of_the_whole(full: _Visit, bare: _Visit, setup: Setup, requests: Sequence[Request]) -> Iterator[Finding]:
    if words := strays(full.built.text, " ".join(PERSONAL_PATHS)):
        yield Finding("log of indexing", "canary", f"{words} in {full.built.text}")
    if words := strays(full.view.text, ""):
        yield Finding(full.view.door, "canary", f"{words} in {full.view.text}")
    if full.view.permitted != bare.view.permitted:
        yield Finding(full.view.door, "difference", f"{full.view.permitted}\n  without:\n{bare.view.permitted}")
    own_words = " ".join(typed(request, full.record.door, setup) for request in requests)
    if all(is_open(request, setup) for request in requests) and (words := strays(full.record.text, own_words)):
        yield Finding(full.record.door, "canary", f"{words} in {full.record.text}")


def try_many(count: int, number: int, tally: Tally, *, each: Callable[[Example, list[Finding]], Any]) -> None:
    """Try so many examples of a seed one after another; `each` is told what was found in each of them."""
    home = Path(tempfile.mkdtemp(prefix="gate-"))

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(examples())
    def run(example: Example) -> None:
        with tempfile.TemporaryDirectory(dir=home) as folder:
            each(example, try_example(example, Path(folder), tally))

    try:
        run()
    finally:
        shutil.rmtree(home, ignore_errors=True)
