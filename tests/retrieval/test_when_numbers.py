"""Times in figures, and words for days: what they mean, and what only looks like them."""

from datetime import UTC, date, datetime

import pytest

from vault_ask.notes.written_dates import DayOrder
from vault_ask.retrieval.when import read_when

NOW = datetime(2026, 3, 16, 0, 30, tzinfo=UTC)
"""A Monday."""
DECEMBER, WEEK_51 = (date(2025, 12, 1), date(2025, 12, 31)), (date(2025, 12, 15), date(2025, 12, 21))


def days(question: str, language: str = "en", order: DayOrder | None = None) -> tuple[date, date] | None:
    found = read_when(question, language=language, now=NOW, order=order).days
    return (date.fromordinal(found[0]), date.fromordinal(found[1])) if found else None


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "Summarize all notes with the date 2025.12"),
        ("en", "notes from 12/2025"),
        ("en", "notes in 12.2025?"),
        ("en", "2025/12"),
        ("en", "2025.12"),
        ("en", "12.2025?"),
        ("en", "what happened in 2025/12?"),
        ("en", "12/2025 budget"),
        ("de", "Was war im 12/2025?"),
        ("de", "Notizen vom 12.2025"),
        ("de", "Notizen mit Datum 12.2025"),
        ("fr", "notes de 12/2025"),
        ("sv", "anteckningar från 2025/12"),
        ("zh", "2025/12的笔记"),
        ("ja", "2025/12のノート"),
        ("en", "Dez 2025"),
        ("en", "dec. 2025"),
        ("sv", "dec. 2025"),
        ("en", "Déc. 2025"),
        ("en", "дек 2025?"),
    ],
)
def test_a_month_may_be_in_figures_or_short(language: str, question: str) -> None:
    assert days(question, language) == DECEMBER


@pytest.mark.parametrize(
    "question",
    [
        "what's new in Home Assistant 2025.12?", "release 2025.12", "Python 3.12", "1.2025 release", "v2025.12",
        "2025.12.1 update", "Directive 2009/12", "is 12/2025 a good ratio?", "case 12/2025", "ping 192.168.12.2025",
        "in 10.20.2025.12", "costs €12.2025", "growth from 12.2025 %", "/notes/2025/12/", "open 2025.12.md",
        "from 13/2025", "Kim 2025", "Dez 2025 and Mai", "from 1/2025/12",
    ],
)  # fmt: skip
def test_versions_laws_prices_shares_and_addresses_are_no_months(question: str) -> None:
    assert days(question) is None


def test_months_in_figures_go_together_as_others_do() -> None:
    assert days("between 10/2025 and 12/2025") == (date(2025, 10, 1), date(2025, 12, 31))
    assert days("since 2025.11") == (date(2025, 11, 1), date(2026, 3, 16))


@pytest.mark.parametrize(
    "question", ["week 51", "Week 51?", "KW 51", "vecka 51", "semaine 51", "viikko 51", "51. hafta", "第51周", "W51"]
)
def test_a_week_by_its_number_may_be_the_whole_question(question: str) -> None:
    assert days(question) == WEEK_51


@pytest.mark.parametrize("question", ["51 weeks", "week", "is week 51 busy?", "week 99", "51"])
def test_so_many_weeks_are_none_of_them(question: str) -> None:
    assert days(question) is None


@pytest.mark.parametrize(
    ("word", "ago"),
    [
        *(("gestern", 1), ("vorgestern", 2), ("ayer", 1), ("dün", 1), ("ontem", 1), ("ieri?", 1), ("igår", 1)),
        *(("вчера", 1), ("wczoraj", 1), ("heute", 0), ("avant-hier", 2), ("昨日", 1), ("yesterday", 1)),
    ],
)
@pytest.mark.parametrize("language", ["en", "de", "und"])
def test_a_word_for_a_day_alone_is_read_in_a_vault_of_any_language(language: str, word: str, ago: int) -> None:
    day = date.fromordinal(NOW.date().toordinal() - ago)
    assert days(word, language) == (day, day)


def test_a_word_for_a_day_that_is_another_word_elsewhere_is_read_in_its_own_language() -> None:
    yesterday = date(2026, 3, 15)
    assert days("hier", "fr") == (yesterday, yesterday)
    assert [days("hier", language) for language in ("de", "nl", "en", "und")] == [None] * 4


def test_a_foreign_word_for_a_day_among_others_is_none() -> None:
    assert days("the gestern song") is None


def test_day_and_month_are_in_the_order_of_the_language_else_of_the_vault() -> None:
    question, fifth, twelfth = "what did I write on 05-12-2025?", date(2025, 12, 5), date(2025, 5, 12)
    assert days(question) is None
    assert days(question, order="day-first") == (fifth, fifth)
    assert days(question, order="month-first") == (twelfth, twelfth)
    assert days("was war am 05/12/2025?", "de", order="month-first") == (fifth, fifth)


@pytest.mark.parametrize(
    ("language", "question", "day"),
    [
        ("en", "What did I do on the first of May?", date(2025, 5, 1)),
        ("en", "what happened on the twenty-third of April 2024", date(2024, 4, 23)),
        ("en", "the thirty first of January", date(2026, 1, 31)),
        ("de", "Was war am dritten April?", date(2025, 4, 3)),
        ("de", "am einundzwanzigsten Februar", date(2026, 2, 21)),
        ("fr", "qu'ai-je fait le premier mai", date(2025, 5, 1)),
        ("es", "qué hice el primero de mayo", date(2025, 5, 1)),
        ("it", "cosa ho fatto il primo maggio", date(2025, 5, 1)),
        ("pt", "o que fiz no primeiro de maio", date(2025, 5, 1)),
        ("ru", "двадцать третьего апреля что делал", date(2025, 4, 23)),
        ("zh", "五月二十一号做了什么", date(2025, 5, 21)),
        ("ja", "十二月二十四日に何をした", date(2025, 12, 24)),
    ],
)
def test_the_day_of_a_month_may_be_in_words(language: str, question: str, day: date) -> None:
    assert days(question, language) == (day, day)


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "what did I do first of all?"),
        ("en", "who was first of May's friends"),
        ("en", "what is the second of the rules"),
        ("en", "what was the first April joke"),
        ("de", "in der ersten Maiwoche"),
        ("it", "chi era il primo"),
        ("zh", "一日三餐"),
        ("ja", "二十日に"),
        ("ru", "третьего не дано"),
    ],
)
def test_what_only_counts_is_no_day(language: str, question: str) -> None:
    assert days(question, language) is None
