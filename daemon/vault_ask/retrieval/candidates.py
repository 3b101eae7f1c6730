"""A passage that may become a hit: what speaks for it, and how it was found."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic

from vault_ask.index.reading.text import Passage
from vault_ask.retrieval.fusion import Evidence
from vault_ask.retrieval.hits import Hit, Provenance
from vault_ask.scope import S

STANDS_OUT = 3.0
"""Standard deviations above the vault's mean from which the best passage of a short note counts as an answer."""
EACH_FOLD, FEW = 0.35, 20
"""What is added for each e-fold of the note's passages from so many on: among many some come near by chance.

Measured with e5-small on four packs: of 996 questions about a note as a whole, in nine languages (`summarise this
note`, `worum geht es hier?`), 983 stay below with the best passage of the note. So do 28 of 181 questions that the note
answers, 4 of them asked in another language; their best passages then share the note's places with its outline.
"""
STANDS_OUT_BY_WORDS = 0.5
"""The share of the question's rare words that does the same where no vector is known."""


@dataclass(frozen=True, slots=True)
class Candidate(Generic[S]):
    """A passage, the parts of its score, and the evidence they were made of."""

    passage: Passage[S]
    parts: Mapping[str, float]
    evidence: Evidence
    above_mean: float
    """Its cosine less the vault's mean cosine for this question; 0 without a vector."""
    provenance: Provenance
    via: str | None = None
    """The note that led to it; None where something else speaks for it too."""
    also: tuple[str, ...] = ()
    """Other notes that say the same."""
    score: float = field(init=False)
    """The sum of the parts."""

    def __post_init__(self) -> None:
        """Add the parts up once; candidates are compared by their scores again and again."""
        object.__setattr__(self, "score", sum(self.parts.values()))

    @property
    def chunk(self) -> int:
        """The passage's id."""
        return self.passage.chunk

    @property
    def speaks(self) -> bool:
        """Whether there is any text, and not a name alone."""
        return bool(self.passage.body.strip())

    def stands_out(self, among: int) -> bool:
        """Say whether it seems to answer the question, and is not just the nearest among so many passages."""
        if self.evidence.z is None:
            return self.evidence.coverage >= STANDS_OUT_BY_WORDS
        return self.evidence.z >= STANDS_OUT + EACH_FOLD * math.log(max(among, FEW) / FEW)


def hit_of(candidate: Candidate[S], note: str | None) -> Hit[S]:
    """Make a hit of a candidate; `note` is the path of the note in question."""
    passage = candidate.passage
    return Hit(
        chunk_id=passage.chunk,
        path=passage.path,
        title=passage.title,
        heading_path=passage.heading_path,
        block=passage.block,
        body=passage.body,
        line_start=passage.line_start,
        line_end=passage.line_end,
        tokens=passage.tokens,
        language=passage.language,
        sensitivity=passage.sensitivity,
        score=candidate.score,
        provenance=candidate.provenance,
        trace=dict(candidate.parts),
        via=candidate.via or (note if candidate.provenance == "expanded" else None),
        in_question=passage.path == note,
        also=candidate.also,
        of_properties=passage.of_properties,
    )
