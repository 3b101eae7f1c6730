"""The web on the page: whether it may help, its place while it is asked, what it gave, and how to keep it out."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from adapters.browsing import ask, last
from adapters.doors import (
    DONE,
    RENT,
    SIMPLE,
    STATUS,
    STEP,
    ScriptedDoors,
    grounding_event,
    serving,
    source,
    sources_event,
)
from vault_ask.answering.conversation import Turn
from vault_ask.scope import OpenScope, PrivateScope, Sensitivity
from vault_ask.wire import (
    AnswerEvent,
    DeltaEvent,
    ErrorEvent,
    SourcesEvent,
    StatusResponse,
    WebEvent,
    WebResult,
    WebStatus,
)

pytestmark = pytest.mark.browser
LOST = ErrorEvent(code="model_unreachable", message="The model went away. Start it and ask again.", retry=True)
LITTLE = "Your notes say little on this, so the web was asked."
PAGES = (
    WebResult(n=1, title="Storing potatoes", url="https://garden.example.org/a?b=1", snippet="Keep them dark."),
    WebResult(n=2, title="Lagern", url="https://xn--grten-hra.example:8443/", snippet="Dunkel und kühl."),
)
WORDED = "Keep them **dark** [1, 2], not cold [9]. See [[Rent]], [all](https://evil.example/) ![x](https://evil.example/p).\n"
FROM_WEB = WebEvent(results=PAGES, provider="DuckDuckGo", message=LITTLE)
NEAR = (
    source(1, "Moon.md", "Moon", "A pale moon."),
    source(2, "Moon.md", "Moon", "It is far."),
    source(3, "A very long folder/and another one/Rent.md", "Rent"),
)
SILENT: tuple[AnswerEvent, ...] = (
    sources_event(*NEAR, silent=True),
    DeltaEvent(text="Your notes say nothing about this.\n\nThe nearest notes:\n- Moon\n- Rent"),
    grounding_event(refused=True),
    FROM_WEB,
    DONE,
)
SCRIPTS = {
    "web": (*SIMPLE[:4], FROM_WEB, DeltaEvent(text="# Web\n\n", part="web"), DeltaEvent(text=WORDED, part="web"), DONE),
    "web in steps": (
        *SIMPLE[:4],
        STEP,
        FROM_WEB,
        DeltaEvent(text="Keep them ", part="web"),
        STEP,
        DeltaEvent(text="dark [1].", part="web"),
        DONE,
    ),
    "web fails": (*SIMPLE[:4], FROM_WEB, DeltaEvent(text="Keep", part="web"), LOST),
    "web gave nothing": (
        *SIMPLE[:4],
        WebEvent(results=(), provider="DuckDuckGo", message="DuckDuckGo did not answer within 6 seconds."),
        DONE,
    ),
    "silent, then web": SILENT,
    "silent in steps": (*SILENT[:3], STEP, FROM_WEB, STEP, DONE),
    "private": (
        SourcesEvent(sources=(RENT,), silent=False, personal_included=True, generator="extractive"),
        DeltaEvent(text="secret"),
        DONE,
    ),
}


@pytest.fixture
def doors() -> ScriptedDoors:
    return ScriptedDoors(scripts=dict(SCRIPTS))


def with_web(*, enabled: bool = True, provider: str = "DuckDuckGo", home: bool = False) -> StatusResponse:
    return STATUS.model_copy(update={"web": WebStatus(enabled=enabled, provider=provider, keeps_question_home=home)})


def switch_web_on(page: Page, doors: ScriptedDoors) -> None:
    doors.state = with_web()
    page.reload()
    expect(page.locator("#consequence")).to_contain_text("DuckDuckGo")


def parts(page: Page) -> list[str]:
    """Name the parts of the newest turn that show something, from top to bottom as the keyboard meets them."""
    shown = "parts => parts.filter((part) => part.offsetHeight).map((part) => part.className)"
    names: list[str] = page.eval_on_selector_all(last("> :not(:empty)"), shown)
    return names


@pytest.mark.parametrize(
    ("home", "provider", "where"), [(False, "DuckDuckGo", "DuckDuckGo"), (True, "SearXNG", "your own search server")]
)
def test_beside_the_switch_stands_where_the_typed_words_may_go(
    page: Page, doors: ScriptedDoors, *, home: bool, provider: str, where: str
) -> None:
    doors.state = with_web(provider=provider, home=home)
    page.reload()
    consequence = page.locator("#consequence")
    expect(consequence).to_have_text(f"Only open notes. Where they say little, your typed words go to {where}.")
    page.check("#personal")
    expect(consequence).to_have_text("Personal notes join; the web stays out.")
    switch = page.get_by_role("switch", name="Include personal notes")
    expect(switch).to_be_checked()
    expect(switch).to_have_accessible_description("Personal notes join; the web stays out.")
    consequence.click(force=True)
    expect(switch).not_to_be_checked()


def test_as_long_as_the_daemon_has_not_told_nothing_is_promised(page: Page) -> None:
    page.route("**/api/status", lambda route: route.fulfill(status=503, json={"code": "x", "message": "No index."}))
    page.reload()
    expect(page.locator("#facts")).to_have_text("No index.")
    expect(page.locator("#consequence")).to_have_text("Only open notes.")


def test_the_webs_part_stands_under_its_own_heading_below_the_whole_of_the_vaults(page: Page) -> None:
    ask(page, "web")
    web = page.get_by_role("region", name="From the web (DuckDuckGo)")
    expect(web.locator(".message")).to_have_text(LITTLE)
    expect(web.locator("h4")).to_have_text("Web")
    expect(web.locator(".prose p")).to_have_text(
        "Keep them dark\u00a012, not cold\u00a0[9]. See [[Rent]], [all](https://evil.example/) ![x](https://evil.example/p).",
        use_inner_text=True,
    )
    expect(web.locator(".pages")).to_contain_text("garden.example.org")
    expect(web.locator(".pages .path")).to_have_text(["garden.example.org", "xn--grten-hra.example:8443"])
    expect(web.locator(".pages p")).to_have_text(["Keep them dark.", "Dunkel und kühl."])
    expect(page.locator(last(".answer"))).to_have_text(re.compile(r"^Rent is 9200 from May\.\s1$"))
    assert parts(page) == ["question", "tags", "answer prose", "sources", "web", "foot"]


def test_the_links_of_the_webs_part_tell_a_page_nothing_and_lead_to_the_results_alone(page: Page) -> None:
    ask(page, "web")
    expect(page.locator(last(".foot"))).to_contain_text("0.4 s")
    links = page.locator(last(".web a"))
    urls = [page_.url for page_ in PAGES]
    assert links.evaluate_all("links => links.map((link) => link.href)") == urls * 2
    told = links.evaluate_all("links => links.map((l) => [l.rel, l.referrerPolicy, l.target].join())")
    assert set(told) == {"noopener noreferrer nofollow,no-referrer,_blank"}
    chip = page.get_by_role("link", name="Web page 1: Storing potatoes, garden.example.org")
    expect(chip).to_have_text("1")
    chip.focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Web page 2: Lagern, xn--grten-hra.example:8443")).to_be_focused()
    assert page.locator(last(".web .link")).count() == 0


def test_the_webs_part_grows_below_sources_that_stand_already(page: Page, doors: ScriptedDoors) -> None:
    switch_web_on(page, doors)
    ask(page, "web in steps")
    expect(page.locator(last(".state"))).to_have_text("Asking DuckDuckGo …")
    doors.go()
    expect(page.locator(last(".web .prose"))).to_have_text("Keep them")
    expect(page.locator(last(".sources .title"))).to_have_text("Rent")
    expect(page.locator(last(".pages li"))).to_have_count(2)
    expect(page.locator(last(".web + .state"))).to_be_visible()
    doors.go()
    expect(page.locator(last(".web .prose"))).to_have_text(re.compile(r"^Keep them dark\s1\.$"))
    expect(page.locator("#live")).to_have_text("Done. 1 source. From the web: 2 pages.")


def test_stopped_within_the_webs_part_the_vaults_part_is_told_to_be_complete(page: Page, doors: ScriptedDoors) -> None:
    ask(page, "web in steps")
    doors.go()
    expect(page.locator(last(".web .prose"))).to_have_text("Keep them")
    page.click("#stop")
    doors.wait_until(lambda d: d.running == 0)
    expect(page.locator(last(".web + .stopped"))).to_contain_text(
        "Stopped. The part from your notes is complete, the part from the web is not."
    )
    expect(page.locator(last(".sources h3"))).to_have_text("Sources")
    doors.scripts["web in steps"] = SIMPLE
    page.click(last(".retry"))
    expect(page.locator(last(".sources h3"))).to_have_text("Sources")
    expect(page.locator(last(".web"))).to_be_hidden()


def test_stopped_before_the_web_answered_nothing_is_called_incomplete(page: Page, doors: ScriptedDoors) -> None:
    ask(page, "web in steps")
    expect(page.locator(last(".answer"))).to_contain_text("from May.")
    doors.wait_until(lambda d: d.running == 1)
    page.click("#stop")
    expect(page.locator(last(".stopped .words"))).to_have_text("Stopped. The part from your notes is complete.")


def test_a_model_that_fails_in_the_webs_part_takes_nothing_from_the_vaults(page: Page) -> None:
    ask(page, "web fails")
    expect(page.locator(last(".web + .failed .words"))).to_have_text(
        f"{LOST.message} The part from your notes is complete, the part from the web is not."
    )
    expect(page.locator(last(".sources h3"))).to_have_text("Sources")
    expect(page.locator(last(".web .prose"))).to_have_text("Keep")


def test_a_web_that_gave_nothing_is_a_sentence_and_no_list(page: Page) -> None:
    ask(page, "web gave nothing")
    expect(page.get_by_role("region", name="From the web")).to_have_text(
        "From the web (DuckDuckGo)DuckDuckGo did not answer within 6 seconds."
    )
    expect(page.locator(last(".failed"))).to_have_count(0)
    expect(page.locator(last(".pages"))).to_have_count(0)


def test_a_silent_vault_is_said_first_and_the_web_after_it(page: Page) -> None:
    ask(page, "silent, then web")
    expect(page.locator(last(".answer"))).to_have_text("Your notes say nothing about this.")
    expect(page.locator(last(".web"))).to_contain_text("Storing potatoes")
    expect(page.locator("#live")).to_have_text("Done. Your notes say nothing about this. From the web: 2 pages.")
    assert parts(page) == ["question", "answer prose", "web", "sources near", "foot"]


def test_a_silent_answer_is_one_sentence_and_each_near_note_one_line_below_the_web(page: Page) -> None:
    ask(page, "silent, then web")
    expect(page.locator(last(".foot"))).to_contain_text("0.4 s")
    expect(page.locator(last(".answer"))).to_have_text("Your notes say nothing about this.")
    expect(page.locator(last(".sources .title"))).to_have_text(["Moon", "Rent"])
    expect(page.locator(last(".tag"))).to_have_count(0)
    heights = page.locator(last(".sources summary")).evaluate_all("lines => lines.map((line) => line.offsetHeight)")
    assert all(24 <= height < 40 for height in heights), heights
    first = page.locator(last(".sources .source")).first
    first.locator("summary").click()
    expect(first.locator(".quote")).to_have_text(["A pale moon.", "It is far."])


def test_who_worded_the_webs_part_of_a_silent_answer_is_told_below(page: Page, doors: ScriptedDoors) -> None:
    first, *rest, done = SILENT
    assert isinstance(first, SourcesEvent)
    model = first.model_copy(update={"generator": "ollama_chat/qwen3:4b"})
    doors.scripts["worded"] = (model, *rest, DeltaEvent(text="Keep them dark [1].", part="web"), done)
    ask(page, "worded")
    expect(page.locator(last(".foot"))).to_have_text("0.4 sWorded by ollama_chat/qwen3:4b")
    expect(page.locator(last(".tag"))).to_have_count(0)


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("web in steps", ["question", "tags", "answer prose", "sources", "web asking"]),
        ("silent in steps", ["question", "answer prose", "web asking", "sources near"]),
    ],
)
def test_while_the_web_is_asked_its_place_is_kept_and_an_opened_passage_stays_open(
    page: Page, doors: ScriptedDoors, question: str, order: list[str]
) -> None:
    switch_web_on(page, doors)
    ask(page, question)
    region = page.get_by_role("region", name="From the web (DuckDuckGo)")
    expect(region).to_contain_text("Asking DuckDuckGo …")
    assert parts(page) == order
    passage = page.locator(last(".sources .source")).first
    passage.locator("summary").click()
    top = region.evaluate("box => box.offsetTop")
    doors.go(2)
    expect(region.locator(".pages li")).to_have_count(2)
    expect(page.locator(last(".foot"))).to_contain_text("0.4 s")
    assert region.evaluate("box => box.offsetTop") == top
    expect(passage.locator(".quote").first).to_be_visible()
    assert parts(page) == [name.removesuffix(" asking") for name in order] + ["foot"]


def test_where_the_web_was_not_asked_after_all_nothing_of_it_is_left(page: Page, doors: ScriptedDoors) -> None:
    switch_web_on(page, doors)
    doors.scripts["covered"] = (*SIMPLE[:4], STEP, DONE)
    ask(page, "covered")
    expect(page.locator(last(".web.asking"))).to_be_visible()
    doors.go()
    expect(page.locator(last(".foot"))).to_contain_text("0.4 s")
    assert parts(page) == ["question", "tags", "answer prose", "sources", "foot"]


def test_the_web_is_kept_out_of_this_and_later_questions_until_it_may_help_again(
    page: Page, doors: ScriptedDoors
) -> None:
    switch_web_on(page, doors)
    page.get_by_role("button", name="Keep the web out").click()
    expect(page.locator("#consequence")).to_have_text("Only open notes; the web stays out.")
    expect(page.locator("#live")).to_have_text("Only open notes; the web stays out.")
    expect(page.get_by_role("switch")).not_to_be_checked()
    doors.scripts["home"] = (*SIMPLE[:4], STEP, DONE)
    ask(page, "home")
    expect(page.locator(last(".sources h3"))).to_have_text("Sources")
    expect(page.locator(last(".state"))).not_to_contain_text("Asking")
    doors.go()
    expect(page.locator(last(".foot"))).to_contain_text("0.4 s")
    page.get_by_role("button", name="New question").click()
    ask(page, "silent")
    expect(page.locator(last(".sources h3"))).to_be_visible()
    page.check("#personal")
    expect(page.locator("#allow-web")).to_be_hidden()
    ask(page, "third")
    expect(page.locator(last(".foot"))).to_contain_text("0.4 s")
    page.uncheck("#personal")
    page.get_by_role("button", name="Let the web help").click()
    expect(page.locator("#consequence")).to_contain_text("your typed words go to DuckDuckGo")
    ask(page, "fourth")
    expect(page.locator(last(".foot"))).to_contain_text("0.4 s")
    kept_out, helping = OpenScope(web_allowed=False), OpenScope(web_allowed=True)
    assert [asked.scope for asked in doors.asked] == [kept_out, kept_out, PrivateScope(), helping]


def test_where_the_web_is_off_there_is_nothing_to_keep_out(page: Page) -> None:
    expect(page.locator("#consequence")).to_have_text("Only open notes are read.")
    expect(page.locator("#allow-web")).to_be_hidden()


@pytest.mark.parametrize("enabled", [False, True])
def test_an_address_that_never_includes_personal_notes_says_so_and_offers_no_switch(
    browser: Browser, doors: ScriptedDoors, *, enabled: bool
) -> None:
    doors.state = with_web(enabled=enabled)
    with serving(doors, ceiling=Sensitivity.OPEN) as url, browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{url}/chat")
        more = " Where your notes say little, your typed words go to DuckDuckGo." if enabled else ""
        expect(page.locator("#consequence")).to_have_text(f"This address never includes personal notes.{more}")
        expect(page.get_by_role("switch")).to_be_disabled()
        page.get_by_text("Include personal notes").click(force=True)
        ask(page, "web")
        expect(page.locator(last(".foot"))).to_contain_text("0.4 s")
        assert [asked.scope for asked in doors.asked] == [OpenScope(web_allowed=True)]


def test_a_follow_up_repeats_no_word_of_the_web_and_marks_what_was_asked_of_personal_notes(
    page: Page, doors: ScriptedDoors
) -> None:
    page.check("#personal")
    ask(page, "private")
    expect(page.locator("#send")).to_be_visible()
    ask(page, "web")
    expect(page.locator(last(".foot"))).to_contain_text("0.4 s")
    page.uncheck("#personal")
    ask(page, "web")
    expect(page.locator(last(".foot"))).to_contain_text("0.4 s")
    ask(page, "and now?")
    expect(page.locator(last(".sources h3"))).to_have_text("Sources")
    vaults = "Rent is 9200 from May. [1]"
    private = (Turn(role="user", text="private", personal=True), Turn(role="user", text="web", personal=True))
    assert doors.asked[1].history == (private[0], Turn(role="assistant", text="secret", personal=True))
    assert doors.asked[3].history == (
        *private,
        Turn(role="assistant", text=vaults, personal=True),
        Turn(role="user", text="web"),
        Turn(role="assistant", text=vaults),
    )
