"""How the daemon is doing, whole or in short. Names of notes are told only to a view that sees personal notes.

What the source and the work tell counts every note, personal ones too. A reader with an open ceiling is told of it only
what would be the same if there were no personal notes: that the vault is followed, or cannot be read, or is being read
for the first time.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime

from vault_ask import __version__
from vault_ask.index.reading.state import Counts, StoredTrouble
from vault_ask.index.view import Index, VaultView
from vault_ask.ingest.backlog import BacklogState
from vault_ask.ingest.idle import NO_GLOBS, Globs, matches, warnings
from vault_ask.ingest.progress import Phase, Snapshot
from vault_ask.notes.sensitivity import Rules
from vault_ask.scope import OpenScope, PrivateScope, Sensitivity
from vault_ask.sources.port import SourceState
from vault_ask.wire import (
    EmbeddingStatus,
    Freshness,
    GenerationStatus,
    IndexEvent,
    IndexProgress,
    NoteProblem,
    RerankerStatus,
    StatusResponse,
    VaultStatus,
    WebStatus,
)

MOST_PROBLEMS = 100
_OPEN_MESSAGES = {
    "watching": "Changes are noticed as they happen.",
    "polling": "Changes are looked for now and then.",
    "stand-in": "A copy of the vault is followed in place of its CouchDB, which cannot be read.",
    "waiting": "The vault cannot be read just now.",
    "unfollowed": "This command only looked at the index.",
}
"""What an open ceiling is told instead of the source's own sentence, which counts files and names places."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is going on between the vault and the index. `caught_up`: the whole vault was compared since the start."""

    source: SourceState
    progress: Snapshot
    caught_up: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Running(Work):
    """What only the running process knows; a command beside it passes what it can tell."""

    vault_name: str
    backlog: BacklogState
    retry_in: float | None
    model: str
    generation: GenerationStatus
    web: WebStatus
    reranker: RerankerStatus | None = None
    warnings: tuple[str, ...] = ()


def describe(
    index: Index, rules: Rules, running: Running, ceiling: Sensitivity, globs: Globs = NO_GLOBS
) -> StatusResponse:
    """Describe the index in use as a reader with this ceiling sees it. Raises NoIndex."""
    owner = ceiling is Sensitivity.PERSONAL
    with _opened(index, ceiling) as view:
        counts = view.state.counts()
        # The view holds none under an open ceiling.
        troubles = view.state.troubles()
        indexed = set(view.notes.paths()) if troubles else set()
        problems = [
            *(_of_the_source(trouble, is_indexed=trouble.path in indexed) for trouble in troubles),
            *(NoteProblem(path=p.path, code=p.code, message=p.message, line=p.line) for p in view.state.problems()),
            *(_without_vector(path, count) for path, count in view.state.without_vector()),
        ]
        matched = matches(view, rules) if owner else {}
        idle = warnings(view, matched, globs) if owner else ()
        centring = view.vectors.centring()
        # Where the model's own means do not decide it, the vectors of all notes do.
        centred = centring.active if owner else centring.by_model
        dimension = view.vectors.dimension
    # That the embedder is away shows only where something waits for it; to others nothing waits but what they see.
    waits = owner or counts.waiting_notes > 0
    return StatusResponse(
        version=__version__,
        vault=_vault(running, counts, troubles, ceiling),
        notes=counts.notes,
        chunks=counts.chunks,
        last_indexed=counts.last_indexed,
        progress=_progress(running, counts, ceiling),
        embedding=EmbeddingStatus(
            model=running.model,
            dimension=dimension,
            ready=running.backlog.ready or not waits,
            waiting=counts.waiting_notes,
            last_error=running.backlog.last_error if waits else None,
            next_try_seconds=running.retry_in if waits else None,
            centred=centred,
            rebuild_needed=running.backlog.rebuild_needed,
        ),
        generation=running.generation,
        reranker=running.reranker,
        web=running.web,
        problems=tuple(problems[:MOST_PROBLEMS]) if owner else (),
        problem_count=len(problems),
        rules=matched,
        warnings=(*running.warnings, *idle),
    )


