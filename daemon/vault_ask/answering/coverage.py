"""Does the vault speak of the question at all? Decided from retrieval's calibrated signals, never from a fused score.

MODELS.md measured that the sum of centred cosine and idf-coverage separates questions about another vault's subjects
almost perfectly (AUC .967 to .999), and that a near miss inside the vault's subject cannot be told this way.
"""

from dataclasses import dataclass

from vault_ask.retrieval.hits import Retrieved, S


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Below these the vault is silent. To be calibrated with the retriever that makes the signals."""

    closeness_and_coverage: float = 0.45
    """Where the vectors took part: the sum of the centred cosine and the coverage."""
    coverage_alone: float = 0.3
    """Where every hit came by words alone, so that no closeness is known."""


DEFAULT = Thresholds()


def is_silent(retrieved: Retrieved[S], thresholds: Thresholds = DEFAULT) -> bool:
    """Tell whether the vault says nothing on the question, so that an answer could only be made up."""
    if not retrieved.hits:
        return True
    if all(hit.provenance == "text" for hit in retrieved.hits) and not retrieved.closeness:
        return retrieved.coverage < thresholds.coverage_alone
    return retrieved.closeness + retrieved.coverage < thresholds.closeness_and_coverage
