"""From what a search provider found to pages that can be shown: plain text on one line, and an address that is a link.

Pure. Titles, snippets and addresses were written by strangers, some of whom write for machines. What they wrote stays
readable as words, and nothing of it is left that runs, links, hides or looks like one of our citations. What a model is
told about such text is the prompt's business.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from html import unescape
from itertools import islice
from urllib.parse import urlsplit

import regex

from vault_ask.answering.evidence import WebPage
from vault_ask.providers.web_addresses import link_to
from vault_ask.providers.web_markup import without_markup
from vault_ask.providers.web_words import cut_at_word, without_unseen

LONGEST_TITLE = 150
LONGEST_TEXT = 600
LONGEST_READ = 4_000
"""Characters of a snippet that are looked at; a real one has a few hundred."""
_LOOKED_AT = 3
"""Results looked at for one that is shown; the rest are the provider's flood, or nothing that could be shown."""
_ENTITY_ROUNDS = 3
"""Snippets are often escaped twice, `&amp;lt;`; more than that is somebody playing."""
_PILE = regex.compile(r"(\p{M}{8})\p{M}++")
"""Marks upon one letter; no language needs so many, and to put a pile in order takes its length squared."""
_LINK = re.compile(r"!?\[([^\[\]]*+)\]\((?:[^()\s]++|\([^()\s]*+\))*+\)")
_SCHEME = re.compile(r"[a-z0-9+.-]{0,30}://|\b(?:javascript|vbscript|data|mailto|xmpp):(?=\S)|\bwww\.", re.IGNORECASE)
_PLAIN = str.maketrans({"<": "‹", ">": "›", "[": "(", "]": ")", "`": "'"})
"""Marks that frame, link, cite or run, as others that look alike and do nothing."""


@dataclass(frozen=True, slots=True)
class Found:
    """A result as the provider gave it: nothing about it is known, not even that it is text."""

    title: object
    url: object
    text: object


def pages_of(results: Iterable[Found], most: int) -> tuple[WebPage, ...]:
    """Give the first `most` results that can be shown, each address once. Takes a few ms for hostile ones."""
    kept: dict[tuple[str, str, str], WebPage] = {}
    for result in islice(results, _LOOKED_AT * most):
        page = page_of(result)
        if page is not None:
            kept.setdefault(_place(page.url), page)
        if len(kept) == most:
            break
    return tuple(kept.values())


def page_of(result: Found) -> WebPage | None:
    """Give a result as a page; None when its address is no link, or when it says nothing."""
    url = link_to(result.url)
    if url is None:
        return None
    title, text = plain(result.title, LONGEST_TITLE), plain(result.text, LONGEST_TEXT)
    return WebPage(title=title or urlsplit(url).netloc, url=url, text=text) if title or text else None


def plain(written: object, most: int) -> str:
    """Give what a provider says is text as one line of it, cut at a word; empty for what is no text."""
    if not isinstance(written, str):
        return ""
    text = without_markup(written[:LONGEST_READ])
    for _ in range(_ENTITY_ROUNDS):
        text = unescape(text)
    text = _PILE.sub(r"\1", without_unseen(text))
    text = without_unseen(unicodedata.normalize("NFC", text))
    # A space where a beginning was, so that what stood around it makes no new one.
    text = _SCHEME.sub(" ", _LINK.sub(r"\1", text)).translate(_PLAIN)
    return cut_at_word(" ".join(text.split()), most, ending="…")


def _place(url: str) -> tuple[str, str, str]:
    """Tell two addresses of one page alike: with and without TLS, `www.` or a last slash."""
    parts = urlsplit(url)
    return parts.netloc.removeprefix("www."), parts.path.rstrip("/"), parts.query
