#!/usr/bin/env python3
"""Measures how long a search takes once its question is embedded: the wall's time and the processor's.

The questions of a pack are asked of its index with the defaults of config.yaml, then with links out of use, and made-up
ones of made-up indexes of other sizes, whose vectors are random. The vector of each question is made beforehand. Every
round asks all questions, one after the other in one thread; the first round is not counted.

Prints a table, or one JSON object with --json. A target that is missed is told and is no failure.
"""

import argparse
import cProfile
import json
import pstats
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from measuring import ROOT, Table, Target, machine, show, verdict
from question_packs import Bench, Pack, add_options, opened, say
from synthetic_vault import Randomly, SyntheticVault
from vault_ask.composition.library import Library
from vault_ask.evaluation.remembering import Remembering
from vault_ask.scope import PrivateScope
from vault_ask.settings.loading import load_settings

MEDIAN, SLOW = Target(value=15, at_most=True), Target(value=40, at_most=True)
"""Milliseconds, of the median and of the 95th in a hundred."""
PACK = "multihop-wiki"
SYNTHETIC = (10_000,)
QUESTIONS = 100
WITHOUT_LINKS = {"graph": {"enabled": False}}


@dataclass(frozen=True, slots=True)
class Times:
    """How long searches took, in milliseconds: half of them less than the median, a twentieth more than `slow`."""

    chunks: int
    searches: int
    median: float
    slow: float
    cpu_median: float
    cpu_slow: float


def main() -> int:
    """Measure what was asked for and print it."""
    arguments = _arguments()
    if arguments.only is None:
        arguments.only = [PACK]
    with opened(arguments) as (bench, packs):
        measured = {name: found for pack in packs for name, found in _of_pack(bench, pack, arguments)}
    measured |= {f"made up, {size:,} chunks": _of_synthetic(size, arguments.rounds) for size in arguments.synthetic}
    if arguments.json:
        print(json.dumps({"machine": machine(), "ms": {name: asdict(found) for name, found in measured.items()}}))
    else:
        print(show([_table(measured)], markdown=arguments.markdown))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--rounds", type=int, default=3, help="how often each question is asked (%(default)s)")
    parser.add_argument(
        "--synthetic", type=int, nargs="*", default=SYNTHETIC, metavar="CHUNKS", help="sizes of made-up indexes (10000)"
    )
    parser.add_argument("--profile", action="store_true", help="print what the time goes into, to standard error")
    return parser.parse_args()


def _of_pack(bench: Bench, pack: Pack, arguments: argparse.Namespace) -> Iterator[tuple[str, Times]]:
    questions = [question["question"] for question in pack.asked]
    yield pack.name, _timed(bench.library(pack), questions, arguments.rounds)
    yield f"{pack.name}, links off", _timed(bench.library(pack, WITHOUT_LINKS), questions, arguments.rounds)
    if arguments.profile:
        _profile(bench.library(pack), questions)


def _of_synthetic(chunks: int, rounds: int) -> Times:
    say(f"making an index of {chunks:,} chunks")
    vault = SyntheticVault(chunks)
    with tempfile.TemporaryDirectory() as temporary:
        vault.build(Path(temporary))
        settings = load_settings(config=ROOT / "config.yaml", overrides={"data": Path(temporary)})
        library = Library(settings, Remembering(Randomly()))
        return _timed(library, list(vault.questions(QUESTIONS)), rounds)


def _timed(library: Library, questions: Sequence[str], rounds: int) -> Times:
    say(f"{library.settings.data.name}: {len(questions)} questions, {rounds} rounds")
    for question in questions:
        library.retrieve(question, scope=PrivateScope())
    spent = np.array([_search(library, question) for _ in range(rounds) for question in questions]) * 1_000
    with library.open_view(PrivateScope()) as view:
        chunks = view.words.tallies().chunks
    library.close()
    (median, cpu_median), (slow, cpu_slow) = np.percentile(spent, (50, 95), axis=0)
    return Times(chunks, len(spent), float(median), float(slow), float(cpu_median), float(cpu_slow))


def _search(library: Library, question: str) -> tuple[float, float]:
    wall, processor = time.perf_counter(), time.process_time()
    library.retrieve(question, scope=PrivateScope())
    return time.perf_counter() - wall, time.process_time() - processor


def _profile(library: Library, questions: Sequence[str]) -> None:
    with cProfile.Profile() as profile:
        for question in questions:
            library.retrieve(question, scope=PrivateScope())
    pstats.Stats(profile, stream=sys.stderr).sort_stats("cumulative").print_stats("vault_ask", 30)
    library.close()


def _table(measured: Mapping[str, Times]) -> Table:
    head = ["index", "chunks", "searches", f"median ms ({MEDIAN})", "reached", f"95 % ms ({SLOW})", "reached", "CPU ms"]
    return Table("A search, its question embedded", head, [[name, *_row(found)] for name, found in measured.items()])


def _row(found: Times) -> list[Any]:
    return [
        f"{found.chunks:,}",
        f"{found.searches:,}",
        f"{found.median:.1f}",
        verdict(MEDIAN, found.median),
        f"{found.slow:.1f}",
        verdict(SLOW, found.slow),
        f"{found.cpu_median:.1f} / {found.cpu_slow:.1f}",
    ]


if __name__ == "__main__":
    sys.exit(main())
