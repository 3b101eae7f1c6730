import asyncio
import re
from collections.abc import Sequence

import numpy as np
import pytest

from prompting import prompt_of
from vault_ask.answering.context import Excerpt
from vault_ask.answering.ports import Quoted
from vault_ask.answering.sayings import silence
from vault_ask.answering.wording import Wording
from vault_ask.errors import ModelUnreachable
from vault_ask.index.embedding import EmbeddingSpace, Refused, Vector
from vault_ask.index.within import Tasks
from vault_ask.notes.tasks import TaskState
from vault_ask.providers.extractive import CANDIDATES, ExtractiveGenerator


class PointingEmbedder:
    """Turns each text into the direction of the first word of `axes` that it holds; `seen` keeps what it was given."""

    def __init__(self, *axes: frozenset[str], error: Exception | None = None) -> None:
        self._axes = axes
        self._error = error
        self.seen: list[str] = []

    @property
    def space(self) -> EmbeddingSpace:
        return EmbeddingSpace(model="pointing", dimension=len(self._axes) + 1)

    @property
    def max_tokens(self) -> int:
        return 512

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed_query(self, text: str) -> Vector:
        if self._error:
            raise self._error
        return self._vector(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector | Refused]:
        self.seen.extend(texts)
        return [Refused("blank") if "REFUSED" in text else self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        vector = np.zeros(len(self._axes) + 1, dtype=np.float32)
        place = next((i for i, words in enumerate(self._axes) if words & set(re.findall(r"\w+", text.lower()))), -1)
        vector[place] = 1.0
        return vector


def excerpt(
    n: int,
    text: str,
    *,
    score: float = 1.0,
    language: str = "en",
    path: str = "",
    in_question: bool = False,
    of_properties: bool = False,
    timely: float = 0.0,
) -> Excerpt:
    path = path or f"Note {n}.md"
    return Excerpt(
        n=n,
        path=path,
        title=path.removesuffix(".md"),
        heading_path=(),
        text=text,
        line_start=1,
        line_end=1 + text.count("\n"),
        score=score,
        language=language,
        in_question=in_question,
        of_properties=of_properties,
        timely=timely,
    )


def quotes(question: str, *excerpts: Excerpt, language: str = "en", embedder: PointingEmbedder | None = None,
           answer_chars: int = 700, idf: dict[str, float] | None = None,
           is_broad: bool = False, is_of_a_time: bool = False) -> list[str]:  # fmt: skip
    prompt = prompt_of(question, *excerpts, language=language, query=question, idf=idf, is_broad=is_broad,
                       is_of_a_time=is_of_a_time)  # fmt: skip
    by_number = {e.n: e for e in excerpts}
    found = ExtractiveGenerator(embedder=embedder, answer_chars=answer_chars).quotes(prompt)
    return [by_number[q.n].text[q.start : q.end] for q in found]


def test_the_sentence_that_answers_comes_first() -> None:
    first, *_ = quotes(
        "When does the rent go up?",
        excerpt(1, "The flat has two rooms. The rent goes up to 9200 in May. The boiler is old."),
        excerpt(2, "Grapefruit season starts in January.", score=0.2),
    )
    assert first == "The rent goes up to 9200 in May."


@pytest.mark.parametrize(
    ("language", "question", "text", "answer"),
    [
        ("sv", "Vad kostar lägenheterna?", "Rött. Lägenheten kostar 9200 kronor.", "Lägenheten kostar 9200 kronor."),
        ("tr", "Kira ne kadar?", "Ev büyük. Kiramız 9200 lira. Balkon var.", "Kiramız 9200 lira."),
        ("zh", "房租是多少？", "公寓有两个房间。房租是9200元。锅炉很旧。", "房租是9200元。"),
        ("ar", "كم الإيجار؟", "الشقة كبيرة. الإيجار 9200 كرونة. السخان قديم.", "الإيجار 9200 كرونة."),
        ("ru", "Сколько стоит аренда?", "Дом красный. Аренда стоит 9200. Котёл старый.", "Аренда стоит 9200."),
    ],
)  # fmt: skip
def test_it_answers_in_any_language(language: str, question: str, text: str, answer: str) -> None:
    assert quotes(question, excerpt(1, text, language=language), language=language)[0] == answer


def test_an_answer_that_is_the_whole_question_and_one_name_is_no_repetition() -> None:
    said = "The old lighthouse keeper's grey parrot is named Quibberwick"
    note = excerpt(1, f"Rain all day. {said}. Nobody came.")
    question = "What is the name of the old lighthouse keeper's grey parrot, and was it named by him?"
    assert quotes(question, note)[0] == f"{said}."
    repeated = excerpt(1, "The old lighthouse keeper's grey parrot is also named. It answers to Quibberwick.")
    assert quotes(question, repeated)[0] == "It answers to Quibberwick."


def test_vectors_find_the_answer_where_note_and_question_share_no_word() -> None:
    note = excerpt(1, "Huset är rött. Hyran höjs till 9200. Pannan är gammal.", language="sv")
    embedder = PointingEmbedder(frozenset({"rent", "hyran"}))
    assert quotes("What about the rent?", note, embedder=embedder)[0] == "Hyran höjs till 9200."


def test_an_embedder_that_fails_costs_nothing_but_its_say() -> None:
    note = excerpt(1, "The house is red. The rent is 9200. The boiler is old.")
    away = PointingEmbedder(error=ModelUnreachable("away"))
    assert quotes("What is the rent?", note, embedder=away) == quotes("What is the rent?", note)


def test_a_sentence_without_a_vector_keeps_its_place() -> None:
    note = excerpt(1, "The house is red. The rent is 9200 REFUSED. The boiler is old.")
    embedder = PointingEmbedder(frozenset({"nothing"}))
    assert quotes("What is the rent?", note, embedder=embedder)[0] == "The rent is 9200 REFUSED."


def test_only_the_best_sentences_are_embedded() -> None:
    note = excerpt(1, " ".join(f"Sentence number {i} is about things." for i in range(60)) + " The rent is 9200.")
    embedder = PointingEmbedder(frozenset({"rent"}))
    quotes("What is the rent?", note, embedder=embedder)
    assert len(embedder.seen) == CANDIDATES
    assert "The rent is 9200." in embedder.seen


def test_rare_words_weigh_more_than_common_ones() -> None:
    note = excerpt(1, "Zanzibar has cloves. What is the thing that is the most of all?")
    idf = {"what": 0.0, "is": 0.0, "the": 0.0, "of": 0.1, "zanzibar": 6.0}
    assert quotes("What is the thing of Zanzibar?", note, idf=idf)[0] == "Zanzibar has cloves."


@pytest.mark.parametrize("room", [80, 200, 700])
def test_quotes_never_take_more_than_their_room(room: int) -> None:
    texts = [excerpt(n, " ".join(f"The rent of flat {n}-{i} is {i} crowns." for i in range(40))) for n in range(1, 5)]
    found = quotes("What is the rent?", *texts, answer_chars=room)
    assert 0 < sum(map(len, found)) <= room


def test_a_sentence_longer_than_the_room_is_quoted_in_part() -> None:
    found = quotes("What is the rent?", excerpt(1, "The rent is 9200 " + "and so on " * 60), answer_chars=80)
    assert found
    assert found[0].startswith("The rent is 9200")
    assert len(found[0]) <= 80


def test_nothing_is_quoted_twice() -> None:
    same = "The rent is 9200."
    found = quotes("What is the rent?", excerpt(1, same), excerpt(2, same, score=0.5))
    assert found == [same]


def test_a_stream_yields_the_quotes_as_places_in_the_excerpts() -> None:
    note = excerpt(3, "The rent is 9200.")
    prompt = prompt_of("What is the rent?", note)

    async def read() -> list[object]:
        return [piece async for piece in ExtractiveGenerator(embedder=None).stream(prompt)]

    assert asyncio.run(read()) == [Quoted(3, 0, 17)]


def test_a_passage_of_headings_alone_is_quoted_by_its_first_line() -> None:
    assert quotes("What is the rent?", excerpt(1, "\n## Rent 9200\n\n## Deposit")) == ["## Rent 9200"]


class TestTheNoteInQuestion:
    OWN = "The boat was built in 1974. It is made of oak. The mast is new. It sails well. It leaks. It is red."
    MORE = "Below deck there are four berths. The stove burns wood."

    def test_its_sentence_is_quoted_before_one_that_says_as_much(self) -> None:
        own, other = excerpt(2, "The mast is made of spruce."), excerpt(1, "The mast is made of steel.", score=1.1)
        assert quotes("What is the mast made of?", other, own)[0] == "The mast is made of steel."
        mine = excerpt(2, own.text, in_question=True)
        assert quotes("What is the mast made of?", other, mine)[0] == "The mast is made of spruce."

    def test_a_sentence_elsewhere_that_answers_still_wins(self) -> None:
        own = excerpt(1, self.OWN, in_question=True)
        other = excerpt(2, "The rent of the flat is 9200 crowns. The flat has two rooms.")
        assert quotes("What is the rent of the flat?", own, other)[0] == "The rent of the flat is 9200 crowns."
        assert (
            quotes("What is the rent of the flat?", own, other, is_broad=True)[0]
            == "The rent of the flat is 9200 crowns."
        )

    @pytest.mark.parametrize("question", ["summarise this note", "Worum geht es hier?", "これは何ですか"])
    def test_a_question_about_it_as_a_whole_is_answered_by_how_its_passages_begin(self, question: str) -> None:
        own = excerpt(1, self.OWN, in_question=True), excerpt(2, self.MORE, score=0.3, in_question=True)
        other = excerpt(3, "I have to summarise the meeting. This is another note.", score=1.2)
        idf = {"summarise": 4.0, "this": 0.5, "note": 0.5}
        said = quotes(question, *own, other, is_broad=True, idf=idf)
        assert said[0] == "The boat was built in 1974."
        assert "Below deck there are four berths." in said
        assert not any(quote in other.text for quote in said)

    def test_where_its_passages_hold_no_sentence_a_line_of_it_is_quoted(self) -> None:
        own, other = excerpt(1, "# Boat", score=0.1, in_question=True), excerpt(2, "# Summary")
        assert quotes("summarise this", own, other, is_broad=True) == ["# Boat"]


class TestTasks:
    PLAN = excerpt(
        1, "# Kitchen\n\n- [x] Order the kitchen sink\n- [ ] Paint the kitchen wall\n- [/] Tile the kitchen floor\n"
    )
    OTHER = excerpt(2, "The kitchen is blue. It was green.\n")
    OPEN = (Tasks((TaskState.OPEN,)),)

    def quoted(self, question: str, *excerpts: Excerpt, **more: object) -> list[str]:
        texts = {one.n: one.text for one in excerpts}
        quotes = ExtractiveGenerator(embedder=None).quotes(prompt_of(question, *excerpts, **more))
        return [texts[quote.n][quote.start : quote.end] for quote in quotes]

    def test_a_quoted_task_shows_its_box(self) -> None:
        said = self.quoted("Which kitchen sink was ordered?", self.PLAN, self.OTHER)
        assert said[0] == "[x] Order the kitchen sink"

    def test_tasks_of_the_state_that_is_asked_for_come_before_others(self) -> None:
        asked = "What about the kitchen?"
        assert self.quoted(asked, self.PLAN, tasks=self.OPEN)[:2] == [
            "[ ] Paint the kitchen wall",
            "[/] Tile the kitchen floor",
        ]
        done = (Tasks((TaskState.DONE,)),)
        assert self.quoted(asked, self.PLAN, tasks=done)[0] == "[x] Order the kitchen sink"

    def test_where_nothing_is_asked_the_tasks_that_fit_are_listed(self) -> None:
        wall = (Tasks((TaskState.OPEN,), "wall"),)
        assert self.quoted("", self.PLAN, is_listing=True, tasks=wall) == ["[ ] Paint the kitchen wall"]
        assert self.quoted("", self.PLAN, is_listing=True, tasks=self.OPEN) == [
            "[ ] Paint the kitchen wall",
            "[/] Tile the kitchen floor",
        ]

    def test_where_nothing_is_asked_each_passage_is_quoted_from_its_beginning(self) -> None:
        said = self.quoted("", self.OTHER, self.PLAN, is_listing=True)
        assert said == ["The kitchen is blue.", "[x] Order the kitchen sink"]

    def test_a_box_is_no_word_to_the_embedder(self) -> None:
        embedder = PointingEmbedder(frozenset({"kitchen"}))
        ExtractiveGenerator(embedder=embedder).quotes(prompt_of("kitchen?", self.PLAN))
        assert "Order the kitchen sink" in embedder.seen

    def test_a_task_is_read_with_what_its_note_is_on_where_tasks_are_asked_for(self) -> None:
        embedder = PointingEmbedder(frozenset({"lantern"}))
        tasks = excerpt(1, "- [ ] Prototype", path="Export.md"), excerpt(2, "- [ ] Texts", path="Lantern.md")
        asked = prompt_of("open tasks of lantern", *tasks, tasks=self.OPEN)
        first, *_ = ExtractiveGenerator(embedder=embedder).quotes(asked)
        assert first.n == 2
        assert "Lantern: Texts" in embedder.seen


class TestTimes:
    MAY = "The tit was first seen by the end of May."

    def test_what_is_of_the_time_that_is_asked_for_comes_before_what_has_its_words(self) -> None:
        other, own = excerpt(1, self.MAY), excerpt(2, "Rode to Worpswede and back.")
        idf = {"first": 1.0, "may": 1.0, "was": 1.0, "what": 1.5, "on": 0.5, "the": 0.0, "of": 0.0}
        assert quotes("What was on the first of May?", other, own, idf=idf)[0] == self.MAY
        timely = excerpt(2, own.text, timely=1.0)
        assert quotes("What was on the first of May?", other, timely, idf=idf, is_of_a_time=True)[0] == own.text
        assert quotes("What was on the first of May?", other, timely, idf=idf)[0] == self.MAY

    def test_its_text_comes_before_its_properties_that_hold_nothing_of_the_question(self) -> None:
        properties = excerpt(1, "attendees: Tom\nkind: one-on-one", path="Tom.md", of_properties=True, timely=1.0)
        text = excerpt(2, "The tests run twice as fast.", path="Tom.md", timely=1.0)
        said = quotes("What did Tom say on 14 February?", properties, text, idf={"tom": 2.0, "say": 2.0})
        assert said[0] == text.text
        elsewhen = excerpt(2, text.text, path="Tom.md")
        assert quotes("What did Tom say?", properties, elsewhen, idf={"tom": 2.0, "say": 2.0})[0] != text.text


class TestOutlines:
    FLATS = excerpt(
        1,
        "- Viewing in Lindenweg\n\t- price:: 1280\n\t- old stairs\n- Viewing in Werder at noon\n\t- price:: 1410\n",
        path="2026_03_02.md",
    )

    def test_an_item_is_found_by_the_one_above(self) -> None:
        assert quotes("price in Lindenweg", self.FLATS)[0] == "price:: 1280"
        assert quotes("price in Werder", self.FLATS)[0] == "price:: 1410"

    def test_the_item_above_says_its_words_before_those_below(self) -> None:
        assert quotes("the viewing in Werder", self.FLATS)[0] == "Viewing in Werder at noon"

    def test_a_field_that_is_asked_for_answers_for_its_note(self) -> None:
        heron = excerpt(1, "- lead:: Yusuf\n- status:: running\n", path="Heron.md")
        other = excerpt(2, "The museum saw a demo of Heron.")
        assert quotes("Who leads Heron?", other, heron)[0] == "lead:: Yusuf"
        longer = excerpt(2, "Who of them can say what Heron leads to?")
        assert (
            quotes("Who leads Heron?", longer, excerpt(1, heron.text, path="Heron.md", score=0.7))[0] == "lead:: Yusuf"
        )
        ibis = excerpt(2, "- lead:: Mira\n", path="Ibis.md")
        assert quotes("Who leads Heron?", ibis, excerpt(1, heron.text, path="Heron.md", score=0.4))[0] == "lead:: Yusuf"
        assert quotes("What did the museum see of Heron?", other, heron)[0] == other.text


class TestQuestionsInNotes:
    FAQ = excerpt(
        1,
        "## How do I descale the kettle?\n\nBoil vinegar in it. Then rinse it twice.\n\n"
        "Which filter does it take? Type B12, from the hardware store.\n\n"
        "Q: Where is the receipt?\nA: In the blue folder.\n\n"
        "Capital of Mongolia::Ulaanbaatar\n\n"
        "| Zone | Price per month |\n| --- | --- |\n| Harbour | 450 |\n| Old town | 820 |\n",
    )

    @pytest.mark.parametrize(
        ("question", "quoted"),
        [
            ("How do I descale the kettle?", "Boil vinegar in it. Then rinse it twice."),
            ("Which filter does it take?", "Which filter does it take? Type B12, from the hardware store."),
            ("Which filter does the kettle take?", "Which filter does it take? Type B12, from the hardware store."),
            ("Where is the receipt?", "Q: Where is the receipt?\nA: In the blue folder."),
            ("What is the capital of Mongolia?", "Capital of Mongolia::Ulaanbaatar"),
            ("What is the price per month for the old town?", "| Old town | 820 |"),
        ],
    )
    def test_what_answers_is_quoted_with_the_question_and_never_the_question_alone(
        self, question: str, quoted: str
    ) -> None:
        assert quotes(question, self.FAQ)[0] == quoted

    def test_the_embedder_reads_an_answer_with_its_question_and_a_row_with_its_head(self) -> None:
        embedder = PointingEmbedder(frozenset({"nothing"}))
        quotes("What is the price for the harbour, and how do I descale?", self.FAQ, embedder=embedder)
        assert "Zone: Harbour, Price per month: 450" in embedder.seen
        assert "How do I descale the kettle? Boil vinegar in it. Then rinse it twice." in embedder.seen

    def test_a_row_is_shown_with_its_columns_and_cited_as_it_stands(self) -> None:
        wording = Wording([self.FAQ])
        row = "| Old town | 820 |"
        at = self.FAQ.text.index(row)
        assert wording.add(Quoted(1, at, at + len(row))) == "“Zone: Old town, Price per month: 820” [1]"


def test_of_each_note_the_best_sentence_is_embedded() -> None:
    many = excerpt(1, " ".join(f"The rent of flat {i} is high." for i in range(40)), score=2.0)
    one = excerpt(2, "Cats purr. The yearly sum is 9200.", score=0.1)
    embedder = PointingEmbedder(frozenset({"rent"}))
    quotes("What is the rent of the flat?", many, one, embedder=embedder)
    assert len(embedder.seen) == CANDIDATES + 1
    assert set(embedder.seen) & {"Cats purr.", "The yearly sum is 9200."}


class TestProperties:
    BODY = "The boiler stands in the cellar. It was bought in May."

    @pytest.mark.parametrize(
        ("question", "first"),
        [
            ("When is the boiler service due?", "due: 2026-12-24"),
            ("Who owns the boiler?", "owner: Hanna"),
            ("Who serviced the boiler?", "serviced-by: Nils"),
        ],
    )
    def test_the_property_whose_key_is_asked_for_is_quoted_first(self, question: str, first: str) -> None:
        entries = "serviced-by: Nils\nmodel: X4 of the service line\nowner: Hanna\ndue: 2026-12-24"
        note = excerpt(1, entries, path="Boiler.md", of_properties=True)
        # What the words alone would have: `service` is rare, `due` is not.
        idf = {"service": 3.0, "serviced": 3.0, "boiler": 1.0, "due": 1.0, "owns": 3.0}
        assert quotes(question, note, excerpt(2, self.BODY, path="Boiler.md"), idf=idf)[0] == first

    def test_a_key_puts_nothing_else_beside_the_point(self) -> None:
        note = excerpt(1, "status: sold", path="Boiler.md", of_properties=True)
        body = excerpt(2, "Anna wants the boiler.", path="Boiler.md")
        idf = {"what": 0.1, "status": 3.0, "does": 0.1, "the": 0.1, "boiler": 1.0, "have": 0.1}
        assert quotes("What status does the boiler have?", note, body, idf=idf) == ["status: sold", body.text]

    def test_a_property_without_a_word_of_the_question_stands_behind_a_sentence_with_one(self) -> None:
        note = excerpt(1, "colour: red\nplace: cellar", path="Boiler.md", of_properties=True, score=2.0)
        body = excerpt(2, "Nils repaired it. The valve is new.", path="Boiler.md", score=0.1)
        embedder = PointingEmbedder(frozenset({"who", "colour"}))
        idf = {"who": 0.1, "repaired": 5.0, "the": 0.1, "boiler": 1.0}
        found = quotes("Who repaired the boiler?", note, body, embedder=embedder, idf=idf)
        assert found[0] == "Nils repaired it."
        # It may be all there is.
        assert quotes("Who repaired the boiler?", note, embedder=embedder, idf=idf)[0] == "colour: red"


class TestWordsWithSigns:
    CPP = excerpt(1, "Notes on the C++ language: templates.", path="cpp.md")
    VITAMIN = excerpt(2, "Vitamin C is found in oranges. C is good.", path="vitamin.md", score=1.1)

    def test_only_the_word_with_its_sign_is_the_word(self) -> None:
        idf = {"what": 0.1, "is": 0.1, "c++": 2.0}
        found = quotes("what is C++?", self.CPP, self.VITAMIN, idf=idf)
        assert found[0] == "Notes on the C++ language: templates."
        assert quotes("what is C?", self.CPP, self.VITAMIN)[0] in self.VITAMIN.text

    def test_where_no_note_has_the_sign_the_word_without_it_is_better_than_none(self) -> None:
        other = excerpt(1, "What is found in apples is not known.", path="apples.md")
        assert quotes("is there C#?", other, self.VITAMIN, idf={"c#": 3.0})[0] in self.VITAMIN.text


class TestWhatTheNoteInQuestionNames:
    PLAN = excerpt(1, "We plan to paint the fence. See [[Fence]].", path="Plan.md", in_question=True, score=0.7)
    FENCE = "The fence is 40 metres."

    def first(self, *excerpts: Excerpt) -> str:
        idf = {"long": 3.0, "fence": 1.0, "how": 0.1, "is": 0.5, "the": 0.1}
        return quotes("how long is the fence?", *excerpts, is_broad=True, idf=idf)[0]

    def test_a_note_that_both_it_and_the_question_name_is_asked_about_as_well(self) -> None:
        assert self.first(self.PLAN, excerpt(2, self.FENCE, path="Fence.md")) == self.FENCE

    def test_any_other_note_has_to_say_more(self) -> None:
        assert self.first(self.PLAN, excerpt(2, self.FENCE, path="Garden.md")) == "We plan to paint the fence."

    def test_an_empty_note_is_not_answered_for_by_another_ones_heading(self) -> None:
        empty, other = excerpt(1, "", path="Empty.md", in_question=True), excerpt(2, "# A", path="A.md")
        prompt = prompt_of("what does it say?", empty, other, is_broad=True, query="what does it say?")

        async def read() -> list[object]:
            return [piece async for piece in ExtractiveGenerator(embedder=None).stream(prompt)]

        assert asyncio.run(read()) == [silence("en", [])]
        assert quotes("what does A say?", empty, other, is_broad=True) == ["# A"]


def test_a_comment_is_never_quoted() -> None:
    note = excerpt(1, "# Rent\n\n%%\nThe rent is 800.\n%%\n\nThe rent is 950. %%The rent is 700.%%")
    assert quotes("What is the rent?", note) == ["The rent is 950."]
    assert quotes("What is the rent?", excerpt(1, "%%\nThe rent is 800.\n%%\n# Rent")) == ["# Rent"]


def test_code_is_quoted_whole() -> None:
    note = excerpt(1, "The backup runs at night.\n\n```sh\ncd /srv\nrestic snapshots\n```\n")
    assert quotes("How are the restic snapshots listed?", note)[0] == "cd /srv\nrestic snapshots"
