"""How the figures of a file of questions are printed."""

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:  # for annotations alone, as what is imported late: it pulls in the index
    from vault_ask.evaluation.report import Report


def print_evaluation(found: "Report", *, as_json: bool, verbose: bool) -> None:
    """Print what a file of questions showed."""
    from vault_ask.evaluation.report import as_json as report_json  # noqa: PLC0415 - late, as for annotations
    from vault_ask.evaluation.telling import tell  # noqa: PLC0415

    if as_json:
        click.echo(json.dumps(report_json(found), ensure_ascii=False))
    else:
        click.echo(tell(found, verbose=verbose))
