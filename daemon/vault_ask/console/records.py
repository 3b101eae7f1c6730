"""How the record of what was read is printed."""

from collections.abc import Iterator, Sequence

import click

from vault_ask.audit import Entry, Found
from vault_ask.console.files import print_bytes
from vault_ask.console.wording import SHOWN_PATHS, counted, escaped, snippet

_HASH_SHOWN = 13
_RECORD = "{:19}  {:6}  {:16}  {:21}  {}"


def print_audit(found: Found, *, as_json: bool) -> None:
    """Print records, the newest last: for programs one JSON object a line, in UTF-8 whatever the locale."""
    if as_json:
        for entry in found.entries:
            print_bytes(f"{escaped(entry.model_dump_json(exclude_unset=True))}\n".encode())
    elif found.entries:
        _print_records(found.entries)
    for remark in _left_out_of(found):
        click.echo(remark, err=True)


def _left_out_of(found: Found) -> Iterator[str]:
    if not found.entries:
        yield f"None of {counted(found.others, 'record')} fits." if found.others else "Nothing is recorded."
    if found.earlier:
        yield f"{counted(found.earlier, 'earlier record')} not shown; --last N shows more."
    if found.unreadable:
        which = "it" if found.unreadable == 1 else "them"
        yield f"{counted(found.unreadable, 'line')} passed over: no record can be read from {which}."


def _print_records(entries: Sequence[Entry]) -> None:
    """Print a table whose rows go on below: paths and questions have no width that a column could hold."""
    click.echo(_RECORD.format("When", "Door", "What", "Web", "Outcome"))
    for entry in entries:
        when, what = f"{entry.at.astimezone():%Y-%m-%d %H:%M:%S}", f"{entry.action}, {entry.scope}"
        outcome = f"{entry.outcome}, {entry.seconds:.1f} s"
        click.echo(escaped(_RECORD.format(when, entry.door, what, _asked_of_web(entry), outcome)))
        for line in _details(entry):
            click.echo(f"    {escaped(line)}")


def _asked_of_web(entry: Entry) -> str:
    if entry.web is None:
        return "not asked"
    pages = "no answer" if entry.web.results is None else counted(entry.web.results, "page")
    return f"{entry.web.provider}: {pages}"


def _details(entry: Entry) -> Iterator[str]:
    question = entry.question or ""
    asked = question[:_HASH_SHOWN] if question.startswith("hmac:") else snippet(question)
    if told := ", ".join(filter(None, (entry.model, entry.reranker, asked))):
        yield told
    yield from entry.notes[:SHOWN_PATHS]
    if len(entry.notes) > SHOWN_PATHS:
        yield f"… and {len(entry.notes) - SHOWN_PATHS} more; --json names them."
