"""A word to robots in the headers of an unchanged page, of a real site on loopback."""

from pathlib import Path

from flows.run.contexts import load_fragment
from tests.fakes.plain_crawl import ParserInThisThread
from tests.fakes.plain_run import crawl, open_plain_run, publish_ledger, source_of
from tests.fakes.site_server import Reply, Site, serve, with_validators


def test_a_page_that_a_304_takes_out_of_indexes_loses_its_passages(tmp_path: Path) -> None:
    body = b"<html><body><main><h1>Start</h1><p>" + b"words " * 40 + b"</p></main></body></html>"
    site = Site({"/": with_validators(body, etag='"1"')})
    with serve(site), open_plain_run(tmp_path, source_of(site)) as plain:
        plain.give(parsers=ParserInThisThread(), pipeline_version="v1")
        publish_ledger(plain, crawl(plain, "first"))
        site.pages["/"] = Reply(b"", 304, {"ETag": '"1"', "X-Robots-Tag": "noindex"}, None)
        (change,) = crawl(plain, "second").changes
        assert change.new is not None
        assert load_fragment(plain.index, change.new.fragment_sha).noindex
