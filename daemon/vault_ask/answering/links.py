"""Addresses that open a place of the vault in Obsidian, and links to it that resolve, whatever the name."""

import re
from urllib.parse import quote

_SPLITS_A_LINK = re.compile(r"[#^|\[\]\\]|%%")
"""What ends or splits the target of a wikilink, and of the `file` of an obsidian:// address."""
_DROPPED_FROM_HEADINGS = re.compile(r"[#^|\[\]\\:%\s]+")
"""Obsidian itself writes a blank for these when it links to a heading."""
_ENDS_AN_ALIAS = re.compile(r"[|\[\]\n]+")
_ESCAPED_IN_A_LABEL = re.compile(r"([\[\]\\])")


def obsidian_url(vault: str, path: str, *, heading: str | None = None, block: str | None = None) -> str:
    """Make the obsidian:// address of a note, at its block or heading where the note's name allows one.

    Every part is percent-encoded once. The path is whole, with its extension, so that neither a twin in another
    folder nor a name such as `v1.2 release` is mistaken.
    """
    file = path if _SPLITS_A_LINK.search(path) else path + _place(heading, block)
    return f"obsidian://open?vault={quote(vault, safe='')}&file={quote(file, safe='')}"


def link_text(path: str, *, heading: str | None = None, block: str | None = None) -> str:
    """Write a link to this note: a wikilink, or a Markdown link where a wikilink cannot hold the name."""
    target = path.removesuffix(".md")
    name = target.rpartition("/")[2]
    if _SPLITS_A_LINK.search(path):
        label = _ESCAPED_IN_A_LABEL.sub(r"\\\1", name)
        return f"[{label}]({quote(path, safe='/!$,')})"
    place = _place(heading, block)
    alias = f"|{_ENDS_AN_ALIAS.sub(' ', name)}" if place or "/" in target else ""
    return f"[[{target}{place}{alias}]]"


def _place(heading: str | None, block: str | None) -> str:
    if block:
        return f"#^{block}"
    plain = _DROPPED_FROM_HEADINGS.sub(" ", heading or "").strip()
    return f"#{plain}" if plain else ""
