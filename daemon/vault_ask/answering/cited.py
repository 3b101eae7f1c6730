"""Which excerpt a link or a marker of an answer means."""

from collections.abc import Sequence
from urllib.parse import parse_qs, unquote, urlsplit

import regex

from vault_ask.answering.context import Excerpt
from vault_ask.notes.fold import fold
from vault_ask.notes.links import choose, link_key, wikilink
from vault_ask.notes.model import Link, LinkKind

_LONGEST_RANGE = 12


class CitedNotes:
    """The excerpts by number and by the names a model may call their notes."""

    def __init__(self, excerpts: Sequence[Excerpt]) -> None:
        self.numbers = frozenset(excerpt.n for excerpt in excerpts)
        self._excerpts = excerpts

    def find(self, link: Link) -> int | None:
        """Give the number of the excerpt a link means: under its heading where there is one, else the note's first."""
        key = link_key(link.target)
        path = choose(link.target, "", [e.path for e in self._excerpts if link_key(e.path) == key])
        titled = (e.path for e in self._excerpts if fold(e.title) == fold(link.target).strip())
        path = path or next(titled, None)
        ours = [excerpt for excerpt in self._excerpts if excerpt.path == path]
        heading = fold(link.heading or "").rpartition("#")[2].strip()
        under = [e for e in ours if any(fold(h) == heading for h in e.heading_path)]
        return next((excerpt.n for excerpt in (*under, *ours)), None)


def numbers_of(label: str) -> list[int]:
    """List the numbers of a marker; `2-4` is a range."""
    first: list[int] = []
    for sign, digits in regex.findall(r"([–-]?)\s*[^\d–-]*(\d{1,3})", label.partition("†")[0]):
        n = int(digits)
        if sign and first and first[-1] < n <= first[-1] + _LONGEST_RANGE:
            first.extend(range(first[-1] + 1, n))
        first.append(n)
    return first


def link_of_address(address: str) -> Link | None:
    """Read the note that an obsidian:// address names."""
    query = parse_qs(urlsplit(address).query, keep_blank_values=True)
    file = (query.get("file") or query.get("path") or [""])[0]
    return wikilink(file or unquote(address.rpartition("/")[2]), LinkKind.WIKILINK, 0)
