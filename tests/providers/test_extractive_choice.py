"""Quotes beside the best one: what they add to it, and the notes it leads to."""

from dataclasses import replace

import pytest

from prompting import prompt_of
from vault_ask.answering.context import Excerpt
from vault_ask.index.terms import query_words
from vault_ask.providers.extractive import ExtractiveGenerator
from vault_ask.providers.extractive_choice import MOST_QUOTES
from vault_ask.retrieval.helpers import helpers_of


def note(n: int, title: str, text: str, *, score: float = 1.0, language: str = "en", via: str | None = None) -> Excerpt:
    return Excerpt(
        n=n,
        path=f"{title}.md",
        title=title,
        heading_path=(),
        text=text,
        line_start=1,
        line_end=1 + text.count("\n"),
        score=score,
        language=language,
        via=via,
    )


def weighed(question: str, language: str, rare: dict[str, float]) -> dict[str, float]:
    """Weigh the words of a question: those that only help others nothing, all others alike but for some."""
    helpers = helpers_of(language)
    return {word: rare.get(word, 0.0 if word in helpers else 2.0) for word in query_words(question, (language,))}


def quotes(question: str, *notes: Excerpt, language: str = "en", **rare: float) -> list[str]:
    texts = {one.n: one.text for one in notes}
    idf = weighed(question, language, rare)
    prompt = prompt_of(question, *notes, language=language, query=question, idf=idf)
    found = ExtractiveGenerator(embedder=None).quotes(prompt)
    return [texts[quote.n][quote.start : quote.end] for quote in found]


class TestTheNoteThatAQuoteNames:
    @pytest.mark.parametrize(
        ("language", "question", "first", "second"),
        [
            (
                "en",
                "Where was the director of The Blue Lamp born?",
                ("The Blue Lamp", "The Blue Lamp is a film of 1950. The director of The Blue Lamp was Basil Dearden."),
                ("Basil Dearden", "Born in Westcliff-on-Sea, he began as an actor. He died in 1971."),
            ),
            (
                "sv",
                "Vilket telefonnummer har hyresvärden för lägenheten i Lund?",
                ("Lägenheten", "Lägenheten i Lund har två rum. Hyresvärden för lägenheten i Lund är Karin Ek."),
                ("Karin Ek", "Nås lättast på telefonnummer 046-123. Bor i Malmö."),
            ),
            (
                "ru",
                "Где живёт врач, который лечил кошку?",
                ("Кошка", "Кошку зовут Муся. Кошку лечил врач по совету Анны Смирновой."),
                ("Анна Смирнова", "Живёт на улице Мира. Работает по утрам."),
            ),
            (
                "zh",
                "蓝灯的导演在哪里出生？",
                ("蓝灯", "蓝灯是一部电影。蓝灯的导演是巴兹尔。"),
                ("巴兹尔", "出生于英国海边。他早年做演员。"),
            ),
        ],
    )  # fmt: skip
    def test_is_quoted_behind_it(
        self, language: str, question: str, first: tuple[str, str], second: tuple[str, str]
    ) -> None:
        one, other = note(1, *first, language=language), note(2, *second, score=0.4, language=language)
        said = quotes(question, one, other, language=language)
        assert said[0] in first[1]
        assert any(quote in second[1] for quote in said)

    def test_may_have_a_qualifier_in_its_name(self) -> None:
        film = note(1, "The Blue Lamp (1950 film)", "The director of The Blue Lamp was Basil Dearden.")
        person = note(2, "Basil Dearden (1911)", "Born in Westcliff-on-Sea. He died in 1971.", score=0.4)
        assert quotes("Where was the director of The Blue Lamp born?", film, person)[1] == "Born in Westcliff-on-Sea."

    def test_needs_a_name_that_is_more_than_a_helper(self) -> None:
        film = note(1, "The Blue Lamp", "The director of The Blue Lamp was who it was: Basil Dearden.")
        other = note(2, "Who it was", "Lunch on Monday. Soup again.", score=0.1)
        assert quotes("Where was the director of The Blue Lamp born?", film, other) == [film.text]


