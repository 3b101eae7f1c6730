"""What of a question is sent to a search provider: its words, and nothing else."""

import re

import regex

from vault_ask.errors import WebFailed
from vault_ask.providers.web_paths import without_addresses, without_folders
from vault_ask.scope import Question

MOST_CHARACTERS = 400
MOST_WORDS = 50
"""Brave Search takes no more of either, Tavily no more characters; no question needs more."""
_JOINERS = r"[\u200c\u200d]"
_SCRIPTS_THAT_JOIN = (
    r"\p{Arabic}\p{Devanagari}\p{Bengali}\p{Gujarati}\p{Gurmukhi}\p{Kannada}\p{Malayalam}\p{Oriya}\p{Tamil}"
    r"\p{Telugu}\p{Sinhala}\p{Khmer}\p{Myanmar}"
)
_UNSEEN = regex.compile(
    rf"(?<![{_SCRIPTS_THAT_JOIN}\p{{M}}]){_JOINERS}|{_JOINERS}(?![{_SCRIPTS_THAT_JOIN}])"
    r"|[[\p{C}\p{Default_Ignorable_Code_Point}]--[\u200c\u200d\s]]",
    regex.VERSION1,
)
"""What cannot be seen: control, direction, zero-width, tag and private characters. Joiners stay between letters of the
scripts that spell with them."""
_CONTINUES = regex.compile(r"[\p{M}\u200c\u200d]")
_SAYS_SOMETHING = regex.compile(r"[\p{L}\p{N}]")
_WIKILINK = re.compile(r"!?\[\[([^\[\]]*)\]\]")
_UNCLOSED = re.compile(r"\[\[[^\[\]\n|]*/")
_LINK = re.compile(r"!?\[([^\[\]]*+)\]\((?:<[^<>\n]*+>|(?:[^()\n]++|\([^()\n]*+\))*+)\)")
_MARKS = re.compile(r"[\[\]<>{}|`*\\]|~~|==|__")
_LEADING = re.compile(r"(?<!\S)[!#]+")
"""A tag, a heading, or a search engine's command to ask another engine (`!g`), which is nobody's question."""


def sendable(question: Question) -> str:
    """Give the words that are sent. Raises WebFailed when there are none."""
    words = words_for_web(question)
    if not words:
        raise WebFailed("Your question has no words that could be searched for, so nothing was sent.", sent=False)
    return words


def words_for_web(question: Question) -> str:
    """Give the question as one line without the marks of Obsidian and Markdown; empty if no letter or digit is left.

    A link is sent as what it shows, a path as the name of its file, an address of another program not at all: where a
    note lies in the vault is nobody's business. Of too many words the last ones stay, since the question stands after
    the earlier turns that it leans on.
    """
    text = _UNCLOSED.sub("", _WIKILINK.sub(_shown, without_unseen(question.text)))
    text = _LINK.sub(r"\1", text)
    text = without_folders(without_addresses(text))
    words = _LEADING.sub("", _MARKS.sub(" ", text)).split()
    line = _end_of(" ".join(words[-MOST_WORDS:]), MOST_CHARACTERS)
    return line if _SAYS_SOMETHING.search(line) else ""


def without_unseen(text: str) -> str:
    """Leave out what cannot be seen; line breaks and other space stay."""
    return _UNSEEN.sub("", text)


def cut_at_word(text: str, most: int, *, ending: str = "") -> str:
    """Cut a line to `most` characters, at a space where one is near, and never before a mark that joins a letter."""
    if len(text) <= most:
        return text
    room = most - len(ending)
    space = text.rfind(" ", 0, room + 1)
    end = space if space >= room // 2 else room
    while end > 1 and _CONTINUES.match(text[end]):
        end -= 1
    return text[:end].rstrip() + ending


def _end_of(text: str, most: int) -> str:
    """Give the last `most` characters of a line, from a space on where one is near, never from a joining mark on."""
    if len(text) <= most:
        return text
    start = len(text) - most
    space = text.find(" ", start - 1)
    start = space + 1 if 0 <= space <= start + most // 2 else start
    while start < len(text) and _CONTINUES.match(text[start]):
        start += 1
    return text[start:]


def _shown(link: re.Match[str]) -> str:
    target, _, alias = link[1].partition("|")
    return alias or target.partition("#")[0].rpartition("/")[2].removesuffix(".md") or target.rpartition("#")[2]
