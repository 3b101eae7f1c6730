"""Finds the notes that a file of questions names, in the index: a mistyped name must not count as a miss in silence."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from vault_ask.evaluation.linking import named_note
from vault_ask.evaluation.questions import Asked
from vault_ask.notes.fold import fold
from vault_ask.notes.links import choose, link_key

SHOWN = 5
"""Names that a sentence lists."""


@dataclass(frozen=True, slots=True)
class Named:
    """Questions with the paths of their notes, and sentences about names that mean no note, or more than one."""

    asked: list[Asked]
    doubts: tuple[str, ...]


@dataclass(slots=True)
class _Doubts:
    absent: list[str] = field(default_factory=list)
    several: list[str] = field(default_factory=list)

    def sentences(self) -> Iterator[str]:
        if self.absent:
            yield (
                f"Named as an answer but not in the index, so counted as not found: {some(self.absent)}. "
                "Mend the name, or index the vault first."
            )
        if self.several:
            yield (
                f"Named as an answer, but there is more than one such note, so counted as not found: "
                f"{some(self.several)}. Write the path from the vault's folder."
            )


def find_notes(asked: Sequence[Asked], paths: Sequence[str]) -> Named:
    """Replace names by the vault paths they mean; what means no one note stays as it is, and is told."""
    names, doubts = _Names(paths), _Doubts()

    def path(question: Asked, name: str) -> str:
        meant = names.meant(name)
        if len(meant) == 1:
            return meant[0]
        (doubts.several if meant else doubts.absent).append(f"{name} ({question['id']})")
        return name

    found = [
        question | {key: [path(question, name) for name in question[key]] for key in ("relevant", "also_ok")}
        for question in asked
    ]
    return Named(found, tuple(doubts.sentences()))


class _Names:
    """The notes of a vault by what they may be called."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = {unicodedata.normalize("NFC", path): path for path in paths}
        self._alike: dict[str, list[str]] = defaultdict(list)
        for path in paths:
            self._alike[link_key(path)].append(path)

    def meant(self, name: str) -> list[str]:
        """List the notes that a path, a name without `.md` or a link may mean; a path as it stands means one.

        `./` is the vault's folder, since the questions lie in none of its own.
        """
        place = unicodedata.normalize("NFC", named_note(name)).strip("/")
        if place.startswith(("./", "../")):
            found = choose(place, "", self._alike[link_key(place)])
            return [found] if found else []
        for spelled in (place, f"{place}.md"):
            if spelled in self._paths:
                return [self._paths[spelled]]
        end = f"/{fold(place).removesuffix('.md')}"
        return [path for path in self._alike[link_key(place)] if f"/{fold(path).removesuffix('.md')}".endswith(end)]


def some(names: Sequence[str]) -> str:
    """List the first few names, and how many more there are."""
    listed = list(dict.fromkeys(names))
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(listed[:SHOWN]) + more
