"""What the months and the days of the week are called, in some sixty languages.

The names are those of dateparser, whose tables are found but never run as a whole: to import the package costs 7.5 MiB
and 0.12 s, and most of it is for what a note or a question about notes has no use for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import regex

from vault_ask.errors import ConfigError
from vault_ask.notes.fold import fold

LANGUAGES = (
    *("af", "ar", "az", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "eo", "es", "et", "eu"),
    *("fa", "fi", "fr", "ga", "gl", "gu", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "ka", "kk", "km"),
    *("kn", "ko", "lt", "lv", "mk", "ml", "mn", "mr", "ms", "my", "nb", "ne", "nl", "pa", "pl", "pt", "ro", "ru"),
    *("si", "sk", "sl", "sq", "sr", "sv", "sw", "ta", "te", "th", "tr", "uk", "ur", "uz", "vi", "zh"),
)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_RELATIVE = {
    "2 day ago": "2 days ago",
    "1 day ago": "yesterday",
    "0 day ago": "today",
    "in 1 day": "tomorrow",
    **{f"1 {unit} ago": f"last {unit}" for unit in ("week", "month", "year")},
    **{f"0 {unit} ago": f"this {unit}" for unit in ("week", "month", "year")},
    **{f"in 1 {unit}": f"next {unit}" for unit in ("week", "month", "year")},
}
_SHORTEST = 3
"""Latin letters of a name at least; what is shorter is an abbreviation of much else."""
_LATIN = regex.compile(r"\p{Latin}")


@dataclass(frozen=True, slots=True)
class Names:
    """Folded names without a final dot: of months to 1..12, of weekdays to 0..6 from Monday on."""

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    relative: Mapping[str, tuple[str, ...]]
    """Phrases for days and spans near today, by what they are in English: `last week`, `in 1 day`."""


@cache
def names_of(language: str) -> Names:
    """Give the names of one language; none of a language without a table. Raises ConfigError."""
    table = _table("nb" if language in {"no", "nn"} else language)
    relative = {meaning: tuple(table.get("relative-type", {}).get(key, ())) for key, meaning in _RELATIVE.items()}
    return Names(dict(_numbered(table, _MONTHS, 1)), dict(_numbered(table, _WEEKDAYS, 0)), relative)


@cache
def all_names() -> Names:
    """Give the names of all languages at once, but for those that mean one month here and another one there."""
    months: dict[str, set[int]] = {}
    weekdays: dict[str, set[int]] = {}
    for names in map(names_of, LANGUAGES):
        for found, of in ((months, names.months), (weekdays, names.weekdays)):
            for name, number in of.items():
                found.setdefault(name, set()).add(number)
    return Names(_agreed(months), _agreed(weekdays), {})


def _agreed(found: Mapping[str, set[int]]) -> dict[str, int]:
    return {name: min(numbers) for name, numbers in found.items() if len(numbers) == 1}


def _numbered(table: Mapping[str, Any], keys: tuple[str, ...], start: int) -> Iterator[tuple[str, int]]:
    for number, key in enumerate(keys, start):
        for name in table.get(key, ()):
            folded = fold(name).strip(". ")
            # Some tables write a month as "3月", which is read as a number.
            has_digits = any(map(str.isdigit, folded))
            if not has_digits and (not _LATIN.match(folded) or len(folded) >= _SHORTEST):
                yield folded, number


def _table(language: str) -> Mapping[str, Any]:
    file = _folder() / f"{language}.py"
    spec = spec_from_file_location(f"_dates_of_{language}", file) if file.is_file() else None
    if spec is None or spec.loader is None:
        return {}
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    table: Mapping[str, Any] = module.info
    return table


@cache
def _folder() -> Path:
    spec = find_spec("dateparser")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        tables = Path(folder) / "data" / "date_translation_data"
        if tables.is_dir():
            return tables
    raise ConfigError("The tables of dateparser are missing. Install the package again with its files.")
