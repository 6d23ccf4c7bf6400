"""What a crawl of a real site leaves in the ledger tells whether the site refuses us."""

from contextlib import suppress
from pathlib import Path

import pytest

from flows.run.events import IndexName, event_of_block
from flows.run.sources import open_source_session
from ingest.plan.scope import seed_urls
from schemas.errors import GuardRefused
from tests.fakes.plain_crawl import ParserInThisThread, page
from tests.fakes.plain_run import crawl, open_plain_run, source_of
from tests.fakes.site_server import Reply, Site, serve

ROBOTS = Reply(b"User-agent: *\nDisallow: /d\n", content_type="text/plain")
FAR = Reply(b"later", 429, {"Retry-After": "0"})


@pytest.mark.parametrize(
    ("replies", "reasons"),
    [
        (
            {"/a": Reply(b"no", 403), "/b": Reply(b"who?", 401), "/c": Reply(b"no", 451), "/d": page("D")},
            {"HTTP 401", "HTTP 403", "HTTP 451"},
        ),
        ({"/": Reply(b"no", 403)}, {"HTTP 403"}),
        ({"/": Reply(b"", 302, {"Location": "/home"}), "/home": Reply(b"no", 403)}, {"HTTP 403"}),
        ({"/d": page("D"), "/d2": page("D"), "/d3": page("D")}, None),
        ({"/a": Reply(b"no", 403)}, None),
        ({"/a": FAR, "/b": FAR, "/c": FAR}, {"HTTP 429"}),
        ({"/a": Reply(b"no", 403), "/b": page("B"), "/c": page("C")}, None),
        ({"/a": Reply(b"broken", 500), "/b": Reply(b"broken", 500), "/c": Reply(b"gone", 404)}, None),
    ],
)
def test_a_site_that_refuses_most_of_its_pages_is_told_with_its_reasons(
    replies: dict[str, Reply], reasons: set[str] | None, tmp_path: Path
) -> None:
    pages = {"/": page("Start", *replies), "/robots.txt": ROBOTS, **replies}
    with serve(Site(pages)) as site, open_plain_run(tmp_path, source_of(site)) as run:
        run.give(parsers=ParserInThisThread(), pipeline_version="v1")
        with suppress(GuardRefused):
            crawl(run, "run-1")
        seen = run.index.ledger.seen.of_run(run.source.name, run.run_id)
        seeds = seed_urls(run.source)
        event = event_of_block(run.source.name, IndexName(id="1", folder=tmp_path), seen, seeds=seeds)

    assert (set(event.payload["reasons"]) if event else None) == reasons, seen


def test_a_robots_txt_that_comes_to_forbid_what_was_read_is_told(tmp_path: Path) -> None:
    names = ("/a", "/b", "/c")
    pages = {
        "/": page("Start", *names),
        "/robots.txt": Reply(b"", 404),
        **{name: page(name) for name in names},
    }
    with serve(Site(pages)) as site, open_plain_run(tmp_path, source_of(site)) as run:
        run.give(parsers=ParserInThisThread(), pipeline_version="v1")
        crawl(run, "run-1")
        lines = "".join(f"Disallow: {name}\n" for name in names)
        site.pages["/robots.txt"] = Reply(f"User-agent: *\n{lines}".encode(), content_type="text/plain")
        with open_source_session(run.source, run.index.settings, clock=run.index.clock) as session:
            run.resources._session = session  # robots.txt is asked for once in each
            with suppress(GuardRefused):
                crawl(run, "run-2")
        seen = run.index.ledger.seen.of_run(run.source.name, run.run_id)
        named = IndexName(id="1", folder=tmp_path)
        event = event_of_block(run.source.name, named, seen, seeds=seed_urls(run.source))

    assert event is not None, seen
    assert event.payload["reasons"] == {"robots.txt": 3}
