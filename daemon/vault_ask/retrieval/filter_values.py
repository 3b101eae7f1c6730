"""What the value of a filter means: a tag, a part of a path, tasks, what a property says; None where it is no value."""

import regex

from vault_ask.index.within import Comparison, File, Path, Property, Tag, Tasks, is_comparable
from vault_ask.notes.fold import fold
from vault_ask.notes.links import link_key, tag_key
from vault_ask.notes.properties import as_words
from vault_ask.notes.tasks import TaskState
from vault_ask.retrieval.words import is_wordless

_TAG = regex.compile(r"#?[^\s!-,.:-@\[-^`{-\x7f]+")
_COMPARED = regex.compile(r"(<=|>=|<|>)\s*(\S.*)", regex.DOTALL)
_HOW: dict[str, Comparison] = {"<": "<", "<=": "<=", ">": ">", ">=": ">="}
_STATES = {
    "task": tuple(TaskState),
    "task-todo": (TaskState.OPEN,),
    "task-done": (TaskState.DONE,),
}


def of_name(name: str, value: str) -> Tag | Path | File | Tasks | None:
    """Read the value of `tag`, `path`, `file`, `task`, `task-todo` or `task-done`, in quotes or not."""
    match name:
        case "tag":
            return _tag(unquoted(value).strip())
        case "path":
            return _path(fold(unquoted(value)).strip(), is_quoted=_is_quoted(value))
        case "file":
            return _file(unquoted(value).strip())
        case _:
            # A bare `task:` is a word with a colon; the other two are no words.
            return Tasks(_STATES[name], as_words(unquoted(value))) if value or name != "task" else None


def of_property(key: str, value: str) -> Property | None:
    """Read the value of a property, which may be compared with."""
    if compared := _COMPARED.fullmatch(value):
        least = as_words(unquoted(compared[2]))
        return Property(key, least, _HOW[compared[1]]) if is_comparable(least) else None
    return Property(key, "" if value.lower() == "null" else unquoted(value))


def unquoted(value: str) -> str:
    """Take the quotes off a value that has some."""
    if not _is_quoted(value):
        return value
    return regex.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value[1:-1]


def _is_quoted(value: str) -> bool:
    return value[:1] in {'"', "“", "„"}


def _tag(said: str) -> Tag | None:
    tag = tag_key(said)
    return Tag(tag) if _TAG.fullmatch(said) and not is_wordless(tag) else None


def _path(said: str, *, is_quoted: bool) -> Path | None:
    is_path = is_quoted or ("/" in said and not said.startswith(("/", "~", ".")))
    return Path(said.lstrip("/")) if is_path and said.strip("/") else None


def _file(said: str) -> File | None:
    part = link_key(said)
    return File(part) if part and "/" not in said else None
