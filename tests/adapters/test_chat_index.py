"""The page's one line on the index: it tells of work, delay and absence as they come, and is gone when all is well."""

import re

import pytest
from playwright.sync_api import Page, expect

from adapters.browsing import no_sideways_scroll
from adapters.doors import INDEXING, PROBLEM, STATUS, ScriptedDoors, now_at
from vault_ask.errors import IndexBusy
from vault_ask.wire import IndexProgress

pytestmark = pytest.mark.browser
SIGHT = """({hidden}) => { Object.defineProperty(document, 'hidden', {get: () => hidden, configurable: true});
    document.dispatchEvent(new Event('visibilitychange')) }"""


@pytest.fixture
def doors() -> ScriptedDoors:
    return ScriptedDoors()


def test_the_banner_shows_how_far_indexing_is(page: Page, doors: ScriptedDoors) -> None:
    doors.become(
        STATUS.model_copy(
            update={
                "progress": INDEXING,
                "problems": (PROBLEM,),
                "problem_count": 1,
                "warnings": ("`Privat/**` matches no note.",),
            }
        )
    )
    page.reload()
    expect(page.locator("#banner-text")).to_contain_text("1,240 of 3,000, 2 minutes left")
    expect(page.locator("#banner-bar")).to_have_attribute("value", "1240")
    expect(page.locator("#care summary")).to_have_text("2 things to look at in your vault")
    page.click("#care summary")
    expect(page.locator("#care")).to_contain_text("Trip.md, line 2: The frontmatter cannot be read.")
    doors.become(STATUS)
    expect(page.locator("#banner")).to_be_hidden()


def test_notes_that_changed_are_nothing_to_the_page_which_goes_on_following(page: Page, doors: ScriptedDoors) -> None:
    line = page.locator("#banner")
    doors.wait_until(lambda house: house.following == 1)
    doors.hold({"New.md": 1})
    doors.become(now_at(lag=3))
    expect(line).to_have_text("3 changes behind your vault.")
    doors.hold({"New.md": 2})
    doors.become(STATUS)
    expect(line).to_be_hidden()
    assert len(doors.followed) == 1


WAITING = IndexProgress(phase="waiting", done=0, total=0, rate=0, seconds_left=None)
UNREACHABLE = now_at(mode="waiting", message="The vault's CouchDB cannot be reached.", progress=WAITING)


def test_a_line_tells_of_work_delay_and_absence_as_they_come_and_is_gone_when_all_is_well(
    page: Page, doors: ScriptedDoors
) -> None:
    line = page.locator("#banner")
    doors.become(now_at(progress=INDEXING))
    expect(line).to_contain_text("Indexing notes: 1,240 of 3,000")
    doors.become(now_at(lag=3))
    expect(line).to_have_text("3 changes behind your vault.")
    doors.become(UNREACHABLE)
    expect(line).to_have_text(
        re.compile(r"The vault's CouchDB cannot be reached\. Answers come from the index as of .*2026")
    )
    expect(page.locator("#banner-bar")).to_be_hidden()
    assert no_sideways_scroll(page)
    doors.become(STATUS.model_copy(update={"notes": 1205}))
    expect(line).to_be_hidden()
    expect(page.locator("#summary")).to_have_text("1,205 notes")


def test_the_page_comes_back_to_the_news_after_the_connection_was_lost(page: Page, doors: ScriptedDoors) -> None:
    doors.wait_until(lambda d: d.following == 1)
    doors.events_error = IndexBusy("The index is being exchanged.")
    doors.become(now_at(lag=3))
    doors.wait_until(lambda d: d.following == 0)
    doors.events_error = None
    doors.wait_until(lambda d: d.following == 1)
    expect(page.locator("#banner")).to_have_text("3 changes behind your vault.")


def test_a_page_out_of_sight_lets_its_place_go_and_follows_again_when_it_is_seen(
    page: Page, doors: ScriptedDoors
) -> None:
    doors.wait_until(lambda d: d.following == 1)
    page.evaluate(SIGHT, {"hidden": True})
    doors.wait_until(lambda d: d.following == 0)
    doors.become(UNREACHABLE)
    page.evaluate(SIGHT, {"hidden": False})
    expect(page.locator("#banner")).to_contain_text("cannot be reached")
    doors.wait_until(lambda d: d.following == 1)


def test_where_no_place_is_left_the_status_tells_the_same(page: Page, doors: ScriptedDoors) -> None:
    page.route("**/api/events", lambda route: route.fulfill(status=503, json={"code": "x", "message": "Full."}))
    doors.become(now_at(progress=INDEXING))
    page.reload()
    expect(page.locator("#banner")).to_contain_text("Indexing notes: 1,240 of 3,000")
    doors.become(STATUS)
    expect(page.locator("#banner")).to_be_hidden()
