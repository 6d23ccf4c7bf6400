"""A PDF that changed is read where it changed; what its pages gave may be lost, and holds no secrets."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from flows.commit.publish import collect_garbage
from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import parse_batch, parse_what_is_left
from flows.crawl.plan import plan_next_wave, plan_source
from indexes.stores.ledger.retention import FileKind
from indexes.stores.ledger.tables import pages
from schemas.report import PageCounts
from tests.fakes.pdfs import Text, pdf_bytes, prose
from tests.fakes.plain_crawl import ParserInThisThread
from tests.fakes.plain_run import PlainRun, SetClock, open_plain_run, source_of
from tests.fakes.secret_samples import github_token
from tests.fakes.site_server import Reply, Site, serve

TOPICS = ("lamp", "plug", "switch")


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(Site()) as site:
        site.pages["/"] = Reply(b"<h1>Lamps</h1><a href=/book.pdf>All about lamps</a>")
        show(site, *TOPICS)
        yield site


@pytest.fixture
def plain(site: Site, tmp_path: Path) -> Iterator[PlainRun]:
    with open_plain_run(tmp_path, source_of(site)) as plain:
        yield plain


def show(site: Site, *topics: str, more: str = "") -> None:
    pages = [[Text(prose(topic))] for topic in topics]
    data = pdf_bytes([*pages[:-1], [*pages[-1], Text(f"{more}.")]])
    site.pages["/book.pdf"] = Reply(data, content_type="application/pdf")


def crawl(plain: PlainRun, *, version: str = "v1") -> PageCounts:
    """Look at everything once more, a day later; give how the pages of PDFs were had."""
    assert isinstance(plain.index.clock, SetClock)
    plain.index.clock.forward(days=1)
    plain.run_id = f"run-{plain.index.clock.now()}"
    plain.give(parsers=ParserInThisThread(), pipeline_version=version)
    plan_source(plain.crawling)
    parse_what_is_left(plain.crawling)
    while wave := plan_next_wave(plain.crawling, due_by=None):
        for batch in wave:
            fetch_batch(plain.crawling, batch.uris)
            parse_batch(plain.crawling, batch.uris)
    return plain.resources.parsers().page_counts


def kept(plain: PlainRun) -> frozenset[str]:
    ledger = plain.index.ledger
    with ledger.engine.connect() as connection:
        named = connection.execute(sa.select(pages.c.pages_sha)).scalars().all()
    return ledger.retention.needed(FileKind.FRAGMENT) & {*named}


def test_only_the_page_that_changed_is_read(plain: PlainRun, site: Site) -> None:
    assert crawl(plain) == PageCounts(read=3)
    show(site, "lamp", "bulb", "switch")

    assert crawl(plain) == PageCounts(read=1, reused=2)
    assert crawl(plain) == PageCounts()
    assert crawl(plain, version="other seeds") == PageCounts(reused=3)


def test_pages_of_versions_before_are_collected(plain: PlainRun, site: Site) -> None:
    crawl(plain)
    (first,) = kept(plain)
    show(site, "lamp", "bulb", "switch")
    crawl(plain)
    (second,) = kept(plain)
    collect_garbage(plain.index, source=plain.source.name)

    fragments = plain.index.fragments
    assert (fragments.has(first), fragments.has(second)) == (False, True)
    plain.index.ledger.documents.forget(plain.source.name)
    collect_garbage(plain.index, source=plain.source.name)
    assert not fragments.has(second)


@pytest.mark.parametrize("damage", [None, b"", b"no zstd"], ids=["lost", "empty", "damaged"])
def test_pages_that_are_lost_are_read_again(plain: PlainRun, site: Site, damage: bytes | None) -> None:
    crawl(plain)
    (sha256,) = kept(plain)
    (file,) = plain.index.layout.fragments.rglob(f"{sha256}*")
    file.unlink()
    if damage is not None:
        file.write_bytes(damage)
    show(site, "lamp", "bulb", "switch")

    assert crawl(plain) == PageCounts(read=3)
    assert crawl(plain, version="other seeds") == PageCounts(reused=3)


def test_nothing_is_kept_of_the_pages_of_a_document_with_a_secret(plain: PlainRun, site: Site) -> None:
    crawl(plain)
    (before,) = kept(plain)
    token = github_token()
    show(site, *TOPICS, more=f"The door opens by {token}")
    crawl(plain)

    assert kept(plain) == frozenset()
    assert not plain.index.fragments.has(before)
    assert crawl(plain, version="v2") == PageCounts(read=3)
