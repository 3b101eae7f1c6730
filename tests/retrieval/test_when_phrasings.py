"""Fifteen things that people ask about a time, in every language with a table; and names that are no times."""

import tomllib
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from vault_ask.retrieval.time_words import WRITTEN
from vault_ask.retrieval.when import read_when

NOW = datetime(2026, 3, 16, 12, tzinfo=UTC)
"""A Monday."""
MEANT = {
    "yesterday": ("2026-03-15", "2026-03-15"),
    "the day before yesterday": ("2026-03-14", "2026-03-14"),
    "last Friday": ("2026-03-13", "2026-03-13"),
    "this weekend": ("2026-03-21", "2026-03-22"),
    "three weeks ago": ("2026-02-23", "2026-03-01"),
    "in March": ("2026-03-01", "2026-03-31"),
    "at the end of April": ("2025-04-21", "2025-04-30"),
    "2026-03": ("2026-03-01", "2026-03-31"),
    "in Q2 2025": ("2025-04-01", "2025-06-30"),
    "at Christmas": ("2025-12-24", "2025-12-26"),
    "between March and May": ("2025-03-01", "2025-05-31"),
    "since Monday": ("2026-03-16", "2026-03-16"),
    "before June": ("0001-01-01", "2025-05-31"),
    "at 14:30": None,
    "on the 3rd": ("2026-03-03", "2026-03-03"),
}
PHRASINGS = tomllib.loads(Path(__file__).with_name("phrasings.toml").read_text(encoding="utf-8"))
ASKED, NAMES = PHRASINGS["asked"], PHRASINGS["names"]
MISSED = {("fi", "on the 3rd"), ("pl", "on the 3rd"), ("cs", "on the 3rd"), ("zh", "on the 3rd"),
          ("ar", "between March and May")}  # fmt: skip
"""What stays text: to miss a time costs little."""


def days(question: str, language: str) -> tuple[str, str] | None:
    found = read_when(question, language=language, now=NOW).days
    return (date.fromordinal(found[0]).isoformat(), date.fromordinal(found[1]).isoformat()) if found else None


@pytest.mark.parametrize("language", WRITTEN)
def test_a_language_names_times_as_its_speakers_do(language: str) -> None:
    expected = {name: None if (language, name) in MISSED else meant for name, meant in MEANT.items()}
    asked = zip(MEANT, ASKED[language], strict=True)
    assert {name: days(question, language) for name, question in asked} == expected


@pytest.mark.parametrize("language", WRITTEN)
def test_names_of_people_and_things_are_no_times(language: str) -> None:
    assert {question: days(question, language) for question in NAMES[language]} == dict.fromkeys(NAMES[language])
    assert days(f"{NAMES[language][0]} 2026-03-08", language) == ("2026-03-08", "2026-03-08"), "beside it one is found"
