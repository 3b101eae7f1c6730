"""Finds the notes near a note: those it links with, either way, and those that speak of the same.

No model is asked: what a note is about is the mean of its own passages' vectors, as stored. Runs in a worker thread,
on a view that decides what there is to be found; a link to what is not in sight leads nowhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal

import numpy as np

from vault_ask.errors import NoSuchNote
from vault_ask.index.embedding import Vector
from vault_ask.index.reading.notes import NoteView
from vault_ask.index.reading.text import Passage
from vault_ask.index.statistics import unit
from vault_ask.index.view import VaultView
from vault_ask.notes.model import LinkKind
from vault_ask.retrieval.fusion import reciprocal_rank_fusion
from vault_ask.scope import S

Because = Literal["link", "backlink", "meaning"]

NO_SUCH_NOTE = (
    "No note at this path can be shown. Check its spelling, folders and ending included; a note that was written just "
    "now is there once it has been read."
)
"""What is said of a note that is absent and of one that is not visible, which are the same thing."""

DEPTH = 50
"""Notes ranked by meaning: as many as anybody may ask for, so that asking for fewer gives the first of them."""

REACH = 400
"""Passages that are looked at for them at a time."""

ROUNDS = 3
"""How often more are looked at where few long notes hold them all."""

MOST_LINKED = 500
"""Notes at the other end of links that are ranked, either way."""

NEAR = 0.25
"""Centred cosine from which a passage speaks of what a note is about. Tried with e5-small: every note of four vaults
has another that reaches it; where links follow the subject 68 and 84 % of the linked do, 11 and 2 % of the others."""

_NO_VECTORS = "Found by links alone: no passage has its vector yet. See `vault-ask status`."
_NONE_OF_ITS_OWN = "Found by links alone: this note has no vectors yet, so nothing is near it by meaning."


@dataclass(frozen=True, slots=True, kw_only=True)
class Near(Generic[S]):
    """A note near another one, with its passage that comes nearest."""

    passage: Passage[S]
    because: tuple[Because, ...]
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Related(Generic[S]):
    """The notes near a note, nearest first; `notices` tell what could not take part."""

    note: NoteView
    near: tuple[Near[S], ...]
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Best:
    """The passage of a note that comes nearest."""

    chunk: int
    cosine: float


@dataclass(frozen=True, slots=True)
class _Links:
    """Notes at the other end of links, by path, with the line of the first such link in the note that has it."""

    out: Mapping[str, int]
    back: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Meaning:
    """The nearest passage of each linked note that has one, and of each note that is near by meaning, nearest first."""

    linked: Mapping[str, _Best] = field(default_factory=dict)
    near: Mapping[str, _Best] = field(default_factory=dict)
    notice: str | None = None

    def best(self, path: str) -> _Best | None:
        return self.linked.get(path) or self.near.get(path)


def find_related(view: VaultView[S], path: str, *, k: int) -> Related[S]:
    """Find at most `k` notes near a note, nearest first; never the note itself. Raises NoSuchNote."""
    note = view.notes.note(path)
    if note is None:
        raise NoSuchNote(NO_SUCH_NOTE)
    links = _links(view, note.path)
    meaning = _meaning(view, note, links)
    parts = reciprocal_rank_fusion(
        {
            "link": _ranked(links.out, meaning),
            "backlink": _ranked(links.back, meaning),
            "meaning": list(meaning.near),
        }
    )
    first = sorted(parts, key=lambda other: (-sum(parts[other].values()), other))[:k]
    chunks = {other: _passage_of(view, other, links, meaning) for other in first}
    passages = view.text.passages([chunk for chunk in chunks.values() if chunk is not None])
    return Related(
        note=note,
        near=tuple(
            Near(passage=passages[chunk], because=_because(parts[other]), score=sum(parts[other].values()))
            for other, chunk in chunks.items()
            if chunk in passages
        ),
        notices=(meaning.notice,) if meaning.notice else (),
    )


def _links(view: VaultView[S], path: str) -> _Links:
    out: dict[str, int] = {}
    back: dict[str, int] = {}
    for edge in view.links.edges_from(path):
        if edge.kind != LinkKind.TAG and edge.target_path not in {None, path}:
            out.setdefault(str(edge.target_path), edge.line)
    for edge in view.links.edges_to(path):
        if edge.kind != LinkKind.TAG and edge.source != path:
            back.setdefault(edge.source, edge.line)
    return _Links(_first(out), _first(back))


def _first(links: Mapping[str, int]) -> dict[str, int]:
    return dict(list(links.items())[:MOST_LINKED])


def _meaning(view: VaultView[S], note: NoteView, links: _Links) -> _Meaning:
    if view.vectors.space is None:
        return _Meaning(notice=_NO_VECTORS)
    about = _about(view, note)
    if about is None:
        return _Meaning(notice=_NONE_OF_ITS_OWN)
    linked = list(dict.fromkeys((*links.out, *links.back)))
    ranked = view.vectors.nearest(about, REACH, notes=linked) if linked else []
    return _Meaning(_best_of_each(view, ranked), _near(view, note.path, about))


def _about(view: VaultView[S], note: NoteView) -> Vector | None:
    """Give what a note is about: the mean of its passages, however long it is; None where none has a vector."""
    own = view.vectors.centred_of(note.id)
    mean: Vector = own.sum(axis=0)
    return unit(mean) if np.any(mean) else None


def _near(view: VaultView[S], path: str, about: Vector) -> dict[str, _Best]:
    """Find the notes that are near by meaning; one that is long takes no place of another."""
    found: dict[str, _Best] = {}
    for _ in range(ROUNDS):
        ranked = view.vectors.nearest_besides(about, REACH, (path, *found))
        found |= _best_of_each(view, [(chunk, cosine) for chunk, cosine in ranked if cosine >= NEAR])
        if len(found) >= DEPTH or len(ranked) < REACH or ranked[-1][1] < NEAR:
            break
    return dict(list(found.items())[:DEPTH])


def _best_of_each(view: VaultView[S], ranked: list[tuple[int, float]]) -> dict[str, _Best]:
    best: dict[str, _Best] = {}
    paths = view.chunks.paths_of([chunk for chunk, _ in ranked])
    for chunk, cosine in ranked:
        best.setdefault(paths[chunk], _Best(chunk, cosine))
    return best


def _ranked(links: Mapping[str, int], meaning: _Meaning) -> list[str]:
    """Order linked notes by how near they come, and those of which nobody can tell by where the link stands."""

    def key(path: str) -> tuple[float, int, str]:
        best = meaning.best(path)
        return (-best.cosine if best else np.inf, links[path], path)

    return sorted(links, key=key)


def _passage_of(view: VaultView[S], path: str, links: _Links, meaning: _Meaning) -> int | None:
    """Choose what to show of a note: its nearest passage, else the one with the link, else its first."""
    best = meaning.best(path)
    return best.chunk if best else view.chunks.at_line(path, links.back.get(path, 0))


def _because(parts: Mapping[str, float]) -> tuple[Because, ...]:
    reasons: tuple[Because, ...] = ("link", "backlink", "meaning")
    return tuple(reason for reason in reasons if reason in parts)
