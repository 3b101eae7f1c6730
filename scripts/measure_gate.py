#!/usr/bin/env python3
"""Tries the gate: random vaults with canaries in their personal notes, random requests through every door.

Each example is a vault that two daemons index, one with its personal notes and one without; both get the same requests.
Counted by door: what was heard, where a canary is forbidden and how many were there, what was compared with the house
without personal notes and how often it differed, and how often whole-vault statistics moved an answer, which they may.
This is the test tests/gate/test_doors.py at length: a canary, a difference or a door that breaks ends it with 1.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from measuring import ROOT, Table, machine, show

sys.path.append(str(ROOT / "tests"))
from gate.said import Finding, Tally
from gate.trying import Example, try_many

EXAMPLES = 3_000
SHOWN = 3
SHOWN_CHARACTERS = 2_000
PORTION = 50
"""Examples a process tries in one go, of a seed of their own."""


def main() -> int:
    """Try what was asked for and print what became of it."""
    arguments = _arguments()
    started = time.monotonic()
    tally = _tried(arguments.examples, arguments.seed, arguments.processes)
    seconds = time.monotonic() - started
    if arguments.json:
        print(json.dumps(_figures(tally, arguments.seed, seconds), ensure_ascii=False))
    else:
        print(show([_table(tally, arguments.seed, seconds)], markdown=arguments.markdown))
    return 1 if tally.findings else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=_positive, default=EXAMPLES, help="vaults to try (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another number, other vaults (%(default)s)")
    parser.add_argument("--processes", type=_positive, default=os.cpu_count() or 1, help="at a time (%(default)s)")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--markdown", action="store_true", help="print the table for docs/measurements.md")
    return parser.parse_args()


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it has to be 1 or more")
    return number


def _tried(examples: int, seed: int, processes: int) -> Tally:
    portions = [min(PORTION, examples - done) for done in range(0, examples, PORTION)]
    numbers = [seed * 1_000_000 + at for at in range(len(portions))]
    tally = Tally()
    if processes == 1:
        done: Iterable[Tally] = map(_portion, portions, numbers)
    else:
        # Begun anew and not forked: what is tried starts threads.
        pool = ProcessPoolExecutor(min(processes, len(portions)), mp_context=get_context("spawn"))
        done = pool.map(_portion, portions, numbers)
    for at, part in enumerate(done, start=1):
        tally.include(part)
        if at % 4 == 0:
            print(f"{tally.examples} examples, {len(tally.findings)} findings", file=sys.stderr)
    return tally


def _portion(count: int, seed: int) -> Tally:
    tally = Tally()
    try_many(count, seed, tally, each=_tell)
    return tally


def _tell(example: Example, findings: Sequence[Finding]) -> None:
    """Show the first things that must not be, with the example, which can be pasted into a test."""
    for finding in findings[:SHOWN]:
        print(f"{finding.kind} at {finding.door}: {finding.said[:SHOWN_CHARACTERS]}\n{example!r}", file=sys.stderr)


def _table(tally: Tally, seed: int, seconds: float) -> Table:
    found = {kind: Counter(one.door for one in tally.findings if one.kind == kind) for kind in _kinds(tally)}
    rows = [
        (
            door,
            f"{tally.heard[door]:,}",
            f"{tally.forbidden[door]:,}",
            f"{found['canary'][door]:,}",
            f"{tally.compared[door]:,}" if tally.compared[door] else "",
            f"{found['difference'][door]:,}" if tally.compared[door] else "",
            f"{tally.moved[door]:,}" if tally.moved[door] else "",
        )
        for door in sorted(tally.heard)
    ]
    head = ("door", "heard", "canaries forbidden", "canaries found", "compared", "different", "moved by statistics")
    pace = f"{seconds / 60:.0f} min, {tally.examples / seconds:.1f} a second"
    tried = f"{tally.examples:,} vaults of seed {seed} ({pace}), {tally.requests:,} requests to each of the two houses"
    return Table(f"{tried}: {_told(found)}", head, rows)


def _told(found: Mapping[str, Counter[str]]) -> str:
    return ", ".join(f"{kind}: {doors.total()}" for kind, doors in sorted(found.items()))


def _kinds(tally: Tally) -> set[str]:
    return {"canary", "difference", *(one.kind for one in tally.findings)}


def _figures(tally: Tally, seed: int, seconds: float) -> dict[str, object]:
    doors = {
        door: {
            "heard": tally.heard[door],
            "forbidden": tally.forbidden[door],
            "compared": tally.compared[door],
            "moved": tally.moved[door],
            "findings": Counter(one.kind for one in tally.findings if one.door == door),
        }
        for door in sorted(tally.heard)
    }
    return {
        "machine": machine(),
        "seed": seed,
        "seconds": round(seconds, 1),
        "examples": tally.examples,
        "requests": tally.requests,
        "canaries": sum(one.kind == "canary" for one in tally.findings),
        "differences": sum(one.kind == "difference" for one in tally.findings),
        "findings": len(tally.findings),
        "doors": doors,
    }


if __name__ == "__main__":
    sys.exit(main())
