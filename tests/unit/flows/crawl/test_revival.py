"""When what is gone is asked for again, of a real site on loopback."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from flows.crawl.plan import plan_source
from schemas.documents import DocumentState
from schemas.source import Source
from tests.fakes.plain_crawl import ParserInThisThread, page
from tests.fakes.plain_run import PlainRun, crawl, open_plain_run, publish_ledger, source_of
from tests.fakes.site_server import Reply, Site, serve

EARLY, NOW, LATE = (f"2026-03-0{day}T00:00:00+00:00" for day in (1, 2, 3))
NAMES = tuple("abcdef")


@pytest.fixture
def site() -> Iterator[Site]:
    with serve(Site({f"/{name}.html": page(f"{name} " * 40) for name in NAMES})) as site:
        site.pages["/"] = page("start " * 40, *site.pages)
        yield site


@pytest.fixture
def plain(site: Site, tmp_path: Path) -> Iterator[PlainRun]:
    with open_plain_run(tmp_path, source_of(site)) as plain:
        plain.give(parsers=ParserInThisThread(), pipeline_version="v1")
        publish_ledger(plain, crawl(plain, "first"))
        yield plain


def state_at_start(plain: PlainRun, uri: str, *, next_due: str, due_by: str | None) -> DocumentState:
    """State of a document that was gone and is due then, as a run begins."""
    documents, name = plain.index.ledger.documents, plain.source.name
    (row,) = documents.get(name, [uri]).values()
    documents.save([replace(row, state=DocumentState.GONE, next_due=next_due, checked_at=EARLY)])
    plain.run_id = f"{next_due} {due_by}"
    plan_source(plain.crawling, due_by=due_by)
    return documents.get(name, [uri])[uri].state


def test_a_gone_page_that_is_still_linked_is_asked_for_when_it_is_due(plain: PlainRun, site: Site) -> None:
    gone = site.url("/a.html")
    site.pages["/a.html"] = Reply(b"", 410)
    publish_ledger(plain, crawl(plain, "second"))

    assert state_at_start(plain, gone, next_due=LATE, due_by=NOW) is DocumentState.GONE
    assert state_at_start(plain, gone, next_due=EARLY, due_by=NOW) is DocumentState.NEW
    assert state_at_start(plain, gone, next_due=LATE, due_by=None) is DocumentState.NEW


def test_a_gone_page_that_readers_still_see_is_asked_for_at_once(plain: PlainRun, site: Site) -> None:
    kept = site.url("/a.html")  # its removal was not published
    assert state_at_start(plain, kept, next_due=LATE, due_by=NOW) is DocumentState.NEW


def test_a_file_that_is_there_again_is_read_at_once(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# a\n")
    source = Source(name="notes", kind="files", roots=(str(notes),))
    with open_plain_run(tmp_path / "index", source) as plain:
        plan_source(plain.crawling)
        state = state_at_start(plain, "files://notes/a.md", next_due=LATE, due_by=NOW)
    assert state is DocumentState.NEW
