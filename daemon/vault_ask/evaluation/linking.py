"""Reads the links in a line of questions, `[[Oslo]]` and `[the city](Trips/Oslo.md)`; an address is no note."""

import re

from vault_ask.notes.links import markdown_link, wikilink
from vault_ask.notes.model import LinkKind

_LINK = re.compile(
    r"""!?(?:
      \[\[(?P<wiki>[^\[\]]+)\]\]
    | \[[^\[\]]*\]\(\s*                                     # of Markdown, the words it shows come first
      (?:<(?P<pointed>[^<>]*)>|(?P<bare>(?:[^()<>\s]|\([^()\s]*\))+))
      (?:\s+(?:"[^"]*"|'[^']*'))?\s*\)
    )""",
    re.VERBOSE,
)


def part_links(line: str) -> tuple[str, list[str]]:
    """Part a line into its words and its links to notes, as they are written; other links are words."""
    links: list[str] = []

    def take(found: re.Match[str]) -> str:
        if not _note(found):
            return found[0]
        links.append(found[0].removeprefix("!"))
        return " "

    return _LINK.sub(take, line), links


def named_note(name: str) -> str:
    """Give the note that a link means, without its heading, percent signs decoded; what is no link, as it is."""
    found = _LINK.fullmatch(name.strip())
    return (found and _note(found)) or name.strip()


def _note(found: re.Match[str]) -> str | None:
    """Give what a link points to; nothing for an address, and for a heading alone."""
    if found["wiki"]:
        link = wikilink(found["wiki"], LinkKind.WIKILINK, 1)
    else:
        link = markdown_link(found["pointed"] or found["bare"] or "", LinkKind.MARKDOWN, 1, alias=None)
    return link.target if link else None
