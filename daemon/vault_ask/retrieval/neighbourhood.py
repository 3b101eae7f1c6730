"""The notes one hop away from a note: what it links to, what links to it, and what shares something rare with it.

That is a tag, a topic, or a name that the passage which was found says.

A topic note lists others: one in `topics.paths`, one with a marked region of links (`<!-- begin:clippings -->`), or a
map of content, most of whose text is links. Knows nothing of scores.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal

import regex

from vault_ask.index.reading.links import EdgeView
from vault_ask.index.reading.text import Passage
from vault_ask.index.view import VaultView
from vault_ask.notes.fold import fold
from vault_ask.notes.model import LinkKind
from vault_ask.retrieval.kin import RARE, kin_of
from vault_ask.retrieval.query import Query
from vault_ask.scope import S

MOST = 64
"""Notes one hop away that are looked at besides those that were found anyway; links in the found passage first."""

MAP_LINKS, MAP_TOKENS_A_LINK = 5, 24
"""A note of at least so many links, with no more text for each of them, is a map of content."""

WITH_KIN = 2
"""Kin is looked for of so many passages, the first; of more it found nothing on the packs, and it takes its time."""

SHORT_NAME = 3
"""A name this short stands in any text."""

_REGION = regex.compile(r"<!--\s*begin:[^>]*-->(.*?)(?:<!--\s*end:|\Z)", regex.DOTALL)


@dataclass(frozen=True, slots=True)
class Hop:
    """A step to a note: along a link, against one, to one that shares a rare tag or topic, or to kin (see kin.py).

    `inline` tells that the passage that was found has the link, `named` that it says that note's name, `mutual` that
    the other note has a link back. `kinship` is the BM25 of the rare names in common, whatever kind of hop it is.
    """

    path: str
    kind: Literal["link", "back", "mate", "kin"]
    inline: bool = False
    named: bool = False
    mutual: bool = False
    kinship: float = 0.0


class Neighbourhood(Generic[S]):
    """What lies around some notes, the likeliest first, read for all of them at once."""

    def __init__(
        self, view: VaultView[S], passages: Sequence[Passage[S]], query: Query, *, is_topic: Callable[[str], bool]
    ) -> None:
        self._view: VaultView[S] = view
        self._is_topic = is_topic
        paths = [passage.path for passage in passages]
        self._linked = _grouped(view.links.edges_from(*paths), lambda edge: edge.source)
        self._linking = _grouped(view.links.edges_to(*paths), lambda edge: edge.target_path)
        self._kin = kin_of(view, passages[:WITH_KIN], query)
        self._mates: dict[int, list[str]] = {}
        for note, path in view.links.mates([passage.note for passage in passages], RARE):
            self._mates.setdefault(note, []).append(path)

    def hops_from(self, passage: Passage[S], found: Collection[str]) -> list[Hop]:
        """List the hops from the note of a passage, each note once; to notes that were not found at most MOST."""
        linked: list[EdgeView] = self._linked.get(passage.path, [])
        linking: list[EdgeView] = self._linking.get(passage.path, [])
        along: list[Hop] = _along(passage, linked, {edge.source for edge in linking})
        kin: dict[str, float] = self._kin.get(passage.path, {})
        hops: dict[str, Hop] = {}
        for hop in (*along, *_against(linking), *self._to_mates(passage, linking), *(Hop(each, "kin") for each in kin)):
            if hop.path != passage.path and hop.path not in hops:
                hops[hop.path] = replace(hop, kinship=kin.get(hop.path, 0.0))
        new = [hop for hop in hops.values() if hop.path not in found]
        return [hop for hop in hops.values() if hop.path in found] + new[:MOST]

    def _to_mates(self, passage: Passage[S], linking: list[EdgeView]) -> Iterator[Hop]:
        for path in self._mates.get(passage.note, ()):
            yield Hop(path, "mate")
        sources = list(dict.fromkeys(edge.source for edge in linking))[:RARE]
        for topic, (links, tokens) in self._view.links.shares(sources, least=MAP_LINKS).items():
            whole = self._is_topic(topic) or tokens <= links * MAP_TOKENS_A_LINK
            listed = _members(self._view, topic, whole=whole)
            if passage.path in listed and len(listed) <= RARE:
                yield from (Hop(path, "mate") for path in listed)


def _grouped(edges: Iterable[EdgeView], of: Callable[[EdgeView], str | None]) -> dict[str, list[EdgeView]]:
    grouped: dict[str, list[EdgeView]] = {}
    for edge in edges:
        note = of(edge)
        if edge.kind != LinkKind.TAG and edge.target_path is not None and note is not None:
            grouped.setdefault(note, []).append(edge)
    return grouped


def _along(passage: Passage[S], edges: list[EdgeView], linking: Collection[str]) -> list[Hop]:
    """Follow links, those of the found passage first."""
    text = fold(passage.body)
    hops = [
        Hop(
            str(edge.target_path),
            "link",
            inline=passage.line_start <= edge.line <= passage.line_end,
            named=_is_named(str(edge.target_path), text),
            mutual=edge.target_path in linking,
        )
        for edge in edges
    ]
    return sorted(hops, key=lambda hop: not (hop.inline or hop.named))


def _is_named(path: str, text: str) -> bool:
    name = fold(path.rpartition("/")[2].removesuffix(".md"))
    return len(name) > SHORT_NAME and name in text


def _against(edges: list[EdgeView]) -> list[Hop]:
    return [Hop(edge.source, "back") for edge in edges]


def _members(view: VaultView[S], topic: str, *, whole: bool) -> list[str]:
    """List the notes of a topic: all that it links to, or those of its marked regions; none where it is no topic."""
    regions = None if whole else list(_regions(view, topic))
    linked = (
        edge.target_path
        for edge in view.links.edges_from(topic)
        if edge.kind != LinkKind.TAG and (regions is None or any(first <= edge.line <= last for first, last in regions))
    )
    return list(dict.fromkeys(path for path in linked if path is not None))


def _regions(view: VaultView[S], topic: str) -> Iterator[tuple[int, int]]:
    """Give the first and the last line of each marked region; one that is not closed ends with its passage."""
    note = view.notes.note(topic)
    for text in view.text.held(note.id, *view.text.extent(note.id)) if note else ():
        for region in _REGION.finditer(text.body):
            first, last = (text.line_start + text.body.count("\n", 0, at) for at in region.span())
            yield first, last
