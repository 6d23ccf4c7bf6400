"""When what is gone is asked for again, of a real site on loopback."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from flows.crawl.plan import plan_source
from flows.run.pipeline import Pipeline
from schemas.documents import DocumentState
from schemas.source import Source
from tests.fakes.plain_crawl import ParserInThisThread, page
from tests.fakes.plain_pipeline import crawl, open_plain_pipeline, publish_ledger, source_of
from tests.fakes.site_server import Reply, Site, serve

EARLY, NOW, LATE = (f"2026-03-0{day}T00:00:00+00:00" for day in (1, 2, 3))
NAMES = tuple("abcdef")


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(Site({f"/{name}.html": page(f"{name} " * 40) for name in NAMES})) as site:
        site.pages["/"] = page("start " * 40, *site.pages)
        yield site


@pytest.fixture
def pipeline(site: Site, tmp_path: Path) -> Iterator[Pipeline]:
    with open_plain_pipeline(tmp_path, source_of(site)) as pipeline:
        pipeline.__dict__.update(parsers=ParserInThisThread(), pipeline_version="v1")
        publish_ledger(pipeline, crawl(pipeline, "first"))
        yield pipeline


def state_at_start(pipeline: Pipeline, uri: str, *, next_due: str, due_by: str | None) -> DocumentState:
    """State of a document that was gone and is due then, as a run begins."""
    documents, name = pipeline.index.ledger.documents, pipeline.source.name
    (row,) = documents.get(name, [uri]).values()
    documents.save([replace(row, state=DocumentState.GONE, next_due=next_due)])
    pipeline.run_id = f"{next_due} {due_by}"
    plan_source(pipeline, due_by=due_by)
    return documents.get(name, [uri])[uri].state


def test_a_gone_page_that_is_still_linked_is_asked_for_when_it_is_due(pipeline: Pipeline, site: Site) -> None:
    gone = site.url("/a.html")
    site.pages["/a.html"] = Reply(b"", 410)
    publish_ledger(pipeline, crawl(pipeline, "second"))

    assert state_at_start(pipeline, gone, next_due=LATE, due_by=NOW) is DocumentState.GONE
    assert state_at_start(pipeline, gone, next_due=EARLY, due_by=NOW) is DocumentState.NEW
    assert state_at_start(pipeline, gone, next_due=LATE, due_by=None) is DocumentState.NEW


def test_a_gone_page_that_readers_still_see_is_asked_for_at_once(pipeline: Pipeline, site: Site) -> None:
    kept = site.url("/a.html")  # its removal was not published
    assert state_at_start(pipeline, kept, next_due=LATE, due_by=NOW) is DocumentState.NEW


def test_a_file_that_is_there_again_is_read_at_once(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# a\n")
    source = Source(name="notes", kind="files", roots=(str(notes),))
    with open_plain_pipeline(tmp_path / "index", source) as pipeline:
        plan_source(pipeline)
        state = state_at_start(pipeline, "files://notes/a.md", next_due=LATE, due_by=NOW)
    assert state is DocumentState.NEW
