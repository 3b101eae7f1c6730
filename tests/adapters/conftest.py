"""What several tests of the doors start from. `page` shows the `doors` that a test file makes itself."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from adapters.browsing import CHROMIUM, FLAGS, no_sideways_scroll
from adapters.doors import ScriptedDoors, serving


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser, doors: ScriptedDoors) -> Iterator[Page]:
    with serving(doors) as url, browser.new_context(viewport={"width": 360, "height": 740}) as context:
        opened = context.new_page()
        opened.set_default_timeout(5_000)
        faults: list[str] = []
        opened.on("pageerror", lambda error: faults.append(str(error)))
        opened.on("console", lambda line: faults.append(line.text) if "Security Policy" in line.text else None)
        opened.goto(f"{url}/chat")
        expect(opened.locator("#summary")).to_contain_text("notes")
        yield opened
        assert faults == []
        assert no_sideways_scroll(opened)
