"""A PDF that changed is read where it changed; what its pages gave may be lost, and holds no secrets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.commit.garbage_collect import collect
from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import parse_batch, parse_leftovers
from flows.crawl.plan import plan_source, plan_wave
from flows.run.pipeline import Pipeline
from schemas.report import PageCounts
from tests.fakes.pdfs import Text, pdf_bytes, prose
from tests.fakes.plain_crawl import ParserInThisThread
from tests.fakes.plain_pipeline import SetClock, open_plain_pipeline, source_of
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
def pipeline(site: Site, tmp_path: Path) -> Iterator[Pipeline]:
    with open_plain_pipeline(tmp_path, source_of(site)) as pipeline:
        yield pipeline


def show(site: Site, *topics: str, more: str = "") -> None:
    pages = [[Text(prose(topic))] for topic in topics]
    data = pdf_bytes([*pages[:-1], [*pages[-1], Text(f"{more}.")]])
    site.pages["/book.pdf"] = Reply(data, content_type="application/pdf")


def crawl(pipeline: Pipeline, *, version: str = "v1") -> PageCounts:
    """Look at everything once more, a day later; give how the pages of PDFs were had."""
    assert isinstance(pipeline.index.clock, SetClock)
    pipeline.index.clock.forward(days=1)
    pipeline.run_id = f"run-{pipeline.index.clock.now()}"
    pipeline.__dict__.update(parsers=ParserInThisThread(), pipeline_version=version)
    plan_source(pipeline)
    parse_leftovers(pipeline)
    while wave := plan_wave(pipeline, due_by=None):
        for batch in wave:
            fetch_batch(pipeline, batch.uris)
            parse_batch(pipeline, batch.uris)
    return pipeline.parsers.page_counts


def kept(pipeline: Pipeline) -> frozenset[str]:
    return pipeline.index.ledger.retention.pages_shas()


def test_only_the_page_that_changed_is_read(pipeline: Pipeline, site: Site) -> None:
    assert crawl(pipeline) == PageCounts(read=3)
    show(site, "lamp", "bulb", "switch")

    assert crawl(pipeline) == PageCounts(read=1, reused=2)
    assert crawl(pipeline) == PageCounts()
    assert crawl(pipeline, version="other seeds") == PageCounts(reused=3)


def test_pages_of_versions_before_are_collected(pipeline: Pipeline, site: Site) -> None:
    crawl(pipeline)
    (first,) = kept(pipeline)
    show(site, "lamp", "bulb", "switch")
    crawl(pipeline)
    (second,) = kept(pipeline)
    collect(pipeline.index, source=pipeline.source.name)

    fragments = pipeline.index.fragments
    assert (fragments.has(first), fragments.has(second)) == (False, True)
    pipeline.index.ledger.documents.forget(pipeline.source.name)
    collect(pipeline.index, source=pipeline.source.name)
    assert not fragments.has(second)


@pytest.mark.parametrize("damage", [None, b"", b"no zstd"], ids=["lost", "empty", "damaged"])
def test_pages_that_are_lost_are_read_again(pipeline: Pipeline, site: Site, damage: bytes | None) -> None:
    crawl(pipeline)
    (sha256,) = kept(pipeline)
    (file,) = pipeline.index.layout.fragments.rglob(f"{sha256}*")
    file.unlink()
    if damage is not None:
        file.write_bytes(damage)
    show(site, "lamp", "bulb", "switch")

    assert crawl(pipeline) == PageCounts(read=3)
    assert crawl(pipeline, version="other seeds") == PageCounts(reused=3)


def test_nothing_is_kept_of_the_pages_of_a_document_with_a_secret(pipeline: Pipeline, site: Site) -> None:
    crawl(pipeline)
    (before,) = kept(pipeline)
    token = github_token()
    show(site, *TOPICS, more=f"The door opens by {token}")
    crawl(pipeline)

    assert kept(pipeline) == frozenset()
    assert not pipeline.index.fragments.has(before)
    assert crawl(pipeline, version="v2") == PageCounts(read=3)
