"""Pages with clocks and counters in their text: a crawl changes nothing, and misses no edit beside them."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from time import monotonic_ns

import pytest

from runtime.parser_pool import ParserPool
from tests.fakes.plain_run import PlainRun, crawl, open_plain_run, publish_ledger, source_of, states
from tests.fakes.site_server import Ask, Reply, Site

WORDS = " ".join(f"kite-{number}" for number in range(40))
TEXTS = {
    "/ago.html": "Edited {n} minutes ago by Ann.",
    "/views.html": "It had {thousands:,} views.",
    "/id.html": "Request {n:012x}1a2b.",
    "/clock.html": "Sent at {seconds}.",
    "/fee.html": "The fee is {fee} crowns, after {thousands} visits.",
}


@pytest.fixture
def plain(site: Site, tmp_path: Path, parsers: ParserPool) -> Iterator[PlainRun]:
    """A run over pages that say something else at every look; `fee` is what one of them asks for."""
    numbers = count(3)

    def answer(ask: Ask) -> Reply:
        n = next(numbers)
        now = monotonic_ns() // 10**9
        clock = f"{now // 3600 % 24:02}:{now // 60 % 60:02}:{now % 60:02}"
        fee = site.pages.get("fee", Reply(b"12"))
        assert isinstance(fee, Reply)
        values = {"n": n, "thousands": 1000 + n, "seconds": clock, "fee": fee.body.decode()}
        said = TEXTS[ask.path].format(**values)
        return Reply(f"<title>{ask.path}</title><main><h1>Kites</h1><p>{WORDS} {said}</main>".encode())

    links = "".join(f"<a href={path}>{path}</a> " for path in TEXTS)
    site.pages = {"/": Reply(f"<title>All</title><main><p>{WORDS} {links}</main>".encode())}
    site.pages |= dict.fromkeys(TEXTS, answer)
    with open_plain_run(tmp_path, source_of(site), parsers=parsers) as plain:
        publish_ledger(plain, crawl(plain, "first"))
        site.log.clear()
        yield plain


def test_clocks_and_counters_make_no_generation(plain: PlainRun, site: Site) -> None:
    for run_id in ("second", "third"):
        difference = crawl(plain, run_id)
        assert difference.changes == ()
        assert difference.documents["unchanged"] == len(TEXTS) + 1
    assert {state for state, _ in states(plain).values()} == {"fetched"}
    rows = plain.index.ledger.documents.of_source(plain.source.name)
    assert all(row.raw_sha == row.parsed_sha and plain.index.raw.has(row.raw_sha or "") for row in rows)
    asked = [ask.path for ask in site.log]
    assert asked.count("/ago.html") == 2, "once a run: its words tell"


def test_an_edit_beside_a_counter_is_a_change(plain: PlainRun, site: Site) -> None:
    site.pages["fee"] = Reply(b"14")

    (change,) = crawl(plain, "second").changes

    assert change.new is not None
    assert change.new.uri == site.url("/fee.html")
