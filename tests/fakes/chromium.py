"""The system's Chromium for tests of pages, and a page that remembers what it asked for and ran."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest


@dataclass(frozen=True, slots=True)
class Watched:
    """A page and what went on in it.

    `asked` are all addresses it asked for, `answers` the bytes of each answer, `trouble` its dialogs, errors
    and lines of its console.
    """

    page: Any
    asked: list[str] = field(default_factory=list)
    answers: dict[str, int] = field(default_factory=dict)
    trouble: list[str] = field(default_factory=list)

    def is_wider_than_the_window(self) -> bool:
        """Whether one would have to scroll sideways."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth > innerWidth"))

    def cut(self) -> list[str]:
        """What is wider than the frame that it scrolls in."""
        wide = "[...document.querySelectorAll('main *')].filter(one => one.scrollWidth > one.clientWidth + 1"
        told = " && getComputedStyle(one).overflowX !== 'visible').map(one => one.innerText)"
        return list(self.page.evaluate(wide + told))

    def is_in_sight(self, selector: str) -> bool:
        """Whether an element begins in the window."""
        box = f"document.querySelector('{selector}').getBoundingClientRect()"
        return bool(self.page.evaluate(f"{box}.top >= 0 && {box}.top < innerHeight - 40"))

    def follow(self, selector: str, nth: int = 0) -> None:
        """Click on what leads to another page, and wait until that page is there."""
        with self.page.expect_navigation():
            self.page.locator(selector).nth(nth).click()

    def open_details(self) -> None:
        """Open all that opens."""
        self.page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")

    def focused(self) -> str:
        """What has the focus: its id, else its text."""
        return str(self.page.evaluate("document.activeElement.id || document.activeElement.innerText.trim()"))


@contextmanager
def chromium() -> Iterator[Any]:
    """Chromium without a window, as Playwright drives it."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the extra js is not installed")
    program = os.environ.get("SITEGRAPH_CHROMIUM") or shutil.which("chromium")
    if program is None:
        pytest.skip("Chromium is needed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def watched_page(browser: Any, *, width: int = 1280, **options: Any) -> Iterator[Watched]:
    """A new page in a profile of its own; a busy machine is waited for."""
    context = browser.new_context(viewport={"width": width, "height": 800}, **options)
    context.set_default_timeout(180_000)
    watched = Watched(context.new_page())
    page = watched.page
    page.on("request", lambda request: watched.asked.append(request.url))
    page.on("response", lambda answer: watched.answers.update({answer.url: _size(answer)}))
    page.on("dialog", lambda dialog: (watched.trouble.append(dialog.message), dialog.dismiss()))
    page.on("pageerror", lambda error: watched.trouble.append(str(error)))
    page.on("console", lambda line: watched.trouble.append(line.text))
    try:
        yield watched
    finally:
        context.close()


def _size(answer: Any) -> int:
    return int(answer.headers.get("content-length", 0))
