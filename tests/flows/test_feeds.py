"""A feed as the only seed of a source: its entries are found, and so is what it lists later."""

from pathlib import Path

import pytest

from tests.fakes.site_server import Reply, Site, serve
from tests.fakes.sitegraph_runs import Sitegraph

pytestmark = pytest.mark.server

PAGE = "<!doctype html><title>{0}</title><body><main><h1>{0}</h1><p>{1}</p></main></body>"


def page(title: str, text: str) -> Reply:
    return Reply(PAGE.format(title, text).encode(), content_type="text/html")


def atom(*entries: tuple[str, str]) -> Reply:
    told = "".join(
        f'<entry><title>x</title><link href="{path}"/><updated>{date}</updated></entry>'
        for path, date in entries
    )
    feed = f'<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>{told}</feed>'
    return Reply(feed.encode(), content_type="application/atom+xml")


def test_a_feed_that_pages_link_to_is_a_seed_that_was_read(tiny: Sitegraph, tmp_path: Path) -> None:
    site = Site({"/": page("Start", "See <a href=/feed.xml>the news</a> of the tower beside the harbour.")})
    site.pages["/lamp.html"] = page("The lamp", "The wick is cut straight before dusk.")
    site.pages["/feed.xml"] = atom(("lamp.html", "2024-03-05T10:00:00Z"))
    with serve(site):
        source = tmp_path / "news.yaml"
        seeds = [site.url("/"), site.url("/feed.xml")]
        source.write_text(
            f"name: news\nkind: web\nseeds: {seeds}\nallow_private: [{site.address!r}]\n"
            "rate: {per_host_delay: 0}\n"
        )
        for documents in ((2, 0), (0, 0)):
            report = tiny.run(source, tmp_path / "index")
            assert (report["documents"]["added"], report["documents"]["failed"]) == documents
            assert report["problems"] == []
            assert report["completeness"]["share"] == 1.0


def test_what_a_feed_lists_is_indexed_and_what_it_adds_is_found_by_the_next_run(
    sitegraph: Sitegraph, tmp_path: Path
) -> None:
    site = Site({"/news/lamp.html": page("The lamp", "The wick is cut straight before dusk.")})
    site.pages["/news/feed.xml"] = atom(("lamp.html", "2024-03-05T10:00:00Z"))
    with serve(site):
        address = site.url("/news/feed.xml")
        host = address.split("/")[2]
        source, index = tmp_path / "news.yaml", tmp_path / "index"
        source.write_text(
            f"name: news\nkind: web\nseeds: [{address!r}]\nallow_private: [{host!r}]\n"
            "rate: {per_host_delay: 0}\n"
        )
        first = sitegraph.run(source, index)
        assert (first["documents"]["added"], first["problems"]) == (1, [])

        site.pages["/news/boat.html"] = page("The boat", "The supply boat lands on Thursdays.")
        site.pages["/news/feed.xml"] = atom(
            ("boat.html", "2024-04-05T10:00:00Z"), ("lamp.html", "2024-03-05T10:00:00Z")
        )
        second = sitegraph.run(source, index)
        assert (second["documents"]["added"], second["problems"]) == (1, [])

    told = sitegraph.command("query", "When does the supply boat land?", "--index", str(index))
    assert "Thursdays" in told.stdout
    why = sitegraph.command("why", site.url("/news/boat.html"), "--index", str(index))
    assert "in a feed" in why.stdout
