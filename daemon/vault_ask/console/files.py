"""How files of the vault are listed and handed on."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from vault_ask.console.wording import counted, escaped

if TYPE_CHECKING:  # for annotations alone: it pulls in the index, half a second that `--help` should not pay
    from vault_ask.inspecting import Held


SHA256 = 64


def print_files(files: Iterable["Held"], *, as_json: bool, at_once: bool) -> None:
    """Print a line for each file of the vault as it comes: for programs one JSON object, in UTF-8 whatever the locale.

    `at_once` hands each line on by itself, for a list that comes slowly; a person always gets it so. How many there
    were goes to standard error, so that standard output is the list and nothing else, in a terminal as in a pipe.
    """
    encoding = "utf-8" if as_json else sys.stdout.encoding
    at_once = at_once or sys.stdout.isatty()
    states: Counter[str] = Counter()
    for file in files:
        line = _json_line(file) if as_json else _file_line(file)
        sys.stdout.buffer.write(f"{line}\n".encode(encoding, "replace"))
        if at_once:
            sys.stdout.buffer.flush()
        states[file.holding.state] += 1
    sys.stdout.buffer.flush()
    if not as_json:
        click.echo(_files_counted(states), err=True)


def print_left_out(left_out: Sequence[str]) -> None:
    """Tell which files and folders a list could not hold, and why."""
    for one in left_out:
        click.echo(f"Left out: {one}", err=True)


def print_bytes(content: bytes) -> None:
    """Hand a file on, byte by byte as it is."""
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def _json_line(file: "Held") -> str:
    holding = file.holding
    line = {
        "path": holding.path,
        "bytes": holding.size,
        "sha256": file.sha256,
        "rev": holding.revision,
        "state": holding.state,
        "problem": holding.problem,
    }
    return escaped(json.dumps(line, ensure_ascii=False))


def _file_line(file: "Held") -> str:
    holding = file.holding
    size = "-" if holding.size is None else str(holding.size)
    fingerprint = f"  {file.sha256 or '-':{SHA256}}" if file.hashed else ""
    problem = f": {holding.problem}" if holding.problem else ""
    state = "" if holding.state == "ok" else f"  ({holding.state}{problem})"
    return escaped(f"{size:>11}{fingerprint}  {holding.path}{state}")


def _files_counted(states: Counter[str]) -> str:
    others = [f"{count} {state}" for state, count in sorted(states.items()) if state != "ok"]
    return f"{counted(states.total(), 'file')}{', of them ' if others else ''}{', '.join(others)}."
