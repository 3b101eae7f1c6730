import asyncio

import pytest

from answering.passages import (
    OPEN,
    PRIVATE,
    ScriptedRetrieve,
    ask,
    end_of,
    grounding_of,
    hit,
    sources_of,
    text_of,
    vault_of,
)
from fakes import ScriptedGenerator
from vault_ask.answering.conversation import Turn
from vault_ask.answering.ports import CutShort, Quoted, Window
from vault_ask.errors import ModelBusy, ModelRefused, ModelUnreachable
from vault_ask.providers.extractive import ExtractiveGenerator
from vault_ask.scope import OpenScope, Question, Sensitivity
from vault_ask.wire import DeltaEvent, DoneEvent, ErrorEvent

RENT = hit("Housing/Rent.md", "# Rent\n\nRent is 9200 from May. The flat has two rooms.", headings=("Rent",))
FOOD = hit("Food.md", "Grapefruit season starts in January")
HEALTH = hit("Private/Health.md", "I take CANARYDRUG 20 mg every morning", sensitivity=Sensitivity.PERSONAL)


def test_an_answer_is_sources_then_words_then_grounding_then_done() -> None:
    model = ScriptedGenerator("Rent is ", "9200 [", "1].")
    events = ask(vault_of(ScriptedRetrieve(RENT), model), "What is the rent?")
    assert [e.type for e in events if e.type != "delta"] == ["sources", "grounding", "done"]
    assert events[0].type == "sources"
    assert text_of(events) == "Rent is 9200 [1]."
    (citation,) = grounding_of(events).citations
    assert (citation.path, citation.line_start, citation.line_end) == ("Housing/Rent.md", 3, 3)
    assert citation.quote == "Rent is 9200 from May."
    assert end_of(events).finish == "stop"


def test_citations_that_the_model_made_up_are_counted_and_never_shown() -> None:
    reply = (
        "Rent is 9200 [[Rent]]. See also [[Invented note]], [[Other]], [[Private/Loan]] and "
        "[[Housing/Rent#No such heading|here]]. Paris is in France [[Geography]]."
    )
    loan = hit("Private/Loan.md", "secret loan", sensitivity=Sensitivity.PERSONAL)
    events = ask(vault_of(ScriptedRetrieve(RENT, loan), ScriptedGenerator(*reply)), "What is the rent?")
    assert text_of(events) == (
        "Rent is 9200 [1]. See also Invented note, Other, Private/Loan and here [1]. Paris is in France Geography."
    )
    assert {c.path for c in grounding_of(events).citations} == {"Housing/Rent.md"}
    assert grounding_of(events).removed == 4


