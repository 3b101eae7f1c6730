"""The page in a real browser: Debian's Chromium before a real server with a scripted house behind it."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from adapters.browsing import ask, last, no_sideways_scroll
from adapters.doors import (
    DONE,
    RENT,
    SIMPLE,
    STEP,
    TOKEN,
    ScriptedDoors,
    grounding_event,
    serving,
    source,
    sources_event,
)
from vault_ask.answering.conversation import Turn
from vault_ask.scope import OpenScope, PrivateScope
from vault_ask.wire import (
    DeltaEvent,
    DoneEvent,
    ErrorEvent,
    NamedDays,
    SourcesEvent,
    Understood,
    WebEvent,
    WebResult,
)

pytestmark = pytest.mark.browser
EVIL = '<img src=x onerror="window.PWN=1"><script>window.PWN=2</script><svg/onload=window.PWN=3>'
EVIL_ADDRESSES = (
    "javascript:window.PWN=8",
    " JavaScript:window.PWN=8",
    f"data:text/html,{EVIL}",
    "//evil.example/",
    "obsidian://open?vault=Sample&file=Rent",
    "https://bank.example@evil.example/",
    "https://user:word@evil.example/",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://evil.example/1",
    "",
    "https://example.org/",
)
ANSWER = "Rent is ~~9100~~ **9200** from May [1], Jonas pays a third [1, 2] and nobody knows why [7].\n\n- one\n- two\n"
STEPS = (sources_event(RENT), STEP, DeltaEvent(text="Rent is "), STEP, DeltaEvent(text="9200 [1]."), STEP, *SIMPLE[3:])
LOST = ErrorEvent(code="model_unreachable", message="The model went away. Start it and ask again.", retry=True)
CITED = (RENT, source(2, "People/Jonas.md", "Jonas", "Jonas pays a third."))
SCRIPTS = {
    "cited": (
        sources_event(*CITED, source(3, "Spare.md", "Spare", "Not used.")),
        DeltaEvent(text=ANSWER),
        grounding_event(*CITED),
        DONE,
    ),
    "steps": STEPS,
    "fails": (sources_event(RENT), DeltaEvent(text="Rent is "), LOST),
    "breaks": (sources_event(RENT), STEP, DeltaEvent(text="Rent is ")),
    "silent": (
        sources_event(source(1, "Moon.md", "Moon", "A pale moon."), silent=True),
        DeltaEvent(text="Your notes say nothing about this."),
        grounding_event(refused=True),
        DONE,
    ),
    "led": (
        sources_event(
            RENT.model_copy(update={"also": ("Archive/Rent.md", EVIL)}),
            source(2, "Lease.md", "Lease", "Until May.").model_copy(
                update={"via": "Rent.md", "provenance": "expanded"}
            ),
        ),
        *SIMPLE[1:],
    ),
    "long": (
        sources_event(RENT),
        *(DeltaEvent(text=f"Paragraph {n} of a long answer [1].\n\n") for n in range(60)),
        STEP,
        *SIMPLE[3:],
    ),
    "read": (
        sources_event(RENT).model_copy(
            update={
                "understood": Understood(
                    text="rent last week",
                    filters=("tag:#flat", EVIL),
                    days=NamedDays(first="2026-03-09", last="2026-03-15", words="last week"),
                    order="latest",
                )
            }
        ),
        *SIMPLE[1:],
    ),
    "cut": (*SIMPLE[:4], DoneEvent(seconds=1, finish="length")),
    "private": (
        SourcesEvent(sources=(RENT,), silent=False, personal_included=True, generator="extractive"),
        DeltaEvent(text="secret"),
        STEP,
        DONE,
    ),
    EVIL: (
        sources_event(
            source(1, f"Notes/{EVIL}.md", EVIL, EVIL).model_copy(
                update={"url": "javascript:window.PWN=4", "heading_path": (EVIL,)}
            ),
            notices=(EVIL,),
        ),
        DeltaEvent(text=f"{EVIL} [1] [click](javascript:window.PWN=5) [[javascript:alert(1)]]\n\n"),
        DeltaEvent(
            text=f"[data](data:text/html,{EVIL})\n\n```html\n{EVIL}\n```\n\n# {EVIL}\n\n> {EVIL}\n\n- {EVIL}\n\n"
        ),
        DeltaEvent(text="==harvest== <javascript:window.PWN=6> unfinished <img src=x onerror=window.PWN=7 "),
        WebEvent(
            results=tuple(
                WebResult(n=n, title=EVIL, url=url, snippet=EVIL) for n, url in enumerate(EVIL_ADDRESSES, start=1)
            ),
            provider=EVIL,
            message=EVIL,
        ),
        DeltaEvent(text=f"{EVIL} [1] [2, 3] [4] [5] [6] [7] [8] [9] [10] [11] [12]\n\n", part="web"),
        DeltaEvent(
            text=f"# {EVIL}\n\n> {EVIL} [[Rent]]\n\n- {EVIL}\n\n```\n{EVIL}\n```\n\n[a](javascript:window.PWN=9) "
            "[[obsidian://open?vault=v|b]] [c](obsidian://open?vault=v) <https://evil.example/> ![d](https://evil.example/)",
            part="web",
        ),
        ErrorEvent(code="x", message=EVIL, retry=True),
    ),
}


@pytest.fixture
def doors() -> ScriptedDoors:
    return ScriptedDoors(scripts=dict(SCRIPTS))


def test_the_first_view_says_what_this_is_and_what_is_indexed(page: Page) -> None:
    expect(page.locator("#empty h2")).to_be_visible()
    expect(page.locator("#facts")).to_contain_text("1,204 notes indexed")
    expect(page.locator("#banner")).to_be_hidden()
    page.get_by_role("button", name="When did I last").click()
    expect(page.locator("#words")).to_have_value("When did I last ")
    expect(page.locator("#words")).to_be_focused()


def test_the_answer_grows_in_place_and_the_live_region_tells_start_and_end_only(
    page: Page, doors: ScriptedDoors
) -> None:
    page.evaluate("""() => { window.said = []; new MutationObserver(() => said.push(document.querySelector('#live')
        .textContent)).observe(document.querySelector('#live'), {childList: true}) }""")
    ask(page, "steps")
    expect(page.locator(last(".state"))).to_contain_text("Reading 1 passage")
    doors.go()
    expect(page.locator(last(".answer"))).to_have_text("Rent is")
    expect(page.locator("#stop")).to_be_visible()
    doors.go()
    expect(page.locator(last(".cite"))).to_have_text("1")
    expect(page.locator(last(".sources h3"))).to_have_count(0)
    doors.go()
    expect(page.locator(last(".sources h3"))).to_have_text("Sources")
    expect(page.locator("#stop")).to_be_hidden()
    assert page.evaluate("said") == ["Answering.", "Done. 1 source."]


def test_a_finished_paragraph_keeps_its_node_and_selection_while_the_next_one_grows(
    page: Page, doors: ScriptedDoors
) -> None:
    doors.scripts["two"] = (*SIMPLE[:1], DeltaEvent(text="First.\n\nSec"), STEP, DeltaEvent(text="ond."), *SIMPLE[3:])
    ask(page, "two")
    first = page.locator(last(".answer p")).first
    expect(first).to_have_text("First.")
    first.evaluate("node => { node.kept = true; getSelection().selectAllChildren(node) }")
    doors.go()
    expect(page.locator(last(".answer p")).nth(1)).to_have_text("Second.")
    expect(page.locator(last(".sources h3"))).to_be_visible()
    assert first.evaluate("node => node.kept === true && String(getSelection()) === 'First.'")


def test_a_known_number_opens_its_passage_and_an_unknown_one_stays_text(page: Page) -> None:
    ask(page, "cited")
    chips = page.locator(last(".cite"))
    expect(chips).to_have_text(["1", "1", "2"])
    expect(page.locator(last(".answer"))).to_contain_text("why [7]")
    chips.nth(2).click()
    peek = page.locator("#peek")
    expect(peek).to_be_visible()
    for text in ("Jonas pays a third.", "People/Jonas.md", "From May", "lines 4–6"):
        expect(peek).to_contain_text(text)
    expect(peek.locator("a")).to_have_attribute("href", re.compile("^obsidian://open"))
    expect(peek).to_be_focused()
    page.keyboard.press("Escape")
    expect(peek).to_be_hidden()
    expect(chips.nth(2)).to_be_focused()
    expect(chips.nth(2)).to_have_attribute("aria-expanded", "false")


def test_what_is_struck_out_is_seen_as_such(page: Page) -> None:
    ask(page, "cited")
    expect(page.locator(last(".answer del"))).to_have_text("9100")
    expect(page.locator(last(".answer strong"))).to_have_text("9200")


def test_the_keyboard_shows_a_passage_on_focus_and_enters_it_on_enter(page: Page) -> None:
    ask(page, "cited")
    chips = page.locator(last(".cite"))
    expect(chips).to_have_count(3)
    page.keyboard.press("Shift+Tab")
    for _ in range(20):
        if chips.nth(2).evaluate("chip => chip === document.activeElement"):
            break
        page.keyboard.press("Shift+Tab")
    expect(page.locator("#peek")).to_contain_text("Jonas pays a third.")
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#peek")).to_contain_text("Rent is 9200 from May.")
    page.keyboard.press("Enter")
    expect(page.locator("#peek")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#peek")).to_be_hidden()
    expect(chips.nth(1)).to_be_focused()


def test_sources_are_listed_with_their_passages_and_unused_ones_apart(page: Page) -> None:
    ask(page, "cited")
    entries = page.locator(last(".sources > .source"))
    expect(entries).to_have_count(2)
    expect(entries.first.locator(".quote")).to_be_hidden()
    entries.first.locator("summary").click()
    expect(entries.first.locator(".quote")).to_have_text("Rent is 9200 from May.")
    expect(page.locator(last(".more > summary"))).to_contain_text("1 more passage")


def test_stop_ends_the_work_and_keeps_the_text_marked(page: Page, doors: ScriptedDoors) -> None:
    ask(page, "steps")
    doors.go()
    expect(page.locator(last(".answer"))).to_have_text("Rent is")
    page.click("#stop")
    doors.wait_until(lambda d: d.running == 0 and d.cleaned == 1, seconds=2)
    expect(page.locator(last(".answer"))).to_have_text("Rent is")
    expect(page.locator(last(".state"))).to_contain_text("Stopped. This answer is incomplete.")
    expect(page.locator(last(".sources h3"))).to_have_text("Passages found")


def test_escape_stops_too_but_closes_an_open_passage_first(page: Page, doors: ScriptedDoors) -> None:
    ask(page, "steps")
    doors.go(2)
    page.locator(last(".cite")).click()
    page.keyboard.press("Escape")
    expect(page.locator("#peek")).to_be_hidden()
    expect(page.locator("#stop")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(last(".stopped"))).to_be_visible()


def test_a_failure_keeps_the_partial_text_and_a_retry_replaces_it(page: Page, doors: ScriptedDoors) -> None:
    ask(page, "fails")
    state = page.locator(last(".state"))
    expect(state).to_contain_text("The model went away. Start it and ask again. The answer above is incomplete.")
    expect(page.locator(last(".answer"))).to_have_text("Rent is")
    doors.scripts["fails"] = (STEP, *SIMPLE)
    state.get_by_role("button").click()
    doors.wait_until(lambda d: d.running == 1)
    expect(page.locator(last(".answer"))).to_have_text("Rent is")
    doors.go()
    expect(page.locator(last(".answer"))).to_contain_text("Rent is 9200 from May.")
    expect(page.locator(last(".failed"))).to_have_count(0)
    expect(page.locator(".turn")).to_have_count(1)


def test_a_stream_that_ends_early_is_never_shown_as_done(page: Page, doors: ScriptedDoors) -> None:
    ask(page, "breaks")
    doors.go()
    expect(page.locator(last(".failed"))).to_contain_text("broke off")
    expect(page.locator(last(".foot"))).to_be_empty()


def test_a_daemon_that_is_gone_is_told_with_a_retry(browser: Browser, doors: ScriptedDoors) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        with serving(doors) as url:
            page.goto(f"{url}/chat")
            expect(page.locator("#summary")).to_contain_text("notes")
        ask(page, "cited")
        expect(page.locator(last(".failed"))).to_contain_text("The daemon cannot be reached.")
        expect(page.locator(last(".retry"))).to_be_visible()


def test_a_silent_vault_is_said_plainly_with_the_nearest_notes(page: Page) -> None:
    ask(page, "silent")
    expect(page.locator(last(".answer"))).to_have_text("Your notes say nothing about this.")
    expect(page.locator(last(".sources h3"))).to_have_text("Nearest notes")
    expect(page.locator(last(".source .title"))).to_have_text("Moon")


def test_how_a_question_was_read_stands_under_it_where_it_was_more_than_its_words(page: Page) -> None:
    ask(page, "read")
    expect(page.locator(last(".read"))).to_have_text(
        f"Read as: rent last week · tag:#flat · {EVIL} · 2026-03-09 to 2026-03-15 · the latest"
    )
    ask(page, "cited")
    expect(page.locator(last(".answer"))).to_contain_text("9200")
    expect(page.locator(last(".read"))).to_be_hidden()


def test_an_answer_without_room_says_that_it_was_cut(page: Page) -> None:
    ask(page, "cut")
    expect(page.locator(last(".state"))).to_contain_text("cut here")


def test_markup_from_anywhere_is_shown_as_text(page: Page) -> None:
    ask(page, EVIL)
    turn = page.locator(last())
    expect(turn.locator(".failed")).to_contain_text(EVIL)
    expect(turn.locator(".question")).to_have_text(EVIL)
    expect(turn.locator(".answer pre")).to_have_text(EVIL)
    expect(turn.locator(".answer mark")).to_have_text("harvest")
    turn.locator(".answer .cite").click()
    expect(page.locator("#peek .quote")).to_have_text(EVIL)
    expect(page.locator("#peek .title")).to_have_text(EVIL)
    assert page.locator("#peek a").count() == 0
    expect(turn.locator(".web h3")).to_have_text(f"From the web ({EVIL})")
    expect(turn.locator(".web .prose")).to_contain_text("[10] [11] 12")
    expect(turn.locator(".pages li")).to_have_count(len(EVIL_ADDRESSES))
    expect(turn.locator(".pages .title")).to_have_text([EVIL] * len(EVIL_ADDRESSES))
    expect(turn.locator(".pages p").last).to_have_text(EVIL)
    hrefs = page.eval_on_selector_all(".turn a", "links => links.map((link) => [link.textContent, link.href])")
    assert hrefs == [["12", "https://example.org/"], [EVIL, "https://example.org/"]]
    assert page.evaluate("document.querySelectorAll('.turn img, .turn script, #peek img').length") == 0
    assert page.evaluate("window.PWN") is None


def test_the_browser_itself_refuses_markup_from_a_string(page: Page) -> None:
    assert (
        page.evaluate("""() => { try { document.body.innerHTML = '<b>x</b>'; return 'set' } catch { return 'no' } }""")
        == "no"
    )
    expect(page.locator("#words")).to_be_visible()


def test_personal_notes_take_part_only_when_switched_on_and_it_shows(page: Page, doors: ScriptedDoors) -> None:
    expect(page.locator("#consequence")).to_have_text("Only open notes are read.")
    page.check("#personal")
    expect(page.locator("#consequence")).to_have_text("Personal notes join; the web stays out.")
    ask(page, "private")
    expect(page.locator(last(".tag.personal"))).to_be_visible()
    expect(page.locator("#consequence")).to_be_visible()
    doors.go()
    expect(page.locator("#send")).to_be_visible()
    page.uncheck("#personal")
    ask(page, "cited")
    expect(page.locator(last(".sources h3"))).to_have_text("Sources")
    assert [asked.scope for asked in doors.asked] == [PrivateScope(), OpenScope(web_allowed=True)]
    assert doors.asked[1].history == (Turn(role="user", text="private", personal=True),)


def test_a_follow_up_carries_what_was_said_and_a_new_question_does_not(page: Page, doors: ScriptedDoors) -> None:
    ask(page, "cited")
    expect(page.locator(last(".sources h3"))).to_be_visible()
    ask(page, "fails")
    expect(page.locator(last(".failed"))).to_be_visible()
    ask(page, "and then?")
    expect(page.locator(last(".sources h3"))).to_have_text("Sources")
    page.get_by_role("button", name="New question").click()
    expect(page.locator("#empty")).to_be_visible()
    ask(page, "fresh")
    expect(page.locator(last(".sources h3"))).to_be_visible()
    assert [asked.history for asked in doors.asked] == [
        (),
        (Turn(role="user", text="cited"), Turn(role="assistant", text=ANSWER)),
        (Turn(role="user", text="cited"), Turn(role="assistant", text=ANSWER)),
        (),
    ]


KEY = """(init) => document.querySelector('#words').dispatchEvent(new KeyboardEvent('keydown',
    {key: 'Enter', code: 'Enter', bubbles: true, cancelable: true, ...init}))"""
COMPOSE = """(step) => { const box = document.querySelector('#words'); if (step.text) box.value = step.text;
    box.dispatchEvent(new CompositionEvent(step.type, {data: step.text, bubbles: true}));
    box.dispatchEvent(new InputEvent('input', {bubbles: true})) }"""


@pytest.mark.parametrize("order", ["enter first", "composition ends first, as in Safari"])
def test_an_input_methods_enter_sends_nothing_and_the_next_one_sends_once(
    page: Page, doors: ScriptedDoors, order: str
) -> None:
    page.evaluate(COMPOSE, {"type": "compositionstart"})
    page.evaluate(COMPOSE, {"type": "compositionupdate", "text": "やちん"})
    if order == "enter first":
        page.evaluate(KEY, {"isComposing": True, "keyCode": 229})
        page.evaluate(COMPOSE, {"type": "compositionend", "text": "家賃"})
    else:
        page.evaluate(COMPOSE, {"type": "compositionend", "text": "家賃"})
        page.evaluate(KEY, {"isComposing": False, "keyCode": 229})
    assert page.input_value("#words") == "家賃"
    expect(page.locator(".turn")).to_have_count(0)
    page.evaluate(KEY, {"isComposing": False, "keyCode": 13})
    expect(page.locator(last(".sources h3"))).to_be_visible()
    assert [asked.question for asked in doors.asked] == ["家賃"]


def test_shift_enter_makes_a_line_and_enter_sends_both(page: Page, doors: ScriptedDoors) -> None:
    page.fill("#words", "one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    page.keyboard.press("Enter")
    expect(page.locator(last(".question"))).to_have_text("one\ntwo", use_inner_text=True)
    doors.wait_until(lambda d: bool(d.asked))
    assert doors.asked[0].question == "one\ntwo"


def test_nothing_scrolls_by_itself_and_a_button_jumps_to_the_newest(page: Page, doors: ScriptedDoors) -> None:
    ask(page, "long")
    expect(page.locator(last(".answer p"))).to_have_count(60)
    expect(page.locator("#newest")).to_be_visible()
    expect(page.locator(last(".question"))).to_be_in_viewport()
    page.click("#newest")
    expect(page.locator(last(".answer p")).last).to_be_in_viewport()
    expect(page.locator("#newest")).to_be_hidden()
    doors.go()


def test_the_token_is_asked_for_once_and_stays_out_of_sight(browser: Browser, doors: ScriptedDoors) -> None:
    with serving(doors, token=TOKEN) as url, browser.new_context() as context:
        page = context.new_page()
        seen: list[str] = []
        page.on("request", lambda request: seen.append(request.url))
        page.goto(f"{url}/chat")
        expect(page.locator("#signin p").first).to_contain_text("VAULTASK_ADMIN_API_KEY")
        page.fill("#token", "wrong")
        page.keyboard.press("Enter")
        expect(page.locator("#wrong")).to_have_text(re.compile("not right"))
        page.fill("#token", TOKEN)
        page.keyboard.press("Enter")
        expect(page.locator("#signin")).to_be_hidden()
        ask(page, "cited")
        expect(page.locator(last(".sources h3"))).to_have_text("Sources")
        page.reload()
        expect(page.locator("#facts")).to_contain_text("notes indexed")
        assert TOKEN not in "".join(seen)
        assert (
            page.evaluate("document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)") == "{}{}"
        )


def test_the_page_follows_the_systems_colours_and_asks_nobody_else(browser: Browser, doors: ScriptedDoors) -> None:
    shades = {}
    with serving(doors) as url:
        for scheme in ("light", "dark"):
            with browser.new_context(color_scheme=scheme, viewport={"width": 320, "height": 640}) as context:
                page = context.new_page()
                hosts: set[str] = set()
                page.on("request", lambda request, hosts=hosts: hosts.add(request.url.split("/")[2]))
                page.goto(f"{url}/chat")
                ask(page, "cited")
                expect(page.locator(last(".sources h3"))).to_be_visible()
                shades[scheme] = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
                assert no_sideways_scroll(page)
                assert hosts == {str(url).split("/")[2]}
    assert shades["light"] != shades["dark"]


def test_a_right_to_left_answer_runs_from_the_right(page: Page, doors: ScriptedDoors) -> None:
    doors.script = (sources_event(RENT), DeltaEvent(text="الإيجار هو 9200 [1]."), *SIMPLE[3:])
    ask(page, "كم الإيجار؟")
    expect(page.locator(last(".cite"))).to_be_visible()
    for part in (".question", ".answer p"):
        assert page.locator(last(part)).evaluate("node => getComputedStyle(node).direction") == "rtl"


def test_a_connection_that_closes_without_an_end_is_a_failure_and_crlf_frames_are_read(page: Page) -> None:
    frames = [f"event: {event.type}\r\ndata: {event.model_dump_json()}\r\n\r\n" for event in SIMPLE[:3]]
    body = "".join((": still here\r\n\r\n", *frames, "event: done\r\ndata: {"))
    page.route("**/api/ask", lambda route: route.fulfill(content_type="text/event-stream", body=body))
    ask(page, "cited")
    expect(page.locator(last(".answer"))).to_have_text(re.compile("Rent is 9200 from May."))
    expect(page.locator(last(".failed"))).to_contain_text("The connection broke off. The answer above is incomplete.")
    expect(page.locator(last(".foot"))).to_be_empty()


@pytest.mark.parametrize("text", ["> " * 3_000 + "deep", "# a\n" * 1_000, "**==" * 1_000, "- " * 500, "`a" * 1_000])
def test_odd_markup_from_a_model_never_breaks_the_answer(page: Page, doors: ScriptedDoors, text: str) -> None:
    doors.script = (sources_event(RENT), DeltaEvent(text=f"{text}\n\nRent is 9200 [1]."), *SIMPLE[3:])
    ask(page, "odd")
    expect(page.locator(last(".answer > *")).last).to_contain_text("Rent is 9200")
    expect(page.locator(last(".sources h3"))).to_have_text("Sources")


def test_a_source_names_the_notes_that_say_the_same_and_the_one_whose_link_led_there(page: Page) -> None:
    ask(page, "led")
    page.locator(last(".sources > .source > summary")).first.click()
    expect(page.locator(last(".source[open] .beside"))).to_have_text(f"The same in Archive/Rent.md, {EVIL}")
    page.locator(last(".more > summary")).click()
    page.locator(last(".more .source > summary")).click()
    expect(page.locator(last(".more .beside"))).to_have_text("Found by way of Rent.md")
    assert page.evaluate("window.PWN") is None
