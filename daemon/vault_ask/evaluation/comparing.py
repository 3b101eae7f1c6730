"""What a run is compared with: results that were written before, or another configuration over the same questions."""

from collections.abc import Callable, Sequence
from pathlib import Path

from vault_ask.composition.library import Library
from vault_ask.composition.parts import make_embedder
from vault_ask.errors import BadRequest
from vault_ask.evaluation.clock import AsIfThen
from vault_ask.evaluation.questions import Asked
from vault_ask.evaluation.running import Results, rank_all, read_rankings
from vault_ask.index.embedding import Embedder
from vault_ask.settings import Settings

_OF_THE_INDEX = ("provider", "model", "query_prefix", "passage_prefix", "centring")
"""Settings of the embedding that what is stored follows; the others only say how it is asked."""


def rank_against(
    library: Library, asked: Sequence[Asked], arm: str, *, against: Path, load: Callable[[Path], Settings]
) -> Results:
    """Rank by another configuration, a YAML file that `load` reads, or read results.

    Raises BadRequest for a file that is neither, and for a configuration that would need an index of its own.
    """
    if against.suffix.lower() not in {".yaml", ".yml"}:
        return read_rankings(against, asked)
    other = _over_the_same_index(library.settings, load(against))
    clock = AsIfThen(other.time.tzinfo)
    return rank_all(Library(other, _embedder(library, other), clock=clock), asked, arm, clock)


def _over_the_same_index(ours: Settings, other: Settings) -> Settings:
    """Let two configurations that share an index share what it follows; else reading it would change it."""
    if ours.data.resolve() != other.data.resolve():
        return other
    differing = [
        f"embedding.{name}" for name in _OF_THE_INDEX if getattr(ours.embedding, name) != getattr(other.embedding, name)
    ]
    differing += ["chunks"] if ours.chunks != other.chunks else []
    if differing:
        raise BadRequest(
            f"The two configurations differ in {', '.join(differing)}, which an index is built by, and both name the "
            "same index. Give the other one a `data` folder of its own, run `vault-ask index` with it, and compare "
            "without --data."
        )
    return other.model_copy(update={"sensitivity": ours.sensitivity, "vault": ours.vault})


def _embedder(library: Library, other: Settings) -> Embedder | None:
    """Ask the same embedder where it is the same one, so that questions are embedded once; none where ours has none."""
    if library.embedder is None or library.settings.embedding == other.embedding:
        return library.embedder
    return make_embedder(other)
