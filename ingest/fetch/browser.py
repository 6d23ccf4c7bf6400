"""A browser without a network of its own: whatever its pages ask for is handed to it.

Nothing it tries by itself gets anywhere: names do not resolve, and its proxy is a port that is bound and
does not listen.
Source: crawl rules, section 1.
"""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any

from ingest.fetch.faults import FetchFault, FetchFaultKind
from ingest.fetch.transport import HttpResponse

Supply = Callable[[str, str, str | None], Awaitable[HttpResponse | None]]
"""URL, kind (script, xhr, …) and Authorization of what a page asks for, to the answer; None refuses it."""

WANTED = frozenset({"script", "stylesheet", "xhr", "fetch"})
"""What can make text. Pictures, fonts, frames, sockets and anything but GET are refused unasked."""

_IDLE_MS = 10_000.0
"""How long after loading a page may go on asking before it is read as it stands."""

_CLOSE_SECONDS = 5.0

_ARGS = (
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",  # without "force-", which newer ones ignore
    "--dns-prefetch-disable",
    "--disable-background-networking",
    "--js-flags=--max-old-space-size=512",
)


_FILL_STORAGE = """(storage => {
  const own = storage[location.origin] ?? {};
  for (const name in own) localStorage.setItem(name, own[name]);
})(%s)"""
"""Runs before any script of a page, and gives each origin what is its own."""


def _why(error: Exception) -> str:
    """Say what Chromium could not do; its own words are pages long."""
    if "No usable sandbox" in str(error):
        return (
            "Chromium's sandbox may not make user namespaces here; in Docker add -f "
            "deploy/compose.javascript.yaml, elsewhere allow them"
        )
    return "the browser could not show it"


class Browser:
    """One headless Chromium; starts with the first page, and again after a crash."""

    def __init__(
        self,
        *,
        executable: str,
        sandbox: bool,
        user_agent: str,
        storage: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self._storage = json.dumps(storage) if storage else None
        self._executable = executable
        self._sandbox = sandbox
        self._user_agent = user_agent
        self._starting = asyncio.Lock()
        self._opened = AsyncExitStack()
        self._chromium: Any = None

    async def render(
        self, url: str, html: bytes, *, content_type: str, supply: Supply, seconds: float, max_bytes: int
    ) -> bytes:
        """Let the scripts of *html*, which came from *url*, run; give the page they make, in UTF-8.

        Raises: FetchFault: no rest within *seconds*, a larger page than *max_bytes*, a crash.
        """
        from playwright.async_api import Error

        try:
            async with asyncio.timeout(seconds):
                chromium = await self._start()
                feed = _Feed(html, content_type, supply)
                text = await self._read(chromium, url, feed, max_bytes)
        except TimeoutError:
            raise FetchFault(FetchFaultKind.RENDERING, "its scripts did not come to an end in time") from None
        except Error as error:
            raise FetchFault(FetchFaultKind.RENDERING, _why(error)) from None
        return text.encode("utf-8", errors="replace")

    async def aclose(self) -> None:
        """End the browser."""
        self._chromium = None
        await self._opened.aclose()

    async def _start(self) -> Any:
        from playwright.async_api import async_playwright

        async with self._starting:
            if self._chromium is None or not self._chromium.is_connected():
                await self.aclose()
                door = self._opened.enter_context(socket.socket())
                door.bind(("127.0.0.1", 0))
                playwright = await self._opened.enter_async_context(async_playwright())
                self._chromium = await playwright.chromium.launch(
                    executable_path=self._executable,
                    chromium_sandbox=self._sandbox,
                    args=[f"--proxy-server=http://127.0.0.1:{door.getsockname()[1]}", *_ARGS],
                    env={"PATH": "/usr/bin:/bin"},  # what ours has, such as tokens, is no page's business
                )
                self._opened.push_async_callback(self._chromium.close)
            return self._chromium

    async def _read(self, chromium: Any, url: str, feed: "_Feed", max_bytes: int) -> str:
        context = await chromium.new_context(
            user_agent=self._user_agent, service_workers="block", accept_downloads=False
        )
        try:
            if self._storage is not None:
                await context.add_init_script(_FILL_STORAGE % self._storage)
            page = await context.new_page()
            context.on("page", lambda other: other.close())
            await context.route("**/*", feed.answer)
            await context.route_web_socket("**/*", lambda ws: ws.close())
            # Not until it is loaded: a page that leads elsewhere meanwhile never says that it is.
            await page.goto(url, wait_until="commit", timeout=0)
            await _wait_until_idle(page, feed)
            if await page.evaluate("document.documentElement.outerHTML.length") > max_bytes:
                raise FetchFault(FetchFaultKind.TOO_LARGE, f"its scripts make more than {max_bytes} bytes")
            text: str = await page.content()
        finally:
            feed.close()
            await self._dispose(context)
        return text

    async def _dispose(self, context: Any) -> None:
        """Close what a page ran in; where its scripts hold that up, end the browser."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await context.close()
        except TimeoutError:
            await self.aclose()


async def _wait_until_idle(page: Any, feed: "_Feed") -> None:
    """Wait until nothing was asked for half a second; after `_IDLE_MS` only for what is under way."""
    from playwright.async_api import (
        TimeoutError as NotAtRest,
    )

    while True:
        try:
            await page.wait_for_load_state("networkidle", timeout=_IDLE_MS)
        except NotAtRest:
            if feed.is_asking:
                continue
        return


class _Feed:
    """Answers one page's requests."""

    def __init__(self, html: bytes, content_type: str, supply: Supply) -> None:
        self._html: bytes | None = html
        self._content_type = content_type
        self._supply = supply
        self._asking: set[asyncio.Future[HttpResponse | None]] = set()

    @property
    def is_asking(self) -> bool:
        """Whether an answer is still awaited."""
        return bool(self._asking)

    def close(self) -> None:
        """Ask for nothing more."""
        for asking in self._asking:
            asking.cancel()

    async def answer(self, route: Any) -> None:
        """Hand over what one request is for, or refuse it."""
        from playwright.async_api import Error

        with suppress(Error):  # the page went away meanwhile
            await self._answer(route)

    async def _answer(self, route: Any) -> None:
        request = route.request
        if request.is_navigation_request() and self._html is not None:
            html, self._html = self._html, None
            await route.fulfill(status=200, content_type=self._content_type, body=html)
        elif request.is_navigation_request():
            await route.fulfill(status=204)  # the page stays; a refusal would put an error page in its place
        elif request.method == "GET" and request.resource_type in WANTED:
            login = request.headers.get("authorization")
            await _hand_over(route, await self._ask(request.url, request.resource_type, login))
        else:
            await route.abort()

    async def _ask(self, url: str, kind: str, login: str | None) -> HttpResponse | None:
        # A task of its own: cancelling the caller's would end the connection to the browser.
        asking = asyncio.ensure_future(self._supply(url, kind, login))
        self._asking.add(asking)
        await asyncio.wait({asking})
        self._asking.discard(asking)
        return None if asking.cancelled() else asking.result()


async def _hand_over(route: Any, given: HttpResponse | None) -> None:
    if given is None:
        await route.abort()
        return
    kept = {name: given.headers[name] for name in ("content-type",) if name in given.headers}
    await route.fulfill(status=given.status, headers=kept, body=given.body or b"")