def index_event(index: Index, work: Work, ceiling: Sensitivity) -> IndexEvent:
    """Describe the index in use in short, as a reader with this ceiling sees it. Raises NoIndex."""
    with _opened(index, ceiling) as view:
        counts = view.state.counts()
    return IndexEvent(
        progress=_progress(work, counts, ceiling),
        freshness=_freshness(work.source, counts, ceiling),
        notes=counts.notes,
        chunks=counts.chunks,
        waiting=counts.waiting_notes,
        last_indexed=counts.last_indexed,
        mode=work.source.mode,
        message=_message(work.source, ceiling),
    )


def versions(index: Index, seen: Sensitivity) -> dict[str, int]:
    """Give a number for the version of each note that may be seen, by path. Raises NoIndex."""
    with _opened(index, seen) as view:
        return view.notes.versions()


def _opened(
    index: Index, ceiling: Sensitivity
) -> AbstractContextManager[VaultView[PrivateScope]] | AbstractContextManager[VaultView[OpenScope]]:
    if ceiling is Sensitivity.PERSONAL:
        return index.open(PrivateScope())
    return index.open(OpenScope(web_allowed=False))


def _vault(running: Running, counts: Counts, troubles: Sequence[StoredTrouble], ceiling: Sensitivity) -> VaultStatus:
    freshness = _freshness(running.source, counts, ceiling)
    # A command beside the daemon has no source to ask; the troubles that the index remembers tell it.
    remembered = sum(trouble.code == "incomplete" for trouble in troubles)
    freshness = freshness.model_copy(update={"waiting": max(freshness.waiting, remembered)})
    return VaultStatus(
        name=running.vault_name,
        kind=running.source.kind,
        mode=running.source.mode,
        message=_message(running.source, ceiling),
        freshness=freshness,
    )


def _freshness(source: SourceState, counts: Counts, ceiling: Sensitivity) -> Freshness:
    if ceiling is not Sensitivity.PERSONAL:
        return Freshness(lag=None, last_change_seen=None, last_change_indexed=counts.last_indexed, waiting=0)
    seen = source.last_change
    return Freshness(
        lag=source.lag,
        last_change_seen=None if seen is None else datetime.fromtimestamp(seen, UTC).isoformat(timespec="seconds"),
        last_change_indexed=counts.last_indexed,
        waiting=source.waiting,
    )


def _message(source: SourceState, ceiling: Sensitivity) -> str:
    if ceiling is Sensitivity.PERSONAL:
        return source.message
    return _OPEN_MESSAGES.get(source.mode, "The vault is not followed just now.")


def _of_the_source(trouble: StoredTrouble, *, is_indexed: bool) -> NoteProblem:
    reason = trouble.reason
    match trouble.code:
        case "incomplete" if is_indexed:
            message = (
                f"Its newest version is not whole yet: {reason}. The version before it is kept, and it is tried again."
            )
        case "incomplete":
            message = f"It is not whole yet, and not in the index before it is: {reason}. It is tried again."
        case "conflict":
            message = f"{reason[:1].upper()}{reason[1:]}. Resolve it in Obsidian."
        case "size":
            message = f"{reason[:1].upper()}{reason[1:]}. It is indexed as it is."
        case _:
            message = f"Not indexed: {reason}."
    return NoteProblem(path=trouble.path, code=trouble.code, message=message, line=None)


def _without_vector(path: str, count: int) -> NoteProblem:
    message = f"The embedder could not take {count} of its passages, which are found by their words alone."
    return NoteProblem(path=path, code="no-vector", message=message, line=None)


def _progress(work: Work, counts: Counts, ceiling: Sensitivity) -> IndexProgress:
    if ceiling is not Sensitivity.PERSONAL:
        return IndexProgress(phase=_open_phase(work, counts), done=0, total=0, rate=0, seconds_left=None)
    snapshot = work.progress
    return IndexProgress(
        phase=snapshot.phase,
        done=snapshot.done,
        total=snapshot.total,
        rate=snapshot.rate,
        seconds_left=snapshot.seconds_left,
    )


def _open_phase(work: Work, counts: Counts) -> Phase:
    """Tell a phase that a change to a personal note does not move."""
    if work.progress.phase in {"rebuilding", "failed"}:
        return work.progress.phase
    if work.source.mode == "waiting":
        return "waiting"
    if not work.caught_up:
        return "indexing"
    return "embedding" if counts.waiting_notes else "idle"
