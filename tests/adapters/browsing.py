"""The browser that the tests of the page look through, and what one does on that page."""

import shutil

from playwright.sync_api import Page

# The names scripts/test looks for; without any of them it leaves these tests out, and does not pass in CI.
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "chromium")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def no_sideways_scroll(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


def ask(page: Page, question: str) -> None:
    page.fill("#words", question)
    page.keyboard.press("Enter")


def last(part: str = "") -> str:
    """Select a part of the newest turn."""
    return f".turn:last-child {part}".strip()
