"""The words put in front of a chunk so that it is found for what it is about: embedded and searched, never shown."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath

from vault_ask.notes.fold import fold
from vault_ask.notes.model import Note

PRELUDE_TOKENS = 96
_Count = Callable[[str], int]


class PreludeWriter:
    """Writes the preludes of one note; counts each part of them once."""

    def __init__(self, note: Note, topics: Sequence[str], count: _Count, *, limit: int = PRELUDE_TOKENS) -> None:
        self._limit = limit
        self._counted: dict[str, int] = {}
        self._count = count
        self._title = " ".join(note.title.split())
        self._aliases = _fresh(note.aliases, {self._title})
        self._folders = _fresh(PurePosixPath(note.path).parts[:-1], {self._title})
        self._topics = _fresh([*topics, *note.tags], {self._title, *self._aliases})

    def write(self, heading_path: Sequence[str], extra: str = "") -> str:
        """Title and aliases, folders, headings, topics: a line each, within the limit, never blank.

        Where the room is short the title comes first, then the headings, the aliases, the topics and the folders.
        """
        room = self._limit
        headings = _fresh((heading for heading in heading_path if heading), {self._title})
        kept: dict[str, list[str]] = {}
        for name, parts in (
            ("title", [self._title]),
            ("headings", headings),
            ("extra", [extra] if extra else []),
            ("aliases", self._aliases),
            ("topics", self._topics),
            ("folders", self._folders),
        ):
            kept[name], room = self._fit(parts, room, half=name == "title")
        first = " ".join(kept["title"]) + (f" ({', '.join(kept['aliases'])})" if kept["aliases"] else "")
        lines = (
            first,
            "/".join(kept["folders"]),
            " > ".join(kept["headings"]),
            ", ".join(kept["topics"]),
            *kept["extra"],
        )
        return "\n".join(filter(None, lines))

    def _fit(self, parts: Iterable[str], room: int, *, half: bool) -> tuple[list[str], int]:
        """Take parts while there is room; the first one that is too long is cut, and a title to half the room."""
        kept: list[str] = []
        for part in parts:
            tokens = self._tokens(part) + 1  # the separator
            most = room // 2 if half else room
            if tokens > most:
                cut = self._cut(part, tokens, most) or (part[:1] if half else "")
                return [*kept, *([cut] if cut else [])], room - most
            kept.append(part)
            room -= tokens
        return kept, room

    def _cut(self, part: str, tokens: int, most: int) -> str:
        """Shorten until it fits: a text whose beginning is the denser part keeps more tokens than its share."""
        while part and tokens > most:
            part = _shorten(part, most / tokens)
            tokens = self._count(part) + 1
        return part

    def _tokens(self, text: str) -> int:
        if text not in self._counted:
            self._counted[text] = self._count(text)
        return self._counted[text]


def _fresh(parts: Iterable[str], known: Iterable[str]) -> list[str]:
    """The parts that say something new, in order."""
    seen = {fold(name) for name in known}
    fresh = []
    for part in parts:
        text = " ".join(part.split())
        if text and fold(text) not in seen:
            seen.add(fold(text))
            fresh.append(text)
    return fresh


def _shorten(text: str, share: float) -> str:
    """Cut to a share of the length, at a word where there is one; nothing when only crumbs would be left."""
    cut = text[: int(len(text) * share * 0.9)]
    at_word = cut.rpartition(" ")[0]
    return at_word if len(at_word) * 2 > len(cut) else cut
