"""Times that are told by the turn before: "and the week before?", "what about May?", in every language with a table."""

from datetime import UTC, date, datetime

import pytest

from vault_ask.retrieval.time_words import WRITTEN
from vault_ask.retrieval.when import follows_in_time, read_when

NOW = datetime(2026, 3, 16, 0, 30, tzinfo=UTC)
"""A Monday."""
LAST_WEEK, THE_WEEK_BEFORE, MAY = "2026-03-09..2026-03-15", "2026-03-02..2026-03-08", "2025-05-01..2025-05-31"


def days(*turns: str, language: str = "en") -> str | None:
    """The days of the last turn of a conversation, as `first` or `first..last`."""
    found = read_when("\n".join(turns), language=language, now=NOW).days
    if found is None:
        return None
    first, last = (date.fromordinal(day).isoformat() for day in found)
    return first if first == last else f"{first}..{last}"


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        (["What did I eat last week?", "and the week before?"], THE_WEEK_BEFORE),
        (["What did I eat last week?", "and the week before?", "and the week before that?"], "2026-02-23..2026-03-01"),
        (["What did I eat last week?", "and the previous week?", "and why?"], THE_WEEK_BEFORE),
        (["What did I eat last week?", "what did I drink the week before?"], THE_WEEK_BEFORE),
        (["What did I eat last week?", "the week after?"], "2026-03-16..2026-03-22"),
        (["What did I eat last week?", "and the day before?"], "2026-03-08"),
        (["What did I eat last week?", "and two weeks earlier?"], "2026-02-23..2026-03-01"),
        (["What did I eat last week?", "and the Friday before?"], "2026-03-06"),
        (["What did I eat last week?", "and the weekend before that?"], "2026-03-07..2026-03-08"),
        (["What did I eat last week?", "and last month?"], "2026-02-01..2026-02-28"),
        (["What did I eat last week?", "between March and May?"], "2025-03-01..2025-05-31"),
        (["What did I eat on Friday?", "and the next day?"], "2026-03-14"),
        (["What did I eat in April?", "what about May?"], MAY),
        (["What did I eat in April?", "and 2024?"], "2024-01-01..2024-12-31"),
        (["What did I eat in April 2024?", "and in May?"], "2024-05-01..2024-05-31"),
        (["What did I eat in April 2024?", "and the year before that?"], "2023-04-01..2023-04-30"),
        (["What did I eat in February 2024?", "and a year earlier?"], "2023-02-01..2023-02-28"),
        (["What did I eat in 2024?", "and the year before?"], "2023-01-01..2023-12-31"),
        (["What did I eat in 2024?", "and in May?"], "2024-05-01..2024-05-31"),
        (["What did I eat at Christmas?", "and the year before?"], "2024-12-24..2024-12-26"),
        (["What did I eat in April 2024?", "and on the 3rd?"], "2024-04-03"),
    ],
)
def test_a_turn_tells_its_time_by_the_one_before(turns: list[str], expected: str) -> None:
    assert days(*turns) == expected


@pytest.mark.parametrize(
    ("language", "said", "week_before", "may"),
    [
        ("en", "What did I do last week?", "and the week before?", "what about May?"),
        ("de", "Was habe ich letzte Woche gemacht?", "und die Woche davor?", "und was ist mit Mai?"),
        ("sv", "Vad gjorde jag förra veckan?", "och veckan innan?", "och maj?"),
        ("da", "hvad lavede jeg i sidste uge?", "og ugen før?", "hvad med maj?"),
        ("no", "hva gjorde jeg forrige uke?", "og uka før det?", "hva med mai?"),
        ("fi", "mitä tein viime viikolla?", "entä sitä edellisellä viikolla?", "entä toukokuussa?"),
        ("nl", "wat heb ik vorige week gedaan?", "en de week daarvoor?", "en in mei?"),
        ("fr", "qu'ai-je fait la semaine dernière ?", "et la semaine d'avant ?", "et en mai ?"),
        ("es", "¿qué hice la semana pasada?", "¿y la semana anterior?", "¿y en mayo?"),
        ("pt", "o que fiz na semana passada?", "e na semana anterior?", "e em maio?"),
        ("it", "cosa ho fatto la settimana scorsa?", "e la settimana prima?", "e a maggio?"),
        ("ru", "что я делал на прошлой неделе?", "а неделей раньше?", "а в мае?"),
        ("uk", "що я робив минулого тижня?", "а тиждень до того?", "а в травні?"),
        ("pl", "co robiłem w zeszłym tygodniu?", "a tydzień wcześniej?", "a w maju?"),
        ("cs", "co jsem dělal minulý týden?", "a týden předtím?", "a v květnu?"),
        ("tr", "geçen hafta ne yaptım?", "peki ondan önceki hafta?", "peki mayısta?"),
        ("ar", "ماذا فعلت الأسبوع الماضي؟", "والأسبوع الذي قبله؟", "وماذا عن مايو؟"),
        ("zh", "上周我做了什么？", "那前一周呢？", "那五月呢？"),
        ("ja", "先週は何をした？", "その前の週は？", "5月は？"),
        ("ko", "지난주에 무엇을 했나요?", "그 전 주는?", "5월은?"),
    ],
)
def test_times_are_told_by_others_in_every_language(language: str, said: str, week_before: str, may: str) -> None:
    assert language in WRITTEN
    assert [days(said, turn, language=language) for turn in (week_before, may)] == [THE_WEEK_BEFORE, MAY]
    assert follows_in_time(week_before)
    assert follows_in_time(may)


@pytest.mark.parametrize(
    "turn", ["and why?", "What is my salary?", "the week before the wedding?", "may I go?", "What does May like?"]
)
def test_what_names_no_other_time_keeps_the_one_before(turn: str) -> None:
    assert not follows_in_time(turn)
    assert days("What did I eat last week?", turn) == LAST_WEEK


@pytest.mark.parametrize("turn", ["and the week before?", "what about May?", "the Friday before?"])
def test_after_no_time_there_is_none_to_tell_another_by(turn: str) -> None:
    assert days("Who is my landlord?", turn) is None
    assert days(turn) is None


def test_the_words_of_all_times_are_taken_out() -> None:
    when = read_when("swim last week\nand the week before?\nand how?", language="en", now=NOW)
    assert (when.words, when.rest) == ("the week before", "swim\nand?\nand how?")


def test_the_ends_of_the_calendar_are_no_trouble_to_times_told_by_others() -> None:
    for today in (date(1, 1, 1), date(9999, 12, 31)):
        now = datetime(today.year, today.month, today.day, tzinfo=UTC)
        for turn in ("the week before?", "900 years earlier?", "the Friday after?", "the year after that?"):
            read_when(f"today\nand {turn}", language="en", now=now)
