"""One hop along links: what a note that was found says is in another one.

A reader who finds a note that nearly answers follows one of its links, or looks for a name that it says. So each of the
best notes hands a part of the probability that it is what was asked for to the notes one hop away, shared among them by
how well each of them fits the question itself, how much it holds of what is still missing, and how the link stands
there. A note that nothing else speaks for takes part only so far. What links add to a note's score is by how much its
log odds grow that way, so that scores stay sums of parts. Knows nothing of places and quotas.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from vault_ask.index.view import VaultView
from vault_ask.retrieval.candidates import Candidate
from vault_ask.retrieval.examining import Examiner
from vault_ask.retrieval.fusion import Hops, Model, saturated
from vault_ask.retrieval.neighbourhood import Hop, Neighbourhood
from vault_ask.retrieval.query import Query
from vault_ask.scope import S

SOURCES = 5
"""How many of the best notes are left by a hop."""

NEGLIGIBLE = 0.04
"""A note less likely than this to be what was asked for leads nowhere worth a look."""

SHORTLIST = 8
"""Of the notes one hop away from a note so many are read, the most promising."""

LOGIT = 30.0
"""Logits are cut here: beyond it a share is all or nothing."""


@dataclass(frozen=True, slots=True)
class End(Generic[S]):
    """A note one hop away from another, by its best passage, with what is known of the hop and of it."""

    candidate: Candidate[S]
    known: Mapping[str, float]

    @property
    def path(self) -> str:
        """The note's path."""
        return self.candidate.passage.path


class Expansion(Generic[S]):
    """Follows links from the candidates of one question. `make` scores chunks that were read, as expanded ones."""

    def __init__(
        self,
        view: VaultView[S],
        examiner: Examiner[S],
        model: Model,
        make: Callable[[Sequence[int]], list[Candidate[S]]],
        query: Query,
        *,
        is_topic: Callable[[str], bool],
    ) -> None:
        self._view: VaultView[S] = view
        self._examiner: Examiner[S] = examiner
        self._model = model
        self._make: Callable[[Sequence[int]], list[Candidate[S]]] = make
        self._query = query
        self._is_topic = is_topic

    def expand(self, direct: Sequence[Candidate[S]]) -> list[Candidate[S]]:
        """Give the candidates with what links add to them, and those that only a link led to."""
        best = best_of_each(direct)
        odds = Odds(best, self._model.temperature)
        found = dict(best)
        handed: dict[str, dict[str, float]] = {}
        for source, ends in self.ways(best, odds):
            shares = shared([end.known for end in ends], self._model.hops)
            for end, share in zip(ends, shares, strict=True):
                found.setdefault(end.path, end.candidate)
                handed.setdefault(end.path, {})[source] = odds.of(best[source]) * share
        raised = {path: self._raised(found[path], given, odds) for path, given in handed.items()}
        kept = [raised.get(c.passage.path, c) if c is best[c.passage.path] else c for c in direct]
        led = [replace(raised[path], via=_first(given)) for path, given in handed.items() if path not in best]
        return kept + led

    def ways(self, best: Mapping[str, Candidate[S]], odds: "Odds[S]") -> list[tuple[str, list[End[S]]]]:
        """Give for each of the likeliest notes where its hops end."""
        likely = sorted(best, key=lambda path: -odds.of(best[path]))[:SOURCES]
        sources = [path for path in likely if odds.of(best[path]) >= NEGLIGIBLE]
        passages = [best[path].passage for path in sources]
        around = Neighbourhood(self._view, passages, self._query, is_topic=self._is_topic)
        hops = {path: around.hops_from(best[path].passage, best) for path in sources}
        found = {**self._led_to(hops.values(), best), **best}
        reached = {hop.path for listed in hops.values() for hop in listed if hop.path in found}
        degrees = self._view.links.degrees(sorted(reached))
        return [(source, self._ends(best[source], listed, found, degrees, odds)) for source, listed in hops.items()]

    def _ends(
        self,
        source: Candidate[S],
        hops: Sequence[Hop],
        found: Mapping[str, Candidate[S]],
        degrees: Mapping[str, int],
        odds: "Odds[S]",
    ) -> list[End[S]]:
        return [
            End(found[hop.path], self._known(source, found[hop.path], hop, degrees.get(hop.path, 0), odds))
            for hop in hops
            if hop.path in found and found[hop.path].speaks
        ]

    def _led_to(self, hops: Iterable[Sequence[Hop]], best: Mapping[str, Candidate[S]]) -> dict[str, Candidate[S]]:
        """Read the notes that nothing but a hop leads to, the most promising of each source; all at once."""
        fresh = [[hop.path for hop in listed if hop.path not in best] for listed in hops]
        chunks = self._best_chunks(sorted({path for paths in fresh for path in paths}))
        chosen: dict[int, None] = {}
        for paths in fresh:
            new = {chunks[path] for path in paths if path in chunks}.difference(chosen)
            promising = sorted(new, key=lambda chunk: (-self._promise(chunk), chunk))
            chosen.update(dict.fromkeys(promising[:SHORTLIST]))
        return {candidate.passage.path: candidate for candidate in self._make(self._examiner.read(list(chosen)))}

    def _best_chunks(self, paths: Sequence[str]) -> dict[str, int]:
        """Choose the chunk of each note that fits best by its vector and its words."""
        by_path = self._view.chunks.by_path(paths) if paths else {}
        chunks = self._fitting({chunk for listed in by_path.values() for chunk in listed})
        self._examiner.measure(sorted(chunks))
        kept = {path: chunks.intersection(listed) for path, listed in by_path.items()}
        return {path: max(of, key=self._promise) for path, of in kept.items() if of}

    def _fitting(self, chunks: set[int]) -> set[int]:
        within = self._query.within
        return set(self._view.filters.fitting(sorted(chunks), within)) if within else chunks

    def _promise(self, chunk: int) -> float:
        """Score a chunk before its text is read."""
        examiner, weights = self._examiner, self._model.weights
        words = weights["coverage"] * examiner.share(examiner.held(chunk), "und")
        return weights["vector"] * (examiner.z(chunk) or 0.0) + words

    def _known(
        self, source: Candidate[S], target: Candidate[S], hop: Hop, degree: int, odds: "Odds[S]"
    ) -> dict[str, float]:
        missing = self._examiner.held(target.chunk) - self._examiner.held(source.chunk)
        return {
            "near": target.evidence.z or 0.0,
            "behind": odds.top - target.score,
            "news": self._examiner.share(missing, target.passage.language),
            "inline": float(hop.inline),
            "named": float(hop.named),
            "mutual": float(hop.mutual),
            "back": float(hop.kind == "back"),
            "mate": float(hop.kind == "mate"),
            "kin": float(hop.kind == "kin"),
            "kinship": saturated(hop.kinship),
            "degree": math.log1p(degree),
        }

    def _raised(self, candidate: Candidate[S], handed: Mapping[str, float], odds: "Odds[S]") -> Candidate[S]:
        bonus = raise_by(odds.of(candidate), sum(handed.values()), self._model)
        return replace(candidate, parts={**candidate.parts, "links": bonus})