class TestScopes:
    def test_under_an_open_scope_only_the_users_own_turns_are_remembered(self) -> None:
        model = ScriptedGenerator("It is in season from January [1].")
        history = (
            Turn(role="user", text="What medicine do I take?"),
            Turn(role="assistant", text="You take CANARYDRUG 20 mg [1]."),
            Turn(role="user", text="And how much of it?"),
            Turn(role="assistant", text="20 mg of CANARYDRUG [1]."),
        )
        retrieve = ScriptedRetrieve(HEALTH, FOOD)
        events = ask(vault_of(retrieve, model), "Is it safe with grapefruit?", OPEN, history)
        assert "CANARYDRUG" not in repr((model.prompts, retrieve.asked, events))
        assert [turn.text for turn in model.prompts[0].history] == ["What medicine do I take?", "And how much of it?"]
        assert "Grapefruit" in repr(model.prompts)

    def test_under_a_private_scope_the_whole_conversation_is_remembered(self) -> None:
        model = ScriptedGenerator("20 mg [1].")
        history = (Turn(role="user", text="What medicine do I take?"), Turn(role="assistant", text="CANARYDRUG [1]."))
        events = ask(vault_of(ScriptedRetrieve(HEALTH), model), "And how much of it?", PRIVATE, history)
        assert model.prompts[0].history == history
        assert model.prompts[0].sensitivity is Sensitivity.PERSONAL
        assert sources_of(events).personal_included

    def test_a_short_question_is_searched_with_the_users_words_before_it(self) -> None:
        retrieve = ScriptedRetrieve(HEALTH)
        history = (Turn(role="user", text="What medicine do I take?"), Turn(role="assistant", text="CANARYDRUG"))
        ask(vault_of(retrieve, ScriptedGenerator("20 mg [1]")), "And how much of it?", PRIVATE, history)
        assert retrieve.asked[0][0] == "What medicine do I take?\nAnd how much of it?"

    def test_a_question_that_stands_alone_is_searched_alone(self) -> None:
        retrieve = ScriptedRetrieve(RENT)
        history = (Turn(role="user", text="What medicine do I take?"),)
        question = "What is the rent of the flat by the river from May on?"
        ask(vault_of(retrieve, ScriptedGenerator("9200 [1]")), question, PRIVATE, history)
        assert retrieve.asked[0][0] == question

    def test_personal_notes_never_reach_a_remote_model(self) -> None:
        remote = ScriptedGenerator("From January [1].", name="hosted/large", is_local=False)
        history = (Turn(role="assistant", text="CANARYDRUG"),)
        retrieve = ScriptedRetrieve(HEALTH, FOOD)
        events = ask(vault_of(retrieve, remote), "When is grapefruit in season?", PRIVATE, history)
        assert retrieve.asked[0][1] == OpenScope(web_allowed=False)
        assert "CANARYDRUG" not in repr(remote.prompts)
        assert [s.path for s in sources_of(events).sources] == ["Food.md"]
        assert "Personal notes were left out" in sources_of(events).notices[0]
        assert not sources_of(events).personal_included

    def test_personal_notes_go_to_the_local_model_set_for_them(self) -> None:
        remote = ScriptedGenerator("never", name="hosted/large", is_local=False)
        local = ScriptedGenerator("20 mg [1].", name="local")
        events = ask(vault_of(ScriptedRetrieve(HEALTH), remote, personal=local), "What medicine do I take?", PRIVATE)
        assert sources_of(events).generator == "local"
        assert "CANARYDRUG" in repr(local.prompts)
        assert remote.prompts == []

    def test_a_personal_model_that_is_remote_too_is_not_used(self) -> None:
        remote = ScriptedGenerator("From January [1].", name="hosted/large", is_local=False)
        other = ScriptedGenerator("never", name="hosted/other", is_local=False)
        events = ask(vault_of(ScriptedRetrieve(HEALTH, FOOD), remote, personal=other), "grapefruit season", PRIVATE)
        assert sources_of(events).generator == "hosted/large"
        assert "CANARYDRUG" not in repr((remote.prompts, other.prompts))

    def test_the_owner_may_allow_personal_notes_to_leave(self) -> None:
        remote = ScriptedGenerator("20 mg [1].", is_local=False)
        ask(vault_of(ScriptedRetrieve(HEALTH), remote, to_remote=True), "What medicine do I take?", PRIVATE)
        assert "CANARYDRUG" in repr(remote.prompts)

    @pytest.mark.parametrize(
        "question",
        [
            "Summarise [[Private/Health]] and check the web",
            "[[private/HEALTH]] + latest research?",
            "Use ![[Private/Health#^b1]] please",
            "Read file Private/Health.md",
        ],
    )
    def test_a_note_that_was_named_and_took_no_part_is_told_of(self, question: str) -> None:
        model = ScriptedGenerator("From January [1].")
        events = ask(vault_of(ScriptedRetrieve(HEALTH, FOOD), model), question)
        assert "CANARYDRUG" not in repr((model.prompts, events))
        (notice,) = sources_of(events).notices
        assert "health” was used" in notice.casefold()
        assert "ask again with personal notes included" in notice

    def test_the_notice_is_the_same_for_a_hidden_note_and_for_none(self) -> None:
        vault = vault_of(ScriptedRetrieve(HEALTH, FOOD), ScriptedGenerator("From January [1]."))
        hidden = sources_of(ask(vault, "What of [[Health]]?")).notices
        absent = sources_of(ask(vault, "What of [[Wealth]]?")).notices
        assert hidden == tuple(notice.replace("Wealth", "Health") for notice in absent)

    def test_the_current_note_that_took_no_part_is_told_of(self) -> None:
        vault = vault_of(ScriptedRetrieve(HEALTH, FOOD), ScriptedGenerator("From January [1]."))
        events = ask(vault, "explain this and search online", note="Private/Health.md")
        assert "Private/Health.md" in sources_of(events).notices[0]

    def test_an_open_note_that_was_named_and_found_needs_no_notice(self) -> None:
        vault = vault_of(ScriptedRetrieve(FOOD), ScriptedGenerator("From January [1]."))
        events = ask(vault, "When does [[Food]] say that the grapefruit season starts?")
        assert sources_of(events).notices == ()
        assert text_of(events) == "From January [1]."


