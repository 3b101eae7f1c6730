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
from html.parser import HTMLParser
from urllib.parse import urlsplit

from vault_ask.answering.evidence import WebPage
from vault_ask.providers.web_addresses import link_to
from vault_ask.providers.web_words import cut_at_word, without_unseen

LONGEST_TITLE = 150
LONGEST_TEXT = 600
_LONGEST_READ = 4_000
"""Characters of a snippet that are looked at; a real one has a few hundred."""
_UNREAD = frozenset({"script", "style", "template", "noscript", "iframe", "object", "svg", "math"})
_ENTITY_ROUNDS = 3
"""Snippets are often escaped twice, `&amp;lt;`; more than that is somebody playing."""
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
    """Give the first `most` results that can be shown, each address once."""
    kept: dict[tuple[str, str, str], WebPage] = {}
    for result in results:
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
    text = _without_tags(written[:_LONGEST_READ])
    for _ in range(_ENTITY_ROUNDS):
        text = unescape(text)
    text = without_unseen(unicodedata.normalize("NFC", without_unseen(text)))
    text = _LINK.sub(r"\1", text)
    text = _without_schemes(text).translate(_PLAIN)
    return cut_at_word(" ".join(text.split()), most, ending="…")


def _without_schemes(text: str) -> str:
    """Take the beginnings off that make a link of an address, until none is left."""
    while (shorter := _SCHEME.sub("", text)) != text:
        text = shorter
    return text


def _place(url: str) -> tuple[str, str, str]:
    """Tell two addresses of one page alike: with and without TLS, `www.` or a last slash."""
    parts = urlsplit(url)
    return parts.netloc.removeprefix("www."), parts.path.rstrip("/"), parts.query


def _without_tags(text: str) -> str:
    if "<" not in text:
        return text
    reader = _Words()
    reader.feed(text)
    reader.close()
    return "".join(reader.words)


class _Words(HTMLParser):
    """Collects the text of HTML; entities stay as they are."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.words: list[str] = []
        self._unread: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - its signature
        if self._unread is None and tag in _UNREAD:
            self._unread = tag
        self._say(" " if tag in {"br", "p", "li", "div", "td", "tr", "h1", "h2", "h3"} else "")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._unread:
            self._unread = None

    def handle_data(self, data: str) -> None:
        self._say(data)

    def handle_entityref(self, name: str) -> None:
        self._say(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._say(f"&#{name};")

    def _say(self, words: str) -> None:
        if self._unread is None:
            self.words.append(words)
