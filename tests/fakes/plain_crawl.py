"""A crawl without its flow: plan, fetch and parse taking turns in this thread, parsing by words."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from flows.crawl.fetch import fetch_batch
from flows.crawl.parse import parse_batch
from flows.crawl.plan import plan_next_wave, plan_source
from flows.run.account import problems_of
from ingest.parse.document import parse_document
from ingest.parse.pdf.page_cache import PageCache
from runtime.parser_pool import Parsed
from schemas.documents import KnownDocument
from schemas.fragment import ParseRequest
from schemas.ids import canonical_json
from schemas.records import to_record
from schemas.report import PageCounts
from schemas.source import Source
from tests.fakes.pages import count_words
from tests.fakes.plain_run import PlainRun, open_plain_run
from tests.fakes.site_server import Reply


class ParserInThisThread:
    """Parses as the pool does, with no process of its own."""

    peak_rss_mb = 0.0

    page_counts = PageCounts()

    def parse(self, data: bytes, request: ParseRequest, *, pages: bytes = b"") -> Parsed:
        """The fragment as canonical JSON, and the pages."""
        cache = PageCache(pages)
        fragment = parse_document(data, request, count_tokens=count_words, cache=cache)
        self.page_counts += cache.counts
        kept = replace(fragment, coverage=None)
        record = canonical_json(to_record(kept)).encode()
        return Parsed(record=record, pages=cache.dump(), coverage=fragment.coverage)


def crawl(folder: Path, source: Source, *, run_id: str = "run-1", version: str = "v1") -> "Crawled":
    """Crawl a source into the index in *folder* until nothing is left, and tell what is known then."""
    with open_plain_run(folder, source) as plain:
        plain.run_id = run_id
        plain.give(parsers=ParserInThisThread(), pipeline_version=version)
        plan_source(plain.crawling)
        while wave := plan_next_wave(plain.crawling, due_by=None):
            for batch in wave:
                fetch_batch(plain.crawling, batch.uris)
                parse_batch(plain.crawling, batch.uris)
        return Crawled(plain)


class Crawled:
    """What a crawl left in the ledger."""

    def __init__(self, plain: PlainRun) -> None:
        ledger, source = plain.index.ledger, plain.source.name
        self.rows: Mapping[str, KnownDocument] = {
            known.uri: known for known in ledger.documents.of_source(source)
        }
        seen = ledger.seen.of_run(source, plain.run_id)
        self.problems = {p.reason: p.url for p in problems_of(plain.crawling, seen)}

    def stopped(self, reason: str) -> int:
        """How many documents a reason stopped."""
        told = [text for text in self.problems if text.startswith(f"{reason}; documents not followed: ")]
        assert len(told) <= 1, told
        return int(told[0].partition("followed: ")[2].partition(",")[0]) if told else 0


def page(text: str, *links: str, head: str = "") -> Reply:
    """A page with a text and links to paths."""
    anchors = "".join(f'<li><a href="{link}">on to {re.split("[?;]", link)[0]}</a></li>' for link in links)
    html = f"<html><head>{head}<title>{text}</title></head><body><main><h1>{text}</h1><p>{text}</p>"
    return Reply(f"{html}<ul>{anchors}</ul></main></body></html>".encode())
