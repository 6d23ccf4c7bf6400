"""What use teaches, from the command line: queries and clicks are logged, exported, and mined."""

import json
from pathlib import Path

import pytest
from pyarrow.parquet import read_table

from indexes.reader_parts import locate_reranker
from retrieval.learning.usage_log import CLICK_FILE, LOG_FILE, count_clicks, log_folder
from schemas.errors import ConfigError
from sitegraph.cli.app import run_app
from tests.fakes.copies import copy_index

ASKED = "how big is max_wal_size"


@pytest.fixture(scope="module")
def used(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that was asked once, and of which the first citation was followed."""
    index = tmp_path_factory.mktemp("used") / "index"
    copy_index(folder, index)
    assert run_app(["query", ASKED, "--index", str(index)]) == 0
    (line,) = (log_folder(index) / LOG_FILE).read_text().splitlines()
    assert run_app(["show", json.loads(line)["winners"][0], "--index", str(index)]) == 0
    return index


def test_a_query_is_logged_with_its_candidates_and_a_followed_citation_with_its_question(used: Path) -> None:
    (line,) = (log_folder(used) / LOG_FILE).read_text().splitlines()
    (click,) = (log_folder(used) / CLICK_FILE).read_text().splitlines()
    entry, followed = json.loads(line), json.loads(click)
    assert entry["candidates"][0]["chunk_id"] == entry["winners"][0] == followed["chunk_id"]
    assert (followed["query"], followed["generation"]) == (ASKED, 1)
    assert count_clicks(used).by_document == {followed["doc"]: 1}


def test_a_passage_that_no_query_brought_is_shown_and_no_click(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["export", "--what", "chunks", "--index", str(folder)]) == 0
    rows = map(json.loads, capsys.readouterr().out.splitlines())
    chunk = next(row["id"] for row in rows if row["kind"] == "markdown")
    index = tmp_path / "index"
    copy_index(folder, index)
    assert run_app(["show", chunk, "--index", str(index)]) == 0
    assert not (log_folder(index) / CLICK_FILE).exists()


def test_usage_is_exported_as_rows_and_as_parquet(
    used: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(["export", "--what", "usage", "--index", str(used)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["type"] for row in rows] == ["query", "click"]
    parquet = ["--format", "parquet", "--output", str(tmp_path / "usage")]
    assert run_app(["export", "--what", "usage", "--index", str(used), *parquet]) == 0
    assert read_table(tmp_path / "usage" / "queries.parquet").to_pylist()[0]["query"] == ASKED


def test_negatives_are_triplets_of_followed_citations(used: Path, tmp_path: Path) -> None:
    try:
        locate_reranker()
    except ConfigError as error:
        pytest.skip(str(error))
    out = tmp_path / "triplets.jsonl"
    assert run_app(["export", "--what", "negatives", "--index", str(used), "--output", str(out)]) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert rows
    assert {tuple(row) for row in rows} == {("anchor", "negative", "positive")}
    assert {row["anchor"] for row in rows} == {ASKED}
    assert all(row["negative"] != row["positive"] for row in rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--what", "negatives"], "no citation was ever followed"),
        (["--what", "usage", "--source", "a"], "is for rows"),
        (["--what", "usage", "--stable"], "is for rows"),
        (["--what", "usage", "--format", "parquet"], "--output"),
        (["--what", "negatives", "--format", "parquet"], "must be jsonl"),
        (["--what", "chunks", "--questions", "q.jsonl"], "is only for --what negatives"),
    ],
)
def test_options_that_do_not_go_together_are_usage_errors(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    index = tmp_path / "index"
    if message.startswith("no citation"):
        copy_index(folder, index)
    assert run_app(["export", *arguments, "--index", str(index if index.exists() else folder)]) == 2
    assert message in capsys.readouterr().err
