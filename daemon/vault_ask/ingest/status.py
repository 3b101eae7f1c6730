"""How the daemon is doing, as one message. Names of notes are told only to a view that sees personal notes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from vault_ask import __version__
from vault_ask.index.view import Index
from vault_ask.ingest.backlog import BacklogState
from vault_ask.ingest.progress import Snapshot
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import OpenScope, PrivateScope, Sensitivity
from vault_ask.sources.port import SourceState, Trouble
from vault_ask.wire import (
    EmbeddingStatus,
    GenerationStatus,
    IndexProgress,
    NoteProblem,
    StatusResponse,
    VaultStatus,
)

MOST_PROBLEMS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What only the running process knows; a command beside it passes what it can tell."""

    vault_name: str
    source: SourceState
    progress: Snapshot
    backlog: BacklogState
    retry_in: float | None
    model: str
    generation: GenerationStatus
    warnings: tuple[str, ...] = ()
    left_out: tuple[Trouble, ...] = ()


def describe(index: Index, rules: Rules, running: Running, ceiling: Sensitivity) -> StatusResponse:
    """Describe the index in use as a reader with this ceiling sees it. Raises NoIndex."""
    owner = ceiling is Sensitivity.PERSONAL
    with index.open(PrivateScope()) if owner else index.open(OpenScope(web_allowed=False)) as view:
        counts = view.counts()
        problems = [
            *(_left_out(trouble) for trouble in running.left_out if owner),
            *(NoteProblem(path=p.path, code=p.code, message=p.message, line=p.line) for p in view.problems()),
            *(_without_vector(path, count) for path, count in view.without_vector()),
        ]
        matched = _matches(view.resolved_paths(), rules) if owner else {}
        centred = view.centring().active
        dimension = view.dimension
    return StatusResponse(
        version=__version__,
        vault=VaultStatus(name=running.vault_name, mode=running.source.mode, message=running.source.message),
        notes=counts.notes,
        chunks=counts.chunks,
        last_indexed=counts.last_indexed,
        progress=_progress(running.progress),
        embedding=EmbeddingStatus(
            model=running.model,
            dimension=dimension,
            ready=running.backlog.ready,
            waiting=counts.waiting_notes,
            last_error=running.backlog.last_error,
            next_try_seconds=running.retry_in,
            centred=centred,
            rebuild_needed=running.backlog.rebuild_needed,
        ),
        generation=running.generation,
        problems=tuple(problems[:MOST_PROBLEMS]) if owner else (),
        problem_count=len(problems),
        rules=matched,
        warnings=(*running.warnings, *_idle_rules(matched)),
    )


def idle_rules(index: Index, rules: Rules) -> tuple[str, ...]:
    """Warn of personal patterns that match no note of the index in use. Raises NoIndex."""
    with index.open(PrivateScope()) as view:
        return _idle_rules(_matches(view.resolved_paths(), rules))


def _left_out(trouble: Trouble) -> NoteProblem:
    return NoteProblem(path=trouble.path, code="left-out", message=f"Not indexed: {trouble.reason}.", line=None)


def _without_vector(path: str, count: int) -> NoteProblem:
    message = f"The embedder could not take {count} of its passages, which are found by their words alone."
    return NoteProblem(path=path, code="no-vector", message=message, line=None)


def _progress(snapshot: Snapshot) -> IndexProgress:
    return IndexProgress(
        phase=snapshot.phase,
        done=snapshot.done,
        total=snapshot.total,
        rate=snapshot.rate,
        seconds_left=snapshot.seconds_left,
    )


def _matches(paths: Sequence[tuple[str, str]], rules: Rules) -> dict[str, int]:
    counted: Counter[str] = Counter(dict.fromkeys((pattern.written for pattern in rules.patterns), 0))
    for path, resolved in paths:
        counted.update({*rules.matches(path), *rules.matches(resolved)})
    return dict(counted)


def _idle_rules(matched: dict[str, int]) -> tuple[str, ...]:
    return tuple(
        f"The personal pattern {pattern!r} matches no note, so it protects nothing. Check its spelling."
        for pattern, count in matched.items()
        if count == 0
    )
