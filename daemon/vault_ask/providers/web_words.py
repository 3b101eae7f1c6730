"""What of a question is sent to a search provider: its words, and nothing else."""

import re

import regex

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
_WIKILINK = re.compile(r"!?\[\[([^\[\]]*)\]\]")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_MARKS = re.compile(r"[\[\]<>{}|`*\\]|~~|==|__")
_LEADING = re.compile(r"(?<!\S)[!#]+")
"""A tag, a heading, or a search engine's command to ask another engine (`!g`), which is nobody's question."""


def words_for_web(question: Question) -> str:
    """Give the question as one line without the marks of Obsidian and Markdown, cut at a word; empty if none is left.

    A wikilink is sent as what it shows: folders of the vault are nobody's business.
    """
    text = without_unseen(question.text)
    text = _LINK.sub(r"\1", _WIKILINK.sub(_shown, text))
    words = _LEADING.sub("", _MARKS.sub(" ", text)).split()
    return cut_at_word(" ".join(words[:MOST_WORDS]), MOST_CHARACTERS)


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
    while end > 1 and regex.match(r"[\p{M}\u200c\u200d]", text[end]):
        end -= 1
    return text[:end].rstrip() + ending


def _shown(link: re.Match[str]) -> str:
    target, _, alias = link[1].partition("|")
    return alias or target.partition("#")[0].rpartition("/")[2].removesuffix(".md") or target.rpartition("#")[2]
