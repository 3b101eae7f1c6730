"""The links between notes as a scope sees them: a hidden note neither links nor is linked to."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from vault_ask.index.links import look_up
from vault_ask.index.reading.reader import LISTED, Reader, listed
from vault_ask.notes.model import PROPERTIES, LinkKind


@dataclass(frozen=True, slots=True)
class EdgeView:
    """A link as stored: `source` and `target_path` are vault paths; no path where the target is absent or hidden."""

    source: str
    kind: str
    target: str
    target_path: str | None
    heading: str | None
    block: str | None
    alias: str | None
    line: int


class Links:
    """The links in sight."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def edges_from(self, *paths: str) -> list[EdgeView]:
        """List the links of notes, of each in order."""
        return self._edges(f"s.path IN {LISTED}", paths)

    def edges_to(self, *paths: str) -> list[EdgeView]:
        """List the links that mean one of some notes: of each note that has some to one, the first of each kind."""
        views = self._reader.views
        first: dict[tuple[str, str, str], EdgeView] = {}
        # By its names, of which there is an index: a link means a note by one of them.
        named = f"SELECT a.key FROM {views.names} AS a JOIN {views.notes} AS n ON n.id = a.note"
        for edge in self._edges(f"e.kind <> 'tag' AND e.key IN ({named} WHERE n.path IN {LISTED})", paths):
            if edge.target_path in paths:
                first.setdefault((edge.source, edge.kind, edge.target_path), edge)
        return list(first.values())

    def degrees(self, paths: Collection[str]) -> dict[str, int]:
        """Count the links of notes and those that may mean them by one of their names, by path."""
        edges, names = self._reader.views.edges, self._reader.views.names
        rows = self._reader.fetch(
            f"SELECT n.path, (SELECT count(*) FROM {edges} AS e WHERE e.src = n.id AND e.kind <> 'tag') + "
            f"(SELECT count(*) FROM {names} AS a JOIN {edges} AS e ON e.key = a.key AND e.kind <> 'tag' "
            f"WHERE a.note = n.id) FROM {self._reader.views.notes} AS n WHERE n.path IN {LISTED}",
            (listed(paths),),
        )
        return dict(rows)

    def mates(self, notes: Collection[int], rare: int) -> list[tuple[int, str]]:
        """Pair notes with the paths of others that share a tag or a named topic which at most `rare` notes have."""
        edges = self._reader.views.edges
        # Where none of them has any, that is told in a fiftieth of the time.
        has_any = f"SELECT 1 FROM {edges} WHERE src IN {LISTED} AND kind IN ('tag', 'topic') LIMIT 1"
        if not self._reader.fetch(has_any, (listed(notes),)):
            return []
        holders = f"SELECT 1 FROM {edges} AS h WHERE h.key = mine.key AND h.kind = mine.kind LIMIT ?"
        return self._reader.fetch(
            f"SELECT DISTINCT mine.src, n.path FROM {edges} AS mine JOIN {edges} AS other "
            "ON other.key = mine.key AND other.kind = mine.kind AND other.src <> mine.src "
            f"JOIN {self._reader.views.notes} AS n ON n.id = other.src "
            f"WHERE mine.src IN {LISTED} AND mine.kind IN ('tag', 'topic') "
            f"AND (SELECT count(*) FROM ({holders})) <= ? ORDER BY n.path",
            (listed(notes), rare + 1, rare),
        )

    def shares(self, paths: Collection[str], *, least: int) -> dict[str, tuple[int, int]]:
        """Give how many links notes have and how many tokens of text, by path, of those with at least so many links."""
        views = self._reader.views
        rows = self._reader.fetch(
            f"SELECT n.path, (SELECT count(*) FROM {views.edges} AS e WHERE e.src = n.id AND e.kind <> 'tag') "
            f"AS links, (SELECT sum(c.tokens) FROM {views.chunks} AS c "
            f"WHERE c.note = n.id AND c.ordinal < {PROPERTIES}) "
            f"FROM {views.notes} AS n WHERE n.path IN {LISTED} AND links >= ?",
            (listed(paths), least),
        )
        return {path: (links, tokens or 0) for path, links, tokens in rows}

    def _edges(self, condition: str, paths: Sequence[str]) -> list[EdgeView]:
        views = self._reader.views
        # A link that leads nowhere in sight is looked up again where a note in sight has its name.
        has_namesake = f"d.id IS NULL AND EXISTS (SELECT 1 FROM {views.names} AS a WHERE a.key = e.key)"
        rows = self._reader.fetch(
            "SELECT s.path, e.kind, e.target, d.path, e.heading, e.block, e.alias, e.line, "
            f"CASE WHEN {has_namesake} THEN e.key END FROM {views.edges} AS e "
            f"JOIN {views.notes} AS s ON s.id = e.src LEFT JOIN {views.notes} AS d ON d.id = e.dst "
            f"WHERE {condition} ORDER BY s.path, e.line, e.id",
            (listed(paths),),
        )
        hidden = self._reader.count_hidden()
        return [self._meant_in_sight(EdgeView(*row), key if hidden else None) for *row, key in rows]

    def _meant_in_sight(self, edge: EdgeView, key: str | None) -> EdgeView:
        """Let a link mean what it would mean if there were no hidden notes: one of them may be what its name leads to.

        Else a link that leads nowhere, though a note in sight has its name, would tell that there is another one.
        """
        if key is None or edge.kind == LinkKind.TAG:
            return edge
        names, notes = self._reader.views.names, self._reader.views.notes
        found = look_up(self._reader.connection, edge.source, edge.target, key, names=names, notes=notes)
        return replace(edge, target_path=found[1]) if found else edge
