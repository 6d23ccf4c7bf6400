"""One odd item, or a machine at its limits, and what a run makes of everything else."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from flows.crawl.parse import parse_batch
from ingest.fetch.client import FetchSession
from ingest.parse.formats.registry import installed_formats
from runtime.parser_pool import ChildLimits, ParserPool
from schemas.documents import DocumentState
from schemas.errors import GuardRefused, ParserUnavailable
from tests.fakes.fetching import AGENT, short_limits
from tests.fakes.plain_crawl import ParserInThisThread
from tests.fakes.plain_run import PlainRun, crawl, open_plain_run, source_of, states
from tests.fakes.site_server import Reply, Site, serve

BODY = "<html><body><h1>{0}</h1><p>The lamp of {0} is lit when the night begins, and not before.</p>"

DRIPS = ("/1.html", "/2.html", "/3.html")


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(Site()) as site:
        paths = [f"/{name}.html" for name in "abcd"]
        links = "".join(f"<a href='{path}'>{path}</a>" for path in (*DRIPS, *paths))
        site.pages = {path: Reply(BODY.format(path).encode()) for path in paths}
        site.pages["/"] = Reply((BODY.format("start") + links).encode())
        yield site


@pytest.fixture
def plain(site: Site, tmp_path: Path) -> Iterator[PlainRun]:
    seeds = (site.url("/"), site.url("/a.html"))
    with open_plain_run(tmp_path, source_of(site, seeds=seeds)) as plain:
        plain.give(parsers=ParserInThisThread())
        yield plain


def read(plain: PlainRun) -> set[str]:
    return {path for path, (state, _) in states(plain).items() if state == DocumentState.FETCHED}


@pytest.mark.parametrize("seconds", [0.1, 10])
def test_pages_that_drip_cost_no_other_page_of_their_host(
    plain: PlainRun, site: Site, seconds: float
) -> None:
    """Slower than a read may be, and quicker than that but without an end."""
    never_ends = Reply(b"<p>" + b"drop " * 2000, drip=seconds)
    site.pages |= dict.fromkeys(DRIPS, never_ends)
    with closing(
        FetchSession(
            user_agent=AGENT,
            allow_private=(site.address,),
            per_host_delay=0,
            concurrency=1,
            clock=plain.index.clock,
            limits=short_limits(0.3),
            formats=installed_formats(),
        )
    ) as session:
        plain.give(session=session)
        crawl(plain, "first")

    assert read(plain) == {"/", "/a.html", "/b.html", "/c.html", "/d.html"}
    assert {states(plain)[path][0] for path in DRIPS} == {DocumentState.FAILED}


def test_no_seed_that_can_be_read_is_nothing_to_accept(plain: PlainRun, site: Site) -> None:
    crawl(plain, "first")
    site.pages |= dict.fromkeys(("/", "/a.html"), Reply(b"no such page", 404))

    with pytest.raises(GuardRefused, match="cannot be read"):
        crawl(plain, "accepted", accept=True)


def test_where_no_parser_starts_the_run_fails_and_no_document_does(plain: PlainRun, site: Site) -> None:
    crawl(plain, "first")
    site.pages["/b.html"] = Reply(BODY.format("another").encode())
    tokenizer = plain.resources.model.path / "tokenizer.json"
    limits = ChildLimits(address_space_mb=20)
    with ParserPool(workers=1, tokenizer=tokenizer, limits=limits) as parsers:
        plain.give(parsers=parsers)
        with pytest.raises(ParserUnavailable, match="no process starts to read documents"):
            crawl(plain, "without memory")
        with pytest.raises(ParserUnavailable):
            parse_batch(plain.crawling, [site.url("/b.html")])

    assert states(plain)["/b.html"] == (DocumentState.FETCHED, "")
    plain.give(parsers=ParserInThisThread())
    assert parse_batch(plain.crawling, [site.url("/b.html")]).documents == 1
