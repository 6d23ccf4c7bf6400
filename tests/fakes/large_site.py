"""A site of many small pages, cheap to serve, parse and encode; they can be edited, added and removed."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

from tests.fakes.site_server import Reply, Site, serve, with_validators

PAGES_PER_HUB = 50


class LargeSite:
    """A start page that links to hubs, each of which links to its pages; a page is one short passage."""

    def __init__(self, site: Site, *, pages: int, random: Random) -> None:
        self.site = site
        self._random = random
        self._hubs: dict[str, list[str]] = {}
        self._next = 0
        for _ in range(pages // PAGES_PER_HUB):
            hub = f"/hub-{len(self._hubs)}.html"
            self._hubs[hub] = [self._write_page() for _ in range(PAGES_PER_HUB - 1)]
            self._write_hub(hub)
        self._write("/index.html", "Start", self._links([*self._hubs]))

    @property
    def paths(self) -> set[str]:
        """Every page that can be read now."""
        return {"/index.html", *self._hubs, *(page for pages in self._hubs.values() for page in pages)}

    def change(self, share: float) -> None:
        """In some hubs: edit a page, take one away, add one."""
        for hub in self._random.sample(sorted(self._hubs), round(share * len(self._hubs))):
            pages = self._hubs[hub]
            gone = pages.pop(self._random.randrange(len(pages)))
            self.site.pages[gone] = Reply(b"gone", 410)
            self._write_page(self._random.choice(pages))
            pages.append(self._write_page())
            self._write_hub(hub)

    def asked(self) -> list[str]:
        """Pages asked for since the last call; then forgets them.

        One that came whole, as some of each run do, and has changed is shown its old validators afterwards
        (docs/rules/recrawl.md, "What validators are worth"): that is no second look.
        """
        paths, whole = list[str](), set[str]()
        for ask in (ask for ask in self.site.log if ask.path.endswith(".html")):
            if "if-none-match" not in ask.headers:
                whole.add(ask.path)
            elif ask.path in whole:
                continue
            paths.append(ask.path)
        self.site.log.clear()
        return paths

    def _write_page(self, path: str | None = None) -> str:
        if path is None:
            path, self._next = f"/page-{self._next}.html", self._next + 1
        words = " ".join(str(self._random.randrange(10**6)) for _ in range(8))
        self._write(
            path, "Notes of the house", f"<p>In the book of the porter these numbers stand: {words}.</p>"
        )
        return path

    def _write_hub(self, hub: str) -> None:
        self._write(hub, "Hub", self._links(self._hubs[hub]))

    def _links(self, paths: list[str]) -> str:
        return "".join(f"<p><a href='{path}'>read on</a></p>" for path in paths)

    def _write(self, path: str, title: str, content: str) -> None:
        html = f"<html lang='en'><title>{title}</title><main><h1>{title}</h1>{content}</main></html>"
        etag = f'"{hashlib.sha256(html.encode()).hexdigest()[:16]}"'
        self.site.pages[path] = with_validators(html.encode(), etag=etag)


@contextmanager
def serve_large_site(*, pages: int, random: Random) -> Iterator[LargeSite]:
    """Serve such a site on loopback."""
    with serve(Site()) as site:
        yield LargeSite(site, pages=pages, random=random)