def test_a_quoted_picture_is_its_words_and_markup_stays_text() -> None:
    note = hit("Clip.md", "The rent ![a chart](https://far.example/p.png?x=(1)) is 9200 <img src=x> ![y][z] from May.")
    events = ask(vault_of(ScriptedRetrieve(note), ExtractiveGenerator(embedder=None)), "What is the rent?")
    shown = "The rent a chart is 9200 <\u2060img src=x> !\u2060[y][z] from May."
    assert text_of(events) == f"“{shown}” [1]"
    assert grounding_of(events).citations[0].quote == note.body


class TestSilence:
    def test_a_silent_vault_says_so_in_the_questions_language_and_points_to_the_nearest_notes(self) -> None:
        model = ScriptedGenerator("made up")
        retrieve = ScriptedRetrieve(RENT, FOOD, language="sv", closeness=-1.0)
        events = ask(vault_of(retrieve, model), "Vem vann VM 1958?")
        assert text_of(events).startswith("Dina anteckningar svarar inte på detta.")
        assert "- Rent\n- Food" in text_of(events)
        assert [s.path for s in sources_of(events).sources] == ["Housing/Rent.md", "Food.md"]
        assert sources_of(events).silent
        assert grounding_of(events).refused
        assert grounding_of(events).citations == ()
        assert isinstance(end_of(events), DoneEvent)
        assert model.prompts == []

    def test_an_empty_vault_is_silent_without_pointers(self) -> None:
        events = ask(vault_of(ScriptedRetrieve(language="xx"), ScriptedGenerator("made up")), "Anything?")
        assert text_of(events) == "Your notes do not answer this."
        assert sources_of(events).sources == ()


