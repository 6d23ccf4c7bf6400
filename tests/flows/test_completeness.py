"""Whether everything is in: the real commands over served sites of which it is known what nothing names."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.fakes.hidden_pages import SHAPES, Shape, draw_captures
from tests.fakes.site_server import Reply, Script, Site, serve
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

WORDS = [
    a + b for a in ("bar", "cor", "del", "fen", "gol", "har", "kem", "lor") for b in ("an", "ix", "um", "ot")
]
SERVED = {
    "independent": replace(SHAPES["independent"], pages=120),
    "forgotten": replace(SHAPES["forgotten"], pages=120),
    "sitemap nearly whole": replace(SHAPES["sitemap nearly whole"], pages=120),
    "tiny": SHAPES["tiny"],
    "large": replace(SHAPES["large"], pages=700),
}


def page(number: int, more: str = "") -> str:
    text = " ".join(Random(number).choices(WORDS, k=60))
    return (
        f"<!DOCTYPE html><title>Page {number}</title><main><h1>Page {number}</h1><p>{text}.</p>{more}</main>"
    )


def sitemap(urls: list[str]) -> Reply:
    listed = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return Reply(f'<?xml version="1.0"?><urlset>{listed}</urlset>'.encode(), content_type="application/xml")


def feed(urls: list[str]) -> Reply:
    items = "".join(f"<item><link>{url}</link></item>" for url in urls)
    return Reply(f"<rss><channel>{items}</channel></rss>".encode(), content_type="application/rss+xml")


def pages_of(site: Site, captures: list[frozenset[str]]) -> dict[str, Script]:
    """A hub and lists that name pages as drawn; nothing names some of them, which are there all the same."""
    paths = {way: [] for way in ("sitemap", "link", "llms.txt", "feed")}
    for number, ways in enumerate(captures):
        for way in ways:
            paths[way].append(f"/m/{number}.html")
    links = "".join(f"<p>See <a href='{path}'>{path}</a> for more of it.</p>" for path in paths["link"])
    named = {way: [site.url(path) for path in found] for way, found in paths.items()}
    lines = "".join(f"- [it]({url})\n" for url in named["llms.txt"])
    robots = f"Sitemap: {site.url('/sitemap.xml')}\nSitemap: {site.url('/feed.xml')}\n"
    return {
        **{f"/m/{number}.html": Reply(page(number).encode()) for number in range(len(captures))},
        "/m/": Reply(page(-1, links).encode()),
        "/sitemap.xml": sitemap(named["sitemap"]),
        "/feed.xml": feed(named["feed"]),
        "/llms.txt": Reply(f"# It\n\n{lines}".encode(), content_type="text/plain"),
        "/robots.txt": Reply(robots.encode(), content_type="text/plain"),
    }


def write_manual(folder: Path, site: Site, more: str = "") -> Path:
    path = folder / "manual.yaml"
    path.write_text(
        f"name: manual\nkind: web\nseeds: ['{site.url('/m/')}']\nallow_private: ['{site.address}']\n"
        f"rate: {{per_host_delay: 0}}\n{more}"
    )
    return path


@pytest.mark.parametrize("shape", SERVED.values(), ids=SERVED.keys())
def test_status_tells_how_many_pages_nothing_names(shape: Shape, tiny: Sitegraph, tmp_path: Path) -> None:
    captures = draw_captures(shape, 3)
    hidden = sum(not ways for ways in captures)
    with serve(Site()) as site:
        site.pages.update(pages_of(site, captures))
        report = tiny.run(write_manual(tmp_path, site), tmp_path / "index")

    told = tiny.call("status", "--index", str(tmp_path / "index"), "--format", "json")
    found = json.loads(told.stdout)["sources"]["manual"]["completeness"]
    assert found == report["completeness"]
    assert (found["indexed"], found["share"], found["reasons"]) == (len(captures) - hidden + 1, 1.0, {})
    assert found["unknown"]["low"] <= hidden <= found["unknown"]["high"]
    text = tiny.call("status", "--index", str(tmp_path / "index")).stdout
    assert f"indexed: {found['indexed']:,} of {found['indexed']:,} pages that are named (100.0%)\n" in text
    assert f"likely {found['unknown']['likely']:,} more that nothing names, between" in text
