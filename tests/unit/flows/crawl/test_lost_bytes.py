"""Parsing again from stored bytes: what is lost is fetched again, what cannot be asked for waits."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.crawl.parse import parse_what_is_left
from indexes.wiring import open_object_store
from schemas.documents import DocumentState
from schemas.errors import StoreUnavailable
from tests.fakes.object_storage import s3_environment
from tests.fakes.plain_crawl import ParserInThisThread, page
from tests.fakes.plain_run import PlainRun, crawl, open_plain_run, source_of
from tests.fakes.prefect_server import free_port
from tests.fakes.site_server import Site, serve


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[PlainRun]:
    """A page has been crawled, and a newer parser is about to read it."""
    with serve(Site({"/": page("Start")})) as site, open_plain_run(tmp_path, source_of(site)) as opened:
        opened.give(parsers=ParserInThisThread(), pipeline_version="v1")
        crawl(opened, "first")
        opened.give(pipeline_version="v2")
        yield opened


def test_bytes_that_are_lost_make_a_document_to_be_fetched(plain: PlainRun) -> None:
    plain.index.raw.drop_all_but([])

    parse_what_is_left(plain.crawling)

    (known,) = plain.index.ledger.documents.of_source(plain.source.name)
    assert (known.state, known.raw_sha) == (DocumentState.NEW, None)


def test_a_store_that_does_not_answer_changes_nothing_that_is_known(
    plain: PlainRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    for name, value in s3_environment(f"http://127.0.0.1:{free_port()}").items():
        monkeypatch.setenv(name, value)
    before = plain.index.ledger.documents.of_source(plain.source.name)
    plain.index.raw = open_object_store("s3://bucket")

    with pytest.raises(StoreUnavailable):
        parse_what_is_left(plain.crawling)

    assert plain.index.ledger.documents.of_source(plain.source.name) == before
