"""How the status is printed."""

from collections.abc import Iterator
from datetime import UTC, datetime

import click

from vault_ask.console.wording import counted, duration
from vault_ask.wire import Freshness, GenerationStatus, StatusResponse, VaultStatus, WebStatus


def print_status(status: StatusResponse, *, as_json: bool) -> None:
    """Print how the index stands."""
    if as_json:
        click.echo(status.model_dump_json(indent=2))
        return
    _row("Vault", f"{status.vault.name}: {counted(status.notes, 'note')}, {counted(status.chunks, 'chunk')}")
    for line in _source(status.vault):
        _row("Source", line)
    _row("Indexed", status.last_indexed or "never")
    _row("Embedding", _embedding(status))
    _row("Answers", _answers(status.generation))
    for offer in status.generation.offered:
        _row("", f"{offer} is available; set models.generation to use it")
    if status.reranker:
        _row("Reranking", f"{status.reranker.name} ({_where(is_local=status.reranker.local)})")
    _row("Web", _web(status.web))
    for pattern, count in status.rules.items():
        _row("Personal", f"{pattern}: {counted(count, 'note')}")
    rebuild = (status.embedding.rebuild_needed,) if status.embedding.rebuild_needed else ()
    for warning in (*rebuild, *status.warnings):
        click.echo(f"Warning: {warning}")
    if status.problem_count:
        click.echo(f"{counted(status.problem_count, 'problem')} in notes:")
    for problem in status.problems:
        line = f":{problem.line}" if problem.line else ""
        click.echo(f"  {problem.path}{line} {problem.code}: {problem.message}")


def _row(label: str, text: str) -> None:
    click.echo(f"{label:10} {text}")


def _source(vault: VaultStatus) -> Iterator[str]:
    """Tell where the notes come from and how fresh they are; of a folder only what is out of the ordinary."""
    waiting = vault.freshness.waiting
    if vault.kind == "couchdb":
        yield "LiveSync CouchDB" + (f", {vault.mode}: {_behind(vault.freshness)}" if vault.mode != "unfollowed" else "")
        if vault.mode == "unfollowed":
            yield vault.message
    if vault.mode in {"waiting", "stand-in"}:
        yield vault.message
    if waiting:
        yield f"{counted(waiting, 'note waits', 'notes wait')} for pieces that have not arrived"


def _behind(freshness: Freshness) -> str:
    if freshness.lag is None:
        said = "not known how far behind"
    else:
        said = f"{counted(freshness.lag, 'change')} behind" if freshness.lag else "up to date"
    if freshness.last_change_seen is None:
        return said
    ago = (datetime.now(UTC) - datetime.fromisoformat(freshness.last_change_seen)).total_seconds()
    return f"{said}; last change {duration(max(0.0, ago))} ago"


def _embedding(status: StatusResponse) -> str:
    embedding = status.embedding
    waiting = (
        f"{counted(embedding.waiting, 'note')} waiting for vectors" if embedding.waiting else "every note embedded"
    )
    return f"{embedding.model}, {waiting}"


def _answers(generation: GenerationStatus) -> str:
    if generation.generator == "extractive":
        return "extractive (quotes from the notes)"
    return f"{generation.generator} ({_where(is_local=generation.local)})"


def _where(*, is_local: bool) -> str:
    return "on your machines" if is_local else "remote"


def _web(web: WebStatus) -> str:
    if not web.enabled:
        return "off"
    how = "is asked, a server of your own" if web.keeps_question_home else "is sent the question"
    return f"where open notes say little, {web.provider} {how}"
