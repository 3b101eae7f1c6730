"""A season, month or day in general is no time, a particular one is: one rule for all languages."""

from datetime import UTC, date, datetime

import pytest

from vault_ask.retrieval.when import read_when

NOW = datetime(2026, 3, 16, 0, 30, tzinfo=UTC)
"""A Monday."""
LAST_SUMMER, NEXT_SUMMER = (date(2025, 6, 1), date(2025, 8, 31)), (date(2026, 6, 1), date(2026, 8, 31))
FRIDAY, MAY = (date(2026, 3, 13), date(2026, 3, 13)), (date(2025, 5, 1), date(2025, 5, 31))


def days(question: str, language: str = "en") -> tuple[date, date] | None:
    found = read_when(question, language=language, now=NOW).days
    return (date.fromordinal(found[0]), date.fromordinal(found[1])) if found else None


@pytest.mark.parametrize(
    ("language", "in_general", "told"),
    [
        ("en", "what can I plant in summer?", "what did I plant in summer?"),
        ("en", "which tyres are for winter and in summer?", "who visited us in the summer?"),
        ("de", "was pflanze ich im Sommer?", "was habe ich im Sommer gepflanzt?"),
        ("sv", "vad planterar man på sommaren?", "vad planterade jag under sommaren?"),
        ("da", "hvad planter man i sommeren?", "hvad plantede jeg i sommeren?"),
        ("no", "hva planter man i sommeren?", "hva har jeg plantet i sommeren?"),
        ("fi", "mitä istutetaan kesällä?", "mitä istutin kesällä?"),
        ("nl", "wat plant ik in de zomer?", "wat heb ik in de zomer geplant?"),
        ("fr", "que planter en été ?", "qu'ai-je planté en été ?"),
        ("es", "¿qué se planta en verano?", "¿qué planté en verano?"),
        ("pt", "o que se planta no verão?", "o que plantei no verão?"),
        ("it", "cosa si pianta in estate?", "cosa ho piantato in estate?"),
        ("ru", "что сажают летом?", "что я сажал летом?"),
        ("uk", "що садять влітку?", "що я садила влітку?"),
        ("pl", "co się sadzi latem?", "co sadziłem latem?"),
        ("cs", "co se sází v létě?", "co jsem sázel v létě?"),
        ("tr", "yazın ne ekilir?", "yazın ne ektim?"),
        ("ar", "ماذا يزرع الناس في الصيف؟", "ماذا زرعت في الصيف؟"),
        ("zh", "在夏天种什么？", "我在夏天种了什么？"),
        ("ja", "夏に何を植える？", "夏に何を植えた？"),
    ],
)
def test_a_season_is_a_time_where_the_question_tells_what_was(language: str, in_general: str, told: str) -> None:
    assert days(in_general, language) is None
    assert days(told, language) == LAST_SUMMER


@pytest.mark.parametrize(
    ("language", "question"),
    [("en", "what will I plant in summer?"), ("de", "was werde ich im Sommer pflanzen?"),
     ("sv", "vad ska jag plantera i sommar?"), ("fr", "que vais-je planter en été ?")],
)  # fmt: skip
def test_a_season_of_plans_is_the_next_one(language: str, question: str) -> None:
    assert days(question, language) == NEXT_SUMMER


@pytest.mark.parametrize(
    "question", ["in summer", "last summer", "since last summer", "which plants died? in summer 2025"]
)
def test_a_season_that_is_said_or_all_that_is_said_needs_no_verb(question: str) -> None:
    found = days(question)
    assert found
    assert found[0] == LAST_SUMMER[0]


@pytest.mark.parametrize(
    ("language", "habit", "once"),
    [
        ("en", "what do I usually do on Friday?", "what did I do on Friday?"),
        ("de", "was mache ich normalerweise am Freitag?", "was habe ich am Freitag gemacht?"),
        ("sv", "vad brukar jag göra på fredag?", "vad gjorde jag på fredag?"),
        ("fr", "que fais-je normalement vendredi ?", "qu'ai-je fait vendredi ?"),
        ("es", "¿qué hago siempre el viernes?", "¿qué hice el viernes?"),
        ("ru", "что я обычно делаю в пятницу?", "что я делал в пятницу?"),
    ],
)
def test_what_is_usual_on_a_day_is_of_no_particular_one(language: str, habit: str, once: str) -> None:
    assert days(habit, language) is None
    assert days(once, language) == FRIDAY


@pytest.mark.parametrize(
    "question",
    ["in which months do I swim?", "each Friday", "every summer", "on Fridays", "at weekends", "every May", "weekends",
     "what do I always cook in May?", "which notes are written each Friday?"],
)  # fmt: skip
def test_what_comes_round_each_time_is_no_time(question: str) -> None:
    assert days(question) is None
    assert days(f"{question} since 2026-03-13") == (date(2026, 3, 13), date(2026, 3, 16)), "beside it a time is found"


def test_a_month_or_a_day_is_the_last_one_whatever_the_verb() -> None:
    assert days("which plants are in bloom in May?") == MAY
    assert days("which notes name Bo on Friday?") == FRIDAY