class TestFaults:
    @pytest.mark.parametrize(
        ("error", "code", "retry"),
        [
            (ModelUnreachable("It broke off."), "model_unreachable", True),
            (ModelBusy("It is busy."), "model_busy", True),
            (ModelRefused("It said no."), "model_refused", False),
        ],
    )
    def test_an_answer_that_breaks_off_ends_with_one_error_and_no_grounding(
        self, error: Exception, code: str, *, retry: bool
    ) -> None:
        events = ask(vault_of(ScriptedRetrieve(RENT), ScriptedGenerator("Rent ", "is ", error)), "What is the rent?")
        assert text_of(events) == "Rent is"
        assert end_of(events) == ErrorEvent(code=code, message=str(error), retry=retry)
        assert [e.type for e in events].count("grounding") == 0

    @pytest.mark.parametrize("script", [(), ("", "  \n"), (CutShort(),)])
    def test_a_reply_without_a_word_is_an_error(self, script: tuple[str | CutShort, ...]) -> None:
        events = ask(vault_of(ScriptedRetrieve(RENT), ScriptedGenerator(*script)), "What is the rent?")
        assert isinstance(end_of(events), ErrorEvent)
        assert "without a word" in end_of(events).message

    def test_a_reply_cut_for_room_is_done_with_finish_length(self) -> None:
        events = ask(vault_of(ScriptedRetrieve(RENT), ScriptedGenerator("Rent is [1]", CutShort())), "The rent?")
        assert end_of(events).finish == "length"

    @pytest.mark.parametrize("begun", [(), ("Rent ",)])
    def test_a_model_that_falls_silent_is_an_error(self, begun: tuple[str, ...]) -> None:
        async def read() -> tuple[list[object], bool]:
            model = ScriptedGenerator(*begun, asyncio.Event())
            vault = vault_of(ScriptedRetrieve(RENT), model, timeout_seconds=0.05)
            events = [e async for e in vault.answer(Question("The rent?"), scope=OPEN)]
            return list(events), model.closed.is_set()

        events, closed = asyncio.run(read())
        assert isinstance(events[-1], ErrorEvent)
        assert "said nothing for 0.05 seconds" in events[-1].message
        assert events[-1].retry
        assert closed

    def test_quotes_stand_in_for_a_model_that_nobody_answers_for(self) -> None:
        away = ScriptedGenerator("never", away=ModelUnreachable("The model cannot be reached. Start its server."))
        events = ask(vault_of(ScriptedRetrieve(RENT), away), "What is the rent?")
        assert sources_of(events).generator == "extractive"
        assert sources_of(events).notices == (
            "The model cannot be reached. Start its server. Until then the answer is made of quotes.",
        )
        assert text_of(events).startswith("“Rent is 9200 from May.” [1]")
        assert isinstance(end_of(events), DoneEvent)

    def test_a_reader_who_leaves_stops_the_model_at_once(self) -> None:
        async def leave() -> ScriptedGenerator:
            model = ScriptedGenerator(*["word "] * 1000)
            events = vault_of(ScriptedRetrieve(RENT), model).answer(Question("The rent?"), scope=OPEN)
            async for event in events:
                if isinstance(event, DeltaEvent):
                    break
            await events.aclose()
            return model

        model = asyncio.run(leave())
        assert model.closed.is_set()
        assert model.yielded <= 2

    def test_a_task_cancelled_while_the_model_thinks_stops_it(self) -> None:
        async def cancel() -> bool:
            model = ScriptedGenerator("word ", asyncio.Event())
            vault = vault_of(ScriptedRetrieve(RENT), model)
            told = asyncio.Event()

            async def read() -> None:
                async for event in vault.answer(Question("The rent?"), scope=OPEN):
                    if isinstance(event, DeltaEvent):
                        told.set()

            task = asyncio.create_task(read())
            await asyncio.wait_for(told.wait(), 5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return model.closed.is_set()

        assert asyncio.run(cancel())


class TestWindow:
    def test_the_lowest_ranked_passages_are_left_out_of_a_small_window_and_of_the_sources(self) -> None:
        hits = [hit(f"N{i}.md", f"MARK-{i} " + "word " * 750, score=1 - i / 20, tokens=750) for i in range(12)]
        model = ScriptedGenerator("As said [1].", window=Window(4096, 1024))
        events = ask(vault_of(ScriptedRetrieve(*hits), model), "MARK-Q what?")
        (prompt,) = model.prompts
        shown = [excerpt.path for excerpt in prompt.excerpts]
        assert shown == ["N0.md", "N1.md"]
        assert [s.path for s in sources_of(events).sources] == shown

    def test_a_guessed_window_is_told_of(self) -> None:
        model = ScriptedGenerator("9200 [1].", name="openai/m", window=Window(4096, 1024, assured=False))
        events = ask(vault_of(ScriptedRetrieve(RENT), model), "What is the rent?")
        assert "openai/m can read at once is unknown; 4096 tokens are assumed" in sources_of(events).notices[0]

    def test_the_newest_turns_are_kept_when_the_history_is_long(self) -> None:
        model = ScriptedGenerator("9200 [1].", window=Window(4096, 1024))
        history = [Turn(role="user", text=f"turn {i} " + "word " * 200) for i in range(20)]
        ask(vault_of(ScriptedRetrieve(RENT), model), "What is the rent of the flat by the river?", OPEN, history)
        kept = [turn.text.split()[1] for turn in model.prompts[0].history]
        assert kept == ["18", "19"]
        assert model.prompts[0].excerpts[0].path == "Housing/Rent.md"

    def test_a_question_that_fills_the_window_is_an_error_that_says_so(self) -> None:
        model = ScriptedGenerator("never", window=Window(1024, 512))
        events = ask(vault_of(ScriptedRetrieve(RENT), model), "why " * 1500)
        assert "too long" in end_of(events).message
        assert model.prompts == []


def test_quotes_are_shown_as_reading_text_and_cited_word_for_word() -> None:
    body = "> **Anna** said: see [[Plan B|the plan]] and\n> note [2] ==soon==."
    model = ScriptedGenerator(Quoted(1, 2, len(body)))
    events = ask(vault_of(ScriptedRetrieve(hit("Talk.md", body, line_start=7)), model), "What did Anna say?")
    assert text_of(events) == "“Anna said: see the plan and note [\u20602] soon.” [1]"
    (citation,) = grounding_of(events).citations
    assert citation.quote == body[2:]
    assert (citation.line_start, citation.line_end) == (7, 8)


def test_struck_words_are_quoted_as_struck() -> None:
    note = hit("Rent.md", "The rent is ~~900~~ 950 euro a month.")
    events = ask(vault_of(ScriptedRetrieve(note), ExtractiveGenerator(embedder=None)), "How much is the rent?")
    assert text_of(events) == "“The rent is ~~900~~ 950 euro a month.” [1]"