class TestTheNoteThatALinkLedTo:
    CABIN = note(1, "Cabin", "The cabin by the lake was built by the same carpenter as the boat.")
    QUESTION = "What is the number of the carpenter who built the cabin?"

    def test_is_quoted_behind_the_note_with_the_link(self) -> None:
        person = note(2, "Olof", "Call him on 555-0199, mornings.", score=0.3, via="Cabin.md")
        assert quotes(self.QUESTION, self.CABIN, person)[:2] == [self.CABIN.text, "Call him on 555-0199, mornings."]

    def test_is_left_out_where_the_link_is_of_a_note_that_is_not_quoted(self) -> None:
        person = note(2, "Olof", "Call him on 555-0199, mornings.", score=0.3, via="Elsewhere.md")
        assert quotes(self.QUESTION, self.CABIN, person) == [self.CABIN.text]

    def test_is_left_out_where_nothing_is_left_to_answer(self) -> None:
        person = note(2, "Olof", "Call him on 555-0199, mornings.", score=0.3, via="Cabin.md")
        assert quotes("Who built the cabin?", self.CABIN, person) == [self.CABIN.text]
        assert quotes("Who built the cabin, on which phone?", self.CABIN, person) == [self.CABIN.text, person.text]


class TestWhatAQuoteAdds:
    BOILER = note(
        1, "Boiler", "The boiler was serviced by Anna in March. The boiler was serviced by Bo in June. It is old."
    )

    def test_the_other_half_of_a_question_comes_before_more_of_the_same_half(self) -> None:
        insurance = note(2, "Insurance", "The yearly premium is 900 crowns, due in May.", score=0.5)
        said = quotes(
            "Who serviced the boiler and what is the yearly premium of the insurance?", self.BOILER, insurance
        )
        assert said[0] in self.BOILER.text
        assert said[1] == insurance.text

    def test_what_a_quote_holds_is_not_added_again(self) -> None:
        insurance = note(2, "Insurance", "The yearly premium is 900 crowns, due in May.", score=0.5)
        offer = note(3, "Offer", "A yearly premium of 700 crowns, said Bo.", score=0.1)
        asked = "Who serviced the boiler in the cellar and what is the yearly premium?"
        more = "The boiler was serviced by Bo in June."
        alone, beside = quotes(asked, self.BOILER, offer), quotes(asked, self.BOILER, insurance, offer)
        assert alone.index(offer.text) < alone.index(more)
        assert beside.index(insurance.text) < beside.index(more) < beside.index(offer.text)

    def test_of_two_things_that_are_compared_both_are_quoted(self) -> None:
        first = note(1, "Xinghua", "Xinghua is a county-level city under the administration of Taizhou.")
        second = note(2, "Baiyin", "It is a city in the north of Gansu. Copper is mined there.", score=0.4)
        assert quotes("Is Baiyin or Xinghua a county-level city?", first, second)[1] in second.text

    def test_one_word_in_a_note_that_is_not_about_it_adds_nothing(self) -> None:
        other = note(2, "Garden", "In the yearly plan there are beans.", score=0.1)
        said = quotes("Who serviced the boiler at the yearly check?", self.BOILER, other)
        assert said[0] in self.BOILER.text
        assert other.text not in said

    def test_words_of_another_language_add_nothing(self) -> None:
        asked = "Who serviced the boiler in the cellar, and the gift far?"
        english, swedish = (note(2, "Chance", "Min far fick ett gift.", score=0.1, language=of) for of in ("en", "sv"))
        assert english.text in quotes(asked, self.BOILER, english, gift=1.0, far=1.0)
        assert swedish.text not in quotes(asked, self.BOILER, swedish, gift=1.0, far=1.0)

    def test_there_are_never_more_than_a_few(self) -> None:
        rents = [note(n, f"Flat {n}", f"The rent of flat {n} is {n}00.") for n in range(1, 9)]
        assert len(quotes("What is the rent of flat 1, 2, 3, 4, 5, 6, 7 and 8?", *rents)) == MOST_QUOTES


class TestADateAmongTheProperties:
    QUESTION = "How many kilos of potatoes did the plot give in 2026?"
    DATE = replace(note(2, "2026-05-06", "date: 2026-05-06", score=0.9), of_properties=True)

    def test_is_not_quoted_for_the_year_of_the_question(self) -> None:
        plot = note(1, "Plot", "31 kilos of potatoes from four rows of the plot.")
        assert quotes(self.QUESTION, plot, self.DATE) == [plot.text]

    def test_is_quoted_where_it_is_the_best_there_is(self) -> None:
        assert quotes("2026", self.DATE) == [self.DATE.text]
