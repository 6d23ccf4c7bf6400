"""The log of followed citations: one line each, counted by document, and what is no line of it is told."""

from pathlib import Path

from retrieval.clicks import CLICK_FILE, Clicks, count_clicks, log_click
from retrieval.log import log_folder


def follow(index: Path, doc: str) -> None:
    """Follow a citation of a document."""
    log_click(
        index,
        doc=doc,
        chunk_id="chunk:x",
        query='what is "λ"?',
        generation=3,
        timestamp="2026-03-01T00:00:00Z",
    )


def test_clicks_are_counted_by_document(tmp_path: Path) -> None:
    index = tmp_path / "index"
    for doc in ("page:b", "page:a", "page:b"):
        follow(index, doc)
    assert count_clicks(index) == Clicks(by_document={"page:a": 1, "page:b": 2})
    assert not index.exists(), "readers never write into an index"


def test_without_a_log_there_are_no_clicks(tmp_path: Path) -> None:
    assert count_clicks(tmp_path / "index") == Clicks(by_document={})


def test_lines_that_are_no_clicks_are_left_out_and_counted(tmp_path: Path) -> None:
    follow(tmp_path, "page:a")
    with (log_folder(tmp_path) / CLICK_FILE).open("ab") as log:
        log.write(b'{"doc": 7}\n[]\nhalf a li\n{"doc": "page:\xff"}\n\n')
    follow(tmp_path, "page:a")
    found = count_clicks(tmp_path)
    assert (found.by_document["page:a"], found.unreadable) == (2, 4)
