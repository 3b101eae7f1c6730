"""Which notes a question names, in any spelling that means a note: `[[Name]]`, `[x](path)`, `path.md`, obsidian:.

Whether such a note exists is never asked, so that whatever follows is the same for a hidden note and for none. A name
in plain words cannot be told from other words and is no mention.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import parse_qs, unquote, urlsplit

from vault_ask.notes.fold import fold
from vault_ask.retrieval.hits import Hit
from vault_ask.scope import S

_WIKILINK = re.compile(r"\[\[([^\[\]]{1,1000})")
_PLACE_ENDS = re.compile(r"\\?\||[#^]")
_LINK = re.compile(r"\]\(\s*<?([^()\n<>]{0,1000}(?:\([^()\n<>]{0,500}\)[^()\n<>]{0,500}){0,9})")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_ADDRESS = re.compile(r"obsidian:[^\s<>\"“”]{0,2000}", re.IGNORECASE)
_FILE_ENDS = re.compile(r"\.(?:md|markdown|canvas|base|pdf)(?![A-Za-z0-9_-])", re.IGNORECASE)
_QUOTES = re.compile(r"[\"“”„«»<>`]")
_NOTE_ENDS = re.compile(r"\.(?:md|markdown)$", re.IGNORECASE)
_WORD_BEGINS = re.compile(r"(?:^|(?<=[\s('\[]))(?=[^\s])")
_WEB_ADDRESS = re.compile(r"https?://\S*$", re.IGNORECASE)
_LONGEST_NAME = 250
_MOST_WORDS = 12
_FILE_PARAMETERS = ("file", "path", "filepath")


def unmet_mentions(text: str, note: str | None, hits: Sequence[Hit[S]]) -> tuple[str, ...]:
    """List the notes that a text names, and the current note, where no hit is from them; each once, as to be shown."""
    readings = [*mentions(text), *([[note]] if note else [])]
    unmet: dict[str, str] = {}
    for names in readings:
        if not any(_is_met(name, hits) for name in names):
            unmet.setdefault(_stem(names[0]), names[0])
    return tuple(unmet.values())


def unmet_notice(name: str) -> str:
    """Tell of a note that was named and took no part; in words that fit a hidden note and a missing one alike."""
    return (
        f"Nothing from “{name}” was used. If it is a personal note, ask again with personal notes included, which "
        "keeps the web out."
    )


def missing_notice(name: str) -> str:
    """Tell of the note in question where every note may be seen and there is none of that name."""
    return (
        f"Nothing from “{name}” was used, since the index has no such note. Check its path; a note that was written "
        "just now is there once it has been read."
    )


def mentions(text: str) -> Iterator[list[str]]:
    """Give for each mention its possible readings, the one to be shown first."""
    read: list[tuple[int, int]] = []
    for link in _WIKILINK.finditer(text):
        if place := _PLACE_ENDS.split(link[1])[0].strip():
            read.append(link.span())
            yield _spellings(_NOTE_ENDS.sub("", place))
    for target in _LINK.finditer(text):
        place = target[1].partition("#")[0].strip()
        if place and not _SCHEME.match(place) and not place.startswith("//"):
            read.append(target.span())
            yield _spellings(_NOTE_ENDS.sub("", place))
    for address in _ADDRESS.finditer(text):
        read.append(address.span())
        yield [_NOTE_ENDS.sub("", _named_by(address[0]))]
    yield from _files_in(_without(text, read))


def _without(text: str, read: Sequence[tuple[int, int]]) -> str:
    """Put a line break in the place of each mention that was read, so that its ending is none of another's."""
    at, kept = 0, []
    for start, end in sorted(read):
        if start >= at:
            kept.append(text[at:start])
        at = max(at, end)
    return "\n".join([*kept, text[at:]])


def _files_in(text: str) -> Iterator[list[str]]:
    for end in _FILE_ENDS.finditer(text):
        if names := _names_before(text[max(0, end.start() - _LONGEST_NAME) : end.start()], end[0]):
            yield names


def _spellings(name: str) -> list[str]:
    decoded = unquote(name).strip()
    return [decoded, name] if decoded != name else [name]


def _named_by(address: str) -> str:
    """Give the note that an obsidian: address means; its whole text where that cannot be told."""
    try:
        parts = urlsplit(address.rstrip(".,;:!?)]'"))
        given = parse_qs(parts.query)
    except ValueError:
        return address
    for parameter in _FILE_PARAMETERS:
        if parameter in given:
            return given[parameter][0].strip()
    # Obsidian's short form: obsidian://vault/<vault>/<path>.
    return unquote(parts.path).strip("/") or address


def _names_before(left: str, ending: str) -> list[str]:
    """Give what may be the name that ends in `ending`, since spaces belong to names: the likeliest first."""
    *before, left = _QUOTES.split(left.rpartition("\n")[2])
    starts = [found.start() for found in _WORD_BEGINS.finditer(left)][-_MOST_WORDS:]
    if not starts or left[-1].isspace() or _WEB_ADDRESS.search(left):
        return []
    is_quoted = len(before) % 2 == 1
    shown = left if is_quoted else left[_likely_start(left, starts) :]
    # A canvas is named with its ending; a note without.
    tail = "" if ending.casefold() in {".md", ".markdown"} else ending
    return [name for start in (shown, *(left[at:] for at in starts)) for name in _spellings(f"{start}{tail}".strip())]


def _likely_start(left: str, starts: Sequence[int]) -> int:
    """Guess where a name begins: at the word with its first folder, else at its last capital, else at its last word."""
    slash = left.find("/", starts[0])
    if slash >= 0:
        return max(start for start in starts if start <= slash)
    capitals = [start for start in starts[1:] if left[start].isupper()]
    return capitals[-1] if capitals else starts[-1]


def _is_met(name: str, hits: Sequence[Hit[S]]) -> bool:
    """Say whether a hit is from the note that a name means; a name with a folder means that folder's note alone."""
    wanted = _stem(name)
    return any(_is_of(hit, wanted) for hit in hits)


def _is_of(hit: Hit[S], wanted: str) -> bool:
    paths = [_stem(path) for path in (hit.path, *hit.also)]
    if any(path == wanted or path.endswith(f"/{wanted}") for path in paths):
        return True
    return "/" not in wanted and _stem(hit.title) == wanted


def _stem(name: str) -> str:
    return fold(name.strip().strip("/")).removesuffix(".md")
