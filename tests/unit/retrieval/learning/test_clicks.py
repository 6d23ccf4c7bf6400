"""The log of followed citations: one line each, counted by document, and what is no line of it is told."""

from pathlib import Path

from retrieval.learning.usage_log import (
    CLICK_FILE,
    LOG_FILE,
    Clicks,
    answered_query,
    append_lines,
    count_clicks,
    log_click,
    log_folder,
)

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


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


def test_secrets_of_the_question_are_never_written(tmp_path: Path) -> None:
    log_click(
        tmp_path,
        doc="page:a",
        chunk_id="chunk:x",
        query=f"why is {TOKEN} refused",
        generation=1,
        timestamp="t",
    )
    assert TOKEN not in (log_folder(tmp_path) / CLICK_FILE).read_text()


def test_the_question_of_a_click_is_the_last_one_that_the_passage_answered(tmp_path: Path) -> None:
    assert answered_query(tmp_path, "chunk:x") is None
    asked = [("first", ["chunk:x"]), ("second", ["chunk:y", "chunk:x"]), ("third", ["chunk:y"])]
    append_lines(tmp_path, LOG_FILE, [{"query": query, "winners": won} for query, won in asked])
    append_lines(tmp_path, LOG_FILE, [{"query": "chunk:x"}, {"query": 3, "winners": ["chunk:x"]}])
    assert answered_query(tmp_path, "chunk:x") == "second"
    assert answered_query(tmp_path, "chunk:z") is None
