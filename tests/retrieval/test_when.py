"""The time a question names, in many languages; and what is no time, however much it looks like one."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vault_ask.notes.calendar import Weekday, month_of, week_around, year_of
from vault_ask.retrieval.time_words import WRITTEN, lexicon_of
from vault_ask.retrieval.when import When, asks_what_happened, read_when

NOW = datetime(2026, 3, 16, 0, 30, tzinfo=UTC)
"""A Monday."""


def when(question: str, language: str = "en", now: datetime = NOW, week_start: Weekday = Weekday.MONDAY) -> When:
    return read_when(question, language=language, now=now, week_start=week_start)


def days(question: str, language: str = "en") -> str | None:
    """The days of a question, as `first` or `first..last`."""
    found = when(question, language).days
    if found is None:
        return None
    first, last = (date.fromordinal(day).isoformat() for day in found)
    return first if first == last else f"{first}..{last}"


LAST_WEEK, LAST_MONTH, LAST_YEAR = "2026-03-09..2026-03-15", "2026-02-01..2026-02-28", "2025-01-01..2025-12-31"
TWO_WEEKS_AGO, APRIL, LAST_SUMMER = "2026-03-02..2026-03-08", "2025-04-01..2025-04-30", "2025-06-01..2025-08-31"
THREE_DAYS_AGO, YESTERDAY, TUESDAY, MAY = "2026-03-13", "2026-03-15", "2026-03-10", "2025-05-01..2025-05-31"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did I do last week?", LAST_WEEK),
        ("what happened in April", APRIL),
        ("anything from 2026-03?", "2026-03-01..2026-03-31"),
        ("plans for this summer", "2026-06-01..2026-08-31"),
        ("yesterday", YESTERDAY),
        ("the day before yesterday", "2026-03-14"),
        ("what did I eat 3 days ago", THREE_DAYS_AGO),
        ("two weeks ago", TWO_WEEKS_AGO),
        ("a year ago", LAST_YEAR),
        ("between March and May", "2025-03-01..2025-05-31"),
        ("from March to May 2025", "2025-03-01..2025-05-31"),
        ("from 2023 to 2025", "2023-01-01..2025-12-31"),
        ("since Easter", "2025-04-18..2026-03-16"),
        ("since March", "2026-03-01..2026-03-16"),
        ("on 20260806", "2026-08-06"),
        ("on August 6th", "2025-08-06"),
        ("on March 9, 2026", "2026-03-09"),
        ("8 March 2026", "2026-03-08"),
        ("3-5 March", "2026-03-03..2026-03-05"),
        ("what happened March 8?", "2026-03-08"),
        ("next Friday", "2026-03-20"),
        ("last Tuesday", TUESDAY),
        ("last Monday", "2026-03-09"),
        ("last March", "2025-03-01..2025-03-31"),
        ("what did I do on Tuesday", TUESDAY),
        ("what did I do on Monday", "2026-03-16"),
        ("Tuesday last week", TUESDAY),
        ("the weekend", "2026-03-14..2026-03-15"),
        ("over the weekend", "2026-03-14..2026-03-15"),
        ("this weekend", "2026-03-21..2026-03-22"),
        ("Q1 results", "2026-01-01..2026-03-31"),
        ("Q4 of 2025", "2025-10-01..2025-12-31"),
        ("last quarter", "2025-10-01..2025-12-31"),
        ("2025", LAST_YEAR),
        ("what did I write in 2025", LAST_YEAR),
        ("spring 2026", "2026-03-01..2026-05-31"),
        ("in the spring of 2025", "2025-03-01..2025-05-31"),
        ("winter 2026", "2025-12-01..2026-02-28"),
        ("April last year", APRIL),
        ("last year in April", APRIL),
        ("the last 3 weeks", "2026-02-24..2026-03-16"),
        ("the past week", "2026-03-10..2026-03-16"),
        ("the past 7 days", "2026-03-10..2026-03-16"),
        ("last 7 days", "2026-03-10..2026-03-16"),
        ("early in May", "2025-05-01..2025-05-10"),
        ("at the end of last year", "2025-09-02..2025-12-31"),
        ("last week of March", "2026-03-25..2026-03-31"),
        ("the first week of November", "2025-11-01..2025-11-07"),
        ("in the first week of the year", "2026-01-01..2026-01-07"),
        ("first half of November", "2025-11-01..2025-11-15"),
        ("the second half of 2025", "2025-07-01..2025-12-31"),
        ("weekend of 21 November", "2025-11-22..2025-11-23"),
        ("over the weekend of March 8", "2026-03-07..2026-03-08"),
        ("the weekend of 2026-03-07", "2026-03-07..2026-03-08"),
        ("the weekend before last", "2026-03-07..2026-03-08"),
        ("the summer before last", "2024-06-01..2024-08-31"),
        ("24.02.", "2026-02-24"),
        ("W10", TWO_WEEKS_AGO),
        ("what did I do in W10?", TWO_WEEKS_AGO),
        ("what did I do in winter?", "2025-12-01..2026-02-28"),
        ("what did I do in May?", MAY),
        ("what was on 12 March?", "2026-03-12"),
        ("in week 10", TWO_WEEKS_AGO),
        ("notes of last month", LAST_MONTH),
        ("Goldenson in October 1954", "1954-10-01..1954-10-31"),
        ("notes from the first quarter of 2025", "2025-01-01..2025-03-31"),
        ("from the week of March 2", "2026-03-02..2026-03-08"),
        ("at the beginning of the year", "2026-01-01..2026-05-01"),
        ("what happened in mid-January", "2026-01-11..2026-01-21"),
        ("over the last year", "2025-03-16..2026-03-16"),
        ("on the 10th", "2026-03-10"),
        ("in Jan 2026", "2026-01-01..2026-01-31"),
        ("in week 12 of 2025", "2025-03-17..2025-03-23"),
        ("on New Year's Eve", "2025-12-31..2026-01-01"),
        ("in the year 2025", LAST_YEAR),
        ("What was I working on in late February?", "2026-02-20..2026-02-28"),
        ("until 2025", "0001-01-01..2025-12-31"),
        ("before April 2025", "0001-01-01..2025-03-31"),
        ("What was decided on 2026-03-08 about last summer", "2026-03-08"),
    ],
)
def test_english_questions_name_times(question: str, expected: str) -> None:
    assert days(question) == expected


@pytest.mark.parametrize(
    ("language", "questions"),
    [
        ("de", {"letzte Woche": LAST_WEEK, "letztes Jahr": LAST_YEAR, "vor zwei Wochen": TWO_WEEKS_AGO,
                "im April": APRIL, "früh im Mai": "2025-05-01..2025-05-10", "Anfang Mai": "2025-05-01..2025-05-10",
                "am Dienstag": TUESDAY, "am 8.3.": "2026-03-08", "am 6. August": "2025-08-06", "gestern": YESTERDAY,
                "im 1. Quartal 2025": "2025-01-01..2025-03-31",
                "in KW 10": TWO_WEEKS_AGO,
                "die letzten 14 Tage": "2026-03-03..2026-03-16",
                "erste Hälfte November": "2025-11-01..2025-11-15", "24.2.": "2026-02-24",
                "vorletztes Wochenende": "2026-03-07..2026-03-08", "heuer": "2026-01-01..2026-12-31",
                "letzte Woche Dienstag": TUESDAY, "im Jahr 2025": LAST_YEAR, "letzten Sommer": LAST_SUMMER}),
        ("sv", {"förra veckan": LAST_WEEK, "på tisdag": TUESDAY, "i tisdags": TUESDAY, "i somras": LAST_SUMMER,
                "för två veckor sedan": TWO_WEEKS_AGO, "i april": APRIL, "igår": YESTERDAY, "i fjol": LAST_YEAR,
                "förrförra veckan": TWO_WEEKS_AGO,
                "förra året i april": APRIL, "i början av maj": "2025-05-01..2025-05-10",
                "mellan mars och maj": "2025-03-01..2025-05-31", "de senaste 3 veckorna": "2026-02-24..2026-03-16",
                "första veckan i november": "2025-11-01..2025-11-07", "den 24.2.": "2026-02-24",
                "den 6 augusti": "2025-08-06", "forra veckan": LAST_WEEK}),
        ("da", {"i sidste uge": LAST_WEEK, "for to uger siden": TWO_WEEKS_AGO, "i april": APRIL, "i går": YESTERDAY,
                "i tirsdags": TUESDAY, "sidste måned": LAST_MONTH}),
        ("no", {"forrige uke": LAST_WEEK, "for to uker siden": TWO_WEEKS_AGO, "i april": APRIL, "i går": YESTERDAY,
                "i fjor": LAST_YEAR, "forrige måned": LAST_MONTH}),
        ("fi", {"viime viikolla": LAST_WEEK, "2 viikkoa sitten": TWO_WEEKS_AGO, "huhtikuussa": APRIL,
                "eilen": YESTERDAY, "tiistaina": TUESDAY, "viime kesänä": LAST_SUMMER, "viikko sitten": LAST_WEEK,
                "toukokuun alussa": "2025-05-01..2025-05-10", "vuonna 2025": LAST_YEAR}),
        ("nl", {"vorige week": LAST_WEEK, "twee weken geleden": TWO_WEEKS_AGO, "in april": APRIL,
                "gisteren": YESTERDAY, "op dinsdag": TUESDAY, "afgelopen zomer": LAST_SUMMER}),
        ("fr", {"la semaine dernière": LAST_WEEK, "il y a 3 jours": THREE_DAYS_AGO, "en avril": APRIL,
                "hier": YESTERDAY, "l'été dernier": LAST_SUMMER, "mardi dernier": TUESDAY, "le 6 août": "2025-08-06",
                "début mai": "2025-05-01..2025-05-10", "depuis mars": "2026-03-01..2026-03-16",
                "les 3 dernières semaines": "2026-02-24..2026-03-16",
                "la première semaine de novembre": "2025-11-01..2025-11-07", "avant-hier": "2026-03-14"}),
        ("es", {"la semana pasada": LAST_WEEK, "hace 3 días": THREE_DAYS_AGO, "en abril": APRIL, "ayer": YESTERDAY,
                "el martes": TUESDAY, "el verano pasado": LAST_SUMMER, "el 6 de agosto": "2025-08-06",
                "el mes pasado": LAST_MONTH, "en 2025": LAST_YEAR, "entre marzo y mayo": "2025-03-01..2025-05-31"}),
        ("pt", {"na semana passada": LAST_WEEK, "há duas semanas": TWO_WEEKS_AGO, "em abril": APRIL,
                "ontem": YESTERDAY, "na terça-feira": TUESDAY, "no ano passado": LAST_YEAR,
                "no fim de semana": "2026-03-14..2026-03-15", "mês passado": LAST_MONTH}),
        ("it", {"la settimana scorsa": LAST_WEEK, "tre giorni fa": THREE_DAYS_AGO, "ad aprile": APRIL,
                "ieri": YESTERDAY, "martedì": TUESDAY, "l'estate scorsa": LAST_SUMMER, "nel 2025": LAST_YEAR}),
        ("ru", {"на прошлой неделе": LAST_WEEK, "в прошлом месяце": LAST_MONTH, "3 дня назад": THREE_DAYS_AGO,
                "в апреле": APRIL, "вчера": YESTERDAY, "во вторник": TUESDAY, "летом": LAST_SUMMER,
                "прошлым летом": LAST_SUMMER, "с марта по май": "2025-03-01..2025-05-31", "в 2025 году": LAST_YEAR,
                "неделю назад": LAST_WEEK}),
        ("uk", {"минулого тижня": LAST_WEEK, "у квітні": APRIL, "вчора": YESTERDAY, "торік": LAST_YEAR}),
        ("pl", {"w zeszłym tygodniu": LAST_WEEK, "3 dni temu": THREE_DAYS_AGO, "w kwietniu": APRIL,
                "wczoraj": YESTERDAY, "we wtorek": TUESDAY, "latem": LAST_SUMMER, "tydzień temu": LAST_WEEK}),
        ("cs", {"minulý týden": LAST_WEEK, "před týdnem": LAST_WEEK, "v dubnu": APRIL, "včera": YESTERDAY}),
        ("tr", {"geçen hafta": LAST_WEEK, "geçen ay": LAST_MONTH, "3 gün önce": THREE_DAYS_AGO, "salı günü": TUESDAY,
                "kasımın ilk haftası": "2025-11-01..2025-11-07", "ocakta ne yaptım?": "2026-01-01..2026-01-31",
                "nisanda": APRIL, "Nisan'da": APRIL, "dün": YESTERDAY, "geçen yaz": LAST_SUMMER,
                "2025 yılında": LAST_YEAR, "2025'te": LAST_YEAR,
                "mart ile mayıs arasında": "2025-03-01..2025-05-31",
                "geçen hafta sonu": "2026-03-14..2026-03-15",
                "gecen hafta": LAST_WEEK}),
        ("ar", {"الأسبوع الماضي": LAST_WEEK, "الشهر الماضي": LAST_MONTH, "في أبريل": APRIL, "أمس": YESTERDAY,
                "قبل أسبوعين": TWO_WEEKS_AGO, "قبل 3 أيام": THREE_DAYS_AGO, "في عام 2025": LAST_YEAR}),
        ("zh", {"上周": LAST_WEEK, "上个月": LAST_MONTH, "3天前": THREE_DAYS_AGO, "三天前": THREE_DAYS_AGO,
                "昨天": YESTERDAY, "去年": LAST_YEAR, "去年夏天": LAST_SUMMER, "2025年4月": APRIL, "4月": APRIL,
                "周二": TUESDAY, "上周二": TUESDAY, "三月底": "2026-03-22..2026-03-31",
                "3月8日": "2026-03-08", "2026年3月8日": "2026-03-08", "上週": LAST_WEEK}),
        ("ja", {"先週": LAST_WEEK, "先月": LAST_MONTH, "3日前": THREE_DAYS_AGO, "昨日": YESTERDAY, "去年": LAST_YEAR,
                "4月": APRIL, "火曜日": TUESDAY, "3月から5月まで": "2025-03-01..2025-05-31",
                "11月の前半": "2025-11-01..2025-11-15"}),
        ("ko", {"지난주": LAST_WEEK, "지난달": LAST_MONTH, "3일 전": THREE_DAYS_AGO, "어제": YESTERDAY,
                "작년": LAST_YEAR, "4월": APRIL}),
    ],
)  # fmt: skip
def test_questions_in_many_languages_name_times(language: str, questions: dict[str, str]) -> None:
    assert {question: days(question, language) for question in questions} == questions


@pytest.mark.parametrize(
    ("language", "question"),
    [("el", "την προηγούμενη εβδομάδα"), ("ro", "săptămâna trecută"), ("hi", "पिछला सप्ताह"), ("vi", "tuần trước"),
     ("id", "minggu lalu"), ("he", "השבוע שעבר")],
)  # fmt: skip
def test_languages_without_a_table_of_ours_have_the_librarys(language: str, question: str) -> None:
    assert days(question, language) == LAST_WEEK


@pytest.mark.parametrize(
    "question", ["vad gjorde jag förra veckan?", "geçen hafta ne yaptım", "上周", "на прошлой неделе"]
)
@pytest.mark.parametrize("detected", ["en", "und", "nl", "xx"])
def test_a_language_that_was_not_recognised_is_read_all_the_same(question: str, detected: str) -> None:
    assert days(question, detected) == LAST_WEEK
    assert days("what did I do last week", detected) == LAST_WEEK


@pytest.mark.parametrize(
    "question",
    [
        "What does April like?", "email from April about rent", "a gift for June", "Summer's address", "May I go?",
        "which of the 5 may fail", "the soldiers march on", "second opinion on march madness", "the 5 reasons",
        "version 2.0.2026", "Python 3.12 news", "C/2014 Q2 (Lovejoy)", "the 2012 Olympics", "during the 2012 games",
        "PS5 or 2026 model", "sun and sat now", "What is Black Friday?", "every Tuesday", "first name of Bo",
        "last name of Bo", "at first glance", "an April Fool's joke", "Home Alone Tonight by Jerrod",
        "my last day at work",
        "part of the day", "how long is a year", "the next step", "last but not least", "on 2026-02-31", "10 12 2026",
        "this may require a restart", "a tributary of July Creek", "September Films", "since the fall of the empire",
        "What is 2026 about?", "spring boot", "the Monday group", "second-hand March", "apartment 1999",
        "PS5 days ago", "what is in May's kitchen?", "in June's office", "does the lake freeze in winter?",
        "what is the yesterday song?", "the Python 3.12. release", "the W12 engine", "",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_time_is_none(question: str) -> None:
    assert days(question) is None
    assert days(f"{question} yesterday") == YESTERDAY, "beside it a time is found"


@pytest.mark.parametrize(
    ("language", "question"),
    [("de", "Guten Morgen sagen"), ("de", "was macht August"), ("sv", "i vår lägenhet"), ("sv", "de mars"),
     ("sv", "finns det liv på mars?"), ("no", "er det liv på mars?"), ("tr", "ocakta ne pişiyor?"),
     ("sv", "från fall till fall"),
     ("zh", "晚上月亮"), ("ja", "名前は何"), ("es", "por la mañana"), ("tr", "mart kedisi"), ("fr", "le lundi"),
     ("pt", "na segunda parte")],
)  # fmt: skip
def test_what_only_looks_like_a_time_is_none_in_other_languages(language: str, question: str) -> None:
    assert days(question, language) is None


@pytest.mark.parametrize(
    ("language", "question", "order"),
    [
        ("en", "the latest note about pumps", "latest"), ("en", "when did I last see Anna?", "latest"),
        ("en", "last time I ran", "latest"), ("en", "most recent invoice", "latest"),
        ("en", "when did I first meet Bo", "earliest"), ("en", "the first time I ran", "earliest"),
        ("en", "oldest entry", "earliest"), ("en", "how often do I run", "often"),
        ("en", "how many times did I run last year", "often"),
        ("de", "wann war ich zuletzt in Berlin", "latest"), ("de", "zum ersten Mal", "earliest"),
        ("de", "wie oft", "often"), ("sv", "senaste gången jag sprang", "latest"), ("sv", "första gången", "earliest"),
        ("sv", "hur ofta", "often"), ("tr", "en son ne zaman koştum", "latest"), ("tr", "ilk kez", "earliest"),
        ("tr", "kaç kez", "often"), ("es", "la última vez", "latest"), ("fr", "combien de fois", "often"),
        ("it", "la prima volta", "earliest"), ("pt", "quantas vezes", "often"), ("nl", "hoe vaak", "often"),
        ("ru", "в последний раз", "latest"), ("ru", "впервые", "earliest"), ("pl", "jak często", "often"),
        ("zh", "最近一次", "latest"), ("ja", "初めて", "earliest"), ("ar", "آخر مرة", "latest"),
        ("da", "hvor ofte", "often"), ("no", "siste gang", "latest"), ("fi", "viimeksi", "latest"),
        ("en", "who did I meet last?", "latest"), ("en", "who did I last meet?", "latest"),
        ("en", "what did I read recently?", "latest"), ("en", "most recently", "latest"),
        ("sv", "senaste simningen", "latest"), ("sv", "när simmade jag sist?", "latest"),
        ("de", "zuletzt", "latest"), ("tr", "en son", "latest"), ("fr", "dernière fois", "latest"),
        ("en", "how long did it last?", None), ("en", "at last", None),
        ("en", "which came more recently?", None), ("sv", "till sist", None),
        ("sv", "senaste veckan", None), ("en", "the week before last", None),
        ("en", "what did I do last week", None), ("en", "at first glance", None), ("en", "first name of Bo", None),
        ("en", "the last chapter", None), ("en", "first aid", None), ("de", "letzte Woche", None),
    ],
)  # fmt: skip
def test_orders_are_read(language: str, question: str, order: str | None) -> None:
    assert when(question, language).order == order


def test_a_question_that_looks_ahead_means_the_coming_day() -> None:
    assert days("what will I do on Friday?") == "2026-03-20"
    assert days("what did I do on Friday?") == "2026-03-13"
    assert days("vad ska jag göra på tisdag?", "sv") == "2026-03-17"
    assert days("what will I do in April") == "2026-04-01..2026-04-30"
    assert days("what is on 12 December?") == "2026-12-12"
    assert days("what's on Friday?") == "2026-03-20"
    assert days("plans for 12 December") == "2026-12-12"
    assert days("plans for Friday") == "2026-03-20"
    assert days("Robinson made a coat for Friday") is None
    assert days("que fais-je vendredi ?", "fr") == "2026-03-20"
    assert days("cosa ho fatto venerdì?", "it") == "2026-03-13"
    assert days("what did I do on 12 December?") == "2025-12-12"
    assert days("plannen voor vrijdag", "nl") == "2026-03-20"
    assert days("wat kocht ik voor vrijdag?", "nl") is None, "for it, or before it"
    assert days("wat deed ik vóór vrijdag?", "nl") == "0001-01-01..2026-03-12"
    assert days("cadeaus voor kerst", "nl") is None
    assert days("was mache ich am Freitag?", "de") == "2026-03-20"
    assert days("was habe ich am Freitag gemacht?", "de") == "2026-03-13"


def test_what_is_before_something_ends_there_and_begins_today_where_it_is_to_be_done() -> None:
    assert days("what did I do before Christmas?") == "0001-01-01..2025-12-23"
    assert days("what do I have to do before Christmas?") == "2026-03-16..2026-12-23"
    assert days("what will I do until Friday?") == "2026-03-16..2026-03-20"


def test_a_weekend_is_found_wherever_the_week_begins() -> None:
    for start in (Weekday.MONDAY, Weekday.SUNDAY, Weekday.SATURDAY):
        for question in ("the weekend before last", "weekend 2 weeks ago", "weekend of 7 March"):
            found = when(question, week_start=start).days
            assert found is not None
            assert date(2026, 3, 7).toordinal() in range(found[0], found[1] + 1)


def test_a_week_begins_on_the_owners_day() -> None:
    for start, expected in ((Weekday.MONDAY, date(2026, 3, 9)), (Weekday.SUNDAY, date(2026, 3, 8)),
                            (Weekday.SATURDAY, date(2026, 3, 7))):  # fmt: skip
        found = when("last week", week_start=start).days
        assert found == (expected.toordinal(), expected.toordinal() + 6)
    weekend = when("last weekend", week_start=Weekday.SATURDAY).days
    assert weekend
    assert date.fromordinal(weekend[0]).weekday() == Weekday.FRIDAY


def test_the_words_are_taken_out_whole() -> None:
    assert when("What did I write in April about Bo?") == When(
        when("in April").days, "in April", None, "What did I write about Bo?"
    )
    assert when("What is next month's plan?").words == "next month's"
    assert when("What is next month's plan?").rest == "What is plan?"
    assert when("last week?").rest == "?"
    assert when("Tuesday last week?").words == "Tuesday last week"
    assert when("the day after tomorrow").words == "the day after tomorrow"
    assert when("上周我做了什么", "zh").rest == "我做了什么"
    assert when("What about rent?") == When(None, "", None, "What about rent?")


ANY_DAY = st.dates(min_value=date(2, 1, 1), max_value=date(9990, 1, 1))
PHRASES = st.sampled_from(
    ["last week", "in April", "3 days ago", "on Tuesday", "since March", "between March and May", "this summer",
     "next year", "the last 3 months", "early in May", "förra veckan", "geçen ay", "上周", "в марте", "2025", "Q1"]
)  # fmt: skip


@given(
    st.dates(),
    st.sampled_from(["what did I do on {}?", "{}", "vad hände {} där", "{}に何をした", "ماذا حدث في {}"]),
    ANY_DAY,
)
def test_every_date_in_iso_form_is_found(day: date, question: str, today: date) -> None:
    now = datetime(today.year, today.month, today.day, tzinfo=UTC)
    found = when(question.format(day.isoformat()), "und", now)
    assert found.days == (day.toordinal(), day.toordinal())
    assert day.isoformat() in found.words


@given(ANY_DAY, st.sampled_from(list(Weekday)))
@example(date(2, 1, 1), Weekday.SUNDAY)
def test_last_this_and_next_week_follow_each_other(today: date, start: Weekday) -> None:
    now = datetime(today.year, today.month, today.day, tzinfo=UTC)
    weeks = [when(f"{turn} week", now=now, week_start=start).days for turn in ("last", "this", "next")]
    this = week_around(today.toordinal(), start)
    assert weeks == [(this[0] - 7, this[0] - 1), this, (this[1] + 1, this[1] + 7)]


@given(ANY_DAY, st.integers(1, 12), st.integers(1, 28))
def test_a_name_without_a_year_means_one_that_has_begun_and_is_of_that_name(today: date, month: int, day: int) -> None:
    now = datetime(today.year, today.month, today.day, tzinfo=UTC)
    name = f"{date(2026, month, day):%B}"
    found = when(f"in {name}", now=now).days
    assert found
    begins = date.fromordinal(found[0])
    assert begins <= today
    assert found == month_of(begins.year, month)
    assert today - begins < timedelta(days=366 + 31)
    dated = when(f"on {name} {day}", now=now).days
    assert dated
    assert date.fromordinal(dated[0]).day == day
    assert dated[0] == dated[1] <= today.toordinal()


@given(st.integers(1, 9_000), st.sampled_from(["day", "week", "month", "year"]))
def test_what_was_so_long_ago_holds_the_day_so_many_units_back(count: int, unit: str) -> None:
    found = when(f"{count} {unit}s ago").days
    length = {"day": 1, "week": 7, "month": 31, "year": 366}[unit]
    if found:
        assert found[1] - found[0] < length
        assert found[1] < NOW.date().toordinal()
    assert (found is None) == (count >= 1_000)


@given(st.text(max_size=30), PHRASES, st.text(max_size=30))
def test_rest_and_words_are_the_question(before: str, phrase: str, after: str) -> None:
    question = f"{before} {phrase} {after}"
    found = when(question, "und")
    if found.days is None:
        assert (found.words, found.rest) == ("", question)
        return
    assert found.words in question
    assert sorted("".join(f"{found.words}{found.rest}".split())) == sorted("".join(question.split()))
    assert found.days[0] <= found.days[1]


@given(st.text(max_size=200), st.sampled_from([*WRITTEN, "und", "el"]))
@example("in 9999 9999-12-31 next year 1000 years ago", "en")
@example("between and since until before last this next", "en")
def test_no_question_breaks_the_reading(question: str, language: str) -> None:
    for now in (NOW, datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)):
        found = when(question, language, now)
        assert found.days is None or found.days[0] <= found.days[1]


@pytest.mark.parametrize("today", [date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29)])
def test_the_ends_of_the_calendar_are_no_trouble(today: date) -> None:
    now = datetime(today.year, today.month, today.day, tzinfo=UTC)
    for question in (
        *("last week", "next week", "last year", "next year", "on February 29", "in the winter", "over the weekend"),
        *("weekend of 9999-12-31", "weekend of 0001-01-01", "first half of the year", "the weekend before last"),
        *("3 months ago", "the last 500 years", "next Friday", "tomorrow", "at easter", "after 2020"),
    ):
        when(question, now=now)
    assert when("this year", now=now).days == year_of(today.year)


@pytest.mark.parametrize("language", WRITTEN)
def test_every_table_knows_all_months_and_days(language: str) -> None:
    parts = {roles["part"] for roles in lexicon_of(language).roles.values() if "part" in roles}
    assert {part.number for part in parts if part.kind == "month"} == set(range(1, 13))
    assert {part.number for part in parts if part.kind == "weekday"} == set(range(7))
    assert {part.number for part in parts if part.kind == "season"} == set(range(4))


SAYS_ONLY_THAT_IT_HAPPENED = {
    "en": ["what happened", "What did I do?", "what's new", "anything", "my notes", "what did I write", "?", ""],
    "sv": ["vad hände", "vad gjorde jag", "vad har jag gjort", "något nytt?", "vad hande"],
    "de": ["was ist passiert", "was habe ich gemacht", "was war los", "was gibt es Neues"],
    "da": ["hvad skete der", "hvad lavede jeg"],
    "no": ["hva skjedde", "hva gjorde jeg"],
    "nb": ["hva skjedde"],
    "fi": ["mitä tapahtui", "mitä tein"],
    "nl": ["wat gebeurde er", "wat heb ik gedaan"],
    "fr": ["que s'est-il passé", "qu'ai-je fait", "qu'est-ce que j'ai fait", "quoi de neuf"],
    "es": ["qué hice", "qué pasó", "que hice"],
    "pt": ["o que fiz", "o que aconteceu"],
    "it": ["cosa ho fatto", "cos'è successo"],
    "ru": ["что я делал", "что случилось"],
    "uk": ["що я робив", "що сталося"],
    "pl": ["co robiłem", "co się stało"],
    "cs": ["co jsem dělal", "co se stalo"],
    "tr": ["ne yaptım", "ne oldu"],
    "ar": ["ماذا فعلت", "ماذا حدث"],
    "zh": ["做了什么", "我做了什么", "发生了什么事", "我做了什麼"],
    "ja": ["何をした", "何をしましたか", "何があった？"],
    "ko": ["무엇을 했나요", "무슨 일이 있었나요"],
    "und": ["what happened"],
    "hi": ["what happened"],
}
SAYS_MORE = {
    "en": ["what did I eat", "what happened at the fire", "rent", "2025", "what did Anna say"],
    "sv": ["vad åt jag", "hyran", "vad hände med pumpen"],
    "de": ["was habe ich gegessen"],
    "da": ["hvad spiste jeg"],
    "no": ["hva spiste jeg"],
    "nb": ["husleie"],
    "fi": ["mitä söin"],
    "nl": ["wat heb ik gegeten"],
    "fr": ["qu'ai-je mangé"],
    "es": ["qué comí"],
    "pt": ["o que comi"],
    "it": ["cosa ho mangiato"],
    "ru": ["что я ел"],
    "uk": ["що я їв"],
    "pl": ["co jadłem"],
    "cs": ["co jsem jedl"],
    "tr": ["ne yedim"],
    "ar": ["ماذا أكلت"],
    "zh": ["我吃了什么", "房租"],
    "ja": ["何を食べた", "かき"],
    "ko": ["무엇을 먹었나요"],
    "und": ["hyran", "what did I do 🚀"],
    "hi": ["किराया"],
}


@pytest.mark.parametrize("language", [*WRITTEN, "nb", "und", "hi"])
def test_a_question_that_says_only_that_something_happened_is_told_from_one_that_says_more(language: str) -> None:
    asked = [*SAYS_ONLY_THAT_IT_HAPPENED[language], *SAYS_MORE[language]]
    found = [rest for rest in asked if asks_what_happened(rest, language)]
    assert found == SAYS_ONLY_THAT_IT_HAPPENED[language]


def test_what_happened_is_asked_by_what_is_left_of_a_question_with_a_time() -> None:
    for language, question in (
        ("en", "What did I do last week?"),
        ("sv", "vad gjorde jag förra veckan?"),
        ("zh", "上周我做了什么"),
    ):
        assert asks_what_happened(when(question, language).rest, language)
    assert not asks_what_happened(when("What did I do in Rome last week?").rest, "en")