class Odds(Generic[S]):
    """How likely each note is what was asked for, by its best passage, if one of them is."""

    def __init__(self, best: Mapping[str, Candidate[S]], temperature: float) -> None:
        self._temperature = temperature
        self.top = max((candidate.score for candidate in best.values()), default=0.0)
        self._total = sum(map(self._weight, best.values())) or 1.0

    def of(self, candidate: Candidate[S]) -> float:
        """Give the probability of a candidate among the best of all notes that were found directly."""
        return self._weight(candidate) / self._total

    def _weight(self, candidate: Candidate[S]) -> float:
        return math.exp((candidate.score - self.top) / self._temperature)


def shared(ends: Sequence[Mapping[str, float]], hops: Hops) -> list[float]:
    """Share one among the ends of hops from a note; what is missing to one is the share of following none of them."""
    logits = [sum(hops.weights[name] * value for name, value in known.items()) for known in ends]
    weights = [math.exp(max(-LOGIT, min(LOGIT, logit))) for logit in logits]
    total = sum(weights) + math.exp(hops.nowhere)
    return [weight / total for weight in weights]


def raise_by(own: float, handed: float, model: Model) -> float:
    """Give what links add to a score: the growth of log odds, as a score."""
    follow = model.hops.share
    return model.temperature * math.log1p(follow / (1.0 - follow) * handed / max(own, 1e-12))


def best_of_each(candidates: Sequence[Candidate[S]]) -> dict[str, Candidate[S]]:
    """Give the best candidate of each note, by path."""
    best: dict[str, Candidate[S]] = {}
    for candidate in sorted(candidates, key=lambda candidate: (-candidate.score, candidate.chunk)):
        best.setdefault(candidate.passage.path, candidate)
    return best


def _first(given: Mapping[str, float]) -> str:
    """Name the note that handed most on."""
    return max(given, key=lambda source: (given[source], source))
