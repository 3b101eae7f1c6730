"""What retrieval hands on: passages with their scores, and how sure it is that they answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal

from vault_ask.index.reading.text import Piece
from vault_ask.retrieval.nearness import Nearness
from vault_ask.retrieval.when import Order
from vault_ask.scope import S, Sensitivity

Provenance = Literal["vector", "text", "both", "expanded"]
"""How a chunk was found: by meaning, by words, by both, or by way of another note and by nothing else.

A passage of that note itself need not be found; for it this tells what speaks for it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Generic[S]):
    """A chunk that was found, in the scope it was found under. `body` is exactly the text of its lines.

    `via` is the note that led to it, None unless it was expanded; `in_question` tells that it is of the note that
    the question is about. `also` are other notes that say the same in the same words. `around` are chunks of its
    section, itself among them, in order; none where it was not widened. `of_properties` tells that it is of the note's
    properties, of which lines that say nothing are blank.
    """

    chunk_id: int
    path: str
    title: str
    heading_path: tuple[str, ...]
    block: str | None
    body: str
    line_start: int
    line_end: int
    tokens: int
    language: str
    sensitivity: Sensitivity
    score: float
    provenance: Provenance
    trace: Mapping[str, float] = field(default_factory=dict)
    via: str | None = None
    in_question: bool = False
    also: tuple[str, ...] = ()
    around: tuple[Piece, ...] = ()
    of_properties: bool = False


SEASON = 92
"""Days of three months."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understanding:
    """How a question was read beyond its words: what is left to search for, its filters as written, time and order.

    `days` are the first and the last day it names, as ordinals of `datetime.date`, `days_words` its words for them, and
    `order` is which of the notes are wanted, where it tells. `fits` tells whether any passage in sight
    fits the filters, whatever it says.
    """

    text: str
    filters: tuple[str, ...] = ()
    days: tuple[int, int] | None = None
    days_words: str = ""
    order: Order | None = None
    fits: bool = True

    @property
    def is_of_a_time(self) -> bool:
        """Whether it asks what was in a season at most, or at an end of time; a year is as often what a fact is of."""
        named = self.days is not None and self.days[1] - self.days[0] < SEASON
        return named or self.order in ("latest", "earliest")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved(Generic[S]):
    """The hits of one question, best first, and the signals that tell whether the vault speaks of it at all.

    `idf` maps each word of the question, folded, to its inverse document frequency in this vault (0 for words that
    are pruned as common). `closeness` and `coverage` are of the best passages: how far the cosine lies above the
    vault's mean for this question, and the share of the question's idf mass found in their text. `covered` is that
    share for whatever candidate holds most of it, `nearness` is None where vectors took no part, and `chunks` is how
    many passages there were to find. `notices` are sentences about arms that could not take part.

    `understood` is None where a question is its words and nothing else; `is_listing` tells that it says nothing beyond
    filters or a time, so that whatever fits answers it.

    `is_broad` tells that no passage of the note in question stands out, as where the question is about it as a whole
    (`summarise this note`). `given_to` names the reranker that was given passages, if any.
    """

    hits: tuple[Hit[S], ...]
    language: str
    idf: Mapping[str, float]
    closeness: float
    coverage: float
    covered: float = 0.0
    nearness: Nearness | None = None
    chunks: int = 0
    notices: tuple[str, ...] = ()
    is_broad: bool = False
    given_to: str | None = None
    understood: Understanding | None = None
    is_listing: bool = False
