"""Words of a question that help others to mean something (`what`, `is`, `my`), and ways of asking that mean nothing.

The lists of stopwords-iso are generous: what is a subject as well (`Mann`, `sal`, `iş`) is taken off them, and question
words they lack are added. A way of asking (`could you tell me`) is known whole, since its words are subjects elsewhere.
Both are in data/helpers, by language.
"""

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import regex

from vault_ask.index.spelling import fold

_NEAR = {"nn": "no", "nb": "no", "sk": "cs"}
"""Languages whose ways of asking are those of a neighbour, near enough."""

_JOINED = frozenset({"ja", "ko", "th", "zh"})
"""Languages that write what is asked for right beside the way of asking."""


@dataclass(frozen=True, slots=True)
class _Table:
    """One file: words that are subjects, words that help as well, and patterns of ways to ask."""

    subjects: frozenset[str]
    more: frozenset[str]
    asking: regex.Pattern[str] | None


@lru_cache(maxsize=64)
def helpers_of(language: str) -> frozenset[str]:
    """List the words of a language that help others to mean something, as written and as `query_words` folds them."""
    import stopwordsiso  # noqa: PLC0415 - reads half a megabyte, which a command that asks nothing should not

    table = _table(language)
    listed = frozenset(stopwordsiso.stopwords(language)) if stopwordsiso.has_lang(language) else frozenset[str]()
    helpers = (listed | table.more) - table.subjects
    return helpers | (frozenset(fold(word, "und") for word in helpers) - table.subjects)


def without_asking(question: str, language: str) -> str:
    """Give what is asked for, without the ways to ask for it; the whole question where nothing else is in it."""
    asking = _table(language).asking
    rest = asking.sub(" ", question) if asking else question
    return rest if regex.search(r"[\p{L}\p{N}\p{So}]", rest) else question


@lru_cache(maxsize=64)
def _table(language: str) -> _Table:
    file = files("vault_ask") / "retrieval" / "data" / "helpers" / f"{_NEAR.get(language, language)}.toml"
    if not file.is_file():
        return _Table(frozenset(), frozenset(), None)
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    return _Table(
        frozenset(found.get("subjects", "").split()),
        frozenset(found.get("more", "").split()),
        _any_of(found["asking"], is_joined=language in _JOINED),
    )


def _any_of(patterns: list[str], *, is_joined: bool) -> regex.Pattern[str]:
    """Match any of the patterns, the longest that is listed first; between words, where words have ends."""
    either = "|".join(pattern.replace(" ?", r"\s*").replace(" ", r"\s+") for pattern in patterns)
    return regex.compile(either if is_joined else rf"(?<!\w)(?:{either})(?!\w)", regex.IGNORECASE)
