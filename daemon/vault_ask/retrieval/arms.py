"""The arms of a search: what is near a question in meaning, and what holds its words.

Each is asked in the whole vault, inside the note in question and its neighbours, and among the passages of the time
that is named. An arm that cannot take part says so. Knows nothing of scores.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal

import structlog

from vault_ask.errors import IndexDamaged, IndexFailed, ModelError
from vault_ask.index.embedding import Embedder
from vault_ask.index.view import VaultView
from vault_ask.index.within import Within
from vault_ask.retrieval.about import NOTHING, About, Found, Inside, look_around
from vault_ask.retrieval.nearness import Asked
from vault_ask.retrieval.query import Query
from vault_ask.retrieval.words import is_wordless
from vault_ask.scope import S

log = structlog.get_logger()

Arm = Literal["hybrid", "vector", "text"]

BM25_REACH = 2_000
"""The word arm is read this deep, to know the BM25 of what the vectors and links found; depth costs it nothing."""

PREFERRED_K = 20
"""Passages of the time that is named, or with such tasks, are searched for by themselves: so many from each arm."""

_NO_VECTORS = "Found by words alone: no passage has its vector yet. See `vault-ask status`."
_OTHER_SPACE = (
    "Found by words alone: the index holds vectors of another embedding model. Run `vault-ask index --rebuild` to "
    "search by meaning again."
)
_NOT_WEIGHED = "One arm alone weighs neither the time nor the tasks that the question names; a hybrid search does."
_NO_WORD_INDEX = "The word index could not be searched, so these hits were found by meaning alone."


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What the arms brought, best first: by meaning as (chunk, cosine), by words as (chunk, bm25).

    `near` and `worded` are of the whole vault, `near_preferred` and `worded_preferred` of those that are preferred,
    `about` of the note in question. `asked` is None where the vectors took no part. `deep` is the word arm as far as it
    was read.
    """

    asked: Asked | None
    near: Found
    worded: Found
    deep: Found
    near_preferred: Found
    worded_preferred: Found
    about: About | None
    notices: tuple[str, ...]

    @property
    def around(self) -> About:
        """What is around the note in question, or around none."""
        return self.about or NOTHING

    @property
    def chunks(self) -> list[int]:
        """All chunks that come into question, each once."""
        found = (self.near, self.worded, self.near_preferred, self.worded_preferred)
        by_arms = [chunk for ranked in found for chunk, _ in ranked]
        return list(dict.fromkeys((*by_arms, *self.around.chunks)))

    @property
    def cosines(self) -> dict[int, float]:
        """The cosines that are known."""
        return dict(self.near_preferred) | dict(self.around.cosines) | dict(self.near)

    @property
    def bm25(self) -> dict[int, float]:
        """The BM25 that is known; a chunk that is not listed holds no word, or little of them."""
        return dict(self.worded_preferred) | dict(self.around.bm25) | dict(self.deep)


class Arms(Generic[S]):
    """The arms for one question, of which either may be left out."""

    def __init__(
        self, view: VaultView[S], query: Query, embedder: Embedder | None, arm: Arm, *, vector_k: int, text_k: int
    ) -> None:
        self._view: VaultView[S] = view
        self._query = query
        self._arm = arm
        self._vector_k = vector_k
        self._text_k = text_k
        self._notices: list[str] = []
        self._asked = None if arm == "text" else self._question(embedder)

    def gather(self, note: str | None) -> Gathered:
        """Ask both arms; `note` is the path of the note in question."""
        preferred = self._query.preferred if self._arm == "hybrid" else None
        if self._arm != "hybrid" and (self._query.preferred or self._query.when.order in ("latest", "earliest")):
            self._notices.append(_NOT_WEIGHED)
        near = self._near(self._vector_k, within=self._query.within)
        deep = self._worded(within=self._query.within)
        about = self._fitting(look_around(self._view, note, Inside(self._near_in, self._worded_in)))
        return Gathered(
            asked=self._asked,
            near=near,
            worded=deep[: self._text_k],
            deep=deep,
            near_preferred=self._near(PREFERRED_K, within=preferred) if preferred else [],
            worded_preferred=self._worded(within=preferred)[:PREFERRED_K] if preferred else [],
            about=about,
            notices=tuple(dict.fromkeys(self._notices)),
        )

    def _fitting(self, about: About | None) -> About | None:
        """Keep of the note in question, and of what is around it, what fits the filters."""
        if about is None or not self._query.within:
            return about
        chunks = self._view.filters.fitting(about.chunks, self._query.within)
        return replace(about, chunks=tuple(chunks), outline=tuple(one for one in about.outline if one in chunks))

    def _question(self, embedder: Embedder | None) -> Asked | None:
        if embedder is None or is_wordless(self._query.text):
            return None
        if self._view.vectors.space is None:
            self._notices.append(_NO_VECTORS)
            return None
        try:
            if self._view.vectors.space != embedder.space.fingerprint:
                self._notices.append(_OTHER_SPACE)
                return None
            raw = embedder.embed_query(self._query.text)
        except ModelError as error:
            self._notices.append(f"Found by words alone: {error}")
            return None
        centred = self._view.vectors.centring().centre_question(raw, self._query.language)
        return Asked(raw, centred, self._query.language)

    def _near(self, k: int, *, notes: Sequence[str] | None = None, within: Within) -> Found:
        if self._asked is None:
            return []
        return self._view.vectors.nearest(self._asked.centred, k, notes=notes, within=within)

    def _worded(self, *, notes: Sequence[str] | None = None, within: Within) -> Found:
        query = self._query.words.query
        if self._arm == "vector" or not query:
            return []
        try:
            return self._view.words.matching(query, max(BM25_REACH, self._text_k), notes=notes, within=within)
        except IndexDamaged:
            raise
        except IndexFailed as error:
            log.error("word search failed", sentence=str(error))
            self._notices.append(_NO_WORD_INDEX)
            return []

    def _near_in(self, notes: Sequence[str]) -> Found:
        return self._near(self._vector_k, notes=notes, within=self._query.within)

    def _worded_in(self, notes: Sequence[str]) -> Found:
        return self._worded(notes=notes, within=self._query.within)[: self._text_k]
