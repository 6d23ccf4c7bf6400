"""The usage log: what was asked, what was found, no secrets, whole lines from any number of writers."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from retrieval.learning.usage_log import CANDIDATES_KEPT, LOG_FILE, append_lines, log_folder, log_queries
from retrieval.question.query import build_query, parse_filters
from retrieval.retriever import RetrievalResult, Retriever
from tests.fakes.governance import governance_index
from tests.fakes.small_index import AS_OF, GENERATION

NOW = "2026-03-01T00:00:00+00:00"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(scope="module")
def result() -> RetrievalResult:
    index = governance_index()
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    return retriever.walk(build_query("backup log", filters=parse_filters(["kind=markdown"]), top_k=3))


def logged(index: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (log_folder(index) / LOG_FILE).read_text().splitlines()]


def test_a_line_tells_what_was_asked_what_won_and_the_parts_of_each_candidate(
    tmp_path: Path, result: RetrievalResult
) -> None:
    log_queries(tmp_path / "index", [result.query], timestamp=NOW, results=[result])
    (entry,) = logged(tmp_path / "index")
    assert (entry["timestamp"], entry["query"], entry["generation"]) == (NOW, "backup log", GENERATION)
    assert (entry["route"], entry["outcome"], entry["top_k"]) == (result.bundle.route, "found", 3)
    assert entry["filters"] == {"kind": ["markdown"]}
    assert entry["winners"] == [one.chunk_id for one in result.bundle.evidence]
    candidates = entry["candidates"]
    assert isinstance(candidates, list)
    assert len(candidates) == min(CANDIDATES_KEPT, len(result.candidates))
    first = result.candidates[0]
    assert candidates[0] == {
        "rank": 1,
        "chunk_id": first.chunk.id,
        "doc": first.chunk.doc,
        "score": first.score,
        "text": first.scores.text,
        "graph": first.scores.graph,
        "anchor": first.scores.anchor,
        "authority": first.scores.authority,
        "freshness": first.scores.freshness,
    }


def test_a_query_without_a_walk_is_logged_by_itself(tmp_path: Path, result: RetrievalResult) -> None:
    log_queries(tmp_path / "index", [result.query, result.query], timestamp=NOW)
    assert [set(entry) for entry in logged(tmp_path / "index")] == [
        {"timestamp", "query", "filters", "top_k", "use_graph", "rerank"}
    ] * 2


def test_secrets_of_a_question_are_never_written(tmp_path: Path) -> None:
    filters = parse_filters([f"version={TOKEN}"])
    address = "https://ann:pw7@example.org/?api_key=k3y"
    query = build_query(f"why is {TOKEN} refused at {address}", filters=filters)
    log_queries(tmp_path / "index", [query], timestamp=NOW)
    text = (log_folder(tmp_path / "index") / LOG_FILE).read_text()
    assert TOKEN not in text
    assert "pw7" not in text
    assert "k3y" not in text
    assert text.count("[redacted]") == 2


def test_what_the_evidence_did_not_answer_is_told_from_what_had_none(
    tmp_path: Path, result: RetrievalResult
) -> None:
    nothing = build_query("backup log", filters=parse_filters(["doc_type=none"]))
    index = governance_index()
    retriever = Retriever(index.chunks, index.graph, index.encoder, generation=GENERATION, as_of=AS_OF)
    log_queries(tmp_path / "index", [result.query], timestamp=NOW, results=[result], not_found=True)
    log_queries(tmp_path / "index", [nothing], timestamp=NOW, results=[retriever.walk(nothing)])
    assert [entry["outcome"] for entry in logged(tmp_path / "index")] == ["not_found", "empty"]


def test_lines_of_many_writers_do_not_mix_and_none_is_lost(tmp_path: Path) -> None:
    entry = {"text": "λ" * 20_000}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: append_lines(tmp_path / "index", LOG_FILE, [entry]), range(40)))
    assert logged(tmp_path / "index") == [entry] * 40


def test_a_line_that_was_cut_off_takes_no_other_with_it(tmp_path: Path) -> None:
    index = tmp_path / "index"
    append_lines(index, LOG_FILE, [{"n": 1}])
    with (log_folder(index) / LOG_FILE).open("ab") as log:
        log.write(b'{"n": 2, "half a li')
    append_lines(index, LOG_FILE, [{"n": 3}])
    lines = (log_folder(index) / LOG_FILE).read_text().splitlines()
    assert (lines[0], lines[2]) == ('{"n": 1}', '{"n": 3}')
