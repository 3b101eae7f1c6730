"""Does the vault speak of the question at all? Decided from retrieval's calibrated signals, never from a fused score.

MODELS.md measured that the sum of centred cosine and idf-coverage separates questions about another vault's subjects
almost perfectly (AUC .967 to .999), and that a near miss inside the vault's subject cannot be told this way.
"""

from dataclasses import dataclass

from vault_ask.retrieval.hits import Retrieved, S


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Below these the vault is silent.

    Calibrated on questions of four packs asked of their own vault and of each other's (docs/measurements.md): the aim
    is to refuse at most one answerable question in twenty.
    """

    closeness_and_coverage: float = 0.40
    """Where question and best passage share a language: the sum of both signals."""
    closeness_alone: float = 0.24
    """Where they do not, so that no coverage can be expected, this closeness is enough."""
    coverage_alone: float = 0.3
    """Where every hit came by words alone, so that no closeness is known."""


DEFAULT = Thresholds()

_BESIDE_A_NAME = 0.5
"""Text that scores at least this share of an empty note's name is asked for as well: stubs are common."""


def is_silent(retrieved: Retrieved[S], thresholds: Thresholds = DEFAULT) -> bool:
    """Tell whether the vault says nothing on the question, so that an answer could only be made up."""
    if not retrieved.hits or _is_a_mere_name(retrieved):
        return True
    if all(hit.provenance == "text" for hit in retrieved.hits) and not retrieved.closeness:
        return retrieved.coverage < thresholds.coverage_alone
    far = retrieved.closeness + retrieved.coverage < thresholds.closeness_and_coverage
    if retrieved.language in {retrieved.hits[0].language, "und"}:
        return far
    return far and retrieved.closeness < thresholds.closeness_alone


def _is_a_mere_name(retrieved: Retrieved[S]) -> bool:
    """Tell whether what fits is the name of an empty note, far before any text."""
    best = retrieved.hits[0]
    if best.body.strip():
        return False
    text = max((hit.score for hit in retrieved.hits if hit.body.strip()), default=None)
    return text is None or text < _BESIDE_A_NAME * best.score
